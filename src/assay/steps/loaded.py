"""A loaded model for steps that need more of it than its answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.config.models import Endpoint, ModelEntry, choose, read_registry
from assay.errors import ConfigError, ModelError
from assay.model.cache import Cache
from assay.model.identity import check_against_lock
from assay.model.slots import Slot
from assay.records.step import StepContext

if TYPE_CHECKING:
    from pathlib import Path

    from assay.model.loading import LoadedModel

_OVERHEAD_BYTES = 1 << 30


def model_of(context: StepContext, decisive: dict[str, Any]) -> tuple[ModelEntry, dict[str, Any]]:
    """Return the registry's entry and the lock's entry of the model that a job describes."""
    name = decisive["name"]
    entry = choose(read_registry(context.root), [name])[0]
    if entry.decisive() != decisive:
        raise ConfigError("the registry's entry changed since planning", key=name, remedy="run the command again")
    return entry, context.locked[f"models/{name}"]


@contextmanager
def loaded_model(context: StepContext, decisive: dict[str, Any]) -> Iterator[tuple[ModelEntry, "Path", "LoadedModel"]]:
    """Check a model against the lock, wait for a machine-wide slot, and load it in this process.

    Raises
    ------
    ModelError
        For an endpoint, which shows no states.
    """
    entry, locked = model_of(context, decisive)
    if isinstance(entry.source, Endpoint):
        raise ModelError(f"{entry.name} is an endpoint, which shows no states", remedy="switch states off for it")
    folder = check_against_lock(entry, locked, Cache())
    weights = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    slot = Slot.take(weights + _OVERHEAD_BYTES, context.item)
    try:
        from assay.model.loading import load

        sizes = {"batch_size": entry.engine.batch_size} if entry.engine.batch_size else {}
        model = load(folder, entry.dtype, entry.device, entry.engine.kind, **sizes)
        # Other files may have taken the places of the checked ones before the model was loaded.
        check_against_lock(entry, locked, Cache())
        if reason := model.fallback or model.states_refusal:
            context.facts["fallback"] = reason
        yield entry, folder, model
    finally:
        slot.release()
