"""The protocol component judges whether a service was called only after what its rule demands, with the right outcome.

A small, strict and self-contained algorithm, published under the key `sopbench-protocol`. It is not the published
evaluator of the seven domains (`assay.sopbench.judge`): here a verification is tied to the parameters that were
verified, a chain has an order, and an `or` needs a branch that was verified and is true.

Who knows what: a policy sees a `Request` and a `Desk`. Truth values and the final state that is right belong to an
`Oracle`, which only `evaluate_trace` takes, after the policy has submitted its `Trace`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Parameters: TypeAlias = tuple[tuple[str, Any], ...]


def parameters(**values: Any) -> Parameters:
    """Return parameters in the one order in which they are compared."""
    return tuple(sorted(values.items()))


@dataclass(frozen=True, order=True)
class Helper:
    """The identity of a verification: function and the parameters that were verified.

    `credit` of user 1 and `credit` of user 2 are different identities.
    """

    name: str
    parameters: Parameters = ()


@dataclass(frozen=True)
class Single:
    """One helper identity must be in the verified prefix."""

    helper: Helper


@dataclass(frozen=True)
class And:
    """All children, in any order."""

    children: "tuple[Rule, ...]"


@dataclass(frozen=True)
class Or:
    """At least one child whose branch was verified and is true."""

    children: "tuple[Rule, ...]"


@dataclass(frozen=True)
class Chain:
    """All children, each completed before the next begins to count."""

    children: "tuple[Rule, ...]"


Rule: TypeAlias = Single | And | Or | Chain


@dataclass(frozen=True)
class Event:
    """One call of a trace, in its order: a helper that verifies, or a service that acts."""

    kind: Literal["helper", "service"]
    name: str
    parameters: Parameters = ()

    @property
    def identity(self) -> Helper:
        """Function and parameters."""
        return Helper(self.name, self.parameters)


@dataclass(frozen=True)
class Request:
    """What a policy is asked to do: a service, the parameters, and the rule that it must follow."""

    service: str
    parameters: Parameters
    rule: Rule


@dataclass(frozen=True)
class Trace:
    """What a policy submits.

    Attributes
    ----------
    final_state : mapping
        The database as the policy left it.
    claims_success : bool
        What the policy says about itself; it overrides nothing.
    """

    events: tuple[Event, ...]
    final_state: Mapping[str, Any]
    claims_success: bool = False


@dataclass(frozen=True)
class Oracle:
    """What only the evaluator knows.

    Attributes
    ----------
    truth : mapping
        Helper identity -> whether the condition holds. A missing identity does not hold.
    rules : mapping
        Service identity -> rule of that very call. A call of any other service is not permitted.
    initial_state, final_state : mapping
        Database before, and after what a correct policy does.
    """

    truth: Mapping[Helper, bool]
    rules: Mapping[Helper, Rule]
    initial_state: Mapping[str, Any]
    final_state: Mapping[str, Any]

    def holds(self, rule: Rule) -> bool:
        """Return the truth value of a rule."""
        match rule:
            case Single(helper):
                return self.truth.get(helper, False)
            case Or(children):
                return any(map(self.holds, children))
            case And(children) | Chain(children):
                return all(map(self.holds, children))


@dataclass(frozen=True)
class Judgement:
    """The three checks; a trace is accepted if all hold.

    Attributes
    ----------
    database : bool
        The final database equals the oracle's.
    permission : bool
        The rule of every service call holds; for a refusal, the requested service was indeed not permitted.
    verification : bool
        Before every service call, and there alone, its rule was verified in the required order.
    reasons : tuple of str
        One sentence for each check that failed.
    """

    database: bool
    permission: bool
    verification: bool
    reasons: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """The conjunction."""
        return self.database and self.permission and self.verification


def verified_until(rule: Rule, prefix: tuple[Helper, ...], oracle: Oracle, start: int = 0) -> int | None:
    """Return the shortest length of the prefix within which a rule is verified from `start` on; None if it is not."""
    match rule:
        case Single(helper):
            return next((end + 1 for end in range(start, len(prefix)) if prefix[end] == helper), None)
        case And(children):
            ends = [verified_until(child, prefix, oracle, start) for child in children]
            return None if None in ends else max([start, *(end for end in ends if end is not None)])
        case Or(children):
            found = [verified_until(child, prefix, oracle, start) for child in children if oracle.holds(child)]
            return min((end for end in found if end is not None), default=None)
        case Chain(children):
            end: int | None = start
            for child in children:
                # The earliest end leaves the most room for what must follow.
                end = None if end is None else verified_until(child, prefix, oracle, end)
            return end


def evaluate_trace(request: Request, trace: Trace, oracle: Oracle) -> Judgement:
    """Judge a submitted trace.

    For every service call only the helper calls before that call count; later ones never repair it. A trace without
    a service call is a refusal: it passes if the oracle's final state is the unchanged one and the requested service
    was not permitted.
    """
    reasons: list[str] = []
    permitted = verified = True
    prefix: list[Helper] = []
    services = 0
    for number, event in enumerate(trace.events, 1):
        if event.kind == "helper":
            prefix.append(event.identity)
            continue
        services += 1
        rule = oracle.rules.get(event.identity)
        if rule is None or not oracle.holds(rule):
            permitted = False
            reasons.append(f"permission: call {number}, {event.name}, was not permitted")
        if rule is None or verified_until(rule, tuple(prefix), oracle) is None:
            verified = False
            reasons.append(f"verification: before call {number}, {event.name}, its rule was not verified in order")
    database = dict(trace.final_state) == dict(oracle.final_state)
    if not database:
        reasons.append("database: the final state is not the oracle's")
    if not services:
        rule = oracle.rules.get(Helper(request.service, request.parameters))
        if rule is not None and oracle.holds(rule):
            permitted = False
            reasons.append(f"permission: {request.service} was permitted and refused")
        if dict(oracle.final_state) != dict(oracle.initial_state):
            database = False
            reasons.append("database: the oracle's final state is not the unchanged one")
    return Judgement(database, permitted, verified, tuple(reasons))


class Desk(Protocol):
    """What a policy can do: verify, act, and nothing else. It gives no truth table and no final state."""

    def verify(self, name: str, parameters: Parameters) -> bool:
        """Call a helper and return what it answers."""

    def act(self, name: str, parameters: Parameters) -> None:
        """Call a service; whether that was right, the policy is not told."""


Policy: TypeAlias = Callable[[Request, Desk], bool]
"""Handles a request at a desk and returns whether it claims success."""


class World:
    """A desk over a state: records every call and lets a transition change the state.

    Parameters
    ----------
    state : mapping
        Initial database; copied.
    answers : callable
        What a helper answers.
    transition : callable
        ``transition(state, service, parameters) -> state``; called for every service call, permitted or not.
    """

    def __init__(
        self,
        state: Mapping[str, Any],
        answers: Callable[[Helper], bool],
        transition: Callable[[Mapping[str, Any], str, Parameters], Mapping[str, Any]],
    ) -> None:
        self._state: Mapping[str, Any] = dict(state)
        self._answers = answers
        self._transition = transition
        self._events: list[Event] = []

    def verify(self, name: str, parameters: Parameters) -> bool:
        """Record a helper call and answer it."""
        self._events.append(Event("helper", name, parameters))
        return self._answers(Helper(name, parameters))

    def act(self, name: str, parameters: Parameters) -> None:
        """Record a service call and carry it out."""
        self._events.append(Event("service", name, parameters))
        self._state = self._transition(self._state, name, parameters)

    def submit(self, claims_success: bool) -> Trace:
        """Return what is judged."""
        return Trace(tuple(self._events), self._state, claims_success)


def run_policy(policy: Policy, request: Request, world: World) -> Trace:
    """Let a policy handle a request and return its trace. The oracle is not an argument, and no part of the world."""
    return world.submit(policy(request, world))
