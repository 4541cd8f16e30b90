"""Which data files an FKS config reads, and what the lock records of them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from assay.canonical import file_digest
from assay.config.fks import CardDataset, CsvDataset, FksConfig
from assay.errors import ConfigError, DataError
from assay.fks.loader import lock_entry

LENS_TEXTS = "fks-lens-texts"
PUBLISHED = "LucasLoading/stable"


def data_name(config: FksConfig) -> str:
    """Return the item of the chosen dataset, which is also its name in the lock."""
    return f"fks-{config.dataset}"


def lock_entries(root: Path, config: FksConfig) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name under "data/", entry) of everything that the config reads besides code and packages.

    Parameters
    ----------
    root : Path
        The project folder.

    Raises
    ------
    DataError
        If a file is missing.
    """
    chosen = config.chosen
    if isinstance(chosen, CardDataset):
        yield data_name(config), lock_entry(root / chosen.folder)
    elif isinstance(chosen, CsvDataset):
        names = [name for name in (chosen.file, chosen.templates) if name is not None]
        yield data_name(config), {"kind": "fks-csv", "files": {name: _digest(root, name) for name in names}}
    if config.lens.texts is not None:
        yield LENS_TEXTS, {"kind": "texts", "files": {config.lens.texts: _digest(root, config.lens.texts)}}
    for model, file in config.lens.imported.items():
        yield lens_name(model), {"kind": "fks-lens", "files": {file: _digest(root, file)}}


def lens_name(model: str) -> str:
    """Return the name in the lock of a model's imported lens."""
    return f"fks-lens-{model}"


def _digest(root: Path, name: str) -> str:
    if not (root / name).is_file():
        raise DataError("the file does not exist", file=name, expected="a path relative to the project")
    return file_digest(root / name)


def with_dataset(config: FksConfig, name: str) -> FksConfig:
    """Return the config with another of its datasets chosen.

    Raises
    ------
    ConfigError
        If there is none of this name.
    """
    if name not in config.datasets:
        known = "one of " + ", ".join(config.datasets)
        raise ConfigError(f"{name!r} is no dataset", file="configs/fks.yaml", key="datasets", expected=known)
    return config.model_copy(update={"dataset": name})


def fetch_published(
    root: Path, config: FksConfig, revision: str, download: Callable[..., str] | None = None
) -> dict[str, Any]:
    """Fetch the published files at a revision into the folder of the chosen `card` dataset.

    Parameters
    ----------
    revision : str
        Commit of the dataset's repository, 40 hex digits; branches and tags move.
    download : callable, optional
        Stands for `huggingface_hub.snapshot_download`.

    Returns
    -------
    dict
        The lock entry of the files, with repository and revision.

    Raises
    ------
    ConfigError
        If the chosen dataset is not a `card` dataset, or the revision is no commit.
    DataError
        If the hub cannot be reached or has no such revision.
    """
    chosen = config.chosen
    if not isinstance(chosen, CardDataset):
        raise ConfigError(
            f"the dataset {config.dataset!r} is not one of published files",
            file="configs/fks.yaml",
            key="dataset",
            expected="the name of a dataset with kind: card",
        )
    if len(revision) != 40 or not set(revision) <= set("0123456789abcdef"):
        raise ConfigError(f"{revision!r} is no commit", key="--revision", expected="40 hex digits")
    folder = root / chosen.folder
    _download(download, revision, folder)
    return lock_entry(folder) | {"repository": PUBLISHED, "revision": revision}


def _download(download: Callable[..., str] | None, revision: str, folder: Path) -> None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        (download or snapshot_download)(repo_id=PUBLISHED, repo_type="dataset", revision=revision, local_dir=folder)
    except (OSError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise DataError(
            f"{PUBLISHED} at {revision[:12]} cannot be fetched ({type(error).__name__})",
            file=folder,
            remedy="check the connection and the revision, or copy the files there and run `assay data lock fks`",
        ) from error
