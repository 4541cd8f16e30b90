"""New operator: evaluate an expression of freshly defined operators."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import listed, marked

SYMBOLS = "~&@#%$!?"
# Kind of definition -> its text; p, q, r are small whole numbers. Halves stay exact in decimal notation.
FORMULAS = {
    "sum": "{p}*a+{q}*b",
    "difference": "{p}*a-{q}*b",
    "product": "{p}*a*b-{r}",
    "mixed": "a*b+{p}*a-{q}*b",
    "half": "(a+{p}*b)/2",
}
Definition = tuple[str, int, int, int]


class NewOperatorConfig(Parameters):
    """How many operators, and how long the expression is."""

    operators: int = Field(ge=1, le=6)
    """Operators that are defined; each occurs in the expression."""
    operands: int = Field(ge=2, le=12)
    """Numbers in the expression."""
    brackets: int = Field(default=1, ge=0, le=4)
    """Bracketed pairs of numbers."""

    def model_post_init(self, context: object) -> None:
        """Check that the expression has room for its operators and brackets."""
        if self.operators > self.operands - 1:
            raise ValueError(f"operators {self.operators}: {self.operands} operands have fewer places")
        if 2 * self.brackets > self.operands:
            raise ValueError(f"brackets {self.brackets}: {self.operands} operands do not fill them")

    def space(self) -> int:
        """Return the number of definitions and operands."""
        definitions = (len(FORMULAS) * 5 * 5 * 9) ** self.operators * comb(len(SYMBOLS), self.operators)
        return int(definitions * 12**self.operands)


LEVELS = (
    NewOperatorConfig(operators=1, operands=3),
    NewOperatorConfig(operators=2, operands=4),
    NewOperatorConfig(operators=3, operands=5),
    NewOperatorConfig(operators=3, operands=7, brackets=2),
)


def generate(draws: Draws, config: NewOperatorConfig) -> Draft:
    """Draw definitions and an expression whose value has a short decimal form."""
    while True:
        symbols = draws.sample(SYMBOLS, config.operators)
        definitions: dict[str, Definition] = {
            symbol: (draws.choice(tuple(FORMULAS)), draws.integer(1, 5), draws.integer(1, 5), draws.integer(1, 9))
            for symbol in symbols
        }
        numbers = [draws.integer(1, 12) for _ in range(config.operands)]
        places = symbols + [draws.choice(symbols) for _ in range(config.operands - 1 - config.operators)]
        signs = draws.shuffled(places)
        pairs = _bracketed_pairs(draws, config)
        value = evaluate(numbers, signs, pairs, definitions)
        if abs(value) < 10**9 and Fraction(float(value)) == value:
            break
    formulas = {symbol: FORMULAS[kind].format(p=p, q=q, r=r) for symbol, (kind, p, q, r) in definitions.items()}
    text = _expression(numbers, signs, pairs)
    solution = {"operator_definitions": formulas, "expression": text, "solution": float(value)}
    return Draft(question=render(solution), solution=solution, reference=_decimal(value))


def _bracketed_pairs(draws: Draws, config: NewOperatorConfig) -> list[int]:
    """Return the first positions of bracketed pairs that do not overlap."""
    while True:
        firsts = sorted(draws.sample(range(config.operands - 1), config.brackets))
        if all(b - a >= 2 for a, b in pairwise(firsts)):
            return firsts


def apply(definition: Definition, a: Fraction, b: Fraction) -> Fraction:
    """Return the value of one operator."""
    kind, p, q, r = definition
    values = {
        "sum": p * a + q * b,
        "difference": p * a - q * b,
        "product": p * a * b - r,
        "mixed": a * b + p * a - q * b,
        "half": (a + p * b) / 2,
    }
    return values[kind]


def evaluate(
    numbers: Sequence[int], signs: Sequence[str], pairs: Sequence[int], definitions: Mapping[str, Definition]
) -> Fraction:
    """Evaluate brackets first, then from left to right, all operators of one precedence."""
    values: list[Fraction] = []
    between: list[str] = []
    index = 0
    while index < len(numbers):
        value = Fraction(numbers[index])
        if index in pairs:
            value = apply(definitions[signs[index]], value, Fraction(numbers[index + 1]))
            index += 1
        values.append(value)
        between += [signs[index]] if index < len(signs) else []
        index += 1
    result = values[0]
    for sign, value in zip(between, values[1:], strict=True):
        result = apply(definitions[sign], result, value)
    return result


def _expression(numbers: Sequence[int], signs: Sequence[str], pairs: Sequence[int]) -> str:
    parts = []
    for index, number in enumerate(numbers):
        parts.append(f"({number}" if index in pairs else f"{number})" if index - 1 in pairs else str(number))
        parts += [signs[index]] if index < len(signs) else []
    return " ".join(parts)


def _decimal(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


def render(solution: Mapping[str, Any]) -> str:
    """Return the question; its line `Calculate ...` is what the verifier evaluates."""
    definitions = "\n".join(f"a {symbol} b = {formula}" for symbol, formula in solution["operator_definitions"].items())
    symbols = listed(list(solution["operator_definitions"]))
    return (
        f"For numbers a and b let the following hold (+ - * / on the right have their usual meaning):\n\n{definitions}"
        f"\n\nBrackets come first. Apart from them {symbols} are carried out strictly from left to right, with no "
        f"precedence among them.\n\nCalculate {solution['expression']}\n\n" + marked("the number", "-12.5")
    )
