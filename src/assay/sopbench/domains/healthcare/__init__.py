"""SOPBench domain: the health insurer."""
