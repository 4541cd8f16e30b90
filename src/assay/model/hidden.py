"""Residual states at the last token of prompts."""

from __future__ import annotations

from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import ConfigError, ModelError
from assay.model.packed import Forward
from assay.model.packed_attention import NAME, running
from assay.model.unfinished import check_prompt
from assay.model.unpacked import PADDED_RULE, SEQUENTIAL_RULE, PaddedEngine, padded_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import torch

    from assay.model.engine import Request
    from assay.model.loading import LoadedModel, Weights

TopState = Literal["hidden_states", "block_output"]
"""The state that stands for the last block: "hidden_states" as transformers lists it, after the final norm, or the
block's own output.

All other layers are the same in both.
"""

PACK_RULE = "packed-states-2"
"""Raise the number with every change of packing or attention that can change bits of states."""

_PACK_TOKENS = 1024


def states_identity(model: LoadedModel) -> dict[str, Any]:
    """Return what, besides model, prompts and code, decides the bits of states; see `Engine.identity`."""
    weights = model.weights
    if _in_packs(model):
        own: dict[str, Any] = {"batch_rule": PACK_RULE, "attention": NAME}
    elif isinstance(model.engine, PaddedEngine):
        own = {"batch_rule": PADDED_RULE, "batch_size": model.engine.batch_size, "threads": weights.threads}
    else:
        own = {"batch_rule": SEQUENTIAL_RULE, "threads": weights.threads}
    return weights.environment | {"attention": weights.plain_attention} | own


