"""The engine's lock files go when nobody is at work, and only then."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CODE = (
    "import sys; from pathlib import Path; from assay.workflow import release_stale_locks\n"
    "print(release_stale_locks(Path(sys.argv[1])), flush=True); sys.stdin.read()"
)


class Engines:
    """Processes that have parsed the Snakefile and are still there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lock = root / ".snakemake/locks/0.input.lock"
        self._started: list[subprocess.Popen[str]] = []

    def start(self) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-c", CODE, str(self.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._started.append(process)
        return process, process.stdout.readline().strip()

    def leave_locks(self) -> None:
        self.lock.parent.mkdir(parents=True, exist_ok=True)
        self.lock.write_text("results/table.csv")

    def kill(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()


@pytest.fixture
def engines(tmp_path) -> Iterator[Engines]:
    found = Engines(tmp_path)
    yield found
    found.kill()


def test_locks_of_a_killed_run_are_removed(engines):
    run, alone = engines.start()
    assert alone == "True"
    engines.leave_locks()
    run.kill()
    run.wait()
    assert engines.start()[1] == "True"
    assert not engines.lock.exists()


def test_locks_of_a_run_that_began_beside_a_dry_run_stay_when_the_dry_run_is_over(engines):
    dry, _ = engines.start()
    assert engines.start()[1] == "False"
    engines.leave_locks()
    dry.communicate("")
    assert engines.start()[1] == "False"
    assert engines.lock.exists()
