"""Fit of the average Jacobian of a model.

    J_l = E[ dh_{L-1} / dh_l ]     (block outputs, before the final norm),     J_{L-1} = I

Per prompt, for each output dimension a one-hot cotangent stands on every valid target position at once and is
propagated back; the gradient is averaged over the valid source positions, so each source sums over itself and later
targets. Valid are the positions from `skip` up to all but the last. The estimator is that of the Jacobian lens
(Gurnee, Sofroniew, Lindsey et al. 2026); the code is ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.canonical import canonical_text, text_digest
from assay.errors import ConfigError, DataError, ModelError
from assay.fks.lens_file import SCHEMA, Lens
from assay.fks.lens_texts import default_texts
from assay.records.atomic import atomic_file

if TYPE_CHECKING:
    import torch

SUM_FILE = "lens-sum.safetensors"


class LensSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a lens is fitted.

    Attributes
    ----------
    prompts : int
        Prompts that enter the mean; part of the `setting` of every number that uses the lens.
    tokens : int
        Tokens of a prompt at most.
    skip : int
        Leading positions that are neither source nor target. A prompt with fewer than skip + 2 tokens has no valid
        position: it is skipped and counted.
    rows_per_pass : int
        Output dimensions of one backward pass. It decides speed, memory and the last bits.
    """

    prompts: int = 100
    tokens: int = 128
    skip: int = 16
    rows_per_pass: int = 8

    def check(self) -> None:
        """Refuse settings that leave no valid position."""
        if self.prompts < 1 or self.rows_per_pass < 1 or self.skip < 0:
            raise ConfigError(
                f"prompts {self.prompts}, rows_per_pass {self.rows_per_pass}, skip {self.skip}",
                key="lens",
                expected="at least one prompt and one row per pass, and no negative skip",
            )
        if self.tokens < self.skip + 2:
            raise ConfigError(
                f"{self.tokens} tokens leave no position after the first {self.skip}",
                key="lens.tokens",
                expected=f"at least {self.skip + 2}",
            )


class FittedModel(Protocol):
    """What of a loaded model is used; `assay.model.loading.Weights` is one."""

    model: Any
    tokenizer: Any
    n_layers: int
    width: int
    plain_attention: str

    def attend(self, implementation: str) -> None:
        """Choose an attention implementation."""
        ...


class Progress(msgspec.Struct, kw_only=True):
    """How far a fit has come: prompts read, used and too short, and what was asked for."""

    asked: str
    n_read: int = 0
    n_used: int = 0
    n_short: int = 0
    n_positions: int = 0


def fit(
    model: FittedModel,
    settings: LensSettings,
    *,
    texts: Sequence[str],
    layers: Sequence[int],
    shards: Path,
    header: Mapping[str, Any],
    report: Callable[[int, int], None] | None = None,
) -> Lens:
    """Fit the lens of a model.

    Finished prompts are kept: after each, the sum of all so far stands in `shards` under an atomic name, so an
    interrupted fit goes on with the next prompt and ends with the same bytes.

    Parameters
    ----------
    model : FittedModel
        Loaded, in evaluation mode, without gradients of its weights.
    texts : sequence of str
        Generic prompts; the first `settings.prompts` that are long enough are used. The embedded ones if empty.
    layers : sequence of int
        The layer window, ascending.
    shards : Path
        Holds nothing that was made from other input.
    header : mapping
        JSON data of the caller (model, revision) for the lens file.
    report : callable, optional
        Called with (prompts done, prompts wanted) after each prompt.

    Raises
    ------
    ConfigError
        If a setting leaves nothing to average.
    DataError
        If there are too few texts that are long enough.
    ModelError
        If a Jacobian is not finite.
    """
    settings.check()
    _check_layers(layers, model.n_layers)
    texts = list(texts) or default_texts()
    asked = canonical_text(
        [msgspec.to_builtins(settings), list(layers), dict(header), [text_digest(text) for text in texts]]
    )
    state, total = _resume(shards / SUM_FILE, text_digest(asked), (len(layers), model.width, model.width))
    model.attend(model.plain_attention)
    while state.n_used < settings.prompts:
        ids = _next_prompt(model, texts, settings, state)
        found = prompt_jacobians(model, ids, layers, settings)
        if not np.isfinite(found).all():
            raise ModelError("a Jacobian is not finite", row=state.n_read, remedy="load the model in float32")
        total += found
        state.n_used += 1
        state.n_positions += len(ids) - 1 - settings.skip
        _keep(shards / SUM_FILE, state, total)
        if report is not None:
            report(state.n_used, settings.prompts)
    mean = (total / state.n_used).astype(np.float32)
    return Lens({**header, **_described(model, settings, layers, texts, state)}, mean)


def _check_layers(layers: Sequence[int], n_layers: int) -> None:
    if not layers or list(layers) != sorted(set(layers)) or not 0 <= layers[0] <= layers[-1] < n_layers:
        raise ConfigError(f"layers are {list(layers)}", key="layers", expected=f"ascending, below {n_layers}")


