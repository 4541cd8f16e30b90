"""What names a measured number: no two rows of metrics, or of the table made of them, may share it."""

from collections import Counter
from collections.abc import Iterable

from assay.errors import DataError

PRIMARY_KEY = ("benchmark", "dataset", "model", "method", "profile", "setting", "metric", "baseline")


def refuse_repeated(names: Iterable[tuple[str, ...]], file: str) -> None:
    """Raise a `DataError` if a primary key stands twice."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"{len(repeated)} names stand for more than one number, first {repeated[0]}",
            file=file,
            expected=f"one number for each {', '.join(PRIMARY_KEY)}",
        )
