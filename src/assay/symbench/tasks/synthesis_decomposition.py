"""Synthesis and decomposition: exchange crops for products by a cycle of methods."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.exchanges import ROUNDS, Method, cycle
from assay.symbench.wording import listed, marked

KINDS = ("A", "B", "C", "X", "Y")
CROPS, PRODUCTS = "ABC", "XY"


class SynthesisDecompositionConfig(Parameters):
    """How many crops, products and methods."""

    crops: Literal[2, 3]
    """Kinds of crops."""
    products: Literal[1, 2] = 1
    """Kinds of products; two only with three crops."""
    methods: int = Field(ge=2, le=8)
    """Methods that are tried in turn."""
    most: int = Field(ge=3, le=500)
    """Largest amount of a crop at the start; the smallest is 2."""

    @model_validator(mode="after")
    def _shape_is_known(self) -> Self:
        if self.products == 2 and self.crops == 2:
            raise ValueError("products is 2: the question with two products has three crops")
        return self

    def space(self) -> int:
        """Return the number of starts and sets of methods."""
        return int((self.most - 1) ** self.crops * (27 * self.products * self.crops) ** self.methods)


LEVELS = (
    SynthesisDecompositionConfig(crops=2, methods=3, most=12),
    SynthesisDecompositionConfig(crops=2, methods=4, most=30),
    SynthesisDecompositionConfig(crops=3, methods=4, most=30),
    SynthesisDecompositionConfig(crops=3, products=2, methods=5, most=40),
    SynthesisDecompositionConfig(crops=3, products=2, methods=6, most=100),
)
# Number of crops and products -> the complexity by which the verifier knows what is asked for.
_ASKED = {(2, 1): 1, (3, 1): 3, (3, 2): 5}


def generate(draws: Draws, config: SynthesisDecompositionConfig) -> Draft:
    """Draw methods that take more units than they give, so that the cycle ends."""
    crops, products = CROPS[: config.crops], PRODUCTS[: config.products]
    while True:
        methods = [_method(draws, crops, products, index) for index in range(config.methods)]
        start = {crop: draws.integer(2, config.most) for crop in crops}
        final, history = cycle(dict.fromkeys(KINDS, 0) | start, methods)
        texts = [method.text() for method in methods]
        if len(history) >= 3 and len(set(texts)) == len(texts) and any(final[kind] for kind in products):
            break
    asked = [*crops, *products]
    solution = {
        "initial_state": start,
        "methods": texts,
        "asked": asked,
        "complexity": _ASKED[config.crops, config.products],
        "solution": {
            "answer": [str(final[kind]) for kind in KINDS],
            "process": [[str(state[kind]) for kind in KINDS] for state in history],
        },
    }
    reference = f"[{', '.join(str(final[kind]) for kind in asked)}]"
    return Draft(question=render(solution), solution=solution, reference=reference)


def _method(draws: Draws, crops: Sequence[str], products: Sequence[str], index: int) -> Method:
    """Return an exchange into a product; with two products, the later methods also use up the first one."""
    late = len(products) == 2 and index >= 2
    pool = [*crops, products[0]] if late else list(crops)
    given = products[-1] if late else draws.choice([products[0], crops[-1]] if index == 1 else [products[0]])
    pool = [kind for kind in pool if kind != given]
    while True:
        taken = sorted(draws.sample(pool, draws.integer(1, min(3, len(pool)))))
        method = Method(tuple((kind, draws.integer(1, 3)) for kind in taken), ((given, draws.integer(1, 3)),))
        if method.total() < 0:
            return method


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the crops."""
    methods = "\n".join(f"Method {number}: {text}." for number, text in enumerate(solution["methods"], 1))
    start = listed([f"{count} of {crop}" for crop, count in solution["initial_state"].items()])
    asked = solution["asked"]
    products = [kind for kind in asked if kind in PRODUCTS]
    example = ", ".join(str(index % 4) for index in range(1, len(asked) + 1))
    return (
        f"A farm exchanges crops {listed(list(solution['initial_state']))} for "
        f"{'product' if len(products) == 1 else 'products'} {listed(products)} by these methods:\n\n{methods}\n\n"
        f"{ROUNDS}\n\nAt the start there are {start}, and nothing else. How many of {listed(asked)} are there at the "
        "end? Give a list of numbers in this order. " + marked("the list", f"[{example}]")
    )
