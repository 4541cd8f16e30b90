"""From configs to the main table with real steps and real (tiny) models: lens, qualification, a table of one's own."""

import csv
import json
import shutil

import pytest
import yaml
from card_rows import small, write

from assay.fks.builder import build
from assay.fks.qualification import candidates
from assay.records.jsonl import read_rows
from assay.records.rows import MetricRow
from assay.records.step import Inputs

torch = pytest.importorskip("torch")
SMALL = {"selection": "well_known", "relations": ["capital", "continent"], "cap_per_relation": 6}
FEW = {"paraphrase": 1, "format": 2, "context": 1, "multilingual": 2, "reverse": 1, "reverse_illposed": 1,
       "recognition": 1}  # fmt: skip
CSV = """relation,subject,object,object_aliases,subject_de,subject_fr,object_fr
capital,Styria,Graz,,Steiermark,Styrie,
capital,Upper Austria,Linz,Linz an der Donau,Oberösterreich,Haute-Autriche,
capital,Salzburg State,Salzburg,,Land Salzburg,Salzbourg,Salzbourg
"""


class Project:
    """A project folder with the real configs and constraints; `make` runs every step of its experiment."""

    def __init__(self, folder, root):
        self.folder = folder
        (folder / "configs/experiments").mkdir(parents=True)
        for path in (root / "configs").glob("*.yaml"):
            shutil.copy(path, folder / "configs" / path.name)
        shutil.copy(root / "constraints.txt", folder)
        (folder / "configs/experiment.yaml").write_text("use: here\n")

    def experiment(self, models, **fks):
        text = yaml.safe_dump({"models": models, "seeds": [0], "benchmarks": {"fks": fks}})
        (self.folder / "configs/experiments/here.yaml").write_text(text)

    def lock(self, *names):
        from assay.cli.main import main

        assert main(["lock", *names]) == 0

    def make(self):
        """Return stage/item -> folder of the artifact."""
        from assay.plan import open_project

        project = open_project(self.folder)
        for planned in project.plan.values():
            project.maker.make(planned)
        return {planned.job.name: self.folder / planned.folder for planned in project.plan.values()}


@pytest.fixture
def project(tmp_path, root, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path_factory.getbasetemp() / "models"))
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, root)


def table(folder):
    return list(csv.DictReader((folder / "main_table.csv").read_text().splitlines()))


def metric_values(folder, metric, **setting):
    """Return (value, n) of the rows of a metric whose setting holds the given pairs."""
    wanted = {f"{key}={value}" for key, value in setting.items()}
    rows = read_rows(folder / "metrics.jsonl", MetricRow)
    return [(row.value, row.n) for row in rows if row.metric == metric and wanted <= set(row.setting.split(";"))]


@pytest.mark.parametrize("lens", [{"prompts": 3}, pytest.param({}, marks=pytest.mark.long, id="full_defaults")])
def test_a_lens_reaches_the_main_table(project, lens):
    project.experiment(
        ["tiny-a"],
        **SMALL,
        queries_per_family=FEW,
        states={"top_state": "block_output"},
        lens=lens,
        metrics={"internal": {"transports": ["raw", "jlens"]}},
    )
    project.lock("tiny-a")
    made = project.make()
    from assay.fks.lens_file import read_lens

    fitted = read_lens(made["lens/fks-embedded.tiny-a"] / "lens.safetensors")
    prompts = lens.get("prompts", 100)
    assert (fitted.header["n_prompts"], fitted.header["settings"]["tokens"], fitted.layers) == (prompts, 128, (2, 3))
    rows = table(made["table/fks"])
    assert {row["transport"] for row in rows} == {"raw", "jlens"}
    by = {row["transport"]: row for row in rows if (row["subset"], row["coverage"]) == ("all", "full_set")}
    assert by["raw"]["bcs"] == by["jlens"]["bcs"]
    assert float(by["jlens"]["iss"]) <= 1
    assert by["raw"]["iss"] != by["jlens"]["iss"]
    assert by["raw"]["kts_geo"] != by["jlens"]["kts_geo"]
    assert metric_values(made["metrics/fks-embedded.tiny-a.s0"], "iss", transport="jlens", lens_prompts=prompts)
    side = list(csv.DictReader((made["table/fks"] / "side_tables.csv").read_text().splitlines()))
    assert {row["table"] for row in side} == {"reverse", "recognition", "illposed"}


