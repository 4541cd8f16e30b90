"""SOPBench domain: the library."""
