"""The border between what asks a model (prompts, keys, rows) and what runs it (engines)."""

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from assay.errors import ConfigError
from assay.records.rows import FinishReason

ROW_VERSION = 2
"""Raise it whenever an engine gives other token ids, texts or finish reasons than before (a golden test tells)."""

Method = Literal["greedy", "sampling"]


class Decoding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How tokens are chosen and when a row ends. Every field is part of the key of a row.

    Attributes
    ----------
    method : {"greedy", "sampling"}
        Greedy takes the first token of the largest logit; sampling draws with the row's own seed.
    temperature : float
        0 with greedy; above 0 with sampling, where logits are divided by it.
    top_p : float
        Nucleus in (0, 1]; 1 keeps everything.
    top_k : int
        Number of largest logits kept before the nucleus; 0 keeps everything.
    max_new_tokens : int
        At least 1; the end-of-sequence token counts. A request may ask for fewer or more.
    stop : tuple of str
        Strings that end a row; the text is cut before the first of them. The name of a control token ends a row, too,
        at that token, which no text shows.
    """

    method: Method = "greedy"
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    max_new_tokens: int
    stop: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse values out of range and settings that contradict each other.

        Raises
        ------
        ConfigError
            Naming the key, what was expected and what to do.
        """
        _expect(self.max_new_tokens >= 1, "max_new_tokens", self.max_new_tokens, "at least 1")
        _expect(self.top_k >= 0, "top_k", self.top_k, "0 (off) or a positive number")
        _expect(0.0 < self.top_p <= 1.0, "top_p", self.top_p, "a number above 0 and at most 1 (off)")
        _expect(
            isfinite(self.temperature) and self.temperature >= 0.0,
            "temperature",
            self.temperature,
            "a number of at least 0",
        )
        _expect(all(self.stop), "stop", list(self.stop), "strings that are not empty")
        _expect(len(set(self.stop)) == len(self.stop), "stop", list(self.stop), "each string once")
        if self.method == "greedy":
            for key, value, neutral in (
                ("temperature", self.temperature, 0.0),
                ("top_p", self.top_p, 1.0),
                ("top_k", self.top_k, 0),
            ):
                _expect(value == neutral, key, value, f"{neutral:g} with method greedy", "or choose method sampling")
        else:
            _expect(
                self.temperature > 0.0,
                "temperature",
                self.temperature,
                "a number above 0 with method sampling",
                "or choose method greedy",
            )


def _expect(right: bool, key: str, value: object, expected: str, remedy: str | None = None) -> None:
    if not right:
        raise ConfigError(f"{key} is {value!r}", key=key, expected=expected, remedy=remedy)


class Request(msgspec.Struct, frozen=True):
    """One row to generate.

    Attributes
    ----------
    row_id : str
        Unique within one call of `Engine.generate`.
    token_ids : list of int
        The whole prompt as the model sees it: template, special tokens and truncation already applied.
    max_new_tokens : int
        At least 1.
    seed : int or None
        In [0, 2**63); required with sampling, ignored with greedy.
    """

    row_id: str
    token_ids: list[int]
    max_new_tokens: int
    seed: int | None = None


class Completion(msgspec.Struct, frozen=True):
    """One finished row.

    Attributes
    ----------
    token_ids : list of int
        All new tokens, the end-of-sequence token included; with "stop" up to the token that completed the string.
    text : str
        Decoded without special tokens, cut before the first stop string; raw otherwise.
    finish_reason : {"eos", "stop", "length", "error"}
        "error" when the model gave no usable number for this row; `text` is then empty and `error` says why.
    """

    row_id: str
    token_ids: list[int]
    text: str
    finish_reason: FinishReason
    error: str | None = None


@runtime_checkable
class Engine(Protocol):
    """Turns token ids into token ids. Engines differ in speed and in the last bits, hence in identity."""

    @property
    def identity(self) -> dict[str, Any]:
        """What of this engine belongs into the key of a row, as JSON data.

        Engine name and version, batch rule, attention implementation, dtype, device kind, versions of torch and
        transformers, instruction-set level. Not in it: slots, order and thread count of a batch-invariant engine.
        """
        ...

    def generate(self, requests: Iterable[Request], decoding: Decoding) -> Iterator[Completion]:
        """Yield every row as soon as it is finished, in any order, each exactly once.

        Raises
        ------
        ConfigError
            If `decoding` contradicts itself.
        ModelError
            Before anything runs, for an empty prompt, an id outside the vocabulary, a repeated `row_id`, a missing
            seed or a row longer than the model's context.
        """
        ...
