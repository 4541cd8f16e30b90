"""Import, diagnose and score SOPBench trajectories."""

import argparse
import csv
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    probe = commands.add_parser("diagnostic", help="fixture counts of the protocol component; no model score")
    probe.add_argument("--seed", type=int, default=42, help="seed of the traces (default: 42)")
    probe.add_argument("--json", action="store_true", help="print the document of this seed")
    rates = commands.add_parser("pass-rates", help="recompute published pass rates from replays")
    rates.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of replays and pass_rates.csv")
    taken = commands.add_parser("import", help="score the authors' trajectory files under both profiles")
    taken.add_argument("folder", type=Path, metavar="OUTPUT_DIR", help="folder with one folder per domain")
    taken.add_argument("--cards", choices=("list", "map"), default="list", help="card dialect of the bank")
    taken.add_argument("--verdicts", type=Path, metavar="FILE", help="write every verdict to this JSON Lines file")
    tasks = commands.add_parser("tasks", help="print generated tasks as JSON Lines")
    tasks.add_argument("--domain", required=True, help="such as bank; docs/sopbench.md lists them")
    tasks.add_argument("--seed", type=int, default=0, help="another seed gives other tasks (default: 0)")
    tasks.add_argument("--succeed", type=int, default=5, help="tasks that should be carried out (default: 5)")
    tasks.add_argument("--refuse", type=int, default=5, help="tasks that should be refused (default: 5)")


def run(args: argparse.Namespace) -> int:
    """Run a subcommand."""
    return {"diagnostic": _diagnostic, "pass-rates": _pass_rates, "import": _import, "tasks": _tasks}[args.action](args)


def _diagnostic(args: argparse.Namespace) -> int:
    from assay.sopbench.component import document
    from assay.sopbench.diagnostic import diagnostic

    result = diagnostic(args.seed)
    if args.json:
        sys.stdout.write(document([result]).decode())
        return 0 if result.sound else 1
    print(f"sopbench-protocol, seed {result.seed}: {result.label}")
    for count in result.categories:
        checks = ", ".join(f"{name} {number}" for name, number in sorted(count.failed_checks.items()))
        why = f"  failed checks: {checks}" if checks else ""
        print(f"{count.category:38} {count.expected}: {count.accepted:3} accepted {count.rejected:3} rejected{why}")
    print("sound: every trace was judged as it was built" if result.sound else "NOT SOUND")
    return 0 if result.sound else 1


def _pass_rates(args: argparse.Namespace) -> int:
    from assay.sopbench.reports import pass_rates

    writer = csv.writer(sys.stdout, lineterminator="\n")
    columns = ("domain", "model", "mode", "tool_list", "user", "cards", "n", "percent", "reference", "published")
    writer.writerow([*columns, "agrees", "remark"])
    total = disagreeing = 0
    for found in pass_rates(args.data):
        total += 1
        disagreeing += not found.agrees
        values = [getattr(found, name) for name in columns]
        shown = ["" if value is None else value for value in values]
        writer.writerow([*shown, "yes" if found.agrees else "NO", found.remark])
    print(f"{total - disagreeing} of {total} files agree with the reference", file=sys.stderr)
    return 1 if disagreeing else 0


def _import(args: argparse.Namespace) -> int:
    from assay.cli.disk import require_place
    from assay.records.jsonl import write_rows
    from assay.sopbench.importing import other_files
    from assay.sopbench.reports import Importer

    require_place(args.verdicts, "--verdicts")
    importer = Importer(args.cards)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    columns = ("domain", "model", "mode", "tool_list", "user", "content_dialect", "card_dialect", "n", "n_without")
    counted = ("n_repeated", "n_runs", "n_stored", "n_differing")
    writer.writerow([*columns, *counted, "upstream_percent", "corrected_percent"])
    for file in importer.files(args.folder):
        percents = [file.percent[profile] for profile in ("upstream", "corrected")]
        shown = ["" if percent is None else percent for percent in percents]
        writer.writerow([*(getattr(file, name) for name in (*columns, *counted)), *shown])
    if others := other_files(args.folder):
        print(f"left out, not named like trajectories: {', '.join(map(str, others))}", file=sys.stderr)
    if args.verdicts:
        write_rows(args.verdicts, importer.verdicts)
        print(f"{len(importer.verdicts)} verdicts in {args.verdicts}", file=sys.stderr)
    return 0


def _tasks(args: argparse.Namespace) -> int:
    from assay.records.jsonl import row_bytes
    from assay.sopbench.building import TaskSettings, task_rows

    settings = TaskSettings("generated", [args.domain], args.seed, args.succeed, args.refuse)
    for row in task_rows(settings):
        sys.stdout.write(row_bytes(row).decode())
    return 0
