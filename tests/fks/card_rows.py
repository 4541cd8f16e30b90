"""Rows and folders in the layout of the published card: a small set, and one with all of its numbers."""

import gzip
import json

FLAG = {
    **dict.fromkeys(("anchor", "paraphrase", "format", "context", "multilingual"), "use_for_main_forward"),
    "reverse": "use_for_reverse_analysis",
    "recognition": "use_for_recognition_analysis",
    "reverse_illposed": None,
}
LANGUAGES = ("zh", "fr", "es", "de", "ru")


def fact(number, relation, flagged=False, in_subject=False):
    return {
        "fact_id": f"fact_{number:06d}",
        "subject": {"canonical": f"Subject {number}", "entity_id": f"Q{number}", "aliases": []},
        "object": {"canonical": f"Object {number % 50}", "entity_id": f"Q9{number % 50}", "aliases": [f"O{number}"]},
        "relation": {"relation_id": relation, "source_relations": ["P36"], "direction": "forward"},
        "qualification_question": f"What is the {relation} of Subject {number}?",
        "sources": ["lama"],
        "source_records": [f"r{number}"],
        "is_functional": True,
        "answer_type": "entity",
        "answer_granularity": "exact",
        "answer_in_subject_surface": in_subject,
        "spec_6_2_flag": flagged,
    }


def query(of, family, number, text=None, language="en"):
    flag = FLAG[family]
    return {
        "query_id": f"{of['fact_id']}_{family}_{number}",
        "fact_id": of["fact_id"],
        "relation": of["relation"]["relation_id"],
        "condition_family": family,
        "variant_id": f"{family}_{number}",
        "language": language,
        "query": text or f"{family} {number}: {of['qualification_question']}",
        "target_slot": "subject" if family.startswith("reverse") else "object",
        "gold_canonical": of["object"]["canonical"],
        "gold_aliases": of["object"]["aliases"],
        "is_assisted": family == "recognition",
        "is_well_posed": family != "reverse_illposed",
        **{name: name == flag for name in set(FLAG.values()) if name},
        "answer_in_subject_surface": of["answer_in_subject_surface"],
    }


def queries_of(of, sizes):
    rows = [query(of, "anchor", 0, of["qualification_question"])]
    for family, size in sizes.items():
        languages = LANGUAGES if family == "multilingual" else ("en",) * size
        rows += [query(of, family, i, language=languages[i]) for i in range(size)]
    return rows


def small():
    facts = [fact(i, ("capital", "continent")[i % 2]) for i in range(6)]
    sizes = {"paraphrase": 2, "format": 3, "context": 1, "multilingual": 5, "recognition": 1}
    return facts, [row for one in facts for row in queries_of(one, sizes)]


def published_size():
    """Rows with all the numbers of the card."""
    facts, queries = [], []
    for i in range(2592):
        flagged = i < 846
        relation = f"flagged {i % 2}" if flagged else f"relation {i % 19}"
        one = fact(i, relation, flagged, in_subject=i % 2592 < 750)
        facts.append(one)
        sizes = {
            "paraphrase": 3 if i < 315 else 4,
            "format": 3,
            "context": 0 if i == 2591 else 2 if i < 944 else 3,
            "multilingual": 0 if 1000 <= i < 1190 else 5,
            "reverse": 3 if i < 128 else 2 if i < 253 else 0,
            "recognition": 2 if i < 827 else 1 if i < 2585 else 0,
            "reverse_illposed": 1 if i >= 2592 - 1110 else 0,
        }
        queries += queries_of(one, sizes)
    return facts, queries


def write(folder, facts, queries, names=("benchmark_facts.jsonl", "evaluation_queries.jsonl")):
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in zip(names, (facts, queries), strict=True):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder
