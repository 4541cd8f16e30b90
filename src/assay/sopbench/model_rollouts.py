"""Rollouts of a model: one row per task and attempt, on the base system or, in program mode, behind the rules."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from assay.errors import DataError
from assay.model.engine import Decoding
from assay.records.rows import PromptRow
from assay.records.step import Inputs, Outputs
from assay.sopbench.conversation import EXIT_TOOL, Conversation, Limits, User, hold, rollout_id
from assay.sopbench.model_agents import ModelAgent, ModelUser, ScriptedUser, Talker
from assay.sopbench.rollouts import open_conversation
from assay.sopbench.rows import CardDialect, ContentDialect, RolloutRow, TaskRow
from assay.sopbench.styles import STOP, Mode


class Services(Protocol):
    """What the rollouts step provides: the models of a job by role."""

    def model(self, role: str) -> Talker:
        """Return the model with a role: "assistant", and "user" where a model plays the user."""


class ModelSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of a job of one model.

    Attributes
    ----------
    agent : str
        Name of the model, as the rows carry it.
    mode : str
        How tools are called; as in the prompts that the job reads.
    user : str
        "scripted", "adversarial" (its first message differs, its replies do not), or the name of a model.
    attempts : int
        Independent conversations about each task, 1 to 5; more than one needs sampling.
    max_prompt_tokens : int or None
        Longest conversation that is still answered.
    seed : int
        With sampling, the seed of every answer is derived from it.
    """

    agent: str
    decoding: Decoding
    mode: Mode = "fc"
    user: str = "scripted"
    user_decoding: Decoding = Decoding(max_new_tokens=128)
    attempts: int = 1
    limits: Limits = Limits()
    content: ContentDialect = "tuple"
    cards: CardDialect = "list"
    max_prompt_tokens: int | None = None
    seed: int = 0
    model: dict[str, Any] | None = None
    user_model: dict[str, Any] | None = None
    accept_failures: int = 0


Opener = Callable[[TaskRow, str, int, ContentDialect, CardDialect, list[str]], Conversation]


def rollouts(config: dict[str, Any], inputs: Inputs, services: Services) -> Outputs:
    """Hold the conversations of a prompt-mode job; rows by task, then by attempt."""
    return play(config, inputs, services, open_conversation)


def play(config: dict[str, Any], inputs: Inputs, services: Services, opened: Opener) -> Outputs:
    """Hold the conversations of a job at the desks that `opened` gives.

    Raises
    ------
    DataError
        If a prompt asks about a task that the tasks artifact lacks, or attempts and decoding contradict each other.
    """
    settings = msgspec.convert(config, ModelSettings)
    if not 1 <= settings.attempts <= 5 or (settings.attempts > 1 and settings.decoding.method == "greedy"):
        raise DataError(f"attempts is {settings.attempts}", expected="1, or 2 to 5 with decoding method sampling")
    tasks = {row.task_id: row for row in inputs.one("tasks").rows("tasks.jsonl", TaskRow)}
    prompts = {prompt.query_id: prompt for prompt in inputs.one("prompts").rows("prompts.jsonl", PromptRow)}
    missing = [name for name in prompts if name not in tasks]
    if missing:
        raise DataError(f"{len(missing)} prompts ask about unknown tasks", file="prompts.jsonl", row=missing[0])
    talks = [
        _opened(tasks[task_id], prompt, attempt, settings, opened)
        for task_id, prompt in prompts.items()
        for attempt in range(settings.attempts)
    ]
    hold(talks, _agent(settings, prompts, services), _user(settings, services), settings.limits)
    return {"rollouts.jsonl": [_finished(talk, prompts[talk.row.task_id], settings) for talk in talks]}


def _opened(row: TaskRow, prompt: PromptRow, attempt: int, settings: ModelSettings, opened: Opener) -> Conversation:
    offered = [tool["function"]["name"] for tool in prompt.tools or []]
    functions = [name for name in offered if name != EXIT_TOOL]
    talk = opened(row, settings.agent, attempt, settings.content, settings.cards, functions)
    talk.history.extend((prompt.messages or [])[1:])
    return talk


def _agent(settings: ModelSettings, prompts: dict[str, PromptRow], services: Services) -> ModelAgent:
    decoding = settings.decoding
    if settings.mode != "fc" and not decoding.stop:
        decoding = msgspec.structs.replace(decoding, stop=STOP)
    return ModelAgent(
        services.model("assistant"),
        decoding,
        settings.mode,
        prompts,
        seed=settings.seed,
        max_prompt_tokens=settings.max_prompt_tokens,
    )


def _user(settings: ModelSettings, services: Services) -> User:
    if settings.user in ("scripted", "adversarial"):
        return ScriptedUser()
    return ModelUser(services.model("user"), settings.user_decoding, seed=settings.seed)


def _finished(talk: Conversation, prompt: PromptRow, settings: ModelSettings) -> RolloutRow:
    # Everything that distinguishes two conversations about one task; what the model is, the artifact's key says.
    identity = [settings.agent, settings.mode, settings.user, settings.content, settings.cards, settings.seed]
    return talk.finish(rollout_id([*identity, prompt.prompt_sha256], talk.row.task_id, talk.attempt))
