"""Pass rates of published trajectories, beside what the authors stored and published."""

import csv
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.errors import DataError
from assay.sopbench.catalogue import PROCEDURES
from assay.sopbench.conformance import ReplaySuite, read_replays
from assay.sopbench.importing import Trajectory, TrajectoryFile, find_files, read_file
from assay.sopbench.judge import Judge, PreparedTask
from assay.sopbench.rows import CardDialect, Profile, Verdict, VerdictRow, task_identity, task_text

_COMPARED = (
    "no_tool_call_error",
    "constraint_not_violated",
    "database_match",
    "action_successfully_called",
    "action_called_correctly",
    "dirgraph_satisfied",
    "success",
)


class PassRate(msgspec.Struct, frozen=True):
    """The pass rate of one published file, recomputed.

    Attributes
    ----------
    percent : float
        Ours, over the first run of each record, rounded to two decimals.
    reference : float or None
        As recomputed with the authors' code; None where the reference lacks the file.
    published : float or None
        The cell of the published table.
    """

    domain: str
    model: str
    mode: str
    tool_list: str
    user: str
    cards: CardDialect
    n: int
    percent: float
    reference: float | None
    published: float | None
    remark: str

    @property
    def agrees(self) -> bool:
        """Whether ours equals the reference."""
        return self.reference is not None and self.percent == self.reference


def pass_rates(data: Path) -> Iterator[PassRate]:
    """Recompute the pass rates of all files whose replays lie in a folder, beside its `pass_rates.csv`.

    Bank files are scored under both card dialects.
    """
    references = _references(data / "pass_rates.csv")
    files = sorted(data.glob("replays_*.jsonl.xz"))
    if not files:
        raise DataError("there are no replays", file=data, expected="replays_<domain>.jsonl.xz")
    suite = ReplaySuite(data)
    for path in files:
        counts: dict[tuple[str, ...], list[int]] = {}
        for row in read_replays(path):
            dialects: tuple[CardDialect, ...] = ("map", "list") if row.domain == "bank" else ("list",)
            for cards in dialects if row.run == 0 else ():
                key: tuple[str, ...] = (row.domain, row.model, row.mode, row.tool_list, row.user or "", cards)
                count = counts.setdefault(key, [0, 0])
                count[0] += 1
                count[1] += suite.verdict(row, cards).success
        for key, (n, passed) in sorted(counts.items()):
            yield _compared(key, n, passed, references)


def _references(path: Path) -> dict[tuple[str, ...], dict[str, str]]:
    if not path.is_file():
        raise DataError("the file does not exist", file=path, expected="the published pass rates")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {tuple(row[name] for name in ("domain", "model", "mode", "tool_list", "user")): row for row in rows}


def _compared(key: tuple[str, ...], n: int, passed: int, references: dict[tuple[str, ...], dict[str, str]]) -> PassRate:
    *names, cards = key
    found = references.get(tuple(names), {})
    legacy = cards == "list" and names[0] == "bank"
    # Where the list dialect changes nothing, the reference leaves its column empty.
    reference = (found.get("recomputed_pass_legacy_cards") if legacy else None) or found.get("recomputed_pass") or ""
    published, percent = found.get("readme_pass") or "", round(100 * passed / n, 2)
    return PassRate(
        domain=names[0],
        model=names[1],
        mode=names[2],
        tool_list=names[3],
        user=names[4],
        cards="map" if cards == "map" else "list",
        n=n,
        percent=percent,
        reference=float(reference) if reference else None,
        published=float(published) if published else None,
        remark=_remark(names[0], cards, percent, n, published),
    )


def _remark(domain: str, cards: str, percent: float, n: int, published: str) -> str:
    if not published or float(published) == percent:
        return ""
    if domain == "bank" and cards == "map":
        return "the published cell was computed with list cards"
    passed = float(published) * n / 100
    if abs(passed - round(passed)) > 0.01:
        return "the published cell has another denominator than the file"
    return f"the published cell counts {round(passed)} of {n} tasks as passed, the file's own evaluation does not"


