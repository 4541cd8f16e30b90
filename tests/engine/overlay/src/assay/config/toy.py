"""`configs/toy.yaml`."""

from typing import Any

from pydantic import Field, NonNegativeInt, PositiveInt

from assay.config.files import Strict


class ToyFact(Strict):
    """One fact."""

    subject: str
    object: str


class ToyConfig(Strict):
    """Facts, template, decodings, rule and metric of the toy benchmark."""

    facts: list[ToyFact] = Field(min_length=1)
    """What is asked, in any order."""
    template: str
    """Prompt with {subject}."""
    decodings: dict[str, dict[str, Any]]
    """Method -> decoding."""
    skip: list[str] = []
    """Model and method, joined by a dot, that are left out."""
    seeds: dict[str, NonNegativeInt]
    """Method -> seed."""
    threshold: int = Field(ge=0)
    """A rule of the judge."""
    weight: float
    """A parameter of the metric."""
    repeats: PositiveInt = 1
    """How often each fact is asked."""
