"""Decides at start-up whether packed batches may be used with this model on this machine.

Three questions: does the architecture keep rows apart in all it does (read off the model), does the packed path
compute what the model computes (against the plain forward pass), and does a row keep its bits in packs of other
sizes (the kernels of this processor)? A no is no error: the model then runs one row at a time, under another key.
Generation and states use different kernels for linear layers, so each has its own examination.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.model.packed import Forward, Layout
from assay.model.packed_attention import NotServedError, observed, register
from assay.model.packing import Slab, minimum_rows, padded_rows, round_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch

    from assay.model.loading import Weights

_PACKS = (16, 17, 64, 300)
# More tokens than a step holds, and more rows than want logits: too much for trial packs, so layers are tried alone.
_MOST_TOKENS, _MOST_WANTED = 1216, 128
_PROBE_LENGTH = 13
_NEIGHBOUR_LENGTHS = (_PROBE_LENGTH, 5, 21, 1)
_COMMON_LENGTH = 8
# A window is tested by a prompt that is longer, unless that costs more than the test is worth.
_LONGEST_TESTED_WINDOW = 512
# Largest difference to the plain forward pass, relative to the largest logit: rounding gives 1e-6 and 1e-2.
_TOLERANCE = {"float32": 1e-3, "float16": 2e-2, "bfloat16": 1e-1}
# These rotary embeddings depend on the longest position in the batch.
_BATCH_ROPES = frozenset({"dynamic", "longrope"})
_LAYER_TYPES = frozenset({"full_attention", "sliding_attention"})


@dataclass(frozen=True)
class Verdict:
    """Either the layout of keys and values per layer, or the reason against packed batches."""

    layout: Layout = ()
    refusal: str | None = None


def examine(weights: Weights) -> Verdict:
    """Examine a model; takes about as long as a thousand tokens."""
    refusal = architecture_refusal(weights.model)
    if refusal is not None:
        return Verdict(refusal=refusal)
    register()
    try:
        verdict = _examine(Forward(weights))
        if verdict.refusal is None or weights.linears is None:
            return verdict
        # torch's own way may keep bits where oneDNN does not.
        linears, weights.linears = weights.linears, None
        linears.use(prepared=False)
        second = _examine(Forward(weights))
        if second.refusal is not None:
            weights.linears = linears
        return second
    except NotServedError as error:
        return Verdict(refusal=f"packed attention does not serve the model: {error}")
    except (RuntimeError, TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
        return Verdict(refusal=f"the model does not run in packs: {type(error).__name__}: {error}")


def examine_states(weights: Weights) -> str | None:
    """Return why packs would change states of a model that generates in packs, or None."""
    return _examine(Forward(weights, prepared=False), decodes=False).refusal


def architecture_refusal(model: Any) -> str | None:
    """Return what in a model's build lets rows of a pack influence each other, or None."""
    import torch
    from transformers.pytorch_utils import Conv1D

    config = model.config.get_text_config(decoder=True)
    if not model._can_set_attn_implementation():
        return "the architecture does not take its attention from the interface of transformers"
    missing = {"position_ids", "logits_to_keep"} - set(inspect.signature(model.forward).parameters)
    if missing:
        return f"the architecture takes no {' and no '.join(sorted(missing))}"
    if ropes := sorted(_BATCH_ROPES.intersection(_rope_types(getattr(config, "rope_parameters", None)))):
        return f"its {ropes[0]} rotary embedding depends on the longest row of a batch"
    if others := set(getattr(config, "layer_types", None) or ()) - _LAYER_TYPES:
        return f"it has layers of type {', '.join(sorted(others))}"
    if getattr(config, "attention_chunk_size", None):
        return "it attends in chunks"
    for name, module in model.named_modules():
        for parameter in module.parameters(recurse=False):
            if parameter.dim() > 1 and not isinstance(module, torch.nn.Linear | torch.nn.Embedding | Conv1D):
                # Experts get as many rows as the router sends, convolutions and state spaces mix positions.
                return f"{name or 'the model'} ({type(module).__name__}) is no layer that treats every token alike"
    return None


def _rope_types(parameters: object) -> Iterator[str]:
    if isinstance(parameters, dict):
        if isinstance(kind := parameters.get("rope_type"), str):
            yield kind
        for inner in parameters.values():
            yield from _rope_types(inner)


def _examine(forward: Forward, *, decodes: bool = True) -> Verdict:
    import torch

    weights = forward.weights
    probe = _tokens(weights, 0, _PROBE_LENGTH + 1)
    with observed() as seen:
        forward.logits(forward.step([], [(0, probe)], None))
    if sorted(seen) != list(range(weights.n_layers)):
        return Verdict(refusal=f"{len(seen)} of its {weights.n_layers} layers use the attention interface")
    layout = tuple(seen[layer][:3] for layer in range(weights.n_layers))
    windows = {seen[layer][3] for layer in seen}
    if refusal := _unseen_window(weights.model, seen) or _uneven_layer(forward):
        return Verdict(refusal=refusal)

    tests: list[tuple[list[int], tuple[int, ...]]] = [(probe, _PACKS)]
    for window in sorted(w for w in windows if w is not None and w <= _LONGEST_TESTED_WINDOW):
        length = window + _PROBE_LENGTH
        tests.append((_tokens(weights, 0, length + 1), (length, length + 64)))
    threads = torch.get_num_threads()
    expected = [_plain_logits(weights, tokens) for tokens, _ in tests]
    for (tokens, totals), plain in zip(tests, expected, strict=True):
        results = [_Pack(forward, layout, tokens, total).logits(decodes) for total in totals]
        if threads > 1:
            torch.set_num_threads(1)
            try:
                results.append(_Pack(forward, layout, tokens, totals[0]).logits(decodes))
            finally:
                torch.set_num_threads(threads)
        if refusal := _difference(weights, plain, results[0]):
            return Verdict(refusal=refusal)
        if not all(torch.equal(result, results[0]) for result in results):
            return Verdict(refusal=f"a row changes its bits in packs of {totals} tokens on this processor")
    return Verdict(layout)


