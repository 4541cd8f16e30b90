"""The FKS section: dataset, conditions, decoding, states, metrics (`configs/fks.yaml`)."""

from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from assay.config.files import Strict

FamilyName = Literal[
    "anchor", "paraphrase", "format", "context", "multilingual", "reverse", "reverse_illposed", "recognition"
]
Item = TypeVar("Item")


def _once(values: list[Item]) -> list[Item]:
    if len(set(values)) != len(values):
        raise ValueError("each of them once")
    return values


OneEach = Annotated[list[Item], Field(min_length=1), AfterValidator(_once)]
Share = Annotated[float, Field(gt=0, le=1)]
Transport = Literal["raw", "jlens"]
Whitening = Literal["none", "center", "zca"]
# Relative, so that a recipe is the same on every machine; a link may lead anywhere.
ProjectPath = Annotated[str, Field(pattern=r"^[^/~\\][^\\]*$")]


class EmbeddedDataset(Strict):
    """Facts built from Python packages: thirteen relations, six languages."""

    kind: Literal["embedded"]


class CardDataset(Strict):
    """The published files, or others in their layout."""

    kind: Literal["card"]
    folder: ProjectPath
    """Folder in the project that holds the configs `facts` and `queries`."""
    expect_published_counts: bool = True
    """Whether the numbers of the published card must hold; false for other data in the same layout."""


class CsvDataset(Strict):
    """A user's own facts in a CSV file."""

    kind: Literal["csv"]
    file: ProjectPath
    """CSV file in the project, UTF-8, with a header."""
    templates: ProjectPath | None = None
    """JSON file with the question texts of relations that are not embedded ones."""


Dataset = Annotated[EmbeddedDataset | CardDataset | CsvDataset, Field(discriminator="kind")]


class Prompt(Strict):
    """Texts around a query; `{query}` is replaced as it is."""

    anchor: str = "Answer the question with a short factual answer only.\nQuestion: {query}\nAnswer:"
    """Wrapper of anchor queries."""
    other: str = "{query}\nAnswer:"
    """Wrapper of all other queries."""

    @field_validator("anchor", "other")
    @classmethod
    def _has_query(cls, value: str) -> str:
        if value.count("{query}") != 1:
            raise ValueError("a text with {query} exactly once")
        return value


class Decoding(Strict):
    """How answers are generated: always greedily, without a chat template and without stop strings."""

    max_new_tokens: PositiveInt = 24
    """Longest answer; the end-of-sequence token counts."""
    max_prompt_tokens: PositiveInt = 192
    """Longer prompts lose tokens on the left and are counted."""


class Judge(Strict):
    """Who says whether two wrong answers mean the same."""

    kind: Literal["rules", "model"] = "rules"
    """`rules` compares keys; `model` asks a model of the registry about each pair of keys of a fact."""
    model: str | None = None
    """Name of the judge; it must not be evaluated itself."""
    max_new_tokens: PositiveInt = 8
    """Longest verdict."""
    template: str = (
        "Question: {question}\nFirst answer: {first}\nSecond answer: {second}\n"
        "Do both answers name the same thing? Reply with yes or no.\nReply:"
    )
    """What it is asked, with the slots `{question}`, `{first}` and `{second}`."""

    @field_validator("template")
    @classmethod
    def _has_slots(cls, value: str) -> str:
        if any(value.count(slot) != 1 for slot in ("{question}", "{first}", "{second}")):
            raise ValueError("a text with each of {question}, {first} and {second} once")
        return value

    @model_validator(mode="after")
    def _named(self) -> "Judge":
        if (self.kind == "model") != (self.model is not None):
            raise ValueError("model: a name exactly when kind is model")
        return self


class States(Strict):
    """Which hidden states are kept."""

    enabled: bool = True
    """Whether states are extracted at all; without them the internal columns are empty."""
    window_percent: Annotated[int, Field(ge=0, le=100)] = 40
    """Layer l of L is in the window where 100 l >= window_percent (L - 1)."""
    top_state: Literal["hidden_states", "block_output"] = "hidden_states"
    """The top layer after the final norm, or before it; jlens takes block outputs."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Precision on disk."""
    shard_rows: PositiveInt = 2048
    """Rows of one shard."""


class Lens(Strict):
    """Fit of the average Jacobian."""

    prompts: PositiveInt = 100
    """Prompts of the fit."""
    tokens: PositiveInt = 128
    """Tokens of each."""
    skip: NonNegativeInt = 16
    """Leading positions left out."""
    texts: ProjectPath | None = None
    """Text file with one generic prompt a line; by default embedded prompts."""
    imported: dict[str, ProjectPath] = {}
    """Model -> lens file that `assay fks import-lens` wrote; it takes the place of a fit."""

    @model_validator(mode="after")
    def _positions_are_left(self) -> "Lens":
        if self.tokens < self.skip + 2:
            raise ValueError(f"tokens: at least {self.skip + 2}, two more than skip")
        return self


