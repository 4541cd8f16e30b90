"""Internal metrics of every selection of facts, one layer at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.fks.internal_rows import RowOrder
from assay.fks.iss import PairCosines, iss
from assay.fks.kts import Retrieval, geometry, geometry_correlations, retrieval
from assay.fks.metric_settings import InternalSettings, KtsMetric, Whitening
from assay.fks.vectors import CHUNK, RelationRows, RelationVectors, Scratch, Take, View, relation_vectors, views
from assay.fks.whitening import Moments, whitener

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Bool = NDArray[np.bool_]

_MOMENT_ROWS = 1024


@dataclass(frozen=True)
class FactSelection:
    """Facts that are compared with one another, and the families that count.

    Attributes
    ----------
    families : tuple of int
        Positions in the families of the row order.
    facts : array of bool, shape [n_facts]
        Whether a fact is in.
    """

    families: tuple[int, ...]
    facts: Bool


@dataclass
class LayerResult:
    """Everything of one selection at one layer; arrays over facts are NaN where undefined or not selected.

    Attributes
    ----------
    s_plus, s_minus, iss : dict of array, shape [n_facts]
        By whitening.
    reason : dict of array of int, shape [n_facts]
        By whitening: position in `assay.fks.iss.REASONS`, -1 where the fact is not selected or has no state.
    geo : dict
        Relation -> mean rho over retained pairs; absent without one.
    geo_pairs : dict
        Relation -> {(f, g): (rho, n)} of retained pairs, families by position.
    retrieval : dict
        Metric -> relation -> mean corrected accuracy over ordered pairs.
    retrieval_pairs : dict
        Metric -> relation -> {(f, g): (accuracy, n)}.
    fact_retrieval : dict of array, shape [n_facts]
        Metric -> mean corrected hit of a fact over the ordered pairs that it takes part in.
    """

    s_plus: dict[Whitening, Array] = field(default_factory=dict)
    s_minus: dict[Whitening, Array] = field(default_factory=dict)
    iss: dict[Whitening, Array] = field(default_factory=dict)
    reason: dict[Whitening, Index] = field(default_factory=dict)
    geo: dict[str, float] = field(default_factory=dict)
    geo_pairs: dict[str, dict[tuple[int, int], tuple[float, int]]] = field(default_factory=dict)
    retrieval: dict[KtsMetric, dict[str, float]] = field(default_factory=dict)
    retrieval_pairs: dict[KtsMetric, dict[str, dict[tuple[int, int], tuple[float, int]]]] = field(default_factory=dict)
    fact_retrieval: dict[KtsMetric, Array] = field(default_factory=dict)


def measure_layer(
    take: Take,
    order: RowOrder,
    width: int,
    selections: Sequence[FactSelection],
    settings: InternalSettings,
    jacobian: Array | None = None,
    moments: Moments | None = None,
    scratch: Scratch | None = None,
) -> list[LayerResult]:
    """Return the internal metrics of one layer for every selection.

    Memory: the vectors of the largest relation, and a few [d, d] matrices where whitening asks for them.

    Parameters
    ----------
    take : callable
        Returns rows [start, stop) of the order, finite.
    selections : sequence of FactSelection
        Facts outside a selection are no background either.
    jacobian : array, shape [d, d], optional
        Transport of this layer.
    moments : Moments, optional
        Of the untransported states, if they are known already.
    scratch : Scratch, optional
        Working memory that earlier layers used.
    """
    scratch = scratch or Scratch()
    results = [_empty(len(order.facts), settings) for _ in selections]
    forms = layer_views(take, len(order.queries), width, settings, jacobian, moments)
    means = tuple(dict.fromkeys((settings.kts_geo_whitening, settings.kts_id_whitening)))
    for rows in order.relations:
        members = list(_by_facts(rows, selections))
        if not members:
            continue
        sets = np.zeros((len(members), len(rows.facts)), dtype=np.bool_)
        for number, (local, _) in enumerate(members):
            sets[number, local] = True
        vectors = relation_vectors(take, rows, width, forms, settings.iss_whitening, means, jacobian, sets, scratch)
        _measure_relation(rows, vectors, members, selections, results, settings)
    return results


def layer_views(
    take: Take,
    n_rows: int,
    width: int,
    settings: InternalSettings,
    jacobian: Array | None = None,
    moments: Moments | None = None,
) -> dict[Whitening, View]:
    """Return every view that the settings ask for, fitted on all rows.

    Parameters
    ----------
    take : callable
        Gives rows [start, stop), shape [stop - start, width].
    jacobian : array, shape [width, width], optional
        Carries the rows to the top layer; the views are those of what it gives.
    moments : Moments, optional
        Of the rows as they are, where they are known already.
    """
    modes = _modes(settings)
    if modes == ("none",):
        return {"none": View()}
    if "zca" not in modes and moments is None:
        mean = layer_mean(take, n_rows, width)
        return views(modes, Moments(n_rows, mean if jacobian is None else jacobian @ mean, np.zeros((0, 0))), None)
    fitted = moments or layer_moments(take, n_rows)
    if jacobian is not None:
        fitted = fitted.transported(jacobian)
    matrix = whitener(fitted.covariance, settings.shrinkage) if "zca" in modes else None
    return views(modes, fitted, matrix)


def layer_moments(take: Take, n_rows: int) -> Moments:
    """Return mean and covariance over all rows; a chunk of rows at a time is in memory."""
    return Moments.of(
        take(start, min(start + _MOMENT_ROWS, n_rows)).astype(np.float64) for start in range(0, n_rows, _MOMENT_ROWS)
    )


def layer_mean(take: Take, n_rows: int, width: int) -> Array:
    """Return the mean over all rows, shape [width]."""
    total = np.zeros(width)
    for start in range(0, n_rows, CHUNK):
        rows = take(start, min(start + CHUNK, n_rows))
        total += np.ones(len(rows), dtype=rows.dtype) @ rows
    return total / max(n_rows, 1)


def needs_moments(settings: InternalSettings) -> bool:
    """Return whether a view needs more than the mean."""
    return "zca" in _modes(settings)


def _modes(settings: InternalSettings) -> tuple[Whitening, ...]:
    wanted = {*settings.iss_whitening, settings.kts_geo_whitening, settings.kts_id_whitening}
    known: tuple[Whitening, ...] = ("none", "center", "zca")
    return tuple(mode for mode in known if mode in wanted)


def _empty(n_facts: int, settings: InternalSettings) -> LayerResult:
    result = LayerResult()
    for mode in settings.iss_whitening:
        for table in (result.s_plus, result.s_minus, result.iss):
            table[mode] = np.full(n_facts, np.nan)
        result.reason[mode] = np.full(n_facts, -1, dtype=np.int64)
    for metric in settings.kts_id_metrics:
        result.retrieval[metric], result.retrieval_pairs[metric] = {}, {}
        result.fact_retrieval[metric] = np.full(n_facts, np.nan)
    return result


def _measure_relation(
    rows: RelationRows,
    vectors: RelationVectors,
    members: Sequence[tuple[Index, list[int]]],
    selections: Sequence[FactSelection],
    results: Sequence[LayerResult],
    settings: InternalSettings,
) -> None:
    shape = geometry(vectors.means[settings.kts_geo_whitening], vectors.has)
    sets = [facts for facts, _ in members]
    cosines = {mode: units.cosines(vectors.has) for mode, units in vectors.units.items()}
    identity = vectors.means[settings.kts_id_whitening]
    found = {
        metric: retrieval(identity, vectors.has, metric, settings.kts_id_min_facts, sets)
        for metric in settings.kts_id_metrics
    }
    for place, (local, mine) in enumerate(members):
        # Selections that differ in their families only share all that is expensive.
        compared = {mode: tables[place] for mode, tables in cosines.items()}
        rho, n = geometry_correlations(shape, local, settings.kts_geo_min_facts)
        facts = rows.facts[local]
        for number in mine:
            families, result = list(selections[number].families), results[number]
            _store_iss(result, facts, compared, families)
            _store_geometry(result, rows.name, rho, n, families)
            for metric, one in found.items():
                _store_retrieval(result, rows.name, facts, metric, one[place], families)


def _by_facts(rows: RelationRows, selections: Sequence[FactSelection]) -> Iterator[tuple[Index, list[int]]]:
    """Yield each distinct set of members of a relation (positions in it) with the selections that have it."""
    groups: dict[bytes, tuple[Index, list[int]]] = {}
    for number, selection in enumerate(selections):
        members = np.flatnonzero(selection.facts[rows.facts])
        if len(members):
            groups.setdefault(members.tobytes(), (members, []))[1].append(number)
    yield from groups.values()


def _store_iss(
    result: LayerResult, facts: Index, cosines: Mapping[Whitening, PairCosines], families: list[int]
) -> None:
    for mode, table in cosines.items():
        one = iss(table, families)
        result.s_plus[mode][facts] = one.s_plus
        result.s_minus[mode][facts] = one.s_minus
        result.iss[mode][facts] = one.iss
        result.reason[mode][facts] = one.reason


def _store_geometry(result: LayerResult, relation: str, rho: Array, n: Index, families: list[int]) -> None:
    pairs = {}
    for place, f in enumerate(families):
        for g in families[place + 1 :]:
            low, high = min(f, g), max(f, g)
            if not np.isnan(rho[low, high]):
                pairs[f, g] = (float(rho[low, high]), int(n[low, high]))
    result.geo_pairs[relation] = pairs
    if pairs:
        result.geo[relation] = sum(value for value, _ in pairs.values()) / len(pairs)


def _store_retrieval(
    result: LayerResult, relation: str, facts: Index, metric: KtsMetric, one: Retrieval, families: list[int]
) -> None:
    accuracy = one.accuracy()
    pairs = {
        (f, g): (float(accuracy[f, g]), int(one.n[f, g]))
        for f in families
        for g in families
        if f != g and not np.isnan(accuracy[f, g])
    }
    result.retrieval_pairs[metric][relation] = pairs
    if pairs:
        result.retrieval[metric][relation] = sum(value for value, _ in pairs.values()) / len(pairs)
    hits = one.hit[:, families][:, :, families].reshape(len(facts), -1)
    counted = ~np.isnan(hits)
    mean = np.where(counted, hits, 0.0).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
    result.fact_retrieval[metric][facts] = np.where(counted.any(axis=1), mean, np.nan)
