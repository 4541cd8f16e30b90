"""SOPBench: agents that must follow service procedures in seven domains."""
