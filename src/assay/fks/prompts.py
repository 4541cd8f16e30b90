"""The prompt of a query: one function for generation and for state extraction."""

from collections.abc import Iterator
from typing import Any

import msgspec

from assay.errors import ConfigError
from assay.fks.rows import QueryRow
from assay.records.rows import PromptRow
from assay.records.step import Inputs, Outputs

SLOT = "{query}"


class PromptSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Templates with the slot `{query}` exactly once; their text is part of the recipe.

    Attributes
    ----------
    anchor : str
        Template of anchor queries.
    other : str
        Template of the queries of every other family.
    """

    anchor: str
    other: str

    def check(self) -> None:
        """Refuse a template that does not show the query exactly once.

        Raises
        ------
        ConfigError
            Naming the template.
        """
        for name, template in (("anchor", self.anchor), ("other", self.other)):
            if template.count(SLOT) != 1:
                raise ConfigError(
                    f"the template shows the query {template.count(SLOT)} times",
                    key=f"prompt.{name}",
                    expected=f"{SLOT} exactly once",
                )


def prompt_text(settings: PromptSettings, condition_family: str, query: str) -> str:
    r"""Return the prompt of a query: the template with the query in its slot, neither stripped nor formatted.

    Examples
    --------
    >>> settings = PromptSettings(anchor="Q: {query}\nAnswer:", other="{query}\nAnswer:")
    >>> prompt_text(settings, "paraphrase", "A {query} stays literal.")
    'A {query} stays literal.\nAnswer:'
    """
    template = settings.anchor if condition_family == "anchor" else settings.other
    before, _, after = template.partition(SLOT)
    return before + query + after


def build_prompts(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Make `prompts.jsonl` (rows of PromptRow in the order of the queries) from the role "queries"."""
    settings = msgspec.convert(config, PromptSettings)
    settings.check()

    def rows() -> Iterator[PromptRow]:
        for row in inputs.one("queries").rows("queries.jsonl", QueryRow):
            yield PromptRow.of_text(row.query_id, prompt_text(settings, row.condition_family, row.query))

    return {"prompts.jsonl": rows()}
