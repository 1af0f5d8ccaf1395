"""Numbers out of numbers."""

import statistics
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def p50(values: Sequence[float]) -> float:
    return percentile(values, 0.50)


def p99(values: Sequence[float]) -> float:
    return percentile(values, 0.99)
