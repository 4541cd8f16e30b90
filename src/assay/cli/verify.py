"""Check every byte of the planned artifacts and published copies, or of what a pin names."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    checked = parser.add_mutually_exclusive_group()
    checked.add_argument("--experiment", help="another experiment than configs/experiment.yaml chooses")
    checked.add_argument("--pin", metavar="NAME", help="check a pin instead of the plan")


def run(args: argparse.Namespace) -> int:
    """Print every problem; return 0 only if there is none."""
    from pathlib import Path

    from assay.artifact.verify import verify_plan, verify_published

    note = None
    if args.pin is not None:
        from assay.report.pin import verify_pin

        problems = list(verify_pin(Path.cwd(), args.pin))
        checked = f"pin {args.pin}"
    else:
        from assay.plan import open_project

        project = open_project(experiment=args.experiment)
        problems = [*verify_plan(project.root, project.plan), *verify_published(project.root, project.published)]
        checked = f"{len(project.plan)} artifacts and {len(project.published)} published files"
        note = project.configs.left_out
    for problem in problems:
        print(f"{problem.path}: {problem.what}")
    print(f"{checked}: {len(problems)} problems")
    if note:
        print(note)
    return 1 if problems else 0
