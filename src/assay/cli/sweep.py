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
    swept = sweep(project.root, project.plan, args.stages)
    for folder in swept.artifacts:
        print(f"moved to the attic: {folder}")
    for folder, target in swept.damaged.items():
        print(f"no artifact, it has no manifest: {folder}, moved to {target}")
    damaged = f", {len(swept.damaged)} damaged folders set aside" if swept.damaged else ""
    print(f"{len(swept.artifacts)} artifacts moved to the attic{damaged}")
    if note := project.configs.left_out:
        print(note)
    return 0
