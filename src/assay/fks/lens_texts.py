"""Generic prompts for the fit of a lens: embedded ones, or lines of a user's file."""

from pathlib import Path

from assay.errors import DataError
from assay.fks.lens_passages import PASSAGES

_STEPS = (0, 37, 71)


def default_texts() -> list[str]:
    """Return 100 embedded prompts of about 130 tokens in six languages, of no special subject.

    Each joins three of 100 passages, a different three each time, so that every passage is read at the beginning, in
    the middle and at the end, and after another language in most prompts that mix them.
    """
    n = len(PASSAGES)
    return [" ".join(PASSAGES[(start + step) % n] for step in _STEPS) for start in range(n)]


def read_texts(path: Path) -> list[str]:
    """Return the prompts of a text file, one a line; empty lines are left out.

    Raises
    ------
    DataError
        If the file is missing, not UTF-8, or empty.
    """
    try:
        texts = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except FileNotFoundError as error:
        raise DataError("the file does not exist", file=path, key="lens.texts") from error
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8", file=path, key="lens.texts") from error
    if not texts:
        raise DataError("the file holds no text", file=path, key="lens.texts", expected="one prompt a line")
    return texts
