"""What cannot be done in shares, because a query's score depends on judgments of other queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.errors import BadOption
from rankstone.hits.options import IMPUTATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.options import Alignment
    from rankstone.measures import Measure

__all__ = ["pads", "refuse_what_looks_at_others"]


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
    return any(measure.reads_lowest_grade for measure in measures)
