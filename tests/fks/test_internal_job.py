"""The metrics job with hidden states: what is written, and that exclusions are counted."""

import json

import numpy as np
import pytest
from safetensors.numpy import save

from assay.fks.lens_file import Lens
from assay.fks.metrics import compute
from assay.fks.rows import ClusterRow, Entity, FactRow, QueryRow, Relation, ScoredRow
from assay.records.jsonl import read_rows, write_rows
from assay.records.rows import MetricRow
from assay.records.step import Input, Inputs

FAMILIES = {"anchor": 1, "paraphrase": 2, "format": 2, "context": 1, "multilingual": 2}
WIDTH, LAYERS = 6, (2, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """24 facts in three relations; facts whose states scatter more also answer less stably."""
    tmp_path = tmp_path_factory.mktemp("fks")
    rng = np.random.default_rng(1)
    facts, queries, scored, clusters, states = [], [], [], [], []
    for number in range(24):
        fact_id, relation, copy = f"f{number:03d}", f"r{number % 3}", number % 4 == 0
        noise = 0.05 + 0.1 * number
        centre = rng.normal(size=(len(LAYERS), WIDTH))
        facts.append(
            FactRow(
                fact_id=fact_id,
                subject=Entity(canonical="s"),
                object=Entity(canonical=f"o{number % 5}"),
                relation=Relation(relation_id=relation),
                qualification_question="?",
                answer_type="entity",
                answer_granularity="exact",
                answer_in_subject_surface=copy,
                spec_6_2_flag=False,
            )
        )
        for family, n in FAMILIES.items():
            for k in range(n):
                common = {
                    "query_id": f"{fact_id}-{family}-{k}",
                    "fact_id": fact_id,
                    "relation": relation,
                    "condition_family": family,
                    "variant_id": "v",
                    "language": "en",
                    "is_assisted": False,
                    "is_well_posed": True,
                    "use_for_main_forward": True,
                    "use_for_reverse_analysis": False,
                    "use_for_recognition_analysis": False,
                    "answer_in_subject_surface": copy,
                }
                wrong = rng.random() < noise / 3
                label = "incorrect" if wrong else "correct"
                queries.append(QueryRow(query="?", target_slot="object", gold_canonical="o", **common))
                row_id = f"row{len(scored):04d}"
                scored.append(
                    ScoredRow(
                        row_id=row_id,
                        sample_index=0,
                        spec_6_2_flag=False,
                        text="",
                        finish_reason="eos",
                        truncated=False,
                        error=None,
                        label=label,
                        segment="",
                        matched_surface="",
                        rule_id="r",
                        scorer_version="s1",
                        **common,
                    )
                )
                cluster = f"ans:{rng.integers(3)}" if wrong else "gold"
                clusters.append(
                    ClusterRow(
                        row_id=row_id,
                        query_id=common["query_id"],
                        fact_id=fact_id,
                        label=label,
                        cluster=cluster,
                        clusterer_version="c1",
                    )
                )
                states.append(centre + noise * rng.normal(size=centre.shape))
    write_rows(tmp_path / "facts.jsonl", facts)
    write_rows(tmp_path / "queries.jsonl", queries)
    write_rows(tmp_path / "labels.jsonl", scored)
    write_rows(tmp_path / "clusters.jsonl", clusters)
    states[3][1, 2] = np.nan
    header = {"schema": "hidden-1", "layers": list(LAYERS), "top_state": "block_output", "model_id": "m"}
    (tmp_path / "hidden-00000.safetensors").write_bytes(
        save({"h": np.stack(states).astype(np.float32)}, {"fks": json.dumps(header)})
    )
    rows = [{"query_id": q.query_id, "shard": "hidden-00000.safetensors", "row": k} for k, q in enumerate(queries)]
    write_rows(tmp_path / "index.jsonl", rows)
    jacobians = np.stack([np.random.default_rng(2).normal(size=(WIDTH, WIDTH)), np.eye(WIDTH)]).astype(np.float32)
    lens = Lens({"layers": list(LAYERS), "n_prompts": 7}, jacobians)
    (tmp_path / "lens.safetensors").write_bytes(lens.to_bytes())
    return tmp_path


_DONE = {}


def run(folder, roles=("queries", "labels", "clusters", "hidden"), **config):
    """Outputs of the job, computed once per configuration."""
    key = (folder, roles, json.dumps(config, sort_keys=True))
    if key not in _DONE:
        _DONE[key] = compute_now(folder, roles, config)
    return _DONE[key]


def compute_now(folder, roles, config):
    inputs = Inputs(tuple(Input(role, role, "x", "0" * 12, folder, "bytes") for role in roles))
    return compute({"dataset": "d", "model": "m", "bootstrap": {"resamples": 100}, **config}, inputs)


def numbers(outputs):
    return {(row.metric, row.setting, row.baseline): row for row in outputs["metrics.jsonl"]}


def pick(outputs, metric, **wanted):
    found = [
        row
        for row in outputs["metrics.jsonl"]
        if row.metric == metric
        and wanted.items() <= dict(p.split("=") for p in row.setting.split(";")).items()
        and "relation=" not in row.setting
    ]
    assert len(found) == 1, [row.setting for row in found]
    return found[0]


MAIN = {"anchor": "true", "coverage": "full_set", "subset": "all"}


def test_every_internal_number_is_there_with_its_interval_and_exclusions(folder):
    outputs = run(folder)
    keys = [(r.setting, r.metric, r.baseline) for r in outputs["metrics.jsonl"]]
    assert len(set(keys)) == len(keys)
    for whitening in ("none", "center", "zca"):
        row = pick(outputs, "iss", **MAIN, transport="raw", whitening=whitening, interval="fact")
        assert row.ci_low < row.value < row.ci_high
        assert (row.n, row.n_failed) == (24, 1)
    raw = pick(outputs, "kts_geo_raw_spearman", **MAIN, interval="relation")
    geo = pick(outputs, "kts_geo", **MAIN, interval="relation")
    assert geo.value == pytest.approx((raw.value + 1) / 2)
    assert geo.n == 3
    assert pick(outputs, "kts_id", **MAIN, interval="relation").value > 0.3
    document = json.loads(outputs["metrics.json"])
    assert document["states"]["excluded"] == {"nonfinite_state": 1}
    assert document["states"]["header"]["top_state"] == "block_output"


def test_what_may_be_below_zero_is_no_fraction(folder):
    rows = run(folder)["metrics.jsonl"]
    units = {row.metric: row.unit for row in rows}
    assert (units["iss"], units["kts_id"], units["kts_geo_raw_spearman"]) == ("score", "score", "correlation")
    assert all(0 <= row.value <= 1 for row in rows if row.unit == "fraction" and row.value is not None)


def test_stability_inside_and_outside_correlate_where_they_were_made_to(folder):
    outputs = run(folder)
    row = pick(outputs, "joint_spearman_pooled", **MAIN, inside="iss", outside="bcs", interval="fact")
    assert row.value > 0.3
    assert row.ci_low < row.value < row.ci_high
    within = pick(outputs, "joint_spearman_within_relation", **MAIN, inside="iss", outside="bcs", interval="relation")
    assert within.n == 3
    alone = pick(
        outputs,
        "joint_spearman_pooled",
        **{**MAIN, "subset": "answer_not_in_subject"},
        inside="iss",
        outside="bcs",
        interval="fact",
    )
    assert alone.n == 18


@pytest.mark.parametrize("anchor", [True, False])
@pytest.mark.parametrize("outside", ["bcs", "bes"])
@pytest.mark.parametrize("inside", ["iss", "kts_id"])
def test_joint_equals_a_plain_computation_from_the_per_fact_rows(folder, inside, outside, anchor):
    """Facts that are equal but for the order in which their shares were added up are tied, as they are when written."""
    from scipy.stats import spearmanr

    outputs = run(folder)
    rows = [row["with_anchor" if anchor else "without_anchor"] for row in outputs["per_fact.jsonl"]]
    found = [row["internal"]["raw"] for row in rows]
    values = [row["iss"]["zca"]["iss"] if inside == "iss" else row["kts_id"]["cosine"] for row in found]
    wanted = {**MAIN, "anchor": str(anchor).lower(), "inside": inside, "outside": outside}
    expected = spearmanr(values, [row[outside] for row in rows]).statistic
    got = pick(outputs, "joint_spearman_pooled", **wanted, interval="fact").value
    assert got == pytest.approx(expected, abs=1e-8)


def test_iss_is_the_mean_of_the_per_fact_rows(folder):
    outputs = run(folder)
    iss = [row["with_anchor"]["internal"]["raw"]["iss"]["zca"]["iss"] for row in outputs["per_fact.jsonl"]]
    assert np.mean(iss) == pytest.approx(pick(outputs, "iss", **MAIN, whitening="zca", interval="fact").value, abs=1e-7)


def test_lens_adds_a_transport_and_names_its_prompts(folder):
    outputs = run(
        folder, ("queries", "labels", "clusters", "hidden", "lens"), internal={"transports": ["raw", "jlens"]}
    )
    moved = pick(outputs, "iss", **MAIN, transport="jlens", whitening="zca", interval="fact", lens_prompts="7")
    raw = pick(outputs, "iss", **MAIN, transport="raw", whitening="zca", interval="fact")
    assert moved.value != raw.value


def test_layer_and_pair_files_agree_with_the_window(folder):
    outputs = run(folder)
    layers = [row for row in outputs["internal_layers.jsonl"] if row["anchor"] and row["coverage"] == "full_set"]
    assert [row["layer"] for row in layers] == list(LAYERS)
    geo = pick(outputs, "kts_geo_raw_spearman", **MAIN, interval="relation").value
    assert np.mean([row["kts_geo_raw_spearman"] for row in layers]) == pytest.approx(geo, abs=1e-7)
    pairs = [
        row
        for row in outputs["internal_pairs.jsonl"]
        if row["metric"] == "kts_geo_raw_spearman" and row["coverage"] == "full_set"
    ]
    assert len(pairs) == 3 * 10
    assert {row["n_facts"] for row in pairs} <= {7, 8}


def test_the_written_rows_are_the_tidy_rows(folder):
    outputs = run(folder)
    write_rows(folder / "out.jsonl", outputs["metrics.jsonl"])
    write_rows(folder / "facts-out.jsonl", outputs["per_fact.jsonl"])
    assert list(read_rows(folder / "out.jsonl", MetricRow)) == outputs["metrics.jsonl"]


def test_without_states_the_external_numbers_are_the_same(folder):
    with_states, without = run(folder), run(folder, ("queries", "labels", "clusters"))
    external = {row.metric for row in without["metrics.jsonl"]}
    assert [row for row in with_states["metrics.jsonl"] if row.metric in external] == without["metrics.jsonl"]


def main_table(folder, roles, **config):
    from assay.fks.main_table import build

    outputs = run(folder, roles, **config)
    (folder / "metrics.json").write_bytes(outputs["metrics.json"])
    return outputs, build({}, Inputs((Input("metrics", "metrics", "x", "0" * 12, folder, "isa"),)))


def test_main_table_has_one_row_per_selection_and_transport_in_every_form(folder):
    import csv

    roles = ("queries", "labels", "clusters", "hidden", "lens")
    outputs, table = main_table(folder, roles, internal={"transports": ["raw", "jlens"]}, filter_model=True)
    rows = list(csv.DictReader(table["main_table.csv"].decode().splitlines()))
    assert len(rows) == 2 * 2 * 4 * 2
    one = next(
        row
        for row in rows
        if (row["transport"], row["coverage"], row["subset"], row["anchor"]) == ("raw", "full_set", "all", "true")
    )
    for column, wanted in {
        "bcs": {},
        "bes": {},
        "correct_share": {},
        "stable_correct_share": {"tau": "0.8"},
        "iss": {"whitening": "zca", "transport": "raw"},
    }.items():
        expected = pick(outputs, column, **MAIN, **wanted, interval="relation")
        assert float(one[column]) == expected.value
        assert float(one[f"{column}_relation_low"]) == expected.ci_low
    for column in ("kts_geo", "kts_id", "kts_geo_raw_spearman"):
        assert float(one[column]) == pick(outputs, column, **MAIN, transport="raw", interval="relation").value
    assert (one["filter_model"], one["determinism"], one["n_nonfinite"]) == ("true", "isa", "1")
    text = table["main_table.md"].decode()
    assert "| m* | raw | full_set | all | in | 24 |" in text
    for form in ("main_table.md", "main_table.tex"):
        assert "copying the subject" in table[form].decode()
        assert "10,601 of 1,783,541" in table[form].decode()
        for said in (
            "0.8; intervals: percentile bootstrap, 0.95, 100 resamples, seed 20260101",
            "ISS zca, KTS-Geo none, KTS-ID zca (cosine), shrinkage 0.1",
            "lens of 7 prompts; failed answers: 0; states left out: 1; determinism: isa; scorer s1, clusterer c1.",
        ):
            assert said in table[form].decode()
    assert r"full\_set" in table["main_table.tex"].decode()


def test_floors_stand_beside_the_numbers_of_the_same_facts(folder):
    import csv

    outputs, table = main_table(folder, ("queries", "labels", "clusters"))
    rows = list(csv.DictReader(table["main_table.csv"].decode().splitlines()))
    one = next(row for row in rows if (row["coverage"], row["subset"], row["anchor"]) == ("full_set", "all", "true"))
    wanted = {"bcs_chance": ("bcs", "chance"), "bes_chance": ("bes", "chance")}
    wanted["correct_share_majority"] = ("correct_share", "majority")
    for column, (metric, baseline) in wanted.items():
        (row,) = [
            row
            for row in outputs["metrics.jsonl"]
            if (row.metric, row.baseline) == (metric, baseline)
            and "relation=" not in row.setting
            and {f"{key}={value}" for key, value in MAIN.items()} <= set(row.setting.split(";"))
        ]
        assert float(one[column]) == row.value
    assert "| BCS floor | BES floor | majority |" in table["main_table.md"].decode()


def test_tables_by_group_hold_the_tidy_numbers(folder):
    import csv

    outputs, table = main_table(folder, ("queries", "labels", "clusters", "hidden"))
    tidy = {}
    for row in outputs["metrics.jsonl"]:
        setting = dict(pair.split("=") for pair in row.setting.split(";"))
        if "relation" in setting and not row.baseline and "reason" not in setting:
            key = tuple(setting.get(k, "") for k in ("coverage", "subset", "anchor", "relation", "transport", "tau"))
            tidy[*key, setting.get("whitening", ""), row.metric, setting.get("interval", "")] = row
    found = list(csv.DictReader(table["by_relation.csv"].decode().splitlines()))
    assert len(found) == len(tidy) > 100
    for row in found:
        setting = dict(pair.split("=") for pair in row["setting"].split(";") if pair)
        key = (row["coverage"], row["subset"], row["anchor"], row["relation"], row["transport"], setting.get("tau", ""))
        other = tidy[*key, setting.get("whitening", ""), row["metric"], row["interval"]]
        assert (float(row["value"]) if row["value"] else None, int(row["n"])) == (other.value, other.n)
    families = {row["family"] for row in csv.DictReader(table["by_family.csv"].decode().splitlines())}
    assert families == set(FAMILIES)
    text = table["groups.md"].decode()
    assert "chance bcs" in text
    assert "copying the subject" in text


def test_main_table_without_states_leaves_the_internal_columns_empty(folder):
    import csv

    _, table = main_table(folder, ("queries", "labels", "clusters"))
    rows = list(csv.DictReader(table["main_table.csv"].decode().splitlines()))
    assert len(rows) == 16
    assert {(row["transport"], row["iss"], row["kts_id"]) for row in rows} == {("", "", "")}


def test_main_table_of_no_model_is_a_header():
    from assay.fks.main_table import build

    table = build({}, Inputs(()))
    assert table["main_table.csv"].decode().count("\n") == 1
    assert table["main_table.csv"].decode().startswith("dataset,model,")


def test_models_are_correlated_only_from_three_on(folder):
    from assay.fks.main_table import build

    outputs = run(folder)
    document = json.loads(outputs["metrics.json"])
    artifacts = []
    for number in range(3):
        place = folder / f"m{number}"
        place.mkdir()
        document["model"] = f"m{number}"
        for line in document["lines"]:
            line["values"]["bcs"]["value"] = 0.5 + number / 10
            line["internal"]["raw"]["iss@whitening=zca"]["value"] = 0.9 - number / 10
        (place / "metrics.json").write_text(json.dumps(document))
        artifacts.append(Input("metrics", "metrics", f"m{number}", "0" * 12, place, "isa"))
    two = json.loads(build({}, Inputs(tuple(artifacts[:2])))["main_table.json"])["across_models"]
    three = json.loads(build({}, Inputs(tuple(artifacts)))["main_table.json"])["across_models"]
    assert {(one["n_models"], one["spearman"]) for one in two if one["inside"] == "iss"} == {(2, None)}
    found = [one for one in three if (one["inside"], one["outside"]) == ("iss", "bcs")]
    assert {(one["n_models"], one["spearman"]) for one in found} == {(3, -1.0)}


def test_a_model_with_several_seeds_counts_once_and_its_rows_name_the_seed(folder):
    from assay.fks.main_table import build

    document = json.loads(run(folder)["metrics.json"])
    artifacts = []
    for number in range(4):
        place = folder / f"s{number}"
        place.mkdir()
        document["model"], document["config"]["setting"] = f"m{number // 2}", {"seed": str(number % 2)}
        (place / "metrics.json").write_text(json.dumps(document))
        artifacts.append(Input("metrics", "metrics", f"s{number}", "0" * 12, place, "isa"))
    table = build({}, Inputs(tuple(artifacts)))
    across = json.loads(table["main_table.json"])["across_models"]
    assert {(one["n_models"], one["spearman"]) for one in across if one["subset"] == "all"} == {(2, None)}
    text = table["main_table.md"].decode()
    assert "| m1 (seed 0) | raw |" in text
    assert "| m1 (seed 1) | raw |" in text


def test_a_relation_whose_name_holds_separators_keeps_it_in_the_tables(folder):
    import csv

    import msgspec

    from assay.fks.group_tables import group_csv, groups_markdown
    from assay.fks.metric_document import Document, named
    from assay.fks.summary import Number

    document = msgspec.json.decode(run(folder)["metrics.json"], type=Document)
    inner = named([Number("iss", 0.5, 3, setting={"relation": "a, b=c|d", "whitening": "zca"})])
    line = msgspec.structs.replace(document.lines[0], internal={"raw": inner}, by_relation={"a, b=c|d": {}})
    document = msgspec.structs.replace(document, lines=(line,))
    (row,) = csv.DictReader(group_csv([document], "relation").splitlines())
    assert (row["relation"], row["metric"], row["setting"], row["value"]) == ("a, b=c|d", "iss", "whitening=zca", "0.5")
    assert r"| a, b=c\|d | – |" in groups_markdown([(document, "isa")])
