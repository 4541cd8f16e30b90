"""The one prompt function."""

import pytest

from assay.config.fks import Prompt
from assay.errors import ConfigError
from assay.fks.prompts import PromptSettings, prompt_text

SETTINGS = PromptSettings(**Prompt().model_dump())


def test_anchor_has_the_instruction_and_others_only_the_cue():
    assert prompt_text(SETTINGS, "anchor", "Why?") == (
        "Answer the question with a short factual answer only.\nQuestion: Why?\nAnswer:"
    )
    for family in ("paraphrase", "format", "context", "multilingual", "reverse", "recognition", "unheard_of"):
        assert prompt_text(SETTINGS, family, "Why?") == "Why?\nAnswer:"


@pytest.mark.parametrize("query", [" padded \n", "{query}", "{0} %s \\1 {answer}", "国家：奥地利。", ""])
def test_query_is_shown_as_it_is(query):
    assert prompt_text(SETTINGS, "format", query) == query + "\nAnswer:"


@pytest.mark.parametrize("template", ["no slot", "{query} {query}"])
def test_template_shows_the_query_once(template):
    with pytest.raises(ConfigError, match="template shows the query"):
        PromptSettings(anchor="{query}", other=template).check()
