"""SOPBench domain: the online market."""