def last_token_states(
    model: LoadedModel, requests: Iterable[Request], layers: Sequence[int], top_state: TopState
) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield (row_id, states) of every request, in any order.

    The way follows the engine of the model; where packs would change bits, prompts go one by one. Packed states are the
    bits of the same prompt alone in a pack, and, for prompts of at least 12 tokens, of a plain forward pass with SDPA.

    Parameters
    ----------
    requests : iterable of Request
        Only `row_id` and `token_ids` are read.
    layers : sequence of int
        Blocks, 0 to the last, in the order of the result.
    top_state : {"hidden_states", "block_output"}
        See `TopState`.

    Yields
    ------
    str, tensor [len(layers), width]
        On the cpu, in the model's dtype.

    Raises
    ------
    ConfigError
        For layers that the model lacks or that are named twice.
    ModelError
        For a prompt that the model cannot take.
    """
    weights = model.weights
    check_layers(layers, weights.n_layers)
    rows = []
    for request in requests:
        check_prompt(request, weights, new_tokens=0)
        rows.append(request)
    rows.sort(key=lambda row: -len(row.token_ids))
    if _in_packs(model):
        return _packed(weights, rows, layers, top_state)
    size = model.engine.batch_size if isinstance(model.engine, PaddedEngine) else 1
    return _plain(weights, rows, size, layers, top_state)


def check_layers(layers: Sequence[int], n_layers: int) -> None:
    """Refuse layers that do not exist or stand twice."""
    wrong = [layer for layer in layers if not 0 <= layer < n_layers]
    if wrong or not layers or len(set(layers)) != len(layers):
        raise ConfigError(
            f"layers are {list(layers)}", key="layers", expected=f"different numbers from 0 to {n_layers - 1}"
        )


def _in_packs(model: LoadedModel) -> bool:
    return model.layout is not None and model.states_refusal is None


def _packed(
    weights: Weights, rows: Sequence[Request], layers: Sequence[int], top_state: TopState
) -> Iterator[tuple[str, torch.Tensor]]:
    forward = Forward(weights, prepared=False)
    forward.attend()
    start = 0
    while start < len(rows):
        stop, tokens = start + 1, len(rows[start].token_ids)
        while stop < len(rows) and tokens + len(rows[stop].token_ids) <= _PACK_TOKENS:
            tokens += len(rows[stop].token_ids)
            stop += 1
        pack = rows[start:stop]
        step = forward.step([], [(0, row.token_ids) for row in pack], None)
        wanted = step.wanted[: step.n_wanted]
        with running(step):
            states = _run(weights, layers, top_state, wanted, step.token_ids, step.position_ids)
        for row, state in zip(pack, states, strict=True):
            yield row.row_id, state
        start = stop


def _plain(
    weights: Weights, rows: Sequence[Request], size: int, layers: Sequence[int], top_state: TopState
) -> Iterator[tuple[str, torch.Tensor]]:
    weights.attend(weights.plain_attention)
    for start in range(0, len(rows), size):
        batch = rows[start : start + size]
        ids, mask = padded_batch([row.token_ids for row in batch], weights.model.device)
        # Told only where there is padding, which models with absolute positions would count; without it, each model
        # knows best where it begins to count.
        padded = not bool(mask.all())
        positions = (mask.cumsum(-1) - 1).clamp(min=0) if padded else None
        padding = {"attention_mask": mask} if padded else {}
        states = _run(weights, layers, top_state, -1, ids, positions, **padding)
        for row, state in zip(batch, states, strict=True):
            yield row.row_id, state


def _run(
    weights: Weights,
    layers: Sequence[int],
    top_state: TopState,
    wanted: torch.Tensor | int,
    ids: torch.Tensor,
    positions: torch.Tensor | None,
    **options: torch.Tensor,
) -> torch.Tensor:
    # Returns [rows, layers, width]. `wanted`: tokens of the one packed row, or the place in every row of a batch.
    import torch

    decoder, blocks = _decoder_and_blocks(weights.model, weights.n_layers)
    if positions is not None and "position_ids" in signature(decoder.forward).parameters:
        options["position_ids"] = positions
    shape = (*ids.shape, weights.width)
    with torch.inference_mode(), _captured(blocks, layers, wanted, shape) as captured:
        output = decoder(input_ids=ids, use_cache=False, **options)
        if top_state == "hidden_states" and weights.n_layers - 1 in layers:
            captured[weights.n_layers - 1] = _last(output.last_hidden_state, wanted, shape)
        return torch.stack([captured[layer] for layer in layers], dim=1).cpu()


def _last(states: torch.Tensor, wanted: torch.Tensor | int, shape: tuple[int, ...]) -> torch.Tensor:
    if tuple(states.shape) != shape:
        raise ModelError(
            f"the model gives states of the shape {list(states.shape)}: several streams, or another width at the top",
            expected=f"one state for each token, {list(shape)}",
        )
    # A copy: the states of all other tokens are freed block by block.
    if isinstance(wanted, int):
        return states[:, wanted].clone()
    return states[0].index_select(0, wanted)


@contextmanager
def _captured(
    blocks: Any, layers: Sequence[int], wanted: torch.Tensor | int, shape: tuple[int, ...]
) -> Iterator[dict[int, torch.Tensor]]:
    captured: dict[int, torch.Tensor] = {}

    def hook(layer: int) -> Any:
        def keep(_block: object, _inputs: object, output: Any) -> None:
            captured[layer] = _last(output[0] if isinstance(output, tuple | list) else output, wanted, shape)

        return keep

    handles = [blocks[layer].register_forward_hook(hook(layer)) for layer in layers]
    try:
        yield captured
    finally:
        for handle in handles:
            handle.remove()


def find_blocks(model: Any, n_layers: int) -> Any:
    """Return the list of decoder blocks of a model, whatever its architecture calls it."""
    return _decoder_and_blocks(model, n_layers)[1]


def _decoder_and_blocks(model: Any, n_layers: int) -> tuple[Any, Any]:
    import torch

    # Some architectures give themselves, or their head, as the decoder.
    for decoder in (model.get_decoder(), *model.children()):
        if decoder is model:
            continue
        for module in decoder.modules():
            lists = [part for part in module.children() if isinstance(part, torch.nn.ModuleList)]
            found = [part for part in lists if len(part) == n_layers]
            if len(found) == 1:
                return decoder, found[0]
            if found:
                break  # a list of attentions, one of norms, ...: none of them gives the states of a block
    raise ModelError(
        f"no list of {n_layers} blocks found in {type(model).__name__}", expected="a decoder built of a list of blocks"
    )
