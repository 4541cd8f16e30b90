"""Packed batches against padded ones: the same prompts, the same model, the same texts, who is faster.

    python benchmarks/generation.py --model FOLDER [--lm-eval PYTHON] [--rounds 3]

FOLDER is a model folder (config, safetensors, tokenizer). PYTHON is the interpreter of an environment in which
lm-evaluation-harness is installed; it needs one of its own, and is left out otherwise. Every run is a fresh process
that loads the model, reports that it is ready, and is timed from the signal to the last text. Methods take turns in
rounds and medians are compared, since the speed of a machine drifts. With several processes each gets its share of
the prompts and one thread; a single process gets as many threads as there are processors.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BATCH_SIZES = (8, 16, 32, 64)
NEW_TOKENS = 24
PATTERNS = (
    "Answer the question with a short factual answer only.\nQuestion: What is the capital of {0}?\nAnswer:",
    "What is the capital city of {0}?\nAnswer:",
    "Which city is the seat of government of {0}?\nAnswer:",
    "The capital of {0} is\nAnswer:",
    "Country: {0}\nCapital:\nAnswer:",
    'Complete the JSON object and return it: {{"country": "{0}", "capital": "..."}}\nAnswer:',
    "{1} is the largest of its neighbours by area. What is the capital of {0}?\nAnswer:",
    "The weather had been fine all week and the quiz was about to begin. Which city is the capital of {0}?\nAnswer:",
    "Pays : {0}. Quelle ville est la capitale de ce pays ?\nAnswer:",
    "País: {0}. ¿Qué ciudad es la capital de este país?\nAnswer:",
    "Land: {0}. Welche Stadt ist die Hauptstadt dieses Landes?\nAnswer:",
    "国家：{0}。这个国家的首都是哪座城市？\nAnswer:",
    "Страна: {0}. Какой город является столицей этой страны?\nAnswer:",
    "Which currency is used in {0}?\nAnswer:",
    "Which of these is the capital of {0}?\nA. Oslo\nB. Lima\nC. Accra\nD. Hanoi\nAnswer:",
)


def prompts(number: int) -> list[str]:
    """Prompts like those of FKS: about ten to fifty tokens, six languages, many lengths."""
    import pycountry

    names = sorted(country.name for country in pycountry.countries)
    made = []
    for index in range(number):
        name, other = names[(index * 61) % len(names)], names[(index * 17 + 5) % len(names)]
        made.append(PATTERNS[(index * 7 + index // 15) % len(PATTERNS)].format(name, other))
    return made


# --- inside a timed process; runs in two environments, so nothing of Assay is imported before it is needed ------------


def work(job: dict) -> None:
    """Load, say so, wait for the signal, generate, write texts and CPU time."""
    generate = {"packed": packed, "generate": plain, "lm-eval": harness}[job["method"]](job)
    out = Path(job["out"])
    print("ready", flush=True)
    sys.stdin.readline()
    cpu = time.process_time()
    texts, tokens = generate()
    print("done", flush=True)
    out.write_text(json.dumps({"texts": texts, "tokens": tokens, "cpu_s": time.process_time() - cpu}))


def packed(job: dict):
    """Assay's default engine."""
    from assay.model.engine import Decoding, Request
    from assay.model.loading import load

    model = load(Path(job["model"]), threads=job["threads"])
    if model.fallback:
        sys.exit(f"packed batches are refused here: {model.fallback}")

    def run():
        tokenizer = model.weights.tokenizer
        requests = [Request(str(n), tokenizer(p).input_ids, NEW_TOKENS) for n, p in enumerate(job["prompts"])]
        rows = {row.row_id: row for row in model.engine.generate(requests, Decoding(max_new_tokens=NEW_TOKENS))}
        made = [rows[request.row_id] for request in requests]
        return [row.text for row in made], sum(len(row.token_ids) for row in made)

    return run


