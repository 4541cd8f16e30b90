"""Frozen pydantic models of every config file and of the lock."""
