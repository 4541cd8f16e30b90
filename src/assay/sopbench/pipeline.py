"""The jobs of SOPBench: tasks, prompts, rollouts of scripted agents and models, verdicts, metrics."""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.artifact.job import Job, Need
from assay.config.files import unknown_key
from assay.config.load import Configs
from assay.config.sopbench import MethodConfig, SopbenchConfig
from assay.errors import ConfigError
from assay.model.engine import Decoding
from assay.sopbench import work
from assay.sopbench.tasks import DOMAINS

METRICS = ("metrics", "sopbench")
_TABLES = ("pass_rates.csv", "attempts.csv", "checks.csv", "constraints.csv", "services.csv")
COMPONENT = ("metrics", "sopbench-protocol")
_LOCK = "data/sopbench"


def jobs(configs: Configs) -> Iterator[Job]:
    """Yield the jobs of SOPBench, inputs before what needs them.

    The protocol component, and the metrics with their header, are made by every experiment.
    """
    yield Job(*COMPONENT, "assay.sopbench.component:compute")
    if "sopbench" not in configs.experiment.benchmarks:
        yield Job(*METRICS, "assay.sopbench.metrics:compute", {"dataset": "", "runs": []})
        return
    config = configs.sopbench
    data = _data(config)
    _check_domains(configs)
    yield _tasks(configs, config, data)
    runs: list[dict[str, Any]] = []
    needs: list[Need] = []
    for job, run in _runs(configs, config, data):
        yield job
        if run is not None:
            runs.append(run)
            needs.append(Need("verdicts", job.stage, job.item))
    yield Job(*METRICS, "assay.sopbench.metrics:compute", {"dataset": data, "runs": runs}, tuple(needs))


def published(configs: Configs) -> Mapping[str, tuple[str, str, str]]:
    """Return published path -> (stage, item, file of the artifact)."""
    del configs
    return {
        **{f"results/sopbench/{name}": (*METRICS, name) for name in _TABLES},
        "results/sopbench/component-cpu-seeds42-44.json": (*COMPONENT, "component-cpu-seeds42-44.json"),
    }


def _data(config: SopbenchConfig) -> str:
    return f"sopbench-{config.tasks}"


def _tasks(configs: Configs, config: SopbenchConfig, data: str) -> Job:
    settings: dict[str, Any] = {"source": config.tasks, "domains": list(config.domains)}
    if config.tasks == "generated":
        settings |= config.generated.model_dump(mode="json")
        return Job("tasks", data, "assay.sopbench.building:build", settings)
    settings |= {"folder": config.published.folder, "files": configs.lock.entry(_LOCK)["files"]}
    return Job("tasks", data, "assay.sopbench.building:build", settings, lock=(_LOCK,))


def _runs(configs: Configs, config: SopbenchConfig, data: str) -> Iterator[tuple[Job, dict[str, Any] | None]]:
    """Yield jobs, verdicts with the run that they are about."""
    tasks = Need("tasks", "tasks", data)
    written = {"content": config.content, "cards": config.cards}
    if config.scripted:
        item = f"{data}.scripted"
        yield (
            Job(
                "rollouts",
                item,
                "assay.sopbench.rollouts:scripted",
                {"agents": list(config.scripted), **written},
                (tasks,),
            ),
            None,
        )
        run = {"model": "", "method": "scripted", "setting": written, "agents": list(config.scripted)}
        yield from _verdicts(config, item, tasks, run, "bytes")
    for name, method in config.methods.items():
        _check(configs, name, method)
        prompts = f"{data}.{name}"
        yield Job("prompts", prompts, "assay.sopbench.prompts:prompts", _prompt_settings(method), (tasks,)), None
        for model in configs.model_names:
            for seed in configs.experiment.seeds:
                item = f"{data}.{name}.{model}.s{seed}"
                job = _rollouts(
                    configs, config, method, item, (tasks, Need("prompts", "prompts", prompts)), model, seed
                )
                yield job, None
                run = {"model": model, "method": method.mode, "setting": _setting(config, method, name, seed)}
                yield from _verdicts(config, item, tasks, run, job.determinism)


def _verdicts(
    config: SopbenchConfig, item: str, tasks: Need, run: dict[str, Any], determinism: str
) -> Iterator[tuple[Job, dict[str, Any]]]:
    for profile in config.profiles:
        needs = (tasks, Need("rollouts", "rollouts", item))
        job = Job("verdicts", f"{item}.{profile}", "assay.sopbench.verdicts:judge", {"profile": profile}, needs)
        yield job, {**run, "profile": profile, "determinism": determinism}


