"""Fetch the embedded models that the experiment uses."""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--models", nargs="+", metavar="NAME", help="models of configs/models.yaml, all required")
    chosen.add_argument("--experiment", help="another experiment than configs/experiment.yaml chooses")


def run(args: argparse.Namespace) -> int:
    """Fetch each model; leave out, with a line, those of the experiment that are optional and cannot be had."""
    from assay.config.load import load_configs, read_absent
    from assay.config.models import choose, read_registry
    from assay.model.cache import Cache
    from assay.model.fetch import REQUIREMENTS, UnavailableError, fetch

    root = Path.cwd()
    cache = Cache()
    if args.models:
        for entry in choose(read_registry(root), args.models, "--models"):
            if not fetch(entry, cache, root / REQUIREMENTS, _say):
                print(f"{entry.name}: present")
        _note_absent(root, [name for name in read_absent(root) if name not in args.models])
        return 0
    configs = load_configs(root, args.experiment)
    # What only another experiment names stays as it was found.
    absent = [name for name in read_absent(root) if name not in configs.experiment.models]
    for name in configs.experiment.models:
        try:
            if not fetch(configs.model(name), cache, root / REQUIREMENTS, _say):
                print(f"{name}: present")
        except UnavailableError as error:
            if name not in configs.experiment.optional_models:
                raise
            absent.append(name)
            print(f"{name}: left out of this experiment ({error.message})")
    _note_absent(root, absent)
    return 0


def _note_absent(root: Path, absent: list[str]) -> None:
    """Record which models are left out of plans."""
    from assay.config.load import ABSENT_FILE, read_absent
    from assay.records.jsonl import write_json

    if set(absent) != set(read_absent(root)):
        print("the plan has changed: run snakemake, or `dvc repro --force plan` and `dvc repro`")
        write_json(root / ABSENT_FILE, absent)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
