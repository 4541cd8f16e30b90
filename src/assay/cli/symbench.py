"""Work on SymBench outside a pipeline: score responses, audit the published samples, average rates."""

import argparse
import json
import sys
from pathlib import Path

from assay.cli.arguments import seconds


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True)

    score = actions.add_parser("score", help="judge responses that were produced elsewhere")
    score.add_argument("responses", type=Path, help="JSONL with task, sample_id and response (or response_text, text)")
    score.add_argument(
        "--data", type=Path, default=Path("data/symbench"), help="folder of TASK.jsonl files (default: data/symbench)"
    )
    score.add_argument("--out", type=Path, help="write one label a line here instead of to standard output")
    score.add_argument("--limit", type=seconds, default=30.0, metavar="SECONDS", help="of one execution (default: 30)")
    score.add_argument("--no-code", action="store_true", help="refuse responses with code instead of executing them")
    score.add_argument("--json", action="store_true", help="print the summary as JSON")

    audit = actions.add_parser("audit", help="recount the faults of the published references")
    audit.add_argument("--data", type=Path, required=True, help="folder of TASK.jsonl or TASK.jsonl.gz files")
    audit.add_argument("--task", action="append", metavar="TASK", help="only this task (repeatable)")
    audit.add_argument("--json", action="store_true", help="one JSON object a finding, with the ids of the samples")

    avenorm = actions.add_parser("avenorm", help="average normalised scores of a table of rates")
    avenorm.add_argument("table", type=Path, help="CSV: row_type, task, paper_label, split, one column a method")
    avenorm.add_argument("--leave-out", action="append", default=[], metavar="METHOD", help="shrink the comparison set")
    avenorm.add_argument(
        "--missing",
        choices=("refuse", "zero", "common"),
        default="refuse",
        help="a method lacks a task: an error (default), a rate of 0, or only the tasks of all methods",
    )
    avenorm.add_argument("--json", action="store_true", help="one JSON object a line")


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    return {"score": _score, "audit": _audit, "avenorm": _avenorm}[args.action](args)


def _avenorm(args: argparse.Namespace) -> int:
    from assay.errors import DataError
    from assay.symbench.avenorm import SPLITS, average_normalized, one_decimal, read_paper_table, split_tasks

    table = read_paper_table(args.table)
    for method in args.leave_out:
        if table.rates.pop(method, None) is None:
            raise DataError(
                f"there is no method {method!r}", file=args.table, expected=f"one of {', '.join(table.rates)}"
            )
    passed = failed = 0
    lines = []
    for split in SPLITS:
        tasks = split_tasks(split)
        if args.missing == "common":
            tasks = tuple(task for task in tasks if all(task in row for row in table.rates.values()))
        if not tasks or not table.rates:
            print(f"{split}: left out, no task has a rate of every method", file=sys.stderr)
            continue
        scores = average_normalized(table.rates, tasks, args.missing)
        for task in scores.zero_tasks:
            print(f"{split}: no method solves {task}; it counts 0 for every method", file=sys.stderr)
        for method, value in scores.percent.items():
            got, want = one_decimal(value), table.printed.get(split, {}).get(method)
            passed, failed = passed + (want == got), failed + (want not in (None, got))
            lines.append({"split": split, "method": method, "avenorm": float(value), "rounded": got, "printed": want})
    if not lines:
        raise DataError("nothing can be averaged", file=args.table, expected="a task with a rate of every method")
    for line in lines:
        if args.json:
            print(json.dumps(line, ensure_ascii=False))
        else:
            note = "" if line["printed"] is None else f"  printed {line['printed']}"
            mark = "" if line["printed"] in (None, line["rounded"]) else "  DIFFERS"
            print(f"{line['split']:7} {line['method']:24} {line['rounded']:>5}  {line['avenorm']:8.4f}{note}{mark}")
    if table.printed and not args.json:
        print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _audit(args: argparse.Namespace) -> int:
    import msgspec

    from assay.symbench.audit import audit
    from assay.symbench.datasets import load_published, present_tasks

    tasks, absent = (args.task, []) if args.task else present_tasks(args.data)
    for task in absent:
        print(f"{task}: left out, {args.data} has no file of it", file=sys.stderr)
    for task in tasks:
        for finding in audit(task, load_published(args.data, task)):
            if args.json:
                print(msgspec.json.encode(finding).decode())
            elif finding.count or finding.id not in ("upstream", "corrected"):
                print(f"{task:33} {finding.id:15} {finding.count:5} of {finding.total:5} {finding.what}")
    return 0


def _score(args: argparse.Namespace) -> int:
    import msgspec

    from assay.cli.disk import require_place
    from assay.records.jsonl import row_bytes, write_rows
    from assay.symbench.external import score_file, summarize

    require_place(args.out, "--out")
    labels = score_file(args.responses, args.data, None if args.no_code else args.limit)
    if args.out:
        write_rows(args.out, labels)
    else:
        for label in labels:
            sys.stdout.write(row_bytes(label).decode("utf-8", "backslashreplace"))
    for line in summarize(labels):
        if args.json:
            print(msgspec.json.encode(line).decode(), file=sys.stderr)
        else:
            print(line.sentence(), file=sys.stderr)
    return 0
