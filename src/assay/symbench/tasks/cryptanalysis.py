"""Cryptanalysis: find the password of two digits and two letters from the feedback on guesses."""

import json
from collections.abc import Mapping
from itertools import permutations
from string import ascii_uppercase, digits
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked, numbered

# What is said about one symbol of a guess, in the order in which it is said.
PLACED, MISPLACED, TOO_LARGE, TOO_SMALL, WRONG = range(5)
# What is said of one symbol, and of both.
_PLACES = (
    ("is right and in its right place", "are right and in their right places"),
    ("is right but in the wrong place", "are right but in the wrong places"),
)
_WRONG = ("does not occur", "do not occur")
PHRASES = {
    "number": (
        *_PLACES,
        ("is larger than both of the password", "are larger than both of the password"),
        ("is smaller than both of the password", "are smaller than both of the password"),
        _WRONG,
    ),
    "letter": (
        *_PLACES,
        (
            "comes later in the alphabet than both of the password",
            "come later in the alphabet than both of the password",
        ),
        (
            "comes earlier in the alphabet than both of the password",
            "come earlier in the alphabet than both of the password",
        ),
        _WRONG,
    ),
}


class CryptanalysisConfig(Parameters):
    """How much the feedback says."""

    hints: bool
    """Whether wrong symbols are compared in size with those of the password."""
    fewest: int = Field(default=3, ge=1, le=20)
    """Fewest guesses."""
    most: int = Field(default=9, ge=5, le=30)
    """Most guesses."""

    def model_post_init(self, context: object) -> None:
        """Check that some number of guesses is possible."""
        if self.fewest > self.most:
            raise ValueError(f"fewest {self.fewest} exceeds most {self.most}")

    def space(self) -> int:
        """Return the number of passwords and first guesses."""
        passwords = 10 * 9 * 26 * 25
        return int(passwords ** (self.fewest + 1))


LEVELS = (
    CryptanalysisConfig(hints=True, fewest=3, most=6),
    CryptanalysisConfig(hints=True, fewest=5, most=8),
    CryptanalysisConfig(hints=False, fewest=5, most=10),
    CryptanalysisConfig(hints=False, fewest=8, most=14),
)

Pair = tuple[str, str]
DIGIT_PAIRS: tuple[Pair, ...] = tuple(permutations(digits, 2))
LETTER_PAIRS: tuple[Pair, ...] = tuple(permutations(ascii_uppercase, 2))


def generate(draws: Draws, config: CryptanalysisConfig) -> Draft:
    """Add guesses until exactly one password is left; digits and letters are judged apart from each other."""
    while True:
        numbers, letters = draws.choice(DIGIT_PAIRS), draws.choice(LETTER_PAIRS)
        guesses = _guesses(draws, numbers, letters, config)
        if guesses is not None:
            break
    lines = [
        f"{''.join(guess)}: {_said(feedback(guess[:2], numbers, config.hints), 'number')}; "
        f"{_said(feedback(guess[2:], letters, config.hints), 'letter')}"
        for guess in guesses
    ]
    solution = {"answer": [*numbers, *letters], "guesses": lines, "hints": config.hints}
    return Draft(question=render(solution), solution=solution, reference=json.dumps(solution["answer"]))


Guess = tuple[str, str, str, str]


def _guesses(draws: Draws, numbers: Pair, letters: Pair, config: CryptanalysisConfig) -> list[Guess] | None:
    """Return guesses that leave one password, or None after the allowed number of them."""
    left = [list(DIGIT_PAIRS), list(LETTER_PAIRS)]
    guesses: list[Guess] = []
    while len(guesses) < config.most:
        # Guesses that are possible themselves say most; some are drawn at random to mislead.
        parts = [
            draws.choice(possible if len(possible) > 1 and draws.chance(3, 4) else every)
            for possible, every in zip(left, (DIGIT_PAIRS, LETTER_PAIRS), strict=True)
        ]
        if parts[0] == numbers or parts[1] == letters:
            continue
        guesses.append((parts[0][0], parts[0][1], parts[1][0], parts[1][1]))
        for index, (guess, secret) in enumerate(zip(parts, (numbers, letters), strict=True)):
            told = feedback(guess, secret, config.hints)
            left[index] = [pair for pair in left[index] if feedback(guess, pair, config.hints) == told]
        if len(left[0]) == len(left[1]) == 1 and len(guesses) >= config.fewest:
            return guesses
    return None


def feedback(guess: tuple[str, ...], secret: tuple[str, ...], hints: bool) -> list[int]:
    """Return what is said about the two symbols, sorted, so that it does not tell which is meant."""
    said = []
    for place, symbol in enumerate(guess):
        if symbol == secret[place]:
            said.append(PLACED)
        elif symbol in secret:
            said.append(MISPLACED)
        elif hints and symbol > max(secret):
            said.append(TOO_LARGE)
        elif hints and symbol < min(secret):
            said.append(TOO_SMALL)
        else:
            said.append(WRONG)
    return sorted(said)


def _said(codes: list[int], noun: str) -> str:
    if codes[0] == codes[1]:
        return f"both {noun}s {PHRASES[noun][codes[0]][1]}"
    return ", ".join(f"one {noun} {PHRASES[noun][code][0]}" for code in codes)


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the guesses."""
    sizes = (
        "A symbol that does not occur is said to be larger, smaller, later or earlier wherever that is true; otherwise "
        "it lies between the two of the password."
        if solution["hints"]
        else "Of symbols that do not occur nothing more is said."
    )
    return (
        "A password consists of two different digits followed by two different capital letters. Below stand guesses, "
        "each with a judgement of its numbers and of its letters. A judgement does not tell which of the two symbols "
        f"it means. {sizes}\n\n"
        f"{numbered(solution['guesses'])}\n\n"
        "Exactly one password agrees with all judgements. Give its four characters as a list of strings. "
        + marked("the list", '["1", "2", "A", "B"]')
    )
