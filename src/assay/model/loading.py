"""Loads a model folder and gives it an engine."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import ConfigError, ModelError
from assay.model.engine import Engine
from assay.model.folder import check_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

    from assay.model.packed_linear import PreparedLinears

EngineName = Literal["packed", "sequential", "padded"]
DTYPES = ("float32", "bfloat16", "float16")

# Measured: with spinning threads a busy machine generated a quarter of the tokens per CPU-second.
_WAITING = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
# Set by people who want other kernels; each changes bits, so each belongs to the environment of a row.
_KERNEL_VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "ONEDNN_MAX_CPU_ISA",
    "DNNL_MAX_CPU_ISA",
)

_NUMBER = re.compile(r"(.*?\.)(\d+)\.")


def prepare_process(threads: int = 1) -> None:
    """Set what must be set before torch and transformers are imported: passive waiting, threads, no hub.

    Called by `load`; call it earlier where something else imports torch first, since waiting threads and the hub
    switch are read once. Values that the user has set stay.
    """
    for name, value in (_WAITING | _OFFLINE | {"OMP_NUM_THREADS": str(threads)}).items():
        os.environ.setdefault(name, value)


@dataclass
class Weights:
    """A model in memory with what engines need to know about it.

    Attributes
    ----------
    model, tokenizer
        Of transformers; the model is in evaluation mode and its own generation settings are gone.
    eos_ids : frozenset of int
        Tokens that end a row: those of the model's configs and of the tokenizer.
    vocabulary : int
        Rows of the embedding; token ids are below it.
    context : int or None
        Positions that the model was made for, None where its config sets no limit.
    plain_attention : str
        The attention that the model has by default: "sdpa" wherever it can.
    linears : PreparedLinears or None
        Layers that packed steps may use in another layout; None where that is not possible.
    environment : dict
        The part of an identity that all engines share.
    """

    folder: Path
    model: Any
    tokenizer: Any
    eos_ids: frozenset[int]
    vocabulary: int
    context: int | None
    n_layers: int
    width: int
    threads: int
    plain_attention: str
    environment: dict[str, Any]
    linears: PreparedLinears | None = field(default=None, repr=False)

    @property
    def can_choose_attention(self) -> bool:
        """Whether the architecture takes its attention from the interface of transformers."""
        return bool(self.model._can_set_attn_implementation())

    def attend(self, implementation: str, *, prepared: bool = False) -> None:
        """Make the model use an attention implementation ("eager", "sdpa", ...) from now on.

        Parameters
        ----------
        prepared : bool
            Whether its linear layers use prepared weights, where it has them.
        """
        if self.linears is not None:
            self.linears.use(prepared)
        if self.model.config._attn_implementation != implementation:
            self.model.set_attn_implementation(implementation)


@dataclass
class LoadedModel:
    """A model ready to generate.

    Attributes
    ----------
    engine : Engine
        What was asked for, or the sequential engine.
    fallback : str or None
        Why the packed engine could not be used; for logs and envelopes. The identity tells it, too.
    """

    weights: Weights
    engine: Engine
    fallback: str | None = None
    layout: tuple[tuple[int, int, int], ...] | None = field(default=None, repr=False)

    @cached_property
    def states_refusal(self) -> str | None:
        """Why states of a model that generates in packs go one prompt at a time; None where they need not."""
        if self.layout is None or self.weights.linears is None:
            return None  # nothing that was not examined already
        from assay.model.selftest import examine_states

        return examine_states(self.weights)


def load(
    folder: Path,
    dtype: str = "float32",
    device: str = "cpu",
    engine: EngineName = "packed",
    *,
    threads: int = 1,
    slots: int = 128,
    batch_size: int = 32,
) -> LoadedModel:
    """Load a Hugging Face style folder (config, safetensors, tokenizer) without touching any hub.

    Parameters
    ----------
    dtype : {"float32", "bfloat16", "float16"}
    engine : {"packed", "sequential", "padded"}
        "packed" examines the model first and becomes "sequential" where its guarantee does not hold.
    threads : int
        Threads of this process. The packed engine works with as many lanes of one thread each, the others with threads
        of torch.
    slots : int
        Rows in work at once in each lane of the packed engine; no bits depend on it.
    batch_size : int
        Of the padded engine, where bits depend on it.

    Raises
    ------
    ModelError
        For a missing folder, config, weights or tokenizer, an architecture that transformers lacks, weights that
        do not fill the model, and a device that is not there.
    """
    weights = load_weights(Path(folder), dtype, device, threads)
    if engine == "padded":
        from assay.model.unpacked import PaddedEngine

        return LoadedModel(weights, PaddedEngine(weights, batch_size))
    from assay.model.unpacked import SequentialEngine

    if engine == "sequential":
        return LoadedModel(weights, SequentialEngine(weights))
    from assay.model.packed import PackedEngine
    from assay.model.selftest import examine

    verdict = examine(weights)
    if verdict.refusal is not None:
        return LoadedModel(weights, SequentialEngine(weights), fallback=verdict.refusal)
    lanes = threads if device == "cpu" else 1
    return LoadedModel(weights, PackedEngine(weights, verdict.layout, slots=slots, lanes=lanes), layout=verdict.layout)


def load_weights(folder: Path, dtype: str, device: str, threads: int) -> Weights:
    """Load model and tokenizer; see `load`."""
    if dtype not in DTYPES:
        raise ConfigError(f"dtype is {dtype!r}", key="dtype", expected=" or ".join(DTYPES))
    if threads < 1:
        raise ConfigError(f"threads is {threads}", key="threads", expected="at least 1")
    check_folder(folder)
    prepare_process(threads)
    import torch

    torch.set_num_threads(threads)
    _check_device(device)
    model = _load_model(folder, getattr(torch, dtype), device)
    from assay.model.packed_linear import prepared_linears

    tokenizer = load_tokenizer(folder)
    config = model.config.get_text_config(decoder=True)
    vocabulary = model.get_input_embeddings().weight.shape[0]
    return Weights(
        folder=folder,
        model=model,
        tokenizer=tokenizer,
        eos_ids=_neutral_generation(model, tokenizer),
        vocabulary=int(vocabulary),
        context=getattr(config, "max_position_embeddings", None),
        n_layers=int(config.num_hidden_layers),
        width=int(config.hidden_size),
        threads=threads,
        plain_attention=model.config._attn_implementation,
        environment=_environment(model, dtype),
        linears=prepared_linears(model),
    )


def _check_device(device: str) -> None:
    import torch

    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"device {device!r} cannot be used: {str(error).splitlines()[0]}", remedy="use cpu") from error


def _load_model(folder: Path, dtype: torch.dtype, device: str) -> Any:
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        model, report = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=dtype,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # reported below, with names
        )
    except Exception as error:  # whatever the library raises about these files; its checks of configs know no bounds
        raise ModelError(f"transformers cannot load the model: {first_words(error)}", file=folder) from error
    if lack := lacking(report) or surplus(report, model) or _packed_otherwise(model):
        raise ModelError(
            lack,
            file=folder,
            expected="a tensor for every parameter, and every layer in use",
            remedy="fetch or convert the model again",
        )
    _own(model)
    return model.to(device).eval().requires_grad_(False)


def _own(model: Any) -> None:
    # Tensors of the file's own type are its mapped pages: a file overwritten in place would change a model that works.
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data = tensor.data.clone()


def lacking(report: Mapping[str, Any]) -> str | None:
    """Return what weights lack by the report of transformers, which fills it with random numbers and only warns."""
    for name in ("missing_keys", "mismatched_keys", "error_msgs"):
        if keys := sorted(map(str, report.get(name) or ())):
            shown = ", ".join(keys[:3]) + (" ..." if len(keys) > 3 else "")
            return f"the weights do not fit the config: {name.replace('_', ' ')} {shown}"
    return None


def surplus(report: Mapping[str, Any], model: Any) -> str | None:
    """Return which layers, or parts of layers, the weights have beyond the config; transformers leaves them out.

    Other tensors without a place are left out too (buffers of old versions, parts for other uses), and those of layers
    that predict several tokens at once, where the config counts them.
    """
    leaves = {name for name, module in model.named_modules() if module._parameters and not module._modules}
    for name in sorted(map(str, report.get("unexpected_keys") or ())):
        *above, last = name.split(".")
        # A bias or a scale of a layer that is used without it; `_extra_state` is a remark of a trainer.
        if last != "_extra_state" and any(".".join(above[:end]) in leaves for end in range(1, len(above) + 1)):
            return f"the weights do not fit the config: it has no place for {name}"
    if getattr(model.config.get_text_config(decoder=True), "num_nextn_predict_layers", None):
        return None
    own = {_layer(name) for name in model.state_dict()}
    stacks = {layer[0] for layer in own if layer is not None}
    for name in sorted(map(str, report.get("unexpected_keys") or ())):
        layer = _layer(name)
        if layer is not None and layer not in own and (layer[0] in stacks or not stacks):
            return f"the weights do not fit the config: it names fewer layers than {name}"
    return None


def _packed_otherwise(model: Any) -> str | None:
    """Return how weights are packed that transformers took for plain ones, with a warning only."""
    for config in (model.config, model.config.get_text_config(decoder=True)):
        method = getattr(config, "quantization_config", None)
        if method is not None and getattr(model, "hf_quantizer", None) is None:
            return f"transformers does not know how the weights are quantised: {method}"
    return None


def _layer(name: str) -> tuple[str, str] | None:
    """Return the first number in a tensor's name, and what stands before it."""
    found = _NUMBER.match(name)
    return None if found is None else (found[1], found[2])


