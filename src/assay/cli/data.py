"""Fetch the published data of a benchmark, and record the digests of data files in the lock."""

import argparse
from pathlib import Path
from typing import Any


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True)
    fetch = actions.add_parser("fetch", help="fetch, convert and check published data, and record it in the lock")
    fetch.add_argument("benchmark", choices=["fks", "symbench", "sopbench"])
    fetch.add_argument("--revision", help="fks: commit of the repository, 40 hex digits")
    fetch.add_argument("--from", dest="source", metavar="SOURCE", help="local folder or mirror instead of the original")
    fetch.add_argument("--out", type=Path, metavar="DIR", help="where to write (default: data/BENCHMARK)")
    fetch.add_argument(
        "--with",
        dest="companion",
        type=Path,
        metavar="FILE",
        help="a file that the source lacks (symbench: path_plan_environments.json)",
    )
    lock = actions.add_parser("lock", help="record the digests of data files that stand in the project")
    lock.add_argument("benchmark", choices=["fks", "symbench", "sopbench"])
    for action, otherwise in ((fetch, "card"), (lock, "the experiment's")):
        action.add_argument("--dataset", help=f"fks: name in configs/fks.yaml (default: {otherwise})")
        action.add_argument("--renew", action="store_true", help="replace an entry that differs")


def run(args: argparse.Namespace) -> int:
    """Fetch if asked to, print what was written, and write the lock entries."""
    from assay.config.lock import read_lock

    root = Path.cwd()
    _refuse_others(args)
    entries = _fks(args, root) if args.benchmark == "fks" else _folder(args)
    known = read_lock(root).data
    for name, entry in entries.items():
        print(f"data/{name}: {record(root, known.get(name), name, entry, args.renew)}")
    return 0


def _refuse_others(args: argparse.Namespace) -> None:
    """Refuse what only another benchmark reads: it must not be thought to have had an effect."""
    from assay.errors import ConfigError

    fetches = args.action == "fetch"
    others = {"--dataset": args.dataset} | ({"--revision": args.revision} if fetches else {})
    remedy = "the published data are named by --from" if fetches else "it has one set of data, which is locked whole"
    if args.benchmark == "fks":
        others = {"--from": args.source, "--out": args.out, "--with": args.companion} if fetches else {}
        remedy = "copy a local folder to data/fks-card and run `assay data lock fks --dataset card`"
    for name, value in others.items():
        if value is not None:
            raise ConfigError(f"{args.benchmark} has no {name}", key=name, remedy=remedy)


def _fks(args: argparse.Namespace, root: Path) -> dict[str, dict[str, Any]]:
    from assay.config.load import load_configs
    from assay.errors import ConfigError
    from assay.fks.datasets import data_name, fetch_published, lock_entries, with_dataset

    configs = load_configs(root)
    dataset = "card" if args.dataset is None and args.action == "fetch" else args.dataset
    config = configs.fks if dataset is None else with_dataset(configs.fks, dataset)
    if args.action == "fetch":
        if args.revision is None:
            raise ConfigError("no revision is named", key="--revision", expected="a commit, 40 hex digits")
        return {data_name(config): fetch_published(configs.root, config, args.revision)}
    entries = dict(lock_entries(configs.root, config))
    if not entries:
        print(f"the dataset {config.dataset} reads no data files")
    return entries


def _folder(args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Fetch into a folder of task files, and return its lock entry."""
    from assay.cli.disk import require_place
    from assay.errors import DataError

    out = (args.out if args.action == "fetch" else None) or Path("data") / args.benchmark
    if args.benchmark == "symbench":
        from assay.symbench.fetch import fetch
        from assay.symbench.published_samples import lock_entry as entry_of

        def entry() -> dict[str, Any]:
            return entry_of(out, sorted(path.stem for path in out.glob("*.jsonl")))
    else:
        from assay.sopbench.fetch import fetch
        from assay.sopbench.fetch import lock_entry as entry_of_tasks

        def entry() -> dict[str, Any]:
            return entry_of_tasks(out)

    if args.action == "fetch":
        require_place(out, "--out", folder=True)
        for line in fetch(args.source, out, args.companion):
            print(line)
        print(f"written to {out}")
    found = entry()
    if not found["files"]:
        raise DataError("the folder holds no task files", file=out, remedy=f"run `assay data fetch {args.benchmark}`")
    return {args.benchmark: found}


def record(root: Path, old: dict[str, Any] | None, name: str, entry: dict[str, Any], renew: bool) -> str:
    """Write one lock entry; a file that was recorded holds until it is renewed, others may join it.

    Raises
    ------
    ConfigError
        If another entry is recorded and `renew` is false.
    """
    from assay.config.lock import LOCK_FILE, write_entry
    from assay.errors import ConfigError

    changed = [] if old is None else sorted(f for f in old["files"] if old["files"][f] != entry["files"].get(f))
    if old is not None and not changed:
        entry = {**old, **entry}
    elif changed and not renew:
        raise ConfigError(
            f"other files are recorded; {changed[0]} differs",
            file=LOCK_FILE,
            key=f"data/{name}",
            expected="the files that were recorded first",
            remedy="add --renew if the change is meant",
        )
    return "recorded" if write_entry(root, f"data/{name}", entry) else "unchanged"
