"""Record the digests of models and data in configs/lock.yaml."""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("names", nargs="*", help="models of configs/models.yaml (default: those of the experiment)")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; say what would change, exit 1 if anything"
    )


def run(args: argparse.Namespace) -> int:
    """Hash each named model once and write its entry."""
    from assay.config.load import load_configs
    from assay.config.lock import LOCK_FILE, write_entry
    from assay.model.identity import lock_entry

    configs = load_configs(Path.cwd())
    changed = 0
    named = {name: configs.model(name, "command line", "NAME") for name in args.names or configs.model_names}
    for name, model in named.items():
        entry = lock_entry(model)
        same = configs.lock.models.get(name) == entry
        changed += not same
        if not args.check and not same:
            write_entry(configs.root, f"models/{name}", entry)
        print(f"models/{name}: {'unchanged' if same else 'would change' if args.check else 'recorded'}")
    print(f"{changed} entries {'differ' if args.check else 'written to ' + str(LOCK_FILE)}")
    return 1 if args.check and changed else 0
