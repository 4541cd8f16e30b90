"""Generations through the row store: complete keys, nothing computed twice, nothing lost."""

import os
import random
import shutil
import signal
import sqlite3
import time

import msgspec
import psutil
import pytest
from model_helpers import GREEDY, SAMPLING, ask, entry, texts

from assay.canonical import derive_seed
from assay.errors import ArtifactError, ConfigError, ModelError
from assay.model import answers, local
from assay.model.answers import KIND, Answer
from assay.model.backend import Prepared
from assay.model.engine import Decoding
from assay.model.generate import ModelSession, generate_rows
from assay.model.identity import lock_entry
from assay.model.store import Failure, RowStore
from assay.model.tiny import build_tiny
from assay.records.jsonl import row_bytes, write_rows
from assay.records.rows import Message, PromptRow


def test_every_prompt_has_its_row_in_input_order(folder, cache):
    prompts = texts(30)
    rows, facts = ask(folder, entry(), cache, prompts)
    assert [row.query_id for row in rows] == [prompt.query_id for prompt in prompts]
    assert len({row.row_id for row in rows}) == 30
    assert facts["made"] == facts["rows"] == 30
    assert facts["new_tokens"] == sum(row.n_new_tokens for row in rows)
    assert {row.finish_reason for row in rows} <= {"eos", "length"}


def test_texts_are_those_of_transformers_generate(folder, cache, tiny_folder):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(tiny_folder), AutoTokenizer.from_pretrained(tiny_folder)
    for row, prompt in zip(ask(folder, entry(), cache, texts(10))[0], texts(10), strict=True):
        ids = tokenizer(prompt.text, return_tensors="pt").input_ids
        new = model.generate(ids, max_new_tokens=8, do_sample=False)[0, ids.shape[1] :]
        assert row.text == tokenizer.decode(new, skip_special_tokens=True)


def test_a_second_run_makes_nothing_and_loads_no_weights(folder, cache, monkeypatch):
    first, _ = ask(folder, entry(), cache, texts(20))
    monkeypatch.setattr("assay.model.local.load_engine", _never)
    second, facts = ask(folder, entry(), cache, texts(20))
    assert second == first
    assert (facts["stored"], facts["made"]) == (20, 0)


def _never(*_args):
    raise AssertionError("the model was loaded")


def test_only_new_prompts_are_made(folder, cache):
    ask(folder, entry(), cache, texts(20))
    rows, facts = ask(folder, entry(), cache, texts(25))
    assert (facts["stored"], facts["made"], len(rows)) == (20, 5, 25)


def test_equal_prompts_are_made_once_and_delivered_to_every_row(folder, cache):
    prompts = [PromptRow.of_text(f"q{i}", "The same.") for i in range(5)]
    rows, facts = ask(folder, entry(), cache, prompts)
    assert facts["made"] == 1
    assert facts["duplicates"] == 4
    assert len({row.row_id for row in rows}) == 5
    assert len({(row.text, row.row_key) for row in rows}) == 1


def test_order_company_and_number_of_processes_change_no_byte(tmp_path, cache):
    prompts = texts(40)
    base = {row.query_id: row for row in ask(tmp_path / "a", entry(), cache, prompts)[0]}
    shuffled = random.Random(1).sample(prompts, len(prompts))
    runs = [
        ask(tmp_path / "b", entry(), cache, shuffled)[0],
        ask(tmp_path / "c", entry(), cache, prompts[7:9])[0],
        ask(tmp_path / "d", entry(workers=2), cache, shuffled)[0],
        ask(tmp_path / "e", entry(engine={"kind": "packed", "batch_size": 3}), cache, prompts)[0],
    ]
    for rows in runs:
        assert rows == [base[row.query_id] for row in rows]


def test_two_models_with_one_store_give_their_own_answers(tmp_path, cache):
    other = entry({"kind": "tiny", "seed": 1}, "tiny-b")
    alone = ask(tmp_path / "b", other, cache, texts(10))[0]
    ask(tmp_path / "a", entry(), cache, texts(10))
    together, facts = ask(tmp_path / "a", other, cache, texts(10))
    assert facts["stored"] == 0
    assert together == alone
    assert [row.text for row in together] != [row.text for row in ask(tmp_path / "a", entry(), cache, texts(10))[0]]


