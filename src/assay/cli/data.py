"""`assay data`: fetch published data of a benchmark, and record the digests of data files in the lock."""

import argparse
from pathlib import Path
from typing import Any


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    commands = parser.add_subparsers(dest="command", required=True)
    fetch = commands.add_parser("fetch", help="fetch the published files of a benchmark and record their digests")
    fetch.add_argument("benchmark", choices=["fks"])
    fetch.add_argument("--revision", required=True, help="commit of the repository, 40 hex digits")
    lock = commands.add_parser("lock", help="record the digests of data files that stand in the project")
    lock.add_argument("benchmark", choices=["fks"])
    for command, default in ((fetch, "card"), (lock, None)):
        command.add_argument("--dataset", default=default, help="name in configs/fks.yaml (lock: the experiment's)")
        command.add_argument("--renew", action="store_true", help="replace an entry that differs")


def run(args: argparse.Namespace) -> int:
    """Write the lock entries of the chosen dataset."""
    from assay.config.load import load_configs
    from assay.fks.datasets import data_name, fetch_published, lock_entries, with_dataset

    configs = load_configs(Path.cwd())
    config = configs.fks if args.dataset is None else with_dataset(configs.fks, args.dataset)
    if args.command == "fetch":
        entries = {data_name(config): fetch_published(configs.root, config, args.revision)}
    else:
        entries = dict(lock_entries(configs.root, config))
    if not entries:
        print(f"the dataset {config.dataset} reads no data files")
    for name, entry in entries.items():
        print(f"data/{name}: {record(configs.root, configs.lock.data.get(name), name, entry, args.renew)}")
    return 0


def record(root: Path, old: dict[str, Any] | None, name: str, entry: dict[str, Any], renew: bool) -> str:
    """Write one lock entry; what was recorded first holds until it is renewed.

    Raises
    ------
    ConfigError
        If another entry is recorded and `renew` is false.
    """
    from assay.config.lock import LOCK_FILE, write_entry
    from assay.errors import ConfigError

    if old is not None and old.get("files") == entry["files"]:
        entry = {**old, **entry}
    elif old is not None and not renew:
        changed = sorted(
            file for file in old["files"] | entry["files"] if old["files"].get(file) != entry["files"].get(file)
        )
        raise ConfigError(
            f"other files are recorded; {changed[0]} differs",
            file=LOCK_FILE,
            key=f"data/{name}",
            expected="the files that were recorded first",
            remedy="add --renew if the change is meant",
        )
    return "recorded" if write_entry(root, f"data/{name}", entry) else "unchanged"
