"""SymBench: 37 symbolic tasks with generators, verifiers and methods."""
