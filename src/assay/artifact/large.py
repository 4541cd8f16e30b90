"""Artifacts of the large stages on another disk: `ASSAY_LARGE` names a folder there.

The stage's folder is then a link. What is in the making stands on the same disk, because a finished artifact gets
its name by one rename, and so does the stage's attic.
"""

import contextlib
import os
from pathlib import Path

from assay.artifact.recipe import ATTIC, RESULTS
from assay.artifact.stages import STAGES
from assay.canonical import digest
from assay.errors import ConfigError

VARIABLE = "ASSAY_LARGE"
WORK = Path(".work")
_LARGE_WORK = WORK / "large"


def place_large_stages(root: Path) -> None:
    """Link the folders of large stages to the other disk, where the variable is set and they do not exist yet.

    Folders that hold artifacts already stay where they are.

    Raises
    ------
    ConfigError
        If the variable names no folder that can be written, or a link of an earlier call leads nowhere.
    """
    links = [place / name for name, stage in STAGES.items() if stage.large for place in (RESULTS, ATTIC)]
    for link in (*links, _LARGE_WORK):
        if (root / link).is_symlink() and not (root / link).is_dir():
            raise ConfigError(
                f"it is a link to {(root / link).readlink()}, and there is no folder",
                file=link,
                expected="the folder that an earlier call linked",
                remedy="mount the disk, or remove the link and compute what it held again",
            )
    named = os.environ.get(VARIABLE)
    if not named:
        return
    disk = Path(named).expanduser().resolve()
    if not disk.is_dir():
        raise ConfigError(
            f"{named} is no folder", key=VARIABLE, expected="a folder on another disk", remedy="make it, or unset it"
        )
    project = root.resolve()
    home = disk / f"{project.name}-{digest('project', str(project))[:8]}"
    for link in (*links, _LARGE_WORK):
        path = root / link
        with contextlib.suppress(OSError):
            path.rmdir()  # if it is empty
        if not os.path.lexists(path):
            target = home / str(link).lstrip(".")
            try:
                target.mkdir(parents=True, exist_ok=True)
                path.parent.mkdir(parents=True, exist_ok=True)
                with contextlib.suppress(FileExistsError):  # another process was quicker
                    path.symlink_to(target)
            except OSError as error:
                raise ConfigError(
                    f"no link to {target} can be made ({error.strerror})",
                    file=link,
                    key=VARIABLE,
                    expected="a folder that can be written, in a project that can be written",
                    remedy="change their rights, name another folder, or unset it",
                ) from error


def workspace(root: Path, stage: str) -> Path:
    """Return the folder for what is in the making, on the disk on which the stage's artifacts are."""
    return root / (_LARGE_WORK if (root / RESULTS / stage).is_symlink() else WORK)


def require_one_disk(work: Path, final: Path) -> None:
    """Refuse, before anything is computed, to make an artifact on another disk than the one it will lie on.

    Raises
    ------
    ConfigError
        If the folder of the stage was put on another disk by a link, and the workspace was not.
    """
    place = final
    while not place.exists():
        place = place.parent
    if place.stat().st_dev != work.stat().st_dev:
        raise ConfigError(
            f"it is on another disk than {work}",
            file=place,
            expected="one disk, since a finished artifact gets its name by one rename",
            remedy=f"make {work.name} a link to a folder on that disk, or use {VARIABLE} for the large stages",
        )
