"""Canonical bytes, typed digests and derived seeds: the ground floor.

Two values have one digest exactly when they are equal as data. A type tag stands in front of everything that
is hashed, so that two kinds of things can never share a digest by accident.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

_SEED_BITS = 63


def canonical_text(value: object) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, no NaN, floats that round-trip.

    Raises
    ------
    ValueError
        For NaN and infinities, which JSON cannot say.
    TypeError
        For keys that are not strings and for values that are not JSON data.
    """
    _check_keys(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_bytes(value: object) -> bytes:
    """Return `canonical_text` as UTF-8; a lone surrogate is kept by its escape, not refused."""
    text = canonical_text(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _check_keys(value: object) -> None:
    # json.dumps would turn the keys 1 and "1" into the same text.
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"canonical JSON needs string keys, got {key!r}")
            _check_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_keys(inner)


def digest(tag: str, value: object) -> str:
    """Return the sha256 (64 hex digits) of a tagged value.

    Examples
    --------
    >>> digest("example", {"b": 1, "a": [1.5, None]}) == digest("example", {"a": [1.5, None], "b": 1})
    True
    >>> digest("example", 1) == digest("other", 1)
    False
    """
    return hashlib.sha256(tag.encode() + b"\0" + canonical_bytes(value)).hexdigest()


def bytes_digest(data: bytes) -> str:
    """Return the plain sha256 of bytes, as `sha256sum` would print it."""
    return hashlib.sha256(data).hexdigest()


def text_digest(text: str) -> str:
    """Return the sha256 of a text's UTF-8 bytes; lone surrogates are hashed by their escapes."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the plain sha256 of a file's bytes, read in chunks."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def derive_seed(purpose: str, *identities: object) -> int:
    """Return a seed in [0, 2**63) that depends on its purpose and identities and on nothing else.

    Seeds made by adding an index to a base overlap between runs; a hash does not.
    """
    return int(digest("seed", [purpose, *identities]), 16) >> (256 - _SEED_BITS)
