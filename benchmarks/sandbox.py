"""Speed of the sandbox: CPU time per execution, two workers against one, and verdicts under load.

    python benchmarks/sandbox.py [--rounds N] [--each N] [--scale] [--load]

Prints one row per snippet and backend: CPU milliseconds (user + system, of all processes involved, this one
included), and the ratio to bare `python -s -P`. Rounds are interleaved, so that other work on the machine falls on
all alike; the median over rounds is shown.
"""

import argparse
import multiprocessing
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path

from assay.config.executions import Executions
from assay.sandbox import watch, world
from assay.sandbox.executor import Executor
from assay.sandbox.records import Request

SNIPPETS = {
    "print": "print(1)\n",
    "numpy": "import numpy as np\nprint(np.arange(6).sum())\n",
    "sympy": "import sympy\nx = sympy.Symbol('x')\nprint(sympy.factor(x**2 - 1))\n",
}
MUST = {"print": 1.25, "numpy": 0.25, "sympy": 0.15}
TO_REACH = {"print": 0.7, "numpy": 0.12, "sympy": 0.09}
# Keeps a processor busy, and ends with its parent, however that ends.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
_TICK = os.sysconf("SC_CLK_TCK")


def cpu_now() -> float:
    """Return the CPU seconds of this process, of what it has reaped, and of its living servers with theirs."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    for pid in watch.descendants(os.getpid()):
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        total += sum(int(value) for value in fields[11:15]) / _TICK
    return total


def human_eval_style(code: str) -> None:
    """Run code as the common checkers do: one manager and one forked process per snippet, no isolation."""

    def body(result: list) -> None:
        exec(code, {})  # noqa: S102 - our own three snippets
        result.append("passed")

    context = multiprocessing.get_context("fork")
    with context.Manager() as manager:
        result = manager.list()
        process = context.Process(target=body, args=(result,))
        process.start()
        process.join(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--each", type=int, default=20, help="executions per round and backend")
    parser.add_argument("--scale", action="store_true", help="also compare one worker with two")
    parser.add_argument("--load", action="store_true", help="also give verdicts under load")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    # An environment of its own: what others have installed beside this interpreter must not slow its start.
    venv.create(folder / "venv", with_pip=False)
    python = str(folder / "venv" / "bin" / "python")
    site = str(Path(world.packages(Executions().distributions)[0].source).parent)
    environment = {**world.ENVIRONMENT, "HOME": "/", "TMPDIR": "/tmp", "PATH": "/usr/bin:/bin", "PYTHONPATH": site}

    def quietly(command: list[str]) -> None:
        subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)

    settings = Executions(repeat_check_fraction=0)
    with (
        Executor(settings, workers=1) as warm,
        Executor(settings.model_copy(update={"backend": "fresh"}), workers=1) as fresh,
    ):
        print("CPU time per execution, and its ratio to a bare fresh interpreter")
        print(f"{'snippet':8} {'backend':16} {'CPU ms':>8} {'ratio':>7}   must   to reach")
        for name, code in SNIPPETS.items():
            file = folder / f"{name}.py"
            file.write_text(code)
            command = [python, "-s", "-P", str(file)]
            ways: dict[str, Callable[[], object]] = {
                "bare fresh": lambda command=command: quietly(command),
                "warm": lambda code=code: warm.execute([Request(code)]),
                "fresh isolated": lambda code=code: fresh.execute([Request(code)]),
                "human-eval style": lambda code=code: human_eval_style("print = lambda *a: None\n" + code),
            }
            if bubblewrap := shutil.which("bwrap"):
                wrapped = [bubblewrap, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
                ways["bubblewrap"] = lambda w=wrapped, c=command: quietly([*w, *c])
            for way in ways.values():
                way()
            spent: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(args.rounds):
                for way, function in ways.items():
                    before = cpu_now()
                    for _ in range(args.each):
                        function()
                    spent[way].append((cpu_now() - before) / args.each * 1000)
            base = statistics.median(spent["bare fresh"])
            for way, values in spent.items():
                value = statistics.median(values)
                bounds = f"{MUST[name]:>6} {TO_REACH[name]:>8}" if way == "warm" else ""
                print(f"{name:8} {way:16} {value:8.2f} {value / base:7.3f} {bounds}", flush=True)
    shutil.rmtree(folder)
    if args.scale:
        scale(settings)
    if args.load:
        load(settings)


def scale(settings: Executions) -> None:
    """Print how many times the executions per second of one worker two give."""
    rates = []
    for workers in (1, 2) * 3:
        with Executor(settings, workers=workers) as executor:
            executor.execute([Request("print(1)")] * 20)
            begun = time.monotonic()
            executor.execute([Request("sum(i * i for i in range(200_000))")] * 100)
            rates.append(100 / (time.monotonic() - begun))
    one, two = statistics.median(rates[::2]), statistics.median(rates[1::2])
    print(f"one worker {one:.1f}/s, two workers {two:.1f}/s, ratio {two / one:.2f}; on two idle cores 1.7")


def load(settings: Executions) -> None:
    """Print verdicts at a limit of 3 s while six processes keep the processors busy."""
    from assay.sandbox.records import Limits

    busy = [subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True) for _ in range(6)]
    limits = Limits(time_s=3)
    work = (
        "import time\nend = time.process_time() + 1.2\nwhile time.process_time() < end: pass\n",
        "import time\ntime.sleep(3.5)\n",
        "while True: pass\n",
    )
    print("verdicts under load: limit 3 s, six busy processes")
    try:
        with Executor(settings, workers=2) as executor:
            for code, wanted in zip(work, ("ok", "timeout", "timeout"), strict=True):
                results = executor.execute([Request(code, limits=limits)] * 20)
                kinds = [result.final.payload.kind for result in results]
                print(f"{kinds.count(wanted)} of 20 {wanted}: {code.splitlines()[-1]}")
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
