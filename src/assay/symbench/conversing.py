"""Conversations as generators: a method yields what it needs next, and gets the answer.

`hold` advances all samples at once, so that the questions of one round reach a model as one batch. A method is a
function of a question, written as if there were a single sample:

    answer = yield from ask("solver", chat)
    shown = yield from execute(code)
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from assay.model.engine import Decoding
from assay.records.rows import GenerationRow, Message, PromptRow
from assay.sandbox.records import Limits, Request, Result
from assay.symbench.rollout_rows import Turn

Role = Literal["solver", "guide", "checker"]
ROLES: tuple[Role, ...] = ("solver", "guide", "checker")

# What models are shown of an execution. The authors' loop replaces more than 2,000 tokens by a notice; their
# tokenizer is one model's, so this counts characters at four a token.
SHOWN_CHARACTERS = 8_000
# How much a program printed until it was stopped differs from run to run. So one that times out is run once more for a
# part of its time, and its output is shown only if that changed nothing in what would be shown.
PARTIAL_CHARACTERS = 2_000
EARLY = 0.25
GROWING = "Output: not shown, the program was still printing when it was stopped"
TOO_LONG = "The output is too long to be shown."


class Ask(msgspec.Struct, frozen=True):
    """A chat that a model should answer."""

    role: Role
    messages: tuple[Message, ...]


class Execute(msgspec.Struct, frozen=True):
    """A program that should be run as a file."""

    code: str


class Ended(msgspec.Struct, frozen=True):
    """What a method returns: the response that is judged."""

    response: str
    ending: str
    truncated: bool = False
    rounds: int = 0
    error: str | None = None


class Shown(msgspec.Struct, frozen=True):
    """An execution as models see it."""

    text: str
    clean: bool
    output: str


Talk = Generator[Ask | Execute, Any, Ended]


class ModelFailedError(Exception):
    """A model gave no answer; the sample counts as failed."""


class Talker(Protocol):
    """What is needed of a model (`assay.model.generate.ModelSession`)."""

    def complete_many(
        self,
        prompts: Sequence[PromptRow],
        decoding: Decoding,
        *,
        seed: int = 0,
        policy: Any = None,
    ) -> list[GenerationRow]:
        """Return one row for each prompt, in order; a chat template is used as for single-turn methods."""


class Runs(Protocol):
    """What is needed of the sandbox's executor."""

    def execute(self, requests: Sequence[Request]) -> list[Result]:
        """Return one result for each request, in order."""


class Services(Protocol):
    """What the rollouts step provides."""

    def model(self, role: str) -> Talker:
        """Return the model with a role."""

    @property
    def executor(self) -> Runs:
        """The sandbox."""


def ask(role: Role, messages: Sequence[Message]) -> Generator[Ask | Execute, Any, GenerationRow]:
    """Ask a model; raises `ModelFailedError` where it gives no answer."""
    row: GenerationRow = yield Ask(role, tuple(messages))
    if row.finish_reason == "error":
        raise ModelFailedError(f"the {role} failed: {row.error}")
    return row


def execute(code: str) -> Generator[Ask | Execute, Any, Shown]:
    """Run a program; return what models are shown of it."""
    shown: Shown = yield Execute(code)
    return shown


def user(text: str) -> Message:
    """Return a message of the user."""
    return Message("user", text)


def assistant(text: str) -> Message:
    """Return a message of the model."""
    return Message("assistant", text)


def hold(
    talks: Mapping[str, Talk],
    services: Services,
    decoding: Decoding,
    limits: Limits,
    *,
    seed: int = 0,
    policy: Any = None,
) -> tuple[dict[str, Ended], dict[str, list[Turn]]]:
    """Hold conversations side by side until all have ended.

    Parameters
    ----------
    talks : mapping
        Query id -> conversation; the query id decides the seed of a sampled answer.
    limits : Limits
        Of every program inside a conversation.

    Returns
    -------
    ended, turns : dict
        By query id, in the order of `talks`.
    """
    turns: dict[str, list[Turn]] = {name: [] for name in talks}
    ended: dict[str, Ended] = {}
    replies: dict[str, Any] = dict.fromkeys(talks)
    while replies:
        wanted = _advance(talks, replies, ended)
        replies = {}
        for role in ROLES:
            asks = {name: one for name, one in wanted.items() if isinstance(one, Ask) and one.role == role}
            if not asks:
                continue
            prompts = [PromptRow.of_messages(name, list(one.messages)) for name, one in asks.items()]
            rows = services.model(role).complete_many(prompts, decoding, seed=seed, policy=policy)
            for (name, one), row in zip(asks.items(), rows, strict=True):
                turns[name].append(_answer_turn(one, row))
                replies[name] = row
        programs = {name: one for name, one in wanted.items() if isinstance(one, Execute)}
        if programs:
            executed = _run([one.code for one in programs.values()], services.executor, limits)
            for name, (result, early) in zip(programs, executed, strict=True):
                replies[name] = seen(result, early)
                turns[name].append(_execution_turn(result, early, replies[name]))
        replies = {name: replies[name] for name in wanted}  # the order of the samples, not of the roles
    return {name: ended[name] for name in talks}, turns


