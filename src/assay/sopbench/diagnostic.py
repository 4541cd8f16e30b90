"""A diagnostic of the protocol component: constructed traces, counted by category. Never a model score."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec

from assay.canonical import derive_seed
from assay.sopbench.protocol import (
    And,
    Chain,
    Event,
    Helper,
    Or,
    Oracle,
    Parameters,
    Request,
    Rule,
    Single,
    Trace,
    evaluate_trace,
    parameters,
)

SEEDS = (42, 43, 44)
PER_CATEGORY = 20
SERVICE = "pay_out"
LABEL = "fixture counts of a CPU-only diagnostic of the acceptance rule; not a score of any model"


class CategoryCount(msgspec.Struct, frozen=True):
    """How the traces of one category were judged.

    Attributes
    ----------
    expected : str
        "accepted" or "rejected": what the category was built for.
    failed_checks : dict
        Check -> number of traces that it rejected.
    """

    category: str
    expected: str
    accepted: int
    rejected: int
    failed_checks: dict[str, int]


class Diagnostic(msgspec.Struct, frozen=True):
    """The result for one seed; the same seed gives the same bytes."""

    label: str
    seed: int
    traces_per_category: int
    categories: list[CategoryCount]

    @property
    def sound(self) -> bool:
        """Whether every trace was judged as it was built to be."""
        return all(c.accepted == 0 if c.expected == "rejected" else c.rejected == 0 for c in self.categories)


@dataclass(frozen=True)
class _Case:
    request: Request
    oracle: Oracle
    steps: tuple[Helper, ...]  # a sequence of verifications that satisfies the rule

    @property
    def service(self) -> Event:
        return Event("service", self.request.service, self.request.parameters)

    def trace(self, *events: Event, state: Any = None, claims: bool = True) -> Trace:
        final = self.oracle.final_state if state is None else state
        return Trace(events, final, claims)

    @property
    def helpers(self) -> list[Event]:
        return [Event("helper", helper.name, helper.parameters) for helper in self.steps]


def diagnostic(seed: int, traces_per_category: int = PER_CATEGORY) -> Diagnostic:
    """Build the traces of a seed, judge them, and count."""
    counts = []
    for category, expected, build in _CATEGORIES:
        draw = Random(derive_seed("sopbench-diagnostic", seed, category))
        judged = [
            evaluate_trace(case.request, trace, case.oracle) for case, trace in _draw(build, draw, traces_per_category)
        ]
        failed: dict[str, int] = {}
        for judgement in judged:
            for check in ("database", "permission", "verification"):
                if not getattr(judgement, check):
                    failed[check] = failed.get(check, 0) + 1
        accepted = sum(judgement.accepted for judgement in judged)
        counts.append(CategoryCount(category, expected, accepted, len(judged) - accepted, failed))
    return Diagnostic(LABEL, seed, traces_per_category, counts)


def _draw(build: "Callable[[Random], tuple[_Case, Trace]]", draw: Random, count: int) -> Iterator[tuple[_Case, Trace]]:
    for _ in range(count):
        yield build(draw)


def _helper(draw: Random, user: int, taken: set[str]) -> Helper:
    name = draw.choice(
        [n for n in ("known", "credit", "unlocked", "insured", "in_hours", "owner", "limit") if n not in taken]
    )
    taken.add(name)
    return Helper(name, parameters(user=user))


def _case(draw: Random, form: str, permitted: bool = True) -> _Case:
    """Draw a request with a rule of the given outer form, some members nested, and what the oracle knows."""
    user, amount = draw.randrange(1, 1000), draw.randrange(1, 500)
    given = parameters(user=user, amount=amount)
    taken: set[str] = set()
    truth: dict[Helper, bool] = {}

    def true_single() -> tuple[Rule, tuple[Helper, ...]]:
        helper = _helper(draw, user, taken)
        truth[helper] = True
        return Single(helper), (helper,)

    rule: Rule
    first, second = true_single(), true_single()
    if form == "single":
        rule, steps = first
    elif form == "and":
        rule, steps = And((first[0], second[0])), first[1] + second[1]
        if draw.random() < 0.5:
            steps = steps[::-1]
    elif form == "or":
        false = _helper(draw, user, taken)
        truth[false] = False
        branches: list[Rule] = [Single(false), first[0]]
        draw.shuffle(branches)
        rule, steps = Or(tuple(branches)), first[1]
    else:
        third = true_single()
        inner = And((second[0], third[0])) if draw.random() < 0.5 else second[0]
        rule = Chain((first[0], inner))
        steps = first[1] + second[1] + (third[1] if isinstance(inner, And) else ())
    if not permitted:
        # Every helper false: whatever the form, the rule does not hold.
        truth = dict.fromkeys(truth, False)
    initial = {"balance": draw.randrange(1000, 5000), "paid": {}}
    final = _paid(initial, given) if permitted else initial
    rules: dict[Helper, Rule] = {Helper(SERVICE, given): rule}
    return _Case(Request(SERVICE, given, rule), Oracle(truth, rules, initial, final), steps)


def _paid(state: dict[str, Any], given: Parameters) -> dict[str, Any]:
    values = dict(given)
    return {"balance": state["balance"] - values["amount"], "paid": {str(values["user"]): values["amount"]}}


def _any(draw: Random, permitted: bool = True) -> _Case:
    return _case(draw, draw.choice(("single", "and", "or", "chain")), permitted)


def _correct(form: str) -> "Callable[[Random], tuple[_Case, Trace]]":
    def build(draw: Random) -> tuple[_Case, Trace]:
        case = _case(draw, form)
        return case, case.trace(*case.helpers, case.service)

    return build


def _refusal(draw: Random) -> tuple[_Case, Trace]:
    case = _any(draw, permitted=False)
    return case, case.trace(*case.helpers, claims=False)


def _no_verification(draw: Random) -> tuple[_Case, Trace]:
    case = _any(draw)
    return case, case.trace(case.service)


def _late_verification(draw: Random) -> tuple[_Case, Trace]:
    case = _any(draw)
    return case, case.trace(case.service, *case.helpers)


def _other_user(draw: Random) -> tuple[_Case, Trace]:
    case = _any(draw)
    other = [
        Event("helper", helper.name, parameters(user=dict(helper.parameters)["user"] + 1)) for helper in case.steps
    ]
    return case, case.trace(*other, case.service)


def _wrong_state(draw: Random) -> tuple[_Case, Trace]:
    case = _any(draw)
    state = dict(case.oracle.final_state) | {"balance": case.oracle.final_state["balance"] + draw.randrange(1, 9)}
    return case, case.trace(*case.helpers, case.service, state=state)


def _claimed(draw: Random) -> tuple[_Case, Trace]:
    case = _any(draw, permitted=False)
    state = _paid(dict(case.oracle.initial_state), case.request.parameters)
    return case, case.trace(*case.helpers, case.service, state=state, claims=True)


def _not_permitted(draw: Random) -> tuple[_Case, Trace]:
    # The state happens to be right (the service was undone), but the call was made.
    case = _any(draw, permitted=False)
    return case, case.trace(*case.helpers, case.service, claims=False)


def _out_of_order(draw: Random) -> tuple[_Case, Trace]:
    case = _case(draw, "chain")
    return case, case.trace(*case.helpers[::-1], case.service)


def _incomplete(draw: Random) -> tuple[_Case, Trace]:
    case = _case(draw, draw.choice(("and", "chain")))
    missing = draw.randrange(len(case.steps))
    return case, case.trace(*(e for i, e in enumerate(case.helpers) if i != missing), case.service)


def _false_branch(draw: Random) -> tuple[_Case, Trace]:
    case = _case(draw, "or")
    false = next(helper for helper, holds in case.oracle.truth.items() if not holds)
    return case, case.trace(Event("helper", false.name, false.parameters), case.service)


def _needless_refusal(draw: Random) -> tuple[_Case, Trace]:
    case = _any(draw)
    return case, case.trace(*case.helpers, state=case.oracle.initial_state, claims=False)


def _other_request(draw: Random) -> tuple[_Case, Trace]:
    case = _any(draw)
    values = dict(case.request.parameters)
    other = Event("service", SERVICE, parameters(user=values["user"] + 1, amount=values["amount"]))
    return case, case.trace(*case.helpers, other)


_CATEGORIES: tuple[tuple[str, str, "Callable[[Random], tuple[_Case, Trace]]"], ...] = (
    ("single_verified", "accepted", _correct("single")),
    ("and_verified_in_any_order", "accepted", _correct("and")),
    ("or_verified_by_true_branch", "accepted", _correct("or")),
    ("chain_verified_in_order", "accepted", _correct("chain")),
    ("justified_refusal", "accepted", _refusal),
    ("correct_state_without_verification", "rejected", _no_verification),
    ("verification_after_the_service", "rejected", _late_verification),
    ("verification_of_another_user", "rejected", _other_user),
    ("service_for_another_user", "rejected", _other_request),
    ("wrong_final_state", "rejected", _wrong_state),
    ("claimed_success_against_the_oracle", "rejected", _claimed),
    ("service_not_permitted", "rejected", _not_permitted),
    ("chain_out_of_order", "rejected", _out_of_order),
    ("incomplete_verification", "rejected", _incomplete),
    ("or_verified_by_false_branch", "rejected", _false_branch),
    ("needless_refusal", "rejected", _needless_refusal),
)
