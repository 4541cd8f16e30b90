"""Speed of FKS outside of the model.

    python benchmarks/fks.py [PART]

Every part prints what it measured, the figure to reach, and the fastest of several rounds in processor seconds of
one core, so that other work on the machine disturbs it little.
"""

import argparse
import random
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

SENTENCES = (
    "{a}", " {a}.", "The answer is {a}.", "It is {a}, which is larger than {b}", "{a}\nQuestion: What is {b}?",
    "I think it is {a} or {b}", "Not {a} but {b}", '{{"answer": "{a}"}}', '```json\n{{"answer": "{a}", "note": "{b}"',
    "I don't know", "{a} {a} {a} {a} {a}", " {s} is known for {b}.\n\nThe answer is", "{s} - {a}",
    "Das ist {a} und {b}.",
    "Это {a}, а не {b}", "答案是{a}。", "不是{a}，而是{b}", "Ce n'est pas {a}, c'est {b}.", "La respuesta es: {a}",
    "The answer is:\nThe answer is:\nThe answer is",
    "{s} is a country in the middle of {b} and {a}, and the largest of",
)  # fmt: skip


def scorer() -> None:
    """Rows a second on one core: every text distinct, every query prepared anew, facts compiled once."""
    from assay.fks.catalogue import Catalogue
    from assay.fks.rows import FactRow, QueryRow
    from assay.fks.scorer import SCORER_VERSION, score

    facts, queries = _embedded()
    rows = list(_answers(facts, queries))
    counts: dict[str, int] = {}

    def run() -> None:
        counts.clear()
        catalogue = Catalogue(cast("list[FactRow]", facts))
        for query, text in rows:
            label = score(catalogue.question(cast(QueryRow, query)), text).label
            counts[label] = counts.get(label, 0) + 1

    seconds = _fastest(run)
    assert len({text for _, text in rows}) == len(rows)
    print(f"scorer {SCORER_VERSION}: {len(rows)} rows in {seconds:.2f} s = {len(rows) / seconds:,.0f} rows/s")
    print(f"  to reach: 20,000 rows/s; labels {dict(sorted(counts.items()))}")


def _embedded() -> tuple[list[Any], list[Any]]:
    """Return the facts and queries of the embedded dataset."""
    from assay.fks.builder import build
    from assay.records.step import Inputs

    settings = {"relations": [], "cap_per_relation": None, "selection": "all", "queries_per_family": {}}
    outputs = build(settings, Inputs(()))
    return list(cast(Iterable[Any], outputs["facts.jsonl"])), list(cast(Iterable[Any], outputs["queries.jsonl"]))


def _answers(facts: list[Any], queries: list[Any]) -> Iterator[tuple[Any, str]]:
    """Yield an answer to every query: right and wrong ones, in the forms and languages that models use."""
    rng = random.Random(20260101)
    subjects = {fact.fact_id: fact.subject.canonical for fact in facts}
    names: dict[str, list[str]] = {}
    for query in queries:
        names.setdefault(query.relation, []).extend(query.gold_surfaces)
    for number, query in enumerate(queries):
        right, wrong = rng.choice(query.gold_surfaces), rng.choice(names[query.relation])
        first, second = (right, wrong) if rng.random() < 0.5 else (wrong, right)
        text = rng.choice(SENTENCES).format(a=first, b=second, s=subjects[query.fact_id])
        yield query, f"{text} {number}"


def _fastest(run: Callable[[], None], rounds: int = 5) -> float:
    seconds = []
    for _ in range(rounds):
        started = time.process_time()
        run()
        seconds.append(time.process_time() - started)
    return min(seconds)


PARTS: dict[str, Callable[[], None]] = {"scorer": scorer}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=PARTS, help="default: all")
    part = parser.parse_args().part
    for name in [part] if part else PARTS:
        PARTS[name]()
