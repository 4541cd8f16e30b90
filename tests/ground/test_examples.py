"""The examples in docstrings give what they show."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
WITH_EXAMPLES = [
    path.relative_to(SRC).with_suffix("").as_posix().replace("/", ".")
    for path in sorted((SRC / "assay").rglob("*.py"))
    if re.search(r"^ +>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]


def test_there_are_examples():
    assert len(WITH_EXAMPLES) > 15


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed
