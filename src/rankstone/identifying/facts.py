"""What there is in the data: which choices can make a difference at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.hits.options import CHOICES
from rankstone.measures import Threshold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.hits.audit import JudgmentsAudit, RunAudit
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.options import Alignment
    from rankstone.io import Table

__all__ = ["Facts"]

#: grades that are tried as thresholds, at most
_THRESHOLDS: Final = 8


@dataclass(frozen=True)
class Facts:
    """What the judgments and the run hold.

    Attributes
    ----------
    judgments, run
        What alignment found.
    grades
        The different grades above zero, in order.
    hollow
        Whether a query has no document of the highest grade, so that under some threshold it has nothing
        relevant.
    narrows
        Whether scores become others as float32.
    orders
        Other ways to order the lists that the run has data for.
    unanswered
        Whether lists are there and empty.
    """

    judgments: JudgmentsAudit
    run: RunAudit
    grades: tuple[float, ...]
    hollow: bool
    narrows: bool
    orders: tuple[str, ...]
    unanswered: bool

    @classmethod
    def of(
        cls, audit: JudgmentsAudit, run: RunAudit, judgments: Judgments, table: Table, order: str
    ) -> Facts:
        """Look at what alignment does not tell: grades, scores, and the order of the rows."""
        above = np.unique(judgments.grade[judgments.grade > 0]).tolist()
        best = judgments.ideal.relevant_count(Threshold(above[-1])) if above else np.zeros(1)
        empty = table.unanswered is not None and len(table.unanswered) > 0
        return cls(audit, run, tuple(above), not best.all(), *_of_scores(table, order), empty)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Grades that may be where relevance begins; the lowest is where it begins anyway."""
        return self.grades[1:] if len(self.grades) <= _THRESHOLDS else ()

    @property
    def highest(self) -> float:
        """The highest grade there is, 1 where none is above 0: the least that the top of the scale can be."""
        return self.grades[-1] if self.grades else 1.0

    @property
    def queries(self) -> int:
        """How many queries are judged."""
        return self.judgments.queries

    def told(self) -> dict[str, Any]:
        """Return what decides which choices matter."""
        run = self.run
        told = {"queries": self.queries, "rows": run.rows, "tied": run.tied, "missing": run.missing}
        told |= {"extra": run.extra, "without_relevant": self.judgments.empty, "duplicates": run.duplicates}
        return told | {"negative": self.judgments.negative, "grades": list(self.grades)}

    @property
    def _matters(self) -> dict[str, bool]:
        """Whether an option of alignment can change where a document stands, or that it counts."""
        return {
            "ties": self.run.tied > 0 or self.narrows,
            "score_dtype": self.narrows,
            "duplicates": self.run.duplicates > 0,
            "duplicate_judgments": self.judgments.duplicates > 0,
            "negative": self.judgments.negative > 0,
            "unjudged": self.run.retrieved > self.run.judged,
            "pool": self.judgments.judgments - self.judgments.negative > self.run.judged,
            "no_results": self.unanswered,
            **dict.fromkeys(("missing", "extra", "empty"), False),  # decided when queries are put together
        }

    def alignments(self, usual: Alignment) -> Iterator[tuple[str, Any]]:
        """Return the options, each with another value, that may change where documents stand or count."""
        for option in (name for name, does in self._matters.items() if does):
            for value in CHOICES[option]:
                if value not in ("error", getattr(usual, option)):
                    yield option, value
        for order in self.orders:
            yield "order", order

    def effective(self, options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        """Return options without those that make no difference here: a key of what is aligned alike."""
        matters = self._matters
        return tuple(sorted((name, value) for name, value in options.items() if matters.get(name, True)))

    def counted(self, usual: Alignment) -> dict[str, tuple[str, ...]]:
        """Return the options that say which queries count, and for how much, the usual value first."""
        matters = {
            "empty": self.hollow,
            "missing": self.run.missing > 0,
            "extra": self.run.extra > 0,
        }
        found = {}
        for option, does in matters.items():
            own = getattr(usual, option)
            others = [value for value in CHOICES[option] if value not in ("error", own)] if does else []
            found[option] = (own, *others)
        return found


def _of_scores(table: Table, order: str) -> tuple[bool, tuple[str, ...]]:
    """Say whether scores are others as float32, and by what else lists could be ordered."""
    if "score" not in table.columns:
        return False, ()
    score, query = pl.col("score"), pl.col("query_id")
    frame = table.collect(*(name for name in ("query_id", "score", "rank") if name in table.columns))
    same = query == query.shift(1)
    told = frame.select(
        narrows=(score.cast(pl.Float32).cast(pl.Float64) != score).any(),
        falls=((score > score.shift(1)) & same).any(),
    ).row(0)
    other = ["input"] if told[1] else []
    if "rank" in table.columns and not frame["rank"].null_count():
        rank = pl.col("rank")
        crossed = frame.select(((rank < rank.shift(1)) == (score < score.shift(1))) & same).to_series().any()
        other += ["rank"] if crossed or told[1] else []
    if order == "rank":
        other += ["score"]
    return bool(told[0]), tuple(one for one in other if one != order)
