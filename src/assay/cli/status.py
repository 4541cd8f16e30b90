"""Show what is current, what is missing, and the first component of each key that differs."""

import argparse
import json
from collections import Counter


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--experiment", help="another experiment than configs/experiment.yaml chooses")
    parser.add_argument("--json", action="store_true", help="one JSON object per artifact")
    parser.add_argument("--all", action="store_true", help="list current artifacts too")


def run(args: argparse.Namespace) -> int:
    """Print one line per artifact that is not current, and the counts."""
    from assay.artifact.explain import status
    from assay.plan import open_project

    project = open_project(experiment=args.experiment)
    counts: Counter[str] = Counter()
    for planned in project.plan.values():
        found = status(project.root, planned)
        counts[found.state] += 1
        if args.json:
            row = {"stage": planned.job.stage, "item": planned.job.item, "key": planned.key}
            print(json.dumps(row | {"state": found.state, "reason": found.reason}))
        elif found.state != "current" or args.all:
            reason = f"  ({found.reason})" if found.reason else ""
            print(f"{found.state:9} {planned.folder}{reason}")
    if not args.json:
        print(", ".join(f"{counts[state]} {state}" for state in ("current", "changed", "upstream", "missing")), end="")
        print(f", {counts['damaged']} damaged" if counts["damaged"] else "")
        if note := project.configs.left_out:
            print(note)
    return 0
