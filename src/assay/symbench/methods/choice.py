"""Code/Text Choice: a guide picks code or words once, and the solver answers with that instruction."""

from typing import Any

from assay.records.step import Inputs, Outputs
from assay.symbench.asking import NO_SYSTEM, fill, instructed
from assay.symbench.conversing import Ended, Services, Talk, ask, user
from assay.symbench.guidance import choice
from assay.symbench.rollouts import Settings, play


def rollouts(config: dict[str, Any], inputs: Inputs, services: Services) -> Outputs:
    """Return rollouts.jsonl."""
    return play(config, inputs, services, talk)


def talk(question: str, settings: Settings) -> Talk:
    """Choose, then answer."""
    texts = settings.texts
    reply = yield from ask("guide", [NO_SYSTEM, user(fill(texts["choose"], question=question))])
    chosen = choice(reply.text)
    if chosen is None and settings.without_choice == "fail":
        return Ended("", "no_choice", error="the guide chose neither code nor text")
    instruction = "" if chosen is None else texts[chosen]
    answer = yield from ask("solver", [NO_SYSTEM, user(instructed(instruction, question))])
    ending = "no_choice" if chosen is None else "answered"
    return Ended(answer.text, ending, truncated=answer.finish_reason == "length")
