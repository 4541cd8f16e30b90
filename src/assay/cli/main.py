"""The `assay` command: finds the module of a subcommand, and turns our errors into one sentence."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from assay.cli.disk import refusal
from assay.errors import AssayError

# Command -> (module, one line). A module defines `configure(parser)` and `run(args) -> int`, and imports what it
# needs inside `run`: `assay make` starts once per job, so start-up time is part of every job.
COMMANDS = {
    "plan": ("assay.cli.plan", "list the artifacts of the experiment; --write records their keys"),
    "status": ("assay.cli.status", "what is current, what is missing, and what changed"),
    "make": ("assay.cli.make", "make one artifact (called by the Snakemake rules)"),
    "lock": ("assay.cli.lock", "record the digests of models and data in configs/lock.yaml"),
    "fetch": ("assay.cli.fetch", "fetch the embedded models that the experiment uses"),
    "verify": ("assay.cli.verify", "check every byte of the planned artifacts, or of a pin"),
    "sweep": ("assay.cli.sweep", "move artifacts that the plan does not use to the attic"),
    "pin": ("assay.cli.pin", "write a reviewable file that names artifacts and table cells"),
    "publish": ("assay.cli.publish", "copy one artifact file to its published name (called by the rules)"),
    "data": ("assay.cli.data", "fetch the published data of a benchmark; record the digests of data files"),
    "conformance": ("assay.cli.conformance", "check this installation against vectors"),
    "sandbox": ("assay.cli.sandbox", "probe the sandbox, or run one snippet in it"),
    "fks": ("assay.cli.fks", "score generations that were made elsewhere; import lenses"),
    "symbench": ("assay.cli.symbench", "score, audit and average SymBench responses"),
    "sopbench": ("assay.cli.sopbench", "score SOPBench trajectories, print generated tasks, test the protocol"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        try:
            return _run(arguments)
        finally:
            _flush()  # it would fail when the interpreter ends, where no sentence can be said
    except BrokenPipeError:
        _give_up_output()  # the reader (head, less) has gone
        return 1
    except OSError as error:
        explained = refusal(error)
        if explained is None or os.environ.get("ASSAY_TRACEBACK"):
            raise
        _give_up_output()
        print(f"{' '.join(('assay', *arguments[:1]))}: {explained}", file=sys.stderr)
        return explained.exit_code


def _run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="assay",
        description="Reproducible, verifiable evaluation of language models.",
        epilog="\n".join(f"  {name:12} {line}" for name, (_, line) in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("command", choices=COMMANDS, nargs="?", metavar="COMMAND")
    asked = parser.parse_args(arguments[:1])
    if asked.version:
        print(f"assay {version('assay')}")
        return 0
    chosen = asked.command
    if chosen is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        module = importlib.import_module(COMMANDS[chosen][0])
        command = argparse.ArgumentParser(prog=f"assay {chosen}", description=COMMANDS[chosen][1])
        module.configure(command)
        return int(module.run(command.parse_args(arguments[1:])))
    except AssayError as error:
        if os.environ.get("ASSAY_TRACEBACK"):
            raise
        print(f"assay {chosen}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"assay {chosen}: interrupted", file=sys.stderr)
        return 130


def _flush() -> None:
    if sys.stdout is not None:  # it is closed
        sys.stdout.flush()


def _give_up_output() -> None:
    """Let what cannot be written go nowhere; the interpreter would try again at its end."""
    try:
        _flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
