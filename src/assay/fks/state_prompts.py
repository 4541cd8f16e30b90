"""The prompts whose states are kept: those of the rows that enter the main average."""

from collections.abc import Iterator
from typing import Any

import msgspec

from assay.errors import DataError
from assay.fks.rows import QueryRow
from assay.records.rows import PromptRow
from assay.records.step import Inputs, Outputs


class StatePromptSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Nothing can be set: a row's own flag decides, never the name of its family."""


def main_forward(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Make `prompts.jsonl` from the roles `queries` and `prompts`: the rows with `use_for_main_forward`, unchanged.

    Generation and extraction so read the same texts.

    Raises
    ------
    DataError
        If no row has the flag.
    """
    msgspec.convert(config, StatePromptSettings)
    source = inputs.one("queries")
    kept = {query.query_id for query in source.rows("queries.jsonl", QueryRow) if query.use_for_main_forward}
    if not kept:
        raise DataError(
            "no query has the flag", file=source.path("queries.jsonl"), key="use_for_main_forward", expected="some"
        )

    def rows() -> Iterator[PromptRow]:
        for row in inputs.one("prompts").rows("prompts.jsonl", PromptRow):
            if row.query_id in kept:
                yield row

    return {"prompts.jsonl": rows()}
