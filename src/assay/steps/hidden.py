"""Hidden: residual states at the last token of prompts, as safetensors shards in the order of the prompts."""

from typing import Any

import msgspec

from assay.config.files import validate
from assay.config.models import PromptPolicy
from assay.model.engine import Request
from assay.model.progress import Progress
from assay.model.prompting import Encoder
from assay.records.rows import PromptRow
from assay.records.step import StepContext
from assay.steps.common import require_same_rows
from assay.steps.loaded import loaded_model


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of a hidden job; see `assay.model.hidden_files.write_states`."""

    model: dict[str, Any]
    layers: list[int]
    top_state: str
    dtype: str
    rows_per_shard: int
    metadata_key: str
    header: dict[str, Any]
    policy: dict[str, Any] | None = None


def run(context: StepContext) -> None:
    """Write the states; shards that an interrupted run finished are kept."""
    settings = msgspec.convert(context.config, Settings)
    assert context.function is not None
    prompts = list(context.inputs.one("prompts").rows("prompts.jsonl", PromptRow))
    with loaded_model(context, settings.model) as (entry, folder, model):
        policy = None if settings.policy is None else validate(PromptPolicy, settings.policy, "the job's policy")
        encoded = Encoder(folder, entry).encode(prompts, 0, None, policy)
        requests = [Request(p.query_id, e.token_ids, 1) for p, e in zip(prompts, encoded, strict=True)]
        progress = Progress(context.item, len(requests))
        try:
            written = context.function(
                context.shards,
                model,
                requests,
                layers=settings.layers,
                top_state=settings.top_state,
                metadata_key=settings.metadata_key,
                header={"model_id": entry.name, **settings.header},
                dtype=settings.dtype,
                rows_per_shard=settings.rows_per_shard,
                progress=progress,
            )
        finally:
            progress.close()
    for path in sorted(context.shards.iterdir()):
        path.rename(context.out / path.name)
    context.facts["rows"] = {"index.jsonl": written}
    context.facts["truncated"] = sum(e.truncated for e in encoded)
    require_same_rows(context, "prompts", "prompts.jsonl", "index.jsonl", "query_id")
