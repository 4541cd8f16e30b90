"""Speed of the internal metrics: against a plain loop, against reading the states once, and at the real size.

    python benchmarks/fks_internals.py loop      200 facts, one vectorised cosine per pair of facts and families
    python benchmarks/fks_internals.py read      ISS (none, center) against reading the states once
    python benchmarks/fks_internals.py real      44,416 queries x 2,592 facts x 11 layers x 2,304, from disk

Times of a busy machine mean little: rivals run in turn, CPU time is taken, and the ratio of the best of each is
printed. Set OPENBLAS_NUM_THREADS=1 for one core.
"""

import argparse
import itertools
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np

from assay.fks.internal import FactSelection, layer_views, measure_layer
from assay.fks.internal_rows import RowOrder, StateQuery
from assay.fks.internal_run import LayerReader, run_internal
from assay.fks.iss import iss as internal_iss
from assay.fks.metric_settings import InternalSettings, Whitening
from assay.fks.states import open_states
from assay.fks.vectors import Scratch, relation_vectors
from assay.records.jsonl import write_rows

FAMILIES = ("anchor", "paraphrase", "format", "context", "multilingual")
# Of 2,592 facts, how many have how many queries of a family, as the published files have them: 39,260 queries of the
# main families and 5,156 that the internal metrics must leave out.
CARD_FACTS = 2592
SIZES = {
    "anchor": ((1, 2592),),
    "paraphrase": ((4, 2277), (3, 315)),
    "format": ((3, 2592),),
    "context": ((3, 1647), (2, 944), (0, 1)),
    "multilingual": ((5, 2402), (0, 190)),
}
OTHERS = {
    "reverse": ((3, 128), (2, 125), (0, 2339)),
    "recognition": ((2, 827), (1, 1758), (0, 7)),
    "reverse_illposed": ((1, 1110), (0, 1482)),
}


def queries_of(fact: int, sizes: tuple[tuple[int, int], ...]) -> int:
    """Return how many queries this fact has: the sizes are mixed evenly over the facts."""
    place = fact * 1597 % CARD_FACTS  # 1597 and the number of facts share no divisor, so each place is taken once
    for size, facts in sizes:
        if place < facts:
            return size
        place -= facts
    raise AssertionError("the sizes cover all facts")


def make_queries(
    n_facts: int, n_relations: int, families: dict[str, tuple[tuple[int, int], ...]] = SIZES
) -> list[StateQuery]:
    """Return queries in the order of a published file: fact after fact, relations mixed; two hold a third."""
    queries = []
    for fact in range(n_facts):
        relation = fact % 2 if fact % 3 == 0 else 2 + fact % (n_relations - 2)
        for family, sizes in families.items():
            queries += [
                StateQuery(f"f{fact:05d}_{family}_{k}", f"f{fact:05d}", f"r{relation:02d}", family)
                for k in range(queries_of(fact, sizes))
            ]
    return queries


def write_states(folder: Path, queries: list[StateQuery], layers: int, width: int, shard_rows: int = 1024) -> None:
    """Random bfloat16 states around one centre per fact."""
    index = []
    for number, start in enumerate(range(0, len(queries), shard_rows)):
        part = queries[start : start + shard_rows]
        rng = np.random.default_rng([7, number])
        states = rng.standard_normal((len(part), layers, width), dtype=np.float32)
        for row, query in enumerate(part):
            centre = np.random.default_rng([8, int(query.fact_id[1:])]).standard_normal(width, dtype=np.float32)
            states[row] += 0.5 * centre
        raw = (states.view(np.uint32) >> 16).astype(np.uint16)
        meta = {"layers": list(range(layers)), "top_state": "block_output", "model_id": "random"}
        head = {"__metadata__": {"fks": json.dumps(meta)}, "h": {"dtype": "BF16", "shape": list(raw.shape)}}
        head["h"]["data_offsets"] = [0, raw.nbytes]
        text = json.dumps(head).encode()
        name = f"hidden-{number:05d}.safetensors"
        (folder / name).write_bytes(len(text).to_bytes(8, "little") + text + raw.tobytes())
        index += [{"query_id": query.query_id, "shard": name, "row": row} for row, query in enumerate(part)]
    write_rows(folder / "index.jsonl", index)


def best_of(rivals: dict, rounds: int) -> dict[str, float]:
    """Run rivals in turn; return the best CPU time of each."""
    times = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, call in rivals.items():
            start = time.process_time()
            call()
            times[name].append(time.process_time() - start)
    return {name: min(values) for name, values in times.items()}


