import os
import threading
import time

import msgspec
import pytest

from assay.errors import ConfigError, SandboxError
from assay.sandbox.control import ServerError
from assay.sandbox.executor import Executor, _Worker, imported
from assay.sandbox.records import Limits, Request
from assay.sandbox.running import LAST_PATIENCE, PATIENCE, Run
from assay.sandbox.watch import Tree


def test_results_come_in_the_order_of_the_requests(executor):
    codes = [f"import time\ntime.sleep({0.2 if n % 3 == 0 else 0})\nprint({n})" for n in range(12)]
    results = executor.execute([Request(code) for code in codes])
    assert [result.final.stdout for result in results] == [f"{n}\n".encode() for n in range(12)]


def test_progress_is_told_after_each_request(executor):
    told = []
    executor.execute([Request("pass")] * 3, lambda done, all_: told.append((done, all_)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_nothing_asked_nothing_answered(executor):
    assert executor.execute([]) == []


def test_it_works_from_another_thread(executor):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(executor.execute([Request("print(3)")])[0].final.stdout))
    thread.start()
    thread.join()
    assert answers == [b"3\n"]


@pytest.mark.parametrize(
    ("code", "kind", "exit_code"),
    [
        ("print(1)", "ok", 0),
        ("import sys; sys.exit(7)", "error", 7),
        ("1/0", "error", 1),
        ("x = bytearray(1 << 40)", "memory", None),
        ("class Mine(MemoryError): pass\nraise Mine", "memory", None),
        ("import os; os.abort()", "killed", None),
        ("raise KeyboardInterrupt", "killed", None),
        ("while True: pass", "timeout", None),
        ("while True: print('x' * 1000)", "output_limit", None),
    ],
)
def test_kinds(run, code, kind, exit_code):
    payload = run(code, time_s=1, memory_mb=256, stdout_bytes=5000).payload
    assert (payload.kind, payload.exit_code) == (kind, exit_code)


def test_output_before_an_error_counts(run):
    record = run("print('42')\nraise RuntimeError")
    assert (record.payload.kind, record.stdout) == ("error", b"42\n")


def test_partial_output_of_a_timeout_stays_out_of_the_payload(run):
    record = run("print('a', flush=True)\nwhile True: pass", time_s=0.3)
    assert record.payload.stdout is None
    assert record.payload.stderr_norm is None
    assert record.envelope.partial["stdout"].data == b"a\n"
    assert record.stdout == b"a\n"


@pytest.mark.parametrize("size", [999, 1000, 1001])
def test_output_is_cut_at_the_first_byte_over(run, size):
    record = run(f"import sys; sys.stdout.write('x' * {size})", stdout_bytes=1000)
    assert record.payload.kind == ("ok" if size <= 1000 else "output_limit")
    assert record.stdout == b"x" * min(size, 1000)
    assert record.payload.stdout_truncated is (size > 1000)


# Bad input: a recorded kind, never a hang and never an error of ours.
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("", "ok"),
        ("\n\n", "ok"),
        ("x = 'a\0b'", "error"),
        ("s = '\ud800'", "error"),
        (b"s = '\xff\xfe'", "error"),
        (b"# -*- coding: latin-1 -*-\nprint('\xe9')", "ok"),
        (b"# -*- coding: no-such-codec -*-\n", "error"),
        ("#" * 1_000_000, "ok"),
        ("print('" + "y" * 1_000_000 + "')", "ok"),
        ("\ufeffprint(1)", "ok"),
        ("def f(:", "error"),
        ("\t" * 200 + "x", "error"),
    ],
)
def test_odd_code_gets_a_kind(run, code, kind):
    assert run(code).payload.kind == kind


@pytest.mark.parametrize("code", ["x = 'a\0b'", "s = '\ud800'", b"\xff", "", "#" * 1_000_000])
def test_odd_code_is_the_same_for_a_variable(run, code):
    assert run(code, ("result",)).payload.kind == "error"


def test_variables_are_printed_in_turn_until_one_gives_output(executor):
    code = "open('count', 'w').close()\nanswer = 5"
    result = executor.execute([Request(code, ("result", "Answer", "answer", "other"))])[0]
    assert [record.payload.mode for record in result.attempts] == [
        "print-variable result",
        "print-variable Answer",
        "print-variable answer",
    ]
    assert [record.payload.kind for record in result.attempts] == ["error", "error", "ok"]
    assert result.final.stdout == b"5\n"


