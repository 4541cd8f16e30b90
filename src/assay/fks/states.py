"""Hidden states on disk, read a layer at a time through memory maps.

A shard is a safetensors file with one tensor `h` [rows, layers, width] and one metadata key that holds the header as
JSON. The library's own reader has no bfloat16 without torch and copies whole slices, so the maps are made here: eight
bytes of length, a JSON header, then the raw tensor.
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.errors import DataError
from assay.records.jsonl import read_rows

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Bool = NDArray[np.bool_]

_STORED: dict[str, Any] = {"BF16": np.uint16, "F32": np.float32, "F64": np.float64}
_SCAN_BYTES = 64 << 20
_PER_SHARD = ("query_ids_sha256",)


class StateRow(msgspec.Struct, frozen=True):
    """Where the states of a query lie (a row of `index.jsonl`)."""

    query_id: str
    shard: str
    row: int


@dataclass(frozen=True)
class Shard:
    """One mapped file: raw numbers [rows, layers, width], their stored type, and the header."""

    path: Path
    raw: NDArray[Any]
    dtype: str
    header: dict[str, Any]


@dataclass(frozen=True)
class States:
    """The states of chosen queries, in the order in which they were asked for.

    Attributes
    ----------
    layers : tuple of int
        Decoder blocks, in the order of the stored axis.
    shard, row : array of int, shape [n_rows]
        Where each query lies.
    """

    header: dict[str, Any]
    layers: tuple[int, ...]
    width: int
    shards: tuple[Shard, ...]
    shard: Index
    row: Index

    def __len__(self) -> int:
        return len(self.row)

    def take(self, start: int, stop: int, place: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return rows [start, stop) of the layer at `place` of the stored axis, shape [n, width].

        Without `out`, an array of float64 is made. Every stored number is exact in float32, save those of float64.
        """
        result = np.empty((stop - start, self.width)) if out is None else out
        # Rows of one shard that follow one another are one slice of the file; anything else is gathered.
        edges = np.flatnonzero(np.diff(self.shard[start:stop])) + 1
        for first, last in itertools.pairwise([0, *edges.tolist(), stop - start]):
            shard = self.shards[self.shard[start + first]]
            rows = self.row[start + first : start + last]
            straight = rows[-1] - rows[0] == len(rows) - 1 and bool((np.diff(rows) == 1).all())
            raw = shard.raw[rows[0] : rows[-1] + 1, place] if straight else shard.raw[rows, place]
            if shard.dtype == "BF16" and result.dtype == np.float32:
                # In place: the upper half of each number is the stored one.
                bits = result[first:last].view(np.uint32)
                bits[:] = raw
                np.left_shift(bits, 16, out=bits)
            else:
                result[first:last] = as_float(raw, shard.dtype)
        return result

    def only(self, keep: Bool) -> "States":
        """Return the states of the rows that are kept; `keep` is of shape [n_rows]."""
        return States(self.header, self.layers, self.width, self.shards, self.shard[keep], self.row[keep])


