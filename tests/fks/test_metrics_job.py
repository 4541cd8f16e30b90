"""The metrics job on small artifacts: what enters which number, baselines, side tables, refusals."""

import json
import random

import msgspec
import pytest

from assay.errors import DataError
from assay.fks.metrics import compute
from assay.fks.rows import ClusterRow, Entity, FactRow, QueryRow, Relation, ScoredRow
from assay.fks.summary import tidy
from assay.records.jsonl import read_rows, write_rows
from assay.records.rows import MetricRow
from assay.records.step import Input, Inputs

FLAGS = {
    "main": {"use_for_main_forward": True},
    "reverse": {"use_for_reverse_analysis": True},
    "recognition": {"use_for_recognition_analysis": True},
    "illposed": {"is_well_posed": False},
    "none": {},
}
CLUSTER = {"correct": "gold", "abstain": "abstain", "incorrect": "ans:x", "ambiguous": "amb:x"}


class Bench:
    """A benchmark in memory that is written as the three artifacts that the job reads."""

    def __init__(self, folder):
        self.folder, self.facts, self.queries, self.scored, self.clusters = folder, [], [], [], []

    def fact(self, fact_id, relation="r0", gold="G", spec=False, copy=False):
        self.facts.append(
            FactRow(
                fact_id=fact_id,
                subject=Entity(canonical=f"S{fact_id}"),
                object=Entity(canonical=gold),
                relation=Relation(relation_id=relation),
                qualification_question="?",
                answer_type="entity",
                answer_granularity="exact",
                answer_in_subject_surface=copy,
                spec_6_2_flag=spec,
            )
        )

    def ask(self, family, label, kind="main", language="en", query="?", finish="eos"):
        fact, n = self.facts[-1], len(self.queries)
        flags = {
            "is_well_posed": True,
            "use_for_main_forward": False,
            "use_for_reverse_analysis": False,
            "use_for_recognition_analysis": False,
            **FLAGS[kind],
        }
        common = {
            "query_id": f"{fact.fact_id}_{n:04d}",
            "fact_id": fact.fact_id,
            "relation": fact.relation.relation_id,
            "condition_family": family,
            "variant_id": f"{family}_0",
            "language": language,
            "is_assisted": kind == "recognition",
            "answer_in_subject_surface": fact.answer_in_subject_surface,
            **flags,
        }
        self.queries.append(QueryRow(query=query, target_slot="object", gold_canonical=fact.object.canonical, **common))
        row = ScoredRow(
            row_id=f"row{n:04d}",
            sample_index=0,
            spec_6_2_flag=fact.spec_6_2_flag,
            text="",
            finish_reason=finish,
            truncated=False,
            error="boom" if finish == "error" else None,
            label=label,
            segment="",
            matched_surface="",
            rule_id="r",
            scorer_version="s1",
            **common,
        )
        self.scored.append(row)
        self.clusters.append(
            ClusterRow(
                row_id=row.row_id,
                query_id=row.query_id,
                fact_id=row.fact_id,
                label=label,
                cluster=CLUSTER.get(label, f"unparseable:{row.row_id}"),
                clusterer_version="c1",
            )
        )

    def inputs(self):
        write_rows(self.folder / "facts.jsonl", self.facts)
        write_rows(self.folder / "queries.jsonl", self.queries)
        write_rows(self.folder / "labels.jsonl", self.scored)
        write_rows(self.folder / "clusters.jsonl", self.clusters)
        return Inputs(
            tuple(Input(role, role, "x", "0" * 12, self.folder, "bytes") for role in ("queries", "labels", "clusters"))
        )

    def run(self, **config):
        outputs = compute({"dataset": "d", "model": "m", "bootstrap": {"resamples": 50}, **config}, self.inputs())
        for name, content in outputs.items():
            path = self.folder / f"out-{name}"
            path.write_bytes(content) if isinstance(content, bytes) else write_rows(path, content)
        return list(read_rows(self.folder / "out-metrics.jsonl", MetricRow))

    def document(self):
        return json.loads((self.folder / "out-metrics.json").read_text())


