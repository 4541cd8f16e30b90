"""The stages prompts, labels, judgements and clusters on artifacts, and what their code may import."""

import subprocess
import sys
from itertools import combinations

import msgspec
import pytest

from assay.errors import DataError
from assay.fks.clusters import cluster_rows
from assay.fks.judge import JudgementRow, build_judge_prompts, judgement_rows
from assay.fks.prompts import build_prompts
from assay.fks.rows import ClusterRow, Entity, FactRow, QueryRow, Relation, ScoredRow
from assay.fks.scoring import label_rows
from assay.records.jsonl import write_rows
from assay.records.rows import GenerationRow, PromptRow, row_id
from assay.records.step import Input, Inputs

CITIES = {"Norway": ("Oslo", "Осло"), "Italy": ("Rome", "Roma"), "Peru": ("Lima", "利马")}


def fact(number, country):
    name, alias = CITIES[country]
    return FactRow(
        fact_id=f"f{number}",
        subject=Entity(canonical=country, entity_id=f"S{number}"),
        object=Entity(canonical=name, entity_id=f"O{number}", aliases=(alias,)),
        relation=Relation(relation_id="capital"),
        qualification_question=f"What is the capital of {country}?",
        answer_type="entity",
        answer_granularity="exact",
        answer_in_subject_surface=False,
        spec_6_2_flag=number == 1,
    )


def query(number, found, family, text, **fields):
    main = family != "reverse"
    values = {
        "target_slot": "object" if main else "subject",
        "gold_canonical": found.object.canonical if main else found.subject.canonical,
        "gold_aliases": found.object.aliases if main else (),
    } | fields
    return QueryRow(
        query_id=f"{found.fact_id}_{number}",
        fact_id=found.fact_id,
        relation="capital",
        condition_family=family,
        variant_id=f"{family}_0",
        language="en",
        query=text,
        is_assisted=False,
        is_well_posed=True,
        use_for_main_forward=main,
        use_for_reverse_analysis=not main,
        use_for_recognition_analysis=False,
        answer_in_subject_surface=False,
        **values,
    )


FACTS = [fact(number, country) for number, country in enumerate(CITIES)]
QUERIES = [
    row
    for found in FACTS
    for row in (
        query(0, found, "anchor", found.qualification_question),
        query(1, found, "paraphrase", f"Capital of {found.subject.canonical}?"),
        query(2, found, "format", f"Country: {found.subject.canonical}\nCapital:"),
        query(3, found, "reverse", f"{found.object.canonical} is the capital of which country?"),
    )
]
TEXTS = [
    "Oslo",
    " Bergen",
    "Bergen city",
    "Italy",
    "It is Lima",
    "利马",
    "Rome or Lima",
    "Italy",
    "",
    "no idea",
    "x",
    "Peru",
]


class Folder:
    """Artifacts in a folder, by role."""

    def __init__(self, path):
        self.path = path
        self.found = []

    def add(self, role, **files):
        folder = self.path / f"{len(self.found)}-{role}"
        for name, rows in files.items():
            write_rows(folder / f"{name}.jsonl", rows)
        self.found.append(Input(role, role, "item", "key", folder, "bytes"))
        return self

    def inputs(self, *roles):
        return Inputs(tuple(artifact for artifact in self.found if artifact.role in roles))


def generation(query_id, text, sample=0, **fields):
    values = {"finish_reason": "eos", "error": None} | fields
    return GenerationRow(
        row_id=row_id(query_id, "p", sample),
        query_id=query_id,
        sample_index=sample,
        row_key="k",
        prompt_sha256="p",
        prompt_ids_sha256="i",
        n_prompt_tokens=1,
        truncated=False,
        text=text,
        n_new_tokens=1,
        **values,
    )


GENERATIONS = [generation(row.query_id, text) for row, text in zip(QUERIES, TEXTS, strict=True)]


@pytest.fixture
def artifacts(tmp_path):
    return Folder(tmp_path).add("queries", facts=FACTS, queries=QUERIES)


