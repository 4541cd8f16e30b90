"""Check this installation against vectors: one suite, one or more files."""

import argparse
import importlib
from pathlib import Path

from assay.cli.arguments import seconds
from assay.errors import DataError

# Suite -> function(files, data, limit_s) -> iterator of assay.records.conformance.Case
SUITES = {
    "fks-scorer": "assay.fks.conformance:scorer",
    "fks-clusters": "assay.fks.conformance:clusters",
    "fks-prompts": "assay.fks.conformance:prompts",
    "fks-metrics": "assay.fks.conformance:metrics",
    "symbench": "assay.symbench.conformance:verdicts",
    "sopbench-replays": "assay.sopbench.conformance:replays",
    "sopbench-traces": "assay.sopbench.conformance:traces",
    "sandbox": "assay.sandbox.conformance:cases",
    "sandbox-fidelity": "assay.sandbox.conformance:fidelity",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("suite", choices=SUITES, metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="vectors of that suite")
    parser.add_argument("--data", type=Path, help="folder of companion files (default: the folder of the first file)")
    parser.add_argument("--limit", type=seconds, metavar="SECONDS", help="time limit of one execution")


def run(args: argparse.Namespace) -> int:
    """Print each disagreement and the counts; return 0 only if nothing failed."""
    from assay.canonical import file_digest

    for path in args.files:
        if not path.is_file():
            raise DataError("the file does not exist", file=path, expected=f"vectors of the suite {args.suite}")
        print(f"{file_digest(path)}  {path}")
    module, _, name = SUITES[args.suite].partition(":")
    cases = getattr(importlib.import_module(module), name)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in cases(args.files, args.data or args.files[0].parent, args.limit):
        counts[case.outcome] += 1
        if case.outcome == "failed":
            print(f"FAILED {case.id}: expected {case.expected}, got {case.got} ({case.why})")
        elif case.outcome == "skipped":
            print(f"SKIPPED {case.id}: {case.why}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0
