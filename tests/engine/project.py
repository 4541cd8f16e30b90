"""A throw-away copy of this project with the toy benchmark, driven as a user would drive it."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OVERLAY = Path(__file__).resolve().parent / "overlay"
PARTS = (
    "src", "configs", "workflow", "profiles", "Snakefile", "dvc.yaml", ".dvcignore", ".gitignore", "constraints.txt",
    "pyproject.toml", "results/.gitignore", "results/README.md", ".dvc/config", ".dvc/.gitignore",
)  # fmt: skip
TABLE = ("snakemake", "--cores", "2", "results/table.csv")
BIN = Path(sys.executable).parent
# What surrounds the tests must not reach a project: another checkout's git, another disk, somebody's folders.
FOREIGN = ("SNAKEMAKE", "PYTEST", "ASSAY", "DVC", "GIT", "XDG")


class Result:
    """What a command did."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code = done.returncode
        self.text = done.stdout + done.stderr


class Project:
    """A project folder. `made` tells which artifacts a command computed and which it linked."""

    def __init__(self, folder: Path, cache: Path, **environment: str) -> None:
        self.folder = folder
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)},
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(folder / "src"),
            "ASSAY_CACHE": str(cache),
            "HOME": str(cache),  # no user configuration of any tool
            "GIT_CONFIG_NOSYSTEM": "1",
            # Git tidies up behind one's back, while the folder is being copied.
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "maintenance.auto", "GIT_CONFIG_VALUE_0": "false",
            "DVC_SITE_CACHE_DIR": str(folder.parent / "dvc"),  # else one folder for the whole machine
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
            **environment,
        }  # fmt: skip

    @classmethod
    def create(cls, folder: Path, cache: Path, **environment: str) -> "Project":
        """Copy the project, add the toy benchmark by one line in the plan's list, and choose it."""
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.pyc", ".mypy_cache", ".ruff_cache")
        for part in PARTS:
            source, target = ROOT / part, folder / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=ignore)
            else:
                shutil.copy2(source, target)
        shutil.copytree(OVERLAY, folder, dirs_exist_ok=True, ignore=ignore)
        project = cls(folder, cache, **environment)
        project.edit("src/assay/plan.py", "BENCHMARKS = {", 'BENCHMARKS = {\n    "toy": "assay.toy.pipeline",')
        project.edit("configs/experiment.yaml", "use: quickstart", "use: toy")
        return project

    def git(self) -> "Project":
        """Make the folder a git and DVC repository with one commit."""
        self.call("git", "init", "-q")
        self.call("git", "add", "-A")
        self.call("git", "commit", "-qm", "start")
        return self

    def run(self, *command: str, **environment: str) -> Result:
        """Run a command in the folder, whatever it returns."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment | environment, capture_output=True, text=True, timeout=3600
        )
        return Result(done)

    def call(self, *command: str, **environment: str) -> str:
        """Run a command that must succeed; return what it printed."""
        result = self.run(*command, **environment)
        assert result.code == 0, f"{' '.join(command)} -> {result.code}\n{result.text}"
        return result.text

    def made(self, *command: str) -> Counter[str]:
        """Run a command and count what it computed or linked, as "how stage item"."""
        log = self.folder / "logs" / "made.jsonl"
        before = len(log.read_bytes().splitlines()) if log.exists() else 0
        self.call(*command)
        lines = log.read_bytes().splitlines()[before:] if log.exists() else []
        rows = [json.loads(line) for line in lines]
        return Counter(f"{row['how']} {row['stage']} {row['item']}" for row in rows if row["how"] != "present")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that must occur once."""
        text = (self.folder / path).read_text()
        assert text.count(old) == 1, f"{path} holds {text.count(old)} times {old!r}"
        (self.folder / path).write_text(text.replace(old, new))

    def artifacts(self) -> dict[str, bytes]:
        """Return all bytes under results/ apart from envelopes, notes and DVC's plan files."""
        base = self.folder / "results"
        return {
            path.relative_to(base).as_posix(): path.read_bytes()
            for path in sorted(base.rglob("*"))
            if path.is_file()
            and path.name not in {"envelope.json", ".gitignore", "README.md"}
            and "plan" not in path.relative_to(base).parts[:1]
        }


def with_weights(project: Project) -> Project:
    """Add a model whose weights are a plain folder in the project, and lock both models."""
    registry = project.folder / "configs/models.yaml"
    entry = "\n  copied:\n    title: A local folder\n    source: {kind: folder, path: weights/copied}\n    workers: 1\n"
    registry.write_text(registry.read_text() + entry)
    project.edit("configs/models.yaml", "    title: Tiny random Llama, seed 0\n", "    title: Tiny\n    workers: 1\n")
    (project.folder / ".gitignore").write_text((project.folder / ".gitignore").read_text() + "/weights/\n")
    build = "from pathlib import Path; from assay.model.tiny import build_tiny; build_tiny(Path('weights/copied'), 7)"
    (project.folder / "weights").mkdir()
    project.call(sys.executable, "-c", build)
    project.call("assay", "lock", "tiny-a", "copied")
    return project


def copy(project: Project, folder: Path) -> Project:
    """Copy a whole project folder with everything that was made in it; files keep their times."""
    shutil.copytree(project.folder, folder, symlinks=True)
    return Project(folder, Path(project.environment["ASSAY_CACHE"]))
