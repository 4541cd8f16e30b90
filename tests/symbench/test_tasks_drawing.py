"""Draws: the same on every Python, within their range, and never endless."""

import hashlib
from collections import Counter

import msgspec
import pytest

from assay.errors import ConfigError
from assay.symbench.drawing import MAX_BELOW, MAX_DRAWS, Draws, ExhaustedError
from assay.symbench.generate import generate_rows
from assay.symbench.tasks.registry import TASK_MODULES


class TestDraws:
    def test_a_seed_gives_these_numbers_on_every_python(self):
        draws = Draws(2024)
        assert [draws.below(1000) for _ in range(6)] == GOLDEN_NUMBERS
        assert "".join(Draws(2024).shuffled("abcdefghij")) == GOLDEN_ORDER

    def test_every_value_of_a_range_is_drawn_about_equally_often(self):
        draws = Draws(1)
        found = Counter(draws.integer(-2, 2) for _ in range(5000))
        assert sorted(found) == [-2, -1, 0, 1, 2]
        assert all(850 < count < 1150 for count in found.values())

    def test_all_orders_come_about_equally_often(self):
        draws = Draws(3)
        found = Counter("".join(draws.shuffled("abc")) for _ in range(6000))
        assert len(found) == 6
        assert all(850 < count < 1150 for count in found.values())

    def test_a_sample_has_no_position_twice(self):
        assert all(len(set(Draws(seed).sample(range(20), 12))) == 12 for seed in range(50))

    @pytest.mark.parametrize("limit", [0, -1, MAX_BELOW + 1])
    def test_an_empty_or_too_large_range_is_refused(self, limit):
        with pytest.raises(ValueError, match="cannot draw"):
            Draws(0).below(limit)

    def test_more_than_there_is_cannot_be_sampled(self):
        with pytest.raises(ValueError, match="3 of 2"):
            Draws(0).sample("ab", 3)

    def test_the_largest_range_stays_below_its_limit(self):
        draws = Draws(5)
        assert all(draws.below(MAX_BELOW) < MAX_BELOW for _ in range(1000))

    def test_drawing_comes_to_an_end(self):
        draws = Draws(0)
        for _ in range(MAX_DRAWS):
            draws.below(2)
        with pytest.raises(ExhaustedError):
            draws.below(2)


@pytest.mark.parametrize(
    ("task", "level"),
    [
        ("string_splitting", {"fewest": 0, "most": 1, "largest_number": 2}),
        ("pattern_recognition", {"rows": 40, "columns": 40, "side": 3, "letters": 3}),
        ("navigate", {"steps": 60, "longest": 2}),
        ("cryptanalysis", {"hints": False, "fewest": 1, "most": 5}),
        ("standard_sudoku", {"blanks": 58}),
    ],
)
def test_parameters_at_their_limits_give_items(task, level):
    assert len(list(generate_rows(task, 1, 0, [level]))) == 1


@pytest.mark.parametrize(
    ("task", "level"),
    [
        ("string_deletion_and_modification", {"length": 5, "rules": 2, "changes": 60}),
        ("path_plan", {"instructions": [4], "smallest_side": 8, "largest_side": 9}),
    ],
)
def test_parameters_that_allow_no_item_are_an_error_and_no_endless_loop(task, level):
    with pytest.raises(ConfigError, match=f"{task}: the level .* choose parameters"):
        list(generate_rows(task, 1, 0, [level]))


def test_questions_are_the_ones_of_the_last_release():
    """A change here means: other questions for everybody. Make it on purpose, and in a release of its own."""
    digest = hashlib.sha256()
    for task in TASK_MODULES:
        for row in generate_rows(task, 5, 0):
            digest.update(msgspec.json.encode(row))
    assert digest.hexdigest() == GOLDEN_DIGEST


GOLDEN_NUMBERS = [470, 728, 303, 887, 410, 716]
GOLDEN_ORDER = "ehajgibcdf"
GOLDEN_DIGEST = "95aa7961b52cc02996c452f2fe63b2362149abbfd51b4806b44b4ed7d23e55fc"
