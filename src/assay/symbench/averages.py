"""The lines of average normalised scores: within each model, under each method, and across models."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from assay.symbench.avenorm import published_rates
from assay.symbench.comparison import Member, Score, across, compare
from assay.symbench.counting import counted, samples_digest
from assay.symbench.metric_settings import Measured, MetricSettings, Mode, questions_of, weakest
from assay.symbench.metric_tables import AvenormLine, Comparison

# Settings that mark numbers as less than they should be.
_MARKS = ("isolation",)

External = Mapping[str, Mapping[str, Fraction]]


def lines(settings: MetricSettings, measured: Sequence[Measured], mode: Mode) -> Iterator[AvenormLine]:
    """Yield the lines of one mode: the methods of each model, the means over models, the models of each method."""
    external = _printed() if settings.published_columns else {}
    if settings.comparison in ("methods", "both"):
        groups = _groups(measured, "methods")
        yield from _compared(settings, groups, mode, "methods", external)
        yield from _across(settings, groups, mode, external)
    if settings.comparison in ("models", "both"):
        yield from _compared(settings, _groups(measured, "models"), mode, "models", external)


Groups = Mapping[tuple[str, int], list[Measured]]


def _groups(measured: Sequence[Measured], comparison: Comparison) -> Groups:
    """Return (model or method, seed) -> runs that are compared."""
    groups: dict[tuple[str, int], list[Measured]] = {}
    for one in measured:
        of = one.run.model if comparison == "methods" else one.run.method
        groups.setdefault((of, one.run.seed), []).append(one)
    return groups


def _compared(
    settings: MetricSettings, groups: Groups, mode: Mode, comparison: Comparison, external: External
) -> Iterator[AvenormLine]:
    for (of, seed), group in groups.items():
        if len(group) == 1 and not external:
            continue  # alone, everything is best
        members = [_member(one, mode, comparison) for one in group]
        names = [member.name for member in members]
        for score in compare(members, settings.tasks, settings.bootstrap, settings.missing, external):
            own = [] if score.external else [group[names.index(score.name)]]
            model = "" if score.external else own[0].run.model
            method = own[0].run.method if own else score.name
            yield _line(score, mode, own, group, model, method, seed, comparison, of, external)


def _across(settings: MetricSettings, groups: Groups, mode: Mode, external: External) -> Iterator[AvenormLine]:
    """Yield the means over models, where all models were evaluated with the same methods, several of each."""
    for seed in dict.fromkeys(seed for _, seed in groups):
        chosen = [group for (_, other), group in groups.items() if other == seed]
        methods = [[one.run.method for one in group] for group in chosen]
        if len(chosen) < 2 or any(names != methods[0] for names in methods) or (len(methods[0]) < 2 and not external):
            continue
        members = [[_member(one, mode, "methods") for one in group] for group in chosen]
        everyone = [one for group in chosen for one in group]
        for score in across(members, settings.tasks, settings.bootstrap, settings.missing, external):
            own = [one for one in everyone if one.run.method == score.name]
            of = f"{len(chosen)} models"
            yield _line(score, mode, own, everyone, "", score.name, seed, "across", of, external)


def _printed() -> External:
    return {
        name: {task: percent / 100 for task, percent in column.items()} for name, column in published_rates().items()
    }


def _member(one: Measured, mode: Mode, comparison: Comparison) -> Member:
    name = one.run.model if comparison == "models" else one.run.method
    solved = {task: tuple(row.verdict(*mode).correct for row in rows) for task, rows in one.labels.items()}
    return Member(name, solved, {task: samples_digest(rows) for task, rows in one.labels.items()})


def _line(
    score: Score,
    mode: Mode,
    own: Sequence[Measured],
    compared: Sequence[Measured],
    model: str,
    method: str,
    seed: int,
    comparison: Comparison,
    of: str,
    external: External,
) -> AvenormLine:
    rows = [row for one in own for task in score.tasks for row in one.labels.get(task, [])]
    return AvenormLine(
        model=model,
        method=method,
        profile=mode[0],
        extraction=mode[1],
        seed=seed,
        comparison=comparison,
        of=of,
        columns=len({one.run.model if comparison == "models" else one.run.method for one in compared}),
        external_columns=len(external),
        source="measured" if own else "printed",
        split=score.split,
        questions=questions_of(rows),
        setting=_shared_setting(own, compared),
        determinism=weakest(one.run for one in compared),
        score=score,
        counts=counted(rows, *mode),
    )


def _shared_setting(own: Sequence[Measured], compared: Sequence[Measured]) -> dict[str, str]:
    """Return what all runs of a line have in common; a printed column has no model, but shares the others' marks."""
    first, *others = [one.run.setting.items() for one in own or compared]
    common = [item for item in first if all(item in other for other in others)]
    return {key: value for key, value in common if own or key in _MARKS}
