"""What a rule says about a segment."""

from typing import NamedTuple

from assay.fks.rows import Label


class Outcome(NamedTuple):
    """A label, the rule that gave it, and the surface that decided.

    `names_gold` is True if the right answer is asserted somewhere, whatever else is: it decides between
    `ambiguous` and `abstain` when the text is also a refusal.
    """

    label: Label
    rule_id: str
    surface: str = ""
    names_gold: bool = False