def _described(
    model: FittedModel, settings: LensSettings, layers: Sequence[int], texts: Sequence[str], state: Progress
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "layers": list(layers),
        "width": model.width,
        "n_prompts": state.n_used,
        "n_short": state.n_short,
        "n_positions": state.n_positions,
        "settings": msgspec.to_builtins(settings),
        "texts_sha256": text_digest(canonical_text(list(texts[: state.n_read]))),
    }


def _next_prompt(model: FittedModel, texts: Sequence[str], settings: LensSettings, state: Progress) -> list[int]:
    """Return the token ids of the next text that is long enough; texts that are not are counted in `state`."""
    for text in texts[state.n_read :]:
        state.n_read += 1
        ids: list[int] = model.tokenizer(text)["input_ids"][: settings.tokens]
        if len(ids) >= settings.skip + 2:
            return ids
        state.n_short += 1
    raise DataError(
        f"only {state.n_used} of {len(texts)} texts have the {settings.skip + 2} tokens that a fit needs",
        key="lens.prompts",
        expected=f"{settings.prompts} texts",
        remedy="give more or longer texts, or ask for fewer prompts",
    )


def prompt_jacobians(
    model: FittedModel, ids: Sequence[int], layers: Sequence[int], settings: LensSettings
) -> NDArray[np.float64]:
    """Return the Jacobians of one prompt, shape [n_layers, d, d] (row = output dimension).

    One forward pass of `rows_per_pass` copies of the prompt, of which each carries the cotangent of one output
    dimension, then ceil(d / rows_per_pass) backward passes that stop at the lowest layer.
    """
    import torch

    width, top = model.width, model.n_layers - 1
    result = np.zeros((len(layers), width, width))
    sources = [layer for layer in layers if layer != top]
    if top in layers:
        result[list(layers).index(top)] = np.eye(width)
    if not sources:
        return result
    rows = min(settings.rows_per_pass, width)
    valid = slice(settings.skip, len(ids) - 1)
    with torch.enable_grad(), _linked(model, sources, top) as states:
        batch = torch.tensor([list(ids)] * rows, device=model.model.device)
        model.model.get_decoder()(input_ids=batch, use_cache=False)
        for start in range(0, width, rows):
            n = min(rows, width - start)
            cotangent = torch.zeros_like(states[top])
            for row in range(n):
                cotangent[row, valid, start + row] = 1
            gradients = torch.autograd.grad(
                states[top],
                [states[layer] for layer in sources],
                cotangent,
                retain_graph=start + rows < width,
            )
            for layer, gradient in zip(sources, gradients, strict=True):
                mean = gradient[:n, valid].float().mean(dim=1)
                result[list(layers).index(layer), start : start + n] = mean.double().cpu().numpy()
    return result


class _linked:  # noqa: N801 - used as a context manager, like a function
    """Capture block outputs with their graph, which begins at the lowest source: what is below needs no gradient."""

    def __init__(self, model: FittedModel, sources: Sequence[int], top: int) -> None:
        from assay.model.hidden import find_blocks

        self.states: dict[int, torch.Tensor] = {}
        self.blocks = find_blocks(model.model, model.n_layers)
        self.sources, self.top = sources, top
        self.handles: list[Any] = []

    def __enter__(self) -> dict[int, torch.Tensor]:
        lowest = min(self.sources)
        for layer in (*self.sources, self.top):
            self.handles.append(self.blocks[layer].register_forward_hook(self._hook(layer, layer == lowest)))
        return self.states

    def _hook(self, layer: int, is_leaf: bool) -> Callable[[object, object, Any], Any]:
        def keep(_module: object, _inputs: object, output: Any) -> Any:
            state = output[0] if isinstance(output, tuple) else output
            if is_leaf:
                state = state.detach().requires_grad_()
            self.states[layer] = state
            return (state, *output[1:]) if isinstance(output, tuple) else state

        return keep

    def __exit__(self, *_: object) -> None:
        for handle in self.handles:
            handle.remove()


def _resume(path: Path, asked: str, shape: tuple[int, int, int]) -> tuple[Progress, NDArray[np.float64]]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        return Progress(asked=asked), np.zeros(shape)
    try:
        with safe_open(path, framework="np") as file:
            state = msgspec.convert(json.loads((file.metadata() or {})["fks"]), Progress)
            total = np.array(file.get_tensor("sum"))
    except (SafetensorError, KeyError, ValueError, msgspec.ValidationError):
        return Progress(asked=asked), np.zeros(shape)
    if state.asked != asked or total.shape != shape:
        return Progress(asked=asked), np.zeros(shape)
    return state, total


def _keep(path: Path, state: Progress, total: NDArray[np.float64]) -> None:
    from safetensors.numpy import save

    with atomic_file(path) as file:
        file.write(save({"sum": total}, {"fks": canonical_text(msgspec.to_builtins(state))}))
