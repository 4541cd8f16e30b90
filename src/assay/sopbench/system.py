"""Systems: the state and functions of a domain (base), and the same behind its rules (strict).

The base system is what a model talks to: each function checks its innate rule and nothing else. The strict system
checks the full rule table and tracks the session; it belongs to the evaluator, and to the model in program mode.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from inspect import Parameter, isfunction, signature
from typing import Any, ClassVar

from assay.errors import DataError
from assay.sopbench.expressions import Expression, Single
from assay.sopbench.rows import CardDialect
from assay.sopbench.rules import Rules

Arguments = Mapping[str, Any]
Check = Callable[["Session", Arguments], bool]


def succeeded(result: Any) -> bool:
    """Return whether a function reports success: a pair by its first element, anything else by its truth."""
    return bool(result[0] if isinstance(result, tuple) else result)


class System:
    """State and functions of a domain. Every public method of a subclass is a function of the domain.

    Parameters
    ----------
    state : dict
        The database; functions change it in place. A function that raises midway keeps its partial changes.
    """

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    def __init_subclass__(cls) -> None:
        public = {name: value for name, value in vars(cls).items() if isfunction(value) and not name.startswith("_")}
        cls.functions = {**cls.functions, **public}
        cls.parameters = {name: _names(function) for name, function in cls.functions.items()}

    @classmethod
    def opened(cls, state: dict[str, Any], cards: CardDialect = "list") -> "System":
        """Return a system on a state; `cards` is the card dialect, which only the bank knows."""
        del cards
        return cls(state)

    def call(self, name: str, arguments: Arguments) -> Any:
        """Call a function by name.

        Raises
        ------
        Exception
            Whatever the function raises: wrong arguments, missing keys, bad dates.
        """
        return self.functions[name](self, **arguments)


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the named parameters of a function, sorted, without self and catch-alls."""
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    found = [parameter.name for parameter in signature(function).parameters.values() if parameter.kind in kinds]
    return tuple(sorted(name for name in found if name != "self"))


class Session:
    """Constraints of a domain: truth values that depend on state, thresholds and who is logged in.

    Every public method of a subclass is a constraint, except that a method ``on_NAME`` changes the session when the
    strict system lets function NAME through.

    Parameters
    ----------
    limits : dict
        Thresholds by name.
    careful : bool
        Corrected behaviour: an admin password counts for the user who gave it, and until that user logs out.
    """

    explicit: ClassVar[frozenset[str]] = frozenset({"login_user", "logout_user", "authenticate_admin_password"})
    """Strict functions with a parameter list: wrong argument names raise before the rule is checked."""
    lacks_helpers: ClassVar[bool] = False
    """Whether the strict system has no `internal_` functions."""
    login_defaults: ClassVar[dict[str, Any]] = {}
    """Credential parameter of `login_user` that may be left out in the strict system."""

    constraints: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __init_subclass__(cls) -> None:
        public = {
            name: value for name, value in vars(cls).items() if callable(value) and not name.startswith(("_", "on_"))
        }
        cls.constraints = {**cls.constraints, **public}

    def __init__(self, system: System, limits: Mapping[str, Any], *, careful: bool = False) -> None:
        self.system = system
        self.state = system.state
        self.limits = limits
        self.careful = careful


def opened_session(
    system: type[System],
    session: type[Session],
    state: dict[str, Any],
    limits: Mapping[str, Any],
    cards: CardDialect = "list",
    *,
    careful: bool = False,
) -> Session:
    """Return a session with nobody logged in, over a system on a state.

    Raises
    ------
    DataError
        If the state is no database of the domain.
    """
    try:
        return session(system.opened(state, cards), limits, careful=careful)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"the database is none of {system.__name__} ({type(error).__name__}: {error})",
            key="initial_database",
            remedy="the task may come from another version of the data",
        ) from error


def compile_rule(expression: Expression | None, session: type[Session], system: type[System]) -> Check | None:
    """Turn a rule into a function of a session and the arguments of the call being checked.

    The name of a check is looked up on the session first (constraints), then on the system (helpers). A plain bool
    is the truth value, of anything else element 1. A variable that the call does not bind raises KeyError.

    Raises
    ------
    DataError
        For a check that is neither a constraint nor a function of the domain, or that is bound to other parameters
        than it has.
    """
    if expression is None:
        return None
    if isinstance(expression, Single):
        return _compile_single(expression, session, system)
    checks = [compile_rule(child, session, system) for child in expression.children]
    decisive = expression.kind in ("or", "gate")

    def check_group(state: Session, arguments: Arguments) -> bool:
        for check in checks:
            if check is not None and check(state, arguments) is decisive:
                return decisive
        return not decisive

    return check_group


