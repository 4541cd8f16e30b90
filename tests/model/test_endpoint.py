"""Endpoints against a real server on loopback: what is sent, what is read, and everything that goes wrong."""

import email.utils
import json
import multiprocessing
import time

import msgspec
import pytest
from model_helpers import GREEDY, SAMPLING, ask, entry, remote, texts
from openai_server import OpenAIServer, serving

from assay.config.models import PromptPolicy, read_registry
from assay.errors import ConfigError, EndpointError, ModelError
from assay.model.answers import KIND
from assay.model.cache import Cache
from assay.model.endpoint import EndpointBackend
from assay.model.endpoint_client import retry_after_s
from assay.model.generate import ModelSession
from assay.model.identity import lock_entry
from assay.model.store import RowStore
from assay.model.toolcalls import parse_tool_calls
from assay.records.rows import Message, PromptRow


@pytest.fixture(scope="module")
def running(tiny_folder):
    with serving(tiny_folder) as server:
        yield server


@pytest.fixture
def server(running, monkeypatch):
    """The server without faults and memory; waits of the client are short."""
    monkeypatch.setattr("assay.model.endpoint_client._FIRST_WAIT_S", 0.01)
    running.faults, running.page_faults, running.requests, running.headers = [], [], [], []
    running.most_at_once, running.delay_s, running.drip_s = 0, 0.0, 0.0
    running.version, running.fingerprint = "1.0", "fp-1"
    return running


@pytest.fixture
def folder(tmp_path):
    return tmp_path / ".assay"


@pytest.fixture
def run(server, folder, tmp_path):
    """Return a function that generates through the endpoint; the lock is written without counting as a request."""
    locked = lock_entry(remote(server.url), Cache(tmp_path))

    def run(prompts, decoding=GREEDY, *, source=None, faults=(), **options):
        model = remote(server.url, **(source or {}))
        server.requests.clear()
        if faults:
            # The first request is the check against the lock.
            server.faults = [(200, {}, _reply("1")), *faults]
        return ask(folder, model, Cache(tmp_path), prompts, decoding, locked=locked, **options)

    return run


def _reply(text, reason="stop", **more):
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text} | more}
    return json.dumps({"model": "tiny-v1", "system_fingerprint": "fp-1", "choices": [choice]}).encode()


def test_the_lock_holds_address_name_version_and_fingerprint(server, tmp_path):
    assert lock_entry(remote(server.url), Cache(tmp_path)) == {
        "kind": "endpoint",
        "url": server.url,
        "served_name": "tiny",
        "server": "version 1.0",
        "reported_model": "tiny-v1",
        "fingerprint": "fp-1",
    }


def test_an_endpoint_is_volatile(server):
    assert remote(server.url).determinism == "volatile"


def test_answers_are_those_of_the_same_model_here(run, tmp_path, server):
    chat = [PromptRow.of_messages(f"c{i}", [Message("user", f"Hi {i}")]) for i in range(4)]
    rows, facts = run([*texts(12), *chat])
    local, _ = ask(tmp_path / "local", entry(), Cache(tmp_path / "cache"), [*texts(12), *chat])
    assert [(r.row_id, r.text, r.finish_reason, r.n_new_tokens, r.n_prompt_tokens) for r in rows] == [
        (r.row_id, r.text, r.finish_reason, r.n_new_tokens, r.n_prompt_tokens) for r in local
    ]
    assert facts["made"] == 16
    assert facts["served"] == {"tiny-v1 fp-1": 16}


def test_a_second_run_asks_nothing_even_when_the_server_is_gone(run, folder, server, tmp_path):
    first, _ = run(texts(6))
    gone = remote(server.url)
    locked = lock_entry(gone, Cache(tmp_path))
    server.requests.clear()
    second, facts = ask(folder, gone, Cache(tmp_path), texts(6), locked=locked)
    assert second == first
    assert facts["stored"] == 6
    assert server.requests == []


def test_a_request_says_what_was_asked(run, server):
    run(texts(1), msgspec.structs.replace(SAMPLING, top_p=0.5, top_k=7, stop=("\n",)), seed=3)
    body = server.requests[-1]
    assert {k: body[k] for k in ("model", "max_tokens", "temperature", "top_p", "top_k", "stop", "n", "stream")} == {
        "model": "tiny",
        "max_tokens": 8,
        "temperature": 1.0,
        "top_p": 0.5,
        "top_k": 7,
        "stop": ["\n"],
        "n": 1,
        "stream": False,
    }
    assert 0 <= body["seed"] < 2**31


