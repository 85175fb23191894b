"""English around numbers, for messages and audits."""

from __future__ import annotations

__all__ = ["counted", "exact", "queries", "spread"]


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun, in singular or plural.

    >>> counted(1, "query", "queries"), counted(1200, "row")
    ('1 query', '1,200 rows')
    """
    return f"1 {one}" if count == 1 else f"{count:,} {many or one + 's'}"


def exact(number: float) -> str:
    """Return a number as briefly as it can be written and read back without loss.

    >>> exact(2.0), exact(0.1), exact(1e6), exact(1_000_001.0)
    ('2', '0.1', '1e+06', '1000001.0')
    """
    brief = f"{number:g}"
    return brief if float(brief) == number else repr(float(number))


def queries(count: int) -> str:
    """Return ``1 query`` or ``2 queries``."""
    return counted(count, "query", "queries")


def spread(lowest: int, highest: int, median: float | None = None) -> str:
    """Return a range of counts; one number where they are all the same.

    >>> spread(1000, 1000, 1000.0), spread(1, 1000), spread(1, 1000, 12.5)
    ('1,000', '1–1,000', '1–1,000 (median 12.5)')
    """
    if lowest == highest:
        return f"{highest:,}"
    return f"{lowest:,}–{highest:,}" + ("" if median is None else f" (median {median:g})")
