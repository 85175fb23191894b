"""What cannot be done in shares, because a query's score depends on judgments of other queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.errors import BadOption
from rankstone.hits.options import IMPUTATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.options import Alignment
    from rankstone.measures import Measure

__all__ = ["lowest_settled", "pads", "refuse_what_looks_at_others"]


def refuse_what_looks_at_others(options: Alignment, measures: Sequence[Measure]) -> None:
    """Refuse options under which a query's score depends on judgments of other queries."""
    if options.unjudged in IMPUTATIONS:
        raise BadOption(
            f"unjudged={options.unjudged} looks at judgments of other queries, which other shares have",
            fix="compute the grade and give it: unjudged=0.25",
        )
    if options.duplicate_judgments != "error" and pads(measures):
        raise BadOption(
            f"pad=min_grade with duplicate_judgments={options.duplicate_judgments} is not known in shares",
            fix="merge the judgments beforehand",
        )


def pads(measures: Sequence[Measure]) -> bool:
    """Say whether a measure asks for the lowest grade of all."""
    return any(getattr(measure, "pad", "zero") == "min_grade" for measure in measures)


def lowest_settled(lowest: float | None, lowest_from_zero: float | None, negative: str) -> float:
    """Return the bottom of the grade scale as the option ``negative`` leaves it.

    Parameters
    ----------
    lowest, lowest_from_zero
        The lowest grade of all, and of those that are not below zero; ``None`` where there is none.
    negative
        The option.

    >>> lowest_settled(-2.0, 1.0, "unjudged"), lowest_settled(-2.0, 1.0, "zero")
    (1.0, 0.0)
    """
    found = {"unjudged": lowest_from_zero, "zero": None if lowest is None else max(lowest, 0.0)}
    settled = found.get(negative, lowest)
    return 0.0 if settled is None else float(settled)