def test_samples_have_seeds_of_their_own(run, server):
    rows, _ = run(texts(2), SAMPLING, samples=3)
    assert len({body["seed"] for body in server.requests[1:]}) == 6
    assert len({row.text for row in rows}) == 6
    again, facts = run(texts(2), SAMPLING, samples=3)
    assert again == rows
    assert facts["stored"] == 6


def test_requests_run_at_once_up_to_the_limit(run, server):
    server.delay_s = 0.05
    run(texts(12), source={"concurrency": 4})
    assert 2 <= server.most_at_once <= 4


def test_the_rate_limit_is_kept(run):
    started = time.monotonic()
    run(texts(6), source={"requests_per_minute": 600})
    assert time.monotonic() - started >= 0.5


def test_the_rate_limit_is_one_for_all_sessions_of_a_process(run, server):
    server.requests.clear()
    started = time.monotonic()
    for n in range(3):
        run([PromptRow.of_text(f"s{n}", f"session {n}")], source={"requests_per_minute": 240})
    # Each session asks for the version and an answer to compare with the lock, then for its own answer.
    assert time.monotonic() - started >= (3 * 3 - 1) * 0.25


def test_the_key_comes_from_the_environment_and_stands_nowhere_else(run, server, folder, monkeypatch):
    with pytest.raises(ConfigError, match="TEST_KEY"):
        run(texts(1), source={"key_variable": "TEST_KEY"})
    monkeypatch.setenv("TEST_KEY", "very-secret-value")
    server.headers.clear()
    run(texts(1), source={"key_variable": "TEST_KEY"})
    assert server.headers[-1]["Authorization"] == "Bearer very-secret-value"
    assert not any(b"very-secret-value" in path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("value", ["very-secret\n", "  very-secret "])
def test_spaces_around_a_key_do_not_matter(run, server, monkeypatch, value):
    monkeypatch.setenv("TEST_KEY", value)
    run(texts(1), source={"key_variable": "TEST_KEY"})
    assert server.headers[-1]["Authorization"] == "Bearer very-secret"


@pytest.mark.parametrize("value", ["two\nlines-secret", "clé-secret", " "])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(run, monkeypatch, value):
    monkeypatch.setenv("TEST_KEY", value)
    with pytest.raises(ConfigError, match="TEST_KEY") as caught:
        run(texts(1), source={"key_variable": "TEST_KEY"})
    assert "secret" not in str(caught.value)


def test_where_a_server_counts_no_tokens_there_is_no_cost(run):
    price = {"input_per_million": 1.0, "output_per_million": 2.0}
    _, facts = run(texts(2), faults=[(200, {}, _reply("x"))], source={"price": price})
    assert (facts["cost"], facts["without_usage"]) == (None, 1)


@pytest.mark.parametrize("count", [{}, *({"completion_tokens": n} for n in (None, True, -1, 2.0, "2", 2**63, 10**30))])
def test_an_answer_whose_new_tokens_were_not_counted_makes_no_wrong_cost(run, count):
    reply = json.loads(_reply("x")) | {"usage": {"prompt_tokens": 3, **count}}
    price = {"input_per_million": 1.0, "output_per_million": 2.0}
    (row,), facts = run(texts(1), faults=[(200, {}, json.dumps(reply).encode())], source={"price": price})
    assert (row.n_prompt_tokens, row.n_new_tokens) == (3, 0)
    assert (facts["cost"], facts["without_usage"]) == (None, 1)


def test_costs_are_counted_from_the_price_table(run):
    price = {"input_per_million": 1.0, "output_per_million": 2.0}
    rows, facts = run(texts(3), source={"price": price})
    tokens = sum(row.n_prompt_tokens for row in rows), sum(row.n_new_tokens for row in rows)
    assert facts["cost"]["amount"] == pytest.approx((tokens[0] + 2 * tokens[1]) / 1e6)


STOPPED = msgspec.structs.replace(GREEDY, stop=("END",))
CHAT = PromptRow.of_messages("c", [Message("user", "Hi")])


# -- lengths --------------------------------------------------------------------------------------------------------


SHORT = [PromptRow.of_text("short", "Hi"), PromptRow.of_text("long", "x" * 40)]
CUT = PromptPolicy(max_tokens=30, on_long="truncate")


@pytest.mark.parametrize("policy", [PromptPolicy(max_tokens=30), CUT])
def test_a_prompt_that_the_server_counts_as_too_long_fails_and_its_answer_is_not_used(run, policy):
    with pytest.raises(EndpointError, match=r"row long: 1 of 2 rows.*counts 40 prompt tokens, at most 30.*never cut"):
        run(SHORT, policy=policy)
    rows, facts = run(SHORT, policy=policy, accept_failures=1)
    assert [(row.finish_reason, row.truncated, row.n_prompt_tokens) for row in rows] == [
        ("length", False, 2),
        ("error", False, 40),
    ]
    assert (rows[1].text, facts["failed"], facts["stored"]) == ("", 1, 2)
    rows, facts = run(SHORT, policy=PromptPolicy(max_tokens=40))
    assert all(row.text for row in rows)
    assert facts["stored"] == 2  # the answer was one to the whole prompt


def test_the_context_in_the_registry_limits_prompts_of_an_endpoint(run):
    with pytest.raises(EndpointError, match=r"counts 40 prompt tokens, at most 39 are allowed"):
        run(SHORT, source={"context": 47})
    with pytest.raises(ConfigError, match=r"max_new_tokens is 8, but the context of remote has 8"):
        run(SHORT, source={"context": 8})
    assert len(run(SHORT, source={"context": 48})[0]) == 2


def test_a_conversation_that_the_server_counts_as_too_long_is_an_overflow(server, folder, tmp_path):
    model = remote(server.url)
    with RowStore(folder) as store, ModelSession(model, lock_entry(model, Cache(tmp_path)), store) as session:
        rows = session.complete_many(SHORT, GREEDY, policy=CUT, counts_overflow=True)
    assert [(row.truncated, row.finish_reason) for row in rows] == [(False, "length"), (True, "error")]
    assert rows[1].n_prompt_tokens == 40


def test_tools_with_keys_in_another_order_are_another_prompt(run, server):
    one = {"name": "add", "description": "adds"}
    for tool, made in ((one, 1), (dict(reversed(one.items())), 1), (one, 0)):
        _, facts = run([PromptRow.of_messages("c", [Message("user", "Hi")], [tool])])
        assert facts["made"] == made


# -- faults --------------------------------------------------------------------------------------------------------

BUSY = (429, {"Retry-After": "0.2"}, b"slow down")
FAULTS = {
    "429": BUSY,
    "500": (500, {}, b"oops"),
    "503": (503, {"Retry-After": "0"}, b""),
    "malformed JSON": (200, {}, b'{"choices": [{"mess'),
    "no JSON object": (200, {}, b"[]"),
    "no UTF-8": (200, {}, b'{"model": "\xff"}'),
    "no choice": (200, {}, b'{"choices": []}'),
    "empty completion": (200, {}, _reply(None)),
    "call of a protocol that was not used": (200, {}, _reply("", "function_call")),
    "gzip that is none": (200, {"Content-Encoding": "gzip"}, b"no gzip"),
    "unknown end": (200, {}, _reply("x", reason="eaten")),
    "end of another type": (200, {}, _reply("x", reason=["stop"])),
    "tool call without a function": (200, {}, _reply(None, "tool_calls", tool_calls=[{"function": "add"}])),
    "tool call of another type": (200, {}, _reply(None, "tool_calls", tool_calls=["add"])),
    "tool call without a name": (200, {}, _reply(None, "tool_calls", tool_calls=[{"function": {"name": None}}])),
    "brackets without end": (200, {}, b"[" * 100_000),
    "error in the place of an answer": (200, {}, b'{"error": {"message": "busy", "code": 503}}'),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_passing_fault_is_retried(run, fault):
    rows, facts = run(texts(4), faults=[fault, fault], source={"concurrency": 1})
    assert [row.finish_reason for row in rows] == ["length"] * 4 or all(not row.error for row in rows)
    assert facts["retries"] == 2
    assert facts["failed"] == 0


LASTING = {
    "429": ("rate-limit", (429, {}, b"")),
    "500": ("server-error", FAULTS["500"]),
    "malformed": ("malformed", FAULTS["malformed JSON"]),
    "empty": ("empty", FAULTS["empty completion"]),
    "error": ("server-error.*busy", FAULTS["error in the place of an answer"]),
}


@pytest.mark.parametrize(("type_", "fault"), LASTING.values(), ids=LASTING)
def test_a_lasting_fault_is_a_typed_failure_of_its_row_alone(run, folder, type_, fault):
    with pytest.raises(EndpointError, match=rf"1 of 4 rows.*{type_}.*retry"):
        run(texts(4), faults=[fault] * 3, source={"concurrency": 1})
    with RowStore(folder) as store:
        assert store.count(KIND) == 3
        assert [(f.type, f.attempts) for f in store.failures(KIND).values()] == [(type_.partition(".")[0], 3)]
    rows, facts = run(texts(4))
    assert (facts["stored"], facts["made"], len(rows)) == (3, 1, 4)


def test_a_refused_request_is_not_repeated(run, server):
    too_long = (400, {}, b'{"error": {"message": "context length exceeded"}}')
    with pytest.raises(EndpointError, match=r"refused: HTTP 400.*context length exceeded"):
        run(texts(1), faults=[too_long])
    assert len(server.requests) == 2


def test_a_withheld_answer_can_be_accepted_and_is_counted(run):
    rows, facts = run(texts(2), faults=[(200, {}, _reply("", "content_filter"))], accept_failures=1)
    assert [row.finish_reason for row in rows].count("error") == 1
    assert facts["failed"] == 1


def test_an_answer_cut_while_the_model_still_thinks_is_empty_and_not_asked_for_again(run, server):
    (row,), facts = run([CHAT], faults=[(200, {}, _reply(None, "length", reasoning_content="Hm"))])
    assert (row.text, row.finish_reason, facts["retries"]) == ("", "length", 0)


def test_a_limit_that_is_known_by_another_name_is_renamed(run, server):
    wrong = (400, {}, b"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    run(texts(1), faults=[wrong, (200, {}, _reply("ok"))])
    assert "max_completion_tokens" in server.requests[-1]
    assert "max_tokens" not in server.requests[-1]


def test_a_redirect_is_said_and_the_key_stays_here(run, server, monkeypatch):
    monkeypatch.setenv("TEST_KEY", "very-secret-value")
    moved = (307, {"Location": f"{server.url}/elsewhere"}, b"")
    with pytest.raises(EndpointError, match=r"leads to http.*/elsewhere.*correct url"):
        run(texts(20), faults=[moved], source={"key_variable": "TEST_KEY", "concurrency": 1})
    assert len(server.requests) < 10


@pytest.mark.parametrize("status", [400, 401])
def test_a_key_that_a_server_repeats_is_not_shown(run, folder, monkeypatch, status):
    monkeypatch.setenv("TEST_KEY", "very-secret-value")
    with pytest.raises(EndpointError, match=r"bad key \*\*\*") as caught:
        run(texts(1), faults=[(status, {}, b"bad key very-secret-value")], source={"key_variable": "TEST_KEY"})
    assert "very-secret-value" not in str(caught.value)
    assert not any(b"very-secret-value" in path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "ftp://127.0.0.1:1"),
        ("HTTP_PROXY", "http://[::1"),
        ("SSL_CERT_FILE", "/no/such/file.pem"),
    ],
)
def test_a_proxy_or_certificate_that_cannot_be_used_is_explained(run, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=rf"as the environment asks.*{name}"):
        run(texts(1))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "key is refused"),
        (402, "no credit"),
        (403, "forbidden"),
        (404, r"/v1/completions, key 'tiny': .* does not exist"),
    ],
)
def test_a_hopeless_reply_stops_at_once(run, server, status, words):
    with pytest.raises(EndpointError, match=words):
        run(texts(50), faults=[(status, {}, b"")], source={"concurrency": 1})
    assert len(server.requests) < 10


