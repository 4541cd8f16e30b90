"""The jobs of SymBench: tasks, prompts, and for each method, model and seed answers, labels; then all metrics."""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.artifact.job import Job, Need, Work
from assay.config.executions import TUNING, Executions
from assay.config.load import Configs
from assay.config.symbench import Method, PublishedSamples, SymbenchConfig
from assay.errors import ConfigError
from assay.sandbox import world
from assay.symbench import work
from assay.symbench.catalogue import TASKS
from assay.symbench.templates import resolve

METRICS = ("metrics", "symbench")
COMPUTE = "assay.symbench.metrics:compute"
_LOCK = "data/symbench"

SINGLE_TURN = ("only_question", "all_text_cot", "all_code_cot", "autogen_conca")
MULTI_TURN = {
    "code_text_sum1": "assay.symbench.methods.summary:rollouts",
    "code_text_choice": "assay.symbench.methods.choice:rollouts",
    "code_interpreter": "assay.symbench.methods.interpreter:rollouts",
    "symbolic_agent": "assay.symbench.methods.codesteer:rollouts",
    "codesteer": "assay.symbench.methods.codesteer:rollouts",
}
# The models that each kind asks besides the evaluated one.
_ROLES = {
    "code_text_sum1": ("summarizer",),
    "code_text_choice": ("guide",),
    "symbolic_agent": ("guide", "checker"),
    "codesteer": ("guide", "checker"),
}


def jobs(configs: Configs) -> Iterator[Job]:
    """Yield the jobs of SymBench, inputs before what needs them.

    An experiment without SymBench makes the metrics alone, whose tables are headers.

    Raises
    ------
    ConfigError
        If a role names an unknown or evaluated model, a text does not fit its method, or a method that is compared
        lacks tasks.
    """
    if "symbench" not in configs.experiment.benchmarks:
        yield Job(*METRICS, COMPUTE, {})
        return
    config = configs.symbench
    data = dataset(config)
    _refuse_tuning(configs)
    _check_preload(configs)
    yield _tasks(configs, data)
    runs: list[dict[str, Any]] = []
    needs: list[Need] = []
    for name, method in config.used_methods.items():
        _check(configs, name, method)
        with configs.naming("symbench", "methods", name, "templates"):
            asked = _prompts(config, data, name, method)
        yield asked
        for model in configs.model_names:
            for seed in configs.experiment.seeds:
                item = f"{data}.{name}.{model}.s{seed}"
                answers = list(_answers(configs, data, name, model, seed, item))
                yield from answers
                needs.append(Need("labels", "labels", item))
                weakest = answers[0].determinism
                run = {"model": model, "method": name, "seed": seed, "determinism": weakest}
                runs.append(run | {"setting": _setting(configs, model)})
    yield Job(*METRICS, COMPUTE, metric_settings(config, data, runs), (Need("tasks", "tasks", data), *needs))


def published(configs: Configs) -> Mapping[str, tuple[str, str, str]]:
    """Return published path -> (stage, item, file of the artifact)."""
    del configs
    return {f"results/symbench/{name}.csv": (*METRICS, f"{name}.csv") for name in ("avenorm", "success_rates")}


def dataset(config: SymbenchConfig) -> str:
    """Return the name of the samples in items and in the table."""
    return f"symbench-{config.samples.kind}"


def tasks_of(config: SymbenchConfig) -> list[str]:
    """Return the tasks of an experiment, in the paper's order."""
    return [task for task in TASKS if config.tasks == "all" or task in config.tasks]


