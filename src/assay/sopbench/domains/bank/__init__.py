"""SOPBench domain: the bank."""