def loop_iss(order: RowOrder, states: np.ndarray) -> list[float]:
    """ISS with one vectorised cosine matrix per pair of (fact, family) sets."""
    of: dict[tuple[str, str], list[int]] = {}
    for row, query in enumerate(order.queries):
        of.setdefault((query.fact_id, query.family), []).append(row)
    sets = {key: states[rows] / np.linalg.norm(states[rows], axis=1, keepdims=True) for key, rows in of.items()}
    values = []
    for fact in order.facts:
        plus, minus = [], []
        for f, g in itertools.combinations([f for f in FAMILIES if (fact, f) in sets], 2):
            plus.append((sets[fact, f] @ sets[fact, g].T).mean())
            one = [(sets[fact, f] @ sets[j, g].T).mean() for j in order.facts if j != fact and (j, g) in sets]
            two = [(sets[fact, g] @ sets[j, f].T).mean() for j in order.facts if j != fact and (j, f) in sets]
            minus.append((np.mean(one) + np.mean(two)) / 2)
        values.append((np.mean(plus) - np.mean(minus)) / (1 - np.mean(minus)))
    return values


def loop_kts(order: RowOrder, states: np.ndarray) -> tuple[float, float]:
    """KTS-Geo and KTS-ID with one distance and one cosine per pair of facts."""
    from scipy.stats import spearmanr

    of: dict[tuple[str, str], list[int]] = {}
    for row, query in enumerate(order.queries):
        of.setdefault((query.fact_id, query.family), []).append(row)
    mean = {key: states[rows].mean(axis=0) for key, rows in of.items()}
    rhos, hits = [], []
    for f, g in itertools.combinations(FAMILIES, 2):
        facts = [fact for fact in order.facts if (fact, f) in mean and (fact, g) in mean]
        distances = [
            [np.linalg.norm(mean[i, family] - mean[j, family]) for i, j in itertools.combinations(facts, 2)]
            for family in (f, g)
        ]
        rhos.append(spearmanr(*distances).statistic)
        for a, b in ((f, g), (g, f)):
            unit = {fact: mean[fact, b] / np.linalg.norm(mean[fact, b]) for fact in facts}
            right = 0
            for fact in facts:
                cosines = [mean[fact, a] @ unit[other] for other in facts]
                right += facts[int(np.argmax(cosines))] == fact
            hits.append((right / len(facts) - 1 / len(facts)) / (1 - 1 / len(facts)))
    return float(np.mean(rhos)), float(np.mean(hits))


def against_loop(n_facts: int = 200, width: int = 576) -> None:
    """Print how much faster ISS and KTS are than their loops, and that they agree."""
    queries = [StateQuery(q.query_id, q.fact_id, "r", q.family) for q in make_queries(n_facts, 21)]
    facts = sorted({query.fact_id for query in queries})
    order = RowOrder.of(queries, FAMILIES, facts)
    rng = np.random.default_rng(0)
    centre = {fact: rng.normal(size=width) for fact in facts}
    states = np.stack([centre[q.fact_id] + rng.normal(size=width) for q in order.queries])
    chosen = [FactSelection(tuple(range(5)), np.ones(len(facts), dtype=bool))]
    settings = InternalSettings(iss_whitening=("none",), kts_id_whitening="none")

    def take(start: int, stop: int) -> np.ndarray:
        return states[start:stop]

    ours = {}
    loops = {}
    times = best_of(
        {
            "ours": lambda: ours.update(r=measure_layer(take, order, width, chosen, settings)[0]),
            "loop": lambda: loops.update(iss=loop_iss(order, states), kts=loop_kts(order, states)),
        },
        2,
    )
    result = ours["r"]
    np.testing.assert_allclose(result.iss["none"], loops["iss"], atol=1e-9)
    np.testing.assert_allclose([result.geo["r"], result.retrieval["cosine"]["r"]], loops["kts"], atol=1e-9)
    print(
        f"{n_facts} facts, {len(queries)} queries, width {width}: ISS and KTS together {times['ours']:.3f} s, loop "
        f"{times['loop']:.2f} s, ratio {times['loop'] / times['ours']:.0f}x (values agree to 1e-9)"
    )


