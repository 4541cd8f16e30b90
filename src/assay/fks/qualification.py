"""Choice of facts by filter models: a fact stays if every model's next token begins the answer.

This is how the published facts were chosen, and why scores on them run high, above all those of the filter models
themselves. One forward pass per prompt; nothing is generated.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from assay.canonical import canonical_bytes
from assay.errors import ConfigError, DataError
from assay.fks.qualification_report import REPORT, PromptCount, QualificationReport
from assay.fks.rows import FactRow, QueryRow
from assay.records.step import Inputs, Outputs

SERVICES = "assay.steps.filter_models:open_models"
"""What the queries step gives `keep_qualified` besides its inputs."""

_BLANK = re.compile(r"_{2,}")


class FilterModel(Protocol):
    """What qualification needs of a model."""

    @property
    def identity(self) -> dict[str, Any]:
        """What identifies the model, as JSON data."""
        ...

    def tokens(self, text: str) -> Sequence[int]:
        """Return the token ids of a text, special tokens included, as a prompt has them."""
        ...

    def next_tokens(self, prompts: Sequence[str]) -> Sequence[int]:
        """Return the token of the largest logit after each prompt, in their order."""
        ...

    def is_blank(self, token: int) -> bool:
        """Tell whether a token is white space and nothing else."""
        ...


class QualificationSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The filter models, by their names in the registry, what of their entries decides bytes, and who opens them."""

    filter_models: tuple[str, ...]
    models: tuple[dict[str, Any], ...] = ()
    services: str = SERVICES


class Candidate(NamedTuple):
    """One cloze prompt of a fact; `gap` stands between the prompt and an answer."""

    fact_id: str
    relation: str
    prompt: str
    surfaces: tuple[str, ...]
    gap: str = " "


def cloze_prompt(query: QueryRow) -> str | None:
    """Return the text that a model is to continue with the answer, or None if the query is no cloze.

    A blank ends the text; a key without a value ("Capital:") is continued as it stands.

    Examples
    --------
    "The capital of Austria is ____." gives "The capital of Austria is".
    """
    if query.condition_family != "format" or query.target_slot != "object":
        return None
    blank = _BLANK.search(query.query)
    if blank is None:
        return query.query if query.query.endswith(":") else None
    return query.query[: blank.start()].rstrip() or None


def candidates(facts: Iterable[FactRow], queries: Iterable[QueryRow]) -> Iterator[Candidate]:
    """Yield the cloze prompts of all facts in the order of the queries; equal prompts of a fact once."""
    by_id = {fact.fact_id: fact for fact in facts}
    seen: set[tuple[str, str]] = set()
    for query in queries:
        prompt = cloze_prompt(query)
        fact = by_id.get(query.fact_id)
        if fact is not None and prompt is not None and (query.fact_id, prompt) not in seen:
            seen.add((query.fact_id, prompt))
            # "+____" is continued without a space.
            gap = "" if query.query.startswith(f"{prompt}_") else " "
            yield Candidate(query.fact_id, query.relation, prompt, fact.object.surfaces, gap)


def answer_starts(model: FilterModel, asked: Candidate) -> Iterator[tuple[int, ...] | None]:
    """Yield how each accepted answer starts after a prompt: its first token, and what leads to it.

    Prompt, space and surface are tokenised together, and the token after the prompt's own is taken. Where the
    tokenizer makes the space a token of its own, as many do before digits, that token says nothing about the answer:
    both are then given. None where an answer cannot be compared, because it shares a token with the prompt.
    """
    before, spaced = list(model.tokens(asked.prompt)), list(model.tokens(f"{asked.prompt} "))
    for surface in asked.surfaces:
        whole = list(model.tokens(f"{asked.prompt}{asked.gap}{surface}"))
        first, second = whole[len(before) : len(before) + 1], whole[len(spaced) : len(spaced) + 1]
        if not first or whole[: len(before)] != before:
            yield None
        elif not model.is_blank(first[0]):
            yield (first[0],)
        elif second and spaced == [*before, *first] and not model.is_blank(second[0]):
            yield first[0], second[0]
        else:
            yield None


