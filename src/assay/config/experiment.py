"""Which models, benchmarks and seeds an experiment measures."""

from typing import Any

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator

from assay.config.files import Strict


class Choice(Strict):
    """The one key of `configs/experiment.yaml`."""

    use: str
    """Name of a file in `configs/experiments/`, without `.yaml`."""


class Experiment(Strict):
    """One file of `configs/experiments/`."""

    models: list[str] = Field(min_length=1)
    """Names from `configs/models.yaml`, in the order of the table's rows."""
    optional_models: list[str] = []
    """Those of them that are left out, with a line that says so, where their weights cannot be fetched."""
    seeds: list[NonNegativeInt] = Field(default=[0], min_length=1)
    """Seeds of the generations; under greedy decoding one is enough."""
    benchmarks: dict[str, dict[str, Any]] = Field(min_length=1)
    """Benchmark -> keys that override `configs/<benchmark>.yaml` for this experiment."""
    table: dict[str, Any] = {}
    """Keys that override `configs/table.yaml`."""
    executions: dict[str, Any] = {}
    """Keys that override `configs/executions.yaml`."""
    budget: dict[str, PositiveInt] = {}
    """Benchmark, or `hidden` -> CPU-seconds at which its model jobs may be estimated; an estimate above is refused."""
    accept_failures: NonNegativeInt = 0
    """Rows of one artifact that may fail and are then counted in the table; 0 stops instead."""
    allow_environment: bool = False
    """Compute with library versions other than those of `constraints.txt`, marked in the envelope."""

    @field_validator("models", "seeds", "optional_models")
    @classmethod
    def _unique(cls, values: list[Any]) -> list[Any]:
        if len(set(values)) != len(values):
            raise ValueError("each name once")
        return values

    @field_validator("benchmarks", mode="before")
    @classmethod
    def _nothing_is_no_override(cls, value: Any) -> Any:
        return {k: {} if v is None else v for k, v in value.items()} if isinstance(value, dict) else value
