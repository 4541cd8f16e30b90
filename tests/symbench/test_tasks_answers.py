"""Answers worked out a second time, from the text of the question alone and in another way.

The verifiers of these tasks compare with the stored answer, and no published reference covers our questions. Here
people are simulated, orders and passwords are enumerated, probabilities counted case by case, and figures measured
in coordinates.
"""

import math
import re
from collections import Counter
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations, product

import pytest

from assay.symbench.generate import generate_rows
from assay.symbench.quantities import read_number
from assay.symbench.tasks.string_deletion_and_modification import Rule, rewrite

COUNT = 40
MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905


@cache
def rows(task, count=COUNT, seed=21):
    return tuple(generate_rows(task, count, seed))


def numbers(text):
    return [int(number) for number in re.findall(r"-?\d+", text)]


def asked(row):
    return row.question.split("\n\n")[0]


def test_web_of_lies():
    for row in rows("web_of_lies"):
        honest = {}
        for sentence in re.findall(r"[^.:?]+\.", row.solution["input"]):
            words = sentence.strip(" .").split()
            if words[1] == "says":
                claim = "lies" not in words
                honest[words[0]] = honest[words[3]] == claim
            else:
                honest[words[0]] = "lies" not in words
        last = re.search(r"Does (\w+) tell", row.solution["input"]).group(1)
        assert row.solution["target"] == ("Yes" if honest[last] else "No")


def test_navigate():
    turns = {"left": 1j, "right": -1j, "around": -1}
    for row in rows("navigate"):
        place, heading = 0, 1j
        for step in re.findall(r"Take (\d+) steps?(?: (\w+))?\.|Turn (\w+)\.", asked(row)):
            length, side, turn = step
            if turn:
                heading *= turns[turn]
            else:
                place += int(length) * heading * {"": 1, "forward": 1, "backward": -1, "left": 1j, "right": -1j}[side]
        assert row.solution["target"] == ("Yes" if place == 0 else "No"), asked(row)


def test_both_words_are_frequent():
    for task in ("web_of_lies", "navigate"):
        answers = Counter(row.solution["target"] for row in rows(task, 100))
        assert min(answers["Yes"], answers["No"]) >= 30


@pytest.mark.parametrize("task", ["date_understanding", "logical_deduction", "mahjong_pattern"])
def test_no_option_is_favoured(task):
    key = "solution" if task == "mahjong_pattern" else "target"
    answers = Counter(row.solution[key] for row in rows(task, 100))
    assert max(answers.values()) <= 65
    assert len(answers) == {"date_understanding": 6, "logical_deduction": 7, "mahjong_pattern": 3}[task]


def test_date_understanding():
    for row in rows("date_understanding"):
        day = None
        for sentence in re.split(r"(?<=\.) ", row.solution["input"].split(" What is the date")[0]):
            day = _given_day(sentence) if day is None else _shifted(day, sentence)
        letter = row.solution["target"].strip("()")
        assert f"({letter}) {day:%m/%d/%Y}" in row.question
        assert len(set(re.findall(r"\d\d/\d\d/\d{4}", row.question.split("Options:")[1]))) == 6


def _given_day(sentence):
    if match := re.search(r"(\d\d)/(\d\d)/(\d{4})", sentence):
        month, day, year = map(int, match.groups())
        found = date(year, month, day)
        weekday = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()[found.weekday()]  # noqa: SIM905
        assert f"a {weekday}," in sentence
        return found
    match = re.search(r"(\w+) (\d+), (\d{4})\.", sentence)
    found = date(int(match.group(3)), MONTHS.index(match.group(1)) + 1, int(match.group(2)))
    for words, days in (("The day after tomorrow", -2), ("Tomorrow", -1), ("Yesterday", 1)):
        if sentence.startswith(words):
            return found + timedelta(days=days)
    return found