def right_prompts(model: FilterModel, asked: Sequence[Candidate]) -> tuple[list[bool], int]:
    """Return which prompts a model continues rightly, and how many surfaces could not be compared.

    Right is the start of any accepted surface.
    """
    starts = [list(answer_starts(model, candidate)) for candidate in asked]
    nexts = model.next_tokens([candidate.prompt for candidate in asked])
    spaced = [place for place, found in enumerate(starts) if any(one is not None and len(one) == 2 for one in found)]
    after = dict(zip(spaced, model.next_tokens([f"{asked[place].prompt} " for place in spaced]), strict=True))
    right = [
        bool({(token,), (token, after.get(place))} & set(found))
        for place, (token, found) in enumerate(zip(nexts, starts, strict=True))
    ]
    return right, sum(found.count(None) for found in starts)


def qualify(
    facts: Sequence[FactRow], queries: Iterable[QueryRow], models: Mapping[str, FilterModel]
) -> tuple[set[str], QualificationReport]:
    """Return the ids of the facts that stay, and the report.

    A prompt is kept if every model gets it right; a fact is kept if one of its prompts is.
    """
    asked = list(candidates(facts, queries))
    by_model: dict[str, list[bool]] = {}
    skipped: dict[str, int] = {}
    identities: dict[str, dict[str, Any]] = {}
    for name in models:
        model = models[name]  # may load it, and let go of the one before
        identities[name] = model.identity
        by_model[name], skipped[name] = right_prompts(model, asked)
    kept = [all(row) for row in zip(*by_model.values(), strict=True)] if by_model else [True] * len(asked)
    facts_kept = {candidate.fact_id for candidate, right in zip(asked, kept, strict=True) if right}
    relations = dict.fromkeys(candidate.relation for candidate in asked)
    report = QualificationReport(
        models=identities,
        total=_count(asked, kept),
        by_relation={relation: _count(*_of_relation(asked, kept, relation)) for relation in relations},
        by_model={name: _count(asked, right) for name, right in by_model.items()},
        facts_without_prompt=len({fact.fact_id for fact in facts} - {candidate.fact_id for candidate in asked}),
        surfaces_not_comparable=skipped,
    )
    return facts_kept, report


def _of_relation(asked: Sequence[Candidate], kept: Sequence[bool], relation: str) -> tuple[list[Candidate], list[bool]]:
    chosen = [(c, right) for c, right in zip(asked, kept, strict=True) if c.relation == relation]
    return [c for c, _ in chosen], [right for _, right in chosen]


def _count(asked: Sequence[Candidate], kept: Sequence[bool]) -> PromptCount:
    return PromptCount(
        prompts=len(asked),
        prompts_kept=sum(kept),
        facts=len({candidate.fact_id for candidate in asked}),
        facts_kept=len({candidate.fact_id for candidate, right in zip(asked, kept, strict=True) if right}),
    )


def keep_qualified(config: dict[str, Any], inputs: Inputs, services: Mapping[str, FilterModel]) -> Outputs:
    """Keep the facts of a dataset that qualify, with all their queries.

    Parameters
    ----------
    config : dict
        Fields of `QualificationSettings`.
    inputs : Inputs
        Role `candidates`: a queries artifact.
    services : mapping
        Name of each filter model -> the model. Each is asked for once, in order, and used before the next.

    Returns
    -------
    Outputs
        `facts.jsonl` and `queries.jsonl` with the rows that stay, unchanged; `lexicon.jsonl` of all entities where
        the input has one; `qualification.json`.

    Raises
    ------
    DataError
        If no fact qualifies.
    ConfigError
        If the models are others than those that the config names.
    """
    settings = msgspec.convert(config, QualificationSettings)
    source = inputs.one("candidates")
    facts = list(source.rows("facts.jsonl", FactRow))
    queries = source.rows("queries.jsonl", QueryRow)
    if tuple(services) != settings.filter_models:
        raise ConfigError(f"the models are {list(services)}", key="filter_models", expected=settings.filter_models)
    kept, report = qualify(facts, queries, services)
    if not kept:
        raise DataError(
            f"none of {report.total.facts} facts qualifies",
            file=source.path("facts.jsonl"),
            expected="a fact whose answer every filter model begins",
            remedy="take other filter models, or switch qualification off",
        )
    outputs: dict[str, Iterable[object] | bytes] = {
        name: (row for row in source.rows(name, dict) if row["fact_id"] in kept)
        for name in ("facts.jsonl", "queries.jsonl")
    }
    if source.path("lexicon.jsonl").is_file():
        outputs["lexicon.jsonl"] = source.rows("lexicon.jsonl", dict)
    outputs[REPORT] = canonical_bytes(msgspec.to_builtins(report)) + b"\n"
    return outputs