def _compile_single(single: Single, session: type[Session], system: type[System]) -> Check:
    of_session = session.constraints.get(single.name)
    of_system = system.functions.get(single.name)
    if of_session is None and of_system is None:
        raise DataError(
            f"the rule names {single.name!r}",
            key=single.name,
            expected=f"a constraint or a function of {system.__name__}",
            remedy="the task may come from another version of the data",
        )
    function: Callable[..., Any] = of_session or of_system  # type: ignore[assignment]
    uses_session = of_session is not None
    bindings = single.bindings
    if not _takes(function, tuple(parameter for parameter, _ in bindings)):
        raise DataError(
            f"the rule binds {', '.join(parameter for parameter, _ in bindings) or 'nothing'} of {single.name!r}",
            key=single.name,
            expected=", ".join(list(signature(function).parameters)[1:]) or "nothing",
            remedy="the task may come from another version of the data",
        )
    positive = not single.negated

    def check(state: Session, arguments: Arguments) -> bool:
        values = {parameter: arguments[variable] for parameter, variable in bindings}
        result = function(state if uses_session else state.system, **values)
        return bool(result if isinstance(result, bool) else result[1]) is positive

    return check


def takes_any(function: Callable[..., Any]) -> bool:
    """Return whether a function takes arguments of any name."""
    return any(parameter.kind is Parameter.VAR_KEYWORD for parameter in signature(function).parameters.values())


@lru_cache(maxsize=1 << 12)
def _takes(function: Callable[..., Any], parameters: tuple[str, ...]) -> bool:
    """Return whether a constraint or helper can be called with these parameters, beside what it is looked up on."""
    try:
        signature(function).bind(None, **dict.fromkeys(parameters))
    except TypeError:
        return False
    return True


RuleTable = Mapping[str, Check | None]


def default_table(
    rules: Rules, session: type[Session], system: type[System], *, published: bool = False
) -> dict[str, Check | None]:
    """Return the compiled default rule of every function of the domain, pruned soundly or as published."""
    return {
        name: compile_rule(
            rules.published_default(name) if published else rules.expanded(rules.default(name)), session, system
        )
        for name in system.functions
        if not (session.lacks_helpers and name.startswith("internal_"))
    }


class Strict:
    """A base system behind its rules.

    Parameters
    ----------
    session : Session
        Constraints over the base system, with nobody logged in.
    table : dict
        Function -> compiled rule, None where everything is permitted; a function without entry is refused.

    Notes
    -----
    Upstream changes the session before the credential is compared, so that a wrong password logs in. A careful session
    changes only when the function succeeds.
    """

    def __init__(self, session: Session, table: RuleTable) -> None:
        self.session = session
        self.system = session.system
        self.table = table

    def has(self, name: str) -> bool:
        """Return whether the function exists here."""
        return name in self.system.functions and not (self.session.lacks_helpers and name.startswith("internal_"))

    def call(self, name: str, arguments: Arguments) -> Any:
        """Call a function if its rule holds, else return False."""
        session = self.session
        if name == "login_user" and session.login_defaults:
            arguments = {**session.login_defaults, **arguments}
        if name in session.explicit:
            self._bind(name, arguments)
        rule = self.table.get(name, _refuse)
        if rule is not None and not rule(session, arguments):
            return False
        hook = getattr(session, f"on_{name}", None)
        if hook is None:
            return self.system.call(name, arguments)
        if not session.careful:
            hook(**arguments)
            return self.system.call(name, arguments)
        result = self.system.call(name, arguments)
        if succeeded(result):
            hook(**arguments)
        return result

    def _bind(self, name: str, arguments: Arguments) -> None:
        known = self.system.parameters[name]
        for argument in arguments:
            if argument not in known:
                raise TypeError(f"{name}() got an unexpected keyword argument {argument!r}")
        for parameter in known:
            if parameter not in arguments:
                raise TypeError(f"{name}() missing the argument {parameter!r}")


def _refuse(_session: Session, _arguments: Arguments) -> bool:
    return False
