"""How many rows FKS asks of a model, told before anything is built; for the estimate of the plan."""

from assay.artifact.job import Work
from assay.config.fks import CardDataset, EmbeddedDataset, FksConfig

# Of the data sets as they are built or published: facts, relations, questions of a fact.
_EMBEDDED = (1946, 13, 20)
_CARD = (2592, 21, 17)
_WELL_KNOWN = 60  # facts of a relation that the selection keeps at most
_BY_FAMILY = 2.7  # questions of a fact in one family that the experiment does not limit
_PROMPT_TOKENS = 25
_FAMILIES = 8


def answers(config: FksConfig) -> Work | None:
    """Return the work of one model's answers; None for facts of a user's own, whose number is not known yet."""
    asked = _queries(config)
    return None if asked is None else Work(asked, _PROMPT_TOKENS, config.decoding.max_new_tokens)


def states(config: FksConfig) -> Work | None:
    """Return the work of one model's hidden states: every prompt is read, nothing is written."""
    asked = _queries(config)
    return None if asked is None else Work(asked, _PROMPT_TOKENS, 0)


def _queries(config: FksConfig) -> int | None:
    chosen = config.chosen
    if not isinstance(chosen, EmbeddedDataset | CardDataset):
        return None
    facts, relations, each = _CARD if isinstance(chosen, CardDataset) else _EMBEDDED
    of_relation = facts / relations
    if config.selection == "well_known":
        of_relation = min(of_relation, _WELL_KNOWN)
    if config.cap_per_relation is not None:
        of_relation = min(of_relation, config.cap_per_relation)
    limited = config.queries_per_family
    if limited:
        each = round(1 + sum(limited.values()) + _BY_FAMILY * (_FAMILIES - len(limited.keys() | {"anchor"})))
        each -= limited.get("anchor", 0)
    return round((len(config.relations) or relations) * of_relation * each)
