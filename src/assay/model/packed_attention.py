"""Attention for packed steps, registered with transformers so that model code stays as it is.

Every row attends to its own tokens only, by calls whose result was measured not to depend on how many rows share
them: `scaled_dot_product_attention` without a mask for prompts of one length, explicit products over a row's own
capacity for decoded tokens. What has no such call goes one row at a time.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.model.packing import Decoded, Prompts, Slab, Step

NAME = "assay_packed"
"""Name under which transformers knows this attention."""

_QUERY_CHUNK = 128
# Arguments that models pass along and that change nothing here.
_HARMLESS = frozenset(
    {"dropout", "position_ids", "position_embeddings", "use_cache", "output_attentions", "output_hidden_states"}
)

_step: ContextVar[Step | None] = ContextVar("packed_step", default=None)
_seen: ContextVar[dict[int, tuple[int, int, int, int | None]] | None] = ContextVar("packed_seen", default=None)


class NotServedError(Exception):
    """Raised inside the model when packed attention lacks something that it needs."""


def register() -> None:
    """Make the attention known to transformers; models then choose it by `NAME`."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, packed_attention)


@contextmanager
def running(step: Step) -> Iterator[None]:
    """Tell the attention which step the model call inside belongs to."""
    token = _step.set(step)
    try:
        yield
    finally:
        _step.reset(token)


@contextmanager
def observed() -> Iterator[dict[int, tuple[int, int, int, int | None]]]:
    """Collect, for each layer that calls the attention: key-value heads, key width, value width, window."""
    seen: dict[int, tuple[int, int, int, int | None]] = {}
    token = _seen.set(seen)
    try:
        yield seen
    finally:
        _seen.reset(token)


def packed_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    sliding_window: int | None = None,
    is_causal: bool | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """Attend within rows.

    Parameters
    ----------
    query : tensor [1, heads, tokens, width]
    key, value : tensor [1, key-value heads, tokens, width]

    Returns
    -------
    tensor [1, tokens, heads, width of a value]
        Zero for dummy tokens.
    """
    step = _step.get()
    if step is None:
        raise NotServedError("the model was called outside a packed step")
    unknown = sorted(name for name, given in others.items() if given is not None and name not in _HARMLESS)
    if unknown or attention_mask is not None:
        raise NotServedError(f"its attention takes {', '.join(unknown) or 'a mask of its own'}")
    if not (getattr(module, "is_causal", True) if is_causal is None else is_causal):
        raise NotServedError("its attention is not causal")
    layer = getattr(module, "layer_idx", None)
    if layer is None:
        raise NotServedError("its attention layers have no number")
    if (seen := _seen.get()) is not None:
        if layer in seen:
            raise NotServedError("it calls attention more than once in a layer")
        seen[layer] = (key.shape[1], key.shape[-1], value.shape[-1], sliding_window)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    out = query.new_empty(query.shape[2], query.shape[1], value.shape[-1])
    out[step.n_real :] = 0.0
    if step.n_decoded:
        _keep_decoded(step, layer, key[0], value[0])
    with _one_thread():
        for group in step.decoded(sliding_window) if step.n_decoded else ():
            out[group.tokens] = _decode(step, group, layer, query[0], scale, softcap)
        for prompts in step.prompts:
            q, k, v = (prompts.by_row(tensor[0]) for tensor in (query, key, value))
            if step.slab is not None:
                _keep_prompts(step.slab, prompts, layer, k, v)
            rows = _prefill(module, q, k, v, scale, softcap, sliding_window)
            out[prompts.first : prompts.end] = prompts.by_token(rows)
    return out.unsqueeze(0), None


@contextmanager
def _one_thread() -> Iterator[None]:
    # The kernel of `scaled_dot_product_attention` gives each thread a slice of one buffer. For odd lengths below 32
    # the slice of the second thread is not aligned, and with narrow heads (8 of the tiny model) the products in it
    # then get other bits; which rows they are depends on how many share the call.
    threads = torch.get_num_threads()
    if threads == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _keep_decoded(step: Step, layer: int, key: torch.Tensor, value: torch.Tensor) -> None:
    # Writes keys and values of decoded tokens, [heads, tokens, width], to the slab.
    assert step.slab is not None
    for new, kept in zip((key, value), step.slab.of(layer), strict=True):
        kept[step.decode_slots, :, step.decode_positions] = new[:, : step.n_decoded].transpose(0, 1)