def test_code_that_prints_runs_once(executor):
    result = executor.execute([Request("print('said')", ("result", "answer"))])[0]
    assert len(result.attempts) == 1
    assert result.final.stdout == b"said\n"
    assert b"NameError: name 'result' is not defined" in result.final.stderr


def test_a_defined_variable_is_appended_to_the_output(executor):
    result = executor.execute([Request("print('said')\nresult = [1]", ("result",))])[0]
    assert result.final.stdout == b"said\n[1]\n"


def test_a_plain_run_may_come_first(executor):
    result = executor.execute([Request("answer = 1", (None, "Answer", "answer"))])[0]
    assert [record.payload.mode for record in result.attempts] == ["script", *result_modes("Answer", "answer")]


def result_modes(*names):
    return [f"print-variable {name}" for name in names]


def test_a_timeout_ends_the_attempts(executor):
    request = Request("while True: pass", ("result", "answer"), Limits(time_s=0.3))
    assert [r.payload.kind for r in executor.execute([request])[0].attempts] == ["timeout"]


@pytest.mark.parametrize("code", ["result = 3\nprint(__name__)", "import sys\nresult = sys.argv", "def f(): 1/0\nf()"])
def test_a_variable_is_printed_as_by_the_command_line(executor, fresh, code):
    request = [Request(code, ("result",))]
    warm, plain = (each.execute(request)[0].final for each in (executor, fresh))
    assert warm.payload == plain.payload


def test_nothing_stays_between_executions(run):
    run("open('left', 'w').close()\nopen('/tmp/left', 'w').close()\nopen('/dev/shm/left', 'w').close()")
    code = "import os\nprint(os.listdir('.'), os.listdir('/tmp'), os.listdir('/dev/shm'))"
    assert run(code).stdout == b"['main.py'] [] []\n"


INPUT = """
import fcntl, os
print(os.read(0, 1), os.get_blocking(0))
with open('/dev/null') as another:
    fcntl.flock(another, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.set_blocking(0, False)
fcntl.flock(0, fcntl.LOCK_EX)
"""


@pytest.mark.parametrize("backend", ["warm", "fresh"])
def test_what_one_did_to_standard_input_reaches_no_later_one(settings, backend):
    with Executor(settings.model_copy(update={"backend": backend}), workers=1) as executor:
        results = executor.execute([Request(INPUT)] * 2)
    assert [(r.final.payload.kind, r.final.stdout) for r in results] == [("ok", b"b'' True\n")] * 2


@pytest.mark.parametrize("preload", ["", "import sympy\n"])
def test_the_main_thread_has_the_number_of_its_process(executor, fresh, preload):
    code = preload + "import os, threading\nprint(threading.main_thread().native_id == os.getpid())"
    for each in (executor, fresh):
        assert each.execute([Request(code)])[0].final.stdout == b"True\n"


def test_an_executor_must_be_entered(settings):
    with pytest.raises(SandboxError, match="not running"):
        Executor(settings).execute([Request("print(1)")])


@pytest.mark.parametrize("workers", [0, -1])
def test_workers_must_be_positive(settings, workers):
    with pytest.raises(SandboxError, match="workers"):
        Executor(settings, workers=workers)


def test_workers_must_fit_into_memory(settings):
    with pytest.raises(SandboxError, match="MiB"):
        Executor(settings, workers=100_000)


def test_a_missing_interpreter_is_named(settings):
    with pytest.raises(SandboxError, match="no/such/python"):
        Executor(settings.model_copy(update={"interpreter": "/no/such/python"}))


def test_something_else_as_interpreter_is_named(settings):
    with pytest.raises(SandboxError, match="/bin/true"):
        Executor(settings.model_copy(update={"interpreter": "/bin/true"}))


def test_an_error_in_the_middle_stops_the_call_and_leaves_the_executor_usable(executor):
    class StopHereError(Exception):
        pass

    def stop(done, _all):
        if done == 2:
            raise StopHereError

    with pytest.raises(StopHereError):
        executor.execute([Request("print(1)")] * 30, stop)
    assert executor.execute([Request("print(2)")])[0].final.stdout == b"2\n"


