"""Which facts of a table are asked: all, a sample that does not depend on order, or the well-known ones."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from assay.fks.sources import SourceFact

Selection = Literal["all", "well_known"]


def choice_key(purpose: str, *parts: str) -> bytes:
    """Return a sort key that depends on its parts and on nothing else.

    Whoever has the smallest key is chosen. Unlike a shuffle or a position modulo a length, another candidate that
    comes or goes changes only the choices in which it takes part.
    """
    return hashlib.sha256("\0".join((purpose, *parts)).encode()).digest()


def choose(facts: Sequence[SourceFact], cap: int | None, selection: Selection) -> list[SourceFact]:
    """Return at most `cap` facts of one relation, in the order of the table.

    Parameters
    ----------
    facts : sequence of SourceFact
        The full table of the relation.
    cap : int, optional
        None keeps all.
    selection : {"all", "well_known"}
        "all" takes a sample by the hash of each fact's identity. "well_known" takes those with the largest
        weight; while others are left, no object may hold more than half of the places, so that a relation whose
        famous subjects share one object still asks for several.
    """
    if cap is None or len(facts) <= cap:
        return list(facts)
    by_hash = sorted(facts, key=lambda fact: choice_key("fact", *fact.identity))
    chosen = by_hash[:cap] if selection == "all" else _well_known(by_hash, cap)
    identities = {fact.identity for fact in chosen}
    return [fact for fact in facts if fact.identity in identities]


def _well_known(by_hash: list[SourceFact], cap: int) -> list[SourceFact]:
    places = (cap + 1) // 2
    taken: Counter[str] = Counter()
    chosen: list[SourceFact] = []
    passed: list[SourceFact] = []
    for fact in sorted(by_hash, key=lambda fact: -fact.weight):
        if len(chosen) < cap and taken[fact.object.key] < places:
            chosen.append(fact)
            taken[fact.object.key] += 1
        else:
            passed.append(fact)
    return chosen + passed[: cap - len(chosen)]
