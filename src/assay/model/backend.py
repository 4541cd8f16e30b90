"""The border between the row store and what makes answers: local engines and endpoints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from assay.config.models import PromptPolicy
from assay.model.answers import Answer
from assay.model.engine import Decoding
from assay.model.store import Failure, RowStore
from assay.records.rows import PromptRow


class Prepared(msgspec.Struct, frozen=True):
    """A prompt as a backend takes it.

    Attributes
    ----------
    sha256 : str
        Digest of the token ids; of the prompt itself where only a server knows them.
    n_tokens : int or None
        Length after truncation, None where only a server knows it.
    token_ids : list of int or None
        For local models.
    prompt : PromptRow or None
        For endpoints.
    longest : int or None
        Tokens that the prompt may have, where only a server's answer tells how many there are.
    """

    sha256: str
    n_tokens: int | None
    truncated: bool
    token_ids: list[int] | None = None
    prompt: PromptRow | None = None
    longest: int | None = None


class Task(msgspec.Struct, frozen=True):
    """One answer to make."""

    prepared: Prepared
    seed: int | None


class Backend(Protocol):
    """Makes answers; started only when some are not stored."""

    def prepare(
        self, prompts: Sequence[PromptRow], decoding: Decoding, chat: bool | None, policy: PromptPolicy | None
    ) -> list[Prepared]:
        """Return the prompts as this backend takes them, in order; see `Encoder.encode` for errors."""
        ...

    def identity(self, store: RowStore, tokens: int) -> dict[str, Any]:
        """Return the engine's identity; start it, for at most so many new tokens, only where unknown."""
        ...

    def start(self, store: RowStore, tokens: int) -> dict[str, Any]:
        """Be ready to make at most so many new tokens; return the identity that holds now."""
        ...

    def run(self, tasks: Mapping[str, Task], decoding: Decoding) -> Iterator[dict[str, Answer | Failure]]:
        """Yield batches of finished answers and failures by key, each key once."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return what the envelope should say about this backend."""
        ...

    def close(self) -> None:
        """Free memory, processes and connections."""
        ...
