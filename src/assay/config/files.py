"""YAML files in, frozen models out; every complaint names file, key, expectation and remedy."""

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from assay.errors import ConfigError

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Model = TypeVar("Model", bound="Strict")
# What pydantic adds to the place of an error: the alternative of a union that it tried; that it is about a key.
_ALTERNATIVE = re.compile(r"(list|dict|literal|function-[a-z]+)\[|\[key\]\Z")
_TAG = "tag:yaml.org,2002:"
_JSON_TAGS = {"null", "bool", "int", "float", "str", "seq", "map"}
_KEYED = re.compile(r"([a-z_]+(?:\.[a-z_]+)*): (.+)\Z", re.DOTALL)


class Strict(BaseModel):
    """Base of every config section: unknown keys, NaN and truth values for numbers are errors; nothing changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _no_truth_value_is_a_number(cls, values: Any) -> Any:
        # pydantic takes true for 1: `max_new_tokens: yes` would measure answers of one token.
        for name, value in values.items() if isinstance(values, dict) else ():
            inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else (value,)
            if name in cls.model_fields and any(isinstance(one, bool) for one in inner):
                named = set(_types_in(cls.model_fields[name].annotation))
                if named & {int, float} and not named & {bool, Any}:
                    raise PydanticCustomError("no_number", "a number, neither true nor false", {"key": name})
        return values


def _types_in(annotation: Any) -> Iterable[Any]:
    inner = get_args(annotation)
    return [found for one in inner for found in _types_in(one)] if inner else [annotation]


def _load(text: str) -> Any:
    """Return what a YAML document holds, as JSON data in which no mapping has a key twice.

    Plain YAML would keep the last of two equal keys without a word, and the order of its sets differs from run to run.
    """
    loader = _LOADER(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check(loader, node, [], set())  # before construction puts merged keys (`<<`) among a mapping's own
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _check(loader: Any, node: yaml.Node, above: list[yaml.Node], checked: set[yaml.Node]) -> None:
    kind = node.tag.removeprefix(_TAG)
    if kind not in _JSON_TAGS:
        raise _refusal(f"this is a {kind}; texts that look like one stand in quotes", node)
    if node in above:
        raise _refusal("this holds itself", node)
    if node in checked:  # an alias
        return
    checked.add(node)
    if isinstance(node, yaml.MappingNode):
        _check_keys(loader, node)
    for inner in node.value if isinstance(node, yaml.CollectionNode) else ():
        _check(loader, inner[1] if isinstance(inner, tuple) else inner, [*above, node], checked)


def _check_keys(loader: Any, node: yaml.MappingNode) -> None:
    seen = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _refusal(f"the key is a {'list' if isinstance(key, yaml.SequenceNode) else 'dict'}", key)
        name = key.value if key.tag == _TAG + "merge" else loader.construct_object(key)
        if name in seen:
            raise _refusal(f"the key {name!r} stands twice", key)
        seen.add(name)


def _refusal(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping that a YAML file holds.

    Raises
    ------
    ConfigError
        If the file is missing, is no YAML, repeats a key, or holds something other than a mapping of JSON data.
    """
    try:
        value = _load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            "the file does not exist", file=path, remedy="run the command in the project folder"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"the file cannot be read ({error.strerror})", file=path, remedy="change its rights, or what stands there"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError("the file is not UTF-8", file=path, remedy="save it as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "the file is not YAML"
        row = None if mark is None else mark.line + 1
        raise ConfigError(str(problem), file=path, row=row, expected="YAML with each key once") from error
    except (ValueError, KeyError) as error:  # a number of too many digits; a value that is not what its tag says
        raise ConfigError(str(error), file=path, remedy="put texts that look like numbers in quotes") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"the file holds a {type(value).__name__}", file=path, expected="a mapping of keys to values")
    return value


def validate(kind: type[Model], value: Mapping[str, Any], file: Path | str) -> Model:
    """Return `value` as a config model, or raise a `ConfigError` about the first thing that is wrong."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        # A misspelled key is also a missing one: the spelling is what the user wants to hear about.
        # Of the alternatives of a union, the one that fits furthest is what was meant.
        first = min(error.errors(), key=lambda e: (e["type"] != "extra_forbidden", -len(e["loc"])))
        key = ".".join(str(part) for part in first["loc"] if not _ALTERNATIVE.match(str(part)))
        more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
        if first["type"] == "extra_forbidden":
            names = _fields_at(kind, first["loc"][:-1])
            raise unknown_key(key, str(first["loc"][-1]), names, file, more) from error
        if first["type"] == "missing":
            raise ConfigError(f"the key is missing{more}", file=file, key=key, remedy="add it") from error
        what, key, expected = _wrong_value(first, key)
        raise ConfigError(f"{what}{more}", file=file, key=key or None, expected=expected) from error


def _wrong_value(first: Mapping[str, Any], key: str) -> tuple[str, str, str]:
    """Return what is wrong, at which key, and what was expected."""
    message = str(first["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    value = first["input"]
    if first["type"] == "union_tag_invalid":
        tag = first["ctx"]["discriminator"].strip("'")
        return f"{first['ctx']['tag']!r} is no valid value", f"{key}.{tag}", f"one of {first['ctx']['expected_tags']}"
    if first["type"] == "no_number":
        name = first["ctx"]["key"]
        return f"{value[name]!r} is no valid value", f"{key}.{name}".removeprefix("."), message
    if first["type"] == "value_error" and isinstance(value, Mapping):
        # A rule about several keys: its sentence begins with the key to change, and the section is too long to show.
        if named := _KEYED.match(message):
            key, message = ".".join(part for part in (key, named[1]) if part), named[2]
        return "the values do not fit together", key, message
    text = repr(value)
    return f"{text if len(text) <= 120 else text[:119] + '…'} is no valid value", key, message


def unknown_key(key: str, name: str, names: Iterable[str], file: object, more: str = "") -> ConfigError:
    """Return the error for a key or name that does not exist, with the nearest ones that do."""
    known = sorted(names)
    near = difflib.get_close_matches(name, known, n=3) or known[:12]
    return ConfigError(
        f"{name!r} is not known{more}",
        file=file,
        key=key,
        expected="one of " + ", ".join(near) if near else None,
        remedy="correct the spelling",
    )


def _fields_at(kind: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Return the field names of the model that stands at a place of a config."""
    choices: list[type[BaseModel]] = [kind]
    for part in location:
        fields = [choice.model_fields[str(part)] for choice in choices if part in choice.model_fields]
        if fields:
            choices = [model for field in fields for model in _models_in(field.annotation)]
        elif len(choices) > 1:  # the tag of a union
            choices = [choice for choice in choices if part in get_args(choice.model_fields["kind"].annotation)]
        # else the key of a mapping or the index of a list
    return list(choices[0].model_fields) if len(choices) == 1 else []


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if _is_model(annotation):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseModel)


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with `over` laid on top; mappings are merged key by key, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        result[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return result
