"""Markers, code blocks and normalisers."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.symbench.catalogue import TASKS
from assay.symbench.executing import request
from assay.symbench.extraction import (
    between,
    code_blocks,
    first_bracket_marker,
    first_code_block,
    last_line_marker,
    last_marker,
    last_written_marker,
    without_code_blocks,
)
from assay.symbench.extraction_normalizers import NORMALIZERS, quote

TEXTS = st.text(alphabet="<>[]a\n", max_size=40)


@given(TEXTS)
def test_markers_are_those_of_the_lazy_expression(text):
    assert between(text, "<<<", ">>>") == re.findall(r"<<<(.*?)>>>", text, re.DOTALL)


@given(TEXTS)
def test_line_markers_are_those_of_the_lazy_expression(text):
    found = re.findall(r"<<<(.*?)>>>", text)
    assert last_line_marker(text) == (found[-1] if found else None)


@given(TEXTS)
def test_bracket_markers_are_those_of_the_lazy_expression(text):
    match = re.search(r"<<<\[(.*?)\]>>>", text)
    assert first_bracket_marker(text) == (match.group(1) if match else None)


@given(st.lists(st.sampled_from(["```python\n", "\n```", "x", "\n", "```", "```py\n"]), max_size=12).map("".join))
def test_code_blocks_are_those_of_the_lazy_expression(text):
    assert code_blocks(text) == re.findall(r"```python\n(.*?)\n```", text, re.DOTALL)
    # Here a block may be empty, and one that is not closed goes to the end.
    assert without_code_blocks(text) == re.sub(r"```py(?:thon)?(?=\n).*?(?:\n```|\Z)", "", text, flags=re.DOTALL)


@pytest.mark.parametrize(
    "text", ["<<<" * 3_000_000, "```python\n" + "\n``" * 3_000_000, "<<<[" * 2_000_000, ">" * 10_000_000]
)
def test_unclosed_markers_take_linear_time(text):
    started = time.process_time()
    assert last_marker(text) is None
    assert last_line_marker(text) is None
    assert first_bracket_marker(text) is None
    assert first_code_block(text) is None
    assert time.process_time() - started < 5


def test_the_last_marker_may_be_blank():
    assert last_marker("<<<a>>> <<<>>>") == ""
    assert last_written_marker("<<<a>>> <<< >>>") == "a"


@pytest.mark.parametrize(
    "text", ["Behind <<< it stands: <<<7>>>", "<<<[<<<7>>>]>>>", "<<<4>> no, <<<7>>>", "<<<3>>> <<<<<<7>>>"]
)
def test_brackets_that_are_only_spoken_of_open_no_marker(text):
    assert last_written_marker(text) == "7"


@pytest.mark.parametrize(
    ("task", "text", "normal"),
    [
        ("2048", "\n16, 0\n4, 2\n", "16, 0, 4, 2"),
        ("pattern_recognition", "(5, 6)", "5, 6"),
        ("cryptanalysis", ' ["5", "3", "F", "A"] ', "53FA"),
        ("string_insertion", " \"'ABC'\" ", "ABC"),
        ("standard_sudoku", "1 2\n3 4", "[[1,2],[3,4]]"),
        ("letter_logic_diagram", "[['a', 'b'], ['c', 'd']]", "[[a,b],[c,d]]"),
        ("permutations_and_combinations", "['A', 'B']", '["A", "B"]'),
        ("permutations_and_combinations", '["A"]', '["A"]'),
        ("logical_equation", "1, 2", "[1, 2]"),
        ("mahjong_pattern", "Peng", "-1"),
        ("statistical_counting", " 7 ", "7"),
    ],
)
def test_normalizers(task, text, normal):
    assert NORMALIZERS[task](text) == normal


def test_attempts_are_those_of_the_authors_scorer():
    """None is the code as a file, a name the code and then that variable."""
    plain, points = ("result", "Answer", "answer"), ("result", "Waypoints", "waypoints", "trajectory")
    expected = dict.fromkeys(TASKS, plain)
    expected |= dict.fromkeys(
        ("date_understanding", "web_of_lies", "logical_deduction", "navigate"), (None, *plain[1:])
    )
    expected |= dict.fromkeys(("letters", "path_plan"), points) | {"number_multiply": ("result", "final_result")}
    expected |= dict.fromkeys(("game24", "boxlift", "boxnet", "blocksworld"), ("result",))
    code = "```python\nfirst\n```\n```python\nsecond\n```"
    assert {task: request(task, code).variables for task in TASKS} == expected
    assert request("letters", code).code == "first"
    assert request("letters", "```py\nfirst\n```") is None


def test_quotes_are_removed_in_linear_time():
    started = time.process_time()
    assert quote('"' * 2_000_000) == ""
    assert time.process_time() - started < 5
