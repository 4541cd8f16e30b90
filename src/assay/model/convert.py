"""Turns a GGUF file into a model folder, in a process of its own: it needs several times the file's memory."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from assay.errors import ModelError


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
            expected="an architecture that transformers reads",
        )


def convert(gguf: Path, folder: Path) -> None:
    """Write a GGUF file's model and tokenizer as a plain safetensors folder in float32."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    # A model that came from GGUF counts as quantised and refuses to be saved, although its weights are plain by now.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config._name_or_path = ""
    tokenizer.name_or_path = ""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


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
        print(f"{type(error).__name__}: {' '.join(str(error).split())[:500]}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