@pytest.mark.parametrize("workers", [1, 2])
def test_weights_that_are_replaced_between_check_and_load_make_no_answer(
    tmp_path, cache, tiny_folder, monkeypatch, workers
):
    shutil.copytree(tiny_folder, tmp_path / "mine")
    mine = entry({"kind": "folder", "path": str(tmp_path / "mine")}, "mine", workers=workers)
    locked = lock_entry(mine, cache)
    name = "load_engine" if workers == 1 else "Workers"
    real = getattr(local, name)

    def late(*arguments):
        build_tiny(tmp_path / "mine", 1)
        return real(*arguments)

    monkeypatch.setattr(local, name, late)
    with RowStore(tmp_path / "store") as store, ModelSession(mine, locked, store, cache) as session:
        for _ in range(2):  # the model that was loaded does not stay either
            with pytest.raises(ModelError, match=r"model\.safetensors.*not the locked one"):
                session.generate(texts(3), GREEDY)
        assert store.count(KIND) == 0


def test_weights_overwritten_in_place_are_noticed_before_an_answer_is_made(tmp_path, cache, tiny_folder):
    folder = tmp_path / "mine"
    shutil.copytree(tiny_folder, folder)
    mine = entry({"kind": "folder", "path": str(folder)}, "mine")
    locked = lock_entry(mine, cache)
    ask(tmp_path / "a", mine, cache, texts(3), locked=locked)
    path = folder / "model.safetensors"
    times = path.stat()
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(ModelError, match="not the locked one"):
        ask(tmp_path / "a", mine, cache, texts(5), locked=locked)
    relocked = lock_entry(mine, cache)
    assert relocked != locked
    assert ask(tmp_path / "a", mine, cache, texts(3), locked=relocked)[1]["stored"] == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_new_tokens", 9), ("stop", ("x",)), ("temperature", 0.5), ("top_p", 0.9), ("top_k", 5)],
)
def test_every_decoding_value_is_in_the_key(folder, cache, name, value):
    ask(folder, entry(), cache, texts(3), SAMPLING)
    assert ask(folder, entry(), cache, texts(3), msgspec.structs.replace(SAMPLING, **{name: value}))[1]["stored"] == 0


def test_engine_and_dtype_are_in_the_key(folder, cache):
    ask(folder, entry(), cache, texts(3))
    for other in (entry(engine={"kind": "sequential"}), entry(dtype="bfloat16"), entry(engine={"kind": "padded"})):
        assert ask(folder, other, cache, texts(3))[1]["stored"] == 0
    assert ask(folder, entry(), cache, texts(3))[1]["stored"] == 3


@pytest.mark.parametrize(
    ("engine", "seed", "libraries"),
    [("packed", None, {"tokenizers"}), ("packed", 5, {"tokenizers", "numpy"}), ("endpoint", 5, set())],
)
def test_libraries_that_choose_or_write_tokens_are_in_the_key(monkeypatch, engine, seed, libraries):
    def key(changed):
        answers._libraries.cache_clear()
        monkeypatch.setattr(answers, "version", lambda name: "2" if name == changed else "1")
        return answers.row_key("m", {"engine": engine}, GREEDY, "p", 0, seed)

    try:
        names = ("tokenizers", "numpy", "pandas")
        assert {name for name in names if key(name) != key(None)} == libraries
    finally:
        answers._libraries.cache_clear()


def test_a_raised_row_version_makes_every_row_again(folder, cache, monkeypatch):
    ask(folder, entry(), cache, texts(3))
    monkeypatch.setattr(answers, "ROW_VERSION", answers.ROW_VERSION + 1)
    assert ask(folder, entry(), cache, texts(3))[1]["stored"] == 0


def test_an_engine_that_was_edited_is_asked_for_its_identity_again(folder, cache, monkeypatch):
    ask(folder, entry(), cache, texts(3))
    monkeypatch.setattr("assay.model.local._code", lambda: "another digest of the source")
    _, facts = ask(folder, entry(), cache, texts(3))
    assert facts["stored"] == 3
    assert "load_s" in facts


def test_samples_stay_different_when_they_are_stored(folder, cache):
    prompts = texts(4)
    cold, facts = ask(folder, entry(), cache, prompts, SAMPLING, samples=5, seed=7)
    warm, again = ask(folder, entry(), cache, prompts, SAMPLING, samples=5, seed=7)
    assert warm == cold
    assert (facts["made"], again["stored"]) == (20, 20)
    assert [row.sample_index for row in cold] == [0, 1, 2, 3, 4] * 4
    for start in range(0, 20, 5):
        assert len({row.text for row in cold[start : start + 5]}) == 5


