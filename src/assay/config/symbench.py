"""The SymBench section: tasks, samples, methods, judging, metric (`configs/symbench.yaml`)."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from assay.config.files import Strict

TaskName = Literal[
    "game24",
    "path_plan",
    "boxlift",
    "boxnet",
    "blocksworld",
    "date_understanding",
    "web_of_lies",
    "logical_deduction",
    "navigate",
    "gsm_hard",
    "math_geometry",
    "math_counting_and_probability",
    "logical_equation",
    "new_operator",
    "pooling",
    "light_puzzles",
    "mahjong_pattern",
    "statistical_counting",
    "matrix_transformation",
    "logic_puzzle",
    "constrained_linear_arrangement",
    "pattern_recognition",
    "string_insertion",
    "letter_logic_diagram",
    "string_deletion_and_modification",
    "string_synthesis",
    "reversi",
    "standard_sudoku",
    "letters",
    "eight_queens",
    "number_multiply",
    "cryptanalysis",
    "string_splitting",
    "combinatorial_calculation",
    "synthesis_decomposition",
    "2048",
    "permutations_and_combinations",
]
MethodKind = Literal[
    "only_question",
    "all_text_cot",
    "all_code_cot",
    "autogen_conca",
    "code_text_sum1",
    "code_text_choice",
    "code_interpreter",
    "symbolic_agent",
    "codesteer",
]
Mode = Literal["upstream/echo", "upstream/normalized", "corrected/marker"]
Tasks = Literal["all"] | Annotated[list[TaskName], Field(min_length=1)]
# Relative, so that a recipe is the same on every machine; a link may lead anywhere.
ProjectPath = Annotated[str, Field(pattern=r"^[^/~\\][^\\]*$")]


class GeneratedSamples(Strict):
    """Fresh samples of the same kinds of problem; nothing is downloaded."""

    kind: Literal["generated"] = "generated"
    per_task: PositiveInt = 100
    """Samples of each task; 100 for all 37 tasks is the benchmark's nominal size."""
    seed: NonNegativeInt = 0
    """Seed of the samples; different seeds share none, as far as a task's space allows."""


class PublishedSamples(Strict):
    """The authors' samples, as `assay data fetch symbench` writes them."""

    kind: Literal["published"]
    folder: ProjectPath = "data/symbench"
    """Folder of TASK.jsonl files."""
    selection: Literal["runner-baseline", "runner-codesteer", "paper100", "full"] = "paper100"
    """Which of them; see `assay.symbench.datasets_selection`."""


Samples = Annotated[GeneratedSamples | PublishedSamples, Field(discriminator="kind")]


class Decoding(Strict):
    """How a model answers."""

    max_new_tokens: PositiveInt = 2000
    """Longest answer of one call."""
    max_prompt_tokens: PositiveInt = 8192
    """Longer prompts lose tokens on the left and are counted."""
    temperature: Annotated[float, Field(ge=0)] = 0.0
    """0: greedy."""


class Method(Strict):
    """One way of asking; its name in the table is its key."""

    kind: MethodKind
    """What happens, see docs."""
    guide: str | None = None
    """Model that guides (symbolic_agent, codesteer) or chooses (code_text_choice); null: the evaluated model itself."""
    checker: str | None = None
    """Model that writes the self-answer check; null: the evaluated model itself."""
    summarizer: str | None = None
    """Model that writes the final answer of code_text_sum1; null: the evaluated model itself."""
    max_rounds: Annotated[int, Field(ge=0, le=20)] = 5
    """Revised answers after the first one, and tool calls of code_interpreter."""
    without_choice: Literal["fail", "question"] = "fail"
    """Where the guide names neither code nor text: count the sample as failed, as the published code skips it, or ask
    the plain question."""
    check_tries: Annotated[int, Field(ge=1, le=20)] = 5
    """Answers of the checker until one holds code (symbolic_agent, codesteer)."""
    check_rounds: Annotated[int, Field(ge=1, le=20)] = 3
    """Programs of the checker until one ends without an error."""
    templates: dict[str, str] = {}
    """Texts that replace built-in ones, by name; their words enter the recipe."""
    decoding: Decoding | None = None
    """How the models of this method answer; null: as the section's `decoding` says."""
    tasks: Tasks = "all"
    """Fewer tasks than the experiment has, for a smoke test; a comparison needs all."""


class Metrics(Strict):
    """Rates, scores and intervals."""

    comparison: Literal["methods", "models", "both"] = "both"
    """What the best rate of a task is taken over: the methods of each model, all models of each method, or both."""
    published_columns: bool = False
    """Add the 481 printed rates as labelled external columns; they enlarge the comparison set."""
    missing: Literal["refuse", "zero", "common"] = "refuse"
    """What to do when a method lacks a task."""
    resamples: PositiveInt = 2000
    """Bootstrap replicates, within tasks."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """Coverage of the intervals."""
    seed: NonNegativeInt = 20260102
    """Seed of the bootstrap."""


class SymbenchConfig(Strict):
    """`configs/symbench.yaml`."""

    samples: Samples = GeneratedSamples()
    """Where the questions come from."""
    tasks: Tasks = "all"
    """The tasks that are evaluated."""
    methods: dict[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")], Method] = Field(min_length=1)
    """Methods by name."""
    use: Literal["all"] | list[str] = "all"
    """Names of the methods that are evaluated, and hence compared."""
    decoding: Decoding = Decoding()
    """How models answer where a method does not say otherwise."""
    limit_s: Annotated[float, Field(gt=0)] = 30.0
    """Time limit of one execution attempt; the paper says 30 s, the published code uses 15 s."""
    loop_limit_s: Annotated[float, Field(gt=0)] = 30.0
    """The same inside multi-turn methods; the published code uses 10 s."""
    modes: list[Mode] = Field(default=["upstream/echo", "upstream/normalized", "corrected/marker"], min_length=1)
    """Profile and extraction of the verdicts; they are never mixed."""
    headline: Mode = "upstream/normalized"
    """The one that average normalised scores are led by; it must be among `modes`."""
    metrics: Metrics = Metrics()
    """What is measured."""

    @field_validator("tasks", "modes", "use")
    @classmethod
    def _once(cls, value: object) -> object:
        if isinstance(value, list) and len(set(value)) != len(value):
            raise ValueError("each name once")
        return value

    @model_validator(mode="after")
    def _headline_is_judged(self) -> "SymbenchConfig":
        if self.headline not in self.modes:
            raise ValueError("headline: one of modes")
        return self

    @model_validator(mode="after")
    def _used_methods_are_described(self) -> "SymbenchConfig":
        unknown = [] if self.use == "all" else [name for name in self.use if name not in self.methods]
        if unknown or not self.use:
            raise ValueError(f"use: one or more names of methods, not {unknown[0] if unknown else 'none'}")
        return self

    @property
    def used_methods(self) -> dict[str, Method]:
        """The methods that are evaluated, in the order of `methods`."""
        return {name: method for name, method in self.methods.items() if self.use == "all" or name in self.use}
