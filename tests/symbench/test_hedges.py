"""An answer that names several alternatives, or denies what it names, earns no point in `corrected` (deviation D25)."""

import itertools

import pytest
from examples import EXAMPLES

from assay.symbench.catalogue import TASKS
from assay.symbench.datasets import load_published
from assay.symbench.generate import draft_of, generate_rows, load_task
from assay.symbench.judging import CodeOutput, judge
from assay.symbench.references import reference_answer

JOINTS = (
    " or ", ", ", ",", "\n", "\n\n", "; ", " / ", "/", " | ", " & ", " and ", ", or maybe ", "\nor\n", " (or ", " = ",
    " vs. ", ". Alternatively, ", ". No, ", " otherwise ", "\\text{ or }", " \\approx ", " -> ",
)  # fmt: skip


# What takes an answer back, bounds it, guesses it, or makes another value of it.
DENIALS = (
    "not {}", "NOT ({})", "It isn't {}", "it isn’t {}", "never {}", "no {}", "anything but {}", "≠ {}", "x != {}",
    "¬{}", "~{}", "> {}", "< {}", "less than {}", "at least {}", "maybe {}", "probably {}", "cannot be {}", "nicht {}",
    "\\neq {}", "\\ne {}", "\\text{{not }}{}", "\\sout{{{}}}", "~~{}~~", "{}?", "{} is wrong", "{} is not the answer",
    "{} is false", "{} fails", "{}, wrong", "{} (wrong)", "{} (not correct)", "{} - no", "{} is impossible",
    "{}\\text{{ is wrong}}", "{} cannot be", "{} doesn't hold", "{} excluded", "{} never", "{} isn't right",
    "{} is far from it", "{} factorial", "{} squared", "{} minus one", "{} dozen", "{} or so",
)  # fmt: skip


def corrected(sample, text, printed=None):
    code = None if printed is None else CodeOutput(printed)
    response = text if printed is None else f"```python\nprint('...')\n```\n{text}"
    return judge(sample, response, code, "corrected", "marker")


def hedges(right, wrong):
    """Return texts that name a right and a wrong answer, in either order."""
    for joint, (first, second) in itertools.product(JOINTS, ((right, wrong), (wrong, right))):
        yield f"{first}{joint}{second}"
    yield f"Either {right} or {wrong}"
    yield f"[{right}, {wrong}]"
    yield f"{right} ({wrong})"
    yield f"{right} {wrong} {right}"


@pytest.mark.parametrize("task", list(TASKS))
def test_a_hedged_answer_is_refused(task):
    example = EXAMPLES[task]
    assert corrected(example.sample, f"<<<{example.right}>>>").correct
    for text in hedges(example.right, example.wrong):
        found = corrected(example.sample, f"I think: <<<{text}>>>")
        assert not found.correct, text
        assert found.reason
        assert not corrected(example.sample, "", printed=f"<<<{text}>>>\n").correct, text


@pytest.mark.parametrize("task", list(TASKS))
def test_a_denied_answer_is_refused(task):
    example = EXAMPLES[task]
    # What stands before the first step is an introduction in any words.
    allowed = ("no {}", "nicht {}", "> {}", "< {}") if task == "boxlift" else ()
    denials = [text for text in DENIALS if text not in allowed]
    for text in (denial.format(example.right) for denial in denials):
        found = corrected(example.sample, f"<<<{text}>>>")
        assert not found.correct, text
        assert found.reason
        assert not corrected(example.sample, "", printed=f"<<<{text}>>>\n").correct, text


@pytest.mark.parametrize("task", list(TASKS))
def test_a_hedge_of_two_generated_answers_is_refused(task):
    levels = load_task(task).LEVELS
    rows = list(generate_rows(task, 2 * len(levels), 3))
    references = []
    for index, row in enumerate(rows):
        drafts = (draft_of(task, levels[index % len(levels)], 3, index, attempt) for attempt in range(2000))
        references.append(next(draft.reference for draft in drafts if draft.question == row.question))
    for row, right, other in zip(rows, references, references[1:] + references[:1], strict=True):
        if other == right:
            continue
        assert corrected(row, f"<<<{right}>>>").correct
        for text in hedges(right, other):
            assert not corrected(row, f"<<<{text}>>>").correct, (right, other, text)