class Bootstrap(Strict):
    """Intervals over facts and over relations."""

    resamples: PositiveInt = 2000
    """Number of resamples."""
    seed: NonNegativeInt = 20260101
    """Seed of numpy.random.default_rng."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """Coverage of the percentile interval."""


class Internal(Strict):
    """How states become ISS and KTS."""

    transports: OneEach[Transport] = ["raw"]
    """Raw states, or states carried to the top layer by the average Jacobian."""
    iss_whitening: OneEach[Whitening] = ["zca", "center", "none"]
    """Forms of whitening for ISS, `none` among them; the main table shows the first."""
    kts_geo_whitening: Whitening = "none"
    """Whitening of KTS-Geo; a map common to all conditions is not among its invariances."""
    kts_id_whitening: Whitening = "zca"
    """Whitening of KTS-ID."""
    kts_id_metrics: OneEach[Literal["cosine", "euclidean"]] = ["cosine"]
    """Distances of KTS-ID."""
    shrinkage: Share = 0.1
    """Lambda of the shrunk covariance."""
    kts_geo_min_facts: PositiveInt = 5
    """Facts that a pair of families must share in a relation."""
    kts_id_min_facts: Annotated[int, Field(ge=2)] = 2
    """The same for KTS-ID."""
    joint_min_facts: PositiveInt = 5
    """Facts of a relation that enters the joint analysis by relation."""

    @model_validator(mode="after")
    def _plain(self) -> "Internal":
        if "none" not in self.iss_whitening:
            raise ValueError("iss_whitening: none among them, which is always reported")
        return self


class Metrics(Strict):
    """What is measured, and on which facts."""

    main_families: list[FamilyName] = Field(
        default=["anchor", "paraphrase", "format", "context", "multilingual"], min_length=1
    )
    """Families of the main average; the variant without the anchor is always reported too."""
    coverage_modes: OneEach[Literal["full_set", "complete_family"]] = ["full_set", "complete_family"]
    """`full_set` averages over the families that a fact has; `complete_family` keeps facts that have all."""
    drop_spec_6_2_flagged: bool = False
    """Leave out the facts of the relations that the card flags (deviation C1)."""
    drop_answer_in_subject: bool = False
    """Leave out the facts that copying the subject answers (deviation F1)."""
    taus: OneEach[Share] = [0.7, 0.8, 0.9]
    """Thresholds of the behaviour classes."""
    primary_tau: Share = 0.8
    """The one of the main table."""
    bootstrap: Bootstrap = Bootstrap()
    """Intervals."""
    internal: Internal = Internal()
    """States."""

    @model_validator(mode="after")
    def _consistent(self) -> "Metrics":
        if len(set(self.main_families)) != len(self.main_families):
            raise ValueError("main_families: each family once")
        if self.primary_tau not in self.taus:
            raise ValueError("primary_tau: one of taus")
        return self


class Qualification(Strict):
    """The card's way of choosing facts: every filter model gets the first answer token right."""

    enabled: bool = False
    """Whether only facts that pass are asked."""
    filter_models: list[str] = []
    """Names from `configs/models.yaml`; they are marked wherever they are evaluated."""

    @model_validator(mode="after")
    def _named(self) -> "Qualification":
        if self.enabled and not self.filter_models:
            raise ValueError("filter_models: at least one where qualification is enabled")
        if len(set(self.filter_models)) != len(self.filter_models):
            raise ValueError("filter_models: each name once")
        return self


class FksConfig(Strict):
    """`configs/fks.yaml`, with the experiment's overrides."""

    dataset: str = "embedded"
    """Name of the dataset that is asked, one of `datasets`."""
    datasets: dict[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")], Dataset] = {
        "embedded": EmbeddedDataset(kind="embedded")
    }
    """Name -> where the facts come from."""
    relations: list[str] = []
    """Relations that are asked; empty asks all."""
    selection: Literal["all", "well_known"] = "all"
    """Which facts stay under the cap: a sample by hash, or those with the best-known subjects."""
    cap_per_relation: PositiveInt | None = None
    """Facts per relation; null keeps all."""
    queries_per_family: dict[FamilyName, NonNegativeInt] = {}
    """Family -> queries per fact, chosen by hash; a family that is not named keeps all, 0 leaves it out."""
    prompt: Prompt = Prompt()
    """Prompt texts; their digest is part of every recipe downstream."""
    decoding: Decoding = Decoding()
    """Generation."""
    judge: Judge = Judge()
    """Clusters of wrong answers."""
    states: States = States()
    """Hidden states."""
    lens: Lens = Lens()
    """The lens behind transport jlens."""
    metrics: Metrics = Metrics()
    """Numbers."""
    qualification: Qualification = Qualification()
    """Choice of facts by filter models."""
    accepted_deviations: list[Literal["D1", "C1", "F1", "F2", "N1", "N2"]] = ["D1", "C1", "F1", "F2", "N1", "N2"]
    """Documented deviations of the published data; the loader stops at one that is not accepted."""

    @model_validator(mode="after")
    def _consistent(self) -> "FksConfig":
        if self.dataset not in self.datasets:
            raise ValueError(f"dataset: one of {', '.join(self.datasets)}")
        if len(set(self.relations)) != len(self.relations):
            raise ValueError("relations: each name once")
        if self.queries_per_family.get("anchor", 1) != 1:
            raise ValueError("queries_per_family.anchor: 1, since a fact has exactly one anchor")
        if "jlens" in self.metrics.internal.transports and self.states.top_state != "block_output":
            raise ValueError("states.top_state: block_output, which transport jlens needs")
        if isinstance(self.chosen, CardDataset) and (self.selection == "well_known" or self.queries_per_family):
            raise ValueError("selection and queries_per_family: only for facts that are built here")
        return self

    @property
    def chosen(self) -> Dataset:
        """The dataset that is asked."""
        return self.datasets[self.dataset]