def _shifted(day, sentence):
    count, unit, side = re.search(r"(\d+) (day|week|month|year)s? (after|before)", sentence).groups()
    for _ in range(int(count)):
        if unit in ("day", "week"):
            days = timedelta(days=1 if unit == "day" else 7)
            day = day + days if side == "after" else day - days
        else:
            step = 1 if side == "after" else -1
            for _ in range(12 if unit == "year" else 1):
                month = (day.month - 1 + step) % 12 + 1
                year = day.year + (step if month == (1 if step > 0 else 12) else 0)
                day = day.replace(year=year, month=month)
    return day


def test_logical_deduction():
    relations = (
        (r"(.+) stands somewhere to the left of (.+)", "<"),
        (r"(.+) stands somewhere to the right of (.+)", ">"),
        (r"(.+) finished before (.+)", "<"),
        (r"(.+) finished after (.+)", ">"),
        (r"(.+) is older than (.+)", "<"),
        (r"(.+) is newer than (.+)", ">"),
        (r"(.+) cost less than (.+)", "<"),
        (r"(.+) cost more than (.+)", ">"),
    )
    ordinals = "first second third fourth fifth sixth seventh".split()  # noqa: SIM905
    for row in rows("logical_deduction", 16):
        text, options = row.solution["input"].split("\nWhich statement is true?\nOptions:\n")
        named, _, clues = text.partition(". ")
        things = [thing.strip().lower() for thing in re.split(r", | and ", named.partition(": ")[2])]
        assert len(things) == 7
        tests = []
        for clue in clues.rstrip(".").lower().split(". "):
            for pattern, sign in relations:
                if match := re.fullmatch(pattern, clue):
                    tests.append((things.index(match.group(1)), sign, things.index(match.group(2))))
                    break
            else:
                place = next(i for i, word in enumerate(ordinals) if re.search(rf"\b{word}\b", clue))
                tests.append((next(i for i, thing in enumerate(things) if clue.startswith(thing)), "=", place))
        fitting = [
            order
            for order in permutations(range(7))
            if all(
                order[a] == b if sign == "=" else order[a] < order[b] if sign == "<" else order[a] > order[b]
                for a, sign, b in tests
            )
        ]
        assert len(fitting) == 1, text
        for letter, statement in re.findall(r"\((\w)\) (.+)", options):
            thing = next(i for i, name in enumerate(things) if statement.lower().startswith(name))
            place = next(i for i, word in enumerate(ordinals) if re.search(rf"\b{word}\b", statement))
            assert (fitting[0][thing] == place) == (row.solution["target"] == f"({letter})")


