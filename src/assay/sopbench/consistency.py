"""Whether the parts of a domain fit together: a misspelled name in a table would be read as "no rule"."""

from collections.abc import Collection, Iterator
from inspect import signature
from string import Formatter
from typing import TYPE_CHECKING

from assay.errors import ConfigError, DataError
from assay.sopbench.expressions import Expression, singles, variables
from assay.sopbench.rules import Rules
from assay.sopbench.system import Session, System, compile_rule, takes_any

if TYPE_CHECKING:
    from assay.sopbench.domain import Domain, Procedure


def check_rules(procedure: "Procedure") -> None:
    """Look at every name in the rule tables of a domain.

    Raises
    ------
    ConfigError
        Naming table and entry, for a name that is no function, constraint or parameter.
    """
    system, session, rules = procedure.system, procedure.session, procedure.rules
    checks = {**system.functions, **session.constraints}
    for table in ("innate", "required", "customizable"):
        for function, rule in getattr(rules, table).items():
            key = f"{procedure.name}: {table}.{function}"
            _known(function, system.functions, "function", key)
            _compiled(rule, system, session, key)
            if not takes_any(system.functions[function]):
                for variable in variables(rule):
                    _known(variable, system.parameters[function], f"parameter of {function}", key)
    for constraint, rule in rules.dependencies.items():
        key = f"{procedure.name}: dependencies.{constraint}"
        _known(constraint, checks, "constraint or function", key)
        _compiled(rule, system, session, key)
    for table, constraint, calls in _calls(rules):
        key = f"{procedure.name}: {table}.{constraint}"
        _known(constraint, checks, "constraint or function", key)
        for call in singles(calls):
            _known(call.name, system.functions, "function", key)
            for parameter, _ in call.bindings:
                _known(parameter, system.parameters[call.name], f"parameter of {call.name}", key)


def _calls(rules: Rules) -> Iterator[tuple[str, str, Expression]]:
    for constraint, action in rules.links.items():
        yield "links", constraint, action
    for constraint, process in rules.processes.items():
        yield "processes", constraint, process


def check_words(domain: "Domain") -> None:
    """Look at the names in the parts around the rules: texts, wishes and tools.

    Raises
    ------
    ConfigError
        Naming part and entry, for a name that is no function, constraint, parameter or tool.
    """
    system, toolbox = domain.procedure.system, domain.toolbox
    checks = {**system.functions, **domain.procedure.session.constraints}
    for name, clauses in domain.texts.conditions.items():
        key = f"{domain.name}: conditions.{name}"
        _known(name, checks, "constraint or function", key)
        readable = [*list(signature(checks[name]).parameters)[1:], *_limits(domain)]
        for clause in (clauses,) if isinstance(clauses, str) else clauses:
            for _, place, _, _ in Formatter().parse(clause):
                if place is not None:
                    _known(place, readable, "parameter or limit", key)
    for name in domain.scenario.wishes:
        _known(name, system.functions, "function", f"{domain.name}: wishes")
    for tool in toolbox.tools:
        key = f"{domain.name}: tools.{tool.name}"
        _known(tool.name, system.functions, "function", key)
        if not takes_any(system.functions[tool.name]):
            for parameter in tool.parameters["properties"]:
                _known(parameter, system.parameters[tool.name], f"parameter of {tool.name}", key)
    for name in (*toolbox.hidden, *toolbox.unpublished):
        _known(name, [tool.name for tool in toolbox.tools], "tool", f"{domain.name}: hidden, unpublished")


def _limits(domain: "Domain") -> list[str]:
    return [f"limits[{name}]" for name in domain.procedure.rules.limits]


def _known(name: str, names: Collection[str], what: str, key: str) -> None:
    if name not in names:
        raise ConfigError(f"{name!r} is no {what}", key=key, expected=f"one of {', '.join(sorted(names)) or 'none'}")


def _compiled(rule: Expression, system: type[System], session: type[Session], key: str) -> None:
    try:
        compile_rule(rule, session, system)
    except DataError as error:
        raise ConfigError(error.message, key=key, expected=error.expected) from error
