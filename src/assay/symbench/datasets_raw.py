"""Read the samples of all 37 tasks from the authors' repository.

Files are read by constructed names in a fixed order, never by listing folders, which hold stray files. A reader yields
the published fields; questions that the authors compose in code come from `question`, see `datasets_build`.
"""

import csv
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay.errors import DataError
from assay.symbench.boxlift_greedy import greedy_plan
from assay.symbench.datasets_boxed import boxed_content


class RawSample(msgspec.Struct, frozen=True, kw_only=True):
    """A sample as the repository holds it; `question` is None where the authors compose it in code."""

    sample_id: str
    solution: Any
    complexity: dict[str, Any] = {}
    question: str | None = None
    baseline: bool | None = None
    codesteer: bool | None = None
    upstream_pool: bool = True


_SUFFIXED = (
    "2048",
    "eight_queens",
    "light_puzzles",
    "logic_puzzle",
    "mahjong_pattern",
    "matrix_transformation",
    "new_operator",
    "pooling",
    "reversi",
    "statistical_counting",
    "synthesis_decomposition",
)
_UNSUFFIXED = (
    "combinatorial_calculation",
    "constrained_linear_arrangement",
    "cryptanalysis",
    "letter_logic_diagram",
    "pattern_recognition",
    "permutations_and_combinations",
    "standard_sudoku",
    "string_deletion_and_modification",
    "string_insertion",
    "string_splitting",
    "string_synthesis",
)
# Generator parameters that stand in the solution besides `complexity`.
_PARAMETERS = {
    "pooling": ("window_size", "pooling_type"),
    "reversi": ("board_size",),
    "light_puzzles": ("n",),
    "constrained_linear_arrangement": ("game_type",),
}
_EQUATIONS = ((9, 7), (9, 8), (11, 10), (11, 11), (13, 10), (13, 11), (13, 12), (15, 12), (15, 13), (15, 14))
_STACKS = ((3, 2), (3, 3), (4, 2), (4, 3), (4, 4), (5, 2), (5, 3), (5, 4))


def read_text(path: Path) -> str:
    """Return a file's text, line ends untouched."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError as error:
        raise DataError("a file of the authors' repository is missing", file=path, remedy=REMEDY) from error
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8", file=path, remedy=REMEDY) from error
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", file=path, remedy=REMEDY) from error


REMEDY = "point to the folder dataset_gather of an unmodified clone of the pinned commit"


def read_json(path: Path) -> Any:
    """Return a JSON file's value."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError("the file is not JSON", file=path, remedy=REMEDY) from error