def decoder_config(folder: Path) -> Any:
    """Return what the config of a model folder says about its decoder, without the weights.

    Raises
    ------
    ModelError
        If transformers does not know the model.
    """
    prepare_process()
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        return config.get_text_config(decoder=True)
    except Exception as error:
        raise ModelError(
            f"transformers does not know this model: {first_words(error)}", file=folder / "config.json"
        ) from error


def load_tokenizer(folder: Path) -> Any:
    """Load the tokenizer of a model folder alone.

    Raises
    ------
    ModelError
        If there is none, or transformers does not know it.
    """
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            padding_side="left",
            clean_up_tokenization_spaces=False,
        )
    except Exception as error:
        raise ModelError(f"transformers cannot load the tokenizer: {first_words(error)}", file=folder) from error


def first_words(error: Exception) -> str:
    """Return what a library's error says: its first line, with the next one where that ends in a colon."""
    lines = [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]
    return " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]


def _neutral_generation(model: Any, tokenizer: Any) -> frozenset[int]:
    """Drop the model's own sampling settings; return its end-of-sequence ids."""
    from transformers import GenerationConfig

    named = (model.generation_config, model.config, model.config.get_text_config(decoder=True), tokenizer)
    eos_ids: set[int] = set()
    for owner in named:
        found = getattr(owner, "eos_token_id", None)
        if found is not None:
            eos_ids.update([found] if isinstance(found, int) else found)
    model.generation_config = GenerationConfig()
    return frozenset(eos_ids)


def _environment(model: Any, dtype: str) -> dict[str, Any]:
    import torch
    import transformers

    kernels = {name: os.environ[name] for name in _KERNEL_VARIABLES if os.environ.get(name)}
    device = model.device.type
    return {
        "dtype": dtype,
        "device": torch.cuda.get_device_name(model.device) if device == "cuda" else device,
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "cpu_vendor": _cpu_vendor(),
        "kernel_variables": kernels,
    }


def _cpu_vendor() -> str:
    # MKL takes other code paths on other vendors' processors of one instruction-set level.
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in {"vendor_id", "CPU implementer"}:
                return value.strip()
    import platform

    return platform.machine()
