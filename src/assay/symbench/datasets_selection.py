"""Which samples of a task are evaluated; every selection is deterministic and names its sample ids."""

import random
from typing import Literal

from assay.symbench.rows import TaskRow

Selection = Literal["runner-baseline", "runner-codesteer", "paper100", "full"]
_DRAWN, _NOMINAL = 50, 100


def select(rows: list[TaskRow], selection: Selection) -> list[TaskRow]:
    """Return the selected samples of one task, in file order for flags and indices, in draw order for draws.

    Parameters
    ----------
    rows : list of TaskRow
        The published samples of one task, in file order.
    selection : str
        - `runner-baseline`, `runner-codesteer`: what the authors' runner evaluates. It draws the samples of most logic
          games without a seed, so there this is **our** draw: the first 50 after `random.Random(0).shuffle`.
        - `paper100`: 100 samples spread evenly over the pool that the runner reads, all where it has fewer.
        - `full`: everything that is published.

    Examples
    --------
    >>> rows = [TaskRow(task="t", sample_id=str(k), question="", solution={}) for k in range(250)]
    >>> [row.sample_id for row in select(rows, "paper100")][:4]
    ['0', '2', '5', '7']
    """
    if selection == "full":
        return list(rows)
    pool = [row for row in rows if row.upstream_pool]
    if selection == "paper100":
        count = min(_NOMINAL, len(pool))
        return [pool[k * len(pool) // count] for k in range(count)]
    flags = [row.runner.baseline if selection == "runner-baseline" else row.runner.codesteer for row in pool]
    if any(flag is None for flag in flags):
        shuffled = list(pool)
        random.Random(0).shuffle(shuffled)
        return shuffled[:_DRAWN]
    return [row for row, flag in zip(pool, flags, strict=True) if flag]
