"""The optional judge: which pairs it is asked about, how its words are read, what a yes merges."""

import pytest

from assay.errors import ConfigError
from assay.fks.judge import JudgeSettings, Pair, judgement, merged_keys


def pair(left, right, fact="f"):
    return Pair(fact, left, right, left.removeprefix("ans:txt:"), right.removeprefix("ans:txt:"), "Capital?")


@pytest.mark.parametrize(
    ("answer", "same"),
    [
        (" Yes", True),
        ("yes.\nNo", True),
        ("Oui, les deux", True),
        ("是", True),
        ("They are not right", False),
        ("No", False),
        ("maybe", False),
        ("", False),
        ("不是", False),
        ("They name the same thing", False),
    ],
)
def test_first_polar_word_decides_and_anything_else_is_no(answer, same):
    assert judgement(pair("ans:txt:a", "ans:txt:b"), answer).same is same


def test_failed_call_is_kept_and_counts_as_no():
    row = judgement(pair("ans:txt:a", "ans:txt:b"), "yes", error="timeout")
    assert (row.same, row.answered, row.error) == (False, False, "timeout")


def test_yes_merges_and_chains():
    names = [f"ans:txt:{letter}" for letter in "abcde"]
    rows = [judgement(pair(names[i], names[j]), "yes") for i, j in ((3, 4), (0, 1), (1, 3))]
    rows.append(judgement(pair(names[2], names[4]), "no"))
    assert merged_keys(rows) == {("f", names[i]): names[0] for i in (0, 1, 3, 4)}


def test_facts_are_merged_apart():
    rows = [
        judgement(pair("ans:txt:a", "ans:txt:b", "f"), "yes"),
        judgement(pair("ans:txt:b", "ans:txt:c", "g"), "yes"),
    ]
    assert merged_keys(rows)["g", "ans:txt:c"] == "ans:txt:b"


def test_order_of_judgements_changes_nothing():
    rows = [judgement(pair(f"ans:txt:{a}", f"ans:txt:{b}"), "yes") for a, b in ("ab", "bc", "cd", "xy")]
    assert merged_keys(rows) == merged_keys(rows[::-1])


def test_slots_in_answers_stay():
    asked = Pair("f", "ans:txt:1", "ans:txt:2", "{second}", "b", "{first}?").prompt("{question}|{first}|{second}")
    assert asked == "{first}?|{second}|b"


def test_identity_of_a_pair_depends_on_all_of_it():
    assert pair("ans:txt:a", "ans:txt:b").query_id != pair("ans:txt:a", "ans:txt:b", "g").query_id


def test_template_needs_each_slot_once():
    with pytest.raises(ConfigError, match="slots"):
        JudgeSettings(template="{question} {first}").check()
    JudgeSettings().check()
