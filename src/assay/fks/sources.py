"""What every source of facts gives to the builder: entities with names in six languages, and facts about them."""

from collections.abc import Iterable, Iterator

import msgspec

LANGUAGES = ("en", "zh", "fr", "es", "de", "ru")


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """An entity of a source.

    Attributes
    ----------
    key : str
        Identity within the source, stable over versions of it.
    names : dict
        Language -> the name shown in queries. "en" is always there.
    aliases : tuple of str
        Other accepted names in any language, in a fixed order.
    running : str
        The English name in a sentence ("the Netherlands").
    """

    key: str
    names: dict[str, str]
    aliases: tuple[str, ...] = ()
    running: str = ""

    @property
    def canonical(self) -> str:
        """The English name."""
        return self.names["en"]

    @property
    def in_text(self) -> str:
        """The English name as it stands inside a sentence."""
        return self.running or self.canonical

    @property
    def other_names(self) -> tuple[str, ...]:
        """Every accepted surface but the canonical one, without doubles."""
        names = [self.names[language] for language in LANGUAGES if language in self.names]
        return tuple(name for name in dict.fromkeys((*names, *self.aliases)) if name != self.canonical)

    @property
    def surfaces(self) -> tuple[str, ...]:
        """Every accepted surface, the canonical one first."""
        return (self.canonical, *self.other_names)


class SourceFact(msgspec.Struct, frozen=True, kw_only=True):
    """One fact of a source.

    Attributes
    ----------
    weight : float
        How well known its subject is (people it concerns); only its order matters.
    inverse_unique : bool
        Whether no other subject of the world, and not only of this table, has the same object.
    source_relation : str
        Where the source keeps it.
    records : tuple of str
        The source's records that say it; several where duplicates were absorbed.
    """

    relation: str
    subject: Named
    object: Named
    weight: float = 0.0
    inverse_unique: bool = False
    source: str = "embedded"
    source_relation: str = ""
    records: tuple[str, ...] = ()

    @property
    def identity(self) -> tuple[str, str, str]:
        """Relation, subject and object: one fact however many records say it."""
        return self.relation, self.subject.key, self.object.key


def absorb_duplicates(facts: Iterable[SourceFact]) -> Iterator[SourceFact]:
    """Yield each (relation, subject, object) once, at its first place, with the records and names of all of them."""
    groups: dict[tuple[str, str, str], list[SourceFact]] = {}
    for fact in facts:
        groups.setdefault(fact.identity, []).append(fact)
    for first, *others in groups.values():
        if not others:
            yield first
            continue
        records = tuple(dict.fromkeys(r for fact in (first, *others) for r in fact.records))
        subject = _with_names(first.subject, [fact.subject for fact in others])
        obj = _with_names(first.object, [fact.object for fact in others])
        yield msgspec.structs.replace(first, records=records, subject=subject, object=obj)


def _with_names(first: Named, others: Iterable[Named]) -> Named:
    """Return an entity with the names that its other records give it: for languages it lacks, else as aliases."""
    names, aliases = dict(first.names), dict.fromkeys(first.aliases)
    for other in others:
        names = other.names | names
        aliases.update(dict.fromkeys(name for name in other.surfaces if name not in names.values()))
    return msgspec.structs.replace(first, names=names, aliases=tuple(aliases))
