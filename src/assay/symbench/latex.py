"""Write exact values as competition mathematics does."""

from fractions import Fraction


def fraction_text(value: Fraction | int, factor: str = "") -> str:
    r"""Return an integer or a reduced \frac, with a factor such as \pi behind it.

    Examples
    --------
    >>> fraction_text(Fraction(6, 4)), fraction_text(1, r"\pi"), fraction_text(Fraction(4, 3), r"\pi")
    ('\\frac{3}{2}', '\\pi', '\\frac{4}{3}\\pi')
    """
    value = Fraction(value)
    sign = "-" if value < 0 else ""
    if value.denominator > 1:
        return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}{factor}"
    return sign + factor if factor and abs(value) == 1 else f"{value}{factor}"


def root_text(square: int) -> str:
    r"""Return the square root of a positive integer with the largest square taken out.

    Examples
    --------
    >>> root_text(36), root_text(12), root_text(7)
    ('6', '2\\sqrt{3}', '\\sqrt{7}')
    """
    outside, inside, factor = 1, square, 2
    while factor * factor <= inside:
        while inside % (factor * factor) == 0:
            inside //= factor * factor
            outside *= factor
        factor += 1
    if inside == 1:
        return str(outside)
    return f"{'' if outside == 1 else outside}\\sqrt{{{inside}}}"
