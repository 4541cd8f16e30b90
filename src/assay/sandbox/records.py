"""What is asked of the sandbox, and what it answers: a hashed payload and an envelope that is not hashed."""

import base64
import keyword
import re
from typing import Any, Literal

import msgspec

from assay.canonical import bytes_digest, digest
from assay.errors import ConfigError

SCHEMA = 1
Kind = Literal["ok", "error", "timeout", "memory", "output_limit", "killed", "infra_error"]
World = Literal["closed", "open"]
_ADDRESS_BYTES = re.compile(rb"0x[0-9a-fA-F]{6,}")


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one execution.

    Attributes
    ----------
    time_s : float
        CPU seconds of all its processes, and wall seconds not spent waiting for a CPU; the hard stop is at four
        times this wall time.
    memory_mb : int
        Address space of each process, MiB, above what the interpreter itself takes.
    tree_memory_mb : int
        Memory of all its processes together, MiB.
    disk_mb, inodes : int
        Writable space in all, MiB and files.
    """

    time_s: float = 30.0
    memory_mb: int = 2048
    tree_memory_mb: int = 4096
    processes: int = 64
    open_files: int = 256
    disk_mb: int = 64
    inodes: int = 20_000
    stdout_bytes: int = 1 << 20
    stderr_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            whole = name != "time_s"
            number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value < 1 << 40:
                raise ConfigError(
                    f"a limit of {value!r} cannot be kept",
                    key=name,
                    expected="a positive whole number" if whole else "a positive number",
                )
        if self.open_files < 8:
            raise ConfigError("Python itself needs a few files", key="open_files", expected="at least 8")


class Request(msgspec.Struct, frozen=True):
    """Code to run.

    Attributes
    ----------
    code : str or bytes
        A Python program. Lone surrogates and bytes that are not UTF-8 are what Python makes of them: an error.
    variables : tuple of str or None
        Attempts in turn, the next only while standard output is empty: None runs the program as a file; a name runs
        it as `python -c` would, through exec, and then prints that variable.
    limits : Limits or None
        None takes the executor's.
    """

    code: str | bytes
    variables: tuple[str | None, ...] = (None,)
    limits: Limits | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.code, str | bytes):
            raise ConfigError(f"{self.code!r} is no program", key="code", expected="text or bytes")
        if not self.variables or isinstance(self.variables, str):
            raise ConfigError("a request must make at least one attempt", key="variables", expected="None or a name")
        for name in self.variables:
            if name is not None and not (isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)):
                raise ConfigError(f"{name!r} is no variable", key="variables", expected="a Python name")

    @property
    def code_bytes(self) -> bytes:
        """The code as the bytes of its file."""
        return self.code if isinstance(self.code, bytes) else self.code.encode("utf-8", "surrogatepass")


class Captured(msgspec.Struct, frozen=True, omit_defaults=True):
    """Bytes that a snippet wrote: `text` if they are UTF-8, else `base64`."""

    text: str | None = None
    base64: str | None = None

    @classmethod
    def of(cls, data: bytes) -> "Captured":
        """Make from bytes."""
        try:
            return cls(text=data.decode())
        except UnicodeDecodeError:
            return cls(base64=base64.b64encode(data).decode())

    @property
    def data(self) -> bytes:
        """The bytes."""
        if self.text is not None:
            return self.text.encode()
        return base64.b64decode(self.base64 or "")


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same on every machine. Null output means: not reproducible, see the envelope's `partial`."""

    schema: int = SCHEMA
    code_sha256: str
    mode: str
    runtime_id: str
    limits: Limits
    world: World
    kind: Kind
    exit_code: int | None = None
    signal: int | None = None
    stdout: Captured | None = None
    stdout_truncated: bool = False
    stderr_norm: Captured | None = None
    stderr_truncated: bool = False


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about one execution on one machine.

    Times in seconds; `queue_s` is the time spent waiting for a CPU; `survivors` counts processes that the snippet
    left behind and that were killed; -1 where it could not be counted.
    """

    backend: str
    mechanism: str
    guarantees: tuple[str, ...]
    kernel: str
    landlock_abi: int
    worker: int
    attempt: int
    started_at: str
    wall_s: float
    cpu_s: float
    queue_s: float
    peak_memory_mb: float
    peak_processes: int
    survivors: int
    timing: Literal["exact", "degraded"]
    near_limit: bool
    address_like: bool
    nondeterministic: bool = False
    reason: str | None = None
    stderr: Captured | None = None
    partial: dict[str, Captured] = {}


class Record(msgspec.Struct, frozen=True):
    """One execution."""

    payload: Payload
    envelope: Envelope

    @property
    def payload_sha256(self) -> str:
        """Digest of the payload."""
        return digest("execution", msgspec.to_builtins(self.payload))

    @property
    def stdout(self) -> bytes:
        """Standard output, partial output included."""
        captured = self.payload.stdout or self.envelope.partial.get("stdout")
        return captured.data if captured else b""

    @property
    def stderr(self) -> bytes:
        """Standard error as it was written, partial output included."""
        captured = self.envelope.stderr or self.envelope.partial.get("stderr")
        return captured.data if captured else b""


class Result(msgspec.Struct, frozen=True):
    """All attempts of one request, in order; the last one counts."""

    attempts: tuple[Record, ...]

    @property
    def final(self) -> Record:
        """The attempt that counts."""
        return self.attempts[-1]

    @property
    def nondeterministic(self) -> bool:
        """Whether an attempt was repeated and gave another payload."""
        return any(attempt.envelope.nondeterministic for attempt in self.attempts)


def normalise_stderr(data: bytes) -> bytes:
    """Replace memory addresses by one word."""
    return _ADDRESS_BYTES.sub(b"0xADDRESS", data)


def constant_paths(data: bytes, paths: dict[str, str]) -> bytes:
    """Replace the host's paths by constant ones, in the given order."""
    for path, constant in paths.items():
        data = data.replace(path.encode(), constant.encode())
    return data


def address_like(data: bytes) -> bool:
    """Tell whether output holds what looks like a memory address."""
    return _ADDRESS_BYTES.search(data) is not None


def code_digest(code: bytes) -> str:
    """Return the sha256 of the code's bytes."""
    return bytes_digest(code)


def facts_digest(facts: dict[str, Any]) -> str:
    """Return the identity of a runtime."""
    return digest("runtime", facts)
