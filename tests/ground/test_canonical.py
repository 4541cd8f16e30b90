"""Digests, seeds and files that are absent or complete."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.canonical import canonical_bytes, canonical_text, derive_seed, digest
from assay.errors import AssayError, ConfigError, EndpointError
from assay.records.atomic import atomic_file, write_if_changed
from assay.records.jsonl import read_rows, write_rows
from assay.records.rows import GenerationRow, Message, PromptRow, row_id, setting_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_canonical_text_round_trips_and_ignores_key_order(value):
    import json

    again = json.loads(canonical_bytes(value))
    assert canonical_bytes(again) == canonical_bytes(value)
    if isinstance(value, dict):
        assert canonical_bytes(dict(reversed(list(value.items())))) == canonical_bytes(value)


def test_golden_digests():
    assert canonical_text({"b": [1, 2.5, None, True], "a": "é"}) == '{"a":"é","b":[1,2.5,null,true]}'
    assert digest("golden", {"a": 1}) == "9b6f411c0fc537ac5f8971190f35f3a0e71d1078e7bff501267209ae9b167828"
    assert derive_seed("golden", "x", 1) == 1883763529705003829
    assert 0 <= derive_seed("golden", "x", 1) < 2**63


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")], {"a": float("nan")}])
def test_numbers_that_json_cannot_say_are_refused(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_bytes(value)


def test_keys_must_be_strings_at_every_depth():
    with pytest.raises(TypeError):
        digest("t", [{"a": {1: 2}}])


def test_one_and_true_and_one_point_zero_differ():
    assert len({digest("t", 1), digest("t", True), digest("t", 1.0), digest("t", "1")}) == 4


def test_a_lone_surrogate_has_a_digest():
    assert digest("t", "\ud800") != digest("t", "?")


def test_digests_do_not_depend_on_the_hash_seed():
    code = "from assay.canonical import digest; print(digest('t', {k: k for k in 'hello world'}))"
    seen = {
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": s}, capture_output=True, text=True).stdout
        for s in ("0", "1", "2")
    }
    assert len(seen) == 1
    assert len(seen.pop().strip()) == 64


def test_an_interrupted_write_leaves_the_old_file_and_no_rubbish(tmp_path):
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_file(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]
    assert write_if_changed(path, b"new")
    assert not write_if_changed(path, b"new")


def test_rows_round_trip_and_complaints_name_file_and_row(tmp_path):
    rows = [PromptRow.of_text("q1", "Who?"), PromptRow.of_messages("q2", [Message("user", "Hé")])]
    path = tmp_path / "rows.jsonl"
    assert write_rows(path, rows) == 2
    assert list(read_rows(path, PromptRow)) == rows
    path.write_text(path.read_text() + '{"query_id": 3}\n')
    with pytest.raises(AssayError, match=r"rows.jsonl, row 3: .*query_id"):
        list(read_rows(path, PromptRow))
    path.write_bytes(b'{"query_id"\n')
    with pytest.raises(AssayError, match="row 1: this line is not JSON"):
        list(read_rows(path, PromptRow))
    path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(AssayError, match="row 1"):
        list(read_rows(path, PromptRow))
    with pytest.raises(AssayError, match="does not exist"):
        list(read_rows(tmp_path / "absent", GenerationRow))


def test_prompt_identities_tell_texts_from_messages():
    assert PromptRow.of_text("q", "a").prompt_sha256 != PromptRow.of_messages("q", [Message("user", "a")]).prompt_sha256
    assert row_id("q", "p", 0) != row_id("q", "p", 1)


def test_errors_say_where_what_and_how_and_survive_pickling():
    import pickle

    error = ConfigError("'x' is not known", file="f.yaml", row=2, key="a.b", expected="one of y", remedy="correct it")
    assert str(error) == "f.yaml, row 2, key 'a.b': 'x' is not known; expected one of y; correct it"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.exit_code, type(again)) == (str(error), 3, ConfigError)
    assert len({kind.exit_code for kind in AssayError.__subclasses__()}) == len(AssayError.__subclasses__())
    assert EndpointError("x").exit_code == 8


def test_setting_text_refuses_what_would_be_ambiguous():
    assert setting_text(b=1, a="x", c=False) == "a=x;b=1;c=false"
    with pytest.raises(ValueError, match="must not contain"):
        setting_text(a="x;y")
