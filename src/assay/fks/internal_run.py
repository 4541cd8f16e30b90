"""Run the internal metrics over the layers of a hidden-state artifact."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import DataError
from assay.fks.internal import FactSelection, LayerResult, layer_moments, measure_layer, needs_moments
from assay.fks.internal_rows import RowOrder, StateQuery
from assay.fks.lens_file import Lens, check_fits
from assay.fks.metric_settings import InternalSettings, Transport
from assay.fks.states import States, open_states, scan
from assay.fks.vectors import Scratch


@dataclass(frozen=True)
class StateReport:
    """What was found in the states.

    Attributes
    ----------
    n_rows : int
        Main-forward rows that were looked for, all found.
    n_nonfinite : int
        Rows left out because a layer holds NaN or an infinity.
    n_zero : int
        Rows kept with a zero vector in some layer; its cosine with everything is 0.
    n_outside : int
        Rows of families outside the main ones: part of the covariance only.
    """

    n_rows: int
    n_nonfinite: int
    n_zero: int
    n_outside: int
    layers: tuple[int, ...]
    header: dict[str, object]


@dataclass(frozen=True)
class InternalRun:
    """Results by transport, then layer, then selection (as given)."""

    report: StateReport
    families: tuple[str, ...]
    results: dict[Transport, list[list[LayerResult]]] = field(default_factory=dict)


def run_internal(
    folder: Path,
    queries: Iterable[StateQuery],
    families: Sequence[str],
    facts: Sequence[str],
    selections: Sequence[FactSelection],
    settings: InternalSettings,
    lens: Lens | None = None,
) -> InternalRun:
    """Measure every layer of a folder of states, raw and, if asked for, transported.

    Parameters
    ----------
    folder : Path
        A hidden-state artifact.
    queries : iterable of StateQuery
        The main-forward rows.
    families, facts : sequence of str
        All families of the selections, and all facts in the order of results.
    lens : Lens, optional
        Required by the transport `jlens`.

    Raises
    ------
    DataError
        If states are missing or from different models, and if the lens is missing or does not fit.
    """
    order = RowOrder.of(queries, families, facts)
    states = open_states(folder, [query.query_id for query in order.queries])
    if "jlens" in settings.transports:
        if lens is None:
            raise DataError(
                "the transport jlens needs a lens", key="internal.transports", remedy="give a lens artifact"
            )
        check_fits(lens, states.layers, states.width, states.header.get("top_state"), folder)
    finite, zero = scan(states)
    run = InternalRun(_report(order, states, finite, zero), tuple(families), {name: [] for name in settings.transports})
    if not finite.all():
        order, states = order.only(finite), states.only(finite)
    if not len(states):
        raise DataError("no row has finite states", file=folder, remedy="extract the states in bfloat16 or float32")
    scratch = Scratch()
    for place, layer in enumerate(states.layers):
        take = LayerReader(states, place, settings.memory_mib, scratch)
        moments = layer_moments(take, len(states)) if len(settings.transports) > 1 and needs_moments(settings) else None
        for transport in settings.transports:
            jacobian = lens.of(layer) if transport == "jlens" and lens is not None else None
            if jacobian is not None and np.array_equal(jacobian, np.eye(len(jacobian))):
                jacobian = None  # the last layer's Jacobian is the identity by definition
            results = measure_layer(take, order, states.width, selections, settings, jacobian, moments, scratch)
            run.results[transport].append(results)
    return run


def _report(order: RowOrder, states: States, finite: NDArray[np.bool_], zero: NDArray[np.bool_]) -> StateReport:
    return StateReport(
        n_rows=len(order.queries),
        n_nonfinite=int((~finite).sum()),
        n_zero=int((zero & finite).sum()),
        n_outside=len(order.queries) - order.n_measured,
        layers=states.layers,
        header=states.header,
    )


class LayerReader:
    """The rows of one layer: from memory where they fit as float32, else from the map each time."""

    def __init__(self, states: States, place: int, memory_mib: int, scratch: Scratch | None = None) -> None:
        self.states, self.place, self.scratch = states, place, scratch or Scratch()
        self.kind = np.dtype(np.float64 if states.shards[0].dtype == "F64" else np.float32)
        self.rows: NDArray[Any] | None = None
        if len(states) * states.width * self.kind.itemsize <= memory_mib << 20:
            self.rows = self.scratch.take("layer", (len(states), states.width), self.kind)
            states.take(0, len(states), place, self.rows)

    def __call__(self, start: int, stop: int) -> NDArray[Any]:
        """Return rows that may be overwritten by the next call."""
        if self.rows is not None:
            return self.rows[start:stop]
        buffer = self.scratch.take("rows", (stop - start, self.states.width), self.kind)
        return self.states.take(start, stop, self.place, buffer)
