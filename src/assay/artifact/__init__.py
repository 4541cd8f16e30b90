"""Artifact identity: recipe, code closure, manifest, store, reuse, verify, sweep."""
