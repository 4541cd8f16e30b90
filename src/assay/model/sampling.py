"""The choice of the next token: one row at a time, so that no neighbour can change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.canonical import derive_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from numpy.typing import NDArray

    from assay.model.engine import Decoding

_MANTISSA_BITS = 53
_SEED_BITS = 63


def choose(
    logits: torch.Tensor, decoding: Decoding, seeds: Sequence[int | None], positions: Sequence[int]
) -> list[int | None]:
    """Return the next token of every row, or None for a row whose largest logit is no finite number.

    Parameters
    ----------
    logits : tensor [rows, vocabulary]
        Any floating type, any device.
    seeds : sequence of int or None
        `Request.seed` of each row; read when sampling only.
    positions : sequence of int
        Number of tokens that each row has generated before this one.
    """
    largest, ids = logits.max(dim=-1)
    finite = largest.isfinite().tolist()
    if decoding.method == "greedy":
        return [token if good else None for token, good in zip(ids.tolist(), finite, strict=True)]
    rows = logits.double().cpu().numpy()
    return [
        _draw(row, decoding, uniform(seed, position)) if good and seed is not None else None
        for row, seed, position, good in zip(rows, seeds, positions, finite, strict=True)
    ]


def uniform(seed: int, position: int) -> float:
    """Return the number in [0, 1) that decides token `position` of the row with this seed.

    A hash of both instead of a running generator: no state, so nothing to save when a row is interrupted, and
    no library whose stream could change.
    """
    return (derive_seed("next-token", seed, position) >> (_SEED_BITS - _MANTISSA_BITS)) / 2.0**_MANTISSA_BITS


def _draw(logits: NDArray[np.float64], decoding: Decoding, point: float) -> int:
    ids, weights = nucleus(logits, decoding.temperature, decoding.top_k, decoding.top_p)
    cumulative = np.cumsum(weights)
    index = int(np.searchsorted(cumulative, point * cumulative[-1], side="right"))
    return int(ids[min(index, len(ids) - 1)])


def nucleus(
    logits: NDArray[np.float64], temperature: float, top_k: int, top_p: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the token ids that may be drawn and their weights, shape [n] each; weights need not sum to 1.

    First `top_k`, then `top_p` of what is left, as is usual. The nucleus is the shortest head of the tokens in
    order of falling probability whose sum reaches `top_p`; ties go to the lower id. Without both limits the ids
    keep the order of the vocabulary.
    """
    ids = np.arange(len(logits))
    if 0 < top_k < len(logits):
        threshold = np.partition(logits, -top_k)[-top_k]
        ids = np.flatnonzero(logits >= threshold)
        ids = np.sort(ids[np.argsort(-logits[ids], kind="stable")][:top_k])
    weights = np.exp((logits[ids] - logits[ids].max()) / temperature)
    if top_p == 1.0:
        return ids, weights
    weights /= weights.sum()
    # Tokens below this share sum to less than 1 - top_p together, so the nucleus is complete without them: this
    # spares sorting a vocabulary of 150,000 for every token.
    candidates = np.flatnonzero(weights >= (1.0 - top_p) / len(weights))
    order = candidates[np.argsort(-weights[candidates], kind="stable")]
    kept = order[: int(np.searchsorted(np.cumsum(weights[order]), top_p, side="left")) + 1]
    return ids[kept], weights[kept]
