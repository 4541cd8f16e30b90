"""What a task's generator gives, and what its complexity parameters have in common."""

from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict


class Parameters(BaseModel):
    """Complexity parameters of one task: frozen, strict, ranges checked when they are made."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    def space(self) -> int:
        """Return how many different items these parameters can give, up to a small factor.

        Seeds of a large space (`generate.LARGE_SPACE`) share no item except by an accident that is never seen;
        a smaller space is divided among the seeds by `generate`.
        """
        raise NotImplementedError


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """One generated item.

    Attributes
    ----------
    question : str
        The text that is asked, in our own words.
    solution : dict or list
        What the task's verifier reads.
    reference : str
        A right answer, as a model would write it into the marker.
    identity : str
        What makes two items the same; empty where that is the question's text.
    """

    question: str
    solution: Any
    reference: str
    identity: str = ""
