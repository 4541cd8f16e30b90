"""The SOPBench section: `configs/sopbench.yaml`."""

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from assay.config.files import Strict

Domain = Annotated[str, Field(pattern=r"^[a-z_]+$")]


class GeneratedTasks(Strict):
    """New tasks, drawn from a seed; the embedded default."""

    seed: NonNegativeInt = 0
    """Seed of worlds, requests and rules; another seed gives other tasks."""
    succeed: NonNegativeInt = 15
    """Tasks of each domain that should be carried out."""
    refuse: NonNegativeInt = 15
    """Tasks of each domain that should be refused."""

    @model_validator(mode="after")
    def _some(self) -> "GeneratedTasks":
        if not self.succeed + self.refuse:
            raise ValueError("succeed: above 0, or refuse above 0, since there would be no task")
        return self


class PublishedTasks(Strict):
    """The authors' 903 tasks, fetched with `assay data fetch sopbench`."""

    folder: str = "data/sopbench"
    """Folder of the seven task files, relative to the project."""


class ModelDecoding(Strict):
    """How a model answers in a conversation."""

    method: Literal["greedy", "sampling"] = "greedy"
    """Greedy is deterministic; several attempts need sampling."""
    temperature: Annotated[float, Field(ge=0)] = 0.0
    """0 with greedy; the published retries use 0.7."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The published runs write 0.01 with temperature 0, which is greedy."""
    max_new_tokens: PositiveInt = 512
    """Longest answer of one turn; published runs use 512 to 8096."""


class MethodConfig(Strict):
    """One way of running a model as an agent."""

    mode: Literal["fc", "react", "act-only"] = "fc"
    """Native function calling, thought and action as text, or action alone."""
    tool_list: Literal["full", "oracle"] = "full"
    """All tools of the domain, or those that the task's graph names."""
    environment: Literal["prompt", "program"] = "prompt"
    """Rules shown and not enforced, or enforced and not shown."""
    user: str = "scripted"
    """`scripted`, `adversarial`, or the name of a model that plays the user."""
    distractors: NonNegativeInt = 0
    """Tools of other domains offered beside the real ones."""
    shuffle_seed: NonNegativeInt | None = None
    """Order of the tools; without it they keep their order."""
    unpublished_tools: bool = False
    """Offer the functions for which the published data has no schema."""
    domains: Annotated[list[Domain], Field(min_length=1)] | None = None
    """Domains that the method is run on; all if left out."""
    tasks_per_domain: PositiveInt | None = None
    """The first tasks of each domain, half of each kind; all if left out."""
    decoding: ModelDecoding = ModelDecoding()
    """Of the assistant."""
    user_decoding: ModelDecoding = ModelDecoding(max_new_tokens=128)
    """Of a model that plays the user."""
    attempts: Annotated[int, Field(ge=1, le=5)] = 1
    """Independent conversations about each task, for pass@k and pass^k."""
    max_messages: PositiveInt = 20
    """Messages of user, assistant and tools after which a conversation is cut off."""
    max_calls: PositiveInt = 10
    """Calls after which a conversation is cut off."""
    max_prompt_tokens: PositiveInt | None = None
    """Longest conversation that is still answered; a longer one is counted as overflow."""

    @model_validator(mode="after")
    def _attempts_differ(self) -> "MethodConfig":
        if self.attempts > 1 and self.decoding.method == "greedy":
            raise ValueError("attempts above 1 need decoding.method sampling")
        return self


class SopbenchConfig(Strict):
    """Tasks, agents, methods and profiles."""

    tasks: Literal["generated", "published"]
    """Which tasks are asked about; the sections of both names say more."""
    generated: GeneratedTasks = GeneratedTasks()
    """With `tasks: generated`."""
    published: PublishedTasks = PublishedTasks()
    """With `tasks: published`."""
    domains: list[Domain] = Field(min_length=1)
    """Domains, in the order of the tables."""
    scripted: list[Literal["oracle", "do-nothing", "target-at-once", "wrong-order", "wrong-user"]]
    """Scripted agents that run on every task."""
    methods: dict[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")], MethodConfig] = {}
    """Name -> how every model of the experiment is run."""
    profiles: list[Literal["upstream", "corrected"]] = Field(min_length=1)
    """Scorings; each has rows of its own and they are never mixed."""
    content: Literal["tuple", "unwrapped"] = "tuple"
    """How results are written: the whole pair of status and value, or the value alone (the pinned code)."""
    cards: Literal["list", "map"] = "list"
    """Card dialect of the bank: of the published data, or of the pinned code."""

    @field_validator("domains", "profiles", "scripted")
    @classmethod
    def _unique(cls, values: list[Any]) -> list[Any]:
        if len(set(values)) != len(values):
            raise ValueError("each name once")
        return values