def test_cryptanalysis_has_one_password():
    """Read the judgements and try all passwords."""
    phrases = (
        ("right place", lambda symbol, place, secret: secret[place] == symbol),
        ("wrong place", lambda symbol, place, secret: symbol in secret and secret[place] != symbol),
        ("larger|later", lambda symbol, place, secret: symbol > max(secret)),
        ("smaller|earlier", lambda symbol, place, secret: symbol < min(secret)),
    )
    for row in rows("cryptanalysis", 8):
        hints = "larger, smaller" in row.question
        left = [list(permutations("0123456789", 2)), list(permutations("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2))]
        for guess, said in re.findall(r"^\d+\. (\w{4}): (.+)$", row.question, re.MULTILINE):
            for part, told in enumerate(said.split("; ")):
                told = told.split(", ") if told.startswith("one") else [told, told]
                want = sorted(next((i for i, (p, _) in enumerate(phrases) if re.search(p, one)), 4) for one in told)
                symbols = guess[2 * part : 2 * part + 2]

                def codes(secret, symbols=symbols, hints=hints):
                    known = phrases if hints else phrases[:2]
                    return sorted(
                        next((i for i, (_, holds) in enumerate(known) if holds(s, place, secret)), 4)
                        for place, s in enumerate(symbols)
                    )

                left[part] = [secret for secret in left[part] if codes(secret) == want]
        assert [len(part) for part in left] == [1, 1]
        assert [*left[0][0], *left[1][0]] == row.solution["answer"]


def test_a_rewriting_that_undoes_itself_never_ends():
    """Such a round leaves the string as it was, but not without changes; it is no item."""
    there, back = Rule("replace", "aa", "cc"), Rule("replace", "cc", "aa")
    assert rewrite("aab", [there, back]) is None
    assert rewrite("aab", [there]) == ["aab", "ccb"]


def test_string_deletion_and_modification():
    for row in rows("string_deletion_and_modification"):
        rules = re.findall(r"^\d+\. (.+)$", row.question, re.MULTILINE)
        string = re.search(r'The string is "(\w+)"', row.question).group(1)
        idle = 0
        while idle < len(rules):
            for rule in rules:
                changed = _rewritten(string, rule)
                idle = idle + 1 if changed == string else 0
                string = changed
                if idle == len(rules):
                    break
        assert string == row.solution["final_string"]


def _rewritten(string, rule):
    found, *written = re.findall(r"'(\w+)'", rule)
    if "begins with" in rule:
        return re.sub(rf"^{found}(.*)$", lambda m: m.group(1) + "".join(written), string)
    if "ends in" in rule:
        return re.sub(rf"{found}$", "".join(written), string)
    return re.sub(found, "".join(written), string, count=1)


GSM = {
    "hens": lambda n: (n[0] - n[1] - n[2]) * n[3] * n[4],
    "crates": lambda n: Fraction(n[0] * n[1] * n[2] - n[3], n[4]),
    "overtime": lambda n: n[2] * n[0] + n[3] * n[0] * Fraction(100 + n[1], 100) - n[4],
    "machines": lambda n: n[0] * n[1] * Fraction(100 - n[2], 100) + n[3],
    "mayor": lambda n: n[0] + sum(n[1] - n[2] + n[3] for _ in range(n[4])),
    "reservoir": None,  # minute by minute, see below
    "probe": lambda n: n[0] * n[1] + n[2] * n[0] * n[3] - n[4],
    "house": lambda n: (3 * n[0] - Fraction(3 * n[0] * n[1], 100) - n[2]) / 2 / n[3],
}


def test_gsm_hard():
    """Numbers in the order of the text; the formulas are written a second time."""
    seen = Counter()
    for row in rows("gsm_hard", 80):
        text = asked(row).replace("times three", "")
        kind = next(word for word in GSM if word in text)
        seen[kind] += 1
        n = numbers(text)
        if kind == "reservoir":
            start, before, inflow, after, outflow = n
            level = start
            for minute in range(before + after):
                level += inflow - (outflow if minute >= before else 0)
            assert level - start == row.solution["target"]
        else:
            assert float(GSM[kind](n)) == row.solution["target"], text
    assert set(seen) == set(GSM)


def paths(right, up, hole=None, through=None):
    """Count paths crossing by crossing."""
    ways = {}
    for x, y in product(range(right + 1), range(up + 1)):
        ways[x, y] = 1 if (x, y) == (0, 0) else ways.get((x - 1, y), 0) + ways.get((x, y - 1), 0)
        if (x, y) == hole or (through and x + y == sum(through) and (x, y) != through):
            ways[x, y] = 0
    return ways[right, up]


def spread(apples, children, least):
    """Count distributions child by child."""
    ways = [1] + [0] * apples
    for _ in range(children):
        ways = [sum(ways[total - got] for got in range(least, total + 1)) for total in range(apples + 1)]
    return ways[apples]


def rows_without_neighbours(n):
    others, algebra = n[0] + n[1], n[2]
    masks = [m for m in range(1 << (others + algebra)) if m.bit_count() == algebra and not m & (m << 1)]
    return len(masks) * math.factorial(others) * math.factorial(algebra)


def from_first_urn(n):
    red = [Fraction(n[0], n[0] + n[1]), Fraction(n[2], n[2] + n[3])]
    return red[0] / 2 / sum(share / 2 for share in red)


COUNTING = {
    "shirts": lambda n, t: len(list(product(range(n[0]), range(n[1]), range(n[2] + 1)))),
    "multiples of": lambda n, t: sum(1 for k in range(n[1], n[2] + 1) if k % n[0] == 0),
    "committee": lambda n, t: _subsets(n[0], n[2]) * _subsets(n[1], n[3]),
    "letters of": lambda n, t: _words(re.search(r"letters of (\w+)", t).group(1)),
    "urn holds": lambda n, t: from_first_urn(n) if "another one" in t else _same(n),
    "without passing": lambda n, t: paths(n[2], n[3], hole=(n[4], n[5])),
    "through the point": lambda n, t: paths(n[2], n[3], through=(n[4], n[5])),
    "wheel": lambda n, t: _wheel(n),
    "divisible neither": lambda n, t: sum(1 for k in range(n[0], n[1] + 1) if k % n[2] and k % n[3]),
    "fair die": lambda n, t: Fraction(
        sum(a + b >= n[4] for a, b in product(range(1, n[1] + 1), range(1, n[3] + 1))), n[1] * n[3]
    ),
    "apples": lambda n, t: spread(n[0], n[1], n[2]),
    "algebra": lambda n, t: rows_without_neighbours(n),
    "Cards": lambda n, t: _largest(range(n[0], n[1] + 1), n[2]),
    "exactly one of": lambda n, t: sum(1 for k in range(n[0], n[1] + 1) if sum(k % s == 0 for s in n[2:5]) == 1),
}


def _subsets(size, chosen):
    return sum(1 for mask in range(1 << size) if mask.bit_count() == chosen)


def _words(word):
    @cache
    def arrangements(left):
        if not any(left):
            return 1
        return sum(arrangements((*left[:i], k - 1, *left[i + 1 :])) for i, k in enumerate(left) if k)

    return arrangements(tuple(Counter(word).values()))


def _same(n):
    balls = [colour for colour, count in enumerate(n[:3]) for _ in range(count)]
    pairs = list(permutations(balls, 2))
    return Fraction(sum(a == b for a, b in pairs), len(pairs))


def _wheel(n):
    fields, lucky, turns, hits = n[:4]
    chance = {0: Fraction(1)}
    for _ in range(turns):
        chance = {
            won: chance.get(won, 0) * Fraction(fields - lucky, fields)
            + chance.get(won - 1, 0) * Fraction(lucky, fields)
            for won in range(max(chance) + 2)
        }
    return chance[hits]


def _largest(cards, drawn):
    hands = [max(hand) for hand in combinations(cards, drawn)]
    return Fraction(sum(hands), len(hands))


def test_math_counting_and_probability():
    seen = Counter()
    levels = [{"level": level, "largest": 8} for level in range(1, 6)]
    for row in generate_rows("math_counting_and_probability", 100, 6, levels):
        text = asked(row)
        kind = next(word for word in COUNTING if word in text)
        seen[kind] += 1
        # Coordinates and ranges begin with fixed numbers, which are part of the text.
        expected = COUNTING[kind](numbers(text.replace("$", "")), text)
        assert read_number(row.solution["boxed_target"]) == pytest.approx(float(expected), rel=1e-12), text
    assert set(seen) == set(COUNTING)


def heron(a, b, c):
    s = (a + b + c) / 2
    return math.sqrt(s * (s - a) * (s - b) * (s - c))


def polar_area(points):
    """Add up triangles from the first corner, by their sides."""
    first = points[0]
    return sum(heron(math.dist(first, a), math.dist(a, b), math.dist(b, first)) for a, b in pairwise(points[1:]))


def box_diagonal(n):
    """Search for the edges that have the given sums."""
    total = n[0] // 4
    for a in range(1, total):
        for b in range(a, total - a):
            c = total - a - b
            if c >= b and 2 * (a * b + b * c + c * a) == n[1]:
                return math.sqrt(a * a + b * b + c * c)
    raise AssertionError(n)


def chord_of_contact(distance, radius):
    """Meet the circle with the circle over the segment from the point to the centre."""
    x = radius * radius / distance
    return 2 * math.sqrt(radius * radius - x * x)


def crossing_chord(a, b, c):
    """Put P at the origin and the first chord on the x-axis; the circle's centre lies above its middle."""
    middle, height = (b - a) / 2, 0.7
    radius = math.hypot((a + b) / 2, height)
    # A direction in which the circle is c away from P exists for some height; slide the height until it fits one.
    for _ in range(200):
        reach = math.hypot(middle, height)
        near, far = radius - reach, radius + reach
        if near <= c <= far:
            break
        height *= 1.2
        radius = math.hypot((a + b) / 2, height)
    reach = math.hypot(middle, height)
    cosine = (c * c + reach * reach - radius * radius) / (2 * c * reach)
    return c - (2 * reach * cosine - c)


GEOMETRY = {
    "rectangle": lambda n: n[1] * (n[0] / 2 - n[1]),
    "One angle of a triangle": lambda n: (180 - n[0]) / (1 + n[1]),
    "trapezoid": lambda n: min(n[:2]) * n[2] + abs(n[0] - n[1]) * n[2] / 2,
    "sector": lambda n: math.pi * (n[0] / 2) ** 2 * n[1] / 360,
    "convex polygon": lambda n: (180 * n[0] - 360 - n[1]) / (n[0] - 1),
    "altitude": lambda n: 2 * heron(n[0], n[1], math.hypot(n[0], n[1])) / math.hypot(n[0], n[1]),
    "distance between the points": lambda n: math.dist(n[:2], n[2:4]),
    "inscribed circle": lambda n: math.pi * (2 * heron(*n[:3]) / sum(n[:3])) ** 2,
    "quadrilateral whose corners": lambda n: polar_area(list(zip(n[0::2], n[1::2], strict=True))),
    "cone": lambda n: math.pi * n[0] ** 2 * math.sqrt(n[1] ** 2 - n[0] ** 2) / 3,
    "parallel to": lambda n: n[2] / n[0] ** 2 * ((n[0] + n[1]) ** 2 - n[0] ** 2),
    "tetrahedron": lambda n: n[0] * n[1] * n[2] * 5 / 6,
    "circumscribed circle": lambda n: (
        n[0] / 2 / math.sqrt(1 - ((n[1] ** 2 + n[2] ** 2 - n[0] ** 2) / (2 * n[1] * n[2])) ** 2)
    ),
    "space diagonal": box_diagonal,
    "tangents": lambda n: chord_of_contact(n[0], n[1]),
    "chords": lambda n: crossing_chord(*n[:3]),
}


def test_math_geometry():
    seen = Counter()
    for row in rows("math_geometry", 100):
        text = asked(row)
        kind = next(word for word in GEOMETRY if word in text)
        seen[kind] += 1
        answer = read_number(row.solution["boxed_target"])
        assert answer == pytest.approx(GEOMETRY[kind](numbers(text.replace("^", ""))), rel=1e-9), text
    assert set(seen) == set(GEOMETRY)


def test_eight_queens_boards_say_what_the_solution_says():
    for row in rows("eight_queens", 10):
        lines = re.findall(r"^[01X]{8}$", row.question, re.MULTILINE)
        cells = [(r, c, cell) for r, line in enumerate(lines) for c, cell in enumerate(line)]
        assert [[r, c] for r, c, cell in cells if cell == "1"] == row.solution["placed_queens"]
        assert [[r, c] for r, c, cell in cells if cell == "X"] == row.solution["blocked_positions"]


def test_permutation_constraints_hold_and_differ():
    for row in rows("permutations_and_combinations", 20):
        place = {book: index for index, book in enumerate(row.solution["correct_solution"], 1)}
        lines = [line.split(". ", 1)[1] for line in row.solution["constraints_text"].splitlines()]
        assert len(set(lines)) == len(lines)
        for line in lines:
            books = re.findall(r"[Bb]ook (\w)\b", line)
            first = place[books[0]]
            if "adjacent" in line:
                assert abs(first - place[books[1]]) == 1
            elif "left of" in line:
                assert first < place[books[1]]
            elif "right of" in line:
                assert first > place[books[1]]
            else:
                assert (first == numbers(line)[0]) == ("must be" in line)
