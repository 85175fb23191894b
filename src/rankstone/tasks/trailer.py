"""What a share tells of its queries together: counts and sums that can be added up in any order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone import errors
from rankstone.errors import RankstoneError, printable
from rankstone.hits.audit import Tally
from rankstone.hits.exclusion import SHOWN, LeftOut
from rankstone.tasks.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankstone.measures import Measure
    from rankstone.scores import RunScores

__all__ = ["Trailer"]

_COUNTS: Final = ("rows", "tied", "tied_queries", "tied_float32", "duplicates", "contradicted", "single")
#: counters of what is added up by name
_ADDED: Final = ("counts", "judgments", "grades", "asked", "left_out")
_LEFT_OUT: Final = ("rows", "relevant", "pairs_relevant", "unmatched")
#: names that a message shows
_SHOWN: Final = 5


@dataclass(eq=False)
class Trailer:
    """What shares tell of their queries.

    Attributes
    ----------
    sums
        Of each measure.
    counts, lengths, judged, unjudged
        What the audit of a run counts: rows and ties, list length → lists, judged documents, shares of
        unjudged documents at each cutoff.
    missing, extra
        Judged queries without a list; queries nobody judged, and some of their names.
    judgments, grades, asked
        What the audits of judgments and of the query table count, and what grades were like.
    left_out, unmatched
        What excluding pairs did to the lists, and pairs that stand in none.
    error
        What went wrong, as its parts.
    """

    sums: list[Sums] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    judged: int = 0
    unjudged: list[float] = field(default_factory=list)
    missing: int = 0
    extra: int = 0
    strangers: list[str] = field(default_factory=list)
    judgments: Counter[str] = field(default_factory=Counter)
    grades: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    unmatched: list[str] = field(default_factory=list)
    error: dict[str, Any] | None = None

    @classmethod
    def of(
        cls,
        measures: Sequence[Measure],
        scores: RunScores,
        tallies: Sequence[Tally],
        missing: int,
        extra: pl.Series,
        judgments: dict[str, int],
        grades: dict[str, int],
        asked: dict[str, int] | None,
        left_out: LeftOut | None,
    ) -> Trailer:
        """Count and sum up what one share has seen."""
        found = cls(
            sums=[Sums.of(measure, scores.by_measure[measure]) for measure in measures],
            judged=sum(int(one.judged.sum()) for one in tallies),
            missing=missing,
            extra=len(extra),
            strangers=[printable(name) for name in extra[:_SHOWN]],
            judgments=Counter(judgments),
            grades=Counter(grades),
            asked=Counter(asked or {}),
        )
        if left_out is not None:
            found.left_out = Counter({name: getattr(left_out, name) for name in _LEFT_OUT})
            found.unmatched = list(left_out.examples)
        for one in tallies:
            found.counts.update({name: getattr(one, name) for name in _COUNTS})
            length, lists = np.unique(one.n, return_counts=True)
            found.lengths.update(dict(zip(length.tolist(), lists.tolist(), strict=True)))
            found.unjudged = [
                a + b for a, b in zip(found.unjudged or [0.0] * len(one.unjudged), one.unjudged, strict=True)
            ]
        return found

    @classmethod
    def of_error(cls, error: RankstoneError) -> Trailer:
        """Tell of a mistake in the data, which is no reason for a traceback."""
        parts = {name: getattr(error, name) for name in ("what", "where", "given", "expected", "fix")}
        return cls(error={"kind": type(error).__name__, **parts})

    def told(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        rest = {name: value for name, value in vars(self).items() if name != "sums"}
        return {**rest, "sums": [one.told() for one in self.sums]}

    @classmethod
    def read(cls, told: dict[str, Any]) -> Trailer:
        """Return what :meth:`told` told; a mistake in the data is raised."""
        if told["error"] is not None:
            kind: Any = getattr(errors, told["error"].pop("kind"), RankstoneError)
            raise kind(told["error"].pop("what"), **told["error"])
        sums = [Sums.read(one) for one in told["sums"]]
        lengths = Counter({int(length): lists for length, lists in told["lengths"].items()})
        counts = {name: Counter(told[name]) for name in _ADDED}
        return cls(**{**told, **counts, "lengths": lengths, "sums": sums})

    def merge(self, other: Trailer) -> None:
        """Take in what another share tells."""
        if not self.sums:
            self.sums = [Sums() for _ in other.sums]
        if other.sums:  # one that has seen nothing has none
            for one, more in zip(self.sums, other.sums, strict=True):
                one.merge(more)
        for name in ("lengths", *_ADDED):
            getattr(self, name).update(getattr(other, name))
        if other.unjudged:
            mine = self.unjudged or [0.0] * len(other.unjudged)
            self.unjudged = [a + b for a, b in zip(mine, other.unjudged, strict=True)]
        self.judged += other.judged
        self.missing += other.missing
        self.extra += other.extra
        self.unmatched = sorted([*self.unmatched, *other.unmatched])[:SHOWN]
        self.strangers = [*self.strangers, *other.strangers][:_SHOWN]

    def excluded(self) -> LeftOut | None:
        """Return what excluding pairs did over all lists; ``None`` where nothing was excluded."""
        if not self.left_out.keys():
            return None
        return LeftOut(**{name: self.left_out[name] for name in _LEFT_OUT}, examples=tuple(self.unmatched))

    def tally(self) -> Tally:
        """Return what was counted over all lists as the tally of one batch."""
        n = np.repeat(list(self.lengths.keys()), list(self.lengths.values())).astype(np.int64)
        counts: dict[str, Any] = {name: self.counts[name] for name in _COUNTS}
        return Tally(
            **counts,
            n=n,
            judged=np.array([self.judged]),
            unjudged=tuple(self.unjudged),
        )
