"""What one step of a packed batch holds: which tokens belong to whom, and where their keys and values are kept.

A step is one tensor of tokens without padding: one token of every row that is being decoded, then whole prompts
of rows that start (equal lengths side by side), then some dummy tokens. Prompts of one length that begin
alike share the tokens of their beginning. The rule behind all this, measured per kernel: a linear layer gives a row
the same bits whatever stands beside it, as long as there are at least 12 rows per thread, so every call gets at least
`minimum_rows`, and one of few numbers of rows (`padded_rows`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BLOCK = 64
"""Capacities, the lengths over which a decoded token attends, are multiples of this."""

# Slots that a call may span, as a multiple of its rows: idle ones are computed in vain, a copy costs about as much.
_MOST_SPAN = 1.5

_MINIMUM_ROWS = 16
_ROWS_PER_THREAD = 12

# Sharing copies queries, keys and values in every layer: fewer spared tokens than this part would not pay for it.
_LEAST_SPARED = 1 / 16


def minimum_rows(threads: int) -> int:
    """Return the fewest rows that a linear layer may see when torch uses this many threads."""
    return max(_MINIMUM_ROWS, _ROWS_PER_THREAD * threads)


def padded_rows(rows: int) -> int:
    """Return the rows, dummies included, of a call that needs at least so many: at most a sixteenth more, or three.

    oneDNN compiles code for every number of rows and shape of a layer, and keeps it: measured 0.7 MB each, a gigabyte
    after some thousand prompts. Rounded up there are 79 numbers up to 1,152.
    """
    return round_up(rows, max(4, (1 << rows.bit_length()) // 32))


def round_up(length: int, unit: int = BLOCK) -> int:
    """Return the next multiple of the unit, by default the capacity of a length."""
    return -(-length // unit) * unit


@dataclass(frozen=True)
class Prompts:
    """Prompts of one length in a step.

    What a token is, and what it attends to, depends on the tokens before it and on the length of its prompt only. So
    prompts of one length have the same keys, values and states, bit for bit, as far as they begin alike, and everything
    but attention is computed once for the tokens that they share.

    Attributes
    ----------
    first, end : int
        Range of their tokens in the step.
    length : int
        Tokens of each prompt.
    slots : tuple of int
        Slot of each prompt.
    places : tensor [prompts * length] or None
        Prompt after prompt, the token of each position, counted from `first`; None where that is simply 0, 1, 2, ...
    owners : tensor [end - first] or None
        For each token one place in `places` where it stands.
    """

    first: int
    end: int
    length: int
    slots: tuple[int, ...]
    places: torch.Tensor | None = None
    owners: torch.Tensor | None = None

    def by_row(self, tensor: torch.Tensor) -> torch.Tensor:
        """Give every prompt all its tokens: [heads, tokens of the step, width] to [prompts, heads, length, width]."""
        own = tensor[:, self.first : self.end]
        if self.places is not None:
            # Strides as without sharing, where tokens lie side by side: products may choose their way by them.
            own = own.transpose(0, 1).index_select(0, self.places).transpose(0, 1)
        heads, tokens, width = own.shape
        return own.view(heads, tokens // self.length, self.length, width).transpose(0, 1)

    def by_token(self, rows: torch.Tensor) -> torch.Tensor:
        """Return to the tokens of the step: [prompts, length, heads, width] to [end - first, heads, width]."""
        flat = rows.flatten(0, 1)
        return flat if self.owners is None else flat.index_select(0, self.owners)


@dataclass(frozen=True)
class Decoded:
    """Decoded tokens that attend over the same range of positions, so that they can share a call.

    Attributes
    ----------
    tokens : tensor [rows]
        Index of the token in the step.
    slots : tensor [rows] or slice
        Slots of the slab that take part. A slice spares a copy of keys and values; between the rows of the group it may
        hold other slots, whose results nobody reads.
    queries : tensor [slots]
        The token of each slot; any one for the slots between.
    rows : tensor [rows] or None
        The rows' places among the slots; None where each slot is a row's.
    start, stop : int
        Range of positions, multiples of `BLOCK`.
    hidden : bool tensor [slots, 1, 1, stop - start]
        True where a row must not look: after its own token, or before its window.
    """

    tokens: torch.Tensor
    slots: torch.Tensor | slice
    queries: torch.Tensor
    rows: torch.Tensor | None
    start: int
    stop: int
    hidden: torch.Tensor


@dataclass
class Step:
    """One forward pass.

    Attributes
    ----------
    token_ids, position_ids : tensor [1, tokens]
    wanted : tensor [padded rows]
        Tokens whose logits or states are wanted: decoded rows, then prompts in the order of `prompts`, then
        repetitions of the first one.
    n_wanted : int
        Without the repetitions.
    decode_slots, decode_positions : tensor [decoded rows]
    """

    token_ids: torch.Tensor
    position_ids: torch.Tensor
    wanted: torch.Tensor
    n_wanted: int
    decode_slots: torch.Tensor
    decode_positions: torch.Tensor
    prompts: tuple[Prompts, ...]
    slab: Slab | None
    _groups: dict[int | None, list[Decoded]] = field(default_factory=dict)

    @property
    def n_decoded(self) -> int:
        """Rows that are being decoded; their tokens come first."""
        return len(self.decode_slots)

    @property
    def n_real(self) -> int:
        """Tokens before the dummies."""
        return self.prompts[-1].end if self.prompts else self.n_decoded

    def decoded(self, window: int | None) -> list[Decoded]:
        """Return the decoded tokens in groups of one range each, for layers with this sliding window."""
        if window not in self._groups:
            self._groups[window] = list(self._group(window))
        return self._groups[window]

    def _group(self, window: int | None) -> Iterable[Decoded]:
        members: dict[tuple[int, int], list[int]] = {}
        positions = self.decode_positions.tolist()
        for token, position in enumerate(positions):
            first = 0 if window is None else max(0, position + 1 - window)
            members.setdefault((first // BLOCK * BLOCK, round_up(position + 1)), []).append(token)
        slots = self.decode_slots.tolist()
        for (start, stop), tokens in members.items():
            yield self._decoded(tokens, [slots[token] for token in tokens], positions, start, stop, window)

    def _decoded(
        self, tokens: list[int], slots: list[int], positions: list[int], start: int, stop: int, window: int | None
    ) -> Decoded:
        def tensor(values: Sequence[int]) -> torch.Tensor:
            return torch.tensor(values, device=self.decode_positions.device)

        first, n = slots[0], slots[-1] + 1 - slots[0]
        own = [positions[token] for token in tokens]
        queries = tokens
        chosen: torch.Tensor | slice
        rows = None
        if len(tokens) <= n <= len(tokens) * _MOST_SPAN and slots == sorted(slots):
            chosen = slice(first, first + n)
            if n > len(tokens):
                rows = tensor([slot - first for slot in slots])
                queries, all_own = [tokens[0]] * n, [start] * n
                for slot, token, position in zip(slots, tokens, own, strict=True):
                    queries[slot - first], all_own[slot - first] = token, position
                own = all_own
        else:
            chosen = tensor(slots)
        last = tensor(own).view(-1, 1, 1, 1)
        other = torch.arange(start, stop, device=last.device)
        hidden = other > last
        if window is not None:
            hidden |= other <= last - window
        return Decoded(tensor(tokens), chosen, tensor(queries), rows, start, stop, hidden)


class Slab:
    """Keys and values of the rows in work: per layer [slots, heads, capacity, width], each row from index 0.

    Allocated with zeros, since a stale number is multiplied by a weight of zero, which only finite numbers survive.

    Parameters
    ----------
    layout : sequence of (key-value heads, width of a key, width of a value)
        One entry per layer.
    """

    def __init__(
        self,
        layout: Sequence[tuple[int, int, int]],
        slots: int,
        capacity: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.layout = tuple(layout)
        self.slots = slots
        self.capacity = capacity
        self._options = (dtype, device)
        self.keys = [torch.zeros(slots, h, capacity, k, dtype=dtype, device=device) for h, k, _ in layout]
        self.values = [torch.zeros(slots, h, capacity, v, dtype=dtype, device=device) for h, _, v in layout]

    def moved(self, slots: int, capacity: int, rows: Sequence[tuple[int, int]]) -> Slab:
        """Return a slab of another shape that holds the given (slot, length) rows in slots 0, 1, 2, ..."""
        slab = Slab(self.layout, slots, capacity, *self._options)
        for old, new in (*zip(self.keys, slab.keys, strict=True), *zip(self.values, slab.values, strict=True)):
            for target, (slot, length) in enumerate(rows):
                new[target, :, :length] = old[slot, :, :length]
        return slab

    def of(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return keys and values of a layer."""
        return self.keys[layer], self.values[layer]

    def clear(self, slot: int) -> None:
        """Forget what a slot holds: needed when it may hold numbers that are not finite."""
        for tensor in (*self.keys, *self.values):
            tensor[slot].zero_()


