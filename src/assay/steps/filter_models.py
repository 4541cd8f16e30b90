"""Filter models: the next token of a model after each of many prompts, for the choice of facts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config.models import ModelEntry
from assay.errors import ModelError
from assay.model.engine import Decoding, Request
from assay.model.identity import model_identity
from assay.model.prompting import Encoder
from assay.records.rows import PromptRow
from assay.records.step import StepContext
from assay.steps.loaded import loaded_model

if TYPE_CHECKING:
    from assay.model.loading import LoadedModel


class LoadedFilter:
    """One loaded model, seen as what it continues a text with.

    Attributes
    ----------
    identity : dict
        Name, dtype and the digest of the locked files.
    """

    def __init__(self, entry: ModelEntry, folder: Path, model: "LoadedModel", locked: Mapping[str, Any]) -> None:
        self.identity = {"name": entry.name, "dtype": entry.dtype, "model_sha256": model_identity(locked)}
        self._encoder = Encoder(folder, entry)
        self._engine = model.engine
        self._tokenizer = model.weights.tokenizer

    def tokens(self, text: str) -> Sequence[int]:
        """Return the token ids of a text, as the text of a prompt has them: no chat template, the BOS if any."""
        return self._encode([text])[0]

    def next_tokens(self, prompts: Sequence[str]) -> Sequence[int]:
        """Return the token of the largest logit after each prompt, in their order.

        Raises
        ------
        ModelError
            If the logits of a prompt are no numbers.
        """
        requests = [Request(str(place), ids, 1) for place, ids in enumerate(self._encode(prompts))]
        found: dict[int, int] = {}
        for done in self._engine.generate(requests, Decoding(max_new_tokens=1)):
            if done.finish_reason == "error" or not done.token_ids:
                raise ModelError(
                    f"{self.identity['name']} has no next token: {done.error}",
                    row=prompts[int(done.row_id)],
                    remedy="load the model in float32, or take another filter model",
                )
            found[int(done.row_id)] = done.token_ids[0]
        return [found[place] for place in range(len(prompts))]

    def is_blank(self, token: int) -> bool:
        """Tell whether a token is white space and nothing else."""
        return not self._tokenizer.decode([token]).strip()

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        rows = [PromptRow.of_text(str(place), text) for place, text in enumerate(texts)]
        return [encoded.token_ids for encoded in self._encoder.encode(rows, 1, chat=False)]


class FilterModels(Mapping[str, LoadedFilter]):
    """The filter models of a job by name, in the job's order; one at a time is in memory."""

    def __init__(self, context: StepContext, stack: ExitStack) -> None:
        self._context = context
        self._stack = stack
        self._entries = {entry["name"]: entry for entry in context.config["models"]}

    def __getitem__(self, name: str) -> LoadedFilter:
        """Load a model; the one before it is given up."""
        self._stack.close()
        decisive = self._entries[name]
        entry, folder, model = self._stack.enter_context(loaded_model(self._context, decisive))
        return LoadedFilter(entry, folder, model, self._context.locked[f"models/{name}"])

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self._entries)


@contextmanager
def open_models(context: StepContext) -> Iterator[FilterModels]:
    """Give the filter models that the job's config describes under `models`."""
    with ExitStack() as stack:
        yield FilterModels(context, stack)