def labels_of(artifacts, generations, config=None):
    artifacts.add("generations", generations=generations)
    return list(label_rows(config or {}, artifacts.inputs("queries", "generations"))["labels.jsonl"])


def test_prompts_follow_the_queries(artifacts):
    outputs = build_prompts({"anchor": "Q: {query}", "other": "{query}"}, artifacts.inputs("queries"))
    rows = list(outputs["prompts.jsonl"])
    assert [row.query_id for row in rows] == [row.query_id for row in QUERIES]
    assert rows[0] == PromptRow.of_text("f0_0", "Q: What is the capital of Norway?")


def test_labels_follow_the_queries_and_carry_their_flags(artifacts):
    rows = labels_of(artifacts, GENERATIONS[::-1])
    assert [row.query_id for row in rows] == [row.query_id for row in QUERIES]
    assert [row.label for row in rows] == [
        "correct", "incorrect", "incorrect", "incorrect",
        "incorrect", "incorrect", "ambiguous", "correct",
        "unparseable", "abstain", "incorrect", "correct",
    ]  # fmt: skip
    assert {row.query_id: row.spec_6_2_flag for row in rows}["f1_0"] is True
    assert rows[3].use_for_reverse_analysis
    assert rows[4].matched_surface == "Lima"


def test_subjects_are_the_competitors_of_a_reverse_query(artifacts):
    rows = {row.query_id: row for row in labels_of(artifacts, GENERATIONS)}
    assert rows["f0_3"].rule_id == "entity_other"
    assert rows["f0_3"].matched_surface == "Italy"


def test_answer_type_comes_from_the_fact_unless_the_query_has_one(tmp_path):
    found = msgspec.structs.replace(FACTS[0], answer_type="year", answer_granularity="year",
                                    object=Entity(canonical="1999"))  # fmt: skip
    rows = [query(0, found, "anchor", "When?"), query(1, found, "reverse", "Who in 1999?")]
    artifacts = Folder(tmp_path).add("queries", facts=[found], queries=rows)
    scored = labels_of(artifacts, [generation("f0_0", "1 May 1999"), generation("f0_1", "Norway")])
    assert [row.rule_id for row in scored] == ["date", "exact"]


def test_samples_of_a_query_stand_together(artifacts):
    again = [generation(row.query_id, "Rome", 1) for row in QUERIES]
    rows = labels_of(artifacts, [*again, *GENERATIONS])
    assert [(row.query_id, row.sample_index) for row in rows[:3]] == [("f0_0", 0), ("f0_0", 1), ("f0_1", 0)]


def test_failed_generation_is_labelled_not_dropped(artifacts):
    failed = generation("f0_0", "", finish_reason="error", error="no memory")
    row = labels_of(artifacts, [failed, *GENERATIONS[1:]])[0]
    assert (row.label, row.rule_id, row.finish_reason, row.error) == (
        "unparseable", "generation_error", "error", "no memory",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("generations", "message"),
    [
        (GENERATIONS[1:], "1 of 12 queries have no generation: f0_0"),
        ([*GENERATIONS, generation("f9_0", "x")], "belong to no query: f9_0"),
        ([*GENERATIONS, GENERATIONS[0]], "has sample 0 twice"),
        ([*GENERATIONS, generation("f0_0", "x", 1)], "different samples"),
    ],
)
def test_ids_are_checked_both_ways(artifacts, generations, message):
    with pytest.raises(DataError, match=message):
        labels_of(artifacts, generations)


def clusters_of(artifacts, *roles, config=None):
    outputs = cluster_rows(config or {}, artifacts.inputs("queries", "labels", *roles))
    return [msgspec.convert(msgspec.to_builtins(row), ClusterRow) for row in outputs["clusters.jsonl"]]


