"""The meaning of code: import closures, and digests that comments and layout do not change.

The closure of a module is everything of this package that it can import, at any depth, inside functions, and by
name: a string constant that names one of our modules ("assay.symbench.verifiers.game24", with or without
":function") counts as an import, so a registry of names cannot hide code. A string constant whose last part is
the name of a data file of the same subpackage brings that file in. Imports under `if TYPE_CHECKING:` do not
run and do not count.
"""

import ast
import contextlib
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from assay.canonical import bytes_digest, digest
from assay.errors import ConfigError
from assay.records.atomic import write_if_changed

PACKAGE = "assay"
_MODULE_NAME = re.compile(rf"{PACKAGE}(\.[A-Za-z_]\w*)+(:[A-Za-z_]\w*)?\Z")
_FILE_NAME = re.compile(r"[\w./-]*\w\.[a-z]\w{0,15}\Z")
_WALK_VERSION = 1
_NO_MEANING = {"kind", "type_comment", "ctx", "type_ignores"}


def canonical_tree(node: object) -> object:
    """Return a syntax tree as plain data.

    Empty fields are skipped, so that fields which a newer Python adds do not change the digest.
    """
    if isinstance(node, ast.AST):
        fields = {
            name: canonical_tree(value)
            for name, value in ast.iter_fields(node)
            if value not in (None, []) and name not in _NO_MEANING
        }
        return [type(node).__name__, fields]
    if isinstance(node, list):
        return [canonical_tree(inner) for inner in node]
    return repr(node)


def _without_bare_strings(tree: ast.Module) -> ast.Module:
    """Drop docstrings and the lines of text under config fields: bare strings do nothing when run."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                s
                for s in body
                if not (
                    isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, str)
                )
            ]
    return tree


def _tree(source: bytes, path: Path) -> ast.Module:
    try:
        return ast.parse(source, filename=str(path))
    except (SyntaxError, ValueError) as error:
        row = getattr(error, "lineno", None)
        raise ConfigError(
            f"this is no Python ({getattr(error, 'msg', error)})", file=path, row=row, remedy="correct the file"
        ) from error


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            for other in node.orelse:
                yield other
                yield from _running_nodes(other)
            continue
        yield node
        yield from _running_nodes(node)


class Source:
    """The package's source tree, with digests of modules cached by the digest of their bytes.

    Parameters
    ----------
    src : Path
        Folder that holds the package folder.
    cache : Path, optional
        File that keeps what parsing found; written by `save` only when something is new.
    """

    def __init__(self, src: Path, cache: Path | None = None) -> None:
        self.src = src
        self._cache_file = cache
        self._modules: dict[str, tuple[str, list[str], list[str]]] = {}
        self._new = False
        self._here: dict[str, tuple[str, frozenset[str]]] = {}
        self._paths: dict[str, Path | None] = {}
        self._data_files: dict[str, dict[str, list[Path]]] = {}
        self._closures: dict[tuple[str, ...], dict[str, str]] = {}
        if cache is not None and cache.is_file():
            try:
                stored = json.loads(cache.read_bytes())
                if stored["version"] == _WALK_VERSION:
                    self._modules = {key: (d, n, f) for key, (d, n, f) in stored["modules"].items()}
            except (ValueError, KeyError, TypeError):
                self._modules = {}  # only a cache: parse anew

    def save(self) -> None:
        """Keep what parsing found; a folder that cannot be written, as of a release, can be planned all the same."""
        if self._new and self._cache_file is not None:
            text = json.dumps({"version": _WALK_VERSION, "modules": self._modules}, sort_keys=True)
            with contextlib.suppress(OSError):
                write_if_changed(self._cache_file, text.encode())

    def path(self, module: str) -> Path | None:
        """Return the file of one of our modules, or None."""
        if module not in self._paths:
            base = self.src.joinpath(*module.split("."))
            candidates = (base.with_suffix(".py"), base / "__init__.py")
            self._paths[module] = next((path for path in candidates if path.is_file()), None)
        return self._paths[module]

    def closure(self, *roots: str) -> dict[str, str]:
        """Return {module or data file: digest} of everything that the modules can reach, sorted by name.

        Raises
        ------
        ModuleNotFoundError
            If a root is not a module of the package.
        """
        if roots not in self._closures:
            found: dict[str, str] = {}
            todo = list(roots)
            while todo:
                name = todo.pop()
                if name not in found:
                    found[name], reached = self._module(name)
                    todo.extend(sorted(reached))
                    found.update(self._data(name))
            self._closures[roots] = dict(sorted(found.items()))
        return self._closures[roots]

    def _module(self, name: str) -> tuple[str, frozenset[str]]:
        if name not in self._here:
            path = self.path(name)
            if path is None:
                raise ModuleNotFoundError(f"{name} is no module under {self.src}", name=name)
            is_package = path.name == "__init__.py"
            tree_digest, names, _ = self._parsed(name, path, is_package)
            reached = {
                ".".join(parts[:end])
                for dotted in [*names, name]
                for parts in [dotted.split(".")]
                for end in range(1, len(parts) + 1)
            }
            self._here[name] = tree_digest, frozenset(n for n in reached if n != name and self.path(n) is not None)
        return self._here[name]

    def _parsed(self, name: str, path: Path, is_package: bool) -> tuple[str, list[str], list[str]]:
        source = path.read_bytes()
        key = hashlib.sha256(f"{name} {is_package} ".encode() + source).hexdigest()
        if key not in self._modules:
            tree = _without_bare_strings(_tree(source, path))
            package = name if is_package else name.rpartition(".")[0]
            names, files = _references(tree, package)
            self._modules[key] = digest("code", canonical_tree(tree)), sorted(names), sorted(files)
            self._new = True
        return self._modules[key]

    def _data(self, module: str) -> dict[str, str]:
        path = self.path(module)
        assert path is not None
        files = self._parsed(module, path, path.name == "__init__.py")[2]
        if not files:
            return {}
        parts = module.split(".")
        room = ".".join(parts[:2])
        known = self._files_of(room)
        return {
            "file:" + file.relative_to(self.src).as_posix(): bytes_digest(file.read_bytes())
            for name in files
            for file in known.get(name, [])
        }

    def _files_of(self, room: str) -> dict[str, list[Path]]:
        if room not in self._data_files:
            base = self.src.joinpath(*room.split("."))
            index: dict[str, list[Path]] = {}
            for file in sorted(base.rglob("*")) if base.is_dir() else ():
                if file.is_file() and file.suffix not in {".py", ".pyc"} and file.name != "py.typed":
                    index.setdefault(file.name, []).append(file)
            self._data_files[room] = index
        return self._data_files[room]


def _references(tree: ast.Module, package: str) -> tuple[set[str], set[str]]:
    """Return the dotted names that a module imports or names, and the file names that it mentions."""
    names: set[str] = set()
    files: set[str] = set()
    for node in _running_nodes(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                head = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*head, base] if base else head)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 300:
            if _MODULE_NAME.match(node.value):
                names.add(node.value.partition(":")[0])
            elif _FILE_NAME.match(node.value):
                files.add(node.value.rpartition("/")[2])
    return {name for name in names if name == PACKAGE or name.startswith(PACKAGE + ".")}, files
