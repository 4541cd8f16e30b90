"""Code + Text + Sum.1: an answer in words and one with code, and a third call that makes the final answer of both."""

from typing import Any

from assay.records.step import Inputs, Outputs
from assay.symbench.asking import NO_SYSTEM, fill, instructed
from assay.symbench.conversing import Ended, Services, Talk, ask, execute, user
from assay.symbench.extraction import first_code_block
from assay.symbench.rollouts import Settings, play


def rollouts(config: dict[str, Any], inputs: Inputs, services: Services) -> Outputs:
    """Return rollouts.jsonl. The first two answers are those of all_text_cot and all_code_cot, from the row store."""
    return play(config, inputs, services, talk)


def talk(question: str, settings: Settings) -> Talk:
    """Answer twice, run the program if there is one, and let the summarizer (role "guide") answer."""
    texts = settings.texts
    words = yield from ask("solver", [NO_SYSTEM, user(instructed(texts["text"], question))])
    coded = yield from ask("solver", [NO_SYSTEM, user(instructed(texts["code"], question))])
    code_answer = coded.text
    code = first_code_block(coded.text)
    if code is not None:
        shown = yield from execute(code)
        code_answer += f"\n\nWhen the program was run:\n{shown.text}"
    both = fill(texts["summarize"], question=question, text_answer=words.text, code_answer=code_answer)
    final = yield from ask("guide", [NO_SYSTEM, user(both)])
    return Ended(final.text, "answered", truncated=final.finish_reason == "length")
