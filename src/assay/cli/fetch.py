"""Fetch the embedded models that the experiment uses."""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--models", nargs="+", metavar="NAME", help="models of configs/models.yaml, all required")
    parser.add_argument("--experiment", help="another experiment than configs/experiment.yaml chooses")


def run(args: argparse.Namespace) -> int:
    """Fetch each model; leave out, with a line, those of the experiment that are optional and cannot be had."""
    from assay.config.load import ABSENT_FILE, load_configs, read_absent
    from assay.config.models import choose, read_registry
    from assay.model.cache import Cache
    from assay.model.fetch import REQUIREMENTS, UnavailableError, fetch
    from assay.records.jsonl import write_json

    root = Path.cwd()
    cache = Cache()
    if args.models:
        for entry in choose(read_registry(root), args.models, "--models"):
            if not fetch(entry, cache, root / REQUIREMENTS, _say):
                print(f"{entry.name}: present")
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
    path = root / ABSENT_FILE
    if absent or path.exists():
        write_json(path, absent)
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