def _check_domains(configs: Configs) -> None:
    """Refuse a domain that nobody knows."""
    own = [name for name in configs.sopbench.domains if name not in DOMAINS]
    if own:  # a user's own domain; the parts of all domains take a while to import
        from assay.sopbench.parts import DOMAINS as KNOWN

        unknown = [name for name in own if name not in KNOWN]
        if unknown:
            place = configs.where("sopbench", "domains")
            raise unknown_key(place["key"], unknown[0], KNOWN, place["file"])


def _check(configs: Configs, name: str, method: MethodConfig) -> None:
    """Refuse domains that nobody knows or nobody asks about, and a user that is neither scripted nor another model."""
    asked = configs.sopbench.domains
    place = configs.where("sopbench", "methods", name, "domains")
    for domain in method.domains or ():
        # One of the seven that the experiment leaves out is no mistake: the method is then asked about the others.
        if domain not in (*asked, *DOMAINS):
            raise unknown_key(place["key"], domain, {*asked, *DOMAINS}, place["file"])
    if method.domains is not None and not set(method.domains).intersection(asked):
        raise ConfigError(
            f"the method {name} has none of the domains of the experiment",
            **place,
            expected=f"some of {', '.join(asked)}",
        )
    _check_decoding(configs, name, method)
    if method.user in ("scripted", "adversarial"):
        return
    place = configs.where("sopbench", "methods", name, "user")
    configs.model(method.user, **place)
    if method.user in configs.experiment.models:
        raise ConfigError(
            f"{method.user!r} plays the user and is evaluated", **place, remedy="choose another model for the user"
        )


def _check_decoding(configs: Configs, name: str, method: MethodConfig) -> None:
    """Refuse settings that contradict each other, as the engine would, which loads a model first."""
    for section, decoding in (("decoding", method.decoding), ("user_decoding", method.user_decoding)):
        with configs.naming("sopbench", "methods", name, section):
            Decoding(**decoding.model_dump()).check()


def _prompt_settings(method: MethodConfig) -> dict[str, Any]:
    chosen = ("mode", "tool_list", "environment", "distractors", "shuffle_seed", "unpublished_tools", "domains")
    settings = {name: getattr(method, name) for name in (*chosen, "tasks_per_domain", "user")}
    if method.user not in ("scripted", "adversarial"):
        settings["user"] = "model"  # which model it is does not show in the prompt
    return settings


def _rollouts(
    configs: Configs,
    config: SopbenchConfig,
    method: MethodConfig,
    item: str,
    needs: tuple[Need, ...],
    model: str,
    seed: int,
) -> Job:
    entry = configs.model(model)
    played = method.user not in ("scripted", "adversarial")
    settings: dict[str, Any] = {
        "agent": model,
        "model": entry.decisive(),
        "mode": method.mode,
        "user": method.user,
        "decoding": method.decoding.model_dump(mode="json"),
        "attempts": method.attempts,
        "limits": {"messages": method.max_messages, "calls": method.max_calls},
        "content": config.content,
        "cards": config.cards,
        "max_prompt_tokens": method.max_prompt_tokens,
        "seed": seed,
        "accept_failures": configs.experiment.accept_failures,
    }
    determinism = entry.determinism
    if played:
        user = configs.model(method.user)
        settings |= {"user_model": user.decisive(), "user_decoding": method.user_decoding.model_dump(mode="json")}
        determinism = "volatile" if "volatile" in (determinism, user.determinism) else determinism
    module = "model_rollouts" if method.environment == "prompt" else "program_rollouts"
    return Job(
        "rollouts",
        item,
        f"assay.sopbench.{module}:rollouts",
        settings,
        needs,
        lock=(f"models/{model}", *((f"models/{method.user}",) if played else ())),
        determinism=determinism,
        model=model,
        work=work.conversations(config, method),
    )


def _setting(config: SopbenchConfig, method: MethodConfig, name: str, seed: int) -> dict[str, str]:
    """Return what tells a model's rows apart: the method by name, and its main choices."""
    return {
        "method": name,
        "tool_list": method.tool_list,
        "environment": method.environment,
        "user": method.user,
        "content": config.content,
        "cards": config.cards,
        "seed": str(seed),
    }
