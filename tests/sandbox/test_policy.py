import json

import pytest
import yaml
from pydantic import ValidationError

from assay.config.executions import Executions
from assay.errors import SandboxError
from assay.sandbox import mechanism
from assay.sandbox.guarantees import GUARANTEES, Probe, check_policy
from assay.sandbox.records import Request


def probe(*missing):
    return Probe(
        mechanism="landlock",
        held=tuple(name for name in GUARANTEES if name not in missing),
        missing=dict.fromkeys(missing, "seen to fail"),
        refused={"namespaces": "user namespace refused: EPERM"},
        kernel="6.1",
        landlock_abi=4,
        proc="host",
        fixed_addresses=True,
    )


def test_require_passes_when_all_required_guarantees_hold():
    assert check_policy(Executions(), probe("disk_capped")) is None


@pytest.mark.parametrize("name", Executions().isolation_required)
def test_require_names_what_is_missing_why_and_what_helps(name):
    with pytest.raises(SandboxError) as caught:
        check_policy(Executions(), probe(name))
    text = str(caught.value)
    for part in (name, "seen to fail", "user namespace refused: EPERM", GUARANTEES[name][1], "isolation: prefer"):
        assert part in text


def test_prefer_warns_of_every_missing_guarantee():
    warning = check_policy(Executions(isolation="prefer"), probe("disk_capped", "read_confined"))
    assert "disk_capped" in warning
    assert "read_confined" in warning
    assert check_policy(Executions(isolation="prefer"), probe()) is None


def test_off_needs_the_setting_that_names_the_risk():
    with pytest.raises(ValidationError, match="model_code_may_read_and_change_my_files"):
        Executions(isolation="off")
    settings = Executions(isolation="off", model_code_may_read_and_change_my_files=True)
    assert "off" in check_policy(settings, probe())


@pytest.mark.parametrize(
    ("missing", "world"), [((), "closed"), (("disk_capped",), "closed"), (("read_confined",), "open")]
)
def test_the_world_is_open_when_something_outside_can_be_reached(missing, world):
    assert probe(*missing).world == world


@pytest.mark.parametrize(("failures", "backend"), [(0, "namespaces"), (1, "namespaces"), (2, "landlock")])
def test_one_failure_decides_nothing_about_the_confinement(monkeypatch, failures, backend):
    left = [mechanism.ServerError("the server does not answer")] * failures

    class Started:
        def __init__(self, _plan):
            if left:
                raise left.pop()

        def close(self):
            pass

    monkeypatch.setattr(mechanism, "Server", Started)
    monkeypatch.setattr(mechanism.linux, "landlock_abi", lambda: 7)
    chosen, refused = mechanism.choose(Executions())
    assert (chosen, list(refused)) == (backend, ["namespaces"] if failures == 2 else [])


def test_records_carry_what_holds(run, executor):
    record = run("print(1)")
    assert record.envelope.guarantees == executor.probe.held
    assert record.payload.world == "closed"


@pytest.fixture
def config(tmp_path):
    def write(**values):
        path = tmp_path / "executions.yaml"
        path.write_text(yaml.safe_dump(values))
        return path

    return write


def test_a_missing_guarantee_ends_the_command_before_any_execution(command, config, tmp_path):
    snippet = tmp_path / "snippet.py"
    snippet.write_text("print('ran')")
    path = config(isolation_required=["disk_capped"])
    done = command("sandbox", "run", snippet, "--config", path, contained=True)
    assert done.returncode == SandboxError.exit_code
    assert "ran" not in done.stdout
    for part in ("disk_capped", "4 are allowed", "allow user namespaces", "isolation: prefer"):
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_prefer_leaves_its_mark(command, config, tmp_path):
    snippet = tmp_path / "snippet.py"
    snippet.write_text("print('ran')")
    done = command("sandbox", "run", snippet, "--config", config(isolation="prefer"), contained=True)
    assert done.returncode == 0, done.stderr
    assert "disk_capped" in done.stderr
    record = json.loads(done.stdout)
    assert record["payload"]["stdout"]["text"] == "ran\n"
    assert record["envelope"]["mechanism"] == "landlock"
    assert "disk_capped" not in record["envelope"]["guarantees"]


