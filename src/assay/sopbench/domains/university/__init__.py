"""SOPBench domain: the university."""
