"""Fact knowledge stability: data, prompts, scoring, behaviour and internals."""