def test_off_leaves_its_mark(command, config, tmp_path):
    snippet = tmp_path / "snippet.py"
    snippet.write_text("print('ran')")  # harmless: nothing else may run without isolation
    path = config(isolation="off", model_code_may_read_and_change_my_files=True)
    done = command("sandbox", "run", snippet, "--config", path, ordinary=False)
    assert done.returncode == 0, done.stderr
    assert "isolation is off" in done.stderr
    record = json.loads(done.stdout)
    assert record["payload"]["world"] == "open"
    assert record["envelope"]["mechanism"] == "plain"


@pytest.mark.parametrize(
    ("values", "mark"),
    [
        ({}, None),
        ({"isolation": "prefer"}, "prefer"),
        ({"isolation": "off", "model_code_may_read_and_change_my_files": True}, "off"),
    ],
    ids=["require", "prefer", "off"],
)
def test_the_mark_is_in_the_recipe_and_in_every_row_of_the_table(root, tmp_path, values, mark):
    from assay.config.load import load_configs
    from assay.symbench import pipeline

    (tmp_path / "configs/experiments").mkdir(parents=True)
    for path in (root / "configs").glob("*.yaml"):
        (tmp_path / "configs" / path.name).write_text(path.read_text())
    (tmp_path / "configs/executions.yaml").write_text(yaml.safe_dump(values))
    experiment = {"models": ["tiny-a"], "seeds": [0], "benchmarks": {"symbench": {"tasks": ["navigate"]}}}
    (tmp_path / "configs/experiments/one.yaml").write_text(json.dumps(experiment))
    (tmp_path / "configs/experiment.yaml").write_text("use: one\n")
    jobs = list(pipeline.jobs(load_configs(tmp_path)))
    executed = [job.config["executions"] for job in jobs if job.stage == "executions"]
    assert executed
    assert {section["isolation"] for section in executed} == {mark or "require"}
    runs = [run for job in jobs if job.stage == "metrics" for run in job.config.get("runs", [])]
    assert runs
    assert {run["setting"].get("isolation") for run in runs} == {mark}


def test_probe_shows_every_guarantee(command, config):
    done = command("sandbox", "probe", "--config", config())
    assert done.returncode == 0, done.stderr
    for name, (meaning, _) in GUARANTEES.items():
        assert f"{name}: {meaning}" in done.stdout


@pytest.mark.parametrize("ordinary", [False, True], ids=["this user", "unprivileged"])
def test_probe_gives_reason_and_remedy_for_all_that_is_missing(command, ordinary):
    done = command("sandbox", "probe", ordinary=ordinary, contained=True)
    lines = done.stdout.splitlines()
    missing = [number for number, line in enumerate(lines) if line.startswith("MISSING")]
    assert any("disk_capped" in lines[number] for number in missing)
    for number in missing:
        name = lines[number].split()[1].rstrip(":")
        assert lines[number + 1].strip().startswith("why: ")
        assert len(lines[number + 1].strip()) > len("why: ")
        assert lines[number + 2].strip() == f"what helps: {GUARANTEES[name][1]}"
    assert any(line.startswith("refused    namespaces: ") and " refused: " in line for line in lines)
    assert len(missing) + sum(line.startswith("holds") for line in lines) == len(GUARANTEES)