# What makes one value of two numbers, or an equation of two expressions, is no alternative.
ARITHMETIC = ("/", " / ", " = ", " \\approx ")


@pytest.mark.parametrize("task", list(TASKS))
def test_a_hedge_of_two_published_references_is_refused(shared, task):
    rows = load_published(shared / "data/symbench", task)
    if reference_answer(rows[0]) is None:
        return
    chosen = rows[:: max(1, len(rows) // 20)]
    references = [reference_answer(row) for row in chosen]
    for row, right, other in zip(chosen, references, references[1:] + references[:1], strict=True):
        if not corrected(row, f"<<<{right}>>>").correct or corrected(row, f"<<<{other}>>>").correct:
            continue
        for text in hedges(right, other):
            if task.startswith(("math_", "gsm")) and any(
                joint.join(pair) in text for joint in ARITHMETIC for pair in ((right, other), (other, right))
            ):
                continue
            if task.startswith("math_") and text == f"{right} ({other})":
                continue
            assert not corrected(row, f"<<<{text}>>>").correct, (right, other, text)


# Tasks of which a text without a marker is searched for the answer.
@pytest.mark.parametrize("task", ["letters", "number_multiply", "path_plan"])
@pytest.mark.parametrize("joint", [" or ", ", ", "; ", " and ", ", or maybe ", "\nor\n", " (or "])
def test_prose_that_ends_in_alternatives_is_refused(task, joint):
    example = EXAMPLES[task]
    for first, second in ((example.right, example.wrong), (example.wrong, example.right)):
        assert not corrected(example.sample, f"It must be {first}{joint}{second}.").correct


@pytest.mark.parametrize("task", ["letters", "number_multiply", "path_plan"])
def test_prose_that_denies_what_it_names_is_refused(task):
    example = EXAMPLES[task]
    for text in ("It is not {}.", "It cannot be {}", "That means {} is wrong.", "Perhaps {}", "So x != {}"):
        assert not corrected(example.sample, text.format(example.right)).correct, text
    for text in (
        "This is not difficult: {}",
        "I was wrong before. It is {}!",
        f"It is not {example.wrong} but {{}}.",
        "It isn't prime, it is {}, and nothing else.",
    ):
        assert corrected(example.sample, text.format(example.right)).correct, text


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("number_multiply", "-6*44 = -264, and -264*9255 = -2,443,320."),
        ("number_multiply", "First I get 12.\nThe product is -2443320"),
        ("letters", "Count: 1, Positions: [2] would be too few.\nSo: Count: 3, Positions: [2, 4, 6] is the answer."),
        ("path_plan", f"[(0, 0), (1, 1)] leaves the field. Better: {EXAMPLES['path_plan'].right}"),
    ],
)
def test_prose_may_hold_what_leads_to_the_answer(task, text):
    assert corrected(EXAMPLES[task].sample, text).correct


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("date_understanding", "B"),
        ("date_understanding", "b)"),
        ("date_understanding", "(B) May 2"),
        ("date_understanding", "B: may 2."),
        ("date_understanding", "May 2"),
        ("game24", "4*6*1*1 = 24*1 = 24"),
        ("combinatorial_calculation", "6 / 2 + 7 = 3 + 7 = 10"),
        ("number_multiply", "-2443320 (-2,443,320)"),
        ("number_multiply", "The product is **-2,443,320**."),
        ("number_multiply", "$\\boxed{-2443320}$"),
        ("letters", "Count: 3, Positions: [2, 4, 6]."),
        ("number_multiply", "<-2443320>"),
        ("letters", "The final answer is: Count: 3, Positions: [2, 4, 6]"),
        ("path_plan", f"waypoints = {EXAMPLES['path_plan'].right}"),
        ("gsm_hard", "$-9,867,630.00"),
        ("gsm_hard", "-9867630 dollars"),
    ],
)
def test_one_answer_in_other_words_is_accepted(task, text):
    assert corrected(EXAMPLES[task].sample, f"<<<{text}>>>").correct


def test_upstream_accepts_some_hedges():
    """What the deviation is about."""
    for task, text in (("date_understanding", "(B) or (A)"), ("game24", "4*6*1*1 = 5 = 24"), ("letters", None)):
        example = EXAMPLES[task]
        response = f"<<<{text or f'{example.right} or {example.wrong}'}>>>"
        assert judge(example.sample, response, None, "upstream", "echo").correct
