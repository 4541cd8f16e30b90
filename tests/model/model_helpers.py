"""What several tests of the model layer need."""

from pathlib import Path
from typing import Any

from assay.config.models import ModelEntry
from assay.model.cache import Cache
from assay.model.engine import Decoding
from assay.model.generate import ModelSession
from assay.model.identity import lock_entry
from assay.model.store import RowStore
from assay.records.rows import GenerationRow, PromptRow

GREEDY = Decoding(max_new_tokens=8)
SAMPLING = Decoding(method="sampling", temperature=1.0, max_new_tokens=8)


def entry(source: dict[str, Any] | None = None, name: str = "tiny-a", **fields: Any) -> ModelEntry:
    """Return a registry entry, by default the tiny model of seed 0."""
    source = source or {"kind": "tiny", "seed": 0}
    return ModelEntry.model_validate({"name": name, "title": name, "source": source, **fields})


def texts(count: int) -> list[PromptRow]:
    """Return prompts of many lengths."""
    return [PromptRow.of_text(f"q{i}", f"{i} " + "The capital of Austria is "[: 2 + i % 23]) for i in range(count)]


def ask(
    folder: Path, model: ModelEntry, cache: Cache, prompts: list[PromptRow], decoding: Decoding = GREEDY, **options: Any
) -> tuple[list[GenerationRow], dict[str, Any]]:
    """Generate with a store in `folder`; return rows and facts."""
    session_options = {k: options.pop(k) for k in ("finished", "accept_failures", "backend", "locked") if k in options}
    locked = session_options.pop("locked", None) or lock_entry(model, cache)
    with RowStore(folder, layout="shared") as store, ModelSession(model, locked, store, cache, **session_options) as s:
        rows = s.generate(prompts, decoding, **options)
        return rows, s.facts()


def remote(url, **source):
    fields = {key: source.pop(key) for key in ("chat_template", "price", "context") if key in source}
    source = {"kind": "endpoint", "url": url, "served_name": "tiny", "attempts": 3} | source
    return entry(source, "remote", **fields)