def _advance(
    talks: Mapping[str, Talk], replies: Mapping[str, Any], ended: dict[str, Ended]
) -> dict[str, Ask | Execute]:
    wanted: dict[str, Ask | Execute] = {}
    for name, reply in replies.items():
        try:
            wanted[name] = talks[name].send(reply)
        except StopIteration as stop:
            ended[name] = stop.value
        except ModelFailedError as failure:
            ended[name] = Ended("", "error", error=str(failure))
    return wanted


def _run(codes: Sequence[str], executor: Runs, limits: Limits) -> list[tuple[Result, Result | None]]:
    """Run programs; those that time out once more for a part of the time, as the second result of a pair."""
    results = executor.execute([Request(code=code, limits=limits) for code in codes])
    late = {code: None for code, result in zip(codes, results, strict=True) if result.final.payload.kind == "timeout"}
    shorter = msgspec.structs.replace(limits, time_s=EARLY * limits.time_s)
    early = executor.execute([Request(code=code, limits=shorter) for code in late]) if late else []
    again = dict(zip(late, early, strict=True))
    return [(result, again.get(code)) for code, result in zip(codes, results, strict=True)]


def seen(result: Result, early: Result | None = None) -> Shown:
    """Return what models see of an execution, time-outs and errors included.

    Parameters
    ----------
    early : Result or None
        Of a program that timed out: what it gave in a part of the time. What both printed is shown, if it is the same
        up to the length that is shown; so the text does not depend on where the program was stopped, unless it prints
        so late that the time-out itself does.

    Returns
    -------
    Shown
        `clean` tells whether the program ended by itself without anything on standard error.
    """
    record = result.final
    kind = record.payload.kind
    stopped = kind not in ("ok", "error")
    errors = record.payload.stderr_norm.data.decode("utf-8", "replace") if record.payload.stderr_norm else ""
    if kind == "timeout":
        output, growing = _stable(result, early)
    else:
        # What is not in the payload is not reproducible.
        output, growing = record.payload.stdout.data.decode("utf-8", "replace") if record.payload.stdout else "", False
    if stopped:
        output = output[:PARTIAL_CHARACTERS]
    if len(output) + len(errors) > SHOWN_CHARACTERS:
        return Shown(TOO_LONG, clean=False, output=TOO_LONG)
    parts = [GROWING if growing else f"Output:\n{output.rstrip()}" if output.strip() else "Output: none"]
    if kind != "timeout" and record.payload.stdout is None:
        parts = []  # It may have printed something.
    if errors.strip():
        parts.append(f"Errors:\n{errors.rstrip()}")
    if stopped:
        reasons = {
            "timeout": f"The program was stopped: it ran longer than {record.payload.limits.time_s:g} seconds.",
            "memory": "The program was stopped: it needed too much memory.",
            "output_limit": "The program was stopped: it printed too much.",
        }
        parts.append(reasons.get(kind, "The program was stopped."))
    return Shown("\n".join(parts), clean=kind == "ok" and not errors.strip(), output=output)


def _stable(result: Result, early: Result | None) -> tuple[str, bool]:
    """Return the reproducible beginning of what a timed-out program printed, and whether it printed more."""
    if early is None:
        return "", True
    texts = [one.final.stdout.decode("utf-8", "replace")[:PARTIAL_CHARACTERS] for one in (early, result)]
    return (texts[0], False) if texts[0] == texts[1] else ("", True)


def _answer_turn(one: Ask, row: GenerationRow) -> Turn:
    return Turn(
        actor=one.role,
        text=row.text,
        asked=one.messages[-1].content or "",
        prompt_sha256=row.prompt_sha256,
        row_key=row.row_key,
        n_prompt_tokens=row.n_prompt_tokens,
        n_new_tokens=row.n_new_tokens,
        finish_reason=row.finish_reason,
        truncated_prompt=row.truncated,
    )


def _execution_turn(result: Result, early: Result | None, shown: Shown) -> Turn:
    payload = result.final.payload
    texts = [
        captured.data.decode("utf-8", "replace") if captured else ""
        for captured in (payload.stdout, payload.stderr_norm)
    ]
    return Turn(
        actor="sandbox",
        text=shown.text,
        code_sha256=payload.code_sha256,
        kind=payload.kind,
        stdout=texts[0],
        stderr=texts[1],
        exit_code=payload.exit_code,
        nondeterministic=result.nondeterministic or (early is not None and early.nondeterministic),
    )
