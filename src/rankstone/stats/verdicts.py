"""What an interval of a difference says, in a word."""

from __future__ import annotations

__all__ = ["verdict"]


def verdict(ends: tuple[float, float], direction: str, margin: float | None) -> str:
    """Return what an interval of a difference says.

    >>> verdict((0.01, 0.05), "higher", None), verdict((-0.01, 0.01), "lower", 0.02)
    ('better', 'equivalent')
    """
    low, high = ends
    if margin is not None and -margin < low and high < margin:
        return "equivalent"
    if low > 0 or high < 0:
        above = low > 0
        if direction == "neither":
            return "higher" if above else "lower"
        return "better" if above == (direction == "higher") else "worse"
    return "inconclusive"
