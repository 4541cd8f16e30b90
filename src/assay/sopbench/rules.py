"""The rule tables of a domain, and how the full rule of a function is assembled from them.

Six static tables describe a domain: innate, required and customizable rules per function; links (constraint -> the
action that establishes it); dependencies (constraint -> what must hold before it can be looked at); processes
(constraint -> the calls that verify it).
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.errors import DataError
from assay.sopbench.expressions import Expression, Group, Single, inverse, joined, parse, renamed
from assay.sopbench.pruning import pruned, pruned_as_published


@dataclass(frozen=True)
class Rules:
    """The tables, as expressions; a missing entry means that there is no rule.

    Attributes
    ----------
    innate, required, customizable : dict
        Function -> rule. The base system enforces innate rules, the strict system all three.
    links : dict
        Constraint -> the action that makes it true.
    dependencies, processes : dict
        Constraint -> expression; None in `processes` where nothing needs to be called.
    limits : dict
        Default thresholds of the constraints; a task may carry its own.
    """

    innate: dict[str, Expression]
    required: dict[str, Expression]
    customizable: dict[str, Expression]
    links: dict[str, Single]
    dependencies: dict[str, Expression]
    processes: dict[str, Expression]
    limits: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        innate: Mapping[str, str],
        required: Mapping[str, str],
        customizable: Mapping[str, str],
        links: Mapping[str, str],
        dependencies: Mapping[str, str],
        processes: Mapping[str, str],
        limits: Mapping[str, Any],
    ) -> "Rules":
        """Read the tables from the notation of `assay.sopbench.expressions.parse`."""
        tables = [
            {name: parse(text) for name, text in table.items()}
            for table in (innate, required, customizable, dependencies, processes)
        ]
        actions = {name: _action(text) for name, text in links.items()}
        return cls(tables[0], tables[1], tables[2], actions, tables[3], tables[4], dict(limits))

    def default(self, function: str) -> Expression | None:
        """Return required AND customizable of a function, unexpanded: the rule that a model is shown."""
        parts = [table[function] for table in (self.required, self.customizable) if function in table]
        return joined("and", parts)

    def expanded(self, expression: Expression | None) -> Expression | None:
        """Insert the dependencies of every constraint and prune: the rule that is enforced."""
        return None if expression is None else pruned(self._inserted(expression, ()))

    def published_default(self, function: str) -> Expression | None:
        """Return the enforced default rule as the published code builds it: each table pruned, then both together."""
        tables = [table for table in (self.required, self.customizable) if function in table]
        both = joined("and", [pruned_as_published(self._inserted(table[function], ())) for table in tables])
        return None if both is None else pruned_as_published(both)

    def _inserted(self, expression: Expression, above: tuple[str, ...]) -> Expression:
        if isinstance(expression, Group):
            return Group(expression.kind, tuple(self._inserted(child, above) for child in expression.children))
        dependency = self.dependencies.get(expression.name)
        # A helper may be its own guard in a user's tables; one level is all that can change a truth value.
        if dependency is None or expression.name in above:
            return expression
        guard = self._inserted(renamed(dependency, expression.mapping), (*above, expression.name))
        if expression.negated:
            return Group("gate", (inverse(guard), expression))
        return Group("chain", (guard, expression))

    def implied(self, function: str, functions: Container[str]) -> Single | None:
        """Return the helper call that a passed call of `function` also counts as, if any.

        Only the first condition of an innate rule is credited, followed down to a helper without an innate rule of
        its own (upstream returns after the first child of a group; reproduced in both profiles).
        """
        first = self.innate.get(function)
        while isinstance(first, Group):
            first = first.children[0]
        if first is None or first.name not in functions:
            return None
        below = self.implied(first.name, functions)
        return first if below is None else Single(below.name, _through(below.bindings, first.mapping))


def _action(text: str) -> Single:
    action = parse(text)
    if isinstance(action, Single) and not action.negated:
        return action
    raise DataError(f"a link is one call, and {text!r} is none")


def _through(bindings: tuple[tuple[str, str], ...], mapping: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((parameter, mapping.get(variable, variable)) for parameter, variable in bindings)
