"""Rows of the toy benchmark."""

import msgspec


class Fact(msgspec.Struct, frozen=True):
    """One fact."""

    fact_id: str
    object: str


class Query(msgspec.Struct, frozen=True):
    """One question."""

    query_id: str
    subject: str


class Label(msgspec.Struct, frozen=True):
    """One judged answer."""

    row_id: str
    query_id: str
    score: int