def test_snippets_run_twice_show_what_varies(settings):
    always = settings.model_copy(update={"repeat_check_fraction": 1.0})
    with Executor(always, workers=1) as executor:
        codes = ["import os\nprint(os.urandom(8))", "print(1)"]
        results = executor.execute([Request(code) for code in codes])
    assert [result.final.envelope.nondeterministic for result in results] == [True, False]


def test_unseeded_generators_differ_unless_a_seed_is_set(settings, executor):
    code = "import random\nimport numpy as np\nprint(random.random(), np.random.rand())"
    first, second = (result.final.stdout for result in executor.execute([Request(code)] * 2))
    assert first != second
    with Executor(settings.model_copy(update={"seed_unseeded": 7}), workers=1) as seeded:
        third, fourth = (result.final.stdout for result in seeded.execute([Request(code)] * 2))
    assert third == fourth


@pytest.mark.parametrize(
    ("preload", "code"),
    [
        (("numpy", "numpy.random"), "import numpy as np\nprint(np.random.rand())"),
        (("sympy",), "from sympy.core.random import random\nprint(random())"),
        (("numpy", "scipy.stats"), "import scipy.stats\nprint(scipy.stats.norm.rvs())"),
    ],
    ids=["numpy", "sympy", "scipy"],
)
def test_a_generator_of_a_preloaded_module_differs_from_snippet_to_snippet(settings, preload, code):
    with Executor(settings.model_copy(update={"preload": preload}), workers=1) as executor:
        first, second = (result.final.stdout for result in executor.execute([Request(code)] * 2))
    assert first
    assert first != second


def test_dummy_symbols_are_the_same_in_every_server(settings):
    # sympy numbers them from a random number on; the order of sets of them hangs on it.
    code = "import sympy\nprint(sympy.srepr(sympy.Dummy()), [hash(sympy.Dummy(n)) for n in 'abc'])"
    with Executor(settings.model_copy(update={"recycle_after": 1}), workers=1) as executor:
        first, second = (result.final.stdout for result in executor.execute([Request(code)] * 2))
    assert b"dummy_index" in first
    assert first == second


@pytest.mark.parametrize(
    "code",
    [
        "import pandas as pd\nprint(pd.Series(range(1000)).sample(3).tolist())",
        "print(__import__('numpy').random.rand())",
    ],
    ids=["pandas", "not named"],
)
def test_a_seed_reaches_numpy_however_it_is_imported(settings, code):
    with Executor(settings.model_copy(update={"seed_unseeded": 7}), workers=1) as seeded:
        first, second = (result.final.stdout for result in seeded.execute([Request(code)] * 2))
    assert first
    assert first == second


def test_a_seed_needs_numpy_to_be_preloaded(settings):
    with pytest.raises(ConfigError, match="seed_unseeded"):
        Executor(settings.model_copy(update={"seed_unseeded": 7, "preload": ("sympy",)}))


def test_the_end_before_the_beginning_is_a_fault_of_ours():
    run = Run.__new__(Run)
    run._report, run._stop, run._tree = b"ended 9 1000 -1 0 0 0\n", None, None
    with pytest.raises(ServerError, match="before the snippet began"):
        run._outcome()


@pytest.mark.parametrize(
    ("processes", "patience", "stop"),
    [(1, PATIENCE, "starved"), (1, LAST_PATIENCE, "starved"), (9, PATIENCE, "starved"), (9, LAST_PATIENCE, "time")],
)
def test_a_tree_that_hides_its_time_cannot_end_a_run(processes, patience, stop):
    run = Run.__new__(Run)
    run._limits, run._patience, run._stop, run._report = Limits(time_s=1), patience, None, b""
    run._cancelled = lambda: False
    run._begun_ns = time.monotonic_ns() - int((patience + 1) * 1e9)
    run._tree = Tree(os.getpid(), 0)
    run._tree.sample = lambda: 0
    run._tree.peak_processes, run._tree.queue_ns = processes, int(patience * 1e9) * 2
    run._look()
    assert run._stop == stop


