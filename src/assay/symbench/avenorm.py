"""The average normalised score, and the rates that the paper printed.

For task i and method j with success rate s_ij the score is 100/N times the sum over tasks of s_ij / m_i, where m_i is
the best rate of any method of the comparison set on task i. Leaving out a method changes everybody's score.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal

import msgspec

from assay.errors import DataError
from assay.symbench.catalogue import TASKS

Missing = Literal["refuse", "zero", "common"]
Rates = Mapping[str, Mapping[str, Fraction]]  # method -> task -> success rate, any unit

PUBLISHED_SOURCE = "arXiv:2502.04350, main results table"
SPLITS = ("seen", "unseen", "total")


class AverageNormalized(msgspec.Struct, frozen=True):
    """The scores of one set of tasks.

    Attributes
    ----------
    percent : dict
        Method -> score in [0, 100]; 100 for a method that is best on every task.
    tasks : tuple of str
        The N tasks that the average is taken over.
    zero_tasks : tuple of str
        Tasks that no method solves at all: they count 0 for everybody and stay in N.
    """

    percent: dict[str, Fraction]
    tasks: tuple[str, ...]
    zero_tasks: tuple[str, ...]


def average_normalized(rates: Rates, tasks: Iterable[str], missing: Missing = "refuse") -> AverageNormalized:
    """Return 100/N * sum_i s_ij / m_i for every method.

    Parameters
    ----------
    rates : mapping
        Method -> task -> success rate in [0, 1] or percent, one unit for all. The methods are the comparison set.
    tasks : iterable of str
        The tasks to average over; every task counts the same, however many samples it has.
    missing : {"refuse", "zero", "common"}
        What to do with a task that a method lacks: refuse, count it 0, or take the tasks that all methods have,
        which changes N and the maxima.

    Raises
    ------
    DataError
        For a missing rate under "refuse", for no task, and for a rate below 0.

    Examples
    --------
    >>> scores = average_normalized({"a": {"t": 50, "u": 10}, "b": {"t": 100, "u": 10}}, ["t", "u"])
    >>> {method: float(value) for method, value in scores.percent.items()}
    {'a': 75.0, 'b': 100.0}
    """
    wanted = tuple(tasks)
    absent = [(method, task) for method, row in rates.items() for task in wanted if task not in row]
    if absent and missing == "refuse":
        method, task = absent[0]
        raise DataError(
            f"{method} has no rate for {task} ({len(absent)} rates are missing)",
            expected="every method on every task",
            remedy="leave the method out, or choose the policy zero or common",
        )
    if missing == "common":
        lacking = {task for _, task in absent}
        wanted = tuple(task for task in wanted if task not in lacking)
    if not wanted or not rates:
        raise DataError("there is no task, or no method, to average over", expected="one or more of each")
    totals = dict.fromkeys(rates, Fraction(0))
    zero = []
    for task in wanted:
        column = {method: Fraction(row.get(task, 0)) for method, row in rates.items()}
        if min(column.values()) < 0:
            raise DataError("a success rate is below 0", row=task, expected="fractions, or percentages")
        best = max(column.values())
        if best == 0:
            zero.append(task)
            continue
        for method, rate in column.items():
            totals[method] += rate / best
    percent = {method: 100 * total / len(wanted) for method, total in totals.items()}
    return AverageNormalized(percent, wanted, tuple(zero))


def split_tasks(split: str) -> tuple[str, ...]:
    """Return the tasks of "seen", "unseen" or "total", in the paper's order."""
    return tuple(name for name, info in TASKS.items() if split in ("total", info.split))


def one_decimal(value: Fraction) -> str:
    """Return a score as the paper prints it: one decimal, halves up."""
    tenths = (value * 10 + Fraction(1, 2)).__floor__()
    return f"{tenths // 10}.{tenths % 10}"


class PaperTable(msgspec.Struct, frozen=True):
    """Rates in percent, and the averages that were printed beside them: split -> method -> text."""

    rates: dict[str, dict[str, Fraction]]
    printed: dict[str, dict[str, str]]


def read_paper_table(path: Path) -> PaperTable:
    """Read a table with the columns row_type, task, paper_label, split and one column per method.

    Rows of the type `success_rate` hold percentages, rows of the type `avenorm_printed` printed averages.
    """
    rates: dict[str, dict[str, Fraction]] = {}
    printed: dict[str, dict[str, str]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            methods = _methods(reader.fieldnames or (), path)
            for number, row in enumerate(reader, 2):
                _refuse_row(row, rates, printed, path, number)
                if row["row_type"] == "avenorm_printed":
                    printed[row["split"]] = {method: row[method] for method in methods}
                    continue
                for method in methods:
                    rates.setdefault(method, {})[row["task"]] = _percentage(row[method], path, number, method)
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise DataError(f"the file {reason}", file=path, expected="a table of rates") from error
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8", file=path, remedy="save it in UTF-8") from error
    except csv.Error as error:
        raise DataError(f"the file is not CSV ({error})", file=path, remedy="save it as CSV with commas") from error
    return PaperTable(rates, printed)


_DESCRIBED = ("row_type", "task", "paper_label", "split")


def _methods(names: Sequence[str], path: Path) -> list[str]:
    methods = [name for name in names if name not in _DESCRIBED]
    if not methods or any(name not in names for name in _DESCRIBED):
        raise DataError("not a table of rates", file=path, row=1, expected=f"columns {', '.join(_DESCRIBED)}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError("the column stands twice", file=path, row=1, key=twice, expected="each column once")
    return methods


def _refuse_row(
    row: Mapping[str, str], rates: Rates, printed: Mapping[str, Mapping[str, str]], path: Path, number: int
) -> None:
    """Refuse what would be ignored, or would replace another row: either changes every score without a word."""
    if None in row or None in row.values():
        cells = "more cells" if None in row else "fewer cells"
        raise DataError(f"the row has {cells} than the header", file=path, row=number, expected="one cell a column")
    if row["row_type"] == "avenorm_printed":
        if row["split"] not in SPLITS:
            raise DataError(
                f"there is no split {row['split']!r}", file=path, row=number, key="split", expected=", ".join(SPLITS)
            )
        known, name = set(printed), row["split"]
    elif row["row_type"] == "success_rate" and row["task"] in TASKS:
        known, name = {task for column in rates.values() for task in column}, row["task"]
    else:
        raise DataError("unknown row type or task", file=path, row=number, expected="success_rate of a task")
    if name in known:
        raise DataError(f"a second row of {name}", file=path, row=number, expected="one row each")


def published_rates() -> dict[str, dict[str, Fraction]]:
    """Return the 481 printed percentages, method -> task -> percent: external columns, never our measurements."""
    path = Path(__file__).with_name("published_rates.csv")
    rates: dict[str, dict[str, Fraction]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            rates.setdefault(row["method"], {})[row["task"]] = _percentage(row["percent"], path, number, "percent")
    return rates


def _percentage(text: str | None, path: Path, row: int, key: str) -> Fraction:
    try:
        # Without an exponent, which could ask for a number of a billion digits.
        value = Fraction(-1 if text is None or "e" in text.lower() else text)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if not 0 <= value <= 100:
        raise DataError(f"{text!r} is no percentage", file=path, row=row, key=key, expected="a number from 0 to 100")
    return value