def test_an_account_that_is_used_up_is_not_asked_again_and_again(run, server):
    fault = (429, {}, b'{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}')
    with pytest.raises(EndpointError, match=r"no credit \(HTTP 429\)"):
        run(texts(50), faults=[fault], source={"concurrency": 1})
    assert len(server.requests) < 10


def test_answers_that_are_on_their_way_when_an_error_ends_the_run_are_kept(run, server, folder):
    def later(backend, key, task, decoding, answer=EndpointBackend._answer):
        if task.prepared.prompt.text == "bad":
            while len(server.requests) < 4:  # the check, and the three others
                time.sleep(0.01)
            raise EndpointError("over")
        return answer(backend, key, task, decoding)

    server.delay_s = 0.3
    prompts = [PromptRow.of_text("bad", "bad"), *texts(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EndpointBackend, "_answer", later)
        with pytest.raises(EndpointError, match="over"):
            run(prompts, source={"concurrency": 4})
    with RowStore(folder) as store:
        assert store.count(KIND) == 3


def test_a_hopeless_reply_that_came_late_is_shown_as_itself(run, server, monkeypatch):
    monkeypatch.setattr("assay.model.progress._LINE_EVERY_S", 0.0)
    with pytest.raises(EndpointError, match="does not exist"):
        run(texts(1), faults=[(404, {}, b"")], source={"concurrency": 1})


def test_an_error_waits_for_open_requests_and_not_for_their_time_limit(run, server):
    server.delay_s = 0.3  # so that others are open when the first reply stops the run
    started = time.monotonic()
    with pytest.raises(EndpointError, match="key is refused"):
        run(texts(20), faults=[(401, {}, b"")] * 4, source={"concurrency": 4, "timeout_s": 60})
    assert time.monotonic() - started < 30


def test_the_server_is_believed_when_it_says_how_long_to_wait(run):
    started = time.monotonic()
    run(texts(4), faults=[(429, {"Retry-After": "0.6"}, b"")], source={"concurrency": 1})
    assert time.monotonic() - started >= 0.6


def test_retry_after_may_be_a_date():
    assert retry_after_s("1.5") == 1.5
    assert retry_after_s(email.utils.formatdate(time.time() + 300, usegmt=True)) == pytest.approx(300, abs=60)
    assert retry_after_s("soon") is None
    assert retry_after_s("Mon, 01 Jan 99999999999999999999 00:00:00 GMT") is None
    assert retry_after_s(None) is None


def test_a_date_without_a_zone_is_in_gmt(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert retry_after_s(time.asctime(time.gmtime(time.time() + 300))) == pytest.approx(300, abs=60)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_page_that_fails_for_a_moment_makes_no_other_version(run, server, status):
    server.page_faults = [(status, {}, b"")] * 2
    assert len(run(texts(2))[0]) == 2
    assert server.page_faults == []


def test_a_page_that_a_server_never_gives_is_one_that_it_has_not(server, tmp_path):
    server.page_faults = [(500, {}, b"")] * 6
    assert lock_entry(remote(server.url), Cache(tmp_path))["server"] == ""


def test_another_model_in_the_middle_of_a_run_ends_it_and_its_answer_is_not_used(run, folder):
    other = json.loads(_reply("x")) | {"model": "other"}
    with pytest.raises(ModelError, match=r"reported_model 'other', locked is 'tiny-v1'.*assay lock remote"):
        run(texts(9), faults=[(200, {}, _reply("a")), (200, {}, json.dumps(other).encode())], source={"concurrency": 1})
    with RowStore(folder) as store:
        assert store.count(KIND) >= 1
    rows, facts = run(texts(9))
    assert list(facts["served"]) == ["tiny-v1 fp-1"]
    assert len(rows) == 9


def test_a_server_that_became_another_version_is_noticed(run, server):
    server.version = "2.0"
    with pytest.raises(ModelError, match=r"version 2\.0.*version 1\.0.*assay lock remote"):
        run(texts(1))


def test_another_fingerprint_is_counted(run, server):
    server.fingerprint = "fp-2"
    _, facts = run(texts(3))
    assert facts["other_fingerprint"] == 3
    assert facts["served"] == {"tiny-v1 fp-2": 3}


def test_native_tool_calls_become_text_that_parses(run):
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    chat = PromptRow.of_messages("c", [Message("user", "Hi")], [{"name": "add", "parameters": {}}])
    (row,), _ = run([chat], faults=[(200, {}, _reply(None, "tool_calls", tool_calls=[call]))])
    assert [(c.name, c.arguments) for c in parse_tool_calls(row.text)] == [("add", {"a": 1})]


@pytest.mark.parametrize(
    "arguments", ['{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}', "{" * 5000, "[" * 100_000, "not"]
)
def test_arguments_that_are_no_json_stay_as_they_are(run, arguments):
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": arguments}}
    chat = PromptRow.of_messages("c", [Message("user", "Hi")], [{"name": "add", "parameters": {}}])
    (row,), _ = run([chat], faults=[(200, {}, _reply(None, "tool_calls", tool_calls=[call]))])
    block = row.text.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>")
    assert json.loads(block) == {"name": "add", "arguments": arguments}


def test_a_stop_string_that_the_server_left_in_is_cut(run):
    (row,), facts = run([CHAT], STOPPED, faults=[(200, {}, _reply("one END two"))])
    assert (row.text, row.finish_reason) == ("one ", "stop")
    assert "stop_or_eos" not in facts


@pytest.mark.parametrize(
    ("decoding", "told", "finish", "unknown"),
    [
        (GREEDY, {}, "eos", None),  # nothing else can have ended it
        (STOPPED, {}, "stop", 1),  # the protocol has one word for both
        (STOPPED, {"stop_reason": None}, "eos", None),
        (STOPPED, {"stop_reason": 151643}, "eos", None),
        (STOPPED, {"stop_reason": "END"}, "stop", None),
    ],
)
def test_the_end_of_an_answer_is_named_as_far_as_the_server_tells(run, decoding, told, finish, unknown):
    reply = json.loads(_reply("one"))
    reply["choices"][0] |= told
    (row,), facts = run([CHAT], decoding, faults=[(200, {}, json.dumps(reply).encode())])
    assert (row.text, row.finish_reason, facts.get("stop_or_eos")) == ("one", finish, unknown)


@pytest.mark.parametrize(("content", "calls"), [(None, 1), ("Now:", 1), ("one\ntwo", 0)])
def test_a_stop_string_cuts_what_the_model_wrote_and_no_native_call(run, content, calls):
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    decoding = msgspec.structs.replace(GREEDY, stop=("\n",))
    (row,), _ = run([CHAT], decoding, faults=[(200, {}, _reply(content, "tool_calls", tool_calls=[call]))])
    assert len(parse_tool_calls(row.text)) == calls
    assert row.text.startswith((content or "<tool_call>").partition("\n")[0])


def _serve(connection, folder, port, die_after):
    server = OpenAIServer(folder, port=port, die_after=die_after)
    connection.send(server.url)
    server.serve_forever()


@pytest.fixture
def server_process(tiny_folder):
    """Return a function that starts a server in a process of its own, which can die alone; gives process and URL."""
    context = multiprocessing.get_context("fork")  # it has torch already
    started = []

    def start(port, die_after=None):
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, tiny_folder, port, die_after), daemon=True)
        process.start()
        started.append(process)
        return process, ours.recv()

    yield start
    for process in started:
        process.kill()
        process.join()