def token_bytes(layout: Sequence[tuple[int, int, int]], dtype: torch.dtype) -> int:
    """Return the bytes of a slab for one token of one row."""
    return sum(heads * (key + value) for heads, key, value in layout) * dtype.itemsize


def make_step(
    decoding: Sequence[tuple[int, int, int]],
    starting: Sequence[tuple[int, Sequence[int]]],
    *,
    slab: Slab | None,
    least: int,
    device: torch.device,
) -> Step:
    """Lay out one step.

    Parameters
    ----------
    decoding : sequence of (slot, token id, position)
        The newest token of each row in work.
    starting : sequence of (slot, token ids)
        Prompts, equal lengths side by side.
    slab : Slab or None
        None when no keys are to be kept (hidden states).
    least : int
        Tokens, and wanted rows, that the step has at least.
    """
    token_ids = [token for _, token, _ in decoding]
    positions = [position for _, _, position in decoding]
    wanted = list(range(len(decoding)))
    prompts = []
    for length, group in groupby(starting, key=lambda row: len(row[1])):
        rows = list(group)
        first = len(token_ids)
        part, computed, places = _laid_out(first, rows, device)
        token_ids.extend(rows[row][1][place] for row, place in computed)
        positions.extend(place for _, place in computed)
        prompts.append(part)
        last = range(length - 1, length * len(rows), length)
        wanted.extend(first + places[place] for place in last)
    dummies = padded_rows(max(least, len(token_ids))) - len(token_ids)
    n_wanted = len(wanted)
    wanted.extend(wanted[:1] * (padded_rows(max(least, n_wanted)) - n_wanted))

    def tensor(values: Sequence[int]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.long, device=device)

    return Step(
        token_ids=tensor([*token_ids, *[0] * dummies]).unsqueeze(0),
        position_ids=tensor([*positions, *[0] * dummies]).unsqueeze(0),
        wanted=tensor(wanted),
        n_wanted=n_wanted,
        decode_slots=tensor([slot for slot, _, _ in decoding]),
        decode_positions=tensor([position for _, _, position in decoding]),
        prompts=tuple(prompts),
        slab=slab,
    )


