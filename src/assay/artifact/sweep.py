"""Moving artifacts that the present plan does not use out of `results/`, where reuse still finds them."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from assay.artifact.manifest import MANIFEST
from assay.artifact.recipe import ATTIC, RESULTS, Plan
from assay.artifact.stages import STAGES
from assay.artifact.store import set_aside


def sweep(root: Path, plan: Plan, stages: Iterable[str] = ()) -> list[Path]:
    """Move unplanned artifacts to the attic; return the folders that moved, relative to the project.

    A folder without a manifest is no artifact; it goes to `.work/damaged/`, unless it is empty and is removed.
    """
    wanted = {planned.folder for planned in plan.values()}
    moved = []
    for stage in stages or STAGES:
        for folder in sorted((root / RESULTS / stage).glob("*/*")):
            relative = folder.relative_to(root)
            if relative in wanted or not folder.is_dir():
                continue
            if not (folder / MANIFEST).is_file():
                folder.rmdir() if not any(folder.iterdir()) else set_aside(folder, root)
                continue
            target = root / ATTIC / folder.relative_to(root / RESULTS)
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                shutil.rmtree(target)  # the same key has the same bytes; the newer copy stays
            folder.rename(target)
            moved.append(relative)
        for item in sorted((root / RESULTS / stage).glob("*")):
            if item.is_dir() and not any(item.iterdir()):
                item.rmdir()
    return moved
