"""From the rows of a relation to the two vectors per fact and family that all internal metrics need.

Rows are streamed in chunks that stay in the processor's cache; what is kept is one representative (mean state) and one
mean unit vector per fact, family and form of whitening. Directions of plain and centred states are taken in the
precision of the states (float32 at least); representatives, whose distances are ranked, and whitened states in float64.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.fks.metric_settings import Whitening
from assay.fks.whitening import Moments

Array = NDArray[np.float64]
Rows = NDArray[Any]
Index = NDArray[np.int64]
Bool = NDArray[np.bool_]

# 128 rows of 2,304 float32 are 1.2 MB; measured fastest among 64 to 512 without a matrix, and a matrix does not mind.
CHUNK = 128
Take = Callable[[int, int], Rows]


@dataclass(frozen=True)
class View:
    """One form of whitening: subtract `mean`, multiply by `matrix` (upper triangular); None leaves a step out."""

    mean: Array | None = None
    matrix: Array | None = None


def views(modes: Sequence[Whitening], moments: Moments, matrix: Array | None) -> dict[Whitening, View]:
    """Return the views of a layer; `matrix` is the whitener that `zca` uses."""
    known: dict[Whitening, View] = {
        "none": View(),
        "center": View(moments.mean),
        "zca": View(moments.mean, matrix),
    }
    return {mode: known[mode] for mode in modes}


@dataclass(frozen=True)
class RelationRows:
    """The rows of one relation, sorted by fact, family and query.

    Attributes
    ----------
    start, stop : int
        Rows [start, stop) of the sorted states.
    facts : array of int, shape [n_facts]
        Positions in the list of all facts.
    group : array of int, shape [stop - start]
        fact * n_families + family of each row, ascending.
    """

    name: str
    start: int
    stop: int
    facts: Index
    group: Index
    n_families: int

    @cached_property
    def has(self) -> Bool:
        """Whether a fact has a family, shape [n_facts, n_families]."""
        return (self.sizes > 0).reshape(len(self.facts), self.n_families)

    @cached_property
    def sizes(self) -> Index:
        """Rows of each group, shape [n_facts * n_families]."""
        return np.bincount(self.group, minlength=len(self.facts) * self.n_families)

    @cached_property
    def chunks(self) -> "tuple[Chunk, ...]":
        """The rows in pieces of about `CHUNK` that split no group; made once, used for every layer and view."""
        first = np.flatnonzero(np.r_[True, np.diff(self.group) != 0, True])
        # The last group boundary within CHUNK rows of each start, or the end of a group that is longer.
        edges = [0]
        while edges[-1] < len(self.group):
            fits = first[np.searchsorted(first, edges[-1] + CHUNK, side="right") - 1]
            edges.append(int(fits) if fits > edges[-1] else int(first[np.searchsorted(first, edges[-1], "right")]))
        return tuple(
            Chunk(self.start + a, self.start + b, self.group[a:b], self.sizes) for a, b in itertools.pairwise(edges)
        )


class Chunk:
    """Consecutive rows of a relation and the sparse matrix that sums them by group.

    The product with a sparse matrix takes a third of the time of `np.add.reduceat`; making the matrix takes as long as
    using it, so it is kept and gets new weights.
    """

    def __init__(self, start: int, stop: int, group: Index, sizes: Index) -> None:
        from scipy.sparse import csr_array

        self.start, self.stop = start, stop
        first = np.flatnonzero(np.r_[True, np.diff(group) != 0])
        self.groups = group[first]
        self.share = 1.0 / sizes[group]
        n = stop - start
        self._matrices = {
            kind: csr_array((self.share.astype(kind), np.arange(n), np.append(first, n)), shape=(len(first), n))
            for kind in (np.float32, np.float64)
        }

    def sums(self, weights: Array, rows: Rows) -> Rows:
        """Return the weighted sum of the rows of each of `groups`, in the precision of the rows."""
        matrix = self._matrices[rows.dtype.type]
        matrix.data[:] = weights
        return np.asarray(matrix @ rows)


@dataclass(frozen=True)
class RelationVectors:
    """Vectors of one relation at one layer, [n_facts, n_families, d] each; zeros where `has` is false.

    `means` are the representatives (means of states that are not normalised) and `units` the mean unit vectors, by
    form of whitening.
    """

    has: Bool
    means: Mapping[Whitening, Array]
    units: Mapping[Whitening, Array]


def relation_vectors(
    take: Take,
    rows: RelationRows,
    width: int,
    forms: Mapping[Whitening, View],
    units: Sequence[Whitening],
    means: Sequence[Whitening],
    jacobian: Array | None = None,
) -> RelationVectors:
    """Stream the rows of a relation once.

    Parameters
    ----------
    take : callable
        Returns rows [start, stop) as float32 or float64; the array may be overwritten by the next call.
    width : int
        Dimensions of a state.
    forms : mapping
        The views.
    units, means : sequence
        Forms under which unit vectors and representatives are wanted.
    jacobian : array, shape [d, d], optional
        Transport J: the states are J x.
    """
    n_groups = len(rows.facts) * rows.n_families
    unit_sums = {mode: np.zeros((n_groups, width)) for mode in units}
    mean_sums = {mode: np.zeros((n_groups, width)) for mode in means}
    for chunk in rows.chunks:
        x = take(chunk.start, chunk.stop)
        if jacobian is not None:
            x = x.astype(np.float64) @ jacobian.T
        for mode in ("none", "center"):
            if mode in unit_sums:
                _add_units(unit_sums[mode], chunk, _moved(forms[mode], x))
        exact = [mode for mode in forms if mode in mean_sums or (mode == "zca" and mode in unit_sums)]
        if exact:
            x = x.astype(np.float64)
        # A matrix overwrites the centred rows, so each form gets its own.
        for mode in exact:
            y = _moved(forms[mode], x)
            if mode in mean_sums:
                mean_sums[mode][chunk.groups] = chunk.sums(chunk.share, y)
            if mode == "zca" and mode in unit_sums:
                _add_units(unit_sums[mode], chunk, y)
    shape = (len(rows.facts), rows.n_families, width)
    return RelationVectors(
        rows.has,
        {mode: values.reshape(shape) for mode, values in mean_sums.items()},
        {mode: values.reshape(shape) for mode, values in unit_sums.items()},
    )


def _add_units(sums: Array, chunk: Chunk, y: Rows) -> None:
    norm = np.sqrt(np.vecdot(y, y).astype(np.float64))
    # The cosine with a zero vector is 0, so it has no direction to add, but it counts as a member.
    inverse = np.divide(chunk.share, norm, out=np.zeros_like(norm), where=norm > 0)
    sums[chunk.groups] = chunk.sums(inverse, y)


def _moved(view: View, x: Rows) -> Rows:
    if view.mean is None:
        return x
    centred = x - view.mean.astype(x.dtype)
    return centred if view.matrix is None else whiten(centred, view.matrix)


def whiten(centred: Array, matrix: Array) -> Array:
    """Return `centred @ matrix` for an upper triangular matrix, in half the time; `centred` is overwritten."""
    from scipy.linalg.blas import dtrmm

    # Transposed views of both are what Fortran calls a lower triangle and its right-hand side: nothing is copied.
    return np.asarray(dtrmm(1.0, matrix.T, centred.T, lower=1, side=0, overwrite_b=1).T)
