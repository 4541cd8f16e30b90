import msgspec
import pytest

from assay.config.executions import ExecutionLimits
from assay.errors import ConfigError
from assay.sandbox.records import Captured, Limits, Request, address_like, constant_paths, normalise_stderr


def test_limits_of_config_and_records_agree():
    assert msgspec.structs.asdict(Limits()) == ExecutionLimits().model_dump()


@pytest.mark.parametrize("name", Limits.__struct_fields__)
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1 << 41, "3", None, True])
def test_a_limit_must_be_positive(name, value):
    with pytest.raises(ConfigError, match=name):
        Limits(**{name: value})


@pytest.mark.parametrize("name", [n for n in Limits.__struct_fields__ if n != "time_s"])
def test_a_limit_that_is_counted_is_whole(name):
    with pytest.raises(ConfigError, match=f"{name}.*whole"):
        Limits(**{name: 16.5})


@pytest.mark.parametrize("code", [None, 3, ["print(1)"]])
def test_a_program_is_text_or_bytes(code):
    with pytest.raises(ConfigError, match="code"):
        Request(code)


def test_an_unknown_limit_is_refused():
    with pytest.raises(msgspec.ValidationError, match="wall"):
        msgspec.convert({"wall": 3}, Limits)


@pytest.mark.parametrize("name", ["a b", "x)", "", "1x", "class", "a.b", "__import__('os')"])
def test_a_variable_must_be_a_name(name):
    with pytest.raises(ConfigError, match="variable"):
        Request("x = 1", (name,))


def test_a_request_makes_at_least_one_attempt():
    with pytest.raises(ConfigError, match="attempt"):
        Request("x = 1", ())
    with pytest.raises(ConfigError, match="attempt"):
        Request("x = 1", "result")  # its letters would be six names


@pytest.mark.parametrize("data", [b"", b"abc\n", "é€".encode(), b"\xff\xfe", b"a\x00b"])
def test_captured_bytes_come_back(data):
    captured = Captured.of(data)
    assert captured.data == data
    assert (captured.text is None) == (data == b"\xff\xfe")


def test_stderr_is_normalised():
    data = b'File "/tmp/w3/box/work/main.py" <A object at 0x7ffff7141d00>'
    assert constant_paths(data, {"/tmp/w3/box": "/sandbox"}).startswith(b'File "/sandbox/work/main.py"')
    assert normalise_stderr(data).endswith(b"<A object at 0xADDRESS>")


@pytest.mark.parametrize(("data", "found"), [(b"0x7ffff7", True), (b"0xff", False), (b"x7fffff7", False)])
def test_addresses_are_flagged(data, found):
    assert address_like(data) is found
