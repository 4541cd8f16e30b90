"""Probe the sandbox, or run one snippet in it and show the record."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.arguments import seconds

if TYPE_CHECKING:
    from assay.config.executions import Executions

_CONFIG = Path("configs/executions.yaml")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    probe = commands.add_parser("probe", help="prove each guarantee and show what is missing, why, and what helps")
    probe.add_argument("--json", action="store_true", help="print JSON")
    probe.add_argument("--as-in-container", action="store_true", help="refuse namespaces first, as containers do")
    run = commands.add_parser("run", help="run one snippet and show its record")
    run.add_argument("file", type=Path, metavar="FILE.py", help="the snippet; - reads standard input")
    run.add_argument("--print", dest="variables", action="append", metavar="NAME", help="variable to print; repeatable")
    run.add_argument("--limit", type=seconds, metavar="SECONDS", help="time limit (default: that of the settings)")
    run.add_argument("--backend", choices=("warm", "fresh"), help="instead of that of the settings")
    for command in (probe, run):
        command.add_argument(
            "--config", type=Path, metavar="FILE", help=f"settings of the sandbox (default: {_CONFIG}, if there is one)"
        )


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    return _probe(args) if args.action == "probe" else _run(args)


def _settings(args: argparse.Namespace, **changes: object) -> "Executions":
    from assay.config.executions import Executions
    from assay.config.files import read_yaml, validate

    file = args.config or _CONFIG
    # The sandbox is of use outside a project too; a file that was asked for must be there.
    values = read_yaml(file) if args.config or file.is_file() else {}
    return validate(Executions, {**values, **changes}, file)


def _probe(args: argparse.Namespace) -> int:
    import msgspec

    from assay.sandbox.guarantees import GUARANTEES, check_policy
    from assay.sandbox.mechanism import probe

    settings = _settings(args)
    if args.as_in_container:
        import os

        from assay.sandbox import seccomp
        from assay.sandbox.inside import linux

        if os.geteuid():
            linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        linux.load_filter(seccomp.container_filter())
    found = probe(settings)
    if args.json:
        print(json.dumps(msgspec.to_builtins(found), indent=2, sort_keys=True))
    else:
        print(
            f"mechanism  {found.mechanism}, world {found.world}, kernel {found.kernel}, /proc {found.proc}, "
            f"Landlock {found.landlock_abi or 'absent'}, fixed addresses {'yes' if found.fixed_addresses else 'no'}"
        )
        for backend, reason in found.refused.items():
            print(f"refused    {backend}: {reason}")
        for name, (meaning, remedy) in GUARANTEES.items():
            if name in found.held:
                print(f"holds      {name}: {meaning}")
            else:
                print(f"MISSING    {name}: {meaning}")
                print(f"           why: {found.missing[name]}")
                print(f"           what helps: {remedy}")
    check_policy(settings, found)
    return 0


def _run(args: argparse.Namespace) -> int:
    import msgspec

    from assay.errors import DataError
    from assay.sandbox.executor import Executor
    from assay.sandbox.records import Request

    changes = {"backend": args.backend} if args.backend else {}
    settings = _settings(args, **changes)
    try:
        with open(0 if str(args.file) == "-" else args.file, "rb", closefd=str(args.file) != "-") as file:
            code = file.read()
    except OSError as error:
        raise DataError(
            f"the snippet cannot be read ({error.strerror})", file=args.file, expected="a file, or - for standard input"
        ) from error
    variables = tuple(args.variables) if args.variables else (None,)
    with Executor(settings, workers=1) as executor:
        limits = msgspec.structs.replace(executor.limits, time_s=args.limit) if args.limit is not None else None
        if executor.warning:
            print(f"assay sandbox: {executor.warning}", file=sys.stderr)
        result = executor.execute([Request(code, variables, limits)])[0]
    for record in result.attempts:
        shown = {"payload": record.payload, "payload_sha256": record.payload_sha256, "envelope": record.envelope}
        print(json.dumps(msgspec.to_builtins(shown), indent=2, sort_keys=True, ensure_ascii=False))
    return 0
