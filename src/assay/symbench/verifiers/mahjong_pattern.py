"""Mahjong pattern: say Pass (0), Peng (1) or Chi (2) for the last card."""

from collections import Counter

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, crash, unreadable, when

PASS, PENG, CHI = 0, 1, 2


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare one integer with the reference, or with the rules.

    17 of the published references contradict the stated rules (deviation D4), so `corrected` recomputes the
    result. Upstream's verifier raises on a text that is no integer (D21).
    """
    if answer == "":
        return unreadable("no answer")
    try:
        value = int(answer)
    except ValueError:
        reason = f"{clipped(answer)!r} is not an integer"
        return crash(reason) if profile == "upstream" else unreadable(reason)
    expected = sample.solution["solution"] if profile == "upstream" else result(sample)
    return when(value == expected, f"{value} is not {expected}")


def result(sample: TaskRow) -> int:
    """Play all rounds by the stated rules and return the result of the last one."""
    hand = Counter(sample.solution["initial_cards"])
    rounds = sample.solution["rounds"]
    for turn in rounds[:-1]:
        hand[turn["add"]] += 1
        hand[turn["remove"]] -= 1
    card = rounds[-1]["add"]
    if hand[card] >= 2:
        return PENG
    # The simplest questions state no Chi rule.
    return CHI if "Chi" in sample.question and _completes_sequence(hand, card) else PASS


def _completes_sequence(hand: Counter[str], card: str) -> bool:
    """Say whether two cards in hand and the new one are consecutive letters of A..Z; the card `[` is no letter."""
    for first in (-2, -1, 0):
        letters = [chr(ord(card) + first + offset) for offset in range(3)]
        if all("A" <= letter <= "Z" for letter in letters) and all(hand[x] > 0 for x in letters if x != card):
            return True
    return False