def metric_settings(config: SymbenchConfig, data: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the config of the metrics job."""
    metrics = config.metrics
    samples = config.samples
    chosen = samples.selection if isinstance(samples, PublishedSamples) else f"{samples.per_task}-s{samples.seed}"
    return {
        "dataset": data,
        "setting": {"samples": chosen, "texts": "own"},
        "runs": runs,
        "tasks": tasks_of(config),
        "modes": [mode.split("/") for mode in config.modes],
        "headline": config.headline.split("/"),
        "comparison": metrics.comparison,
        "published_columns": metrics.published_columns,
        "missing": metrics.missing,
        "bootstrap": {"resamples": metrics.resamples, "level": metrics.level, "seed": metrics.seed},
    }


def _setting(configs: Configs, model: str) -> dict[str, str]:
    """Return what of a model tells its rows from those of another entry with the same weights.

    Numbers that rest on less than the required isolation carry that mark.
    """
    entry = configs.model(model)
    isolation = configs.executions.isolation
    mark = {} if isolation == "require" else {"isolation": isolation}
    return {"dtype": entry.dtype, "template": "own" if entry.chat_template else "none"} | mark


def sandbox_section(executions: Executions, limit_s: float) -> dict[str, Any]:
    """Return what of the sandbox's section decides results, with a time limit of one attempt."""
    section = executions.model_dump(mode="json", exclude=set(TUNING))
    return section | {"limits": section["limits"] | {"time_s": limit_s}}


def _refuse_tuning(configs: Configs) -> None:
    """Refuse settings of an experiment that no step would see."""
    misplaced = [key for key in TUNING if key in configs.experiment.executions]
    if misplaced:
        raise ConfigError(
            "how the sandbox works is no part of an experiment: it changes no result",
            file=f"configs/experiments/{configs.name}.yaml",
            key=f"executions.{misplaced[0]}",
            remedy="move it to configs/executions.yaml",
        )


def _check_preload(configs: Configs) -> None:
    """Refuse to preload what no snippet can import; the default is right, and reading the packages takes a while."""
    settings, default = configs.executions, Executions()
    if (settings.preload, settings.distributions) == (default.preload, default.distributions):
        return
    _visible(configs)
    with configs.naming("executions", "preload"):
        world.check_preload(settings.distributions, settings.preload)


def _visible(configs: Configs) -> tuple[str, ...]:
    """Return all distributions that snippets see; what the listed ones require decides outputs as well."""
    with configs.naming("executions", "distributions"):
        return tuple(world.closure(configs.executions.distributions))


def _check(configs: Configs, name: str, method: Method) -> None:
    if method.tasks != "all" and not set(method.tasks).intersection(tasks_of(configs.symbench)):
        raise ConfigError(
            f"the method {name} has none of the tasks that are evaluated",
            **configs.where("symbench", "methods", name, "tasks"),
        )
    if method.tasks != "all" and configs.symbench.metrics.missing == "refuse":
        lacking = [task for task in tasks_of(configs.symbench) if task not in method.tasks]
        if lacking:
            raise ConfigError(
                f"the method {name} lacks {lacking[0]} ({len(lacking)} tasks), and metrics.missing is refuse",
                **configs.where("symbench", "methods", name, "tasks"),
                remedy="evaluate all tasks, or choose metrics.missing zero or common",
            )
    for role in ("guide", "checker", "summarizer"):
        played = getattr(method, role)
        if played is None:
            continue
        if role not in _ROLES.get(method.kind, ()):
            raise ConfigError(
                f"{method.kind} has no {role}",
                **configs.where("symbench", "methods", name, role),
                expected=" or ".join(_ROLES.get(method.kind, ("no other model",))),
            )
        configs.model(played, **configs.where("symbench", "methods", name, role))


def _tasks(configs: Configs, data: str) -> Job:
    config, samples = configs.symbench, configs.symbench.samples
    settings: dict[str, Any] = {"tasks": tasks_of(config)}
    if isinstance(samples, PublishedSamples):
        files = configs.lock.entry(_LOCK)["files"]
        absent = [task for task in settings["tasks"] if not any(file.partition(".")[0] == task for file in files)]
        if absent:
            raise ConfigError(
                f"the lock knows no samples of {absent[0]}",
                **configs.where("symbench", "tasks"),
                expected=f"some of {', '.join(sorted(file.partition('.')[0] for file in files))}",
                remedy="run `assay data fetch symbench`, or leave the task out",
            )
        settings |= {"folder": samples.folder, "selection": samples.selection, "files": files}
        return Job("tasks", data, "assay.symbench.published_samples:build", settings, lock=(_LOCK,))
    settings |= {"count": samples.per_task, "seed": samples.seed}
    return Job("tasks", data, "assay.symbench.generate:build", settings)


def _prompts(config: SymbenchConfig, data: str, name: str, method: Method) -> Job:
    """Return the job of what is asked first; multi-turn methods start from the plain question."""
    texts = resolve(method.kind, method.templates, f"methods.{name}.templates")
    settings: dict[str, Any] = {"instruction": texts.get("instruction", "")}
    if method.tasks != "all":
        settings["tasks"] = [task for task in tasks_of(config) if task in method.tasks]
    needs = (Need("tasks", "tasks", data),)
    return Job("prompts", f"{data}.{name}", "assay.symbench.prompts:build", settings, needs)


def _answers(configs: Configs, data: str, name: str, model: str, seed: int, item: str) -> Iterator[Job]:
    """Yield the jobs from the prompts of a method to the labels of a model's answers."""
    config, method = configs.symbench, configs.symbench.methods[name]
    prompts = Need("prompts", "prompts", f"{data}.{name}")
    if method.kind in SINGLE_TURN:
        yield _generations(configs, method, model, seed, item, prompts)
        generations = Need("generations", "generations", item)
        section = {"executions": sandbox_section(configs.executions, config.limit_s)}
        yield Job(
            stage="executions",
            item=item,
            function="assay.symbench.executions:execute_rows",
            config=section,
            needs=(generations,),
            libraries=_visible(configs),
        )
        answers: tuple[Need, ...] = (generations, Need("executions", "executions", item))
    else:
        yield _rollouts(configs, name, model, seed, item, prompts)
        answers = (Need("rollouts", "rollouts", item),)
    modes = {"modes": [mode.split("/") for mode in config.modes]}
    yield Job("labels", item, "assay.symbench.labels:label_rows", modes, (Need("tasks", "tasks", data), *answers))


def _decoding(config: SymbenchConfig, method: Method) -> dict[str, Any]:
    chosen = method.decoding or config.decoding
    how = "sampling" if chosen.temperature else "greedy"
    return {"method": how, "temperature": chosen.temperature, "max_new_tokens": chosen.max_new_tokens}


def _policy(config: SymbenchConfig, method: Method) -> dict[str, Any]:
    return {"max_tokens": (method.decoding or config.decoding).max_prompt_tokens, "on_long": "truncate"}


def _generations(configs: Configs, method: Method, model: str, seed: int, item: str, prompts: Need) -> Job:
    entry = configs.model(model)
    settings = {
        "model": entry.decisive(),
        "decoding": _decoding(configs.symbench, method),
        "seed": seed,
        "samples": 1,
        "policy": _policy(configs.symbench, method),
        "accept_failures": configs.experiment.accept_failures,
    }
    return Job(
        stage="generations",
        item=item,
        function="assay.model.generate:generate_rows",
        config=settings,
        needs=(prompts,),
        lock=(f"models/{model}",),
        determinism=entry.determinism,
        model=model,
        work=_work(configs.symbench, method),
    )


def _rollouts(configs: Configs, name: str, model: str, seed: int, item: str, prompts: Need) -> Job:
    config, method = configs.symbench, configs.symbench.methods[name]
    guide = (method.summarizer if method.kind == "code_text_sum1" else method.guide) or model
    roles = {"model": model, "guide_model": guide, "checker_model": method.checker or model}
    settings: dict[str, Any] = {role: configs.model(played).decisive() for role, played in roles.items()}
    settings |= {
        "kind": method.kind,
        "texts": resolve(method.kind, method.templates, f"methods.{name}.templates"),
        "decoding": _decoding(config, method),
        "policy": _policy(config, method),
        "seed": seed,
        "max_rounds": method.max_rounds,
        "without_choice": method.without_choice,
        "check_tries": method.check_tries,
        "check_rounds": method.check_rounds,
        "loop_limit_s": config.loop_limit_s,
        "executions": sandbox_section(configs.executions, config.limit_s),
        "accept_failures": configs.experiment.accept_failures,
    }
    played = list(dict.fromkeys(roles.values()))
    classes = [configs.model(one).determinism for one in played]
    return Job(
        stage="rollouts",
        item=item,
        function=MULTI_TURN[method.kind],
        config=settings,
        needs=(prompts,),
        lock=tuple(f"models/{one}" for one in played),
        libraries=_visible(configs),
        determinism="volatile" if "volatile" in classes else classes[0],
        model=model,
        work=_work(config, method),
    )


def _work(config: SymbenchConfig, method: Method) -> Work:
    tasks = tasks_of(config)
    return work.answers(config, method, sum(method.tasks == "all" or task in method.tasks for task in tasks))
