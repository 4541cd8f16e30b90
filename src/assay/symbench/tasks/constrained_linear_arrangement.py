"""Constrained linear arrangement: deduce the opponent's cards from the results of rounds."""

from collections.abc import Mapping
from math import perm
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked

CARDS = {"elements": "ABCDE", "stick_game": "ABCD", "animal": "ABCDEFGH"}
RULES = {
    "elements": (
        "Each player has the five cards A Wood, B Fire, C Earth, D Metal, E Water. Wood generates Fire, Fire generates "
        "Earth, Earth generates Metal, Metal generates Water, Water generates Wood. Wood overcomes Earth, Earth "
        "overcomes Water, Water overcomes Fire, Fire overcomes Metal, Metal overcomes Wood. Only your own card counts: "
        "you lose if it generates the opponent's card, you win if it overcomes the opponent's card, and in all other "
        "cases the round is a draw."
    ),
    "stick_game": (
        "Each player has the four cards A Stick, B Tiger, C Chicken, D Insect. Stick beats Tiger, Tiger beats Chicken, "
        "Chicken beats Insect, Insect beats Stick. A round of two cards of which neither beats the other is a draw."
    ),
    "animal": (
        "Each player has the eight cards A Elephant, B Lion, C Tiger, D Leopard, E Wolf, F Dog, G Cat, H Mouse, from "
        "the largest to the smallest. The larger animal beats the smaller one, and equal animals draw. When Elephant "
        "and Mouse meet, either of them may have won."
    ),
}


class ConstrainedLinearArrangementConfig(Parameters):
    """Which game is played, and how long."""

    game_type: Literal["elements", "stick_game", "animal"]
    """Cards and rules."""
    rounds: int = Field(ge=2, le=8)
    """Rounds; each card is played once at most."""

    @model_validator(mode="after")
    def _cards_suffice(self) -> Self:
        if self.rounds > len(CARDS[self.game_type]):
            raise ValueError(f"rounds {self.rounds} exceed the {len(CARDS[self.game_type])} cards of {self.game_type}")
        return self

    def space(self) -> int:
        """Return the number of pairs of orders; several of them have the same results."""
        return perm(len(CARDS[self.game_type]), self.rounds) ** 2


LEVELS = (
    ConstrainedLinearArrangementConfig(game_type="stick_game", rounds=4),
    ConstrainedLinearArrangementConfig(game_type="elements", rounds=4),
    ConstrainedLinearArrangementConfig(game_type="elements", rounds=5),
    ConstrainedLinearArrangementConfig(game_type="animal", rounds=6),
    ConstrainedLinearArrangementConfig(game_type="animal", rounds=8),
)


def generate(draws: Draws, config: ConstrainedLinearArrangementConfig) -> Draft:
    """Deal both players' orders and announce the results."""
    cards = CARDS[config.game_type]
    while True:
        own, other = draws.sample(cards, config.rounds), draws.sample(cards, config.rounds)
        results = [result(config.game_type, a, b) for a, b in zip(own, other, strict=True)]
        if len(set(results)) > 1:
            break
    solution = {"game_type": config.game_type, "player_moves": own, "results": results, "solution": other}
    return Draft(question=render(solution), solution=solution, reference=",".join(other))


def result(game: str, own: str, other: str) -> str:
    """Return the player's result of one round; Elephant against Mouse goes by size here."""
    cards = CARDS[game]
    ahead = (cards.index(other) - cards.index(own)) % len(cards)
    if game == "elements":
        return {1: "loss", 2: "win"}.get(ahead, "draw")
    if game == "stick_game":
        return {1: "win", len(cards) - 1: "loss"}.get(ahead, "draw")
    return "draw" if own == other else "win" if own < other else "loss"


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the rounds."""
    rounds = "\n".join(
        f"Round {number}: you played {own}; result for you: {outcome}"
        for number, (own, outcome) in enumerate(zip(solution["player_moves"], solution["results"], strict=True), 1)
    )
    return (
        "Two players lay down cards at the same time, one in each round. No player uses a card twice. "
        f"{RULES[solution['game_type']]}\n\n{rounds}\n\n"
        "Which cards may your opponent have played? Give one letter for each round, in order, with commas between "
        "them; if several answers are possible, give one of them. " + marked("the letters", "C,A,B")
    )
