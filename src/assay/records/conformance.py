"""The result of one conformance case, shared by every suite."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Case:
    """One compared case. `why` is the case's own remark, or the reason of a skip or failure."""

    id: str
    outcome: Literal["passed", "failed", "skipped"]
    expected: str = ""
    got: str = ""
    why: str = ""