def _unseen_window(model: Any, seen: dict[int, tuple[int, int, int, int | None]]) -> str | None:
    # A window that the mask would apply, but that the attention function is not told.
    config = model.config.get_text_config(decoder=True)
    if getattr(config, "sliding_window", None) is None or getattr(config, "use_sliding_window", True) is False:
        return None
    types = getattr(config, "layer_types", None) or ["sliding_attention"] * len(seen)
    for layer, kind in enumerate(types):
        if kind == "sliding_attention" and seen[layer][3] is None:
            return f"layer {layer} has a sliding window but does not tell its attention"
    return None


def _uneven_layer(forward: Forward) -> str | None:
    # A linear layer in which rows of the largest steps have other bits than in the smallest.
    import torch
    from transformers.pytorch_utils import Conv1D

    forward.attend()
    model = forward.weights.model
    output = model.get_output_embeddings()
    layers = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear | Conv1D)]
    least = minimum_rows(torch.get_num_threads())
    shapes = set()
    for layer in layers:
        linear = isinstance(layer, torch.nn.Linear)
        width, *rest = (layer.in_features, layer.out_features) if linear else layer.weight.shape
        if (shape := (width, *rest, layer.bias is None)) in shapes:
            continue
        shapes.add(shape)
        total = _MOST_WANTED if layer is output else _MOST_TOKENS
        rows = torch.arange(total * width, device=forward.device).sin().view(1, total, width).to(model.dtype)
        with torch.inference_mode():
            whole = layer(rows)
            parts = (slice(least), slice(-least, None), slice(3, 3 + padded_rows(least + 1)))
            if not all(torch.equal(layer(rows[:, part]), whole[:, part]) for part in parts):
                return f"a row changes its bits in steps of {total} tokens on this processor"
    return None


class _Pack:
    """The probe among neighbours: its prompt, then one decoded token, in two steps of `total` tokens and dummies."""

    def __init__(self, forward: Forward, layout: Layout, tokens: Sequence[int], total: int) -> None:
        self._forward = forward
        self._probe = tokens
        length = len(tokens) - 1
        self._first = [(0, list(tokens[:length])), *self._neighbours(total - length, 1)]
        n_first = len(self._first)
        self._second = self._neighbours(total - n_first, n_first)
        rows = n_first + len(self._second)
        model = forward.weights.model
        capacity = round_up(length + _NEIGHBOUR_LENGTHS[2] + 1)
        self._slab = Slab(layout, rows, capacity, model.dtype, forward.device)

    def logits(self, decodes: bool) -> torch.Tensor:
        """Return the logits [1 or 2, vocabulary] of the probe's last prompt token and of its decoded token."""
        import torch

        length = len(self._probe) - 1
        starting = sorted(self._first, key=lambda row: -len(row[1]))
        place = next(place for place, (slot, _) in enumerate(starting) if slot == 0)
        prompt = self._forward.logits(self._forward.step([], starting, self._slab))[place]
        if not decodes:
            return prompt.unsqueeze(0)
        rest = [(slot, tokens[0], len(tokens)) for slot, tokens in self._first if slot]
        decoding = [*rest, (0, self._probe[length], length)]
        starting = sorted(self._second, key=lambda row: -len(row[1]))
        decoded = self._forward.logits(self._forward.step(decoding, starting, self._slab))[len(rest)]
        return torch.stack([prompt, decoded])

    def _neighbours(self, tokens: int, first_slot: int) -> list[tuple[int, list[int]]]:
        rows: list[tuple[int, list[int]]] = []
        while tokens > 0:
            length = min(tokens, _NEIGHBOUR_LENGTHS[len(rows) % len(_NEIGHBOUR_LENGTHS)])
            slot = first_slot + len(rows)
            row = _tokens(self._forward.weights, slot, length)
            if length == _PROBE_LENGTH:
                row[:_COMMON_LENGTH] = self._probe[:_COMMON_LENGTH]  # these two share the beginning's tokens
            rows.append((slot, row))
            tokens -= length
        return rows


def _tokens(weights: Weights, row: int, length: int) -> list[int]:
    # Scattered over the vocabulary, other ones for each row.
    return [(7919 * (37 * row + place) + 104729) % weights.vocabulary for place in range(length)]


def _plain_logits(weights: Weights, tokens: Sequence[int]) -> torch.Tensor:
    """Return the logits [2, vocabulary] of the last two tokens as the model computes them by itself."""
    import torch

    weights.attend("eager")
    with torch.inference_mode():
        ids = torch.tensor([list(tokens)], device=weights.model.device)
        logits: torch.Tensor = weights.model(input_ids=ids, use_cache=False, logits_to_keep=2).logits[0].double()
    return logits


def _difference(weights: Weights, plain: torch.Tensor, packed: torch.Tensor) -> str | None:
    if not plain.isfinite().all():
        return "the model gives numbers that are not finite"
    off = float((packed.double() - plain[: len(packed)]).abs().max() / plain.abs().max())
    if not off <= _TOLERANCE[weights.environment["dtype"]]:
        return f"packed logits differ from the plain ones by {off:.1e} of the largest"
    return None