def as_float(raw: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Return stored numbers as floats; a bfloat16 is the upper half of a float32."""
    return (raw.astype(np.uint32) << 16).view(np.float32) if dtype == "BF16" else raw


def open_states(folder: Path, query_ids: Sequence[str]) -> States:
    """Map the shards of a folder and find the rows of queries.

    Parameters
    ----------
    folder : Path
        Holds `index.jsonl` and the shards that it names.
    query_ids : sequence of str
        The queries to find; others in the index are left alone.

    Raises
    ------
    DataError
        If a query has no states or has them twice, if a shard is no such file, and if shards come from different
        models, layers or positions.
    """
    index = folder / "index.jsonl"
    where: dict[str, StateRow] = {}
    for entry in read_rows(index, StateRow):
        if entry.query_id in where:
            raise DataError("the query stands twice", file=index, row=entry.query_id, expected="each query once")
        where[entry.query_id] = entry
    missing = [query for query in query_ids if query not in where]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(query_ids)} queries have no states",
            file=index,
            row=min(missing),
            expected="states of every row of the main average",
            remedy="extract the states of these queries",
        )
    names = sorted({entry.shard for entry in where.values()})
    if not names:
        raise DataError("the index is empty", file=index, expected="a row for every query")
    shards = tuple(open_shard(folder / name) for name in names)
    _check_alike(shards)
    number = {name: place for place, name in enumerate(names)}
    found = [where[query] for query in query_ids]
    for entry in where.values():
        if not 0 <= entry.row < len(shards[number[entry.shard]].raw):
            raise DataError(
                f"row {entry.row} is not in {entry.shard}",
                file=index,
                row=entry.query_id,
                remedy="extract the states anew",
            )
    header = {key: value for key, value in shards[0].header.items() if key not in _PER_SHARD}
    return States(
        header=header,
        layers=tuple(header["layers"]),
        width=shards[0].raw.shape[2],
        shards=shards,
        shard=np.array([number[entry.shard] for entry in found], dtype=np.int64),
        row=np.array([entry.row for entry in found], dtype=np.int64),
    )


def open_shard(path: Path, tensor: str = "h") -> Shard:
    """Map one tensor of a safetensors file whose metadata is one key with a JSON header."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= 100 << 20:
                raise ValueError("no header")
            head = json.loads(file.read(length))
        entry = head[tensor]
        (metadata,) = head["__metadata__"].values()
        header = json.loads(metadata)
        dtype, shape, begin = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"][0]
        if dtype not in _STORED:
            raise DataError(f"tensor {tensor!r} is stored as {dtype}", file=path, expected=" or ".join(_STORED))
        raw = np.memmap(path, dtype=_STORED[dtype], mode="r", offset=8 + length + begin, shape=shape)
    except FileNotFoundError as error:
        raise DataError("the shard does not exist", file=path, remedy="extract the states again") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"this is no shard of states: {error}",
            file=path,
            expected=f"safetensors with {tensor!r} and one JSON header",
        ) from error
    if raw.ndim != 3 or raw.shape[1] != len(header.get("layers", ())):
        raise DataError(
            f"tensor {tensor!r} has the shape {raw.shape}", file=path, expected="[rows, layers of the header, width]"
        )
    # A plain view: indexing a memmap object makes a new one every time.
    return Shard(path, raw.view(np.ndarray), dtype, header)


def _check_alike(shards: Sequence[Shard]) -> None:
    first = shards[0]
    for shard in shards[1:]:
        for key in sorted(first.header.keys() | shard.header.keys()):
            if key not in _PER_SHARD and first.header.get(key) != shard.header.get(key):
                raise DataError(
                    f"shards differ: {shard.header.get(key)!r} here, {first.header.get(key)!r} in {first.path.name}",
                    file=shard.path,
                    key=key,
                    expected="states of one model, revision and setting",
                    remedy="extract the states again into an empty folder",
                )
        if shard.raw.shape[2] != first.raw.shape[2]:
            raise DataError(f"states are {shard.raw.shape[2]} wide", file=shard.path, expected=first.raw.shape[2])


def scan(states: States) -> tuple[Bool, Bool]:
    """Return which rows are finite in every layer, and which hold a zero vector in some layer; shape [n_rows] each."""
    finite, zero = np.ones(len(states), dtype=np.bool_), np.zeros(len(states), dtype=np.bool_)
    for number, shard in enumerate(states.shards):
        mine = np.flatnonzero(states.shard == number)
        step = max(1, _SCAN_BYTES // max(1, shard.raw[:1].nbytes))
        for start in range(0, len(mine), step):
            here = mine[start : start + step]
            raw = shard.raw[states.row[here]]
            if shard.dtype == "BF16":
                finite[here] = ((raw & 0x7F80) != 0x7F80).all(axis=(1, 2))
                zero[here] = ((raw & 0x7FFF) == 0).all(axis=2).any(axis=1)
            else:
                finite[here] = np.isfinite(raw).all(axis=(1, 2))
                zero[here] = (raw == 0).all(axis=2).any(axis=1)
    return finite, zero
