"""Engines on the generation loop of transformers: one prompt at a time, and padded batches.

The first is the reference, serves every architecture and needs no guarantee. The second is the fast mode for
protocols that ask for it: its bits depend on the batch, so the batch is part of its identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.errors import ModelError
from assay.model.sampling import choose
from assay.model.unfinished import UnfinishedRow, check_requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import torch

    from assay.model.engine import Completion, Decoding, Request
    from assay.model.loading import Weights

SEQUENTIAL_RULE = "one-at-a-time-1"
PADDED_RULE = "padded-1"

# Largest change of a logit by padding, relative to the largest: rounding gives 1e-6 and 4e-2, mistakes 5e-2 to 6e-1.
_TOLERANCE = {"float32": 1e-3, "float16": 5e-2, "bfloat16": 2e-1}


class SequentialEngine:
    """Generates one row after the other: slow, and the measure of everything else.

    Eager attention, where the model offers the choice, and one thread make the bits independent of the number of
    threads: products of the few rows that an expert gets have other bits with two.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._attention = "eager" if weights.can_choose_attention else weights.plain_attention

    @property
    def identity(self) -> dict[str, Any]:
        """See `Engine.identity`."""
        own: dict[str, Any] = {"engine": "sequential", "batch_rule": SEQUENTIAL_RULE, "attention": self._attention}
        if self._attention != "eager":
            own["threads"] = self._weights.threads
        return self._weights.environment | own

    def generate(self, requests: Iterable[Request], decoding: Decoding) -> Iterator[Completion]:
        """See `Engine.generate`; rows come in the order of the requests."""
        checked = check_requests(requests, decoding, self._weights)
        return (row for request in checked for row in self._alone(request, decoding))

    def _alone(self, request: Request, decoding: Decoding) -> list[Completion]:
        import torch

        threads = torch.get_num_threads()
        if self._attention == "eager":
            torch.set_num_threads(1)
        try:
            return _together(self._weights, [request], decoding, self._attention)
        finally:
            torch.set_num_threads(threads)


class PaddedEngine:
    """Generates batches padded on the left; rows of similar length go together.

    Parameters
    ----------
    batch_size : int
        Rows of a batch; part of the identity, as is the number of threads.

    Raises
    ------
    ModelError
        If padding changes the model's numbers by more than rounding: some architectures do not leave it out.
    """

    def __init__(self, weights: Weights, batch_size: int) -> None:
        self._weights = weights
        self.batch_size = batch_size
        if batch_size > 1 and not (off := _padding_error(weights)) <= _TOLERANCE[weights.environment["dtype"]]:
            raise ModelError(
                f"padding changes the logits of {type(weights.model).__name__} by {off:.1e} of the largest",
                file=weights.folder,
                remedy="choose another engine in the registry, or batch_size: 1",
            )

    @property
    def identity(self) -> dict[str, Any]:
        """See `Engine.identity`; a row may still change its bits with its neighbours."""
        return self._weights.environment | {
            "engine": "padded",
            "batch_rule": PADDED_RULE,
            "batch_size": self.batch_size,
            "attention": self._weights.plain_attention,
            "threads": self._weights.threads,
        }

    def generate(self, requests: Iterable[Request], decoding: Decoding) -> Iterator[Completion]:
        """See `Engine.generate`; rows come batch by batch, the longest first."""
        checked = check_requests(requests, decoding, self._weights)
        checked.sort(key=lambda row: -len(row.token_ids))
        starts = range(0, len(checked), self.batch_size)
        batches = (checked[start : start + self.batch_size] for start in starts)
        return (
            row for batch in batches for row in _together(self._weights, batch, decoding, self._weights.plain_attention)
        )


def _together(weights: Weights, requests: Sequence[Request], decoding: Decoding, attention: str) -> list[Completion]:
    # The loop of transformers knows every architecture and kind of cache; `_Chooser` takes every decision out of
    # its hands, so that engines cannot differ in how they choose tokens or end rows.
    import torch
    from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

    ids, mask = padded_batch([request.token_ids for request in requests], weights.model.device)
    chooser = _Chooser(weights, requests, decoding)
    weights.attend(attention)
    with torch.inference_mode():
        weights.model.generate(
            input_ids=ids,
            attention_mask=mask,
            generation_config=GenerationConfig(
                do_sample=False,
                num_beams=1,
                max_new_tokens=max(request.max_new_tokens for request in requests),
                pad_token_id=0,
            ),
            logits_processor=LogitsProcessorList([chooser.choose]),
            stopping_criteria=StoppingCriteriaList([chooser.ended]),
        )
    return chooser.completions


def _padding_error(weights: Weights) -> float:
    """Return by how much a longer neighbour changes the first logits of a row, relative to the largest."""
    import torch

    row, neighbour = ([(7919 * place + 104729) % weights.vocabulary for place in range(length)] for length in (7, 20))
    weights.attend(weights.plain_attention)
    logits = []
    for rows in ([row], [row, neighbour]):
        ids, mask = padded_batch(rows, weights.model.device)
        with torch.inference_mode():
            output = weights.model.generate(
                input_ids=ids,
                attention_mask=mask,
                do_sample=False,
                max_new_tokens=1,
                pad_token_id=0,
                output_logits=True,
                return_dict_in_generate=True,
            )
        logits.append(output.logits[0][0].double())
    alone, padded = logits
    return float((padded - alone).abs().max() / alone.abs().max())


def padded_batch(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids and mask [rows, longest], padded on the left; the mask comes from lengths, never from ids."""
    import torch

    longest = max(map(len, rows))
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, tokens in enumerate(rows):
        ids[row, longest - len(tokens) :] = torch.tensor(tokens)
        mask[row, longest - len(tokens) :] = 1
    return ids.to(device), mask.to(device)


class _Chooser:
    """Chooses the tokens of a batch inside the loop of transformers."""

    def __init__(self, weights: Weights, requests: Sequence[Request], decoding: Decoding) -> None:
        self._decoding = decoding
        self._rows = [UnfinishedRow(request, decoding, weights.tokenizer, weights.eos_ids) for request in requests]
        self._active = list(range(len(requests)))
        self.completions: list[Completion] = []

    def choose(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return scores of which only the chosen token's is finite."""
        rows = [self._rows[index] for index in self._active]
        seeds = [row.request.seed for row in rows]
        tokens = choose(scores[self._active], self._decoding, seeds, [len(row.token_ids) for row in rows])
        forced = scores.new_full(scores.shape, float("-inf"))
        forced[:, 0] = 0.0
        still_active = []
        for index, row, token in zip(self._active, rows, tokens, strict=True):
            completion = row.append(token)
            if completion is not None:
                self.completions.append(completion)
                continue
            still_active.append(index)
            forced[index, 0] = float("-inf")
            forced[index, token] = 0.0
        self._active = still_active
        return forced

    def ended(self, ids: torch.Tensor, _scores: torch.Tensor, **_others: Any) -> torch.Tensor:
        """Return which rows have ended."""
        import torch

        ended = torch.ones(len(ids), dtype=torch.bool, device=ids.device)
        ended[self._active] = False
        return ended
