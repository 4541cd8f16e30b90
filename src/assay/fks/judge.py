"""An optional judge that says which wrong answers to one fact mean the same.

The judge is a model like any other: its prompts are an artifact, its answers are generations, so that every call is
in the row store under the digest of what was asked. What it said becomes `judgements.jsonl`, and a yes merges two
clusters. A judge that shares its pretraining with an evaluated model is biased towards it: reports must name it.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import msgspec

from assay.canonical import digest
from assay.errors import ConfigError, DataError
from assay.fks.answer_keys import answer_span, cluster_key
from assay.fks.catalogue import Catalogue, read_catalogue
from assay.fks.normalisation import Text
from assay.fks.polar import read_polar
from assay.fks.rows import QueryRow, ScoredRow
from assay.records.rows import GenerationRow, PromptRow
from assay.records.step import Inputs, Outputs

_SLOTS = ("question", "first", "second")
_SLOT = re.compile(rf"\{{({'|'.join(_SLOTS)})\}}")


class JudgeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the judge is asked.

    Attributes
    ----------
    template : str
        Text with each of the slots `{question}`, `{first}` and `{second}` once.
    """

    template: str = (
        "Question: {question}\nFirst answer: {first}\nSecond answer: {second}\n"
        "Do both answers name the same thing? Reply with yes or no.\nReply:"
    )

    def check(self) -> None:
        """Refuse a template that lacks a slot.

        Raises
        ------
        ConfigError
            Naming the slot.
        """
        found = sorted(_SLOT.findall(self.template))
        if found != sorted(_SLOTS):
            raise ConfigError(
                f"the template holds the slots {found}", key="judge.template", expected=f"each of {_SLOTS} once"
            )


class Pair(NamedTuple):
    """Two different wrong answers to one fact: their keys in order, and how they were written first."""

    fact_id: str
    left: str
    right: str
    left_text: str
    right_text: str
    question: str

    @property
    def query_id(self) -> str:
        """Identity of the question to the judge."""
        return f"judge_{digest('fks-judge-pair', list(self))[:24]}"

    def prompt(self, template: str) -> str:
        """Return the question to the judge; slots in the inserted texts stay as they are."""
        values = {"question": self.question, "first": self.left_text, "second": self.right_text}
        return _SLOT.sub(lambda match: values[match[1]], template)


class JudgementRow(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of the judge: the transcript, and whether it was read as yes.

    `left` and `right` are the cluster names that are compared, `answer` the judge's own words. A failed call
    (`error`) and an answer without a yes or no both count as no.
    """

    query_id: str
    fact_id: str
    left: str
    right: str
    left_text: str
    right_text: str
    question: str
    answer: str
    same: bool
    answered: bool
    error: str | None = None


def pairs(catalogue: Catalogue, queries: Iterable[QueryRow], labels: Iterable[ScoredRow]) -> Iterator[Pair]:
    """Yield the pairs to judge: for k different `ans:` keys of a fact, the k(k-1)/2 unordered ones.

    Only rows of the main average count: a reverse query asks for something else.
    """
    by_id = {query.query_id: query for query in queries}
    texts: dict[str, dict[str, str]] = {}
    for row in labels:
        if row.label != "incorrect" or not row.use_for_main_forward:
            continue
        query = by_id.get(row.query_id)
        if query is None:
            raise DataError(f"the label of {row.query_id!r} belongs to no query", row=row.row_id, key="query_id")
        question = catalogue.question(query)
        key = cluster_key(question, row.label, row.segment, row.row_id)
        written = row.matched_surface or answer_span(question, Text(row.segment))
        texts.setdefault(row.fact_id, {}).setdefault(key, written)
    for fact_id, found in texts.items():
        anchor = catalogue.facts[fact_id].qualification_question
        for left, right in combinations(sorted(found), 2):
            yield Pair(fact_id, left, right, found[left], found[right], anchor)


def build_judge_prompts(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Make `prompts.jsonl` for the judge from roles "queries" and "labels"."""
    settings = msgspec.convert(config, JudgeSettings)
    settings.check()
    found = _pairs_of(inputs)
    return {"prompts.jsonl": (PromptRow.of_text(pair.query_id, pair.prompt(settings.template)) for pair in found)}


def judgement_rows(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Make `judgements.jsonl` from roles "queries", "labels" and the judge's "generations".

    Raises
    ------
    DataError
        If an answer of the judge is missing, or one belongs to no pair.
    """
    msgspec.convert(config, JudgeSettings)
    generations = list(inputs.one("generations").rows("generations.jsonl", GenerationRow))
    answers = {row.query_id: row for row in generations}
    rows = []
    for pair in _pairs_of(inputs):
        answer = answers.pop(pair.query_id, None)
        if answer is None:
            raise DataError("the judge has no answer to this pair", row=pair.query_id, expected="one answer per pair")
        rows.append(judgement(pair, answer.text, answer.error))
    if answers:
        raise DataError(f"{len(answers)} answers of the judge belong to no pair", row=next(iter(answers)))
    return {"judgements.jsonl": rows}


def _pairs_of(inputs: Inputs) -> Iterator[Pair]:
    catalogue, queries = read_catalogue(inputs.one("queries"))
    return pairs(catalogue, queries, inputs.one("labels").rows("labels.jsonl", ScoredRow))


def judgement(pair: Pair, answer: str, error: str | None = None) -> JudgementRow:
    """Read one answer of the judge: its first polar word decides, and anything else is no."""
    word = None if error is not None else read_polar(Text(answer))
    return JudgementRow(
        query_id=pair.query_id,
        fact_id=pair.fact_id,
        left=pair.left,
        right=pair.right,
        left_text=pair.left_text,
        right_text=pair.right_text,
        question=pair.question,
        answer=answer,
        same=word is not None and word.yes,
        answered=word is not None,
        error=error,
    )


def merged_keys(judgements: Iterable[JudgementRow]) -> dict[tuple[str, str], str]:
    """Return (fact, key) -> name of the merged cluster, by union-find: the smallest key of all that are one.

    Keys that no yes touches are left out.
    """
    parents: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        while (parent := parents.setdefault(node, node)) != node:
            parents[node] = parents[parent]
            node = parent
        return node

    for row in judgements:
        if row.same:
            one, other = sorted((root((row.fact_id, row.left)), root((row.fact_id, row.right))))
            parents[other] = one
    return {node: root(node)[1] for node in list(parents)}
