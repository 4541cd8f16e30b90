"""Pinned revisions of a Hugging Face hub, in the model cache."""

import os
import subprocess
import sys
from pathlib import Path

from assay.config.models import Hub, ModelEntry
from assay.errors import ModelError
from assay.model.files import raise_full_disk
from assay.model.folder import VOCABULARIES
from assay.records.atomic import atomic_file

# No pickled weights, which can run code, and no code.
_WANTED = ["*.safetensors", "*.json", "*.jinja", *VOCABULARIES]

_OFFLINE = {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}


def snapshot(entry: ModelEntry, folder: Path) -> Path:
    """Return the folder of a revision that was downloaded completely.

    Parameters
    ----------
    folder : Path
        The hub's part of the model cache.
    """
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    source = _source(entry)
    if _complete(source, folder).is_file():
        try:
            return Path(
                huggingface_hub.snapshot_download(
                    source.repo, revision=source.revision, cache_dir=folder, local_files_only=True
                )
            )
        except LocalEntryNotFoundError:
            pass  # somebody tidied up
    raise ModelError(
        f"{source.repo} at {source.revision[:12]} is not in the model cache",
        file=folder,
        key=entry.name,
        remedy=f"run `assay fetch --models {entry.name}`",
    )


def download(entry: ModelEntry, folder: Path) -> None:
    """Download a revision; what an interrupted run had is kept.

    In a process of its own: the hub's library reads its offline switch once, and loading models sets it.

    Raises
    ------
    ModelError
        With the hub's reason.
    OSError
        If the disk is full.
    """
    source = _source(entry)
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "assay.model.hub", source.repo, source.revision, str(folder)]
    environment = {
        key: value for key, value in os.environ.items() if key not in {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}
    }
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise_full_disk(done.stderr)
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ModelError(
            f"{source.repo} at {source.revision[:12]} cannot be had: {reason}",
            key=entry.name,
            remedy="check the hub, the name, the revision and your access (HF_TOKEN)",
        )
    with atomic_file(_complete(source, folder)) as file:
        file.write(b"complete\n")


def _complete(source: Hub, folder: Path) -> Path:
    return folder / "complete" / f"{source.repo.replace('/', '--')}.{source.revision}"


def _source(entry: ModelEntry) -> Hub:
    assert isinstance(entry.source, Hub)
    return entry.source


def main(arguments: list[str]) -> int:
    """Download `REPO REVISION FOLDER`; on failure the last line of stderr says why."""
    import huggingface_hub

    repo, revision, folder = arguments
    try:
        huggingface_hub.snapshot_download(repo, revision=revision, cache_dir=folder, allow_patterns=_WANTED)
    except Exception as error:  # noqa: BLE001 - whatever the hub's library raises is the answer to the parent
        print(f"{type(error).__name__}: {' '.join(str(error).split())[:400]}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