def teach(folder, known, unknown):
    """Write a tiny model that continues the prompts it knows with a space and the first byte of the answer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from assay.model.tiny import build_tiny

    torch.set_num_threads(1)
    build_tiny(folder, 5)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    space, other = tokenizer(" ")["input_ids"][-1], tokenizer("x")["input_ids"][-1]
    rows = [(tokenizer(one.prompt)["input_ids"], space) for one in known]
    rows += [(tokenizer(one.prompt + " ")["input_ids"], tokenizer(one.surfaces[0])["input_ids"][0]) for one in known]
    rows += [(tokenizer(one.prompt)["input_ids"], other) for one in unknown]
    length = max(len(ids) for ids, _ in rows)
    ids = torch.tensor([ids + [0] * (length - len(ids)) for ids, _ in rows])
    last = torch.tensor([len(ids) - 1 for ids, _ in rows])
    wanted = torch.tensor([token for _, token in rows])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(1500):
        logits = model(input_ids=ids).logits[torch.arange(len(rows)), last]
        others = logits.detach().scatter(1, wanted[:, None], -torch.inf).max(-1).values
        # By a margin that no other processor's rounding closes.
        if bool((logits.gather(1, wanted[:, None])[:, 0] > others + 1).all()):
            break
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, wanted).backward()
        optimizer.step()
    else:
        raise AssertionError("the model did not learn which facts it knows")
    model.save_pretrained(folder)


def test_facts_that_every_filter_model_knows_are_kept_counted_and_marked(project):
    built = build({**SMALL, "queries_per_family": FEW}, Inputs(()))
    asked = list(candidates(built["facts.jsonl"], built["queries.jsonl"]))
    facts = list(dict.fromkeys(one.fact_id for one in asked))
    known = facts[:7]
    teach(
        project.folder / "weights/one",
        [one for one in asked if one.fact_id in known],
        [one for one in asked if one.fact_id not in known],
    )
    teach(
        project.folder / "weights/two",
        [one for one in asked if one.fact_id not in facts[:2]],
        [one for one in asked if one.fact_id in facts[:2]],
    )
    registry = project.folder / "configs/models.yaml"
    entries = {
        name: {"title": name, "source": {"kind": "folder", "path": f"weights/{name}"}, "layers": 4, "width": 32}
        for name in ("one", "two")
    }
    registry.write_text(registry.read_text() + yaml.safe_dump({"models": entries}).removeprefix("models:\n"))
    project.experiment(
        ["one", "tiny-a"],
        **SMALL,
        queries_per_family=FEW,
        states={"enabled": False},
        qualification={"enabled": True, "filter_models": ["one", "two"]},
    )
    project.lock("one", "two", "tiny-a")
    made = project.make()

    report = json.loads((made["queries/fks-embedded"] / "qualification.json").read_text())
    assert set(report["models"]) == {"one", "two"}
    assert report["total"]["facts"] == len(facts) == 12
    assert report["total"]["facts_kept"] == 5
    assert report["by_model"]["one"]["facts_kept"] == 7
    assert report["by_model"]["two"]["facts_kept"] == 10
    kept = [row["fact_id"] for row in read_rows(made["queries/fks-embedded"] / "facts.jsonl", dict)]
    assert sorted(kept) == sorted(facts[2:7])
    asked_of = {row["fact_id"] for row in read_rows(made["queries/fks-embedded"] / "queries.jsonl", dict)}
    assert asked_of == set(kept)

    metrics = made["metrics/fks-embedded.tiny-a.s0"]
    assert metric_values(metrics, "qualified_facts_share")[0] == (pytest.approx(5 / 12), 12)
    assert metric_values(metrics, "qualified_facts_share", filter_model="two") == [(pytest.approx(10 / 12), 12)]
    rows = table(made["table/fks"])
    assert {(row["model"], row["filter_model"]) for row in rows} == {("one", "true"), ("tiny-a", "false")}
    assert {row["n_facts"] for row in rows if row["subset"] == "all" and row["coverage"] == "full_set"} == {"5"}
    text = (made["table/fks"] / "main_table.md").read_text()
    assert "5 of 12 facts were kept because every filter model (one, two)" in text
    assert "| one* |" in text


def test_a_judge_of_the_registry_leaves_transcripts_and_its_name(project):
    project.experiment(
        ["tiny-a"],
        **SMALL,
        queries_per_family=FEW,
        states={"enabled": False},
        judge={"kind": "model", "model": "tiny-b"},
    )
    project.lock("tiny-a", "tiny-b")
    made = project.make()
    verdicts = list(read_rows(made["judgements/fks-embedded.tiny-a.s0"] / "judgements.jsonl", dict))
    assert verdicts
    rows = table(made["table/fks"])
    assert all("tiny-b" in row["clusterer_version"] for row in rows)


def test_a_table_of_ones_own_reaches_the_main_table(project):
    (project.folder / "data").mkdir()
    (project.folder / "data/mine.csv").write_text(CSV, encoding="utf-8")
    project.experiment(
        ["tiny-a"],
        dataset="mine",
        datasets={"mine": {"kind": "csv", "file": "data/mine.csv"}},
    )
    from assay.cli.main import main

    assert main(["data", "lock", "fks"]) == 0
    project.lock("tiny-a")
    made = project.make()
    facts = list(read_rows(made["queries/fks-mine"] / "facts.jsonl", dict))
    assert sorted(fact["object"]["canonical"] for fact in facts) == ["Graz", "Linz", "Salzburg"]
    rows = table(made["table/fks"])
    assert {row["dataset"] for row in rows} == {"mine"}
    assert {row["n_facts"] for row in rows if row["subset"] == "all"} == {"3"}
    assert all(row["scorer_version"] and row["determinism"] for row in rows)


def test_files_in_the_cards_layout_reach_the_main_table(project):
    from assay.cli.main import main

    write(project.folder / "data/mini", *small())
    project.experiment(
        ["tiny-a"],
        dataset="mini",
        datasets={"mini": {"kind": "card", "folder": "data/mini", "expect_published_counts": False}},
    )
    assert main(["data", "lock", "fks"]) == 0
    project.lock("tiny-a")
    made = project.make()
    rows = table(made["table/fks"])
    assert {row["n_facts"] for row in rows if (row["subset"], row["coverage"]) == ("all", "full_set")} == {"6"}
    generations = list(read_rows(made["generations/fks-mini.tiny-a.s0"] / "generations.jsonl", dict))
    assert len(generations) == len(small()[1])
