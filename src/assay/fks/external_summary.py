"""Main numbers of external stability over a selection of facts, their breakdowns and their baselines."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from assay.fks.answers import Answers
from assay.fks.behaviour import BEHAVIOURS, behaviour_classes
from assay.fks.chance import mean_coin_floor
from assay.fks.external import stability
from assay.fks.metric_selection import Selection
from assay.fks.metric_settings import MetricSettings
from assay.fks.rows import LABELS
from assay.fks.summary import Number, fact_means, relation_macro

Array = NDArray[np.float64]
Column = tuple[str, dict[str, object]]


def fact_columns(answers: Answers, chosen: Selection, settings: MetricSettings) -> tuple[list[Column], Array]:
    """Return names and values, shape [n_facts, n_columns], of everything that is averaged over facts."""
    measured, rows = chosen.measured, chosen.rows
    columns: list[Column] = [("bcs", {}), ("bes", {})]
    values = [measured.bcs[rows], measured.bes[rows]]
    for tau in settings.taus:
        classes = behaviour_classes(answers, measured, tau)[rows]
        for code, name in enumerate(BEHAVIOURS):
            columns.append((f"{name}_share", {"tau": tau}))
            values.append((classes == code).astype(np.float64))
    for code, label in enumerate(LABELS):
        columns.append((f"{label}_share", {}))
        values.append(measured.label_share[rows, code])
    return columns, np.stack(values, axis=1)


def selection_setting(chosen: Selection) -> dict[str, object]:
    """Return what tells the numbers of a selection apart in the tidy table."""
    return {"anchor": chosen.anchor, "coverage": chosen.coverage, "subset": chosen.subset}


def relations_of(answers: Answers, chosen: Selection) -> list[str]:
    """Return the relation of each selected fact."""
    return [answers.facts[fact].relation for fact in chosen.facts]


def selection_numbers(answers: Answers, chosen: Selection, settings: MetricSettings) -> Iterator[Number]:
    """Yield means over facts (both intervals) and over relations for one line of the main table."""
    columns, values = fact_columns(answers, chosen, settings)
    relations = relations_of(answers, chosen)
    setting = selection_setting(chosen)
    failed = int(chosen.measured.n_failed[chosen.rows].sum())
    n = len(chosen.rows)
    for (name, extra), (value, intervals) in zip(
        columns, fact_means(values, relations, settings.bootstrap), strict=True
    ):
        yield Number(name, value, n, failed, {**setting, **extra}, intervals)
    macro = relation_macro(values[:, :2], relations, settings.bootstrap)
    for name, (value, intervals) in zip(("bcs_relation_macro", "bes_relation_macro"), macro, strict=True):
        yield Number(name, value, len(set(relations)), failed, setting, intervals)
    for reason, count in chosen.excluded.items():
        if count:
            yield Number("excluded_facts", count, len(answers.facts), 0, {**setting, "reason": reason}, unit="facts")


def breakdown_numbers(answers: Answers, chosen: Selection, settings: MetricSettings) -> Iterator[Number]:
    """Yield the same selection per relation, per family and per language, with intervals over facts."""
    yield from _by_relation(answers, chosen, settings)
    yield from _by_family(answers, chosen, settings)
    yield from _by_language(answers, chosen, settings)


def _by_relation(answers: Answers, chosen: Selection, settings: MetricSettings) -> Iterator[Number]:
    columns, values = fact_columns(answers, chosen, settings)
    keep = [i for i, (_, extra) in enumerate(columns) if extra.get("tau", settings.primary_tau) == settings.primary_tau]
    relations = np.array(relations_of(answers, chosen))
    for relation in sorted(set(relations.tolist())):
        here = np.flatnonzero(relations == relation)
        failed = int(chosen.measured.n_failed[chosen.rows[here]].sum())
        means = fact_means(values[here][:, keep], relations[here].tolist(), settings.bootstrap)
        for place, (value, intervals) in zip(keep, means, strict=True):
            name, extra = columns[place]
            setting = {**selection_setting(chosen), **extra, "relation": relation}
            yield Number(name, value, len(here), failed, setting, {"fact": intervals["fact"]})


def _by_family(answers: Answers, chosen: Selection, settings: MetricSettings) -> Iterator[Number]:
    relations = np.array(relations_of(answers, chosen))
    for place, family in enumerate(chosen.families):
        alone = stability(answers, (family,))
        here = np.flatnonzero(np.isin(alone.fact, chosen.facts))
        setting = {**selection_setting(chosen), "family": family}
        names = ["within_family_max", *(f"{label}_share" for label in LABELS)]
        largest = chosen.measured.family_max[chosen.rows, place]
        defined = ~np.isnan(largest)
        values = np.column_stack([largest[defined], alone.label_share[here]])
        failed = int(alone.n_failed[here].sum())
        means = fact_means(values, relations[defined].tolist(), settings.bootstrap)
        for name, (value, intervals) in zip(names, means, strict=True):
            yield Number(name, value, len(here), failed, setting, {"fact": intervals["fact"]})


def _by_language(answers: Answers, chosen: Selection, settings: MetricSettings) -> Iterator[Number]:
    for language in answers.languages:
        alone = stability(answers, chosen.families, language)
        here = np.flatnonzero(np.isin(alone.fact, chosen.facts))
        if not len(here):
            continue
        relations = [answers.facts[fact].relation for fact in alone.fact[here]]
        failed = int(alone.n_failed[here].sum())
        means = fact_means(alone.label_share[here], relations, settings.bootstrap)
        for label, (value, intervals) in zip(LABELS, means, strict=True):
            setting = {**selection_setting(chosen), "language": language}
            yield Number(f"{label}_share", value, len(here), failed, setting, {"fact": intervals["fact"]})


def baseline_numbers(answers: Answers, chosen: Selection, gold: Mapping[str, str]) -> Iterator[Number]:
    """Yield the floors of a selection.

    `chance` answers every query by a fair coin between two answers (exact expectation for the selection's own family
    sizes). `majority` answers every query with the relation's most frequent object: perfectly stable without any
    knowledge, and right for as many facts as share that object.

    Parameters
    ----------
    gold : mapping
        fact_id -> key of its object.
    """
    setting = selection_setting(chosen)
    n = len(chosen.rows)
    if not n:
        return
    sizes = [tuple(int(size) for size in row) for row in chosen.measured.n_family[chosen.rows]]
    for name, value in zip(("bcs", "bes"), mean_coin_floor(sizes), strict=True):
        yield Number(name, value, n, 0, setting, baseline="chance")
    tally: dict[str, dict[str, int]] = {}
    for fact in chosen.facts:
        info = answers.facts[fact]
        objects = tally.setdefault(info.relation, {})
        objects[gold[info.fact_id]] = objects.get(gold[info.fact_id], 0) + 1
    right = {relation: max(objects.values()) for relation, objects in tally.items()}
    yield Number("bcs", 1.0, n, 0, setting, baseline="majority")
    yield Number("correct_share", sum(right.values()) / n, n, 0, setting, baseline="majority")
    for relation in sorted(tally):
        size = sum(tally[relation].values())
        extra = {**setting, "relation": relation}
        yield Number("correct_share", right[relation] / size, size, 0, extra, baseline="majority")
