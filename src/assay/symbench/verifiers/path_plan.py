"""Path plan: drive through coloured boxes along straight lines without touching a wall."""

from collections.abc import Sequence
from typing import Any

from assay.symbench.alternatives import NOT_BARE, NOT_ONE, bare
from assay.symbench.literals import LiteralError, python_value
from assay.symbench.rows import TaskRow
from assay.symbench.statements import TRAJECTORY
from assay.symbench.verdicts import RIGHT, Profile, Verdict, unreadable, wrong

Point = Sequence[float]

# Instruction index -> colours to enter and colours to avoid. The order of visits is not checked.
RULES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("green", "yellow"), ()),
    (("yellow", "purple", "red", "green"), ()),
    (("yellow", "purple", "red", "green"), ("blue",)),
    (("green", "yellow"), ()),
    (("blue",), ("red", "green", "yellow", "pink", "purple", "orange")),
    (("green", "yellow"), ("pink",)),
    (("yellow", "orange"), ("blue", "purple", "red")),
    (("green", "yellow", "red"), ("blue",)),
    (("purple", "orange", "pink"), ("blue", "red", "green", "yellow")),
    (("yellow", "red", "green"), ("blue",)),
)


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check the end points, the walls, and the boxes to enter and to avoid.

    `upstream` reads the whole text and wants tuples; `corrected` reads the one list of points in the text, of tuples
    or lists, and refuses several, or one that words may deny (deviation D25). The rule comes from the sample's
    `instruction_index`, which upstream's scorer overwrites when the response holds code (D15, see `judging`).
    """
    try:
        points = python_value(answer) if profile == "upstream" else _one_trajectory(answer)
    except LiteralError as error:
        return unreadable(str(error))
    try:
        return _check(points, sample)
    except (TypeError, IndexError, KeyError, ArithmeticError) as error:
        return unreadable(f"not a list of points: {error}")


def _one_trajectory(text: str) -> Any:
    found = {"".join(match.group().split()) for match in TRAJECTORY.finditer(text)}
    if not found:
        raise LiteralError("no list of points")
    if not bare(TRAJECTORY, text):
        raise LiteralError(NOT_BARE)
    if len(found) > 1:
        raise LiteralError(NOT_ONE)
    return [tuple(point) for point in python_value(found.pop())]


def _check(points: Any, sample: TaskRow) -> Verdict:
    solution = sample.solution
    if len(points) < 2:
        return wrong("fewer than two points")
    if points[0] != tuple(solution["start"]) or points[-1] != tuple(solution["end"]):
        return wrong("the trajectory does not run from the start to the end point")
    if any(touches(points, wall) for wall in solution["walls"]):
        return wrong("the trajectory touches a wall")
    index = solution["instruction_index"]
    if index >= len(RULES):
        return wrong(f"there is no instruction {index}")
    enter, avoid = RULES[index]
    boxes = solution["boxes"]
    for colour in enter:
        if not touches(points, boxes[colour]):
            return wrong(f"the {colour} box is not entered")
    for colour in avoid:
        if touches(points, boxes[colour]):
            return wrong(f"the {colour} box is entered")
    return RIGHT


def touches(points: Sequence[Point], box: Sequence[float]) -> bool:
    """Say whether a segment crosses an edge of the box (x0, x1, y0, y1).

    The orientation test counts equality as "not left", so a touch counts on one side of an edge and not on the
    other; a segment wholly inside a box crosses nothing. Published verdicts rest on exactly this test.
    """
    x0, x1, y0, y1 = box
    corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    return any(
        _cross(points[i], points[i + 1], corners[j], corners[(j + 1) % 4])
        for i in range(len(points) - 1)
        for j in range(4)
    )


def _cross(p1: Point, p2: Point, p3: Point, p4: Point) -> bool:
    return _left(p1, p3, p4) != _left(p2, p3, p4) and _left(p1, p2, p3) != _left(p1, p2, p4)


def _left(a: Point, b: Point, c: Point) -> bool:
    return (c[1] - a[1]) * (b[0] - a[0]) > (b[1] - a[1]) * (c[0] - a[0])
