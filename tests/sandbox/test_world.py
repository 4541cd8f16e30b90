import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from assay.config.executions import Executions
from assay.errors import ConfigError, SandboxError
from assay.sandbox import plans, world
from assay.sandbox.executor import Executor
from assay.sandbox.records import Request

NAMES = Executions().distributions


def test_requirements_come_with_a_distribution():
    found = world.closure(("sympy", "pandas"))
    assert {"sympy", "mpmath", "pandas", "numpy", "python-dateutil", "six"} <= set(found)
    assert "pytest" not in found


def test_a_missing_distribution_is_named():
    with pytest.raises(ConfigError, match="no-such-distribution"):
        world.closure(("no-such-distribution",))


def test_every_listed_module_is_visible_and_nothing_else(run):
    code = (
        "import os, sys\nsite = [p for p in sys.path if p.endswith('-packages')][0]\nprint(*sorted(os.listdir(site)))"
    )
    visible = set(run(code).stdout.decode().split())
    assert visible == {package.name for package in world.packages(NAMES)}


@pytest.mark.parametrize("name", ["numpy", "sympy", "scipy", "pandas", "networkx", "z3"])
def test_an_allowed_module_can_be_imported(run, name):
    record = run(f"import {name}\nprint({name}.__name__)", time_s=60)
    assert record.stdout == f"{name}\n".encode(), record.stderr


@pytest.mark.parametrize("name", ["assay", "msgspec", "pydantic", "pytest", "torch", "yaml", "psutil"])
def test_another_module_does_not_exist(run, name):
    assert b"ModuleNotFoundError" in run(f"import {name}").stderr


def test_versions_are_visible_for_allowed_distributions_only(run):
    code = "import importlib.metadata as m\nprint(*sorted(d.name.lower() for d in m.distributions()))"
    assert "numpy" in run(code).stdout.decode().split()
    assert "assay" not in run(code).stdout.decode().split()


def test_files_that_no_record_names_are_strays(tmp_path):
    package = tmp_path / "p"
    (package / "sub").mkdir(parents=True)
    (package / "__pycache__").mkdir()
    (package / "foreign" / "deep").mkdir(parents=True)
    for name in ("a.py", "sub/b.py", "canary.txt", "sub/other.py", "__pycache__/a.pyc", "foreign/deep/x"):
        (package / name).touch()
    found = world._strays("p", str(package), {"p/a.py", "p/sub/b.py"})
    assert found == tuple(str(package / name) for name in ("canary.txt", "foreign", "sub/other.py"))


def test_a_stray_is_left_out_of_what_may_be_read(tmp_path):
    for name in ("a/x.py", "a/stray.py", "b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    covered = plans._without(str(tmp_path), (str(tmp_path / "a/stray.py"),))
    assert covered == [str(tmp_path / "a/x.py"), str(tmp_path / "b.py")]


def test_the_runtime_names_no_path_of_this_machine():
    version = world.find_interpreter(None).version
    facts = str(world.runtime_facts(NAMES, version, ("numpy",), None))
    for path in (sys.prefix, sys.base_prefix, str(Path.home()), str(Path(__file__).parent)):
        assert path not in facts


def test_the_runtime_changes_with_what_shows_in_outputs():
    version = world.find_interpreter(None).version
    base = world.runtime_id(NAMES, version, ("numpy",), None)
    assert base == world.runtime_id(NAMES, version, ("numpy",), None)
    others = [
        world.runtime_id(("numpy",), version, ("numpy",), None),
        world.runtime_id(NAMES, "3.11.0", ("numpy",), None),
        world.runtime_id(NAMES, version, (), None),
        world.runtime_id(NAMES, version, ("numpy",), 1),
    ]
    assert len({base, *others}) == 5


def test_the_versions_in_the_runtime_are_those_seen_inside(run):
    seen = run("import numpy, sympy\nprint(numpy.__version__, sympy.__version__)").stdout.decode().split()
    assert seen == [importlib.metadata.version(name) for name in ("numpy", "sympy")]


def test_a_temporary_folder_that_cannot_be_written_is_named(monkeypatch):
    monkeypatch.setattr(plans.tempfile, "gettempdir", lambda: "/proc")
    with pytest.raises(SandboxError, match=r"/proc.*TMPDIR"):
        plans.Slot()


def test_a_folder_is_free_when_the_last_process_that_uses_it_has_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(plans.tempfile, "gettempdir", lambda: str(tmp_path))
    first = plans.Slot()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[first.lock]):  # as the watcher of a snippet
        first.close()
        second = plans.Slot()
        second.close()
    third = plans.Slot()
    third.close()
    assert [slot.number for slot in (first, second, third)] == [0, 1, 0]


def test_a_folder_that_is_emptied_by_its_last_user_too_closes_without_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(plans.tempfile, "gettempdir", lambda: str(tmp_path))
    slot = plans.Slot()
    monkeypatch.setattr(plans.linux, "empty_folder", lambda path: Path(path, "late").mkdir())
    slot.close()
    monkeypatch.undo()
    monkeypatch.setattr(plans.tempfile, "gettempdir", lambda: str(tmp_path))
    again = plans.Slot()
    assert sorted(path.name for path in again.folder.iterdir()) == ["box"]
    again.close()


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_than_on_linux_it_says_so(monkeypatch, platform):
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(SandboxError, match=f"{platform}.*Linux"):
        plans.refuse_elsewhere()


def test_a_stray_that_went_away_since_it_was_seen_stops_nothing(settings, monkeypatch):
    seen = world.packages

    def with_ghosts(names):
        ghosts = ("/gone.txt", "/gone/deeper.txt")
        return tuple(
            world.Package(p.name, p.source, (*p.strays, *(p.source + ghost for ghost in ghosts))) for p in seen(names)
        )

    monkeypatch.setattr(world, "packages", with_ghosts)
    with Executor(settings, workers=1) as executor:
        result = executor.execute([Request(b"import numpy\nprint(numpy.add(1, 1))")])[0]
    assert (result.final.payload.kind, result.final.stdout) == ("ok", b"2\n")
