"""The symbolic checker: what kind of program a solver wrote, read from its source without running it."""

import ast
import re

import msgspec

_LOOPS = re.compile("for|while")
_BRANCHES = re.compile("if|elif|else")
_TRIES = re.compile("try|except")
_SYMBOLIC = re.compile(r"\b(?:eval|exec)\s*\(|format|\bf[\"']")
SIMPLE = 2.0


class Complexity(msgspec.Struct, frozen=True):
    """Flags and score of a program; `problem` is the parser's complaint about a text that is no program.

    The score counts words where they stand in the text, also inside names and comments: one for each `for` and
    `while`, each `if`, `elif` and `else`, each `try` and `except`, and a quarter for each binary operation.
    """

    searching: bool = False
    symbolic: bool = False
    numerical: bool = False
    score: float = 0.0
    problem: str | None = None

    def summary(self) -> str:
        """Return what the guide is told."""
        if self.problem is not None:
            return f"The code cannot be parsed ({self.problem}). Complexity score: 0."
        said = [
            text
            for flag, text in (
                (self.searching, "it searches (it loops, or uses itertools)"),
                (self.symbolic, "it computes with symbols (it evaluates or formats text)"),
                (self.numerical, "it computes with numbers (it has arithmetic operations)"),
            )
            if flag
        ]
        text = f"About the code: {', '.join(said) or 'it neither searches nor computes'}. "
        text += f"Complexity score: {self.score:g}."
        if self.score <= SIMPLE:
            text += " The code may be too simple to solve the problem by symbolic computing."
        return text


def complexity(code: str) -> Complexity:
    r"""Analyse a program: does it search, does it compute, and how much of both.

    Examples
    --------
    >>> complexity("for i in range(3):\n    print(i + 1)").score
    1.25
    """
    try:
        tree = ast.parse(code)
        nodes = list(ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Complexity(problem=str(error).partition("\n")[0] or type(error).__name__)
    operations = sum(isinstance(node, ast.BinOp) for node in nodes)
    words = sum(len(pattern.findall(code)) for pattern in (_LOOPS, _BRANCHES, _TRIES))
    return Complexity(
        searching=any(isinstance(node, ast.For | ast.While) or _imports_itertools(node) for node in nodes),
        symbolic=_SYMBOLIC.search(code) is not None,
        numerical=operations > 0,
        score=words + 0.25 * operations,
    )


def _imports_itertools(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) and "itertools" in node.names[0].name
