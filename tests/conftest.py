"""Shared by all tests: where the project and the vectors are, and what would let chance into a test."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# The same examples in every run, however busy the machine is. `--hypothesis-profile=default` looks for new ones.
settings.register_profile("assay", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("assay")
# What a shell or a hook may say about other runs and repositories; a test that needs one of these sets it.
for _name in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[_name]
for _name in ("ASSAY_LARGE", "ASSAY_MODEL_SLOTS", "ASSAY_TRACEBACK"):
    os.environ.pop(_name, None)
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


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
