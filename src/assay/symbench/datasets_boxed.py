"""The final answer inside a solution of the MATH collection."""


def boxed_content(solution: str) -> str:
    r"""Return the content of the last \boxed{...}, or of the last \fbox{...}, with balanced braces.

    Examples
    --------
    >>> boxed_content(r"so it is $\boxed{\frac{1}{2}}$.")
    '\\frac{1}{2}'
    """
    start = solution.rfind("\\boxed")
    if start < 0:
        start = solution.rfind("\\fbox")
    if start < 0:
        return ""
    opening = solution.find("{", start)
    if opening < 0:
        # \boxed 5: the answer is what follows up to the end of the formula.
        return solution[start:].partition(" ")[2].partition("$")[0]
    depth = 0
    for position in range(opening, len(solution)):
        depth += (solution[position] == "{") - (solution[position] == "}")
        if depth == 0:
            return solution[opening + 1 : position]
    return ""
