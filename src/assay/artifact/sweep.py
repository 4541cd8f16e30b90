"""Moving artifacts that the present plan does not use out of `results/`, where reuse still finds them."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from assay.artifact.manifest import MANIFEST
from assay.artifact.recipe import ATTIC, RESULTS, Plan
from assay.artifact.stages import STAGES
from assay.artifact.store import set_aside


@dataclass(frozen=True)
class Swept:
    """Folders that moved, relative to the project."""

    artifacts: list[Path] = field(default_factory=list)
    """To the attic."""
    damaged: dict[Path, Path] = field(default_factory=dict)
    """Folders without a manifest, which are no artifacts -> where they went."""


def sweep(root: Path, plan: Plan, stages: Iterable[str] = ()) -> Swept:
    """Move unplanned artifacts to the attic; return what moved.

    A folder without a manifest is no artifact; it goes to `.work/damaged/`, unless it is empty and is removed.
    """
    wanted = {planned.folder for planned in plan.values()}
    swept = Swept()
    for stage in stages or STAGES:
        for folder in sorted((root / RESULTS / stage).glob("*/*")):
            relative = folder.relative_to(root)
            if relative in wanted or not folder.is_dir():
                continue
            if not (folder / MANIFEST).is_file():
                if any(folder.iterdir()):
                    swept.damaged[relative] = set_aside(folder, root).relative_to(root)
                else:
                    folder.rmdir()
                continue
            target = root / ATTIC / folder.relative_to(root / RESULTS)
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                shutil.rmtree(target)  # the same key has the same bytes; the newer copy stays
            shutil.move(folder, target)  # perhaps to another disk
            swept.artifacts.append(relative)
        for item in sorted((root / RESULTS / stage).glob("*")):
            if item.is_dir() and not any(item.iterdir()):
                item.rmdir()
    return swept
