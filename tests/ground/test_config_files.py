"""What wrong config files are told: the file, the key, what was expected; never a traceback, never a silent value."""

import subprocess
import sys

import msgspec
import pytest

from assay.config import fks, symbench
from assay.config.executions import ExecutionLimits, Executions
from assay.config.experiment import Experiment
from assay.config.files import read_yaml, validate
from assay.config.fks import FksConfig
from assay.config.lock import Lock, read_lock
from assay.config.models import Registry
from assay.config.symbench import SymbenchConfig
from assay.errors import ConfigError
from assay.fks.judge import JudgeSettings
from assay.fks.lens import LensSettings
from assay.fks.metric_settings import MetricSettings
from assay.sandbox.records import Limits
from assay.symbench.comparison import Bootstrap

EXPERIMENT = {"models": ["a"], "benchmarks": {"fks": {}}}
MODEL = {"title": "t", "source": {"kind": "tiny", "seed": 0}}
METHODS = {"methods": {"m": {"kind": "only_question"}}}


def said(kind, values) -> str:
    with pytest.raises(ConfigError) as caught:
        validate(kind, values, "f.yaml")
    assert caught.value.exit_code == 3
    text = str(caught.value)
    assert len(text) < 900, text
    return text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("? [a, b]\n: c\n", "the key is a list"),
        ("a:\n  ? {b: c}\n  : d\n", "row 2: the key is a dict"),
        ("b: 1\na: 2026-13-45\n", "row 2: this is a timestamp; texts that look like one stand in quotes"),
        ("a: !!set {b, c}\n", "row 1: this is a set"),
        ("a: !!binary aGk=\n", "this is a binary"),
        ("a: !!python/name:os.system x\n", "this is a python/name:os.system"),
        ("a: !!bool maybe\n", "'maybe'"),
        ("a: &a {b: *a}\n", "row 1: this holds itself"),
        ("a: 1\na: 2\n", "row 2: the key 'a' stands twice"),
        ("a: {<<: {b: 1}, <<: {c: 1}}\n", "the key '<<' stands twice"),
        (f"a: {'9' * 5000}\n", "4300 digits"),
        ("a: [\n", "row 2"),
        ("[1]", "holds a list"),
    ],
)
def test_what_is_no_config_is_one_sentence(text, words, tmp_path):
    file = tmp_path / "f.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"f\.yaml") as caught:
        read_yaml(file)
    assert words in str(caught.value)


def test_merged_keys_are_no_repetition(tmp_path):
    """Also not where the mapping that is merged merges one itself, and is read after it."""
    file = tmp_path / "f.yaml"
    file.write_text("z: &z {x: 0, v: 0}\nouter: {inner: &a {<<: *z, x: 1}}\nb: {<<: *a, x: 2}\n")
    merged = {"x": 1, "v": 0}
    assert read_yaml(file) == {"z": {"x": 0, "v": 0}, "outer": {"inner": merged}, "b": {**merged, "x": 2}}


def test_aliases_are_checked_once(tmp_path):
    file = tmp_path / "f.yaml"
    file.write_text("a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)))
    assert len(read_yaml(file)) == 60


def test_a_folder_in_the_place_of_a_file_is_one_sentence(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml(tmp_path)


@pytest.mark.parametrize(
    ("kind", "values", "key"),
    [
        (Experiment, EXPERIMENT | {"seeds": [True]}, "seeds"),
        (Experiment, EXPERIMENT | {"accept_failures": True}, "accept_failures"),
        (Experiment, EXPERIMENT | {"budget": {"fks": True}}, "budget"),
        (FksConfig, {"decoding": {"max_new_tokens": True}}, "decoding.max_new_tokens"),
        (FksConfig, {"cap_per_relation": False}, "cap_per_relation"),
        (FksConfig, {"queries_per_family": {"format": True}}, "queries_per_family"),
        (FksConfig, {"metrics": {"taus": [True, 0.8]}}, "metrics.taus"),
        (Executions, {"limits": {"time_s": True}}, "limits.time_s"),
        (Registry, {"models": {"a": MODEL | {"layers": True}}}, "models.a.layers"),
    ],
)
def test_true_is_no_number(kind, values, key):
    """`max_new_tokens: yes` would be 1."""
    text = said(kind, values)
    assert f"f.yaml, key {key!r}: " in text
    assert "expected a number, neither true nor false" in text


def test_a_truth_value_stays_one_where_it_is_wanted():
    assert validate(Experiment, EXPERIMENT | {"allow_environment": True}, "f").allow_environment
    assert validate(Executions, {"isolation": "prefer"}, "f").isolation == "prefer"
    marked = {"isolation": False, "model_code_may_read_and_change_my_files": True}  # YAML reads off as false
    assert validate(Executions, marked, "f").isolation == "off"


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        (FksConfig, {"dataset": "embeded"}, "f.yaml, key 'dataset': the values do not fit together; expected one of"),
        (FksConfig, {"metrics": {"primary_tau": 0.5}}, "key 'metrics.primary_tau': "),
        (Executions, {"isolation": False}, "key 'isolation': the values do not fit together; expected not off"),
        (Registry, {"models": {"a": MODEL | {"source": {"kind": "tini"}}}}, "key 'models.a.source.kind': 'tini' is no"),
        (SymbenchConfig, METHODS | {"tasks": ["game25"]}, "key 'tasks.0': 'game25' is no valid value"),
        (Lock, {"data": {"d": {"kind": "k"}}}, "key 'data': "),
        (Experiment, EXPERIMENT | {"models": "x" * 4000}, "key 'models': 'xxx"),
        (
            Experiment,
            EXPERIMENT | {"benchmarks": {5: {}}},
            "key 'benchmarks.5': 5 is no valid value; expected a valid st",
        ),
    ],
)
def test_the_key_is_named_and_the_section_is_not_recited(kind, values, words):
    assert words in said(kind, values)


@pytest.mark.parametrize(
    ("section", "fields", "settings"),
    [
        (fks.Metrics(), None, MetricSettings(dataset="", model="")),
        (fks.Judge(), {"template"}, JudgeSettings()),
        (fks.Lens(), {"prompts", "tokens", "skip"}, LensSettings()),
        (symbench.Metrics(), {"resamples", "level", "seed"}, Bootstrap()),
        (ExecutionLimits(), None, Limits()),
    ],
)
def test_functions_that_are_called_without_a_config_have_its_defaults(section, fields, settings):
    """Steps import no config of a benchmark, so that no unread field enters a recipe: defaults stand twice."""
    given = section.model_dump(mode="json", include=fields)
    own = msgspec.to_builtins(settings)
    assert msgspec.convert(own | given, type(settings)) == settings
    assert given.keys() <= own.keys()


def test_processes_that_lock_at_once_keep_each_others_entries(tmp_path):
    code = (
        "import sys; from pathlib import Path; from assay.config.lock import write_entry\n"
        "for n in range(10): write_entry(Path(sys.argv[1]), f'models/{sys.argv[2]}-{n}', {'n': n})"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "abcd"]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert len(read_lock(tmp_path).models) == 40
