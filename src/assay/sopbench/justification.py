"""Whether a refusal was preceded by a verification that justifies it."""

from collections.abc import Iterator, Sequence
from typing import Any

from assay.sopbench.expressions import Single, decode, singles
from assay.sopbench.graph import GraphBuilder, need_of
from assay.sopbench.judge import FAILED, Judge, PreparedTask
from assay.sopbench.rows import CallRow
from assay.sopbench.system import compile_rule
from assay.sopbench.walk import frozen


def refusal_justified(judge: Judge, prepared: PreparedTask, calls: Sequence[CallRow]) -> bool:
    """Return whether some call verified a condition of the target that does not hold.

    A condition of the task's rule is looked at with what the user knows, in the state that the rules lead to; it
    counts if its value alone speaks against the task. It was verified if the calls that its process asks for (a
    helper, a look-up, a login) were made before the end, for the same values. A refusal without such a call may be
    right, but only by luck.
    """
    strict = judge.open(prepared)
    walk = judge.walk(prepared)
    for call in calls:
        if call.outcome == "missing":
            continue  # a tool that was not there has shown nothing
        arguments = judge.reading.arguments(call.arguments)
        status, _ = judge.execute(call.called, arguments, strict)
        if status != FAILED:
            walk.step(call.called, arguments if isinstance(arguments, dict) else {})
    known = prepared.task.user_known
    values = {name: frozen(value) for name, value in known.items()}
    builder = GraphBuilder(judge.procedure.rules, judge.procedure.system.parameters)
    for single in _failing(judge, prepared, strict.session, known):
        need = need_of(builder.build(prepared.task.user_goal, single), 0)
        if need is not None and walk.holds(need, values):
            return True
    return False


def _failing(judge: Judge, prepared: PreparedTask, session: Any, known: dict[str, Any]) -> Iterator[Single]:
    """Yield the conditions of the target's rule that are false, or cannot be evaluated."""
    for single in dict.fromkeys(singles(decode(prepared.task.constraints))):
        check = compile_rule(single, judge.procedure.session, judge.procedure.system)
        try:
            holds = check is None or check(session, known)
        except Exception:  # noqa: BLE001 - a condition on what does not exist does not hold
            holds = False
        if not holds:
            yield single
