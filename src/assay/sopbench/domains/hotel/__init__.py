"""SOPBench domain: the hotel."""
