"""List the artifacts of the experiment; `--write` records their keys for DVC."""

import argparse
import json
from collections import Counter


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--experiment", help="another experiment than configs/experiment.yaml chooses")
    parser.add_argument("--write", action="store_true", help="write the keys to results/plan/")
    parser.add_argument("--json", action="store_true", help="one JSON object per artifact")
    parser.add_argument("--code", action="store_true", help="also list the code closure of every function")


def run(args: argparse.Namespace) -> int:
    """Print the plan, or write its keys."""
    from assay.plan import open_project, write_keys

    project = open_project(experiment=args.experiment)
    if args.write:
        changed = write_keys(project)
        print("keys changed: " + (", ".join(changed) or "none"))
        if note := project.configs.left_out:
            print(note)
        return 0
    for planned in project.plan.values():
        if args.json:
            row = {
                "stage": planned.job.stage,
                "item": planned.job.item,
                "key": planned.key,
                "path": str(planned.folder),
            }
            print(json.dumps(row | {"exists": (project.root / planned.manifest).is_file(), "own": planned.own}))
            continue
        print(planned.folder)
        if args.code:
            print("".join(f"    {module}\n" for module in planned.own["code"]), end="")
    if not args.json:
        counts = Counter(stage for stage, _ in project.plan)
        print(f"# {len(project.plan)} artifacts: " + ", ".join(f"{n} {stage}" for stage, n in counts.items()))
        print("# snakemake -n shows which of them are missing")
        if note := project.configs.left_out:
            print(f"# {note}")
        budget = project.configs.experiment.budget
        for name, seconds in project.estimated.items():
            limit = f" of {budget[name]:,}" if name in budget else ""
            print(f"# roughly {seconds:,.0f}{limit} CPU-seconds of models: {name}")
    return 0
