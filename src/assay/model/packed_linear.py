"""Linear layers whose weights are laid out once for oneDNN; packed steps use them instead of torch's own way.

torch hands every float32 product to a library that arranges the weights anew each time, and that gives a row other
bits with one, two or three, and more rows. Measured on the shapes of the embedded models (1 to 513 rows, 1 and 2
threads): with prepared weights oneDNN has one single result from two rows on, and takes a quarter less time with 16
rows, an eighth less with 64 and more. A whole run of SmolLM2-135M takes three quarters of the processor time.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

RULE = "onednn-1"
"""Raise the number with every change that can change bits."""

# A hint for the layout of the weights; another one could give other bits, so it is no setting.
_ROWS = 64


class PreparedLinears:
    """The linear layers of a model, in one of two layouts: as torch has them, or prepared.

    There is one copy of every weight: preparing frees the one that torch had, unless another module shares it.

    Parameters
    ----------
    model : torch.nn.Module
        On the cpu, in float32.
    """

    def __init__(self, model: Any) -> None:
        users = Counter(id(weight) for module in model.modules() for weight in module.parameters(recurse=False))
        linears = [module for module in model.modules() if type(module) is torch.nn.Linear]
        self._linears = [(module, users[id(module.weight)] > 1) for module in linears]
        self._prepared: list[torch.Tensor] = []

    def use(self, prepared: bool) -> None:
        """Bring all layers into one layout; their numbers stay the same."""
        if prepared and not self._prepared:
            for module, shared in self._linears:
                weight = torch.ops.mkldnn._reorder_linear_weight(module.weight, _ROWS)
                self._prepared.append(weight)
                module.forward = _forward(weight, module.bias)  # type: ignore[method-assign, assignment]
                if not shared:
                    module.weight.data = module.weight.new_empty(0)
        elif not prepared and self._prepared:
            for (module, shared), weight in zip(self._linears, self._prepared, strict=True):
                del module.forward
                if not shared:
                    module.weight.data = weight.to_dense()
            self._prepared = []


def prepared_linears(model: Any) -> PreparedLinears | None:
    """Return the layers of a model that can be prepared; None where this build or device cannot."""
    available = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if not available or model.device.type != "cpu" or model.dtype != torch.float32:
        return None
    return PreparedLinears(model)


def _forward(weight: torch.Tensor, bias: torch.Tensor | None) -> Callable[[torch.Tensor], torch.Tensor]:
    def forward(rows: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")
        return result

    return forward
