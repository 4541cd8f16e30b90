"""Tool calls in whatever models write."""

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.canonical import canonical_text
from assay.model.loose import LooseError, read_value
from assay.model.toolcalls import parse_tool_calls

TOOLS = {"transfer": ["source", "target", "amount"], "exit_conversation": []}
WANTED = [("transfer", {"source": "a", "target": "b", "amount": 5})]

WRITTEN = {
    "json": '{"name": "transfer", "arguments": {"source": "a", "target": "b", "amount": 5}}',
    "json in prose": 'I will do it: {"name": "transfer", "arguments": {"source":"a","target":"b","amount":5}} Done.',
    "fence": '```json\n{"name": "transfer", "arguments": {"source": "a", "target": "b", "amount": 5}}\n```',
    "tag": '<tool_call>\n{"name": "transfer", "arguments": {"source": "a", "target": "b", "amount": 5}}\n</tool_call>',
    "open tag": '<tool_call>{"name": "transfer", "arguments": {"source": "a", "target": "b", "amount": 5}}',
    "single quotes": "{'name': 'transfer', 'arguments': {'source': 'a', 'target': 'b', 'amount': 5}}",
    "trailing comma": '{"name": "transfer", "arguments": {"source": "a", "target": "b", "amount": 5,},}',
    "bare keys": '{name: "transfer", arguments: {source: "a", target: "b", amount: 5}}',
    "parameters": '{"name": "transfer", "parameters": {"source": "a", "target": "b", "amount": 5}}',
    "action": '{"action": "transfer", "action_input": {"source": "a", "target": "b", "amount": 5}}',
    "arguments as text": r'{"name": "transfer", "arguments": "{\"source\": \"a\", \"target\": \"b\", \"amount\": 5}"}',
    "openai": '{"type": "function", "function": {"name": "transfer", "arguments": {"source": "a", "target": "b", '
    '"amount": 5}}}',
    "inside an answer": '{"thought": "go", "call": {"name": "transfer", "arguments": {"source": "a", "target": "b", '
    '"amount": 5}}}',
    "list": '[{"name": "transfer", "arguments": {"source": "a", "target": "b", "amount": 5}}]',
    "mistral": '[TOOL_CALLS] [{"name": "transfer", "arguments": {"source": "a", "target": "b", "amount": 5}}]',
    "llama": '<function=transfer>{"source": "a", "target": "b", "amount": 5}</function>',
    "python": "transfer(source='a', target='b', amount=5)",
    "python positional": "Then transfer('a', \"b\", 5) follows.",
    "python list": "[transfer(source='a', target='b', amount=5)]",
    "python method": "bank.transfer(source='a', target='b', amount=5)",
    "broken json first": '{"oops": {"name": "transfer", "arguments": {"source": "a", "target": "b", "amount": 5}}',
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_reads_every_way_of_writing_one_call(text):
    assert [(c.name, c.arguments) for c in parse_tool_calls(text, TOOLS)] == WANTED


@pytest.mark.parametrize("name", ["json", "single quotes", "tag", "openai", "llama", "python", "python list"])
def test_needs_no_list_of_tools_where_the_form_says_it(name):
    assert [(c.name, c.arguments) for c in parse_tool_calls(WRITTEN[name])] == WANTED


def test_keeps_order_and_every_call():
    text = "\n".join([WRITTEN["json"], "transfer('x', 'y', 1)", '{"name": "exit_conversation", "arguments": {}}'])
    assert [c.name for c in parse_tool_calls(text, TOOLS)] == ["transfer", "transfer", "exit_conversation"]


@pytest.mark.parametrize(
    "text",
    [
        "No call is needed here.",
        "",
        '{"name": "Anna", "age": 3}',
        "The set {1, 2} and the list [1, 2].",
        "print(1) would be code",
        "transfer money (soon)",
        "transfer(compute(1), 2, 3)",
        "transfer(source='a', target='b', amount=1,000)",  # the zeros would be a source
        "transfer('a', source='b')",
        "transfer(source='a', source='b')",
        "def exit_conversation():\n    pass",
        '{"name": "transfer", "arguments": {"amount": 007}}',
        '{"arguments": {"a": 1}}',
        "{" * 5000,
    ],
)
def test_text_without_a_call_has_none(text):
    assert parse_tool_calls(text, TOOLS) == []


def test_a_name_alone_is_a_call_only_if_it_is_a_tool():
    assert [c.name for c in parse_tool_calls('{"name": "exit_conversation"}', TOOLS)] == ["exit_conversation"]
    assert parse_tool_calls('{"name": "exit_conversation"}') == []


def test_a_repeated_description_of_a_tool_is_no_call():
    schema = '{"name": "transfer", "parameters": {"type": "object", "properties": {"source": {"type": "string"}}}}'
    wrapped = f'{{"type": "function", "function": {schema}}}'
    call = WRITTEN["json"]
    for told in (schema, wrapped, f"[{wrapped}]"):
        assert parse_tool_calls(told, TOOLS) == []
        assert [(c.name, c.arguments) for c in parse_tool_calls(f"I have {told}. {call}", TOOLS)] == WANTED


def test_unreadable_arguments_are_a_call_with_a_problem():
    (call,) = parse_tool_calls('{"name": "transfer", "arguments": "all of it"}', TOOLS)
    assert call.arguments == {}
    assert "no JSON" in call.problem


@pytest.mark.parametrize("rest", ["}", '{"target": "b"}', " and so on"])
def test_arguments_as_text_are_read_whole_or_not_at_all(rest):
    text = json.dumps({"name": "transfer", "arguments": '{"source": "a"}' + rest})
    assert [(c.arguments, bool(c.problem)) for c in parse_tool_calls(text, TOOLS)] == [({}, True)]


@pytest.mark.parametrize(
    "thought",
    [
        "<think>I could call exit_conversation() or {call}</think>\n",
        "I could call exit_conversation() or {call}</think>\n",  # the template wrote the beginning
        "<thinking>exit_conversation()</thinking><think>{call}</think>",
        "</think><think>{call}</think>",
    ],
)
def test_a_call_that_is_only_weighed_is_not_made(thought):
    thought = thought.format(
        call='{"name": "exit_conversation", "arguments": {}}'.replace("{", "{{").replace("}", "}}")
    )
    assert [(c.name, c.arguments) for c in parse_tool_calls(thought + WRITTEN["json"], TOOLS)] == WANTED
    assert [c.name for c in parse_tool_calls("exit_conversation()<think>" + WRITTEN["json"], TOOLS)] == [
        "exit_conversation"
    ]


def test_nothing_is_executed(tmp_path):
    marker = tmp_path / "made"
    text = f"transfer(source=__import__('pathlib').Path({str(marker)!r}).touch(), target='b', amount=5)"
    parse_tool_calls(text, TOOLS)
    assert not marker.exists()


def test_reading_many_calls_takes_time_in_proportion():
    started = time.process_time()
    assert len(parse_tool_calls("add(a=1)\n" * 10_000, {"add": ["a"]})) == 10_000
    assert len(parse_tool_calls('{"name": "add", "arguments": {"a": 1}}' * 2_500)) == 2_500
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "piece", ["[", "{", '{"a":', "(", "transfer(", '"', "'", "<function=a>", "[{'a':(", "[1,", "<think>", "</think>"]
)
def test_hostile_repetition_takes_no_time(piece):
    started = time.process_time()
    parse_tool_calls(piece * (10_000 // len(piece)), TOOLS)
    assert time.process_time() - started < 2.5


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_json_reads_as_json(value):
    text = canonical_text(value)
    got, end = read_value(text)
    assert canonical_text(got) == text
    assert end == len(text)


@given(json_values)
def test_python_literals_read_as_their_values(value):
    assert read_value(repr(value))[0] == value


PIECES = st.sampled_from(
    [*"{}[]()<>\"'=:,\\ \n", "transfer", "name", "arguments", "<tool_call>", "```json\n", "1", "nul"]
)


@given(st.text() | st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_read_without_an_exception(text):
    for call in parse_tool_calls(text, TOOLS):
        assert call.raw in text
        assert call.name in call.raw
        assert isinstance(call.arguments, dict)
    with contextlib.suppress(LooseError):
        _, end = read_value(text)
        assert 0 < end <= len(text)
