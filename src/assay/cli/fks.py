"""`assay fks`: label generations that were made elsewhere, and import lenses that others fitted."""

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
    score.add_argument("generations", type=Path, help="JSON Lines; required fields: query_id, text (or generation)")
    score.add_argument("--queries", type=Path, required=True, help="JSON Lines of queries, card layout")
    score.add_argument("--facts", type=Path, required=True, help="JSON Lines of facts, card layout")
    score.add_argument("--lexicon", type=Path, help="lexicon.jsonl of a sample: the answers that no fact asks for")
    score.add_argument("--out", type=Path, help="file for the scored rows (default: standard output)")
    score.add_argument("--clusters", type=Path, help="file for the answer clusters")
    score.add_argument("--subset", action="store_true", help="score the queries that have generations, not all")
    score.add_argument("--prompt-line", action="append", default=[], metavar="LINE", help="line that prompts also show")
    lens = commands.add_parser("import-lens", help="convert and check a published lens, and record it in the lock")
    lens.add_argument("file", type=Path, help=".pt file with J, n_prompts, source_layers, d_model")
    lens.add_argument("--model", required=True, help="name in configs/models.yaml")
    lens.add_argument("--out", help="project file to write (default: data/fks-lenses/MODEL.safetensors)")
    lens.add_argument("--renew", action="store_true", help="replace a lens that the lock already records")


def run(args: argparse.Namespace) -> int:
    """Score a file, or import a lens."""
    return _score(args) if args.command == "score" else _import_lens(args)


def _import_lens(args: argparse.Namespace) -> int:
    from assay.canonical import bytes_digest
    from assay.cli.data import record
    from assay.cli.disk import require_place
    from assay.config.load import load_configs
    from assay.errors import ConfigError
    from assay.fks.datasets import lens_name
    from assay.fks.lens_import import import_published
    from assay.fks.window import layer_window
    from assay.records.atomic import write_if_changed

    configs = load_configs(Path.cwd())
    entry = configs.model(args.model, "command line", "--model")
    if entry.layers is None:
        raise ConfigError(
            f"{args.model} does not say how many layers it has",
            file="configs/models.yaml",
            key=f"models.{args.model}.layers",
            expected="the number of its decoder blocks, which tells which layers the lens must have",
            remedy="add it",
        )
    out = args.out or f"data/fks-lenses/{args.model}.safetensors"
    if Path(out).is_absolute() or ".." in Path(out).parts:
        raise ConfigError(f"{out} lies outside the project", key="--out", expected="a path relative to the project")
    require_place(configs.root / out, "--out")
    layers = layer_window(entry.layers, configs.fks.states.window_percent)
    lens = import_published(
        args.file, layers=layers, n_layers=entry.layers, width=entry.width, header={"model_id": args.model}
    )
    content, name = lens.to_bytes(), lens_name(args.model)
    locked = {"kind": "fks-lens", "files": {out: bytes_digest(content)}}
    # The lock is asked first: a lens that it does not accept must not stand in the place of the one it knows.
    state = record(configs.root, configs.lock.data.get(name), name, locked, args.renew)
    (configs.root / out).parent.mkdir(parents=True, exist_ok=True)
    write_if_changed(configs.root / out, content)
    print(f"{out}: layers {layers[0]} to {layers[-1]}, {lens.header['width']} wide, {lens.header['n_prompts']} prompts")
    print(f"data/{name}: {state}")
    print(f"use it: benchmarks: fks: lens: imported: {{{args.model}: {out}}}")
    return 0


def _score(args: argparse.Namespace) -> int:
    # Counts go to standard error, rows to --out or standard output.
    from assay.cli.disk import require_place
    from assay.errors import ConfigError, DataError
    from assay.fks.catalogue import Catalogue
    from assay.fks.checks import Origin, check_rows
    from assay.fks.clusters import cluster_all
    from assay.fks.rows import FactRow, LexiconRow, QueryRow
    from assay.fks.scorer import SCORER_VERSION
    from assay.fks.scoring import label_all
    from assay.records.jsonl import read_rows, row_bytes, write_rows

    require_place(args.out, "--out")
    require_place(args.clusters, "--clusters")
    if args.out is not None and args.out == args.clusters:
        raise ConfigError("rows and clusters would be one file", file=args.out, key="--clusters", expected="two files")
    for path in (args.facts, args.queries, args.generations, *filter(None, (args.lexicon,))):
        if path.is_dir():
            raise DataError("this is a folder", file=path, expected="a file of JSON Lines")
        if path in (args.out, args.clusters):
            raise ConfigError("the input would be written over", file=path, expected="another file for the output")
    facts, queries = list(read_rows(args.facts, FactRow)), list(read_rows(args.queries, QueryRow))
    check_rows(facts, queries, Origin(((args.facts, len(facts)),)), Origin(((args.queries, len(queries)),)))
    others = read_rows(args.lexicon, LexiconRow) if args.lexicon else ()
    catalogue = Catalogue(facts, args.prompt_line, others)
    generations = _read_generations(args.generations)
    if not generations:
        raise DataError("the file has no generations", file=args.generations, expected="at least one row")
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
    """Return generation rows; a file from elsewhere needs only `query_id` and `text` (or `generation`, as some say)."""
    from assay.records.jsonl import read_rows

    return [_generation(found, path, number) for number, found in enumerate(read_rows(path, dict), 1)]


def _generation(found: object, path: Path, number: int) -> "GenerationRow":
    import msgspec

    from assay.canonical import text_digest
    from assay.errors import DataError
    from assay.records.rows import GenerationRow, row_id

    if not isinstance(found, dict):
        raise DataError("this row is no object", file=path, row=number, expected=f"an object with {_names(_REQUIRED)}")
    if "generation" in found and "text" not in found:
        found = {"text" if key == "generation" else key: value for key, value in found.items()}
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
