"""Rows of the FKS benchmark: facts, queries, scored answers, clusters.

Field names of facts and queries are those of the published files. A reader that meets further fields ignores them;
keeping them is the loader's business.
"""

from typing import Any, Literal

import msgspec

from assay.records.rows import FinishReason

Label = Literal["correct", "incorrect", "ambiguous", "abstain", "unparseable"]
LABELS: tuple[Label, ...] = ("correct", "incorrect", "ambiguous", "abstain", "unparseable")
TargetSlot = Literal["object", "subject"]


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """A subject or an object: its name, its identity, its other names in any language."""

    canonical: str
    entity_id: str | None = None
    aliases: tuple[str, ...] = ()

    @property
    def surfaces(self) -> tuple[str, ...]:
        """The canonical name, then the aliases; a name that occurs twice stands at its first place."""
        return tuple(dict.fromkeys((self.canonical, *self.aliases)))

    @property
    def key(self) -> str:
        """What tells this entity from others: its id, or its canonical name where a source gives no id."""
        return self.entity_id or self.canonical


class Relation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The relation of a fact. `inverse_of` is set exactly when `direction` is "inverse"."""

    relation_id: str
    source_relations: tuple[str, ...] = ()
    direction: Literal["forward", "inverse"] = "forward"
    inverse_of: str | None = None


class FactRow(msgspec.Struct, frozen=True, kw_only=True):
    """One fact (subject, relation, object) and how its answer is to be read."""

    fact_id: str
    subject: Entity
    object: Entity
    relation: Relation
    qualification_question: str
    sources: Any = ()
    source_records: Any = ()
    is_functional: bool = True
    answer_type: str
    answer_granularity: str
    answer_in_subject_surface: bool
    spec_6_2_flag: bool


class QueryRow(msgspec.Struct, frozen=True, kw_only=True):
    """One query on a fact.

    `answer_type` and `answer_granularity` are None where the published file has no such column: whoever scores
    joins them from the fact. `choices` lists the options of a multiple-choice query where the file carries them;
    they are parsed from the query text otherwise.
    """

    query_id: str
    fact_id: str
    relation: str
    condition_family: str
    variant_id: str
    language: str
    query: str
    target_slot: TargetSlot
    gold_canonical: str
    gold_aliases: tuple[str, ...] = ()
    is_assisted: bool
    is_well_posed: bool
    use_for_main_forward: bool
    use_for_reverse_analysis: bool
    use_for_recognition_analysis: bool
    answer_in_subject_surface: bool
    answer_type: str | None = None
    answer_granularity: str | None = None
    choices: tuple[str, ...] | None = None

    @property
    def gold_surfaces(self) -> tuple[str, ...]:
        """Every accepted surface, the canonical one first, without doubles."""
        return tuple(dict.fromkeys((self.gold_canonical, *self.gold_aliases)))


class ScoredRow(msgspec.Struct, frozen=True, kw_only=True):
    """A generation with its label (`labels.jsonl`, in the order of the queries).

    Identity and flags are copied from the query, so that metrics need no further join: a row enters a metric by
    its own booleans, never by the name of its family. `spec_6_2_flag` comes from the fact. `segment` is the
    piece of the text that was judged; `matched_surface` the surface that decided, empty where none did;
    `rule_id` the rule of the scorer that decided. `error` and `finish_reason` are the generation's: a failed
    generation is labelled `unparseable` with the rule `generation_error`, never left out.
    """

    row_id: str
    query_id: str
    sample_index: int
    fact_id: str
    relation: str
    condition_family: str
    variant_id: str
    language: str
    is_assisted: bool
    is_well_posed: bool
    use_for_main_forward: bool
    use_for_reverse_analysis: bool
    use_for_recognition_analysis: bool
    answer_in_subject_surface: bool
    spec_6_2_flag: bool
    text: str
    finish_reason: FinishReason
    truncated: bool
    error: str | None
    label: Label
    segment: str
    matched_surface: str
    rule_id: str
    scorer_version: str


class ClusterRow(msgspec.Struct, frozen=True, kw_only=True):
    """The answer cluster of one scored row (`clusters.jsonl`, in the order of the labels).

    `cluster` is `gold`, `abstain`, `ans:KEY`, `amb:KEY`, or `unparseable:ROW_ID` (a cluster of its own); names
    are unique within one fact. `clusterer_version` names the rules, the judge included where one was used.
    """

    row_id: str
    query_id: str
    fact_id: str
    label: Label
    cluster: str
    clusterer_version: str


class LexiconRow(msgspec.Struct, frozen=True, kw_only=True):
    """An entity of a relation's full table (`lexicon.jsonl`), asked or not: a wrong answer that can be recognised.

    `key` is `Entity.key`. Without the file, the entities of the facts that are asked are all there is.
    """

    relation: str
    slot: TargetSlot
    key: str
    surfaces: tuple[str, ...]
