"""Lens: the average Jacobians that carry a layer's states to the top layer, fitted on texts or fitted by others."""

from pathlib import Path
from typing import Any

import msgspec

from assay.errors import DataError
from assay.records.atomic import atomic_file
from assay.records.locked import require_locked
from assay.records.step import StepContext
from assay.steps.common import run_function
from assay.steps.loaded import loaded_model


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of a lens job: the model, the layers, and the fit's own settings."""

    model: dict[str, Any]
    layers: list[int]
    lens: dict[str, Any]


def run(context: StepContext) -> None:
    """Fit on the locked text file, or take a file of the project; finished prompts of an interrupted fit are kept."""
    if "file" in context.config:
        run_function(context)
        return
    settings = msgspec.convert(context.config, Settings)
    assert context.function is not None
    texts = [
        line for name, entry in context.locked.items() if name.startswith("data/") for line in _lines(context, entry)
    ]
    options = {key: value for key, value in settings.lens.items() if key != "texts"}
    with loaded_model(context, settings.model) as (entry, _, model):
        fit_settings = msgspec.convert(options, settings_type(context))
        lens = context.function(
            model.weights,
            fit_settings,
            texts=texts,
            layers=settings.layers,
            shards=context.shards,
            header={"model_id": entry.name},
        )
    with atomic_file(context.out / "lens.safetensors") as file:
        file.write(lens.to_bytes())


def settings_type(context: StepContext) -> Any:
    """Return the settings type that the fit's second parameter declares."""
    import inspect
    import typing

    function = inspect.unwrap(context.function)  # type: ignore[arg-type]
    return list(typing.get_type_hints(function).values())[1]


def _lines(context: StepContext, entry: dict[str, Any]) -> list[str]:
    lines = []
    for name, sha256 in entry["files"].items():
        path = context.root / name
        texts = read_texts(path)
        require_locked(path, sha256, "fks")
        lines += texts
    return lines


def read_texts(path: Path) -> list[str]:
    """Return the prompts of a text file, one a line, stripped; empty lines are left out.

    Raises
    ------
    DataError
        If the file is missing, not UTF-8, or empty.
    """
    expected = "a text file with one prompt a line, UTF-8"
    try:
        texts = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except FileNotFoundError as error:
        raise DataError("the file does not exist", file=path, key="lens.texts", expected=expected) from error
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8", file=path, key="lens.texts", expected=expected) from error
    if not texts:
        raise DataError("the file holds no text", file=path, key="lens.texts", expected=expected)
    return texts
