"""The literal parser gives Python's values for literals and refuses the rest in bounded time."""

import ast
import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.symbench.arithmetic import ArithmeticTextError, plain_operators, rational, tokenize
from assay.symbench.literals import LiteralError, python_value

LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.integers() | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(LITERALS)
def test_reads_back_what_repr_writes(value):
    assert repr(python_value(repr(value))) == repr(value)


@given(st.text(alphabet="0123456789.,()[]{}'\"+-*/ \n\tae_:#TrueN", max_size=30))
def test_agrees_with_the_standard_parser_on_literals(text):
    """Whatever the standard literal parser accepts has the same value here."""
    try:
        expected = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return
    if isinstance(expected, bytes | complex):
        return
    try:
        assert repr(python_value(text)) == repr(expected)
    except LiteralError:
        assert "j" in text.lower() or "\\N" in text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1, 2", (1, 2)),
        ("[(1)]", [1]),
        ("[(1,)]", [(1,)]),
        ("-3**2", -9),
        ("2**3**2", 512),
        ("7//2*2 % 4", 2),
        ("48/2", 24.0),
        ("\n[1, # first\n 2]\n", [1, 2]),
        ("  [1]", [1]),
        ("'a' \"b\"", "ab"),
        ("1_000", 1000),
        ("[1, ...]", [1, ...]),
    ],
)
def test_values(text, value):
    assert python_value(text) == value
    assert type(python_value(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n [1]",
        "[1]\n ",
        "[1",
        "1 2",
        "007",
        "[1]*3",
        "__import__('os').system('true')",
        "[x for x in (1,)]",
        "lambda: 1",
        "(1).real",
        "print(1)",
        "f'{1}'",
        "1/0",
        "(-8)**0.5",
        "٣",
        "10**10**10",
        "9**9**9**9",
        "1e308*10**400",
        "\x00",
        "1if 1 else 2",
    ],
)
def test_refusals(text):
    with pytest.raises(LiteralError):
        python_value(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "(" * 100_000,
        "-" * 100_000,
        "2**" * 60_000 + "2",
        "9" * 199_999,
        "'" * 199_999,
        "'''a" * 40_000,
        '"' + "\\" * 199_000,
        "1+" * 90_000 + "1",
        "{" * 100_000,
        "9" * 10_000_000,
    ],
)
def test_hostile_texts_end_soon(text):
    started = time.process_time()
    with contextlib.suppress(LiteralError):
        python_value(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "value"),
    [("8/(1-6/9)", 24), ("-(3-5)*2", 4), ("1/3+1/3+1/3", 1), ("6 × 4 ÷ 2 − 1", 11), (r"\frac{6}{4} \times 8", 12)],
)
def test_rationals_are_exact(text, value):
    assert rational(tokenize(plain_operators(text))) == value


@pytest.mark.parametrize(
    "text", ["", "1+", "(1", "1)", "2**3", "7//2", "1 2", "1/0", "x", "1.5", "((" * 40 + "1" + "))" * 40, "²"]
)
def test_other_expressions_are_refused(text):
    with pytest.raises(ArithmeticTextError):
        rational(tokenize(plain_operators(text)))


def test_products_that_grow_without_end_are_refused():
    with pytest.raises(ArithmeticTextError):
        rational(tokenize("*".join(["9999999999"] * 180)))