def value(rows, metric, baseline="", **setting):
    """The one value whose setting holds all the given pairs and no grouping beyond them."""
    found = []
    for row in rows:
        pairs = dict(part.split("=") for part in row.setting.split(";")) if row.setting else {}
        grouping = {"relation", "family", "language", "kind"} & pairs.keys()
        named = row.metric == metric and row.baseline == baseline and grouping <= setting.keys()
        if named and pairs.get("interval") != "relation" and setting.items() <= pairs.items():
            found.append(row)
    assert len(found) == 1, [row.setting for row in found]
    return found[0]


FULL = {"anchor": "true", "coverage": "full_set", "subset": "all"}


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_rows_enter_by_their_flags_whatever_their_family_is_called(bench):
    bench.fact("f0")
    bench.ask("anchor", "correct")
    bench.ask("paraphrase", "correct")
    bench.ask("paraphrase", "incorrect", kind="reverse")  # a main family, flagged for the reverse table
    bench.ask("reverse", "incorrect", kind="main")  # a diagnostic family, flagged main: not in main_families
    bench.ask("format", "incorrect", kind="none")
    rows = bench.run()
    assert value(rows, "bcs", **FULL).value == 1.0
    assert value(rows, "reverse_accuracy").value == 0.0
    assert value(rows, "reverse_accuracy").n == 1
    assert bench.document()["rows"]["unused"] == 1
    with_reverse = bench.run(main_families=["anchor", "paraphrase", "reverse"])
    assert value(with_reverse, "bcs", **FULL).value == pytest.approx(2 / 3)


def test_keys_of_the_tidy_rows_are_unique_and_intervals_contain_the_value(bench):
    for number in range(12):
        bench.fact(f"f{number:02d}", relation=f"r{number % 3}", copy=number % 2 == 0, spec=number % 5 == 0)
        for family in ("anchor", "paraphrase", "format", "context"):
            bench.ask(family, "correct" if (number * 7 + len(family)) % 3 else "incorrect")
        bench.ask("multilingual", "abstain", language="fr")
        bench.ask("recognition", "correct", kind="recognition", query="? A) a B) b C) c D) d")
        bench.ask("recognition", "incorrect", kind="recognition", query="True or false?")
        bench.ask("reverse_illposed", "ambiguous", kind="illposed")
    rows = bench.run()
    keys = [(r.model, r.setting, r.metric, r.baseline) for r in rows]
    assert len(set(keys)) == len(keys)
    for row in rows:
        if row.ci_low is not None:
            assert row.ci_low - 1e-9 <= row.ci_high
            assert row.ci_low >= 0
            assert row.ci_high <= 1
    assert value(rows, "recognition_accuracy", kind="multiple_choice", baseline="guessing").value == 0.25
    assert value(rows, "recognition_accuracy", kind="true_false", baseline="guessing").value == 0.5
    assert value(rows, "illposed_noticed_share").value == 1.0
    assert value(rows, "correct_share", language="fr", **FULL).value == 0.0


def test_side_tables_of_few_facts_name_the_wilson_interval(bench):
    bench.fact("f0")
    bench.ask("anchor", "correct")
    bench.ask("reverse", "correct", kind="reverse")
    bench.ask("reverse", "incorrect", kind="reverse", language="fr")
    row = value(bench.run(), "reverse_accuracy")
    assert "interval=wilson_facts" in row.setting
    assert (row.value, row.n) == (0.5, 2)
    assert 0 < row.ci_low < 0.5 < row.ci_high < 1


def test_majority_baseline_counts_the_most_frequent_object(bench):
    for number, gold in enumerate(["Asia", "Asia", "Asia", "Europe"]):
        bench.fact(f"f{number}", gold=gold)
        bench.ask("anchor", "incorrect")
    rows = bench.run()
    assert value(rows, "correct_share", baseline="majority", **FULL).value == 0.75
    assert value(rows, "bcs", baseline="majority", **FULL).value == 1.0


