"""Fetch the published data of a benchmark into a folder of this project."""

import argparse
import importlib
from pathlib import Path

# Benchmark -> function(source, out, companion) -> iterator of lines to print.
FETCHERS = {
    "symbench": "assay.symbench.fetch:fetch",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True)
    fetch = actions.add_parser("fetch", help="fetch, convert and check published data")
    fetch.add_argument("benchmark", choices=FETCHERS)
    fetch.add_argument("--from", dest="source", metavar="SOURCE", help="local folder or mirror instead of the original")
    fetch.add_argument("--out", type=Path, metavar="DIR", help="where to write (default: data/BENCHMARK)")
    fetch.add_argument(
        "--with",
        dest="companion",
        type=Path,
        metavar="FILE",
        help="a file that the source lacks (symbench: path_plan_environments.json)",
    )


def run(args: argparse.Namespace) -> int:
    """Fetch, and print what was written."""
    out = args.out or Path("data") / args.benchmark
    module, _, name = FETCHERS[args.benchmark].partition(":")
    for line in getattr(importlib.import_module(module), name)(args.source, out, args.companion):
        print(line)
    print(f"written to {out}")
    return 0