def test_a_second_attempt_is_alone(settings, monkeypatch):
    first, running, together = set(), [], []

    def once(self, code, variable, limits, preload, attempt):
        running.append(attempt)
        together.append(list(running))
        time.sleep(0.02)
        running.remove(attempt)
        record = ran(self, b"print(1)", variable, limits, preload, attempt) if code not in first else whole
        if attempt == 1 and code.endswith(b"fail"):
            first.add(code)
            return msgspec.structs.replace(record, payload=msgspec.structs.replace(record.payload, kind="infra_error"))
        return record

    ran = _Worker._once
    with Executor(settings, workers=4) as executor:
        whole = executor.execute([Request("print(1)")])[0].final
        monkeypatch.setattr(_Worker, "_once", once)
        codes = [f"{number} # {'fail' if number % 3 == 0 else ''}" for number in range(24)]
        results = executor.execute([Request(code) for code in codes])
    assert [result.final.payload.kind for result in results] == ["ok"] * 24
    assert any(len(attempts) > 1 for attempts in together)
    assert all(attempts == [2] for attempts in together if 2 in attempts)


def test_what_the_system_refuses_is_a_fault_of_ours(settings, monkeypatch):
    def refuse(*_):
        raise OSError(24, "Too many open files")

    with Executor(settings, workers=1) as executor:
        monkeypatch.setattr(os, "memfd_create", refuse)
        with pytest.raises(SandboxError, match="Too many open files"):
            executor.execute([Request("print(1)")])
        monkeypatch.undo()
        assert executor.execute([Request("print(1)")])[0].final.stdout == b"1\n"


def test_the_time_in_a_queue_is_part_of_the_time_that_passed(run):
    code = "import os\nfor _ in range(5): os.fork()\nwhile True: pass"
    envelope = run(code, time_s=0.5).envelope
    assert 0 <= envelope.queue_s <= envelope.wall_s


def test_a_server_is_replaced_after_its_time(settings):
    with Executor(settings.model_copy(update={"recycle_after": 3}), workers=1) as executor:
        results = executor.execute([Request(f"print({n})") for n in range(8)])
    assert [result.final.stdout for result in results] == [f"{n}\n".encode() for n in range(8)]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (b"import numpy.linalg as x, os", {"numpy", "os"}),
        (b"def f():\n    from sympy.abc import x, y", {"sympy"}),
        (b"import os, numpy as np, sympy.abc  # import scipy", {"os", "numpy", "sympy"}),
        (b"x = 1; import numpy", {"numpy"}),
        (b"try: import numpy\nexcept ImportError: pass", {"numpy"}),
        (b"important = 1", set()),
        (b"-" * 200_000 + b"1", set()),
        (b"(" * 200_000, set()),
        (b"from . import y", set()),
        (b"import (", set()),
        (b"\xff", set()),
        (b"", set()),
    ],
)
def test_imports_are_read_and_never_executed(code, names):
    assert imported(code) == names


def test_a_call_that_fails_takes_nothing_from_another_thread(executor):
    answers = []
    other = [Request(f"print({n})") for n in range(20)]
    thread = threading.Thread(target=lambda: answers.extend(executor.execute(other)))

    def fail(_done, _all):
        thread.start()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        executor.execute([Request("print(1)")] * 10, fail)
    thread.join(60)
    assert [answer.final.stdout for answer in answers] == [f"{n}\n".encode() for n in range(20)]


@pytest.mark.parametrize("preload", ["", "import numpy\n", "import sympy\n"])
def test_the_machinery_writes_nothing_of_its_own(executor, fresh, preload):
    for each in (executor, fresh):
        record = each.execute([Request(preload + "pass")])[0].final
        assert (record.payload.kind, record.stdout, record.stderr) == ("ok", b"", b"")


@pytest.fixture
def one_processor():
    """Keep what starts here on one processor."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import time\nwhile time.process_time() < 0.3: pass", "ok"),
        ("while True: pass", "timeout"),
    ],
)
@pytest.mark.usefixtures("one_processor")
def test_a_snippet_that_starved_gets_its_time_in_the_second_attempt(settings, busy, code, kind):
    # Of one processor the first attempt must get less than 0.3 s in 1.6 s, the second more than 0.4 s in 16 s.
    with busy(14), Executor(settings, workers=1) as executor:
        record = executor.execute([Request(code, limits=Limits(time_s=0.4))])[0].final
    assert record.payload.kind == kind
    assert record.envelope.attempt == 2
