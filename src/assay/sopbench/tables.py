"""The tables of SOPBench: pass rates, checks, services and numbers of conditions, one line per run and domain."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assay.records.tables import csv_text
from assay.sopbench.rates import Rate, by_constraints, by_service, checks, do_nothing, rates
from assay.sopbench.rows import VerdictRow
from assay.stats.intervals import wilson

ALL = "all"
_WHO = ("model", "method", "profile", "setting", "domain")
_PASS_RATES = {
    "pass_rate": "pass_rate",
    "should_succeed": "pass_rate_should_succeed",
    "should_refuse": "pass_rate_should_refuse",
    "solvable": "pass_rate_solvable",
    "lenient": "pass_rate_lenient",
    "refusal_justified": "refusal_justified_rate",
    "limit": "limit_rate",
    "overflow": "overflow_rate",
}


@dataclass(frozen=True)
class Part:
    """Verdicts of one model, method and profile, over one domain or over all."""

    model: str
    method: str
    profile: str
    setting: str
    domain: str
    rows: list[VerdictRow]

    @property
    def who(self) -> list[object]:
        """The first columns of each line about it."""
        return [getattr(self, name) for name in _WHO]


def files(parts: Sequence[Part]) -> dict[str, bytes]:
    """Return the tables by file name; without parts they are headers. Shares are fractions, empty where n is 0."""
    return {
        "pass_rates.csv": csv_text(
            (*_WHO, "n", "n_failed", *_interval_after_first(tuple(_PASS_RATES)), "do_nothing"),
            map(_pass_rates, parts),
        ).encode(),
        "attempts.csv": _long(parts, "metric", _attempts),
        "checks.csv": _long(parts, "check", lambda part: checks(part.rows)),
        "constraints.csv": _long(parts, "constraints", lambda part: by_constraints(part.rows)),
        "services.csv": _long(parts, "service", lambda part: {} if part.domain == ALL else by_service(part.rows)),
    }


def interval(metric: str, found: Rate) -> tuple[float | None, float | None]:
    """Return the 95 % interval of a share of tasks.

    An estimate over several attempts is no count of tasks, so that no binomial interval belongs to it.
    """
    if found.value is None or metric.startswith(("pass@", "pass^")):
        return None, None
    bounds = wilson(found.passed, found.n)
    return bounds.low, bounds.high


def _interval_after_first(names: tuple[str, ...]) -> tuple[str, ...]:
    return (names[0], "ci_low", "ci_high", *names[1:])


def _pass_rates(part: Part) -> list[object]:
    found = rates(part.rows)
    whole = found["pass_rate"]
    values = [found[metric].value for metric in _PASS_RATES.values()]
    bounds = interval("pass_rate", whole)
    return [*part.who, whole.n, whole.n_failed, values[0], *bounds, *values[1:], do_nothing(part.rows).value]


def _attempts(part: Part) -> dict[str, Rate]:
    return {name: found for name, found in rates(part.rows).items() if name.startswith(("pass@", "pass^"))}


def _long(parts: Sequence[Part], column: str, groups: Callable[[Part], dict[str, Rate]]) -> bytes:
    def lines() -> Iterator[list[object]]:
        for part in parts:
            for name, found in groups(part).items():
                yield [*part.who, name, found.n, found.n_failed, found.value, *interval(name, found)]

    return csv_text((*_WHO, column, "n", "n_failed", "share", "ci_low", "ci_high"), lines()).encode()
