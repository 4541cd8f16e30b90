"""Code Interpreter: the model runs programs in our sandbox and sees what they print until it answers without code."""

from typing import Any

from assay.records.rows import Message
from assay.records.step import Inputs, Outputs
from assay.symbench.asking import fill
from assay.symbench.conversing import Ended, Services, Talk, ask, assistant, execute, user
from assay.symbench.extraction import first_code_block
from assay.symbench.rollouts import Settings, play


def rollouts(config: dict[str, Any], inputs: Inputs, services: Services) -> Outputs:
    """Return rollouts.jsonl."""
    return play(config, inputs, services, talk)


def talk(question: str, settings: Settings) -> Talk:
    """Let the solver call the interpreter at most `max_rounds` times.

    A response with code that comes after the last allowed call is judged as it stands: its code is run once, by the
    scorer, as that of any final response.
    """
    chat = [Message("system", settings.texts["interpreter"]), user(question)]
    for calls in range(settings.max_rounds + 1):
        answer = yield from ask("solver", chat)
        code = first_code_block(answer.text)
        cut = answer.finish_reason == "length"
        if code is None:
            return Ended(answer.text, "answered", truncated=cut, rounds=calls)
        if calls == settings.max_rounds:
            return Ended(answer.text, "rounds", truncated=cut, rounds=calls)
        shown = yield from execute(code)
        chat += [assistant(answer.text), user(fill(settings.texts["result"], output=shown.text))]
    raise AssertionError("the loop returns")
