"""Move artifacts that the plan does not use from results/ to the attic, where reuse still finds them."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("stages", nargs="*", help="stages to sweep (default: all)")


def run(args: argparse.Namespace) -> int:
    """Sweep, and say what moved."""
    from assay.artifact.stages import STAGES
    from assay.artifact.sweep import sweep
    from assay.config.files import unknown_key
    from assay.plan import open_project

    for stage in args.stages:
        if stage not in STAGES:
            raise unknown_key("stage", stage, STAGES, "command line")
    project = open_project()
    moved = sweep(project.root, project.plan, args.stages)
    for folder in moved:
        print(f"moved to the attic: {folder}")
    print(f"{len(moved)} artifacts moved to the attic")
    return 0
