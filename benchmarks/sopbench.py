"""Speed of the evaluator: CPU seconds per 1,000 published trajectories on one core, reading included.

Run it as ``python benchmarks/sopbench.py ../shared/data/sopbench``. Each figure is the best of the repeats, of
decompressing, parsing and judging one file whose tasks are prepared; tasks are prepared once per process. The
authors' code needs 5.0 to 13.1 CPU seconds per 1,000 without reading.
"""

import argparse
import time
from pathlib import Path

from assay.sopbench.conformance import ReplaySuite, read_replays

GOAL_S = 0.25
UPSTREAM_S = {"bank": 6.6, "dmv": 10.3, "healthcare": 8.4, "library": 5.0, "university": 13.1}


def seconds(path: Path, suite: ReplaySuite) -> tuple[float, float, int]:
    """Return CPU seconds of reading and judging, of reading alone, and the number of trajectories."""
    start = time.process_time()
    count = 0
    for row in read_replays(path):
        suite.verdict(row, "list")
        count += 1
    whole = time.process_time() - start
    start = time.process_time()
    for _ in read_replays(path):
        pass
    return whole, time.process_time() - start, count


def main() -> None:
    """Print one line per file and the worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="FOLDER", help="replays and tasks")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    suite = ReplaySuite(args.data)
    files = [*sorted(args.data.glob("replays_*.jsonl.xz")), args.data / "constructed_traces.jsonl.xz"]
    worst = 0.0
    for path in files:
        for row in read_replays(path):
            suite.prepared(row, "list")
        runs = [seconds(path, suite) for _ in range(args.repeats)]
        whole, reading, count = min(runs)
        per_thousand = 1000 * whole / count
        worst = max(worst, per_thousand)
        name = path.name.removesuffix(".jsonl.xz").removeprefix("replays_")
        authors = UPSTREAM_S.get(name)
        times = f"  authors' code: {authors / per_thousand:.0f} times slower" if authors else ""
        figures = f"{per_thousand:.3f} s per 1,000 (reading {1000 * reading / count:.3f})"
        print(f"{name:20} {count:6} trajectories  {figures}{times}")
    print(f"worst {worst:.3f} s per 1,000; the goal is {GOAL_S}")


if __name__ == "__main__":
    main()
