"""What holds for every function of a domain whatever the task is: its rule, what it requires, what it implies."""

from dataclasses import dataclass

from assay.sopbench.domain import Procedure
from assay.sopbench.expressions import Single
from assay.sopbench.graph import GraphBuilder
from assay.sopbench.system import RuleTable, default_table
from assay.sopbench.walk import Plan


@dataclass(frozen=True)
class Defaults:
    """Tables by function.

    Attributes
    ----------
    table : dict
        Compiled rules, None where everything is permitted.
    plans : dict
        Plans of the default graphs.
    implied : dict
        Helper call that a call also counts as; a function without one has no entry.
    """

    table: RuleTable
    plans: dict[str, Plan]
    implied: dict[str, Single]

    @classmethod
    def of(cls, procedure: Procedure, *, published: bool = False) -> "Defaults":
        """Build the tables, the rules pruned soundly or as published."""
        system, rules = procedure.system, procedure.rules
        builder = GraphBuilder(rules, system.parameters)
        implied = {name: rules.implied(name, system.functions) for name in system.functions}
        return cls(
            default_table(rules, procedure.session, system, published=published),
            {name: Plan.of(builder.default(name)) for name in system.functions},
            {name: call for name, call in implied.items() if call is not None},
        )