def against_reading(n_facts: int = 600, layers: int = 4, width: int = 2304) -> None:
    """Print the time of ISS (none, center, both) against one read of the same states as float32.

    Three ways to read them once: with the library of the file format, which is what a script would do; layer by layer
    into an array that holds the layer; and in pieces that stay in the processor's cache, which keeps nothing. Reading
    is a part of what is timed for ISS.
    """
    from safetensors import safe_open

    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        queries = make_queries(n_facts, 21)
        write_states(Path(folder), queries, layers, width)
        facts = sorted({query.fact_id for query in queries})
        order = RowOrder.of(queries, FAMILIES, facts)
        states = open_states(Path(folder), [query.query_id for query in order.queries])
        settings = InternalSettings(iss_whitening=("none", "center"), kts_id_whitening="none")
        scratch = Scratch()

        def library() -> None:
            for shard in states.shards:
                with safe_open(shard.path, framework="pt") as file:
                    file.get_tensor("h").float()

        def by_layer() -> None:
            for place in range(layers):
                states.take(0, len(states), place, np.empty((len(states), width), dtype=np.float32))

        def in_cache() -> None:
            for place in range(layers):
                take = LayerReader(states, place, memory_mib=0, scratch=scratch)
                for rows in order.relations:
                    for chunk in rows.chunks:
                        take(chunk.start, chunk.stop)

        def iss(*modes: Whitening) -> None:
            chosen = msgspec.structs.replace(settings, iss_whitening=modes)
            for place in range(layers):
                take = LayerReader(states, place, settings.memory_mib, scratch)
                forms = layer_views(take, len(states), width, chosen)
                for rows in order.relations:
                    vectors = relation_vectors(take, rows, width, forms, modes, (), scratch=scratch)
                    for units in vectors.units.values():
                        internal_iss(units.cosines(vectors.has)[0])

        times = best_of(
            {
                "library": library,
                "by layer": by_layer,
                "in cache": in_cache,
                "none": lambda: iss("none"),
                "center": lambda: iss("center"),
                "none and center": lambda: iss("none", "center"),
            },
            6,
        )
    print(f"{len(queries)} queries x {layers} layers x {width}; to reach: at most 3x of reading once, layer by layer")
    for mode in ("none", "center", "none and center"):
        ratios = ", ".join(f"{times[mode] / times[way]:.1f}x {way}" for way in ("library", "by layer", "in cache"))
        print(f"  ISS {mode}: {times[mode]:.2f} s = {ratios}")


def real_size(folder: Path | None, layers: int, width: int, memory_gib: float) -> None:
    """Run every internal metric over states of the published size and print time and peak memory."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-", dir=folder) as place:
        queries = make_queries(CARD_FACTS, 21)
        both = queries + make_queries(CARD_FACTS, 21, OTHERS)
        start = time.perf_counter()
        write_states(Path(place), sorted(both, key=lambda query: query.fact_id), layers, width)
        size = sum(path.stat().st_size for path in Path(place).iterdir())
        print(
            f"{len(both)} queries, {len(queries)} of the main families, {size / 2**30:.2f} GiB "
            f"written in {time.perf_counter() - start:.0f} s",
            flush=True,
        )
        # A child, so that the peak is that of the metrics and not of the writing.
        pid = os.fork()
        if pid == 0:
            # Address space is not what counts: maps of the states are in it, and they cost no memory.
            start, cpu = time.perf_counter(), time.process_time()
            facts = sorted({query.fact_id for query in queries})
            number = {fact: int(fact[1:]) for fact in facts}
            copy = np.array([number[fact] % 7 < 2 for fact in facts])
            complete = np.array([all(queries_of(number[fact], sizes) for sizes in SIZES.values()) for fact in facts])
            every = np.ones(len(facts), dtype=bool)
            chosen = [
                FactSelection(families, a & b)
                for families in ((0, 1, 2, 3, 4), (1, 2, 3, 4))
                for a in (every, complete)
                for b in (every, copy, ~copy)
            ]
            run = run_internal(Path(place), queries, FAMILIES, facts, chosen, InternalSettings())
            values = [float(np.nanmean(layer[0].iss["zca"])) for layer in run.results["raw"]]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"ISS by layer {values[0]:.4f} .. {values[-1]:.4f}; {time.perf_counter() - start:.0f} s wall, "
                f"{time.process_time() - cpu:.0f} s CPU, peak {peak:.2f} GiB (maps included)",
                flush=True,
            )
            os._exit(0 if peak <= memory_gib else 3)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            sys.exit(f"the run failed or passed {memory_gib} GiB (exit code {code})")


def main() -> None:
    """Parse the command line and run one part, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["loop", "read", "real", "all"])
    parser.add_argument("--folder", type=Path, help="where the states are written (default: the temporary folder)")
    parser.add_argument("--layers", type=int, default=11)
    parser.add_argument("--width", type=int, default=2304)
    parser.add_argument("--memory-gib", type=float, default=4.0)
    args = parser.parse_args()
    if args.part in {"loop", "all"}:
        against_loop()
    if args.part in {"read", "all"}:
        against_reading()
    if args.part in {"real", "all"}:
        real_size(args.folder, args.layers, args.width, args.memory_gib)


if __name__ == "__main__":
    main()
