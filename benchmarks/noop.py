"""No-op cost: our plan inside Snakemake against a bare Snakemake workflow with a DAG of the same size.

    python benchmarks/noop.py [--jobs 50 500 5000] [--rounds 3]

The bare workflow has as many jobs, and each declares as many files as an artifact of ours.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "engine"))

from project import Project  # noqa: E402

from assay.artifact.stages import STAGES  # noqa: E402

FILES = [*STAGES["queries"].outputs, "manifest.json"]
BARE = """
N = {jobs}
rule all:
    input: expand("out/{{i}}/manifest.json", i=range(N))
rule one:
    output: expand("out/{{{{i}}}}/{{name}}", name={files})
    shell: "touch {{output}}"
"""


def seconds(run, times: int) -> float:
    """Return the median of CPU seconds (user and system, children included)."""
    import resource

    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(found)


def main() -> None:
    """Print one line per size: CPU seconds of both, their ratio, and the target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=[50, 500, 5000], help="sizes of the plan")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    for jobs in args.jobs:
        with tempfile.TemporaryDirectory() as folder:
            bare = Path(folder) / "bare"
            for i in range(jobs):
                (bare / f"out/{i}").mkdir(parents=True)
                for name in FILES:
                    (bare / f"out/{i}" / name).touch()
            (bare / "Snakefile").write_text(BARE.format(jobs=jobs, files=FILES))
            ours = Project.create(Path(folder) / "ours", Path(folder) / "cache")
            ours.edit("configs/experiments/toy.yaml", "[tiny-a, copied]", "[tiny-a]")
            # One queries artifact per job: real plan, real manifests, nothing to compute.
            pipeline = ours.folder / "src/assay/toy/pipeline.py"
            pipeline.write_text(
                '"""Many small artifacts."""\n\nfrom assay.artifact.job import Job\n\n\n'
                "def jobs(configs):\n"
                f"    for i in range({jobs}):\n"
                '        facts = {"facts": [{"subject": str(i), "object": "x"}], "repeats": 1}\n'
                '        yield Job("queries", f"toy{i}", "assay.toy.builder:build", facts)\n\n\n'
                "def published(configs):\n    return {}\n"
            )
            made = "from assay.plan import open_project; p = open_project(); [p.maker.make(a) for a in p.plan.values()]"
            ours.call(sys.executable, "-c", made)
            ours.call("snakemake", "--cores", "2", "results/table.csv")
            command = ["snakemake", "--cores", "2"]

            def run_bare(place: Path = bare, command: list[str] = command) -> None:
                subprocess.run(command, cwd=place, check=True, capture_output=True)

            def run_ours(project: Project = ours, command: list[str] = command) -> None:
                text = project.call(*command)
                assert "Nothing to be done" in text

            started = time.monotonic()
            rounds = [(seconds(run_bare, 1), seconds(run_ours, 1)) for _ in range(args.rounds)]
            floor, cost = (statistics.median(values) for values in zip(*rounds, strict=True))
            verdict = "reached" if cost <= 1.3 * floor + 0.3 else "not reached"
            print(
                f"{jobs} jobs: bare {floor:.2f} s, ours {cost:.2f} s CPU, ratio {cost / floor:.2f}; "
                f"to reach 1.3 x bare + 0.3 s = {1.3 * floor + 0.3:.2f} s: {verdict} "
                f"({time.monotonic() - started:.0f} s for {args.rounds} rounds)"
            )


if __name__ == "__main__":
    main()
