"""What a model folder must be before anything of it is locked or loaded: all weights in it, and nothing elsewhere."""

import json
from pathlib import Path
from typing import Any

from assay.errors import ModelError

VOCABULARIES = ("*.model", "*.txt", "*.tiktoken", "*.spm", "*.codes", "*.tokenizer")
"""Files of tokenizers, besides JSON."""
_WEIGHTS = "model.safetensors"
_REMEDY = "correct source.path in the registry, or fetch the model again"


def check_folder(folder: Path) -> None:
    """Check that a folder holds config and weights, and names no weights outside of it, which no lock would know.

    Raises
    ------
    ModelError
        About the first thing that is missing or elsewhere.
    """
    if not folder.is_dir():
        what = "this is no folder" if folder.exists() else "the model folder does not exist"
        raise ModelError(what, file=folder, remedy=_REMEDY)
    if not any(path.is_file() for path in folder.glob("*.safetensors")):
        raise ModelError(
            "the folder holds no weights",
            file=folder,
            expected="*.safetensors",
            remedy=f"{_REMEDY}; convert other formats first: pickled weights can run code, so they are not read",
        )
    if not (folder / "config.json").is_file():
        raise ModelError("the folder holds no config.json", file=folder, expected="a Hugging Face model folder")
    if (folder / "adapter_config.json").is_file():
        # Depending on what is installed, transformers would take the base model from there, or leave the adapter out.
        raise ModelError(
            "the folder holds an adapter, whose base model may be anywhere",
            file=folder / "adapter_config.json",
            expected="a whole model",
            remedy="merge the adapter into its base model and save that",
        )
    config = _json_object(folder / "config.json") or {}  # about another one, transformers has the better words
    endings = folder / "generation_config.json"
    if endings.is_file() and _json_object(endings) is None:
        # transformers would go on without its end tokens.
        raise ModelError("the file cannot be read", file=endings, expected="a JSON object", remedy=_REMEDY)
    named = config.get("transformers_weights", _WEIGHTS)
    _check_inside(folder / "config.json", "transformers_weights", named)
    for index in sorted(folder.glob("*.safetensors.index.json")):
        _check_shards(index, whole=(folder / _WEIGHTS).is_file())


def _check_shards(index: Path, *, whole: bool) -> None:
    shards = (_json_object(index) or {}).get("weight_map")
    if not isinstance(shards, dict):
        raise ModelError("the list of weights cannot be read", file=index, expected='{"weight_map": {tensor: file}}')
    for tensor, name in sorted(shards.items()):
        _check_inside(index, f"weight_map.{tensor}", name)
        if not whole and not (index.parent / name).is_file():
            raise ModelError(
                "the weights are not all there", file=index.parent / name, key=tensor, remedy="fetch the model again"
            )


def _check_inside(file: Path, key: str, name: Any) -> None:
    if not isinstance(name, str) or Path(name).name != name or ".safetensors" not in name:
        raise ModelError(
            f"weights are named that the lock does not cover: {name!r}",
            file=file,
            key=key,
            expected="the name of a safetensors file of this folder",
            remedy="move the weights there",
        )


def _json_object(path: Path) -> dict[str, Any] | None:
    """Return a JSON object, None for anything else."""
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
