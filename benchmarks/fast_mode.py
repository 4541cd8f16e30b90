"""What the fast mode changes: texts, logits and states of padded batches and of bfloat16 against the default.

    python benchmarks/fast_mode.py MODEL... [--prompts 32] [--tokens 24]

MODEL is a name of the registry whose weights have been fetched. The reference is the default, packed batches in
float32, whose bits do not depend on the batch. Prompts are those of `generation.py`. Batches of one row take long, so
they run a quarter of the prompts.
"""

import argparse
from pathlib import Path

import generation

BATCHES = (1, 8, 32)
ROOT = Path(__file__).resolve().parents[1]


def first_logits(weights, requests, batch: int | None):
    """Logits [rows, vocabulary] of the first new token, float64: packed without a batch, else padded on the left."""
    import torch

    from assay.model.packed import Forward
    from assay.model.unpacked import padded_batch

    order = sorted(range(len(requests)), key=lambda n: -len(requests[n].token_ids))
    found = {}
    if batch is None:
        forward = Forward(weights)
        step = forward.step([], [(0, requests[n].token_ids) for n in order], None)
        found = dict(zip(order, forward.logits(step), strict=True))
    else:
        weights.attend(weights.plain_attention)
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            ids, mask = padded_batch([requests[n].token_ids for n in rows], weights.model.device)
            positions = (mask.cumsum(-1) - 1).clamp(min=0)
            with torch.inference_mode():
                output = weights.model(
                    input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=False, logits_to_keep=1
                )
            found |= dict(zip(rows, output.logits[:, -1], strict=True))
    return torch.stack([found[n].double() for n in range(len(requests))])


def states(model, requests):
    """States [rows, layers, width] of all blocks, float64."""
    import torch

    from assay.model.hidden import last_token_states

    found = dict(last_token_states(model, requests, range(model.weights.n_layers), "hidden_states"))
    return torch.stack([found[request.row_id].double() for request in requests])


def relative(got, expected) -> float:
    """Largest distance of two vectors of the last dimension, as a share of the expected one's length."""
    return float(((got - expected).norm(dim=-1) / expected.norm(dim=-1)).max())


def measure(name: str, number: int, tokens: int) -> None:
    """Print one line per way of batching."""
    from assay.config.models import choose, read_registry
    from assay.model.cache import Cache, model_folder
    from assay.model.engine import Decoding, Request
    from assay.model.loading import LoadedModel, load
    from assay.model.unpacked import PaddedEngine

    (entry,) = choose(read_registry(ROOT), [name])
    folder = model_folder(entry, Cache())
    decoding = Decoding(max_new_tokens=tokens)
    reference: dict[str, str] = {}
    for dtype in ("float32", "bfloat16"):
        packed = load(folder, dtype)
        weights = packed.weights
        if not reference:
            asked = generation.prompts(400)[:: 400 // number][:number]
            ids = [weights.tokenizer(prompt).input_ids for prompt in asked]
            requests = [Request(str(n), row, tokens) for n, row in enumerate(ids)]
            logits = first_logits(weights, requests, None)
            base = states(packed, requests)
        for batch in (None, *BATCHES):
            few = requests[: number // 4] if batch == 1 else requests
            engine = packed.engine if batch is None else PaddedEngine(weights, batch)
            texts = {row.row_id: row.text for row in engine.generate(few, decoding)}
            reference = reference or texts
            differ = sum(texts[request.row_id] != reference[request.row_id] for request in few)
            off = (first_logits(weights, few, batch) - logits[: len(few)]).abs().max()
            loaded = LoadedModel(weights, engine, layout=packed.layout if batch is None else None)
            states_off = relative(states(loaded, few), base[: len(few)])
            way = packed.engine.identity["engine"] if batch is None else f"padded, batch {batch}"
            print(f"| {name} | {dtype} | {way} | {differ} of {len(few)} | {off:.2g} | {states_off:.1e} |", flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=24)
    options = parser.parse_args()
    print("| model | dtype | batches | texts that differ | largest difference of a logit | of a state, relative |")
    print("|---|---|---|---|---|---|")
    for name in options.models:
        measure(name, options.prompts, options.tokens)


if __name__ == "__main__":
    from assay.model.loading import prepare_process

    prepare_process()
    main()
