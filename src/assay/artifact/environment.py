"""The declared environment (constraints.txt), and the check of the actual one against it."""

import re
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from assay.errors import ConfigError

CONSTRAINTS = Path("constraints.txt")
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*==\s*([^\s;#]+)")
_PYTHON = re.compile(r"#\s*python\s*==\s*(\S+)\s+unicode\s*==\s*(\S+)")


def normal(name: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass(frozen=True)
class Declared:
    """What `constraints.txt` declares: pinned versions, Python minor version, Unicode version."""

    versions: dict[str, str]
    python: str
    unicode: str

    @classmethod
    def read(cls, root: Path) -> "Declared":
        """Read the constraints file of a project."""
        path = root / CONSTRAINTS
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise ConfigError("the file does not exist", file=CONSTRAINTS, expected="pinned versions") from error
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the file cannot be read ({error})", file=CONSTRAINTS, expected="text") from error
        head = _PYTHON.search(text)
        if head is None:
            raise ConfigError(
                "no declared Python", file=CONSTRAINTS, expected="a line '# python==3.11 unicode==14.0.0'"
            )
        pins = (_PIN.match(line.strip()) for line in text.splitlines())
        return cls({normal(m[1]): m[2].partition("+")[0] for m in pins if m}, head[1], head[2])

    def library(self, name: str) -> str:
        """Return the declared version of a distribution that some recipe names."""
        try:
            return self.versions[normal(name)]
        except KeyError:
            raise ConfigError(
                "the version of this library decides results but is not pinned",
                file=CONSTRAINTS,
                key=name,
                expected=f"{name}==VERSION",
                remedy="pin it",
            ) from None


def actual(names: Iterable[str]) -> dict[str, str]:
    """Return the installed versions (local suffixes dropped; "absent" where not installed)."""
    found = {}
    for name in names:
        try:
            found[name] = version(name).partition("+")[0]
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def actual_python() -> tuple[str, str]:
    """Return the running Python minor version and its Unicode version."""
    return f"{sys.version_info.major}.{sys.version_info.minor}", unicodedata.unidata_version


def differences(declared: Declared, libraries: Iterable[str], text: bool) -> list[str]:
    """Return a sentence for each way in which this process differs from what a recipe declares."""
    found = []
    for name, installed in actual(libraries).items():
        wanted = declared.library(name)
        if installed != wanted:
            found.append(f"{name} is {installed}, declared {wanted}")
    python, unicode = actual_python()
    if text and (python, unicode) != (declared.python, declared.unicode):
        found.append(f"Python is {python} (Unicode {unicode}), declared {declared.python} (Unicode {declared.unicode})")
    return found
