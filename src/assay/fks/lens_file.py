"""Lenses on disk: the average Jacobian of each layer of the window."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.canonical import canonical_text
from assay.errors import DataError

SCHEMA = "lens-1"
LENS = "lens.safetensors"
METADATA_KEY = "fks"


@dataclass(frozen=True)
class Lens:
    """Average Jacobians J_l = E[dh_{L-1} / dh_l] of block outputs.

    Attributes
    ----------
    header : dict
        `schema, layers, width, n_prompts` and where the lens comes from.
    jacobians : array of float32, shape [n_layers, d, d]
        Row = output dimension: the transported state is J h.
    """

    header: dict[str, Any]
    jacobians: NDArray[np.float32]

    @property
    def layers(self) -> tuple[int, ...]:
        """Decoder blocks, in the order of the matrices."""
        return tuple(self.header["layers"])

    def of(self, layer: int) -> NDArray[np.float64]:
        """Return the Jacobian of a decoder block as float64, shape [d, d], row = output dimension."""
        return np.asarray(self.jacobians[self.layers.index(layer)], dtype=np.float64)

    def to_bytes(self) -> bytes:
        """Return the safetensors file; equal lenses give equal bytes, which two metadata keys would not."""
        from safetensors.numpy import save

        return bytes(save({"J": np.ascontiguousarray(self.jacobians)}, {METADATA_KEY: canonical_text(self.header)}))


def read_lens(path: Path) -> Lens:
    """Read a lens file.

    Raises
    ------
    DataError
        If it is missing, no lens, or holds numbers that are not finite.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            header = json.loads((file.metadata() or {})[METADATA_KEY])
            jacobians = file.get_tensor("J")
    except (SafetensorError, FileNotFoundError, KeyError, ValueError) as error:
        raise DataError(f"this is no lens file: {error}", file=path, expected="safetensors with a tensor J") from error
    if not _is_header(header):
        raise DataError("the header of the lens lacks something", file=path, expected="layers and n_prompts")
    if jacobians.ndim != 3 or jacobians.shape[0] != len(header["layers"]) or jacobians.shape[1] != jacobians.shape[2]:
        raise DataError(f"J has the shape {jacobians.shape}", file=path, expected="[layers of the header, d, d]")
    if not np.isfinite(jacobians).all():
        raise DataError("J holds numbers that are not finite", file=path, remedy="fit the lens again in float32")
    return Lens(header, jacobians.astype(np.float32))


def _is_header(found: object) -> bool:
    """Tell whether a file's metadata have what everybody reads of a lens."""
    return (
        isinstance(found, dict)
        and isinstance(found.get("layers"), list)
        and all(isinstance(layer, int) for layer in found["layers"])
        and isinstance(found.get("n_prompts"), int)
    )


def check_fits(lens: Lens, layers: Sequence[int], width: int, top_state: object, file: Path) -> None:
    """Refuse a lens that was not made for these states.

    Raises
    ------
    DataError
        If a layer is missing, the width differs, or the states are not block outputs.
    """
    if top_state != "block_output":
        raise DataError(
            f"the states were taken as {top_state!r}",
            file=file,
            key="top_state",
            expected="block_output: a Jacobian leads to the last block's output, before the final norm",
            remedy="extract the states with top_state: block_output",
        )
    missing = sorted(set(layers) - set(lens.layers))
    if missing or lens.jacobians.shape[1] != width:
        raise DataError(
            f"the lens has the layers {list(lens.layers)} of {lens.jacobians.shape[1]} dimensions",
            file=file,
            expected=f"the layers {list(layers)} of {width} dimensions",
            remedy="fit the lens for the layer window of this model",
        )
