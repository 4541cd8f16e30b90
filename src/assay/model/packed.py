"""The default engine: packed batches, in which a row's bits do not depend on its neighbours.

Slots, the order of rows, the moment of admission and the number of threads change speed and nothing else, so none
of them is part of the identity.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush
from threading import Lock
from typing import TYPE_CHECKING, Any

from assay.model.lanes import in_lanes
from assay.model.packed_attention import NAME, running
from assay.model.packing import Slab, Step, make_step, minimum_rows, round_up, token_bytes
from assay.model.sampling import choose
from assay.model.unfinished import NO_NUMBER, UnfinishedRow, check_requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import torch

    from assay.model.engine import Completion, Decoding, Request
    from assay.model.loading import Weights

BATCH_RULE = "packed-3"
"""Raise the number with every change of packing or attention that can change bits."""

Layout = tuple[tuple[int, int, int], ...]


class Forward:
    """Runs packed steps through a model.

    Parameters
    ----------
    weights : Weights
        A model that the packed attention serves.
    prepared : bool
        Whether linear layers use prepared weights where the model has them. States of prompts do not, so that they
        are those of a plain forward pass.
    """

    def __init__(self, weights: Weights, *, prepared: bool = True) -> None:
        self.weights = weights
        self.prepared = prepared and weights.linears is not None
        self.device: torch.device = weights.model.device

    def step(
        self,
        decoding: Sequence[tuple[int, int, int]],
        starting: Sequence[tuple[int, Sequence[int]]],
        slab: Slab | None,
        least: int = 0,
    ) -> Step:
        """Lay out a step with at least the minimum of rows; see `make_step`."""
        import torch

        rows = max(least, minimum_rows(torch.get_num_threads()))
        return make_step(decoding, starting, slab=slab, least=rows, device=self.device)

    @property
    def linear(self) -> str:
        """How linear layers are computed, for identities."""
        from assay.model.packed_linear import RULE

        return RULE if self.prepared else "torch"

    def attend(self) -> None:
        """Make the model compute as packed steps want it."""
        self.weights.attend(NAME, prepared=self.prepared)

    def logits(self, step: Step) -> torch.Tensor:
        """Return the logits [wanted rows, vocabulary] of a step."""
        import torch

        self.attend()
        with torch.inference_mode(), running(step):
            output = self.weights.model(
                input_ids=step.token_ids,
                position_ids=step.position_ids,
                use_cache=False,
                logits_to_keep=step.wanted,
            )
        logits: torch.Tensor = output.logits[0, : step.n_wanted]
        return logits


class PackedEngine:
    """Generates many rows at once without padding.

    Parameters
    ----------
    weights : Weights
        The loaded model.
    layout : tuple of (key-value heads, key width, value width)
        Of each layer, as `selftest.examine` found it.
    slots : int
        Rows in work at once in each lane, at most.
    prompt_tokens : int
        Prompt tokens that one step takes up, at most, unless a single prompt is longer.
    slab_bytes : int
        Memory of a lane for keys and values, at most, unless a single row needs more.
    lanes : int
        Threads that work off the rows, each with steps of its own. They share the weights, and since each uses one
        thread of torch only, attention and small operations run side by side, too.
    """

    def __init__(
        self,
        weights: Weights,
        layout: Layout,
        *,
        slots: int = 128,
        prompt_tokens: int = 1024,
        slab_bytes: int = 1 << 30,
        lanes: int = 1,
    ) -> None:
        self.weights = weights
        self.forward = Forward(weights)
        self.layout = layout
        self.slots = slots
        self.prompt_tokens = prompt_tokens
        self.slab_tokens = slab_bytes // token_bytes(layout, weights.model.dtype)
        self.lanes = lanes

    @property
    def identity(self) -> dict[str, Any]:
        """See `Engine.identity`."""
        return self.weights.environment | {
            "engine": "packed",
            "batch_rule": BATCH_RULE,
            "attention": NAME,
            "linear": self.forward.linear,
        }

    def generate(self, requests: Iterable[Request], decoding: Decoding) -> Iterator[Completion]:
        """See `Engine.generate`; the longest rows start first, equal lengths and equal beginnings side by side."""
        checked = check_requests(requests, decoding, self.weights)
        checked.sort(key=lambda row: (-len(row.token_ids) - row.max_new_tokens, -len(row.token_ids), row.token_ids))
        rows = deque(
            UnfinishedRow(request, decoding, self.weights.tokenizer, self.weights.eos_ids) for request in checked
        )
        lanes = max(1, min(self.lanes, len(rows)))
        slots = min(self.slots, -(-len(rows) // lanes))
        self.forward.attend()  # before several lanes would
        guard = Lock()
        return in_lanes([_Lane(self, decoding, slots, rows, guard).rows() for _ in range(lanes)])


class _Lane:
    """One lane of one call of `generate`.

    Parameters
    ----------
    slots : int
        Rows in work at once, at most.
    waiting : deque of UnfinishedRow
        Shared by all lanes.
    guard : Lock
        Held while rows are taken.
    """

    def __init__(
        self, engine: PackedEngine, decoding: Decoding, slots: int, waiting: deque[UnfinishedRow], guard: Lock
    ) -> None:
        self._engine = engine
        self._forward = engine.forward
        self._decoding = decoding
        self._most_slots = slots
        self._waiting = waiting
        self._guard = guard
        self._active: dict[int, UnfinishedRow] = {}
        self._free: list[int] = []
        self._slab: Slab | None = None

    def rows(self) -> Iterator[Completion]:
        while self._waiting or self._active:
            yield from self._advance()

    def _advance(self) -> list[Completion]:
        # One step: a token for every row in work and a first token for the rows that start.
        with self._guard:
            new = self._admit()
        old = sorted(self._active.items())
        if not old and not new:
            return []  # another lane was faster
        step = self._forward.step(
            [(slot, row.token_ids[-1], row.n_tokens - 1) for slot, row in old],
            [(slot, row.request.token_ids) for slot, row in new],
            self._slab,
        )
        rows = [*old, *new]
        tokens = choose(
            self._forward.logits(step),
            self._decoding,
            [row.request.seed for _, row in rows],
            [len(row.token_ids) for _, row in rows],
        )
        self._active.update(new)
        finished = []
        for (slot, row), token in zip(rows, tokens, strict=True):
            completion = row.append(token)
            if completion is None:
                continue
            finished.append(completion)
            del self._active[slot]
            heappush(self._free, slot)
            if completion.error == NO_NUMBER and self._slab is not None:
                self._slab.clear(slot)
        return finished

    def _admit(self) -> list[tuple[int, UnfinishedRow]]:
        # Rows enter in blocks (a quarter of the slots), which keeps steps long and equal lengths together.
        if not self._waiting:
            return []
        self._fit_slab(round_up(self._waiting[0].most_tokens))
        assert self._slab is not None
        if self._active and len(self._free) < max(1, self._slab.slots // 4):
            return []
        admitted: list[tuple[int, UnfinishedRow]] = []
        tokens = 0
        while self._waiting and self._free:
            row = self._waiting[0]
            tokens += row.n_prompt_tokens
            if row.most_tokens > self._slab.capacity or (admitted and tokens > self._engine.prompt_tokens):
                break
            admitted.append((heappop(self._free), self._waiting.popleft()))
        admitted.sort(key=lambda entry: (-entry[1].n_prompt_tokens, entry[0]))
        return admitted

    def _fit_slab(self, needed: int) -> None:
        # The slab follows the rows: `needed` is the capacity of the next one. It grows when that row does not fit,
        # and is cut when rows have become so short that the same memory holds more of them.
        slab = self._slab
        capacity = max([needed, *(round_up(row.most_tokens) for row in self._active.values())])
        slots = max(1, min(self._most_slots, self._engine.slab_tokens // capacity))
        slots = min(slots, len(self._active) + len(self._waiting))
        if slab is not None and capacity <= slab.capacity and slots < 2 * slab.slots:
            return
        if slots <= len(self._active):
            return  # until rows have ended
        active = sorted(self._active.items())
        if slab is None:
            slab = Slab(self._engine.layout, slots, capacity, self._forward.weights.model.dtype, self._forward.device)
        else:
            slab = slab.moved(slots, capacity, [(slot, row.n_tokens - 1) for slot, row in active])
        self._slab = slab
        self._active = {new: row for new, (_, row) in enumerate(active)}
        self._free = list(range(len(active), slots))
        heapify(self._free)
