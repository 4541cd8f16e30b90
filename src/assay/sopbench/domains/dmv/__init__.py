"""SOPBench domain: the motor vehicle office."""
