"""From the rows of a relation to the two vectors per fact and family that all internal metrics need.

Rows are streamed in chunks of whole facts that stay in the processor's cache; what is kept is one representative (mean
state) and one mean unit vector per fact, family and form of whitening. Directions of plain and centred states are taken
in the precision of the states (float32 at least); representatives, whose distances are ranked, and whitened states in
float64. Products of unit vectors are always taken in float64.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.fks.iss import UnitSums
from assay.fks.metric_settings import Whitening
from assay.fks.whitening import Moments

Array = NDArray[np.float64]
Rows = NDArray[Any]
Index = NDArray[np.int64]
Bool = NDArray[np.bool_]

# 256 rows of 2,304 float32 are 2.4 MB; measured fastest among 32 to 512 without a matrix, and a matrix does not mind.
CHUNK = 256
_SAFE_SQUARE = (1e-30, 1e37)
Take = Callable[[int, int], Rows]


@dataclass(frozen=True)
class View:
    """One form of whitening: subtract `mean`, multiply by `matrix` (upper triangular); None leaves a step out."""

    mean: Array | None = None
    matrix: Array | None = None


def views(modes: Sequence[Whitening], moments: Moments, matrix: Array | None) -> dict[Whitening, View]:
    """Return the views of a layer; `matrix`, shape [d, d], is the whitener that `zca` uses."""
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
        """The rows in pieces of about `CHUNK` that split no fact; made once, used for every layer and view."""
        fact = self.group // self.n_families
        first = np.flatnonzero(np.r_[True, np.diff(fact) != 0, True])
        # The last fact boundary within CHUNK rows of each start, or the end of a fact that has more rows.
        edges = [0]
        while edges[-1] < len(self.group):
            fits = first[np.searchsorted(first, edges[-1] + CHUNK, side="right") - 1]
            edges.append(int(fits) if fits > edges[-1] else int(first[np.searchsorted(first, edges[-1], "right")]))
        return tuple(Chunk(self, a, b) for a, b in itertools.pairwise(edges))


class Chunk:
    """The rows of consecutive facts of a relation and the sparse matrix that sums them by fact and family.

    The product with a sparse matrix takes a third of the time of `np.add.reduceat`; making the matrix takes as long as
    using it, so it is kept and gets new weights.

    Attributes
    ----------
    start, stop : int
        Rows [start, stop) of the sorted states.
    facts : slice
        Positions in the relation.
    share : array, shape [stop - start]
        1 / number of rows that a row's fact has in its family.
    """

    def __init__(self, rows: RelationRows, start: int, stop: int) -> None:
        from scipy.sparse import csr_array

        self.start, self.stop = rows.start + start, rows.start + stop
        group = rows.group[start:stop]
        self.facts = slice(int(group[0]) // rows.n_families, int(group[-1]) // rows.n_families + 1)
        self.share = 1.0 / rows.sizes[group]
        n, low, high = stop - start, self.facts.start * rows.n_families, self.facts.stop * rows.n_families
        edges = np.searchsorted(group, np.arange(low, high + 1))
        kinds: tuple[Any, ...] = (np.float32, np.float64)
        self._matrices = {
            kind: csr_array((self.share.astype(kind), np.arange(n), edges), shape=(high - low, n)) for kind in kinds
        }

    def sums(self, weights: Array, rows: Rows) -> Rows:
        """Return the weighted sums of rows, [facts * n_families, d] in their precision; zeros where there is no row."""
        matrix = self._matrices[rows.dtype.type]
        matrix.data[:] = weights
        return np.asarray(matrix @ rows)

    def unit_sums(self, rows: Rows) -> Rows:
        """Return the mean unit vectors, as `sums` does."""
        with np.errstate(over="ignore", under="ignore"):
            square = np.vecdot(rows, rows).astype(np.float64)
        # Squares leave float32 long before the numbers do.
        odd = ~((square > _SAFE_SQUARE[0]) & (square < _SAFE_SQUARE[1]))
        if odd.any():
            exact = rows[odd].astype(np.float64)
            square[odd] = np.vecdot(exact, exact)
        norm = np.sqrt(square)
        # The cosine with a zero vector is 0, so it has no direction to add, but it counts as a member.
        return self.sums(np.divide(self.share, norm, out=np.zeros_like(norm), where=norm > 0), rows)


class Scratch:
    """Memory that is used again for the next relation and layer: fresh pages cost more than what is written to them."""

    def __init__(self) -> None:
        self._buffers: dict[tuple[str, Any], NDArray[Any]] = {}

    def take(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """Return an array with any content; it holds until the name is taken again."""
        key, size = (name, np.dtype(dtype)), int(np.prod(shape))
        if key not in self._buffers or self._buffers[key].size < size:
            self._buffers[key] = np.empty(size, dtype=dtype)
        return self._buffers[key][:size].reshape(shape)


@dataclass(frozen=True)
class RelationVectors:
    """Vectors of one relation at one layer, by form of whitening.

    `means` are the representatives (means of states that are not normalised), [n_facts, n_families, d], zeros where
    `has` is false; `units` what ISS needs of the mean unit vectors.
    """

    has: Bool
    means: Mapping[Whitening, Array]
    units: Mapping[Whitening, UnitSums]


def relation_vectors(
    take: Take,
    rows: RelationRows,
    width: int,
    forms: Mapping[Whitening, View],
    units: Sequence[Whitening],
    means: Sequence[Whitening],
    jacobian: Array | None = None,
    sets: Bool | None = None,
    scratch: Scratch | None = None,
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
    sets : array of bool, shape [n_sets, n_facts], optional
        Sets of facts that are one another's background; all facts by default.
    scratch : Scratch, optional
        What it returned for an earlier relation is overwritten.
    """
    scratch = scratch or Scratch()
    shape = (len(rows.facts), rows.n_families, width)
    chosen = np.ones((1, shape[0]), dtype=np.bool_) if sets is None else sets
    kept = {mode: scratch.take(f"means {mode}", shape) for mode in means}
    sums: dict[Whitening, UnitSums] = {}
    for chunk in rows.chunks:
        x = take(chunk.start, chunk.stop)
        if jacobian is not None:
            x = x.astype(np.float64) @ jacobian.T
        exact: Rows | None = None
        for mode, view in forms.items():
            if mode in kept or (mode == "zca" and mode in units):
                exact = x.astype(np.float64) if exact is None else exact
                # A matrix overwrites the centred rows, so each form gets its own.
                y = _moved(view, exact, scratch)
                if mode in kept:
                    kept[mode][chunk.facts] = chunk.sums(chunk.share, y).reshape(-1, *shape[1:])
            if mode in units:
                directed = y if mode == "zca" else _moved(view, x, scratch)
                if mode not in sums:
                    store = scratch.take(f"units {mode}", shape, directed.dtype)
                    sums[mode] = UnitSums(store, chosen)
                sums[mode].add(chunk.facts, chunk.unit_sums(directed).reshape(-1, *shape[1:]))
    return RelationVectors(rows.has, kept, sums)


def _moved(view: View, x: Rows, scratch: Scratch) -> Rows:
    if view.mean is None:
        return x
    centred = np.subtract(x, view.mean.astype(x.dtype), out=scratch.take("centred", x.shape, x.dtype))
    return centred if view.matrix is None else whiten(centred, view.matrix)


def whiten(centred: Array, matrix: Array) -> Array:
    """Return `centred @ matrix` for an upper triangular matrix, in half the time; `centred` is overwritten.

    Shapes are [n, d] and [d, d].
    """
    from scipy.linalg.blas import dtrmm

    # Transposed views of both are what Fortran calls a lower triangle and its right-hand side: nothing is copied.
    return np.asarray(dtrmm(1.0, matrix.T, centred.T, lower=1, side=0, overwrite_b=1).T)