def read_object(path: Path, *keys: str) -> dict[str, Any]:
    """Return the value of a JSON file, an object that has these keys."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise DataError(f"the file holds a {type(value).__name__}", file=path, expected="an object", remedy=REMEDY)
    for key in keys:
        if key not in value:
            raise DataError("a key is missing", file=path, key=key, remedy=REMEDY)
    return value


def _folder(name: str, task: str) -> Callable[[Path], Iterator[RawSample]]:
    def read(root: Path) -> Iterator[RawSample]:
        for number in itertools.count():
            folder = root / name / f"sample_{number}"
            if not folder.is_dir():
                if number == 0:
                    raise DataError("the task's first sample is missing", file=folder, remedy=REMEDY)
                return
            solution = read_object(folder / "solution.json")
            keys = ("complexity", *_PARAMETERS.get(task, ()))
            runner = number < 50 if task == "combinatorial_calculation" else None
            yield RawSample(
                sample_id=folder.name,
                question=read_text(folder / "question.txt").strip(),
                solution=solution,
                complexity={key: solution[key] for key in keys if key in solution},
                baseline=runner,
                codesteer=runner,
            )

    return read


def _logical_equation(root: Path) -> Iterator[RawSample]:
    for (letters, constraints), number in itertools.product(_EQUATIONS, range(15)):
        folder = root / "logical_equation" / f"sample_{letters}_{constraints}_{number}"
        yield RawSample(
            sample_id=folder.name,
            question=read_text(folder / "question.txt"),
            solution=read_json(folder / "solution.json"),
            complexity={"num_letters": letters, "num_constraints": constraints},
        )


def _game24(root: Path) -> Iterator[RawSample]:
    path = root / "game24_dataset" / "24" / "24.csv"
    reader = csv.DictReader(read_text(path).splitlines())
    for number, row in enumerate(reader):
        try:
            numbers, rank = [int(word) for word in row["Puzzles"].split()], int(row["Rank"])
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise DataError("unreadable puzzle", file=path, row=number + 2, remedy=REMEDY) from error
        yield RawSample(
            sample_id=f"sample_{number}",
            solution={"numbers": numbers, "target": 24, "csv_row": dict(row)},
            complexity={"num_numbers": len(numbers), "rank": rank},
            baseline=number % 30 == 5,
            codesteer=number % 50 == 5,
        )


def _boxlift(root: Path) -> Iterator[RawSample]:
    for (boxes, lifters), number in itertools.product(((10, 3), (15, 4), (20, 5), (25, 6)), range(10)):
        folder = root / "BoxLift_dataset" / f"BoxLift_{boxes}_{lifters}" / f"BoxLift{number}"
        raw = read_object(folder / "BoxLift.json", "boxes", "lifters")
        yield RawSample(
            sample_id=f"{boxes}_{lifters}_{number}",
            solution={
                "boxes": raw["boxes"],
                "lifters": raw["lifters"],
                "estimated_steps": len(greedy_plan(raw["boxes"], raw["lifters"])),
            },
            complexity={"num_boxes": boxes, "num_lifters": lifters},
            baseline=number < 5,
            codesteer=number < 5,
        )


def _boxnet(root: Path) -> Iterator[RawSample]:
    grids = ((1, 2), (2, 2), (2, 4), (4, 4), (4, 8))
    for (rows, columns), number in itertools.product(grids, range(10)):
        name = f"pg_state{number}"
        path = root / "BoxNet1_dataset" / f"env_pg_state_{rows}_{columns}" / name / f"{name}.json"
        read = (rows, columns) in grids[:3]
        yield RawSample(
            sample_id=f"{rows}_{columns}_{number}",
            solution={"rows": rows, "columns": columns, "state": read_object(path)},
            complexity={"rows": rows, "columns": columns},
            baseline=read,
            codesteer=read,
            upstream_pool=read,
        )


def _blocksworld(root: Path) -> Iterator[RawSample]:
    for blocks, (initial, goal), number in itertools.product((2, 3, 4), _STACKS, range(5)):
        name = f"{blocks}_{initial}_{goal}_{number}"
        text = read_text(root / "Blocksworld_dataset" / name / "blocksworld_task.txt")
        before, _, after = text.partition("Goal State:")
        yield RawSample(
            sample_id=name,
            solution={"initial_state": _stacks(before), "goal_state": _stacks(after), "task_file": text},
            complexity={"num_blocks": blocks, "initial_stacks": initial, "goal_stacks": goal},
            baseline=number < 2,
            codesteer=number < 2,
        )


def _stacks(text: str) -> dict[str, list[str]]:
    lines = (line.partition(":") for line in text.splitlines() if line.strip().startswith("stack"))
    return {name.strip(): blocks.split() for name, _, blocks in lines}


def _letters(root: Path) -> Iterator[RawSample]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    lengths = ((10, 15), (15, 20), (20, 25))
    for (low, high), letter, frequency, number in itertools.product(lengths, letters, range(1, 6), range(3)):
        folder = root / "Letters" / f"Letters_dataset_min_length_{low}_max_length_{high}"
        word = read_json(folder / f"{letter}_{frequency}_{number}" / "test_words.json")
        positions = [position for position, character in enumerate(word, 1) if character == letter]
        runner = letter in "agmsy" and number == 1
        yield RawSample(
            sample_id=f"{low}_{high}_{letter}_{frequency}_{number}",
            solution={"word": word, "letter": letter, "count": len(positions), "positions": positions},
            complexity={"min_length": low, "max_length": high, "letter_freq": frequency},
            baseline=runner,
            codesteer=runner,
        )


def _number_multiply(root: Path) -> Iterator[RawSample]:
    for digits, number in itertools.product(((1, 2, 4), (1, 3, 4), (1, 2, 2, 4)), range(100)):
        name = f"digit_{'_'.join(map(str, digits))}/sample_{number}"
        folder = root / "number_multiply" / name
        prompt = read_text(folder / "input_prompt_1.txt")
        yield RawSample(
            sample_id=name,
            question=prompt,
            solution={
                "input_value_list": read_json(folder / "input_value_list.txt"),
                "target_answer": read_json(folder / "target_answer.txt"),
                "published_prompt": prompt,
            },
            complexity={"digits": list(digits)},
            baseline=number < 20,
            codesteer=number < 20,
        )


def _bbh(stem: str) -> Callable[[Path], Iterator[RawSample]]:
    def read(root: Path) -> Iterator[RawSample]:
        examples = read_object(root / "BIG-Bench-Hard" / "bbh" / f"{stem}.json", "examples")["examples"]
        for number, example in enumerate(examples):
            yield RawSample(
                sample_id=f"sample_{number}",
                solution={"input": example["input"], "target": example["target"]},
                complexity={"bbh_subset": stem},
                baseline=number % 4 == 0,
                codesteer=number % 4 == 0,
            )

    return read


def _gsm_hard(root: Path) -> Iterator[RawSample]:
    path = root / "gsmhardv2.jsonl"
    for number, line in enumerate(line for line in read_text(path).split("\n") if line.strip()):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError("this line is not JSON", file=path, row=number + 1, remedy=REMEDY) from error
        yield RawSample(
            sample_id=f"Sample_{number}", solution=row, baseline=number % 25 == 1, codesteer=number % 25 == 1
        )


def _math(subject: str) -> Callable[[Path], Iterator[RawSample]]:
    def read(root: Path) -> Iterator[RawSample]:
        folder = root / "MATH" / "train" / subject
        # The ids have gaps, so this one folder is listed; only numeric names count.
        found = sorted(int(path.stem) for path in folder.glob("*.json") if path.stem.isascii() and path.stem.isdigit())
        if not found:
            raise DataError("the folder holds no problem", file=folder, remedy=REMEDY)
        evaluated = frozenset([number for number in found if number < 1000][:50])
        for number in found:
            record = read_object(folder / f"{number}.json", "solution", "level", "type")
            yield RawSample(
                sample_id=f"Sample_{number}",
                solution=record | {"boxed_target": boxed_content(record["solution"])},
                complexity={"level": record["level"], "type": record["type"]},
                baseline=number in evaluated,
                codesteer=number in evaluated,
            )

    return read


READERS: dict[str, Callable[[Path], Iterator[RawSample]]] = {
    **{task: _folder(f"{task}_dataset", task) for task in _SUFFIXED},
    **{task: _folder(task, task) for task in _UNSUFFIXED},
    "logical_equation": _logical_equation,
    "game24": _game24,
    "boxlift": _boxlift,
    "boxnet": _boxnet,
    "blocksworld": _blocksworld,
    "letters": _letters,
    "number_multiply": _number_multiply,
    "date_understanding": _bbh("date_understanding"),
    "web_of_lies": _bbh("web_of_lies"),
    "navigate": _bbh("navigate"),
    "logical_deduction": _bbh("logical_deduction_seven_objects"),
    "gsm_hard": _gsm_hard,
    "math_geometry": _math("geometry"),
    "math_counting_and_probability": _math("counting_and_probability"),
}


def path_plan(environments: Path) -> Iterator[RawSample]:
    """Yield the path_plan samples; the authors keep their constants in code, so a file of them is needed.

    The sentence of an instruction is composed by `datasets_build`, like the question.
    """
    data = read_object(environments, "environments", "instructions", "walls")
    for number, environment in enumerate(data["environments"]):
        for index in range(len(data["instructions"])):
            yield RawSample(
                sample_id=f"sample_{number}_{index}",
                solution={
                    "boxes": dict(environment["boxes"]),
                    "start": environment["start"],
                    "end": environment["end"],
                    "walls": data["walls"],
                    "instruction_index": index,
                },
                complexity={"env_index": number, "instruction_index": index},
                baseline=True,
                codesteer=True,
            )
