"""What the row store keeps of one answer, and the key under which it stands there."""

import functools
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from assay.canonical import digest
from assay.errors import ArtifactError
from assay.model.engine import ROW_VERSION, Decoding
from assay.records.jsonl import read_rows
from assay.records.rows import FinishReason, GenerationRow

KIND = "generations"


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One finished answer, without anything about who asked.

    Attributes
    ----------
    n_prompt_tokens : int or None
        As an endpoint counted them; local models know before.
    served, fingerprint : str
        Model and system fingerprint that an endpoint reported with the answer.
    stopped : bool
        Whether an endpoint's answer is known to have ended at a stop string.
    """

    text: str
    n_new_tokens: int
    finish_reason: FinishReason
    n_prompt_tokens: int | None = None
    served: str = ""
    fingerprint: str = ""
    stopped: bool = False

    def to_bytes(self) -> bytes:
        """Return the bytes that the store keeps."""
        return msgspec.json.encode(self, order="sorted")


def read_answer(data: bytes, key: str) -> Answer:
    """Return a stored answer.

    Raises
    ------
    ArtifactError
        If the bytes are no answer (a store written by other code).
    """
    try:
        return msgspec.json.decode(data, type=Answer)
    except msgspec.DecodeError as error:
        raise ArtifactError(
            f"the row store holds something else than an answer: {error}", row=key, remedy="delete .assay/rows.sqlite"
        ) from error


def row_key(
    model: str, engine: Mapping[str, Any], decoding: Decoding, prompt: str, sample_index: int, seed: int | None
) -> str:
    """Return the key of an answer: everything that decided its bytes, the actual environment included.

    Parameters
    ----------
    model : str
        `assay.model.identity.model_identity` of the lock entry.
    engine : dict
        Identity of the engine: name, version, batch rule, attention, dtype, versions, device, instruction set. Added
        here for engines of this process: the library that makes text of tokens and, with a seed, the one that draws.
    prompt : str
        Digest of the prompt's token ids; for endpoints, of the prompt itself.
    seed : int or None
        Derived seed; None with greedy decoding.
    """
    return digest(
        "generation",
        {
            "row_version": ROW_VERSION,
            "model": model,
            "engine": dict(engine),
            **({} if engine.get("engine") == "endpoint" else _libraries(seed is not None)),
            "decoding": msgspec.to_builtins(decoding),
            "prompt": prompt,
            "sample_index": sample_index,
            "seed": seed,
        },
    )


@functools.cache
def _libraries(sampling: bool) -> dict[str, str]:
    # Reading versions takes longer than everything else that is done for a row.
    return {name: version(name) for name in ("tokenizers", *(("numpy",) if sampling else ()))}


def finished_rows(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield key and bytes of every answer in the `generations.jsonl` of a finished artifact."""
    for row in read_rows(path, GenerationRow):
        if row.finish_reason != "error":
            answer = Answer(row.text, row.n_new_tokens, row.finish_reason, row.n_prompt_tokens)
            yield row.row_key, answer.to_bytes()