@pytest.mark.parametrize(
    ("text", "status", "part"),
    [
        ("interpreter: /no/such/python", 7, "/no/such/python"),
        ("interpreter: /bin/true", 7, "/bin/true"),
        ("distributions: [no-such-distribution]", 3, "no-such-distribution"),
        ("preload: [no_such_module]", 3, "no_such_module"),
        ("distributions: [numpy]", 3, "sympy"),
        ("limits: {processes: 1.5}", 3, "limits.processes"),
        ("limits: {tree_memory_mb: 100000000}", 7, "MiB"),
    ],
)
def test_settings_that_cannot_work_end_with_a_sentence(command, tmp_path, text, status, part):
    path, snippet = tmp_path / "executions.yaml", tmp_path / "snippet.py"
    path.write_text(text)
    snippet.write_text("import no_such_module")
    done = command("sandbox", "run", snippet, "--config", path)
    assert done.returncode == status, done.stderr
    assert part in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("limit", ["0", "nan", "inf", "soon"])
def test_a_time_limit_that_is_none_is_refused(command, tmp_path, limit):
    snippet = tmp_path / "snippet.py"
    snippet.write_text("print(1)")
    done = command("sandbox", "run", snippet, f"--limit={limit}")
    assert done.returncode == 2, done.stderr
    assert f"'{limit}' is no number of seconds above 0" in done.stderr


@pytest.mark.parametrize("data", [b"x = 'a\0b'", b"s = '\xff\xfe'"], ids=["NUL", "no UTF-8"])
def test_odd_files_get_a_record(command, tmp_path, data):
    snippet = tmp_path / "snippet.py"
    snippet.write_bytes(data)
    done = command("sandbox", "run", snippet)
    assert (done.returncode, json.loads(done.stdout)["payload"]["kind"]) == (0, "error"), done.stderr


def test_variables_from_the_command_line(command, tmp_path):
    snippet = tmp_path / "snippet.py"
    snippet.write_text("answer = 42")
    done = command("sandbox", "run", snippet, "--print", "result", "--print", "answer", "--backend", "fresh")
    assert done.returncode == 0, done.stderr
    decoder = json.JSONDecoder()
    first, end = decoder.raw_decode(done.stdout)
    second, _ = decoder.raw_decode(done.stdout[end:].strip())
    assert [first["payload"]["mode"], second["payload"]["mode"]] == ["print-variable result", "print-variable answer"]
    assert second["payload"]["stdout"]["text"] == "42\n"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("isolation: strong", "isolation"),
        ("limits: {wall: 3}", "limits.wall"),
        ("limits: {time_s: 0}", "limits.time_s"),
        ("workers: 0", "workers"),
        ("[", "YAML"),
        ("isolation: off", "model_code_may_read_and_change_my_files"),
    ],
)
def test_a_wrong_config_is_named(command, tmp_path, text, part):
    path = tmp_path / "executions.yaml"
    path.write_text(text)
    done = command("sandbox", "probe", "--config", path)
    assert done.returncode == 3, done.stderr
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_standard_input_is_named(command):
    program = (
        "import os, sys\nos.close(0)\nos.execv(sys.executable, [sys.executable, '-m', 'assay.cli.main', *sys.argv[1:]])"
    )
    done = command("sandbox", "run", "-", program=("-c", program))
    assert done.returncode == 4
    assert "the snippet cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_snippet_is_named(command, tmp_path):
    done = command("sandbox", "run", tmp_path / "none.py")
    assert done.returncode == 4
    assert "none.py" in done.stderr


def test_default_config_file_agrees_with_the_defaults(root):
    values = yaml.safe_load((root / "configs" / "executions.yaml").read_text())
    assert Executions.model_validate(values) == Executions()


def test_a_repeated_request_gives_one_digest(executor):
    first, second = executor.execute([Request("print({1, 'a'})")] * 2)
    assert first.final.payload_sha256 == second.final.payload_sha256


def test_a_config_that_was_asked_for_must_be_there(command, tmp_path):
    snippet = tmp_path / "snippet.py"
    snippet.write_text("print(1)")
    done = command("sandbox", "run", snippet, "--config", tmp_path / "absent.yaml")
    assert done.returncode == 3
    assert "absent.yaml: the file does not exist" in done.stderr
    assert not done.stdout
