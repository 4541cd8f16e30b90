"""Lenses that others fitted: import of published files, and what the lens stage makes of them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.canonical import file_digest
from assay.errors import DataError
from assay.fks.lens_file import LENS, SCHEMA, Lens, read_lens
from assay.records.step import Inputs, Outputs


class ImportedSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings of `imported`: the project file, its locked digest, the model, and the layer window."""

    file: str
    sha256: str | None
    model: str
    layers: tuple[int, ...]


def imported(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Make `lens.safetensors` from a lens that `assay fks import-lens` wrote into the project.

    Raises
    ------
    DataError
        If the file is missing, not the locked one, of another model, or lacks a layer of the window.
    """
    del inputs
    settings = msgspec.convert(config, ImportedSettings)
    path = Path(settings.file)
    remedy = f"import it again: `assay fks import-lens FILE --model {settings.model}`"
    if not path.is_file():
        raise DataError("the lens does not exist", file=path, remedy=remedy)
    if file_digest(path) != settings.sha256:
        raise DataError("the lens is not the locked one", file=path, expected=settings.sha256, remedy=remedy)
    lens = read_lens(path)
    if lens.header.get("model_id") != settings.model:
        raise DataError(
            f"the lens is of {lens.header.get('model_id')!r}", file=path, expected=repr(settings.model), remedy=remedy
        )
    missing = sorted(set(settings.layers) - set(lens.layers))
    if missing:
        raise DataError(f"the lens has no layer {missing[0]}", file=path, expected=list(settings.layers), remedy=remedy)
    places = [lens.layers.index(layer) for layer in settings.layers]
    chosen = Lens({**lens.header, "layers": list(settings.layers)}, lens.jacobians[places])
    return {LENS: chosen.to_bytes()}


def import_published(
    path: Path, *, layers: Sequence[int], n_layers: int, header: Mapping[str, Any], width: int | None = None
) -> Lens:
    """Read a published lens: a `.pt` dict with `J` (layer -> [d, d]), `n_prompts`, `source_layers`, `d_model`.

    Only tensors and plain data are unpickled (`weights_only=True`), so a file cannot run code.

    Parameters
    ----------
    layers : sequence of int
        The layer window that is wanted; the top layer need not be in the file, since its Jacobian is the identity.
    n_layers : int
        Decoder blocks of the model.
    width : int, optional
        Width of the model's states, where it is known.
    header : mapping
        JSON data of the caller (model, revision, source).

    Raises
    ------
    DataError
        If the file is something else, a layer is missing, a shape is wrong, or a number is not finite.
    """
    import pickle

    import torch

    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise DataError(
            f"this is no published lens: {str(error).splitlines()[0] if str(error) else type(error).__name__}",
            file=path,
            expected="a .pt file of tensors and plain data",
        ) from error
    if not isinstance(found, dict) or not {"J", "n_prompts", "d_model"} <= found.keys():
        raise DataError("the file lacks keys", file=path, expected="J, n_prompts, source_layers, d_model")
    try:
        wide, n_prompts = int(found["d_model"]), int(found["n_prompts"])
    except (TypeError, ValueError) as error:
        raise DataError("d_model or n_prompts is no number", file=path, expected="one integer each") from error
    if not isinstance(found["J"], dict):
        raise DataError("J is no dict", file=path, key="J", expected="layer number -> tensor of [d, d]")
    if width not in (None, wide) or n_prompts < 1:
        raise DataError(
            f"the lens is {wide} wide, of {n_prompts} prompts",
            file=path,
            expected=f"{width or wide} dimensions, as the model has them, and at least one prompt",
            remedy="take the lens of this model",
        )
    own = {
        "schema": SCHEMA,
        "layers": list(layers),
        "width": wide,
        "n_prompts": n_prompts,
        "origin": "published",
        "published_sha256": file_digest(path),
    }
    return Lens({**header, **own}, np.stack(list(_published(found, layers, n_layers, wide, path))))


def _published(
    found: Mapping[str, Any], layers: Sequence[int], n_layers: int, width: int, path: Path
) -> Iterator[NDArray[np.float32]]:
    import torch

    table: dict[int, Any] = {}
    for layer, matrix in found["J"].items():
        if not str(layer).isdecimal() or not isinstance(matrix, torch.Tensor):
            raise DataError(f"J has the entry {layer!r}", file=path, key="J", expected="layer number -> tensor")
        table[int(layer)] = matrix.detach()
    beyond = sorted(layer for layer in table if not 0 <= layer < n_layers)
    if beyond:
        raise DataError(f"layer {beyond[0]} is none of the model", file=path, key="J", expected=f"0 to {n_layers - 1}")
    for layer in layers:
        if layer not in table:
            if layer == n_layers - 1:
                yield np.eye(width, dtype=np.float32)
                continue
            raise DataError(f"layer {layer} is missing", file=path, key="J", expected=f"one of {sorted(table)}")
        matrix = table[layer].float().numpy()
        if matrix.shape != (width, width):
            raise DataError(f"J of layer {layer} has the shape {matrix.shape}", file=path, expected=[width, width])
        if not np.isfinite(matrix).all():
            raise DataError(f"J of layer {layer} holds numbers that are not finite", file=path, remedy="fit it again")
        yield matrix