def plain(job: dict):
    """`generate` of transformers: left padding, batches of similar length, the longest first."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(job["threads"])
    model = AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(job["model"], padding_side="left")
    eos = model.generation_config.eos_token_id
    ends = {eos} if isinstance(eos, int) else set(eos)

    def run():
        order = sorted(range(len(job["prompts"])), key=lambda n: -len(tokenizer(job["prompts"][n]).input_ids))
        texts, tokens = {}, 0
        for start in range(0, len(order), job["batch"]):
            rows = order[start : start + job["batch"]]
            batch = tokenizer([job["prompts"][n] for n in rows], return_tensors="pt", padding=True)
            with torch.inference_mode():
                ids = model.generate(**batch, max_new_tokens=NEW_TOKENS, do_sample=False)[:, batch.input_ids.shape[1] :]
            for n, row in zip(rows, ids.tolist(), strict=True):
                row = row[: 1 + next((place for place, token in enumerate(row) if token in ends), len(row))]
                tokens += len(row)
                texts[n] = tokenizer.decode(row, skip_special_tokens=True)
        return [texts[n] for n in range(len(texts))], tokens

    return run


def harness(job: dict):
    """lm-evaluation-harness, its `hf` model, as a `generate_until` task calls it."""
    import torch
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    torch.set_num_threads(job["threads"])
    model = HFLM(pretrained=job["model"], device="cpu", dtype="float32", batch_size=job["batch"])

    def run():
        settings = {"until": [], "max_gen_toks": NEW_TOKENS, "do_sample": False}
        asked = [
            Instance(request_type="generate_until", doc={}, arguments=(prompt, dict(settings)), idx=n)
            for n, prompt in enumerate(job["prompts"])
        ]
        return model.generate_until(asked, disable_tqdm=True), None

    return run


# --- in the process that measures ------------------------------------------------------------------------------------


def timed(python: str, method: str, batch: int, model: Path, asked: list[str], processes: int) -> dict:
    """Return wall seconds, CPU seconds, texts in the order of `asked`, and new tokens of one run."""
    threads = max(1, len(os.sched_getaffinity(0)) // processes)
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "PASSIVE",
        "GOMP_SPINCOUNT": "0",
        "TOKENIZERS_PARALLELISM": "false",
    }
    with tempfile.TemporaryDirectory() as folder:
        workers = []
        for share in range(processes):
            job = {
                "method": method,
                "batch": batch,
                "model": str(model),
                "prompts": asked[share::processes],
                "threads": threads,
                "out": str(Path(folder, f"{share}.json")),
            }
            file = Path(folder, f"job-{share}.json")
            file.write_text(json.dumps(job))
            workers.append(
                subprocess.Popen(
                    [python, __file__, "--work", str(file)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL if method == "lm-eval" else None,
                    env=environment,
                    text=True,
                )
            )
        for worker in workers:
            expect(worker, "ready", method)
        started = time.perf_counter()
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        for worker in workers:
            expect(worker, "done", method)
        wall = time.perf_counter() - started
        for worker in workers:
            worker.communicate()
        results = [json.loads(Path(folder, f"{share}.json").read_text()) for share in range(processes)]
    texts: list[str] = [""] * len(asked)
    for share, result in enumerate(results):
        texts[share::processes] = result["texts"]
    tokens = None if any(r["tokens"] is None for r in results) else sum(r["tokens"] for r in results)
    return {"wall_s": wall, "cpu_s": sum(r["cpu_s"] for r in results), "texts": texts, "tokens": tokens}


def expect(worker: subprocess.Popen, word: str, method: str) -> None:
    """Read lines until the word; whatever else a library prints is skipped."""
    for line in worker.stdout:
        if line.strip() == word:
            return
    sys.exit(f"{method} ended with exit code {worker.wait()} before it was {word}")


def compare(options: argparse.Namespace) -> None:
    """Run all methods in turns and print the table and the ratios."""
    asked = prompts(options.prompts)
    plan = [(sys.executable, "packed", 0), *((sys.executable, "generate", size) for size in options.batch_sizes)]
    if options.lm_eval:
        plan += [(options.lm_eval, "lm-eval", size) for size in options.batch_sizes]
    runs: dict[tuple, list[dict]] = {}
    for _ in range(options.rounds):
        for python, method, batch in plan:
            for processes in options.processes:
                run = timed(python, method, batch, options.model, asked, processes)
                runs.setdefault((method, batch, processes), []).append(run)
                print(f"# {method} {batch or ''} x{processes}: {run['wall_s']:.1f} s", file=sys.stderr)
    reference = next(iter(runs.values()))[0]
    tokens = reference["tokens"]
    print(f"{len(asked)} prompts, at most {NEW_TOKENS} new tokens, {tokens} made, {options.rounds} rounds, medians\n")
    print("| method | batch | processes | wall s | CPU s | rows/s | new tokens/CPU-s | texts equal |")
    print("|---|---|---|---|---|---|---|---|")
    wall = {}
    for (method, batch, processes), results in runs.items():
        wall[method, batch, processes] = seconds = statistics.median(r["wall_s"] for r in results)
        cpu = statistics.median(r["cpu_s"] for r in results)
        equal = min(sum(map(str.__eq__, r["texts"], reference["texts"])) for r in results)
        print(
            f"| {method} | {batch or '-'} | {processes} | {seconds:.1f} | {cpu:.1f} | {len(asked) / seconds:.1f} "
            f"| {tokens / cpu:.0f} | {equal} of {len(asked)} |"
        )
    print()
    for processes in options.processes:
        for method in ("generate", "lm-eval"):
            others = [value for (name, _, n), value in wall.items() if name == method and n == processes]
            if others:
                ratio = min(others) / wall["packed", 0, processes]
                print(f"packed is {ratio:.2f}x the best {method} with {processes} process(es)")
    # On processors the harness runs as one process; several of them with a share of the task each are our doing.
    alone = [value for (name, _, n), value in wall.items() if name == "lm-eval" and n == 1]
    if alone:
        best = min(value for (name, _, _), value in wall.items() if name == "packed")
        print(f"packed at its best is {min(alone) / best:.2f}x lm-eval as it comes, in one process")
    if not options.lm_eval:
        print("lm-evaluation-harness: not installed (give --lm-eval the interpreter of its environment)")


def overhead(rows: int) -> None:
    """Print the time per row of everything but the model, with a forward pass that takes no time.

    Prompts, tokens, keys, row store, packing and rows are the real thing; the model says at once that it has ended.
    """
    import torch

    from assay.config.models import ModelEntry, Tiny
    from assay.model import packed as packed_module
    from assay.model.cache import Cache
    from assay.model.engine import Decoding
    from assay.model.generate import ModelSession
    from assay.model.identity import lock_entry
    from assay.model.store import RowStore
    from assay.records.rows import PromptRow

    def ended(forward: packed_module.Forward, step: packed_module.Step) -> torch.Tensor:
        logits = torch.zeros(step.n_wanted, forward.weights.vocabulary)
        logits[:, min(forward.weights.eos_ids)] = 1.0
        return logits

    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder, "cache"))
        entry = ModelEntry(name="tiny", title="Tiny", source=Tiny(kind="tiny", seed=0), workers=1)
        asked = [PromptRow.of_text(f"q{n}", f"{text} {n}") for n, text in enumerate(prompts(rows + 1))]
        with (
            RowStore(Path(folder, "store")) as store,
            ModelSession(entry, lock_entry(entry, cache), store, cache) as session,
        ):
            session.generate(asked[:1], Decoding(max_new_tokens=NEW_TOKENS))  # loads and examines the model
            real, packed_module.Forward.logits = packed_module.Forward.logits, ended
            made: list = []
            times = []
            try:
                for _ in range(2):
                    wall, cpu = time.perf_counter(), time.process_time()
                    made.append(session.generate(asked[1:], Decoding(max_new_tokens=NEW_TOKENS)))
                    times.append((time.perf_counter() - wall, time.process_time() - cpu))
            finally:
                packed_module.Forward.logits = real
        assert made[0] == made[1]
        assert len(made[0]) == rows
        for what, (wall, cpu) in zip(("new", "from the row store"), times, strict=True):
            print(f"overhead per row, {what}: {1000 * wall / rows:.2f} ms, of it {1000 * cpu / rows:.2f} ms of CPU")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="model folder")
    parser.add_argument("--prompts", type=int, default=400)
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=list(BATCH_SIZES))
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--lm-eval", metavar="PYTHON", help="interpreter that has lm_eval")
    parser.add_argument("--overhead-rows", type=int, default=5000, help="0 leaves this part out")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(json.loads(options.work.read_text()))
        return
    if options.overhead_rows:
        overhead(options.overhead_rows)
    if options.model:
        if importlib.util.find_spec("pycountry") is None:
            sys.exit("the prompts need pycountry: install the project first")
        compare(options)


if __name__ == "__main__":
    main()
