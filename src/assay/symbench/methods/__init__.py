"""The multi-turn methods of SymBench, one module each."""
