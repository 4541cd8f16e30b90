"""Shared by all tests: where the project and the vectors are."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The project folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of parity vectors; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("ASSAY_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no vectors at {folder}: set ASSAY_SHARED")
    return folder
