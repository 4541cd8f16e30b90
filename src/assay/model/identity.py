"""Who a model is: what the lock declares about it, and the check of what is really there."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from assay.canonical import bytes_digest, canonical_bytes, digest
from assay.config.models import MODELS_FILE, Embedded, Endpoint, Gguf, Hub, ModelEntry, Tiny
from assay.errors import ConfigError, ModelError
from assay.model.cache import TINY_BUILDER, Cache, contents, model_folder
from assay.model.files import known_digest
from assay.model.folder import VOCABULARIES, check_folder
from assay.model.loading import decoder_config
from assay.model.tiny import CONTEXT, N_LAYERS, WIDTH

_PATTERNS = (
    "*.safetensors",
    "*.json",
    "*.jinja",
    "additional_chat_templates/*.jinja",
    *VOCABULARIES,
)
# Keys in which a library only writes about itself; they change no answer.
_REMARKS = ("transformers_version", "_name_or_path", "name_or_path")

Parts = Literal["all", "tokenizer"]


def lock_entry(entry: ModelEntry, cache: Cache | None = None) -> dict[str, Any]:
    """Return what the lock declares about a model.

    Local models: the sha256 of every file that decides an answer (weights, tokenizer, template, configs; JSON files
    by their canonical content without remarks of the library that wrote them), the hub revision, and the digests of
    GGUF file and wheels. The tiny model: seed and version of its builder. Endpoints: address, served name, and what
    the server reports about itself.

    Raises
    ------
    ModelError
        If the weights are not on this machine, or the model cache no longer holds what was put there.
    ConfigError
        If the registry says another shape than the model has.
    EndpointError
        If the server does not answer or does not serve the model.
    """
    cache = cache or Cache()
    source = entry.source
    if isinstance(source, Endpoint):
        from assay.model.endpoint import report

        return {"kind": "endpoint", "url": source.url, "served_name": source.served_name, **report(entry)}
    if isinstance(source, Tiny):
        _compare(entry, N_LAYERS, WIDTH, CONTEXT)
        return {"kind": "tiny", "seed": source.seed, "builder": TINY_BUILDER}
    folder = model_folder(entry, cache)
    locked: dict[str, Any] = {"kind": source.kind, "files": file_digests(folder)}
    match source:
        case Hub():
            locked |= {"repo": source.repo, "revision": source.revision}
        case Embedded() | Gguf():
            _check_filled(entry, folder)
            locked |= contents(folder)["origin"]
    check_declared(entry, folder)
    return locked


def check_declared(entry: ModelEntry, folder: Path) -> None:
    """Check that layers, width and context in the registry are those of the model's config; reads no weights.

    Raises
    ------
    ConfigError
        About the first that is not.
    """
    if (entry.layers, entry.width, entry.context) != (None, None, None):
        own = decoder_config(folder)
        names = ("num_hidden_layers", "hidden_size", "max_position_embeddings")
        _compare(entry, *(getattr(own, name, None) for name in names))


def _compare(entry: ModelEntry, layers: int | None, width: int | None, context: int | None) -> None:
    # Layers choose the window of states, all three stand in plans and reports: none may be silently another number.
    for key, declared, own in (("layers", entry.layers, layers), ("width", entry.width, width)):
        if None not in (declared, own) and declared != own:
            raise _misdeclared(entry, key, declared, f"{own}, as in the model's config")
    if entry.context is not None and context is not None and entry.context > context:
        raise _misdeclared(entry, "context", entry.context, f"at most the model's own {context}")


def _misdeclared(entry: ModelEntry, key: str, declared: int | None, expected: str) -> ConfigError:
    return ConfigError(
        f"the registry says {key} {declared}, which the model does not have",
        file=MODELS_FILE,
        key=f"models.{entry.name}.{key}",
        expected=expected,
        remedy="correct it, or source where it names another model than meant",
    )


def model_identity(locked: Mapping[str, Any]) -> str:
    """Return the digest of a locked model as it stands in row keys.

    The same files are the same model wherever they came from.
    """
    if "files" in locked:
        return digest("model", {"files": locked["files"]})
    return digest("model", dict(locked))


def file_digests(folder: Path) -> dict[str, str]:
    """Return name and digest of every file of a model folder that decides an answer, sorted by name."""
    check_folder(folder)
    return {name: content_digest(folder / name) for name in _deciding(folder)}


def _deciding(folder: Path) -> list[str]:
    found = {path for pattern in _PATTERNS for path in folder.glob(pattern) if path.is_file()}
    return sorted(path.relative_to(folder).as_posix() for path in found if not path.name.startswith("."))


def content_digest(path: Path) -> str:
    """Return a file's digest; that of JSON objects is of their canonical content without the library's remarks."""
    if path.suffix == ".json":
        try:
            value = json.loads(path.read_bytes())
            if isinstance(value, dict):
                kept = {key: inner for key, inner in value.items() if key not in _REMARKS}
                return bytes_digest(canonical_bytes(kept))
        except (ValueError, RecursionError):  # no JSON, or without a canonical form: NaN, endless nesting
            pass
    return known_digest(path)


def check_against_lock(entry: ModelEntry, locked: Mapping[str, Any], cache: Cache, parts: Parts = "all") -> Path:
    """Check a local model against the lock and return its folder.

    Parameters
    ----------
    parts : {"all", "tokenizer"}
        `tokenizer` leaves the weights out, for callers that only need token ids.

    Raises
    ------
    ModelError
        About the first difference: another source, a missing, changed or additional file.
    ConfigError
        If the registry says another shape than the model has.
    """
    _check_source(entry, locked)
    folder = model_folder(entry, cache)
    if isinstance(entry.source, Tiny):
        # Its bytes may differ between torch versions, so the lock holds none; the cache knows what was built here.
        _check_filled(entry, folder)
        check_declared(entry, folder)
        return folder
    declared = _declared_files(entry, locked)
    for name in sorted(declared):
        if parts == "tokenizer" and name.endswith(".safetensors"):
            continue
        path = folder / name
        if not path.is_file():
            raise _differs(entry, folder, name, "the file is missing", f"sha256 {declared[name][:12]}")
        found = content_digest(path)
        if found != declared[name]:
            what = f"the file is not the locked one: sha256 {found[:12]}"
            raise _differs(entry, folder, name, what, f"sha256 {declared[name][:12]}")
    for name in sorted(set(_deciding(folder)) - set(declared)):
        raise _differs(entry, folder, name, "the lock does not know this file", "the locked files only")
    check_declared(entry, folder)
    return folder


def _declared_files(entry: ModelEntry, locked: Mapping[str, Any]) -> dict[str, str]:
    files = locked.get("files")
    if not isinstance(files, Mapping) or not all(isinstance(value, str) for value in files.values()):
        raise ModelError(
            f"the lock names no files of {entry.name}",
            file="configs/lock.yaml",
            key=f"models.{entry.name}.files",
            expected="file name -> sha256",
            remedy=f"run `assay lock {entry.name}`",
        )
    return dict(files)


def _check_source(entry: ModelEntry, locked: Mapping[str, Any]) -> None:
    source = entry.source
    declared: dict[str, Any] = {"kind": source.kind}
    match source:
        case Hub():
            declared |= {"repo": source.repo, "revision": source.revision}
        case Embedded():
            declared |= {"gguf_sha256": source.sha256}
        case Gguf() if source.path.is_file():
            declared |= {"gguf_sha256": known_digest(source.path)}  # before another file would be converted
        case Tiny():
            declared |= {"seed": source.seed, "builder": TINY_BUILDER}
        case Endpoint():
            declared |= {"url": source.url, "served_name": source.served_name}
    for key, value in declared.items():
        if locked.get(key) != value:
            raise ModelError(
                f"{entry.name} has {key} {value!r}, locked is {locked.get(key)!r}",
                file="configs/lock.yaml",
                key=f"models.{entry.name}.{key}",
                remedy=f"run `assay lock {entry.name}`, which makes it another model",
            )


def _check_filled(entry: ModelEntry, folder: Path) -> None:
    """Check that a folder of the model cache still is what was made there."""
    for name, declared in sorted(contents(folder)["files"].items()):
        path = folder / name
        if not path.is_file() or known_digest(path) != declared:
            raise ModelError(f"{entry.name} is damaged in the model cache", file=path, remedy=_restoring(entry, folder))


def _restoring(entry: ModelEntry, folder: Path) -> str:
    match entry.source:
        case Embedded():
            return f"delete {folder} and run `assay fetch --models {entry.name}`"
        case Hub():  # the folder of a revision only points to files that revisions share
            return f"delete {folder.parents[1]} and run `assay fetch --models {entry.name}`"
        case Gguf() | Tiny():
            return f"delete {folder}; it is built again"
        case _:
            return "restore it"


def _differs(entry: ModelEntry, folder: Path, name: str, what: str, expected: str) -> ModelError:
    return ModelError(
        what,
        file=folder / name,
        key=entry.name,
        expected=expected,
        remedy=f"{_restoring(entry, folder)}, or run `assay lock {entry.name}`, which makes it another model",
    )
