"""The average normalised score, against the paper's printed averages and by hand."""

from fractions import Fraction

import pytest

from assay.cli.main import main
from assay.errors import DataError
from assay.symbench.avenorm import (
    PUBLISHED_SOURCE,
    SPLITS,
    average_normalized,
    one_decimal,
    published_rates,
    read_paper_table,
    split_tasks,
)
from assay.symbench.catalogue import TASKS


@pytest.fixture(scope="module")
def path(shared):
    return shared / "data" / "symbench" / "paper_table.csv"


def _averages(rates):
    return {
        (split, method): one_decimal(value)
        for split in SPLITS
        for method, value in average_normalized(rates, split_tasks(split)).percent.items()
    }


def test_all_printed_averages(path):
    table = read_paper_table(path)
    computed = _averages(table.rates)
    printed = {(split, method): text for split, row in table.printed.items() for method, text in row.items()}
    assert len(printed) == 39
    assert computed == printed


def test_leaving_out_a_column_changes_the_others(path):
    rates = read_paper_table(path).rates
    total = split_tasks("total")
    for left_out, method, score in (
        ("GPT-4o + CodeSteer", "o1", "83.3"),
        ("o1", "GPT-4o + CodeSteer", "87.2"),
        ("DeepSeek R1", "GPT-4o + CodeSteer", "87.7"),
    ):
        fewer = {name: row for name, row in rates.items() if name != left_out}
        assert one_decimal(average_normalized(fewer, total).percent[method]) == score


def test_the_command_counts(path, capsys):
    assert main(["symbench", "avenorm", str(path)]) == 0
    assert capsys.readouterr().out.endswith("39 passed, 0 failed\n")
    assert main(["symbench", "avenorm", str(path), "--leave-out", "o1"]) == 1
    assert main(["symbench", "avenorm", str(path), "--leave-out", "o2"]) == 4
    assert "o2" in capsys.readouterr().err


def test_the_command_leaves_out_a_split_without_common_tasks(tmp_path, capsys):
    table = tmp_path / "table.csv"
    header = "row_type,task,paper_label,split,a,b\n"
    table.write_text(header + "success_rate,game24,,seen,0,0\nsuccess_rate,boxnet,,seen,50,100\n")
    assert main(["symbench", "avenorm", str(table), "--missing", "common"]) == 0
    told = capsys.readouterr()
    assert [line.split()[:3] for line in told.out.splitlines()] == [
        ["seen", "a", "25.0"], ["seen", "b", "50.0"], ["total", "a", "25.0"], ["total", "b", "50.0"]
    ]  # fmt: skip
    assert "unseen: left out" in told.err
    assert "no method solves game24" in told.err
    table.write_text(header)
    assert main(["symbench", "avenorm", str(table)]) == 4
    assert "nothing can be averaged" in capsys.readouterr().err


def test_published_rates_are_those_of_the_table(path):
    rates = published_rates()
    assert sum(len(row) for row in rates.values()) == 481
    assert rates == read_paper_table(path).rates


def test_published_rates_name_their_source(root):
    text = (root / "src/assay/symbench/published_rates.csv").read_text()
    assert text.count(PUBLISHED_SOURCE) == 481
    assert {task for row in published_rates().values() for task in row} == set(TASKS)


def test_a_task_that_nobody_solves_counts_zero_and_stays():
    scores = average_normalized({"a": {"t": 5, "u": 0}, "b": {"t": 10, "u": 0}}, ["t", "u"])
    assert scores.percent == {"a": 25, "b": 50}
    assert scores.zero_tasks == ("u",)
    assert scores.tasks == ("t", "u")


def test_missing_rates():
    rates = {"a": {"t": 5, "u": 4}, "b": {"t": 10}}
    with pytest.raises(DataError, match="b has no rate for u"):
        average_normalized(rates, ["t", "u"])
    assert average_normalized(rates, ["t", "u"], "zero").percent == {"a": 75, "b": 50}
    common = average_normalized(rates, ["t", "u"], "common")
    assert common.percent == {"a": 50, "b": 100}
    assert common.tasks == ("t",)
    with pytest.raises(DataError, match="no task"):
        average_normalized({"a": {"t": 1}, "b": {"u": 1}}, ["t", "u"], "common")


def test_best_everywhere_is_one_hundred():
    assert average_normalized({"a": {"t": 1, "u": 3}, "b": {"t": 0, "u": 3}}, ["t", "u"]).percent["a"] == 100


def test_halves_are_rounded_up():
    assert [one_decimal(Fraction(n, 100)) for n in (5324, 5325, 5395, 10000)] == ["53.2", "53.3", "54.0", "100.0"]


@pytest.mark.parametrize("cell", ["", "x", "-1", "101", "nan", "1e999999999"])
def test_a_bad_cell_names_row_and_column(tmp_path, cell):
    path = tmp_path / "table.csv"
    path.write_text(f"row_type,task,paper_label,split,mine\nsuccess_rate,game24,Game 24,seen,{cell}\n")
    with pytest.raises(DataError) as caught:
        read_paper_table(path)
    assert (caught.value.row, caught.value.key) == (2, "mine")


@pytest.mark.parametrize(
    ("text", "row", "message"),
    [
        ("mine\nsuccess_rate,game24,,seen,5\nsuccess_rate,game24,,seen,9\n", 3, "a second row of game24"),
        ("mine\navenorm_printed,,,seen,5\navenorm_printed,,,seen,9\n", 3, "a second row of seen"),
        ("mine\navenorm_printed,,,hidden,5\n", 2, "no split 'hidden'"),
        ("mine,mine\nsuccess_rate,game24,,seen,5,9\n", 1, "key 'mine': the column stands twice"),
        ("mine\nsuccess_rate,game24,,seen,5,9\n", 2, "more cells"),
        ("mine,yours\nsuccess_rate,game24,,seen,5\n", 2, "fewer cells"),
        ("mine\nsuccess_rate,chess,,seen,5\n", 2, "unknown row type or task"),
    ],
)
def test_what_would_be_ignored_or_replaced_is_refused(tmp_path, text, row, message):
    path = tmp_path / "table.csv"
    path.write_text("row_type,task,paper_label,split," + text)
    with pytest.raises(DataError, match=message) as caught:
        read_paper_table(path)
    assert caught.value.row == row


def test_a_file_that_is_no_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not a table of rates"):
        read_paper_table(path)
    with pytest.raises(DataError, match="does not exist"):
        read_paper_table(tmp_path / "none.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_paper_table(tmp_path)
