"""Runs model-written Python under proven guarantees."""
