"""`configs/executions.yaml`: how model-written code is run."""

from typing import Literal

from pydantic import Field, field_validator, model_validator

from assay.config.files import Strict

GuaranteeName = Literal[
    "wall_limited",
    "process_tree_killed",
    "process_count_capped",
    "process_memory_capped",
    "tree_memory_capped",
    "disk_capped",
    "write_confined",
    "read_confined",
    "processes_hidden",
    "signals_confined",
    "network_blocked",
    "abstract_sockets_blocked",
    "env_clean",
]


# How the sandbox works, not what a snippet may do or see, nor what is reported of it: in no recipe. A step reads them
# from the project's file.
TUNING = ("workers", "check_every", "recycle_after", "interpreter")


class ExecutionLimits(Strict):
    """Limits of one execution."""

    time_s: float = Field(default=30.0, gt=0)
    """CPU seconds, and wall seconds not spent waiting for a CPU; the hard stop is at four times this wall time.

    SymBench sets its own: `limit_s` and `loop_limit_s` of `configs/symbench.yaml` stand in its place.
    """
    memory_mb: int = Field(default=2048, gt=0)
    """Address space of each process above the interpreter's own, MiB."""
    tree_memory_mb: int = Field(default=4096, gt=0)
    """Memory of all processes of one execution, MiB."""
    processes: int = Field(default=64, gt=0)
    """Processes and threads of one execution."""
    open_files: int = Field(default=256, ge=8)
    """Open files of each process."""
    disk_mb: int = Field(default=64, gt=0)
    """Writable space in all, MiB; it is memory."""
    inodes: int = Field(default=20_000, gt=0)
    """Files and folders in the writable space."""
    stdout_bytes: int = Field(default=1 << 20, gt=0)
    """Standard output; one byte more ends the execution."""
    stderr_bytes: int = Field(default=1 << 20, gt=0)
    """Standard error; one byte more ends the execution."""


class Executions(Strict):
    """Settings of the sandbox."""

    isolation: Literal["require", "prefer", "off"] = "require"
    """require: refuse to run unless all of `isolation_required` holds; prefer: best available, marked; off: none."""
    isolation_required: tuple[GuaranteeName, ...] = (
        "wall_limited",
        "process_tree_killed",
        "process_count_capped",
        "process_memory_capped",
        "write_confined",
        "read_confined",
        "network_blocked",
        "env_clean",
    )
    """Guarantees that must hold under `isolation: require`."""
    model_code_may_read_and_change_my_files: bool = False
    """Must be true for `isolation: off`: names the risk."""
    backend: Literal["warm", "fresh"] = "warm"
    """warm: fork from a server that has imported `preload`; fresh: a new interpreter per snippet."""
    preload: tuple[str, ...] = (
        "numpy",
        "sympy",
        "sympy.tensor.tensor",
        "sympy.physics.units",
        "sympy.integrals.heurisch",
        "sympy.integrals.manualintegrate",
        "sympy.integrals.risch",
    )
    """Modules that a warm server imports before it forks: for each snippet, up to the last one whose package it names.

    sympy imports the first of its five parts at the first addition (30 ms), the others in `simplify`, `solve` and
    `integrate` (20 to 100 ms).
    """
    distributions: tuple[str, ...] = ("numpy", "sympy", "scipy", "pandas", "networkx", "z3-solver")
    """Distributions that a snippet may import, with what they require; nothing else is visible."""
    limits: ExecutionLimits = ExecutionLimits()
    """Limits of one execution."""
    seed_unseeded: int | None = Field(default=None, ge=0)
    """Seed of `random` and `numpy.random` before the code starts; null leaves them random."""
    repeat_check_fraction: float = Field(default=0.02, ge=0, le=1)
    """Share of snippets that run twice, to find and count those whose output varies."""
    interpreter: str | None = None
    """Python to run snippets with, of this minor version; null: this one."""
    workers: int | None = Field(default=None, gt=0)
    """Snippets at once; null: one per processor, as far as memory allows."""
    check_every: int = Field(default=500, gt=0)
    """Executions between two runs of a known-good snippet."""
    recycle_after: int = Field(default=5000, gt=0)
    """Executions after which a server is replaced."""

    @field_validator("isolation", mode="before")
    @classmethod
    def _off_is_a_word(cls, value: object) -> object:
        return "off" if value is False else value  # YAML reads a bare off as false

    @model_validator(mode="after")
    def _name_the_risk(self) -> "Executions":
        if self.isolation == "off" and not self.model_code_may_read_and_change_my_files:
            raise ValueError(
                "isolation: not off, which runs model-written code with your rights, unless "
                "model_code_may_read_and_change_my_files: true stands beside it"
            )
        if self.seed_unseeded is not None and self.backend == "fresh":
            raise ValueError("seed_unseeded needs backend: warm")
        return self
