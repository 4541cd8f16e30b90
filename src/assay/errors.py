"""Mistakes that Assay explains instead of showing a traceback.

Each class stands for one kind of cause and carries a documented exit code, so that scripts can tell a
wrong config (fix the file) from a failing endpoint (try again).
"""


class AssayError(Exception):
    """A user-visible failure: what is wrong, where, what was expected, what to do.

    Parameters
    ----------
    message : str
        What is wrong, without a final full stop.
    file, row, key : optional
        Where: the file, the row (its number from one, its id, or its index in a JSON list, from zero) and the key
        inside it.
    expected : str, optional
        What would have been right.
    remedy : str, optional
        What the user can do now.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        file: object = None,
        row: object = None,
        key: object = None,
        expected: object = None,
        remedy: str | None = None,
    ) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.row = row
        self.key = None if key is None else str(key)
        self.expected = None if expected is None else str(expected)
        self.remedy = remedy
        super().__init__(message)

    def __str__(self) -> str:
        where = [
            part
            for part in (
                self.file,
                None if self.row is None else f"row {self.row}",
                None if self.key is None else f"key {self.key!r}",
            )
            if part
        ]
        text = f"{', '.join(where)}: {self.message}" if where else self.message
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.remedy is not None:
            text += f"; {self.remedy}"
        return text

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only attributes would be lost by the default pickling of exceptions (worker processes).
        return (_rebuild, (type(self), self.__dict__))


def _rebuild(kind: type[AssayError], state: dict[str, object]) -> AssayError:
    error = kind.__new__(kind)
    Exception.__init__(error, state["message"])
    error.__dict__.update(state)
    return error


class ConfigError(AssayError):
    """A config file, a lock entry or a command-line value is wrong."""

    exit_code = 3


class DataError(AssayError):
    """A dataset, a response file or another input holds something that it must not hold."""

    exit_code = 4


class ArtifactError(AssayError):
    """An artifact is missing, damaged, or not the one that the plan asks for."""

    exit_code = 5


class ModelError(AssayError):
    """A model cannot be fetched, loaded or used as asked."""

    exit_code = 6


class SandboxError(AssayError):
    """The sandbox cannot give the guarantees that the experiment requires."""

    exit_code = 7


class EndpointError(AssayError):
    """A remote model answered with an error, or not at all."""

    exit_code = 8
