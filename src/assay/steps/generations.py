"""Generations: one answer of a model for every prompt and sample, in the order of the prompts."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from assay.canonical import file_digest
from assay.config.files import validate
from assay.config.models import PromptPolicy
from assay.model.engine import Decoding
from assay.model.generate import generate_rows
from assay.model.store import RowStore
from assay.records.jsonl import write_rows
from assay.records.rows import PromptRow
from assay.records.step import StepContext
from assay.steps.common import require_unique
from assay.steps.loaded import model_of


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of a generations job.

    `model` is what of the registry's entry decides bytes; `chat` and `policy` (of long prompts) stand before the
    entry's own where a benchmark's protocol fixes them; `accept_failures` rows may fail and are then counted.
    """

    model: dict[str, Any]
    decoding: Decoding
    seed: int
    samples: int = 1
    chat: bool | None = None
    policy: dict[str, Any] | None = None
    accept_failures: int = 0


def run(context: StepContext) -> None:
    """Ask the model for what is not stored yet, and write the rows in input order."""
    settings = msgspec.convert(context.config, Settings)
    entry, locked = model_of(context, settings.model)
    with RowStore(context.store, job=f"{context.stage}.{context.item}") as store:
        rows = generate_rows(
            context.inputs.one("prompts").rows("prompts.jsonl", PromptRow),
            entry,
            settings.decoding,
            store=store,
            locked=locked,
            seed=settings.seed,
            samples=settings.samples,
            chat=settings.chat,
            policy=None if settings.policy is None else validate(PromptPolicy, settings.policy, "the job's policy"),
            finished=finished_rows(context.root),
            accept_failures=settings.accept_failures,
            label=context.item,
            facts=context.facts,
        )
    count = write_rows(context.out / "generations.jsonl", rows)
    context.facts["rows"] = {"generations.jsonl": count}
    require_unique(context, "generations.jsonl", "row_id")


def finished_rows(root: Path) -> Iterator[Path]:
    """Yield the rows of finished artifacts, newest first: they count as stored. Damaged ones are left out."""
    found = []
    for place in ("results", ".attic"):
        for path in (root / place / "generations").glob("*/*/generations.jsonl"):
            with suppress(FileNotFoundError):  # somebody sweeps meanwhile
                found.append((-path.stat().st_mtime_ns, path))
    for _, path in sorted(found):
        try:
            manifest = msgspec.json.decode((path.parent / "manifest.json").read_bytes())
            sound = manifest["files"][path.name]["sha256"] == file_digest(path)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # `assay verify` reports it
        if sound:
            yield path
