"""What the generic steps share: calling the job's function, writing files, counting rows at the borders."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from assay.errors import ArtifactError, DataError
from assay.records.atomic import atomic_file
from assay.records.jsonl import read_rows, write_rows
from assay.records.step import Outputs, StepContext


def run_function(context: StepContext, *services: object) -> dict[str, int]:
    """Call the job's function, write what it returns, and return the number of rows per JSONL file."""
    if context.function is None:
        raise ArtifactError(
            f"{context.stage}/{context.item} names no function", remedy="name one in the benchmark's pipeline"
        )
    return write_outputs(context, context.function(context.config, context.inputs, *services))


def write_outputs(context: StepContext, outputs: Outputs) -> dict[str, int]:
    """Write the files of an artifact; return the number of rows per JSONL file."""
    counts = {}
    for name, content in sorted(outputs.items()):
        path = context.out / name
        if isinstance(content, bytes):
            with atomic_file(path) as file:
                file.write(content)
        else:
            counts[name] = write_rows(path, content)
    context.facts["rows"] = counts
    return counts


class _Ids(msgspec.Struct):
    """The identities that rows of every stage share; other fields are not looked at."""

    row_id: str | None = None
    query_id: str | None = None
    task_id: str | None = None
    task: Any = None
    sample_id: str | None = None


def ids(rows: Iterable[_Ids], *fields: str) -> list[str]:
    """Return an identity of every row, in order; several fields are joined by slashes."""
    return ["/".join(str(getattr(row, field)) for field in fields) for row in rows]


def require_same_rows(context: StepContext, role: str, source: str, result: str, field: str = "row_id") -> None:
    """Check that an artifact has exactly one row for each row of an input, in the input's order.

    Raises
    ------
    DataError
        With the number and the first of the rows that are missing, left over or repeated.
    """
    wanted = ids(context.inputs.one(role).rows(source, _Ids), field)
    got = ids(read_rows(context.out / result, _Ids), field)
    if wanted == got:
        return
    missing, extra = Counter(wanted) - Counter(got), Counter(got) - Counter(wanted)
    what: list[Any] = []
    if missing:
        what.append(f"{missing.total()} missing, first {next(iter(missing))}")
    if extra:
        what.append(f"{extra.total()} left over or repeated, first {next(iter(extra))}")
    raise DataError(
        f"{context.stage}/{context.item} does not have the rows of its input: " + ("; ".join(what) or "another order"),
        file=result,
        key=field,
        expected=f"the {len(wanted)} rows of {source} in their order",
    )


def require_unique(context: StepContext, result: str, *fields: str, at_least: int = 1) -> None:
    """Check that no identity occurs twice in an artifact, and that there are rows at all."""
    found = Counter(ids(read_rows(context.out / result, _Ids), *fields))
    if found.total() < at_least:
        raise DataError(
            f"{context.stage}/{context.item} has {found.total()} rows", file=result, expected=f"at least {at_least}"
        )
    repeated = [name for name, count in found.items() if count > 1]
    if repeated:
        raise DataError(
            f"{len(repeated)} identities of {context.stage}/{context.item} occur twice, first {repeated[0]!r}",
            file=result,
            key="/".join(fields),
            expected="each identity once",
        )
