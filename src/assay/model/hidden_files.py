"""States of many prompts as safetensors shards: written in prompt order with the memory of one shard."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from assay.canonical import canonical_text, digest
from assay.errors import ConfigError, ModelError
from assay.model.hidden import TopState, check_layers, last_token_states, states_identity
from assay.records.atomic import atomic_file
from assay.records.jsonl import write_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import torch

    from assay.model.engine import Request
    from assay.model.loading import LoadedModel
    from assay.model.progress import Progress

INDEX = "index.jsonl"
TENSOR = "h"
SCHEMA = "hidden-1"
# While shards are written: the engine that makes them, `states_identity`.
_MADE_BY = ".made-by.json"
STORED_DTYPES = ("float32", "bfloat16")
"""float16 is refused: residual states beyond 65,504 would become infinite."""


class StateRow(msgspec.Struct, frozen=True):
    """Where the states of a prompt lie: row `row` of tensor `h` [rows, layers, width] in file `shard`."""

    query_id: str
    shard: str
    row: int


def write_states(
    folder: Path,
    model: LoadedModel,
    requests: Iterable[Request],
    *,
    layers: Sequence[int],
    top_state: TopState,
    metadata_key: str,
    header: Mapping[str, Any],
    dtype: str = "float32",
    rows_per_shard: int = 1024,
    progress: Progress | None = None,
) -> int:
    """Write `hidden-00000.safetensors`, ... and `index.jsonl` in the order of the requests; return their number.

    A shard has its name only when it is whole, and a shard that stands already is kept if it holds the same rows,
    so an interrupted run goes on where it stopped. Equal input gives equal bytes.

    Parameters
    ----------
    folder : Path
        Holds nothing that was made from other input. What another engine or processor made is made again.
    metadata_key : str
        The only metadata key of a shard: with two or more, safetensors orders them anew in every process.
    header : mapping
        JSON data of the caller (model, revision, digest of the prompt template). Added here: `schema`, `layers`,
        `top_state`, `position`, `dtype` and `query_ids_sha256`, the digest of the shard's row ids.
    dtype : {"float32", "bfloat16"}
        Of the stored states.
    rows_per_shard : int
        Decides peak memory (rows x layers x width numbers, twice while they are written) and the file names.
    progress : Progress, optional
        Told of every row, with its prompt's tokens; rows of shards that stand already are skipped.

    Raises
    ------
    ModelError
        If a state is not finite, naming the row.
    """
    if dtype not in STORED_DTYPES:
        raise ConfigError(f"states cannot be stored as {dtype!r}", key="dtype", expected=" or ".join(STORED_DTYPES))
    check_layers(layers, model.weights.n_layers)
    header = {**header, "layers": list(layers), "top_state": top_state, "dtype": dtype}

    def write_shard(path: Path, shard: Sequence[Request]) -> None:
        metadata = {metadata_key: canonical_text(_header(header, shard))}
        if not _stands(path, metadata):
            _write_shard(path, _shard_states(model, shard, layers, top_state, dtype, progress), metadata)
        elif progress is not None:
            progress.skip(len(shard))

    _keep_own_shards(folder, model)
    index = _write_shards(folder, iter(requests), rows_per_shard, write_shard)
    write_rows(folder / INDEX, index)
    (folder / _MADE_BY).unlink()
    return len(index)


def _header(header: Mapping[str, Any], shard: Sequence[Request]) -> dict[str, Any]:
    rows = digest("query-ids", [row.row_id for row in shard])
    return {**header, "schema": SCHEMA, "position": "last_prompt_token", "query_ids_sha256": rows}


def _keep_own_shards(folder: Path, model: LoadedModel) -> None:
    # The recipe does not hold processor and engine, so what an interrupted run left may have other bits: one artifact
    # never mixes two.
    mark = folder / _MADE_BY
    mine = canonical_text(states_identity(model)).encode()
    if mark.is_file() and mark.read_bytes() == mine:
        return
    for path in folder.glob("hidden-*.safetensors"):
        path.unlink()
    with atomic_file(mark) as file:
        file.write(mine)


def _write_shards(
    folder: Path, requests: Iterator[Request], size: int, write_shard: Callable[[Path, Sequence[Request]], None]
) -> list[StateRow]:
    index: list[StateRow] = []
    for number in range(10**5):
        shard = list(islice(requests, size))
        if not shard:
            break
        name = f"hidden-{number:05d}.safetensors"
        write_shard(folder / name, shard)
        index.extend(StateRow(request.row_id, name, row) for row, request in enumerate(shard))
    return index


def _shard_states(
    model: LoadedModel,
    rows: Sequence[Request],
    layers: Sequence[int],
    top_state: TopState,
    dtype: str,
    progress: Progress | None,
) -> torch.Tensor:
    import torch

    place = {row.row_id: number for number, row in enumerate(rows)}
    if len(place) != len(rows):
        raise ModelError("a row id stands twice among the requests", expected="each row_id once")
    states = torch.empty(len(rows), len(layers), model.weights.width, dtype=getattr(torch, dtype))
    for row_id, state in last_token_states(model, rows, layers, top_state):
        if not state.isfinite().all():
            layer = layers[int((~state.isfinite()).any(-1).nonzero()[0, 0])]
            raise ModelError(f"the state of layer {layer} holds numbers that are not finite", row=row_id)
        states[place[row_id]] = state
        if progress is not None:
            progress.add(1, len(rows[place[row_id]].token_ids))
    return states


def _write_shard(path: Path, states: torch.Tensor, metadata: dict[str, str]) -> None:
    from safetensors.torch import save

    data = save({TENSOR: states}, metadata=metadata)
    with atomic_file(path) as file:
        file.write(data)


def _stands(path: Path, metadata: dict[str, str]) -> bool:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        return False
    try:
        with safe_open(path, framework="pt") as file:
            return bool(file.metadata() == metadata)
    except SafetensorError:
        return False
