"""How fast the generators are: items per second and task, and one whole selection.

    python benchmarks/symbench_generate.py [ITEMS [REPETITIONS]]

Prints CPU time, which other processes on the machine disturb least: the best of the repetitions, and how much of the
time a task takes of the whole. Repetitions go round all tasks, so that a slow spell of the machine hits every task.
Each repetition has a seed of its own, so that no cache of items can help.
"""

import argparse
import time

import msgspec

from assay.symbench.generate import CLASSES, LARGE_SPACE, generate_rows, load_task
from assay.symbench.tasks.registry import TASK_MODULES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", type=int, nargs="?", default=20, help="items of each task (default: 20)")
    parser.add_argument("repetitions", type=int, nargs="?", default=3, help="the best counts (default: 3)")
    given = parser.parse_args()
    count, repetitions = given.items, given.repetitions
    best = dict.fromkeys(TASK_MODULES, float("inf"))
    sizes = dict.fromkeys(TASK_MODULES, 0)
    for task in TASK_MODULES:
        list(generate_rows(task, 1, 999))  # imports and caches that a process fills once
    for seed in range(repetitions):
        for task in TASK_MODULES:
            started = time.process_time()
            rows = list(generate_rows(task, count, seed))
            best[task] = min(best[task], time.process_time() - started)
            sizes[task] = sum(len(msgspec.json.encode(row)) for row in rows) // count
    total = sum(best.values())
    print(f"{'task':34s} {'items/s':>9s} {'ms/item':>8s} {'share':>6s} {'bytes/row':>9s}  levels with divided space")
    for task, seconds in sorted(best.items(), key=lambda pair: pair[1]):
        divided = [str(n) for n, level in enumerate(load_task(task).LEVELS, 1) if level.space() < LARGE_SPACE]
        print(
            f"{task:34s} {count / seconds:9.0f} {1000 * seconds / count:8.2f} {seconds / total:6.1%} {sizes[task]:9d}  "
            f"{', '.join(divided) or '-'}"
        )
    print(f"all 37 tasks, {count} items each: {total:.2f} s of CPU; 100 each: about {100 * total / count:.1f} s")
    print(f"(a divided space is drawn {CLASSES} times as often as it is used)")


if __name__ == "__main__":
    main()
