"""Assay: reproducible, verifiable evaluation of language models."""
