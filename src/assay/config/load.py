"""All configs of one experiment, read and checked once."""

import contextlib
import functools
import importlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config.experiment import Choice, Experiment
from assay.config.files import Strict, merge, read_yaml, unknown_key, validate
from assay.config.lock import Lock, read_lock
from assay.config.table import TableConfig
from assay.errors import ConfigError

if TYPE_CHECKING:
    from assay.config.executions import Executions
    from assay.config.fks import FksConfig
    from assay.config.models import ModelEntry
    from assay.config.sopbench import SopbenchConfig
    from assay.config.symbench import SymbenchConfig

CHOICE_FILE = Path("configs/experiment.yaml")
# Written by `assay fetch` where an optional model's weights cannot be had on this machine.
ABSENT_FILE = Path(".assay/absent_models.json")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")


@dataclass(frozen=True)
class Configs:
    """Everything that a plan is computed from, besides code and constraints.

    Sections are loaded on first use, so a project that leaves a benchmark out never reads its config.
    """

    root: Path
    name: str
    experiment: Experiment
    lock: Lock

    @functools.cached_property
    def models(self) -> "dict[str, ModelEntry]":
        """The registry, by name."""
        from assay.config.models import read_registry

        return dict(read_registry(self.root))

    @functools.cached_property
    def absent_models(self) -> tuple[str, ...]:
        """Optional models that this machine could not fetch."""
        names = read_absent(self.root)
        return tuple(name for name in self.experiment.optional_models if name in names)

    @property
    def model_names(self) -> list[str]:
        """The models of the experiment that are not left out, in its order."""
        return [name for name in self.experiment.models if name not in self.absent_models]

    @property
    def left_out(self) -> str | None:
        """A sentence about the models that are left out, or None: what is not in the table must be told."""
        names = ", ".join(self.absent_models)
        return (
            f"left out, since its weights could not be fetched: {names}; `assay fetch` tries again" if names else None
        )

    def model(self, name: str, file: str | None = None, key: str = "models") -> "ModelEntry":
        """Return a registry entry; an unknown name is an error that lists near ones.

        Parameters
        ----------
        file, key : str
            Where the name stands, if it is not a model of the experiment.
        """
        if name not in self.models:
            raise unknown_key(key, name, self.models, file or f"configs/experiments/{self.name}.yaml")
        return self.models[name]

    def section(self, kind: type[Strict], name: str, over: dict[str, Any] | None = None) -> Any:
        """Return `configs/<name>.yaml` with the experiment's overrides as a config model."""
        file = Path(f"configs/{name}.yaml")
        base = read_yaml(self.root / file)
        validate(kind, base, file)  # a mistake in the base file is reported there, not as the experiment's
        over = self.experiment.benchmarks.get(name, {}) if over is None else over
        try:
            return validate(kind, merge(base, over), file)
        except ConfigError as error:  # the base file alone is right
            key = (self._override(name)[0], *([] if error.key is None else [error.key]))
            error.file, error.key = f"configs/experiments/{self.name}.yaml", ".".join(key)
            raise

    def where(self, section: str, *key: str) -> dict[str, str]:
        """Return `file` and `key` of a setting for an error: those of the experiment, where it overrides the setting.

        Parameters
        ----------
        section : str
            A benchmark, or `executions`.
        key : str
            Its parts, the outer ones first.
        """
        place, over = self._override(section)
        for part in key:
            if not isinstance(over, Mapping):
                break  # what stands above the setting was replaced as a whole
            if part not in over:
                return {"file": f"configs/{section}.yaml", "key": ".".join(key)}
            over = over[part]
        return {"file": f"configs/experiments/{self.name}.yaml", "key": ".".join((place, *key))}

    @contextlib.contextmanager
    def naming(self, section: str, *key: str) -> Iterator[None]:
        """Give an error about a setting, from code that does not know where it stands, its file and key."""
        try:
            yield
        except ConfigError as error:
            error.file, error.key = self.where(section, *key).values()
            raise

    def _override(self, section: str) -> tuple[str, Any]:
        """Return where an experiment overrides a section, and with what."""
        if section in ("table", "executions"):
            return section, getattr(self.experiment, section)
        return f"benchmarks.{section}", self.experiment.benchmarks.get(section, {})

    @functools.cached_property
    def table(self) -> TableConfig:
        """Layout of the published table."""
        return self.section(TableConfig, "table", self.experiment.table)  # type: ignore[no-any-return]

    @functools.cached_property
    def executions(self) -> "Executions":
        """Sandbox policy and limits."""
        from assay.config.executions import Executions

        return self.section(Executions, "executions", self.experiment.executions)  # type: ignore[no-any-return]

    @functools.cached_property
    def fks(self) -> "FksConfig":
        """The FKS section with the experiment's overrides."""
        from assay.config.fks import FksConfig

        return self.section(FksConfig, "fks")  # type: ignore[no-any-return]

    @functools.cached_property
    def symbench(self) -> "SymbenchConfig":
        """The SymBench section with the experiment's overrides."""
        from assay.config.symbench import SymbenchConfig

        return self.section(SymbenchConfig, "symbench")  # type: ignore[no-any-return]

    @functools.cached_property
    def sopbench(self) -> "SopbenchConfig":
        """The SOPBench section with the experiment's overrides."""
        from assay.config.sopbench import SopbenchConfig

        return self.section(SopbenchConfig, "sopbench")  # type: ignore[no-any-return]

    def benchmark(self, name: str) -> Any:
        """Return the section of any benchmark: `assay.config.<name>` and its class `<Name>Config`."""
        module = importlib.import_module(f"assay.config.{name}")
        return self.section(getattr(module, f"{name.capitalize()}Config"), name)


def load_configs(root: Path, experiment: str | None = None) -> Configs:
    """Read the chosen experiment and the lock of a project.

    Parameters
    ----------
    root : Path
        The project folder.
    experiment : str, optional
        Name of an experiment; by default the one that `configs/experiment.yaml` chooses.
    """
    name = validate(Choice, read_yaml(root / CHOICE_FILE), CHOICE_FILE).use if experiment is None else str(experiment)
    file = Path(f"configs/experiments/{name}.yaml")
    # The name becomes part of paths and of command lines.
    if not _NAME.match(name) or not (root / file).is_file():
        known = sorted(path.stem for path in (root / "configs/experiments").glob("*.yaml"))
        where = CHOICE_FILE if experiment is None else Path("configs/experiments")
        raise unknown_key("use" if experiment is None else "experiment", name, known, where)
    chosen = validate(Experiment, read_yaml(root / file), file)
    stray = [name for name in chosen.optional_models if name not in chosen.models]
    if stray:
        raise ConfigError(
            f"{stray[0]!r} is optional but not among the models",
            file=file,
            key="optional_models",
            expected="names that also stand under models",
            remedy="add it there, or take it away here",
        )
    configs = Configs(root=root, name=name, experiment=chosen, lock=read_lock(root))
    for model in chosen.models:
        configs.model(model)
    return configs


def read_absent(root: Path) -> list[str]:
    """Return the models that `assay fetch` could not have on this machine.

    Raises
    ------
    ConfigError
        If the file that says so is spoiled.
    """
    path = root / ABSENT_FILE
    try:
        names = json.loads(path.read_bytes()) if path.is_file() else []
    except ValueError as error:
        raise ConfigError(
            "the file is spoiled", file=ABSENT_FILE, remedy="delete it, and run `assay fetch` again"
        ) from error
    return names if isinstance(names, list) else []
