"""The Markdown form of the table: which rows it shows, and that it hides nothing silently."""

import pytest

from assay.report.markdown import Section, markdown


def row(metric="bcs", value=0.5, model="m", baseline="", setting="seed=0", **more):
    base = {"benchmark": "fks", "dataset": "d", "method": "greedy", "profile": "corrected", "ci_low": None}
    base |= {"ci_high": None, "n": 10, "n_failed": 0, "unit": "fraction"}
    return base | {"metric": metric, "value": value, "model": model, "baseline": baseline, "setting": setting} | more


def table(rows, **section):
    text = markdown(rows, {"fks": Section(**section)}, 2)
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]
    return text, cells[0], [line for line in cells[1:] if not line[0].startswith("---")]


def test_models_stand_side_by_side_and_what_is_common_stands_once():
    text, head, lines = table([row(model="a"), row(model="b", value=0.25, ci_low=0.1, ci_high=0.3)])
    assert "Shown: method greedy, profile corrected, seed 0." in text
    assert head == ["metric", "a", "b"]
    assert lines == [["bcs", "0.50", "0.25 [0.10, 0.30]"]]


def test_metrics_are_shown_in_the_order_of_the_config_and_others_counted():
    rows = [row("bcs"), row("bes"), row("iss"), row("kts")]
    text, _, lines = table(rows, metrics=["kts", "bcs"])
    assert [line[0] for line in lines] == ["kts", "bcs"]
    assert "2 more rows in table.csv." in text


def test_what_the_config_asks_for_and_no_row_has_is_named():
    text, _, _ = table([row("bcs"), row("bes")], metrics=["bcs", "bess"], where={"sed": ["1"], "seed": ["0"]})
    assert "Asked for in configs/table.yaml and in no row: bess, sed." in text
    text, _, _ = table([row("bcs"), row("bcs", setting="seed=1")], where={"seed": ["0", "2"]})
    assert "Asked for in configs/table.yaml and in no row: seed=2." in text
    assert "in no row" not in table([row("bcs")], metrics=["bcs"])[0]


def test_breakdowns_and_other_values_of_a_setting_are_left_out_but_not_rows_without_it():
    rows = [row(setting="tau=0.8"), row(setting="tau=0.7"), row("bes"), row("iss", setting="relation=capital")]
    text, _, lines = table(rows, where={"tau": ["0.8"]}, without=["relation"])
    assert [line[0] for line in lines] == ["bcs", "bes"]
    assert "tau 0.8" in text
    assert "2 more rows" in text


def test_of_rows_that_differ_in_a_preferred_setting_alone_one_is_shown():
    rows = [row(value=0.1, setting="interval=relation"), row(value=0.2, setting="interval=fact")]
    rows.append(row("kts", value=0.3, setting="interval=relation"))
    text, _, lines = table(rows, prefer={"interval": ["fact", "relation"]})
    assert lines == [["bcs", "0.20"], ["kts", "0.30"]]
    assert "Shown: interval fact, else relation, method greedy" in text


def test_settings_that_tell_shown_rows_apart_are_told():
    rows = [row(setting="seed=0;whitening=zca"), row(setting="seed=0;whitening=none", value=0.1)]
    _, head, lines = table(rows)
    assert head == ["metric", "setting", "m"]
    assert [line[1] for line in lines] == ["whitening=zca", "whitening=none"]


@pytest.mark.parametrize(("second", "head"), [(0.6, ["metric", "a", "b", "majority"]), (0.7, None)])
def test_a_baseline_that_is_the_same_for_all_models_has_one_column(second, head):
    rows = [row(model="a"), row(model="b")]
    rows += [row(model="a", baseline="majority", value=0.6), row(model="b", baseline="majority", value=second)]
    _, found, lines = table(rows)
    assert found == (head or ["metric", "a", "b", "majority (a)", "majority (b)"])
    assert lines[0][3] == "0.60"


def test_failures_and_undefined_values_are_visible():
    _, _, lines = table([row(n_failed=3), row("bes", value=None), row("iss", value=None, n_failed=10)])
    assert lines == [["bcs", "0.50 (3 of 10 failed)"], ["bes", "–"], ["iss", "– (10 of 10 failed)"]]


def test_what_is_no_fraction_has_its_unit_beside_the_metric():
    text, _, lines = table([row("avenorm", value=45.0, unit="percent"), row("bcs")])
    assert "Without a unit it is a fraction." in text
    assert lines == [["avenorm (percent)", "45.00"], ["bcs", "0.50"]]


def test_rows_with_and_without_a_setting_that_is_shown_with_one_value_are_two_lines():
    """Unsaid, the setting would leave one line, and one of the numbers would vanish."""
    rows = [row(setting="seed=0;tau=0.8"), row(setting="seed=0", value=0.25), row("bes", setting="seed=0;tau=0.8")]
    _, head, lines = table(rows, where={"tau": ["0.8"]})
    assert head == ["metric", "setting", "m"]
    assert lines == [["bcs", "tau=0.8", "0.50"], ["bcs", "", "0.25"], ["bes", "tau=0.8", "0.50"]]


def test_a_benchmark_of_which_nothing_is_shown_says_so():
    text = markdown([row("iss")], {"fks": Section(metrics=["bcs"])}, 2)
    assert "No row is shown." in text
    assert "1 more rows" in text


def test_names_with_bars_and_breaks_stay_in_their_cell():
    text = table([row(setting="relation=a|b\nc;seed=0"), row(setting="relation=d;seed=0")])[0]
    assert "| bcs | relation=a\\|b c | 0.50 |" in text
