"""`assay fks score`: label generations that were made elsewhere."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.fks.rows import ScoredRow
    from assay.records.rows import GenerationRow

_REQUIRED = {
    "query_id": "the id of the query that was asked",
    "text": "the continuation as the model gave it, prompt left out",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    commands = parser.add_subparsers(dest="command", required=True)
    score = commands.add_parser("score", help="label generations with the five labels")
    score.add_argument("generations", type=Path, help="JSON Lines; required fields: query_id, text")
    score.add_argument("--queries", type=Path, required=True, help="JSON Lines of queries, card layout")
    score.add_argument("--facts", type=Path, required=True, help="JSON Lines of facts, card layout")
    score.add_argument("--out", type=Path, help="file for the scored rows (default: standard output)")
    score.add_argument("--clusters", type=Path, help="file for the answer clusters")
    score.add_argument("--subset", action="store_true", help="score the queries that have generations, not all")
    score.add_argument("--prompt-line", action="append", default=[], metavar="LINE", help="line that prompts also show")


def run(args: argparse.Namespace) -> int:
    """Score a file; counts go to standard error, rows to --out or standard output."""
    from assay.fks.catalogue import Catalogue
    from assay.fks.clusters import cluster_all
    from assay.fks.rows import FactRow, QueryRow
    from assay.fks.scorer import SCORER_VERSION
    from assay.fks.scoring import label_all
    from assay.records.jsonl import read_rows, row_bytes, write_rows

    catalogue = Catalogue(read_rows(args.facts, FactRow), args.prompt_line)
    queries = list(read_rows(args.queries, QueryRow))
    generations = _read_generations(args.generations)
    total = len(queries)
    if args.subset:
        asked = {row.query_id for row in generations}
        queries = [query for query in queries if query.query_id in asked]
    rows = list(label_all(catalogue, queries, generations, args.generations))
    if args.out:
        write_rows(args.out, rows)
    else:
        for row in rows:
            sys.stdout.buffer.write(row_bytes(row))
    if args.clusters:
        write_rows(args.clusters, cluster_all(catalogue, queries, rows))
    _report(rows, len(queries), total, SCORER_VERSION)
    return 0


def _read_generations(path: Path) -> "list[GenerationRow]":
    """Return generation rows; a file from elsewhere needs only `query_id` and `text`."""
    from assay.records.jsonl import read_rows

    return [_generation(found, path, number) for number, found in enumerate(read_rows(path, dict), 1)]


def _generation(found: object, path: Path, number: int) -> "GenerationRow":
    import msgspec

    from assay.canonical import text_digest
    from assay.errors import DataError
    from assay.records.rows import GenerationRow, row_id

    if not isinstance(found, dict):
        raise DataError("this row is no object", file=path, row=number, expected=f"an object with {_names(_REQUIRED)}")
    missing = [name for name in _REQUIRED if name not in found]
    if missing:
        raise DataError(
            f"required fields are missing: {_names(missing)} (the row has {_names(sorted(found)) or 'nothing'})",
            file=path,
            row=number,
            expected="; ".join(f"{name}: {_REQUIRED[name]}" for name in missing),
        )
    row: dict[str, Any] = {
        "sample_index": 0,
        "prompt_sha256": "",
        "prompt_ids_sha256": "",
        "n_prompt_tokens": 0,
        "truncated": False,
        "n_new_tokens": 0,
        "finish_reason": "stop",
        "row_key": text_digest(str(found["text"])),
    } | found
    if row.get("error") is not None:
        row["finish_reason"] = "error"
    row.setdefault("row_id", row_id(str(row["query_id"]), str(row["prompt_sha256"]), row["sample_index"]))
    try:
        return msgspec.convert(row, GenerationRow)
    except msgspec.ValidationError as error:
        raise DataError(str(error), file=path, row=number, expected="the fields of a generation row") from error


def _names(names: Iterable[str]) -> str:
    return ", ".join(names)


def _report(rows: "list[ScoredRow]", n_queries: int, total: int, version: str) -> None:
    from assay.fks.rows import LABELS

    counts = Counter(row.label for row in rows)
    print(f"{len(rows)} generations for {n_queries} of {total} queries, scorer {version}", file=sys.stderr)
    for label in LABELS:
        share = f"{counts[label] / len(rows):.1%}" if rows else "-"
        print(f"  {label:12} {counts[label]:7} {share:>7}", file=sys.stderr)
    errors = sum(row.finish_reason == "error" for row in rows)
    lengths = sum(row.finish_reason == "length" for row in rows)
    prompts = sum(row.truncated for row in rows)
    print(
        f"  failed calls {errors} (counted as unparseable), cut at the token limit {lengths}, prompts cut {prompts}",
        file=sys.stderr,
    )
