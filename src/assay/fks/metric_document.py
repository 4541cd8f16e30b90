"""The one JSON of a model's metrics (`metrics.json`), from which the main table is made."""

import re
from collections.abc import Iterable

import msgspec

from assay.fks.qualification_report import QualificationReport
from assay.fks.summary import Number, tidy

SCHEMA = "assay.fks.metrics/1"

CAVEATS = (
    "Published facts were kept because five filter models all got the first token of the answer right (10,601 of "
    "1,783,541 prompts, 0.59 %), so absolute scores on them run high; facts built here carry no such selection unless "
    "qualification is switched on.",
    "Filter models that are also evaluated are favoured by that selection; they are marked.",
    "Some facts can be answered by copying the subject (750 of the 2,592 published ones, 28.9 %), so both parts are "
    "reported separately.",
    "A judge that merges answer clusters shares pretraining with models of its family (the published default with "
    "four evaluated models), so its merges may favour them; the clusterer version says whether one was used.",
    "Labels and clusters come from documented, versioned substitutes for a scorer and a judge that are not available, "
    "so the numbers are not comparable with published FKS numbers.",
)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A value with its intervals by bootstrap unit, the number of cases behind it, and the failed ones of them."""

    value: float | None
    n: int
    n_failed: int = 0
    ci: dict[str, tuple[float | None, float | None]] = {}


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One selection of facts: a line of the main table for each transport.

    `values` are external numbers; `internal` and `joint` hold the numbers of each transport.
    """

    coverage_mode: str
    subset: str
    anchor: bool
    main_families: tuple[str, ...]
    n_facts: int
    n_excluded: dict[str, int]
    values: dict[str, Measured]
    baselines: dict[str, dict[str, Measured]] = {}
    by_relation: dict[str, dict[str, Measured]] = {}
    by_family: dict[str, dict[str, Measured]] = {}
    by_language: dict[str, dict[str, Measured]] = {}
    internal: dict[str, dict[str, Measured]] = {}
    joint: dict[str, dict[str, Measured]] = {}


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was measured of one model on one dataset.

    `inputs` maps file names to sha256 digests of their bytes; `config` is the job's own, so a number can be traced
    to what made it without any other file. `side` holds what enters no mean of the main table, `states`
    what was found in the hidden states (rows used, excluded rows by reason, layers, where the states were taken),
    `qualification` what the choice of facts by filter models tried and kept.
    """

    schema: str
    dataset: str
    model: str
    method: str
    profile: str
    filter_model: bool
    scorer_version: str
    clusterer_version: str
    inputs: dict[str, str]
    config: dict[str, object]
    rows: dict[str, int]
    lines: tuple[Line, ...]
    side: dict[str, Measured]
    states: dict[str, object]
    qualification: QualificationReport | None = None
    caveats: tuple[str, ...] = CAVEATS


def measured(number: Number) -> Measured:
    """Return a number as it stands in the document."""
    return Measured(
        value=tidy(number.value, number.digits),
        n=number.n,
        n_failed=number.n_failed,
        ci={
            unit: (tidy(interval.low, number.digits), tidy(interval.high, number.digits))
            for unit, interval in number.intervals.items()
        },
    )


def named(numbers: Iterable[Number], drop: Iterable[str] = ()) -> dict[str, Measured]:
    """Return numbers by name; what is not in `drop` of their settings is part of the name (`x_share@tau=0.8`)."""
    left_out = set(drop)
    result: dict[str, Measured] = {}
    for number in numbers:
        parts = [f"{key}={_plain(value)}" for key, value in sorted(number.setting.items()) if key not in left_out]
        parts += [f"baseline={number.baseline}"] if number.baseline else []
        name = "@".join([number.metric, *([",".join(parts)] if parts else [])])
        if name in result:
            raise ValueError(f"two numbers are called {name!r}")
        result[name] = measured(number)
    return result


def _plain(value: object) -> object:
    # Names of relations are data and may hold what separates the parts of a name; `unquote` gives them back.
    return re.sub("[%,;=@]", lambda found: f"%{ord(found[0]):02X}", value) if isinstance(value, str) else value


def grouped(numbers: Iterable[Number], key: str, drop: Iterable[str]) -> dict[str, dict[str, Measured]]:
    """Return numbers that carry the setting `key`, by its value, then by name."""
    groups: dict[str, list[Number]] = {}
    for number in numbers:
        if key in number.setting:
            groups.setdefault(str(number.setting[key]), []).append(number)
    return {value: named(group, (*drop, key)) for value, group in sorted(groups.items())}
