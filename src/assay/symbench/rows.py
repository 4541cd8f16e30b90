"""One SymBench sample: what is asked, and what its verifier needs to judge an answer.

The record is the one of the published data (one JSON object a line). Samples that this project generates have
the same shape, so that every stage after `tasks` knows one kind of row.
"""

from typing import Any, Literal

import msgspec

QuestionSource = Literal["published", "own", "generated"]


class Runner(msgspec.Struct, frozen=True):
    """Whether the authors' published runner evaluates the sample; None where it draws without a seed."""

    baseline: bool | None = None
    codesteer: bool | None = None


class TaskRow(msgspec.Struct, frozen=True, kw_only=True):
    """One sample of one task.

    Attributes
    ----------
    task, sample_id : str
        Together the identity of the sample. Questions are not unique: several tasks repeat a prompt.
    question : str
        The text that the plain-question method sends.
    solution : dict or list
        The published solution, unchanged, or the inputs and derived values that the verifier reads.
    complexity : dict
        Parameters of the generator; empty where none exist.
    upstream_pool : bool
        False only for published samples that the authors' runner never reads.
    question_source : str
        "published" text, a text composed in our "own" words from published inputs, or a "generated" sample.
        Rows of different sources are never compared.
    """

    task: str
    sample_id: str
    question: str
    solution: Any
    complexity: dict[str, Any] = {}
    upstream_pool: bool = True
    runner: Runner = Runner()
    question_source: QuestionSource = "published"

    @property
    def query_id(self) -> str:
        """The sample's name in prompts, generations and labels."""
        return f"{self.task}/{self.sample_id}"
