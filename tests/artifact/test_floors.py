"""The rooms of the package: imports only go down, and a benchmark knows no other."""

import ast
from pathlib import Path

import pytest

from assay.artifact.code import Source

SRC = Path(__file__).resolve().parents[2] / "src"
# Low to high. Rooms on one floor may not import each other. A room may be a single module: `report.table` is a function
# that a step calls, the rest of `report` reads the plan.
FLOORS = [
    {"canonical", "errors"},
    {"records"},
    {"config"},
    {"artifact", "stats"},
    {"model", "sandbox"},
    {"fks", "symbench", "sopbench", "budget", "report.markdown"},
    {"steps", "report.table"},
    {"plan"},
    {"report", "workflow"},
    {"cli"},
]
BENCHMARKS = {"fks", "symbench", "sopbench"}
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}


def room(module: str) -> str:
    rest = module.removeprefix("assay.")
    return rest if rest in LEVEL else rest.partition(".")[0]


def modules() -> list[str]:
    names = [p.relative_to(SRC).with_suffix("").as_posix().replace("/", ".") for p in (SRC / "assay").rglob("*.py")]
    return sorted(n for n in names if not n.endswith("__init__"))


@pytest.mark.parametrize("module", modules())
def test_imports_only_go_down(module):
    tree = ast.parse((SRC / (module.replace(".", "/") + ".py")).read_text())
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay"):
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names if a.name.startswith("assay.")]
        for name in names:
            here, there = room(module), room(name)
            assert here == there or LEVEL[there] < LEVEL[here], f"{module} imports {name}"
            # What a step imports is in the recipes of every benchmark that has the stage.
            assert here != "steps" or there not in BENCHMARKS, f"{module} imports {name}"


def test_package_files_hold_a_docstring_and_nothing_else():
    for path in (SRC / "assay").rglob("__init__.py"):
        body = ast.parse(path.read_text()).body
        assert len(body) == 1, path
        assert isinstance(body[0], ast.Expr), path


def test_every_module_can_be_walked():
    source = Source(SRC)
    for module in modules():
        assert module in source.closure(module)
