"""MATH, counting and probability: problems of the competition kind with exact answers."""

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb, factorial, prod
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.latex import fraction_text

# A problem and its exact answer.
Answered = tuple[str, Fraction | int]


class MathCountingAndProbabilityConfig(Parameters):
    """Which problems are set."""

    level: int = Field(ge=1, le=5)
    """Level 1 to 5, in the sense of the competition set: more steps at a higher level."""
    largest: int = Field(default=16, ge=8, le=40)
    """About the largest group, die or grid in a problem."""

    def space(self) -> int:
        """Return a rough number: most problems have three free numbers or more."""
        return len(PROBLEMS[self.level]) * (self.largest // 2) ** 3


def generate(draws: Draws, config: MathCountingAndProbabilityConfig) -> Draft:
    """Set one of the level's problems; the answer follows from its numbers exactly."""
    text, answer = draws.choice(PROBLEMS[config.level])(draws, config.largest)
    solution = {
        "problem": text,
        "level": f"Level {config.level}",
        "type": "Counting & Probability",
        "boxed_target": fraction_text(answer),
    }
    return Draft(question=render(solution), solution=solution, reference=fraction_text(answer))


def _outfits(draws: Draws, largest: int) -> Answered:
    shirts, trousers, hats = (draws.integer(3, largest + 6) for _ in range(3))
    return (
        f"Nadia has ${shirts}$ shirts, ${trousers}$ pairs of trousers and ${hats}$ hats. An outfit is a shirt, a pair "
        "of trousers and either one hat or no hat. How many different outfits are there?",
        shirts * trousers * (hats + 1),
    )


def _multiples(draws: Draws, largest: int) -> Answered:
    step, low = draws.integer(3, largest), draws.integer(20, 20 * largest)
    high = low + draws.integer(50, 50 * largest)
    return (
        f"How many multiples of ${step}$ are there from ${low}$ to ${high}$, both included?",
        high // step - (low - 1) // step,
    )


def _committee(draws: Draws, largest: int) -> Answered:
    women, men = draws.integer(4, largest), draws.integer(4, largest)
    w, m = draws.integer(1, women - 1), draws.integer(1, men - 1)
    return (
        f"A club has ${women}$ women and ${men}$ men. In how many ways can a committee of ${w}$ of the women and ${m}$ "
        "of the men be chosen?",
        comb(women, w) * comb(men, m),
    )


def _arrangements(draws: Draws, largest: int) -> Answered:
    letters = draws.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", draws.integer(3, 5))
    word = draws.shuffled([letter for letter in letters for _ in range(draws.integer(1, max(2, largest // 4)))])
    count = factorial(len(word)) // prod(factorial(number) for number in Counter(word).values())
    return (
        f"In how many different ways can the letters of {''.join(word)} be arranged in a row, if equal letters are not "
        "told apart?",
        count,
    )


def _same_colour(draws: Draws, largest: int) -> Answered:
    red, blue, green = (draws.integer(2, largest) for _ in range(3))
    total = red + blue + green
    return (
        f"An urn holds ${red}$ red, ${blue}$ blue and ${green}$ green balls. Two balls are drawn at random without "
        "replacement. What is the probability that they have the same colour? Give a common fraction.",
        Fraction(comb(red, 2) + comb(blue, 2) + comb(green, 2), comb(total, 2)),
    )


def _through_a_point(draws: Draws, largest: int) -> Answered:
    a, b, c, d = (draws.integer(2, max(3, largest // 2)) for _ in range(4))
    return (
        "A path on a grid goes from one crossing to the next, only to the right or up. How many such paths lead from "
        f"$(0, 0)$ to $({a + c}, {b + d})$ through the point $({a}, {b})$?",
        comb(a + b, a) * comb(c + d, c),
    )


def _biased(draws: Draws, largest: int) -> Answered:
    parts, throws = draws.integer(3, largest), draws.integer(3, 6)
    lucky, hits = draws.integer(1, parts - 1), draws.integer(1, throws - 1)
    p = Fraction(lucky, parts)
    return (
        f"A wheel has ${parts}$ equal fields, ${lucky}$ of which win. It is turned ${throws}$ times. What is the "
        f"probability of winning exactly ${hits}$ times? Give a common fraction.",
        comb(throws, hits) * p**hits * (1 - p) ** (throws - hits),
    )


def _neither(draws: Draws, largest: int) -> Answered:
    a, b = draws.sample(range(2, largest + 1), 2)
    high = draws.integer(100, 100 * largest)
    return (
        f"How many of the integers from $1$ to ${high}$ are divisible neither by ${a}$ nor by ${b}$?",
        sum(1 for number in range(1, high + 1) if number % a and number % b),
    )


def _two_dice(draws: Draws, largest: int) -> Answered:
    m, n = draws.integer(4, largest), draws.integer(4, largest)
    bound = draws.integer(4, m + n - 1)
    good = sum(1 for a in range(1, m + 1) for b in range(1, n + 1) if a + b >= bound)
    return (
        f"A fair die with faces $1$ to ${m}$ and a fair die with faces $1$ to ${n}$ are rolled. What is the "
        f"probability that their sum is at least ${bound}$? Give a common fraction.",
        Fraction(good, m * n),
    )


def _sharing(draws: Draws, largest: int) -> Answered:
    children, least = draws.integer(3, 7), draws.integer(1, 3)
    free = draws.integer(3, 3 * largest)
    return (
        f"In how many ways can ${children * least + free}$ equal apples be shared among ${children}$ children so that "
        f"each child gets at least ${least}$?",
        comb(free + children - 1, children - 1),
    )


def _apart(draws: Draws, largest: int) -> Answered:
    history, art = draws.integer(2, largest // 2 + 1), draws.integer(2, largest // 2 + 1)
    algebra = draws.integer(2, min(8, history + art + 1))
    others = history + art
    return (
        f"On a shelf stand ${history}$ books about history, ${art}$ about art and ${algebra}$ about algebra, all "
        "different. In how many orders can they stand if no two books about algebra may be next to each other?",
        factorial(others) * comb(others + 1, algebra) * factorial(algebra),
    )


def _which_urn(draws: Draws, largest: int) -> Answered:
    a, b, c, d = (draws.integer(1, largest) for _ in range(4))
    first, second = Fraction(a, a + b), Fraction(c, c + d)
    return (
        f"One urn holds ${a}$ red and ${b}$ blue balls, another one ${c}$ red and ${d}$ blue balls. An urn is chosen "
        "at random and a ball is drawn from it. The ball is red. What is the probability that it comes from the first "
        "urn? Give a common fraction.",
        first / (first + second),
    )


def _around_a_hole(draws: Draws, largest: int) -> Answered:
    right, up = draws.integer(4, largest), draws.integer(4, largest)
    x, y = draws.integer(1, right - 1), draws.integer(1, up - 1)
    return (
        "A path on a grid goes from one crossing to the next, only to the right or up. How many such paths lead from "
        f"$(0, 0)$ to $({right}, {up})$ without passing through the point $({x}, {y})$?",
        comb(right + up, up) - comb(x + y, x) * comb(right - x + up - y, right - x),
    )


def _expected_largest(draws: Draws, largest: int) -> Answered:
    low, size = draws.integer(1, 9), draws.integer(4, largest)
    drawn = draws.integer(2, size - 1)
    # The largest of k numbers drawn from 1..n is k(n + 1)/(k + 1) on average.
    return (
        f"Cards with the numbers ${low}$ to ${low + size - 1}$, one of each, are shuffled and ${drawn}$ of them are "
        "drawn. What is the expected value of the largest number drawn? Give an exact value.",
        low - 1 + Fraction(drawn * (size + 1), drawn + 1),
    )


def _none_of_three(draws: Draws, largest: int) -> Answered:
    steps = sorted(draws.sample(range(2, largest + 1), 3))
    high = draws.integer(100, 60 * largest)
    return (
        f"How many of the integers from $1$ to ${high}$ are divisible by exactly one of the numbers ${steps[0]}$, "
        f"${steps[1]}$ and ${steps[2]}$?",
        sum(1 for number in range(1, high + 1) if sum(number % step == 0 for step in steps) == 1),
    )


PROBLEMS: dict[int, tuple[Callable[[Draws, int], Answered], ...]] = {
    1: (_outfits, _multiples),
    2: (_committee, _arrangements, _same_colour),
    3: (_through_a_point, _biased, _neither),
    4: (_two_dice, _sharing, _apart),
    5: (_which_urn, _around_a_hole, _expected_largest, _none_of_three),
}
LEVELS = tuple(MathCountingAndProbabilityConfig(level=level) for level in PROBLEMS)


def render(solution: Mapping[str, Any]) -> str:
    """Return the problem with the request for the marker."""
    return (
        f"{solution['problem']}\n\n"
        "Write the answer alone between <<< and >>> at the end of your reply, for example <<<123.42>>>, <<<125.0>>> or "
        "<<<-9867>>>; LaTeX is welcome."
    )
