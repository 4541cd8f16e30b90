"""The condition families: in which ways a fact is asked, and what each way may be used for.

The flags of a row decide which metric it enters; a family's name only groups rows. The table below is
what our own builder writes, and what a row without surprises looks like.
"""

from typing import Literal

import msgspec

Flag = Literal["use_for_main_forward", "use_for_reverse_analysis", "use_for_recognition_analysis"]
FLAGS: tuple[Flag, ...] = ("use_for_main_forward", "use_for_reverse_analysis", "use_for_recognition_analysis")


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One condition family.

    Attributes
    ----------
    flag : str or None
        The one flag that is true in its rows; None for rows that enter no analysis of the main kinds.
    target_slot : {"object", "subject"}
        What is asked for.
    is_assisted : bool
        Whether the query shows the answer among others.
    is_well_posed : bool
        Whether the query has a single answer.
    """

    name: str
    flag: Flag | None
    target_slot: Literal["object", "subject"] = "object"
    is_assisted: bool = False
    is_well_posed: bool = True


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(name="anchor", flag="use_for_main_forward"),
        Family(name="paraphrase", flag="use_for_main_forward"),
        Family(name="format", flag="use_for_main_forward"),
        Family(name="context", flag="use_for_main_forward"),
        Family(name="multilingual", flag="use_for_main_forward"),
        Family(name="reverse", flag="use_for_reverse_analysis", target_slot="subject"),
        Family(name="reverse_illposed", flag=None, target_slot="subject", is_well_posed=False),
        Family(name="recognition", flag="use_for_recognition_analysis", is_assisted=True),
    )
}
MAIN_FAMILIES = tuple(name for name, family in FAMILIES.items() if family.flag == "use_for_main_forward")