def test_coverage_and_subsets_count_what_they_leave_out(bench):
    bench.fact("f0", copy=True)
    bench.ask("anchor", "correct")
    bench.fact("f1", spec=True)
    for family in ("anchor", "paraphrase", "format", "context", "multilingual"):
        bench.ask(family, "correct")
    rows = bench.run()
    assert value(rows, "bcs", **{**FULL, "coverage": "complete_family"}).n == 1
    lines = {(x["anchor"], x["coverage_mode"], x["subset"]): x for x in bench.document()["lines"]}
    assert lines[True, "complete_family", "all"]["n_excluded"] == {"incomplete_family": 1}
    assert lines[False, "full_set", "all"]["n_excluded"] == {"no_main_rows": 1}
    assert lines[True, "full_set", "drop_spec_6_2_flagged"]["n_excluded"] == {"outside_subset": 1}
    switched = bench.run(drop_answer_in_subject=True)
    assert value(switched, "bcs", **FULL).n == 1
    empty = value(switched, "bcs", **{**FULL, "subset": "answer_in_subject"})
    assert (empty.value, empty.n) == (None, 0)


def test_failed_generations_are_counted_and_are_clusters_of_their_own(bench):
    bench.fact("f0")
    bench.ask("anchor", "unparseable", finish="error")
    bench.ask("paraphrase", "unparseable", finish="error")
    bench.ask("format", "correct")
    row = value(bench.run(), "bcs", **FULL)
    assert (row.value, row.n_failed) == (pytest.approx(1 / 3), 2)


def test_order_of_rows_changes_no_byte(bench):
    for number in range(12):
        bench.fact(f"f{number:02d}", relation=f"r{number % 3}")
        for family in ("anchor", "paraphrase", "format", "format", "context"):
            bench.ask(family, ["correct", "incorrect", "abstain", "unparseable"][(number + len(family)) % 4])
        bench.ask("reverse", "correct", kind="reverse")
    bench.run()
    names = ("out-metrics.jsonl", "out-per_fact.jsonl")
    first = [(bench.folder / name).read_bytes() for name in names]
    for rows in (bench.facts, bench.queries, bench.scored, bench.clusters):
        random.Random(1).shuffle(rows)
    bench.run()
    assert [(bench.folder / name).read_bytes() for name in names] == first


def test_missing_and_left_over_answers_are_refused(bench):
    bench.fact("f0")
    bench.ask("anchor", "correct")
    bench.ask("format", "correct")
    last, cluster, query = bench.scored.pop(), bench.clusters.pop(), bench.queries[-1]
    with pytest.raises(DataError, match="1 of 2 queries have no scored answer") as missing:
        bench.run()
    assert missing.value.row == query.query_id
    bench.scored.append(last)
    with pytest.raises(DataError, match="has no cluster"):
        bench.run()
    bench.clusters.append(cluster)
    bench.queries.pop()
    with pytest.raises(DataError, match="belongs to no query"):
        bench.run()


def test_flags_that_differ_between_query_and_answer_are_refused(bench):
    bench.fact("f0")
    bench.ask("anchor", "correct")
    bench.scored[0] = msgspec.structs.replace(bench.scored[0], use_for_main_forward=False)
    with pytest.raises(DataError, match="the query says True") as refused:
        bench.run()
    assert refused.value.key == "use_for_main_forward"


def test_what_rounding_leaves_of_a_zero_is_not_written():
    """It differs between processors, and significant digits alone would print it."""
    assert [tidy(value) for value in (2.220446049250313e-16, -1.1e-16, 1 / 3)] == [0.0, 0.0, 0.333333333333]
    assert str(tidy(-1.1e-16)) == "0.0"
    assert tidy(-7.05159724123e-05, 9) == -7.0516e-05


def test_relation_names_may_hold_separators(bench):
    bench.fact("f0", relation="a;b=c")
    bench.ask("anchor", "correct")
    assert any("relation=a%3Bb%3Dc" in row.setting for row in bench.run())


def test_side_tables_for_readers_count_rows_and_facts(bench):
    from assay.fks.group_tables import groups_markdown
    from assay.fks.metric_document import Document

    for number in range(2):
        bench.fact(f"f{number}")
        bench.ask("anchor", "correct")
        for _ in range(3):
            bench.ask("reverse", "correct", kind="reverse")
    bench.run()
    text = groups_markdown([(msgspec.convert(bench.document(), Document), "isa")])
    assert "| group | rows | facts | accuracy | guessing |" in text
    assert "| all | 6 | 2 | 1.000" in text
