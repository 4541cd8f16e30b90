"""Reading recorded text without evaluating it."""

import ast
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.sopbench.literals import arguments_literal, as_lists, json_or_literal, literal, plain

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_what_str_writes_reads_back(value: object) -> None:
    text = repr(value)
    assert literal(text) == ast.literal_eval(text)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text(), max_size=2), max_size=4))
def test_json_arguments_are_python_literals(value: dict[str, object]) -> None:
    import json

    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert arguments_literal(text) == ast.literal_eval(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2025-11-21", 1993),
        ("2025-01-21", "2025-01-21"),
        ("10/2", 5.0),
        ("0123", "0123"),
        ("123", 123),
        ("-5", -5),
        ("true", "true"),
        ("[true]", "[true]"),
        ("None", None),
        (" \t'a'", "a"),
        ("'a' 'b'", "ab"),
        ("(True, {'a': [1]})", (True, {"a": [1]})),
        ("print", "print"),
        ("__import__('os')", "__import__('os')"),
        ("'a' * 10", "'a' * 10"),
        ("2 ** 99", "2 ** 99"),
        ("1/0", "1/0"),
        ("", ""),
        ("{**{}}", "{**{}}"),
        ("f'{1}'", "f'{1}'"),
        ("2024-11-21T16:25:31", "2024-11-21T16:25:31"),
        ("Error: Tool x not found.", "Error: Tool x not found."),
    ],
)
def test_values_and_fallbacks(text: str, value: object) -> None:
    got = literal(text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": true}', '{"a": true}'),
        ('{"a": "true"}', {"a": "true"}),
        ('{"a": [null]}', '{"a": [null]}'),
        ("{'a': True}", {"a": True}),
        ('{"a": "x\\/y"}', {"a": "x\\/y"}),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[1]", [1]),
    ],
)
def test_arguments_of_the_published_reading(text: str, value: object) -> None:
    assert arguments_literal(text) == value


def test_the_corrected_reading_takes_json_first() -> None:
    assert json_or_literal('{"a": true, "b": null}') == {"a": True, "b": None}
    assert json_or_literal("{'a': True}") == {"a": True}
    assert json_or_literal('{"a": "\ud800"}') == {"a": "\ud800"}


def test_arguments_are_fresh_objects() -> None:
    """A domain may keep a list that it was given; the next reading must not see it changed."""
    text = '{"slots": ["9:00"]}'
    for read in (arguments_literal, json_or_literal):
        for written in (text, text.replace('"', "'")):
            read(written)["slots"].append("10:00")
            assert read(written) == {"slots": ["9:00"]}


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "-" * 100_000 + "1",
        "[" * 5000 + "]" * 5000,
        "1-" * 60_000 + "1",
        "x" * 1_000_000,
        "not " * 9999 + "1",
    ],
)
def test_hostile_text_costs_little_and_stays_text(text: str) -> None:
    start = time.process_time()
    assert literal(text) == text
    assert time.process_time() - start < 5


def test_plain_copies_and_writes_keys_as_json_does() -> None:
    state = {"a": [1, (2, 3)], None: {True: 1, 5: 2}}
    copy = plain(state)
    assert copy == {"a": [1, [2, 3]], "null": {"true": 1, "5": 2}}
    state["a"].append(4)
    assert copy["a"] == [1, [2, 3]]
    assert plain([math.inf, {"a": -math.inf}, 0.5]) == ["inf", {"a": "-inf"}, 0.5]
    assert as_lists((1, (2,), {"a": (3,)})) == [1, [2], {"a": [3]}]
