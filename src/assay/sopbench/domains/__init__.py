"""The seven domains of SOPBench, one package each."""
