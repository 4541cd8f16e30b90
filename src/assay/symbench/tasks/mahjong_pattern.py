"""Mahjong pattern: say Pass, Peng or Chi for the last card."""

from collections import Counter
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked

PASS, PENG, CHI = 0, 1, 2
HAND = 13


class MahjongPatternConfig(Parameters):
    """Number of rounds and whether sequences count."""

    rounds: int = Field(ge=1, le=40)
    """Rounds; the result of the last one is asked for."""
    chi: bool = True
    """Whether three letters in a row are a result of their own."""

    def space(self) -> int:
        """Return the number of hands and added cards."""
        return int(26 ** (HAND + self.rounds))


LEVELS = (
    MahjongPatternConfig(rounds=2, chi=False),
    MahjongPatternConfig(rounds=3),
    MahjongPatternConfig(rounds=6),
    MahjongPatternConfig(rounds=10),
)


def generate(draws: Draws, config: MahjongPatternConfig) -> Draft:
    """Play all rounds but the last, then draw the result first and a card that gives it."""
    wanted = draws.choice((PASS, PENG, CHI) if config.chi else (PASS, PENG))
    while True:
        # A short alphabet makes pairs and neighbours frequent.
        first = draws.below(len(ascii_uppercase) - 11)
        letters = ascii_uppercase[first : first + 12]
        cards = "".join(draws.choice(letters) for _ in range(HAND))
        hand = Counter(cards)
        rounds = []
        for _ in range(config.rounds - 1):
            added = draws.choice(letters)
            hand[added] += 1
            removed = draws.choice(sorted(hand.elements()))
            hand[removed] -= 1
            rounds.append({"add": added, "remove": removed})
        fitting = [card for card in ascii_uppercase if judged(hand, card, config.chi) == wanted]
        if fitting:
            break
    card = draws.choice(fitting)
    rounds.append({"add": card, "remove": card})
    solution = {"initial_cards": cards, "rounds": rounds, "chi": config.chi, "solution": wanted}
    return Draft(question=render(solution), solution=solution, reference=str(wanted))


def judged(hand: Mapping[str, int], card: str, chi: bool) -> int:
    """Return the result of adding a card to a hand that does not hold it yet."""
    if hand.get(card, 0) >= 2:
        return PENG
    place = ascii_uppercase.index(card)
    for start in range(max(0, place - 2), min(place, len(ascii_uppercase) - 3) + 1):
        if chi and all(hand.get(letter, 0) for letter in ascii_uppercase[start : start + 3] if letter != card):
            return CHI
    return PASS


def render(solution: Mapping[str, Any]) -> str:
    """Return the question; the word Chi occurs in it exactly when its rule holds."""
    last = len(solution["rounds"])
    lines = [
        f"Round {number}: {turn['add']} is added" + (f", then {turn['remove']} is removed." if number < last else ".")
        for number, turn in enumerate(solution["rounds"], 1)
    ]
    chi = (
        "- Chi (2): there is no Peng, but with two cards of the hand the added card forms three consecutive letters of "
        "the alphabet, such as ABC or OPQ.\n"
        if solution["chi"]
        else ""
    )
    answers = "0, 1 or 2" if solution["chi"] else "0 or 1"
    return (
        f"A player holds {HAND} letter cards. In every round one card is added to the hand and judged, and then one "
        "card is removed, which has no influence on the judgement:\n"
        "- Peng (1): the hand held at least two cards of the added letter already.\n"
        f"{chi}- Pass (0): nothing of this applies.\n\n"
        f"The hand at the start: {' '.join(solution['initial_cards'])}\n\n" + "\n".join(lines) + "\n\n"
        "How is the last added card judged? " + marked(answers, "answer")
    )
