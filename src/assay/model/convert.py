"""Turns a GGUF file into a model folder, in a process of its own: it needs several times the file's memory."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from assay.errors import ModelError
from assay.model.loading import lacking

# Control tokens after which nothing belongs to the answer. A GGUF file names one end token, while models have two: one
# for the turn of a chat, one for the text. llama.cpp, whose format it is, stops at every token with such a text.
_ENDS = frozenset(
    {
        "</s>",
        "<eos>",
        "<EOT>",
        "<|EOT|>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<|im_end|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|end|>",
        "<end_of_turn>",
        "<|end_of_turn|>",
        "<|END_OF_TURN_TOKEN|>",
        "<end_of_utterance>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    }
)
_BLOCK = re.compile(r"blk\.(\d+)\.")


def run_conversion(gguf: Path, folder: Path) -> None:
    """Convert in a child process.

    Raises
    ------
    ModelError
        For an unknown architecture, a file that is no GGUF, or a child that was killed (memory).
    """
    command = [sys.executable, "-m", "assay.model.convert", str(gguf), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
    if done.returncode < 0:
        raise ModelError(
            f"the conversion was killed by signal {-done.returncode}", file=gguf, remedy="it may need more memory"
        )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ModelError(
            f"the GGUF file cannot be converted: {reason}",
            file=gguf,
            expected="a whole file of an architecture that transformers reads",
            remedy="take the model's own folder (kind: hub or folder), or let llama.cpp serve it (kind: endpoint)",
        )


def convert(gguf: Path, folder: Path) -> None:
    """Write a GGUF file's model and tokenizer as a plain safetensors folder in float32.

    Raises
    ------
    ModelError
        If the file lacks a tensor, or holds what transformers would leave out of the model.
    """
    if lack := left_out(gguf):
        raise ModelError(lack)
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    # transformers also reads a tokenizer that lies beside the file, which the file's digest does not cover.
    with tempfile.TemporaryDirectory(dir=folder) as alone:
        (Path(alone) / gguf.name).symlink_to(gguf.absolute())
        where = {"pretrained_model_name_or_path": alone, "gguf_file": gguf.name}
        tokenizer = AutoTokenizer.from_pretrained(**where)
        model, report = AutoModelForCausalLM.from_pretrained(
            **where, dtype=torch.float32, output_loading_info=True, ignore_mismatched_sizes=True
        )
    if lack := lacking(report):
        raise ModelError(lack)
    # A model that came from GGUF counts as quantised and refuses to be saved, although its weights are plain by now.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.generation_config.eos_token_id = end_tokens(tokenizer, model.config.eos_token_id)
    model.generation_config._from_model_config = False  # else it is derived from the config again when it is saved
    model.config._name_or_path = ""
    tokenizer.name_or_path = ""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def left_out(file: Path) -> str | None:
    """Return what of a GGUF file decides answers and yet is not read by transformers; None if nothing is.

    It takes positions as unscaled, whatever the file says (Llama 3.1 and its successors keep the scales in a tensor),
    and passes over blocks above the stated number.
    """
    from gguf import GGUFReader

    reader = GGUFReader(file)
    about = {name: field.contents() for name, field in reader.fields.items()}
    architecture = about.get("general.architecture")
    kind, factor = (about.get(f"{architecture}.rope.scaling.{key}") for key in ("type", "factor"))
    if architecture != "gpt-oss" and kind not in (None, "none") and factor != 1:
        return f"it scales positions ({architecture}.rope.scaling.type is {kind!r}), which transformers does not read"
    for tensor in reader.tensors:
        if tensor.name.startswith(("rope_freqs.", "rope_factors_")) and (tensor.data != 1).any():
            return f"it scales positions (tensor {tensor.name}), which transformers does not read"
        block = _BLOCK.match(tensor.name)
        if block and int(block[1]) >= about.get(f"{architecture}.block_count", 0):
            return f"it has more blocks than it says: tensor {tensor.name}"
    return None


def end_tokens(tokenizer: Any, named: int | list[int] | None) -> list[int]:
    """Return the tokens that end a row, sorted: those that the file names, and control tokens with the text of an end.

    Parameters
    ----------
    named : int, list of int or None
        What the file says.
    """
    ends = {named} if isinstance(named, int) else set(named or ())
    control = {token.content: number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    if "<|return|>" in control:
        control.pop("<|end|>", None)  # ends a message there, and the answer is the message after it
    return sorted(ends | {number for text, number in control.items() if text in _ENDS})


def _environment() -> dict[str, str]:
    return os.environ | {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
        "TQDM_DISABLE": "1",
    }


def main(arguments: list[str]) -> int:
    """Convert `GGUF FOLDER`; on failure the last line of stderr says why."""
    gguf, folder = arguments
    try:
        with contextlib.redirect_stdout(sys.stderr):
            convert(Path(gguf), Path(folder))
    except Exception as error:  # noqa: BLE001 - whatever a library raises about this file is the answer to the parent
        kind = "" if isinstance(error, ModelError) else f"{type(error).__name__}: "
        print(f"{kind}{' '.join(str(error).split())[:500]}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
