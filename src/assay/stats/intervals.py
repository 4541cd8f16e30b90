"""Closed-form intervals for shares."""

from math import sqrt
from statistics import NormalDist

from assay.stats.bootstrap import Interval


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Return the Wilson score interval of a binomial share.

    It keeps its coverage for small n and for shares near 0 and 1, where a bootstrap collapses to a point.

    Parameters
    ----------
    successes, n : float
        Counts, 0 <= successes <= n. A share of clustered rows may be given as share * clusters, clusters.
    level : float, default 0.95
        Coverage.

    Returns
    -------
    Interval
        Bounds in [0, 1]; (None, None) for n = 0.

    Notes
    -----
    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    Examples
    --------
    >>> interval = wilson(0, 10)
    >>> interval.low, round(interval.high, 4)
    (0.0, 0.2775)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} is no share")
    if n == 0:
        return Interval(None, None, 0, "wilson")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # The exact bounds at the ends are 0 and 1; rounding would leave 1e-17 there.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low, high, int(n), "wilson")