def test_a_seed_decides_samples_and_not_greedy_answers(folder, cache):
    first, _ = ask(folder, entry(), cache, texts(5), SAMPLING, seed=0)
    second, facts = ask(folder, entry(), cache, texts(5), SAMPLING, seed=1)
    assert facts["stored"] == 0
    assert [row.text for row in first] != [row.text for row in second]
    ask(folder, entry(), cache, texts(5), GREEDY, seed=0)
    assert ask(folder, entry(), cache, texts(5), GREEDY, seed=1)[1]["stored"] == 5


def test_more_samples_keep_the_first_ones(folder, cache):
    few, _ = ask(folder, entry(), cache, texts(3), SAMPLING, samples=2)
    many, facts = ask(folder, entry(), cache, texts(3), SAMPLING, samples=4)
    assert facts["stored"] == 6
    assert [row for row in many if row.sample_index < 2] == few


@pytest.mark.parametrize(
    ("decoding", "options", "key"),
    [
        (msgspec.structs.replace(GREEDY, temperature=0.7), {}, "temperature"),
        (msgspec.structs.replace(SAMPLING, temperature=0.0), {}, "temperature"),
        (msgspec.structs.replace(GREEDY, max_new_tokens=0), {}, "max_new_tokens"),
        (GREEDY, {"samples": 3}, "samples"),
        (SAMPLING, {"samples": 0}, "samples"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(folder, cache, decoding, options, key):
    with pytest.raises(ConfigError, match=f"key '(decoding.)?{key}': "):
        ask(folder, entry(), cache, texts(2), decoding, **options)


def test_rows_of_finished_artifacts_count_as_stored(tmp_path, cache):
    rows, _ = ask(tmp_path / "a", entry(), cache, texts(10))
    failed = msgspec.structs.replace(rows[9], finish_reason="error", text="", error="timeout: no answer")
    file = tmp_path / "generations.jsonl"
    write_rows(file, [*rows[:9], failed])
    again, facts = ask(tmp_path / "clone", entry(), cache, texts(10), finished=[file])
    assert again == rows
    assert (facts["stored"], facts["made"]) == (9, 1)


@pytest.mark.parametrize("value", ["{", '{"engine":"packer"}', "\x00"])
def test_a_damaged_note_about_the_engine_is_asked_for_again(folder, cache, value):
    first, _ = ask(folder, entry(), cache, texts(3))
    with sqlite3.connect(folder / "rows.sqlite") as raw:
        assert raw.execute("UPDATE notes SET value = ?", (value,)).rowcount == 1
    again, facts = ask(folder, entry(), cache, texts(3))
    assert again == first
    assert (facts["stored"], facts["made"]) == (3, 0)


def test_a_damaged_stored_row_is_made_again(folder, cache):
    rows, _ = ask(folder, entry(), cache, texts(5))
    with sqlite3.connect(folder / "rows.sqlite") as raw:
        raw.execute("UPDATE rows SET value = ? WHERE key = ?", (b'{"text":"evil"}', rows[2].row_key))
    again, facts = ask(folder, entry(), cache, texts(5))
    assert again == rows
    assert (facts["made"], facts["store_damaged"]) == (1, 1)


# -- conversations -------------------------------------------------------------------------------------------------


def test_a_conversation_computes_no_turn_twice(folder, cache):
    def talk(session):
        said = [Message("user", "Hi")]
        for _ in range(3):
            row = session.complete(said, GREEDY)
            said += [Message("assistant", row.text), Message("user", "Go on")]
        return said

    locked = lock_entry(entry(), cache)
    with RowStore(folder) as store, ModelSession(entry(), locked, store, cache) as session:
        first = talk(session)
        assert session.facts()["made"] == 3
        assert talk(session) == first
        assert session.facts()["made"] == 3
    with RowStore(folder) as store, ModelSession(entry(), locked, store, cache) as session:
        assert talk(session) == first
        assert session.facts()["made"] == 0


def test_repeated_samples_of_one_turn_differ_by_their_index(folder, cache):
    with RowStore(folder) as store, ModelSession(entry(), lock_entry(entry(), cache), store, cache) as session:
        rows = [session.complete("Hi", SAMPLING, sample_index=i) for i in range(4)]
        prompts = [PromptRow.of_text(row.query_id, "Hi") for row in rows]
        together = session.complete_many(prompts, SAMPLING, sample_indices=range(4))
    assert len({row.text for row in rows}) == 4
    assert together == rows


# -- failures ------------------------------------------------------------------------------------------------------


class Instant:
    """A backend without a model: answers at once; queries in `failing` fail, after `breaks_after` rows it breaks."""

    def __init__(self, failing=(), breaks_after=None):
        self.failing = set(failing)
        self.breaks_after = breaks_after
        self.made = 0

    def prepare(self, prompts, decoding, chat, policy):
        return [Prepared(p.prompt_sha256, 3, truncated=False, prompt=p) for p in prompts]

    def identity(self, store, tokens):
        return {"engine": "instant"}

    def start(self, store, tokens):
        return self.identity(store, tokens)

    def run(self, tasks, decoding):
        items = list(tasks.items())
        for start in range(0, len(items), 16):
            if self.breaks_after is not None and start >= self.breaks_after:
                raise ModelError("the model broke")
            batch = {}
            for key, task in items[start : start + 16]:
                failed = task.prepared.prompt.query_id in self.failing
                batch[key] = Failure("no-number", "not finite") if failed else Answer("yes", 1, "eos")
            self.made += len(batch)
            yield batch

    def facts(self):
        return {}

    def close(self):
        pass


def test_failures_stop_the_job_and_are_retried_while_all_else_is_kept(folder, cache):
    with pytest.raises(ModelError, match=r"row q3.*2 of 20 rows.*no-number.*retry"):
        ask(folder, entry(), cache, texts(20), backend=Instant(failing={"q3", "q5"}))
    with RowStore(folder) as store:
        assert {failure.type for failure in store.failures(KIND).values()} == {"no-number"}
    healthy = Instant()
    rows, facts = ask(folder, entry(), cache, texts(20), backend=healthy)
    assert (facts["stored"], healthy.made, len(rows)) == (18, 2, 20)
    with RowStore(folder) as store:
        assert store.failures(KIND) == {}


def test_accepted_failures_are_delivered_and_counted(folder, cache):
    rows, facts = ask(folder, entry(), cache, texts(20), backend=Instant(failing={"q3"}), accept_failures=1)
    assert facts["failed"] == 1
    assert rows[3].finish_reason == "error"
    assert rows[3].error == "no-number: not finite"
    assert rows[3].text == ""


def test_what_was_finished_before_a_model_broke_is_kept(folder, cache):
    with pytest.raises(ModelError, match="broke"):
        ask(folder, entry(), cache, texts(64), backend=Instant(breaks_after=32))
    assert ask(folder, entry(), cache, texts(64), backend=Instant())[1]["stored"] == 32


def test_rows_finished_before_an_engine_broke_are_stored_whatever_their_number(folder, cache, monkeypatch):
    from assay.model.packed import PackedEngine

    real = PackedEngine.generate

    def broken(self, requests, decoding):
        for number, completion in enumerate(real(self, requests, decoding)):
            if number == 5:
                raise MemoryError("no memory is left")
            yield completion

    monkeypatch.setattr(PackedEngine, "generate", broken)
    with pytest.raises(MemoryError):
        ask(folder, entry(), cache, texts(20))
    monkeypatch.undo()
    assert ask(folder, entry(), cache, texts(20))[1]["stored"] == 5


def test_a_disk_that_is_full_keeps_finished_rows(small_disk, cache):
    small = small_disk("600k")
    with pytest.raises(ArtifactError, match=r"full.*make room"):
        ask(small, entry(), cache, texts(4000), backend=Instant())
    with RowStore(small, layout="shared") as store:
        kept = store.count(KIND)
    assert kept >= 16
    rows, facts = ask(small_disk("20m"), entry(), cache, texts(4000), backend=Instant())
    assert facts["stored"] >= kept
    assert len(rows) == 4000


def test_overhead_per_row_is_small(folder, cache):
    prompts = texts(2000)
    started = time.process_time()
    ask(folder, entry(), cache, prompts, backend=Instant())
    assert (time.process_time() - started) / len(prompts) < 0.002


# -- workers and crashes -------------------------------------------------------------------------------------------


def test_a_killed_worker_loses_no_row(tmp_path, cache):
    from assay.model.cache import tiny_folder
    from assay.model.engine import Request
    from assay.model.worker import Load
    from assay.model.workers import Workers

    load = Load(str(tiny_folder(0, cache)), "float32", "cpu", "packed", None)
    requests = [Request(f"r{i}", [3 + i % 200, 5, 7], 40) for i in range(300)]
    workers = Workers(load, 2)
    try:
        found = {}
        for batch in workers.batches(requests, Decoding(max_new_tokens=40)):
            if not found:
                workers._workers[1].process.kill()
            found |= {completion.row_id: completion for completion in batch}
        assert sorted(found) == sorted(request.row_id for request in requests)
        assert workers.lost == 1
        assert len(workers) == 1
        with pytest.raises(ModelError, match=r"last worker died \(signal 9\)"):
            for _ in workers.batches(requests, Decoding(max_new_tokens=40)):
                workers._workers[0].process.kill() if len(workers) else None
    finally:
        workers.close()


def test_an_error_in_a_worker_arrives_as_itself(tmp_path, cache):
    broken = tmp_path / "broken"
    broken.mkdir()
    from assay.model.worker import Load
    from assay.model.workers import Workers

    with pytest.raises(ModelError, match="holds no weights"):
        Workers(Load(str(broken), "float32", "cpu", "packed", None), 1)


LONG = Decoding(max_new_tokens=48)
# Found by every worker process on its path: marks each row that an engine has finished.
_MARKING = """
import os
import time
from assay.model.packed import PackedEngine

real = PackedEngine.generate

def generate(self, requests, decoding):
    marks = os.open(os.environ["ASSAY_TEST_MARKS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for completion in real(self, requests, decoding):
        os.write(marks, b"x")
        time.sleep(0.02)  # the rest must take longer than who kills needs to wake up
        yield completion

PackedEngine.generate = generate
"""


def _run(folder, cache, prompts, workers):
    """Generate in a forked child, which has torch already; return its process id."""
    child = os.fork()
    if child == 0:
        try:
            os.environ["ASSAY_TEST_MARKS"] = str(folder / "marks")
            if workers == 1:
                exec(_MARKING, {})
            else:
                path = [str(folder / "marking"), os.environ.get("PYTHONPATH", "")]
                os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, path))
            model = entry(workers=workers, engine={"kind": "packed", "batch_size": 16})
            rows, facts = ask(folder, model, cache, prompts, LONG)
            write_rows(folder / "generations.jsonl", rows)
            (folder / "made").write_text(str(facts["made"]))
        finally:
            os._exit(0)
    return child


def _stored(folder):
    with RowStore(folder, layout="shared") as store:
        return store.count(KIND)


@pytest.mark.parametrize(
    ("kills", "workers"),
    [(3, 1), pytest.param(20, 1, marks=pytest.mark.long), pytest.param(20, 2, marks=pytest.mark.long)],
)
def test_killed_runs_end_with_the_bytes_of_an_undisturbed_one(tmp_path, cache, kills, workers):
    prompts = texts(30 * kills * workers)
    calm, _ = ask(tmp_path / "calm", entry(), cache, prompts, LONG)
    folder = tmp_path / "killed"
    (folder / "marking").mkdir(parents=True)
    (folder / "marking/sitecustomize.py").write_text(_MARKING)
    marks = folder / "marks"
    marks.touch()
    moments = random.Random(derive_seed("kills", kills, workers))
    done = _stored(folder)
    disturbed = 0
    for _ in range(kills):
        finished = marks.stat().st_size
        child = _run(folder, cache, prompts, workers)
        # Loading takes longer than the rest: the moment counts from the first new row.
        limit = time.monotonic() + 120
        while _stored(folder) == done and not (folder / "made").exists() and time.monotonic() < limit:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.08))
        orphans = psutil.Process(child).children()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        _, alive = psutil.wait_procs(orphans, timeout=60)  # they see within half a second that nobody is there
        assert not alive
        stored = _stored(folder) - done
        assert stored >= 0
        assert marks.stat().st_size - finished - stored <= 16 * workers  # at most one batch of each is lost
        done += stored
        disturbed += not (folder / "made").exists()
        (folder / "made").unlink(missing_ok=True)
    assert disturbed > kills / 2
    os.waitpid(_run(folder, cache, prompts, workers), 0)
    assert int((folder / "made").read_text()) == len(prompts) - done  # what was finished is never made again
    assert (folder / "generations.jsonl").read_bytes() == b"".join(map(row_bytes, calm))


def test_generate_rows_returns_rows_and_fills_facts(folder, cache):
    facts = {}
    locked = lock_entry(entry(), cache)
    with RowStore(folder) as store:
        rows = generate_rows(texts(3), entry(), GREEDY, seed=0, store=store, locked=locked, cache=cache, facts=facts)
    assert len(rows) == 3
    assert facts["generation"]["made"] == 3
    assert facts["generation"]["model"] == "tiny-a"


def test_no_prompts_have_no_answers(folder, cache):
    assert ask(folder, entry(), cache, [])[0] == []
