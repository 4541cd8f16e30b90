"""Whether a refusal was preceded by a verification that justifies it."""

from collections.abc import Sequence
from typing import Any

from assay.sopbench.expressions import Single, decode, singles
from assay.sopbench.graph import GraphBuilder, need_of
from assay.sopbench.judge import FAILED, Judge, PreparedTask
from assay.sopbench.readings import not_found
from assay.sopbench.rows import CallRow
from assay.sopbench.system import Session, compile_rule
from assay.sopbench.walk import frozen


def refusal_justified(judge: Judge, prepared: PreparedTask, calls: Sequence[CallRow]) -> bool:
    """Return whether some call verified a condition of the target that does not hold.

    A condition of the task's rule is looked at with what the user knows, in the state that the rules lead to; it
    counts if its value alone speaks against the task. It was verified if the calls that its process asks for (a
    helper, a look-up, a login) were made before the end, for the same values. A refusal without such a call may be
    right, but only by luck. A login that succeeded and was ended again speaks against nothing.
    """
    strict = judge.open(prepared)
    walk = judge.walk(prepared)
    known = prepared.task.user_known
    conditions = list(dict.fromkeys(singles(decode(prepared.task.constraints))))
    linked = [single for single in conditions if single.name in judge.procedure.rules.links and not single.negated]
    established: set[Single] = set()
    for call in calls:
        if not_found(call):
            continue  # a tool that was not there has shown nothing
        arguments = judge.reading.arguments(call)
        status, _ = judge.execute(call.called, arguments, strict)
        if status != FAILED:
            walk.step(call.called, arguments if isinstance(arguments, dict) else {})
            established.update(single for single in linked if _holds(judge, single, strict.session, known))
    values = {name: frozen(value) for name, value in known.items()}
    builder = GraphBuilder(judge.procedure.rules, judge.procedure.system.parameters)
    for single in conditions:
        if single in established or _holds(judge, single, strict.session, known):
            continue
        need = need_of(builder.build(prepared.task.user_goal, single), 0)
        if need is not None and walk.holds(need, values):
            return True
    return False


def _holds(judge: Judge, single: Single, session: Session, known: dict[str, Any]) -> bool:
    """Return whether a condition is true; one that cannot be evaluated, on what does not exist, is not."""
    check = compile_rule(single, judge.procedure.session, judge.procedure.system)
    try:
        return check is None or check(session, known)
    except Exception:  # noqa: BLE001 - whatever a condition raises on a model's values
        return False
