"""MATH, geometry: problems of the competition kind with exact answers."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import gcd
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.latex import fraction_text, root_text

# A problem and its answer in LaTeX.
Problem = tuple[str, str]


class MathGeometryConfig(Parameters):
    """Which problems are set."""

    level: int = Field(ge=1, le=5)
    """Level 1 to 5, in the sense of the competition set: more steps at a higher level."""
    largest: int = Field(default=60, ge=20, le=1000)
    """About the largest length in a problem."""

    def space(self) -> int:
        """Return a rough number: most problems have two free lengths or more."""
        return len(PROBLEMS[self.level]) * (self.largest // 2) ** 2


def generate(draws: Draws, config: MathGeometryConfig) -> Draft:
    """Set one of the level's problems; the answer follows from its numbers exactly."""
    text, answer = draws.choice(PROBLEMS[config.level])(draws, config.largest)
    solution = {"problem": text, "level": f"Level {config.level}", "type": "Geometry", "boxed_target": answer}
    return Draft(question=render(solution), solution=solution, reference=answer)


def _triple(draws: Draws, largest: int) -> tuple[int, int, int]:
    """Return legs and hypotenuse of a right triangle with whole sides (Euclid's formula, scaled)."""
    while True:
        m, n = draws.integer(2, 7), draws.integer(1, 6)
        if n < m and (m - n) % 2 and gcd(m, n) == 1:
            scale = draws.integer(1, max(1, largest // (m * m + n * n)))
            legs = draws.shuffled((scale * (m * m - n * n), scale * 2 * m * n))
            return legs[0], legs[1], scale * (m * m + n * n)


def _rectangle(draws: Draws, largest: int) -> Problem:
    a, b = draws.integer(3, largest), draws.integer(3, largest)
    return (
        f"A rectangle has a perimeter of ${2 * (a + b)}$ and one side of length ${a}$. What is its area?",
        str(a * b),
    )


def _third_angle(draws: Draws, largest: int) -> Problem:
    first = draws.integer(11, 80)
    ratio = draws.integer(2, max(3, largest // 4))
    second = Fraction(180 - first, ratio + 1)
    return (
        f"One angle of a triangle measures ${first}^\\circ$. Of the other two, one is ${ratio}$ times as large as the "
        "other. How many degrees does the smallest of these two angles measure? Give an exact value.",
        fraction_text(second),
    )


def _trapezoid(draws: Draws, largest: int) -> Problem:
    a, b, height = draws.integer(3, largest), draws.integer(3, largest), draws.integer(2, largest)
    return (
        f"The parallel sides of a trapezoid are ${a}$ and ${b}$ long, and they are ${height}$ apart. What is the area "
        "of the trapezoid?",
        fraction_text(Fraction((a + b) * height, 2)),
    )


def _circle(draws: Draws, largest: int) -> Problem:
    radius, part = draws.integer(2, largest), draws.choice((2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 20))
    return (
        f"A circle has a circumference of ${2 * radius}\\pi$. What is the area of a sector of this circle with a "
        f"central angle of ${360 // part}^\\circ$? Give an exact value in terms of $\\pi$.",
        fraction_text(Fraction(radius * radius, part), r"\pi"),
    )


def _polygon(draws: Draws, largest: int) -> Problem:
    sides, known = draws.integer(5, max(12, largest // 2)), draws.integer(100, 170)
    return (
        f"A convex polygon has ${sides}$ sides. One of its interior angles measures ${known}^\\circ$ and all the "
        "others are equal. How many degrees does each of the others measure? Give an exact value.",
        fraction_text(Fraction((sides - 2) * 180 - known, sides - 1)),
    )


def _altitude(draws: Draws, largest: int) -> Problem:
    a, b, c = _triple(draws, largest)
    return (
        f"A right triangle has legs of lengths ${a}$ and ${b}$. How long is the altitude to its hypotenuse?",
        fraction_text(Fraction(a * b, c)),
    )


def _distance(draws: Draws, largest: int) -> Problem:
    x, y = draws.integer(-largest, largest), draws.integer(-largest, largest)
    dx, dy = draws.integer(1, largest), draws.integer(1, largest)
    return (
        f"What is the distance between the points $({x}, {y})$ and $({x + dx}, {y - dy})$? Give an exact value, with "
        "roots simplified.",
        root_text(dx * dx + dy * dy),
    )


def _inscribed_circle(draws: Draws, largest: int) -> Problem:
    a, b, c = _triple(draws, largest)
    times = draws.integer(1, max(2, largest // 4))
    radius = Fraction(a + b - c, 2) * times
    return (
        f"A triangle has sides of lengths ${a * times}$, ${b * times}$ and ${c * times}$. What is the area of its "
        "inscribed circle, in terms of $\\pi$?",
        fraction_text(radius * radius, r"\pi"),
    )


def _shoelace(draws: Draws, largest: int) -> Problem:
    """Return a convex quadrilateral with one corner on each side of a box."""
    width, height = draws.integer(6, largest), draws.integer(6, largest)
    x, y = draws.integer(-largest, largest), draws.integer(-largest, largest)
    corners = [
        (x + draws.integer(1, width - 1), y),
        (x + width, y + draws.integer(1, height - 1)),
        (x + draws.integer(1, width - 1), y + height),
        (x, y + draws.integer(1, height - 1)),
    ]
    double = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1], strict=True))
    points = ", ".join(f"$({a}, {b})$" for a, b in corners)
    return (
        f"What is the area of the quadrilateral whose corners, in order, are {points}?",
        fraction_text(Fraction(abs(double), 2)),
    )


def _cone(draws: Draws, largest: int) -> Problem:
    radius, height, slant = _triple(draws, largest)
    scale = draws.integer(1, max(2, largest // 6))
    return (
        f"A cone has a base of radius ${radius * scale}$ and a slant height of ${slant * scale}$ (from the tip to the "
        "edge of the base). What is its volume, in terms of $\\pi$?",
        fraction_text(Fraction(radius * radius * height * scale**3, 3), r"\pi"),
    )


def _similar(draws: Draws, largest: int) -> Problem:
    small, more, area = draws.integer(2, largest), draws.integer(1, largest), draws.integer(5, 5 * largest)
    large = small + more
    return (
        "In triangle $ABC$ a line parallel to $BC$ meets $AB$ at $D$ and $AC$ at $E$. "
        f"$AD = {small}$, $DB = {more}$, and triangle $ADE$ has area ${area}$. What is the area of the quadrilateral "
        "$DBCE$?",
        fraction_text(area * (Fraction(large * large, small * small) - 1)),
    )


def _corner(draws: Draws, largest: int) -> Problem:
    a, b, c = (draws.integer(2, largest) for _ in range(3))
    return (
        f"A rectangular box has edges of lengths ${a}$, ${b}$ and ${c}$. A plane through the three corners next to one "
        "corner of the box cuts a tetrahedron off. What is the volume of the remaining solid?",
        fraction_text(a * b * c - Fraction(a * b * c, 6)),
    )


def _circumradius(draws: Draws, largest: int) -> Problem:
    """Return a triangle made of two right triangles with a common leg, so that its area is rational."""
    while True:
        (a, height, left), (c, d, right) = _triple(draws, largest), _triple(draws, largest)
        first, second = Fraction(a), Fraction(c * height, d)
        sides = [Fraction(left), Fraction(right * height, d), first + second]
        common = 1
        for side in sides:
            common = common * side.denominator // gcd(common, side.denominator)
        if common * max(sides) <= 6 * largest:
            break
    a, b, c = (int(side * common) for side in sides)
    area = (first + second) * height / 2 * common * common
    return (
        f"A triangle has sides of lengths ${a}$, ${b}$ and ${c}$. What is the radius of its circumscribed circle?",
        fraction_text(Fraction(a * b * c) / (4 * area)),
    )


def _diagonal(draws: Draws, largest: int) -> Problem:
    a, b, c = (draws.integer(2, largest) for _ in range(3))
    return (
        f"The edges of a rectangular box sum to ${4 * (a + b + c)}$, and its surface area is "
        f"${2 * (a * b + b * c + c * a)}$. How long is a space diagonal of the box? Give an exact value, with roots "
        "simplified.",
        root_text(a * a + b * b + c * c),
    )


def _tangent(draws: Draws, largest: int) -> Problem:
    radius, tangent, distance = _triple(draws, largest)
    scale = draws.integer(1, max(2, largest // 5))
    radius, tangent, distance = radius * scale, tangent * scale, distance * scale
    # The chord of the two points of contact is twice the altitude to the hypotenuse.
    return (
        f"A point lies at distance ${distance}$ from the centre of a circle of radius ${radius}$. The two tangents "
        "from the point touch the circle at $P$ and $Q$. How long is $PQ$?",
        fraction_text(Fraction(2 * radius * tangent, distance)),
    )


def _chords(draws: Draws, largest: int) -> Problem:
    a, b, c = draws.integer(2, largest), draws.integer(2, largest), draws.integer(2, largest)
    return (
        f"Two chords $AB$ and $CD$ of a circle meet at $P$ inside it. $PA = {a}$, $PB = {b}$ and $PC = {c}$. How long "
        "is the chord $CD$?",
        fraction_text(Fraction(a * b, c) + c),
    )


PROBLEMS: dict[int, tuple[Callable[[Draws, int], Problem], ...]] = {
    1: (_rectangle, _third_angle),
    2: (_trapezoid, _circle, _polygon),
    3: (_altitude, _distance, _inscribed_circle),
    4: (_shoelace, _cone, _similar, _corner),
    5: (_circumradius, _diagonal, _tangent, _chords),
}
LEVELS = tuple(MathGeometryConfig(level=level) for level in PROBLEMS)


def render(solution: Mapping[str, Any]) -> str:
    """Return the problem with the request for the marker."""
    return (
        f"{solution['problem']}\n\n"
        "Write the answer alone between <<< and >>> at the end of your reply, for example <<<123.42>>>, <<<125.0>>> or "
        "<<<-9867>>>; LaTeX is welcome."
    )
