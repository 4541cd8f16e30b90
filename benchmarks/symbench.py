"""SymBench: verdicts per second over the published pool, and 50 executed answers against plain interpreter starts.

    python benchmarks/symbench.py --data data/symbench

Both executions of a pair run one after the other on the same machine, so the ratio says more than the seconds.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from assay.config.executions import Executions
from assay.sandbox.executor import Executor
from assay.symbench.catalogue import TASKS
from assay.symbench.datasets import load_published
from assay.symbench.executing import execution_row, request
from assay.symbench.judging import MODES, code_output, judge
from assay.symbench.references import reference_answer
from assay.symbench.rows import TaskRow

ANSWERS, ROUNDS = 50, 5


def verdicts(samples: dict[str, list[TaskRow]]) -> None:
    """Judge every reference of the pool in every mode."""
    print(f"{'task':34} {'verdicts':>8} {'per second':>11}")
    total = spent = 0.0
    for task, rows in samples.items():
        texts = [(row, f"<<<{reference_answer(row) or 'no reference'}>>>") for row in rows]
        started = time.process_time()
        for row, text in texts:
            for profile, extraction in MODES:
                judge(row, text, None, profile, extraction)
        seconds, count = time.process_time() - started, len(texts) * len(MODES)
        total, spent = total + count, spent + seconds
        print(f"{task:34} {count:8} {count / max(seconds, 1e-9):11.0f}")
    print(f"{'all':34} {total:8.0f} {total / spent:11.0f}  ({spent:.1f} CPU s)")


def executions(sample: TaskRow) -> None:
    """Execute 50 answers in the sandbox and in a new interpreter each, in turn."""
    styles = {
        "prints the answer": "print('<<<{}>>>')",
        "assigns result silently": "result = '<<<{}>>>'",
        "assigns answer silently": "answer = '<<<{}>>>'",
    }
    answer = reference_answer(sample)
    with Executor(Executions(repeat_check_fraction=0.0)) as executor:
        for style, template in styles.items():
            ours, plain = [], []
            for number in range(ROUNDS + 1):
                responses = [
                    f"```python\n# {style} {number} {k}\n{template.format(answer)}\n```" for k in range(ANSWERS)
                ]
                requests = [request(sample.task, response) for response in responses]
                started = time.perf_counter()
                results = executor.execute([one for one in requests if one is not None])
                outputs = [execution_row("r", sample.query_id, 0, result) for result in results]
                right = sum(
                    judge(sample, response, code_output(output), "upstream", "echo").correct
                    for response, output in zip(responses, outputs, strict=True)
                )
                ours.append(time.perf_counter() - started)
                assert right == ANSWERS
                started = time.perf_counter()
                attempts = sum(output.attempts for output in outputs)
                with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
                    file.write(template.format(answer))
                    file.flush()
                    command = [sys.executable, "-c", f"exec(open({file.name!r}).read())"]
                    for _ in range(attempts):
                        subprocess.run(command, capture_output=True, check=False)
                plain.append(time.perf_counter() - started)
            # The first round starts the servers.
            a, b = statistics.median(ours[1:]), statistics.median(plain[1:])
            print(
                f"{style:25} {attempts} attempts: sandbox {a:6.2f} s, python3 each {b:6.2f} s, ratio {a / b:5.2f} "
                f"({executor.workers} workers)"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data/symbench"), help="samples (default: data/symbench)")
    parser.add_argument(
        "--task", action="append", choices=list(TASKS), metavar="TASK", help="only this one; repeatable"
    )
    args = parser.parse_args()
    samples = {task: load_published(args.data, task) for task in args.task or TASKS}
    verdicts(samples)
    executions(load_published(args.data, "string_insertion")[0])


if __name__ == "__main__":
    main()
