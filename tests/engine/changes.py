"""Single changes of a project, and what each must recompute."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from project import Project

ITEMS = ["toy.copied.greedy", "toy.copied.sampled", "toy.tiny-a.greedy"]
TABLE = {"table main"}
# Benchmarks that the toy experiment leaves out still publish: their headers, and the protocol component.
HEADERS = {"metrics sopbench", "metrics sopbench-protocol", "metrics symbench"}


def of(stage: str, *parts: str) -> set[str]:
    """Return the items of a stage whose names hold all the parts."""
    return {f"{stage} {item}" for item in ITEMS if all(f".{part}." in f"{item}." for part in parts)}


def chain(*parts: str) -> set[str]:
    """Return generations and everything below them for the items that hold the parts."""
    return of("generations", *parts) | below(*parts)


def below(*parts: str) -> set[str]:
    """Return labels, metrics and the table."""
    return of("labels", *parts) | of("metrics", *parts) | TABLE


@dataclass(frozen=True)
class Change:
    """A change, the artifacts that get another recipe, and how many of those are computed rather than linked."""

    name: str
    apply: Callable[[Project], None]
    affected: set[str]
    computed: set[str] | None = None  # None: all of `affected`


def edit(path: str, old: str, new: str) -> Callable[[Project], None]:
    return lambda project: project.edit(path, old, new)


def overwrite_weights(project: Project) -> None:
    """Change one byte of the weights, and give the file its old size and times back."""
    path = project.folder / "weights/copied/model.safetensors"
    stat = path.stat()
    data = bytearray(path.read_bytes())
    data[-3] ^= 0x40
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    project.call("assay", "lock", "copied")


def other_library(project: Project) -> None:
    """Declare another scipy than the installed one, and say that this is meant."""
    text = (project.folder / "constraints.txt").read_text().splitlines()
    lines = ["scipy==1.0.0" if line.startswith("scipy==") else line for line in text]
    (project.folder / "constraints.txt").write_text("\n".join(lines) + "\n")
    project.edit("configs/experiments/toy.yaml", "benchmarks:", "allow_environment: true\nbenchmarks:")


def delete_labels(project: Project) -> None:
    shutil.rmtree(next(Path(project.folder / "results/labels/toy.tiny-a.greedy").iterdir()))


TOY = "configs/toy.yaml"
DEEP = "src/assay/toy/deep.py"
CHANGES = [
    Change("a sampling seed", edit(TOY, "sampled: 0", "sampled: 1"), chain("sampled")),
    # The same rows come out of the row store; what reads them is linked, but for the table, which names artifacts.
    Change(
        "a greedy seed", edit(TOY, "{greedy: 0", "{greedy: 1"), chain("greedy"), of("generations", "greedy") | TABLE
    ),
    Change(
        "a model's dtype",
        edit("configs/models.yaml", "source: {kind: folder,", "dtype: bfloat16\n    source: {kind: folder,"),
        chain("copied"),
    ),
    # The changed bit is in the last tensor and changes no text: new row keys, equal labels, so metrics are linked.
    Change(
        "weights bytes in place",
        overwrite_weights,
        chain("copied"),
        of("generations", "copied") | of("labels", "copied") | TABLE,
    ),
    Change("a decoding value", edit(TOY, "greedy, max_new_tokens: 5", "greedy, max_new_tokens: 3"), chain("greedy")),
    Change("the prompt template", edit(TOY, "legs of", "count legs of"), {"prompts toy"} | chain()),
    Change("a scorer rule", edit(TOY, "threshold: 2", "threshold: 9"), below()),
    Change("a helper two imports deep", edit(DEEP, "return sum", "return 1 + sum"), below()),
    Change(
        "the helper rewritten with the same meaning",
        edit(DEEP, "return sum", "return 0 + sum"),
        below(),
        of("labels") | TABLE,
    ),
    Change("a comment", edit(DEEP, "    return sum", "    # a remark\n\n    return sum"), set()),
    Change("a docstring", edit(DEEP, "depends on the whole", "hangs on the whole"), set()),
    Change(
        "one fact edited",
        edit(TOY, "object: four", "object: three-ish"),
        {"queries toy", "prompts toy"} | chain(),
        {"queries toy", "prompts toy"} | below(),
    ),
    Change(
        "one fact added",
        edit(TOY, "  - {subject: hen", "  - {subject: bee, object: six}\n  - {subject: hen"),
        {"queries toy", "prompts toy"} | chain(),
    ),
    Change(
        "facts in another order",
        edit(
            TOY,
            "  - {subject: ant, object: six}\n  - {subject: cat, object: four}\n",
            "  - {subject: cat, object: four}\n  - {subject: ant, object: six}\n",
        ),
        {"queries toy", "prompts toy"} | chain(),
        {"queries toy"} | TABLE,
    ),
    Change("a metric parameter", edit(TOY, "weight: 0.5", "weight: 0.25"), of("metrics") | TABLE),
    Change("the table's layout", edit("configs/table.yaml", "markdown_digits: 3", "markdown_digits: 2"), TABLE),
    Change("a pinned library version", other_library, of("metrics") | HEADERS | TABLE),
    Change("a deleted artifact", delete_labels, of("labels", "tiny-a", "greedy")),
    Change(
        "a model left out",
        edit("configs/experiments/toy.yaml", "models: [tiny-a, copied]", "models: [tiny-a]"),
        TABLE,
    ),
]
