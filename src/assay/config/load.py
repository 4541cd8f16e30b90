"""All configs of one experiment, read and checked once."""

import functools
import importlib
import json
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
        path = self.root / ABSENT_FILE
        names = json.loads(path.read_text()) if path.is_file() else []
        return tuple(name for name in self.experiment.optional_models if name in names)

    @property
    def model_names(self) -> list[str]:
        """The models of the experiment that are not left out, in its order."""
        return [name for name in self.experiment.models if name not in self.absent_models]

    def model(self, name: str) -> "ModelEntry":
        """Return a registry entry; an unknown name is an error that lists near ones."""
        if name not in self.models:
            raise unknown_key("models", name, self.models, f"configs/experiments/{self.name}.yaml")
        return self.models[name]

    def section(self, kind: type[Strict], name: str, over: dict[str, Any] | None = None) -> Any:
        """Return `configs/<name>.yaml` with the experiment's overrides as a config model."""
        file = Path(f"configs/{name}.yaml")
        base = read_yaml(self.root / file)
        validate(kind, base, file)  # a mistake in the base file is reported there, not as the experiment's
        over = self.experiment.benchmarks.get(name, {}) if over is None else over
        return validate(kind, merge(base, over), f"configs/experiments/{self.name}.yaml" if over else file)

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
    name = experiment or validate(Choice, read_yaml(root / CHOICE_FILE), CHOICE_FILE).use
    file = Path(f"configs/experiments/{name}.yaml")
    if not (root / file).is_file():
        known = sorted(path.stem for path in (root / "configs/experiments").glob("*.yaml"))
        raise unknown_key("use", name, known, CHOICE_FILE)
    chosen = validate(Experiment, read_yaml(root / file), file)
    stray = [name for name in chosen.optional_models if name not in chosen.models]
    if stray:
        raise ConfigError(f"{stray[0]!r} is optional but not among the models", file=file, key="optional_models")
    configs = Configs(root=root, name=name, experiment=chosen, lock=read_lock(root))
    for model in chosen.models:
        configs.model(model)
    return configs
