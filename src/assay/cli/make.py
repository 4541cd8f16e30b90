"""Make one artifact; the Snakemake rules call this once per job."""

import argparse
import logging
import os
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("stage", help="as in `assay plan`: results/STAGE/ITEM/KEY")
    parser.add_argument("item")
    parser.add_argument("key", help="first 12 digits of the planned key")
    parser.add_argument("--experiment", help="another experiment than configs/experiment.yaml chooses")


def run(args: argparse.Namespace) -> int:
    """Make the artifact if the plan still asks for it; say how it came about."""
    # One thread per process, before any numeric library is imported: jobs run side by side, and sums over more
    # threads would have other last bits. Waiting threads must not spin on a shared machine.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

    from assay.cli.disk import refusal
    from assay.errors import ArtifactError
    from assay.plan import open_project

    project = open_project(experiment=args.experiment)
    planned = project.plan.get((args.stage, args.item))
    if planned is None or not planned.key.startswith(args.key):
        raise ArtifactError(
            f"{args.stage}/{args.item}/{args.key} is not, or no longer, what the plan asks for",
            expected="an artifact that `assay plan` lists, and configs and code that stay as they are during a run",
            remedy="run the command again",
        )
    log = Path("logs") / args.stage / f"{args.item}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(name)s: %(message)s",
        handlers=[logging.FileHandler(log), logging.StreamHandler(sys.stderr)],
    )
    logger = logging.getLogger(f"{args.stage}/{args.item}")
    try:
        how = project.maker.make(planned)
    except Exception as error:
        explained = refusal(error) or error
        logger.error("%s", explained, exc_info=not hasattr(explained, "exit_code"))
        raise explained from error.__cause__
    logger.info("%s %s", how, planned.key[:12])
    return 0
