"""GSM-Hard: word problems of a few steps with large numbers."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws

NAMES = ("Alma", "Birk", "Celia", "Dario", "Emre", "Farah", "Gunnar", "Hilde", "Ivo", "Joana", "Kaito", "Lotte")


class GsmHardConfig(Parameters):
    """How large the large numbers are."""

    digits: int = Field(ge=3, le=12)
    """Digits of the large numbers."""

    def space(self) -> int:
        """Return the number of problems of the story with the fewest numbers: two large ones and three small ones."""
        return int(len(NAMES) * (9 * 10 ** (self.digits - 1)) ** 2 * 8**3)


LEVELS = (GsmHardConfig(digits=4), GsmHardConfig(digits=5), GsmHardConfig(digits=6), GsmHardConfig(digits=7))

# A story: text, and the exact answer.
Story = tuple[str, Fraction]


def generate(draws: Draws, config: GsmHardConfig) -> Draft:
    """Tell one of the stories; its answer is computed from its numbers with exact rationals."""
    text, answer = draws.choice(STORIES)(draws, draws.choice(NAMES), config.digits)
    target = int(answer) if answer.denominator == 1 else float(answer)
    solution = {"input": text, "target": target}
    return Draft(question=render(solution), solution=solution, reference=repr(target))


def _large(draws: Draws, digits: int) -> int:
    return draws.integer(10 ** (digits - 1), 10**digits - 1)


def _eggs(draws: Draws, name: str, digits: int) -> Story:
    laid, price, days = _large(draws, digits), draws.integer(2, 19), draws.integer(6, 60)
    eaten, baked = draws.integer(11, 99), _large(draws, digits)
    return (
        f"{name}'s hens lay {laid} eggs every day. The family eats {eaten} of them, {baked} go to a bakery without "
        f"charge, and the rest is sold for {price} dollars an egg. If the bakery gets more than is left, {name} has to "
        f"buy the missing eggs at the same price. How many dollars does {name} earn in {days} days? A loss is a "
        "negative number.",
        Fraction((laid - eaten - baked) * price * days),
    )


def _crates(draws: Draws, name: str, digits: int) -> Story:
    crates, boxes, bulbs = _large(draws, digits), draws.integer(12, 60), draws.integer(20, 200)
    broken, packs = _large(draws, digits), draws.choice((2, 4, 5, 8, 10))
    return (
        f"{name} runs a store that receives {crates} crates. Each crate holds {boxes} boxes of {bulbs} bulbs. "
        f"{broken} bulbs arrive broken and are thrown away. The others are divided equally among {packs} shops. How "
        "many bulbs does each shop get on average, as an exact decimal number?",
        Fraction(crates * boxes * bulbs - broken, packs),
    )


def _wages(draws: Draws, name: str, digits: int) -> Story:
    hourly, hours, extra = draws.integer(15, 90), _large(draws, digits), _large(draws, digits - 1)
    bonus, rent = draws.choice((25, 50, 75, 100)), _large(draws, digits)
    return (
        f"A company pays {hourly} dollars for a working hour and {bonus}% more for an hour of overtime. {name}'s "
        f"department works {hours} normal hours and {extra} hours of overtime in a year. The department pays {rent} "
        "dollars for its rooms from these earnings. How many dollars are left?",
        hours * hourly + extra * hourly * (1 + Fraction(bonus, 100)) - rent,
    )


def _discount(draws: Draws, name: str, digits: int) -> Story:
    price, pieces = _large(draws, digits), draws.integer(12, 400)
    percent, shipping = draws.integer(2, 60), _large(draws, digits)
    return (
        f"{name} orders {pieces} machines at a list price of {price} dollars each. The seller takes {percent}% off the "
        f"list price and adds {shipping} dollars for the transport of the whole order. What does the order cost, in "
        "dollars?",
        pieces * price * (1 - Fraction(percent, 100)) + shipping,
    )


def _town(draws: Draws, name: str, digits: int) -> Story:
    people, years = _large(draws, digits), draws.integer(6, 45)
    born, died, moved = _large(draws, digits - 1), _large(draws, digits - 1), draws.integer(101, 999)
    return (
        f"The town in which {name} is mayor has {people} inhabitants. Each year {born} children are born and {died} "
        f"people die; {moved} more people move to the town than away from it. By the same figures, how many "
        f"inhabitants will it have after {years} years? (The figures may lead below zero; answer what they give.)",
        Fraction(people + years * (born - died + moved)),
    )


def _tank(draws: Draws, name: str, digits: int) -> Story:
    start, inflow, outflow = _large(draws, digits), _large(draws, digits - 1), _large(draws, digits - 1)
    before, after = draws.integer(12, 90), draws.integer(12, 90)
    return (
        f"{name} watches a reservoir that holds {start} litres. For {before} minutes {inflow} litres a minute flow in. "
        f"Then a valve is opened as well, and for another {after} minutes {outflow} litres a minute flow out while the "
        "inflow goes on. How many litres more does the reservoir hold at the end than at the start? A loss is a "
        f"negative number.",
        Fraction(inflow * (before + after) - outflow * after),
    )


def _journey(draws: Draws, name: str, digits: int) -> Story:
    speed, hours = _large(draws, digits - 1), draws.integer(12, 90)
    factor, later = draws.integer(3, 9), draws.integer(12, 90)
    back = _large(draws, digits)
    return (
        f"A probe that {name} built flies at {speed} kilometres an hour for {hours} hours, then {factor} times as fast "
        f"for {later} hours, and then turns round and flies {back} kilometres back along the same line. How many "
        "kilometres is it away from its start? If it has passed the start on the way back, give a negative number.",
        Fraction(speed * hours + factor * speed * later - back),
    )


def _shares(draws: Draws, name: str, digits: int) -> Story:
    third, children = _large(draws, digits), draws.choice((2, 4, 5, 8))
    cost, percent = _large(draws, digits - 1), draws.choice((5, 10, 15, 20, 30, 40))
    return (
        f"{name} sells a house and receives three times {third} dollars. Of this sum {percent}% goes to the tax office "
        f"and {cost} dollars to the agent. {name} keeps half of the rest; the other half is shared equally by "
        f"{children} children. How many dollars does each child get, as an exact decimal number?",
        (3 * third * (1 - Fraction(percent, 100)) - cost) / 2 / children,
    )


STORIES: tuple[Callable[[Draws, str, int], Story], ...] = (
    _eggs,
    _crates,
    _wages,
    _discount,
    _town,
    _tank,
    _journey,
    _shares,
)


def render(solution: Mapping[str, Any]) -> str:
    """Return the problem with the request for the marker."""
    return (
        f"{solution['input']}\n\n"
        "Write the number alone between <<< and >>> at the end of your reply, for example <<<123.42>>>, <<<125.0>>> or "
        "<<<-9867>>>."
    )