def test_clusters_follow_the_labels(artifacts):
    labels = labels_of(artifacts, GENERATIONS)
    artifacts.add("labels", labels=labels)
    rows = clusters_of(artifacts, "generations")
    assert [row.row_id for row in rows] == [row.row_id for row in labels]
    assert [row.cluster for row in rows] == [
        "gold", "ans:txt:bergen", "ans:txt:bergen city", "ans:ent:S1",
        "ans:ent:O2", "ans:ent:O2", "amb:ent:O2", "gold",
        f"unparseable:{labels[8].row_id}", "abstain", "ans:txt:x", "gold",
    ]  # fmt: skip


def test_judge_is_asked_about_each_pair_and_a_yes_merges(artifacts):
    labels = labels_of(artifacts, GENERATIONS)
    artifacts.add("labels", labels=labels)
    inputs = artifacts.inputs("queries", "labels")
    prompts = list(build_judge_prompts({}, inputs)["prompts.jsonl"])
    assert len(prompts) == 1
    assert "First answer: bergen\nSecond answer: bergen city\n" in (prompts[0].text or "")
    judged = Folder(artifacts.path / "judge")
    judged.found = list(inputs.artifacts)
    judged.add("generations", generations=[generation(prompts[0].query_id, " Yes")])
    rows = list(judgement_rows({}, judged.inputs("queries", "labels", "generations"))["judgements.jsonl"])
    assert [type(row) for row in rows] == [JudgementRow]
    artifacts.add("judgements", judgements=rows)
    found = clusters_of(artifacts, "judgements", config={"judge": "small"})
    assert found[1].cluster == found[2].cluster == "ans:txt:bergen"
    assert found[0].clusterer_version.endswith("+judge:small")


def test_missing_and_left_over_answers_of_the_judge_are_errors(artifacts):
    artifacts.add("labels", labels=labels_of(artifacts, GENERATIONS))
    inputs = artifacts.inputs("queries", "labels")
    (asked,) = build_judge_prompts({}, inputs)["prompts.jsonl"]
    answered = generation(asked.query_id, "yes")
    for answers, said in (
        ([], f"row {asked.query_id}: the judge has no answer"),
        ([answered, generation("judge_other", "yes")], "row judge_other: 1 answers of the judge belong to no pair"),
    ):
        judged = Folder(artifacts.path / f"judge{len(answers)}")
        judged.found = list(inputs.artifacts)
        judged.add("generations", generations=answers)
        with pytest.raises(DataError, match=said):
            judgement_rows({}, judged.inputs("queries", "labels", "generations"))


def test_no_more_than_all_pairs_are_asked(artifacts):
    texts = ["Bergen", "Tromso", "Bodo", "x"]
    generations = [generation(row.query_id, texts[n % 4]) for n, row in enumerate(QUERIES)]
    artifacts.add("labels", labels=labels_of(artifacts, generations))
    prompts = list(build_judge_prompts({}, artifacts.inputs("queries", "labels"))["prompts.jsonl"])
    assert len(prompts) == 3 * len(list(combinations(texts[:3], 2)))
    assert len({row.query_id for row in prompts}) == len(prompts)


def test_rows_round_trip(artifacts):
    for row in labels_of(artifacts, GENERATIONS):
        assert msgspec.convert(msgspec.to_builtins(row), ScoredRow) == row


@pytest.mark.parametrize(
    ("module", "banned"),
    [
        (
            "assay.fks.prompts",
            ["scorer", "scoring", "lexicon", "clusters", "metrics", "external", "torch", "wordlists"],
        ),
        ("assay.fks.scoring", ["prompts", "metrics", "external", "torch", "numpy", "clusters", "judge", "conformance"]),
        ("assay.fks.clusters", ["prompts", "metrics", "external", "torch", "numpy", "conformance"]),
    ],
)
def test_code_closure(module, banned):
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in loaded if name in banned or name.removeprefix("assay.fks.") in banned]


@pytest.mark.parametrize("seed", ["0", "1"])
def test_version_does_not_depend_on_the_hash_seed(seed):
    code = "from assay.fks.scorer import SCORER_VERSION; print(SCORER_VERSION)"
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": value}
        ).stdout
        for value in (seed, "7")
    }
    assert len(found) == 1
