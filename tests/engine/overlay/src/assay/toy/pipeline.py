"""The toy benchmark's jobs."""

from collections.abc import Iterator

from assay.config.toy import ToyConfig

from assay.artifact.job import Job, Need
from assay.config.load import Configs


def jobs(configs: Configs) -> Iterator[Job]:
    """Yield queries, prompts, and generations, labels and metrics per model, method and seed."""
    if "toy" not in configs.experiment.benchmarks:
        return
    toy: ToyConfig = configs.benchmark("toy")
    facts = {"facts": [fact.model_dump() for fact in toy.facts], "repeats": toy.repeats}
    yield Job("queries", "toy", "assay.toy.builder:build", facts)
    queries, prompts = Need("queries", "queries", "toy"), Need("prompts", "prompts", "toy")
    yield Job("prompts", "toy", "assay.toy.prompts:render", {"template": toy.template}, (queries,))
    for name in configs.model_names:
        entry = configs.model(name)
        for method, decoding in toy.decodings.items():
            if f"{name}.{method}" in toy.skip:
                continue
            item = f"toy.{name}.{method}"
            yield Job(
                stage="generations",
                item=item,
                function="assay.model.generate:generate_rows",
                config={
                    "model": entry.decisive(),
                    "decoding": decoding,
                    "seed": toy.seeds[method],
                    "samples": 1,
                    "accept_failures": configs.experiment.accept_failures,
                },
                needs=(prompts,),
                lock=(f"models/{name}",),
                determinism=entry.determinism,
                model=name,
            )
            answers = Need("generations", "generations", item)
            yield Job("labels", item, "assay.toy.judge:judge", {"threshold": toy.threshold}, (queries, answers))
            numbers = {"model": name, "method": method, "weight": toy.weight}
            yield Job("metrics", item, "assay.toy.metrics:measure", numbers, (Need("labels", "labels", item),))


def published(configs: Configs) -> dict[str, tuple[str, str, str]]:
    """Publish nothing of its own."""
    return {}
