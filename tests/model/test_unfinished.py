"""The end of a row: stop strings and control tokens."""

import pytest

from assay.model.engine import Decoding, Request
from assay.model.loading import load_tokenizer
from assay.model.unfinished import UnfinishedRow


@pytest.fixture(scope="module")
def tokenizer(tiny_folder):
    """A tokenizer with a control token that has no role, as those of code models have several."""
    from tokenizers import AddedToken

    tokenizer = load_tokenizer(tiny_folder)
    tokenizer.add_tokens([AddedToken("<file_sep>", special=True)])
    assert tokenizer.convert_tokens_to_ids("<file_sep>") not in tokenizer.all_special_ids
    return tokenizer


def ended(tokenizer, text, stop, *, eos=frozenset(), repeat=1):
    """Feed the tokens of a text; return how many it took, the text and the reason, or None."""
    tokens = [
        token
        for token in tokenizer(text, add_special_tokens=False).input_ids
        for _ in range(repeat if token >= 259 else 1)
    ]
    row = UnfinishedRow(Request("row", [3], 999), Decoding(max_new_tokens=999, stop=stop), tokenizer, eos)
    for number, token in enumerate(tokens):
        if (done := row.append(token)) is not None:
            assert done.token_ids == tokens[: number + 1]
            return number + 1, done.text, done.finish_reason
    return None


def test_a_control_token_ends_a_row_that_asks_for_it(tokenizer):
    assert ended(tokenizer, "ab<file_sep>cd", ("<file_sep>",)) == (3, "ab", "stop")
    assert ended(tokenizer, "ab<file_sep>cd", ("zz", "<file_sep>")) == (3, "ab", "stop")
    assert ended(tokenizer, "ab<file_sep>cd", ("<file_",)) is None
    separator = tokenizer.convert_tokens_to_ids("<file_sep>")
    assert ended(tokenizer, "ab<file_sep>cd", ("<file_sep>",), eos=frozenset({separator})) == (3, "ab", "eos")


def test_a_stop_string_is_found_at_once_through_control_tokens(tokenizer):
    # The text shows none of them, however many there are.
    assert ended(tokenizer, "ast<file_sep>opend", ("stop",), repeat=40) == (45, "a", "stop")


@pytest.mark.parametrize(
    ("text", "stop", "answer"),
    [
        ("Hello", ("Hello",), (5, "", "stop")),
        ("abcdef", ("cd", "bcde"), (4, "ab", "stop")),
        ("one\n\ntwo", ("\n\n",), (5, "one", "stop")),
        ("日本語", ("本",), (6, "日", "stop")),
        ("abc", ("d",), None),
    ],
)
def test_a_text_is_cut_before_the_first_stop_string(tokenizer, text, stop, answer):
    assert ended(tokenizer, text, stop) == answer
