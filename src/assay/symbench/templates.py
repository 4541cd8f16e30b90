"""The texts of the methods, in our own words: built-in ones by kind and name, and what an experiment puts in place.

They are resolved when the plan is made and stand in the config of the jobs that use them, so that every word is part
of a recipe and no code of a job knows them. Each is marked as ours in `setting`: published rates were obtained with
other words.
"""

import re
from collections.abc import Mapping

from assay.errors import ConfigError

_FIELD = re.compile(r"\{([a-z_]+)\}")

TEXT = (
    "Solve the problem below by reasoning in words. Think step by step, then state the final answer in the form that "
    "the problem asks for. Do not write program code."
)
CODE = (
    "Solve the problem below with a Python program. First think about how the answer can be computed, then write "
    "exactly one code block that opens with ```python and closes with ```. The program must be complete, must not ask "
    "for input, and must print the final answer in the form that the problem asks for."
)
ASSISTANT = (
    "You are a capable AI assistant who solves tasks with language and with programming. Where facts must be gathered "
    "or something must be computed, write a complete Python program in one block that opens with ```python and closes "
    "with ```, and let it print what is needed; nobody will edit it before it runs. Where words are enough, reason "
    "step by step. Say what your plan is, check the result, and finish with the answer in the form that is asked for."
)
_SUMMARIZE = (
    "A problem was solved twice, once in words and once with a program.\n\nProblem:\n{question}\n\n"
    "Solution in words:\n{text_answer}\n\nSolution with a program:\n{code_answer}\n\n"
    "Compare both, decide which parts are right, and give the final answer in the form that the problem asks for. You "
    "may answer in words or with one Python program in a ```python block that prints the answer."
)
_CHOOSE = (
    "Decide how the problem below should be solved: with a Python program, or by reasoning in words. Do not solve it. "
    "End with <<<Code>>> if a program should be written, or with <<<Text>>> if not.\n\nProblem:\n{question}"
)
_INTERPRETER = (
    "You can run Python. To run a program, write one block that opens with ```python and closes with ```, and stop; "
    "you will be shown what it prints. Every program starts afresh and knows nothing of earlier ones. When you know "
    "the answer, write it without any code block, in the form that the problem asks for."
)
_RESULT = "The program gave this:\n{output}\n\nGo on, or write the final answer without a code block."
_DECIDE = (
    "You guide another model that has to solve a problem. It can reason in words, or write a Python program that is "
    "run. Decide which is better for this problem: programs suit search, counting, exact arithmetic and many steps; "
    "words suit problems of meaning and common sense. End with <<<Code>>> or <<<Text>>>.\n\nProblem:\n{question}"
)
_REVIEW = (
    "The model answered:\n{answer}\n\nA check of this answer said:\n{check}\n\n{complexity}"
    "Decide what happens next. End with one of these in triple angle brackets: <<<Code>>> to make it write a program, "
    "<<<Text>>> to make it reason in words, <<<Return Answer>>> to accept the answer, <<<Terminate>>> to give up, or "
    "<<<your advice>>> with concrete advice in your own words, for example to search systematically or to use more "
    "elaborate symbolic code."
)
_CHECK = (
    "Here is a problem and an answer to it.\n\nProblem:\n{question}\n\nAnswer:\n{answer}\n\n"
    "Write one Python program in a ```python block that tests whether the answer is right: it must check every "
    'condition of the problem, or compute the answer in another way. It prints "Correct" if the answer is right, and '
    "otherwise what is wrong with it."
)
_CHECK_FAILED = "Your program ended with an error:\n{output}\n\nWrite a corrected program in one ```python block."
_CHECK_MISSING = "There is no block that opens with ```python. Write the program in one such block."

_LOOP = {
    "text": TEXT,
    "code": CODE,
    "decide": _DECIDE,
    "review": _REVIEW,
    "check": _CHECK,
    "check_failed": _CHECK_FAILED,
    "check_missing": _CHECK_MISSING,
}
BUILT_IN: dict[str, dict[str, str]] = {
    "only_question": {},
    "all_text_cot": {"instruction": TEXT},
    "all_code_cot": {"instruction": CODE},
    "autogen_conca": {"instruction": ASSISTANT},
    "code_text_sum1": {"text": TEXT, "code": CODE, "summarize": _SUMMARIZE},
    "code_text_choice": {"text": TEXT, "code": CODE, "choose": _CHOOSE},
    "code_interpreter": {"interpreter": _INTERPRETER, "result": _RESULT},
    "symbolic_agent": _LOOP,
    "codesteer": _LOOP,
}


def resolve(kind: str, given: Mapping[str, str], key: str) -> dict[str, str]:
    """Return the texts of a method: the given ones in place of the built-in ones.

    Raises
    ------
    ConfigError
        For a name that the kind does not have, or a text without the built-in one's places in braces, or with others.
    """
    own = BUILT_IN[kind]
    for name, text in given.items():
        if name not in own:
            raise ConfigError(
                f"{kind} has no text {name!r}", key=f"{key}.{name}", expected=", ".join(own) or "no text at all"
            )
        wanted, got = fields(own[name]), fields(text)
        if wanted != got:
            shown = ", ".join(f"{{{field}}}" for field in wanted) or "none"
            raise ConfigError("the places in braces are not those of the built-in text", key=key, expected=shown)
    return {name: given.get(name, text) for name, text in own.items()}


def fields(text: str) -> list[str]:
    """Return the places of a text, each once, sorted."""
    return sorted(set(_FIELD.findall(text)))
