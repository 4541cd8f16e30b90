"""Copy an artifact's file to its published name, atomically; the Snakemake rules call this."""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("source", type=Path, help="file of an artifact")
    parser.add_argument("target", type=Path, help="published path, such as results/table.csv")


def run(args: argparse.Namespace) -> int:
    """Copy the bytes; what the target held is replaced by one rename."""
    from assay.errors import ArtifactError
    from assay.records.atomic import atomic_file

    if not args.source.is_file():
        raise ArtifactError("the artifact's file is missing", file=args.source, remedy="run snakemake")
    if args.target.is_dir():
        raise ArtifactError("a folder stands in the place of the published file", file=args.target, remedy="move it")
    with atomic_file(args.target) as file:
        file.write(args.source.read_bytes())
    return 0
