"""What decides an execution is part of its recipe, and stored rows are not taken for those of another sandbox."""

import shutil
from pathlib import Path

import msgspec
import pytest

from assay.artifact.code import Source
from assay.canonical import digest
from assay.sandbox.launching import LAUNCHER, PROGRAMS
from assay.sandbox.records import Limits, Request
from assay.steps.executing import ROW_VERSION

SRC = Path(__file__).parent.parent.parent / "src"
INSIDE = sorted(path.stem for path in (SRC / "assay/sandbox/inside").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("root", ["assay.steps.executions", "assay.steps.rollouts", "assay.sandbox.executor"])
def test_the_programs_inside_belong_to_the_code_of_what_executes(root):
    found = Source(SRC).closure(root)
    assert {name for name in found if name.startswith("assay.sandbox.inside.")} == {
        f"assay.sandbox.inside.{name}" for name in INSIDE
    }


def test_every_program_inside_is_started_from_where_it_is_named():
    assert sorted(path.stem for path in (LAUNCHER, *PROGRAMS.values())) == INSIDE
    assert all(path.is_file() for path in (LAUNCHER, *PROGRAMS.values()))


@pytest.mark.parametrize("name", INSIDE)
def test_an_edit_of_a_program_inside_changes_the_recipe(tmp_path, name):
    shutil.copytree(SRC / "assay", tmp_path / "assay", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "assay/sandbox/inside" / f"{name}.py"
    before = Source(tmp_path).closure("assay.steps.executions")
    text = path.read_text()
    path.write_text(f"# a remark\n{text}")
    assert Source(tmp_path).closure("assay.steps.executions") == before
    path.write_text(f"{text}\nADDED = 1\n")
    after = Source(tmp_path).closure("assay.steps.executions")
    assert {module for module in after if after[module] != before[module]} == {f"assay.sandbox.inside.{name}"}


GOLDEN_PROGRAMS = (
    "print(1)",
    "print({1, 'a', (2, 3)}, hash('x'))",
    "import sys\nprint(sys.argv, sys.path[1:2], __file__)",
    "import os\nprint(sorted(os.environ.items()), os.getcwd(), os.getuid(), os.listdir('.'))",
    "import numpy as np\nprint(np.arange(6).reshape(2, 3))",
    "import sympy\nx = sympy.Symbol('x')\nprint(sympy.factor(x**2 - 1))",
    "import sympy\nprint({sympy.Dummy('x'), sympy.Dummy('y')}, sympy.Dummy('x').dummy_index)",
    "import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))",
    "def f():\n    1/0\nf()",
    "print('said')\nimport sys\nsys.exit(3)",
    "raise KeyboardInterrupt",
    "import os\nos.abort()",
    "x = bytearray(1 << 42)",
    "print('y' * 2000)",
    "import atexit\natexit.register(print, 'bye')\nprint(object().__class__)",
    "print('\\udcff')",
)


def test_what_the_sandbox_answers_has_not_changed(executor):
    if executor.probe.mechanism != "namespaces":
        pytest.skip("user and folders of the golden answers are those inside a namespace")
    requests = [Request(code, (None, "answer"), Limits(stdout_bytes=1500)) for code in GOLDEN_PROGRAMS]
    # The runtime's identity names versions of Python and packages, which may change without the sandbox.
    payloads = [
        msgspec.structs.replace(record.payload, runtime_id="")
        for result in executor.execute(requests)
        for record in result.attempts
    ]
    # Another digest: the sandbox answers otherwise, and stored rows of the old one would be taken for its own.
    found = digest("golden", msgspec.to_builtins(payloads))[:16]
    assert (ROW_VERSION, found) == (3, "96b14458e826b2e3"), "outputs changed: raise ROW_VERSION"