def _keep_prompts(slab: Slab, prompts: Prompts, layer: int, key: torch.Tensor, value: torch.Tensor) -> None:
    # Writes keys and values of prompts, [prompts, heads, length, width], to the slab.
    first, n = prompts.slots[0], len(prompts.slots)
    side_by_side = prompts.slots == tuple(range(first, first + n))
    slots = slice(first, first + n) if side_by_side else list(prompts.slots)
    for new, kept in zip((key, value), slab.of(layer), strict=True):
        kept[slots, :, : prompts.length] = new


def _decode(
    step: Step, group: Decoded, layer: int, query: torch.Tensor, scale: float, softcap: float | None
) -> torch.Tensor:
    # [rows, key-value heads, group, width] x [rows, key-value heads, width, capacity]: never SDPA with a mask, whose
    # bits depend on the number of rows and threads.
    assert step.slab is not None
    kept = (
        step.slab.keys[layer][:, :, group.start : group.stop],
        step.slab.values[layer][:, :, group.start : group.stop],
    )
    if isinstance(group.slots, slice):
        keys, values = kept[0][group.slots], kept[1][group.slots]
    else:
        keys, values = kept[0].index_select(0, group.slots), kept[1].index_select(0, group.slots)
    rows = query.index_select(1, group.queries).transpose(0, 1)
    grouped = rows.reshape(rows.shape[0], keys.shape[1], -1, rows.shape[-1])
    scores = torch.matmul(grouped, keys.transpose(-1, -2)).mul_(scale)
    weights = _weights(scores, group.hidden, softcap, values.dtype)
    out = torch.matmul(weights, values).flatten(1, 2)
    return out if group.rows is None else out.index_select(0, group.rows)


def _weights(scores: torch.Tensor, hidden: torch.Tensor, softcap: float | None, dtype: torch.dtype) -> torch.Tensor:
    if softcap is not None:
        scores = scores.div_(softcap).tanh_().mul_(softcap)
    scores.masked_fill_(hidden, float("-inf"))
    return torch.softmax(scores, dim=-1, dtype=torch.float32).to(dtype)


def _prefill(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    # Tensors are [rows, heads, length, width]; the result is [rows, length, heads, width].
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    length = query.shape[2]
    limited = window is not None and length > window
    # torch's kernel wants values as wide as keys; where they are not (multi-head latent attention), plain products of
    # all rows take its place, whose bits depend on how many rows there are.
    if softcap is None and not limited and query.shape[-1] == value.shape[-1]:
        out: torch.Tensor = sdpa_attention_forward(module, query, key, value, None, scaling=scale, is_causal=True)[0]
        return out
    # No call for several rows was found safe otherwise: one row at a time.
    reach = window if limited else None
    rows = (slice(row, row + 1) for row in range(len(query)))
    return torch.cat([_prefill_row(query[row], key[row], value[row], scale, softcap, reach) for row in rows])


def _prefill_row(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    # Queries in chunks at fixed positions, so that memory grows with the length and not with its square.
    _, heads, length, width = query.shape
    grouped = query.reshape(key.shape[1], heads // key.shape[1], length, width)
    out = query.new_empty(1, length, heads, value.shape[-1])
    for start in range(0, length, _QUERY_CHUNK):
        stop = min(start + _QUERY_CHUNK, length)
        first = 0 if window is None else max(0, start + 1 - window)
        own = torch.arange(start, stop, device=query.device).unsqueeze(1)
        other = torch.arange(first, stop, device=query.device)
        hidden = other > own
        if window is not None:
            hidden |= other <= own - window
        scores = torch.matmul(grouped[:, :, start:stop], key[0, :, None, first:stop].transpose(-1, -2)).mul_(scale)
        weights = _weights(scores, hidden, softcap, value.dtype)
        part = torch.matmul(weights, value[0, :, None, first:stop])
        out[0, start:stop] = part.flatten(0, 1).transpose(0, 1)
    return out