def test_a_server_that_dies_in_the_middle_loses_nothing_that_was_answered(
    server_process, port, folder, tmp_path, monkeypatch
):
    monkeypatch.setattr("assay.model.endpoint_client._FIRST_WAIT_S", 0.01)
    process, url = server_process(port, die_after=12)
    model = remote(url, concurrency=2)
    locked = lock_entry(model, Cache(tmp_path))
    with pytest.raises(EndpointError, match=r"rows of remote failed.*(unreachable|broken-connection)"):
        ask(folder, model, Cache(tmp_path), texts(30), locked=locked)
    process.join(20)
    assert process.exitcode == 1
    with RowStore(folder) as store:
        kept = store.count(KIND)
    assert 8 <= kept <= 10  # one of its 12 answers went into the lock, one into the check against it
    assert server_process(port)[1] == url
    rows, facts = ask(folder, model, Cache(tmp_path), texts(30), locked=locked)
    assert (len(rows), facts["stored"]) == (30, kept)


def test_a_project_evaluates_an_endpoint_like_any_model(server, tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/models.yaml").write_text(
        "models:\n  served:\n    title: Served\n    source:\n      kind: endpoint\n"
        f"      url: {server.url}\n      served_name: tiny\n"
    )
    served = read_registry(tmp_path)["served"]
    locked = lock_entry(served, Cache(tmp_path))
    with RowStore(tmp_path / ".assay") as store, ModelSession(served, locked, store) as session:
        row = session.complete([Message("user", "Hi")], GREEDY)
    assert row.text
