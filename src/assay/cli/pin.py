"""Write pins/NAME.yaml: artifacts, table cells, configs, lock and environment, for review and release."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", metavar="NAME", help="of the new file: letters, digits, . _ -")


def run(args: argparse.Namespace) -> int:
    """Write the pin, and say how it becomes a release."""
    from assay.plan import open_project
    from assay.report.pin import write_pin

    project = open_project()
    path, pin = write_pin(project, args.name)
    print(f"{path}: {len(pin.artifacts)} artifacts, {len(pin.cells)} table cells")
    if note := project.configs.left_out:
        print(note)
    print(f"release: dvc repro && dvc push && git add dvc.lock {path} results && git commit && git tag {args.name}")
    return 0
