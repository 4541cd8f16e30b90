"""The CodeSteer loop, with a tuned guide (codesteer) or a plain model in its role (symbolic_agent).

A tuned guide's first reply goes in front of the question as it is, and it sees the decision instruction once; a plain
guide answers with tags, and sees instruction and question in every round. One first answer, at most `max_rounds`
revised ones.
"""

from collections.abc import Generator
from typing import Any

from assay.records.step import Inputs, Outputs
from assay.symbench.asking import NO_SYSTEM, fill, instructed
from assay.symbench.conversing import (
    TOO_LONG,
    Ask,
    Ended,
    Execute,
    Services,
    Talk,
    ask,
    assistant,
    execute,
    user,
)
from assay.symbench.extraction import first_code_block, last_marker
from assay.symbench.guidance import choice, stop, tagged
from assay.symbench.rollouts import Settings, play
from assay.symbench.symbolic_check import complexity


def rollouts(config: dict[str, Any], inputs: Inputs, services: Services) -> Outputs:
    """Return rollouts.jsonl."""
    return play(config, inputs, services, talk)


def talk(question: str, settings: Settings) -> Talk:
    """Guide, answer, run, check, guide again."""
    texts, tuned = settings.texts, settings.kind == "codesteer"
    decide = fill(texts["decide"], question=question)
    guide = [NO_SYSTEM, user(decide)]
    reply = yield from ask("guide", guide)
    guide.append(assistant(reply.text))
    chosen = None if tuned else choice(reply.text)
    if not tuned and chosen is None and settings.without_choice == "fail":
        return Ended("", "no_choice", error="the guide chose neither code nor text")
    guidance = reply.text if tuned else texts[chosen] if chosen else ""
    solver = [NO_SYSTEM, user(instructed(guidance, question))]
    for rounds in range(settings.max_rounds + 1):
        answer = yield from ask("solver", solver)
        solver.append(assistant(answer.text))
        cut = answer.finish_reason == "length"
        if rounds == settings.max_rounds:
            return Ended(answer.text, "rounds", truncated=cut, rounds=rounds)
        code = first_code_block(answer.text)
        shown, summary = answer.text, ""
        if code is not None:
            executed = yield from execute(code)
            shown += f"\n\nWhen the program was run:\n{executed.text}"
            summary = complexity(code).summary() + "\n\n"
        checked = yield from _self_check(question, shown, settings)
        review = fill(texts["review"], answer=shown, check=checked, complexity=summary)
        guide.append(user(review if tuned else f"{decide}\n\n{review}"))
        reply = yield from ask("guide", guide)
        guide.append(assistant(reply.text))
        guidance = reply.text if tuned else (last_marker(reply.text) or "").strip()
        switch = tagged(reply.text) if tuned else choice(reply.text)
        ending = None if switch else stop(guidance) or (None if guidance.strip() else "no_guidance")
        if ending:
            return Ended(answer.text, ending, truncated=cut, rounds=rounds)
        solver.append(user(texts[switch] if switch else guidance))
    raise AssertionError("the loop returns")


def _self_check(question: str, answer: str, settings: Settings) -> Generator[Ask | Execute, Any, str]:
    """Let the checker test the answer with a program; return what the guide is told of it.

    An answer without code, or a program that fails, is put back to the checker with a request for a better one: asked
    the same again, a deterministic model would answer the same.
    """
    texts = settings.texts
    chat = [NO_SYSTEM, user(fill(texts["check"], question=question, answer=answer))]
    told = "There is no result: the checker wrote no program."
    for number in range(settings.check_rounds):
        code = None
        for tries in range(settings.check_tries):
            reply = yield from ask("checker", chat)
            chat.append(assistant(reply.text))
            code = first_code_block(reply.text)
            if code is not None or tries + 1 == settings.check_tries:
                break
            chat.append(user(texts["check_missing"]))
        if code is None:
            return told
        executed = yield from execute(code)
        if executed.clean or executed.text == TOO_LONG:
            return executed.output.strip() or "The program of the checker printed nothing."
        told = executed.text
        if number + 1 < settings.check_rounds:
            chat.append(user(fill(texts["check_failed"], output=executed.text)))
    return told
