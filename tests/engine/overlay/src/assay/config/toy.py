"""`configs/toy.yaml`."""

from typing import Any

from pydantic import Field, PositiveInt

from assay.config.files import Strict


class ToyConfig(Strict):
    """Facts, template, decodings, rule and metric of the toy benchmark."""

    facts: dict[str, str] = Field(min_length=1)
    """Subject -> object."""
    template: str
    """Prompt with {subject}."""
    decodings: dict[str, dict[str, Any]]
    """Method -> decoding."""
    threshold: int = Field(ge=0)
    """A rule of the judge."""
    weight: float
    """A parameter of the metric."""
    repeats: PositiveInt = 1
    """How often each fact is asked."""
