"""A row while it is being generated: its tokens, its stop strings, and its end."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from assay.errors import ModelError
from assay.model.engine import Completion, Decoding, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NO_NUMBER = "the model gave no finite logit"
# Tokens beyond the length of a stop string that are decoded with it: enough for a leading space that a tokenizer
# drops at the start of a text and for a character cut in two (at most 4 bytes).
_MARGIN = 5


class Tokenizer(Protocol):
    """The part of a transformers tokenizer that engines use."""

    all_special_ids: list[int]
    added_tokens_decoder: dict[int, Any]

    def __hash__(self) -> int: ...

    def decode(self, token_ids: Sequence[int], **options: bool) -> str:
        """Return the text of tokens."""
        ...


def decode(tokenizer: Tokenizer, token_ids: Sequence[int]) -> str:
    """Return the raw text: no special tokens, no tidying of spaces."""
    return tokenizer.decode(token_ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


@lru_cache(maxsize=2)
def control_tokens(tokenizer: Tokenizer) -> dict[int, str]:
    """Return the tokens that `decode` leaves out, with what they are called.

    Tokenizers list only those among their special ones that have a role (BOS, EOS, ...).
    """
    named = dict.fromkeys(tokenizer.all_special_ids, "")
    return named | {i: token.content for i, token in tokenizer.added_tokens_decoder.items() if token.special}


class UnfinishedRow:
    """Collects the tokens of one request until it ends."""

    def __init__(self, request: Request, decoding: Decoding, tokenizer: Tokenizer, eos_ids: frozenset[int]) -> None:
        self.request = request
        self.token_ids: list[int] = []
        self._stop = decoding.stop
        self._tokenizer = tokenizer
        self._eos_ids = eos_ids
        self._control = control_tokens(tokenizer) if self._stop else {}
        self._tail_tokens = max((len(stop.encode("utf-8", "replace")) for stop in self._stop), default=0) + _MARGIN

    @property
    def n_prompt_tokens(self) -> int:
        """Tokens of the prompt."""
        return len(self.request.token_ids)

    @property
    def n_tokens(self) -> int:
        """Tokens of prompt and answer so far."""
        return len(self.request.token_ids) + len(self.token_ids)

    @property
    def most_tokens(self) -> int:
        """Tokens of prompt and answer at the most."""
        return len(self.request.token_ids) + self.request.max_new_tokens

    def append(self, token_id: int | None) -> Completion | None:
        """Take the next token (None: the model gave no number); return the finished row if it ends the row."""
        if token_id is None:
            return self._completion("", "error", NO_NUMBER)
        self.token_ids.append(token_id)
        if self._stop and token_id not in self._control and self._stopped(self._tail()):
            text = decode(self._tokenizer, self.token_ids)
            if self._stopped(text):
                return self._completion(text, "stop")
        if token_id in self._eos_ids:
            return self._completion(decode(self._tokenizer, self.token_ids), "eos")
        if self._control.get(token_id) in self._stop:
            return self._completion(decode(self._tokenizer, self.token_ids), "stop")
        if len(self.token_ids) >= self.request.max_new_tokens:
            return self._completion(decode(self._tokenizer, self.token_ids), "length")
        return None

    def _tail(self) -> str:
        # Every token but a control token adds at least one byte, so a stop string completed now lies in this tail.
        tail: list[int] = []
        for token_id in reversed(self.token_ids):
            if token_id not in self._control:
                tail.append(token_id)
                if len(tail) == self._tail_tokens:
                    break
        return decode(self._tokenizer, tail[::-1])

    def _stopped(self, text: str) -> bool:
        return any(stop in text for stop in self._stop)

    def _completion(self, text: str, reason: str, error: str | None = None) -> Completion:
        cuts = [position for stop in self._stop if (position := text.find(stop)) >= 0]
        if cuts:
            # Also when the end came first by another rule: no stop string is ever part of a text.
            text, reason = text[: min(cuts)], "stop"
        return Completion(self.request.row_id, self.token_ids, text, reason, error)  # type: ignore[arg-type]


class Limits(Protocol):
    """The part of a loaded model that bounds requests."""

    vocabulary: int
    context: int | None


def check_requests(requests: Iterable[Request], decoding: Decoding, limits: Limits) -> list[Request]:
    """Return the requests as a list if an engine can run every one of them.

    Raises
    ------
    ConfigError
        If `decoding` contradicts itself.
    ModelError
        Naming the row, for the mistakes listed at `Engine.generate`.
    """
    decoding.check()
    checked: list[Request] = []
    seen: set[str] = set()
    for request in requests:
        row = request.row_id
        if row in seen:
            raise ModelError("this row was asked twice in one call", row=row, expected="each row_id once")
        if request.max_new_tokens < 1:
            raise ModelError(f"max_new_tokens is {request.max_new_tokens}", row=row, expected="at least 1")
        if decoding.method == "sampling" and request.seed is None:
            raise ModelError("sampling needs a seed for every row", row=row)
        check_prompt(request, limits, request.max_new_tokens)
        seen.add(row)
        checked.append(request)
    return checked


def check_prompt(request: Request, limits: Limits, new_tokens: int) -> None:
    """Refuse a prompt that is empty, holds unknown ids, or does not fit the context with its new tokens."""
    row, tokens = request.row_id, request.token_ids
    if not tokens:
        raise ModelError("the prompt has no tokens", row=row, expected="at least one token")
    if min(tokens) < 0 or max(tokens) >= limits.vocabulary:
        raise ModelError("the model lacks a token id of the prompt", row=row, expected=f"0 to {limits.vocabulary - 1}")
    if limits.context is not None and len(tokens) + new_tokens > limits.context:
        raise ModelError(
            f"{len(tokens)} prompt tokens and {new_tokens} new ones do not fit the model's context",
            row=row,
            expected=f"at most {limits.context} tokens together",
            remedy="shorten or truncate the prompt, or lower max_new_tokens",
        )