def _laid_out(
    first: int, rows: Sequence[tuple[int, Sequence[int]]], device: torch.device
) -> tuple[Prompts, list[tuple[int, int]], list[int]]:
    # Prompts of one length from the token `first` on, and what `_shared` says of their tokens.
    length = len(rows[0][1])
    slots = tuple(slot for slot, _ in rows)
    computed, places = _shared([tokens for _, tokens in rows])
    end = first + len(computed)
    if len(computed) == len(places):
        return Prompts(first, end, length, slots), computed, places
    owners = [row * length + place for row, place in computed]
    tensors = (torch.tensor(places, device=device), torch.tensor(owners, device=device))
    return Prompts(first, end, length, slots, *tensors), computed, places


def _shared(rows: Sequence[Sequence[int]]) -> tuple[list[tuple[int, int]], list[int]]:
    # The (row, place) of each token that must be computed, and for each token of each row the index of its computation.
    nodes: dict[tuple[int, int], int] = {}
    computed: list[tuple[int, int]] = []
    places = []
    for row, tokens in enumerate(rows):
        node = -1
        for place, token in enumerate(tokens):
            known = nodes.setdefault((node, token), len(computed))
            if known == len(computed):
                computed.append((row, place))
            places.append(node := known)
    if len(places) - len(computed) >= _LEAST_SPARED * len(places):
        return computed, places
    computed = [(row, place) for row, tokens in enumerate(rows) for place in range(len(tokens))]
    return computed, list(range(len(computed)))
