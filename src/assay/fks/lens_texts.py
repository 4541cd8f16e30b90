"""Generic prompts for the fit of a lens."""

from assay.fks.lens_passages import PASSAGES

_STEPS = (0, 37, 71)


def default_texts() -> list[str]:
    """Return 100 embedded prompts of about 130 tokens in six languages, of no special subject.

    Each joins three of 100 passages, a different three each time, so that every passage is read at the beginning, in
    the middle and at the end, and after another language in most prompts that mix them.
    """
    n = len(PASSAGES)
    return [" ".join(PASSAGES[(start + step) % n] for step in _STEPS) for start in range(n)]