class ImportedFile(msgspec.Struct, frozen=True):
    """The result of one imported file.

    Attributes
    ----------
    n : int
        Records with at least one run; `n_without` have none and are no part of a rate.
    n_repeated : int
        Of the n, records about a task that an earlier record of the file is about, too; they count as they stand.
    percent : dict
        Profile -> pass rate over the first runs; None where there is none.
    n_stored, n_differing : int
        Runs with a stored evaluation, and those of which it differs from ours under the upstream profile.
    """

    file: str
    domain: str
    model: str
    mode: str
    tool_list: str
    user: str
    content_dialect: str
    card_dialect: str
    n: int
    n_without: int
    n_repeated: int
    n_runs: int
    percent: dict[str, float | None]
    n_stored: int
    n_differing: int


def _prepared(judge: Judge, trajectory: Trajectory, path: Path) -> PreparedTask:
    try:
        return judge.prepare(trajectory.task)
    except DataError as error:
        raise DataError(
            error.message,
            file=path,
            row=trajectory.record,
            key=error.key,
            expected=error.expected,
            remedy=error.remedy,
        ) from error


class Importer:
    """Scores the authors' trajectory files under both profiles."""

    def __init__(self, cards: CardDialect = "list") -> None:
        self._cards: CardDialect = cards
        self._judges: dict[tuple[str, Profile], Judge] = {}
        self.verdicts: list[VerdictRow] = []

    def files(self, folder: Path) -> Iterator[ImportedFile]:
        """Score every file under a folder and yield its summary; verdicts of all runs collect in `verdicts`."""
        for file in find_files(folder):
            if file.domain not in PROCEDURES:
                raise DataError(f"{file.domain!r} is no domain", file=file.path, expected=", ".join(PROCEDURES))
            yield self.file(file)

    def file(self, file: TrajectoryFile) -> ImportedFile:
        """Score one file."""
        contents = read_file(file)
        passed: dict[Profile, int] = {"upstream": 0, "corrected": 0}
        stored = differing = firsts = 0
        seen: set[str] = set()
        for trajectory in contents.trajectories:
            firsts += trajectory.run == 0
            try:
                task_id = task_identity(file.domain, task_text(trajectory.task))
            except UnicodeEncodeError as error:
                raise DataError(
                    "the task holds half of a surrogate pair, which is no text",
                    file=file.path,
                    row=trajectory.record,
                    key="task",
                ) from error
            seen.add(task_id)
            for profile in passed:
                judge = self._judge(file.domain, profile)
                verdict = judge.judge(
                    _prepared(judge, trajectory, file.path),
                    trajectory.calls if profile == "upstream" else trajectory.every_call,
                    trajectory.final_database,
                    n_sender_messages=trajectory.n_sender_messages,
                    dialect=contents.dialect,
                )
                passed[profile] += verdict.success and trajectory.run == 0
                self._keep(file, trajectory, task_id, verdict)
                if profile == "upstream" and trajectory.stored:
                    stored += 1
                    differing += any(
                        trajectory.stored.get(name) not in (None, getattr(verdict, name)) for name in _COMPARED
                    )
        return ImportedFile(
            file=str(file.path),
            domain=file.domain,
            model=file.model,
            mode=file.mode,
            tool_list=file.tool_list,
            user=file.user,
            content_dialect=contents.dialect,
            card_dialect=self._cards,
            n=firsts,
            n_without=contents.n_without,
            n_repeated=firsts - len(seen),
            n_runs=len(contents.trajectories),
            percent={name: round(100 * count / firsts, 2) if firsts else None for name, count in passed.items()},
            n_stored=stored,
            n_differing=differing,
        )

    def _judge(self, domain: str, profile: Profile) -> Judge:
        if (domain, profile) not in self._judges:
            self._judges[domain, profile] = Judge(PROCEDURES[domain], profile, self._cards)
        return self._judges[domain, profile]

    def _keep(self, file: TrajectoryFile, trajectory: Trajectory, task_id: str, verdict: Verdict) -> None:
        self.verdicts.append(
            VerdictRow(
                row_id=f"{file.path.parent.name}/{file.path.stem}/{trajectory.record}/{trajectory.run}",
                task_id=task_id,
                domain=file.domain,
                index=trajectory.record,
                agent=file.model,
                attempt=trajectory.run,
                ending=trajectory.ending,
                solvable=True,
                verdict=verdict,
            )
        )
