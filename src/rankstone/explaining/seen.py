"""One query's list as a measure saw it, with the documents' names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.explaining.derivation import IdealRow, Intent, Row
from rankstone.hits.notes import Notes
from rankstone.measures.base import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.hits.align import Chunk
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.options import Alignment
    from rankstone.hits.ragged import Hits
    from rankstone.measures import Measure
    from rankstone.measures.base import Contributions, Scored
    from rankstone.measures.curves import Curve

__all__ = ["Listed", "Seen"]

#: documents that are tried at better ranks
_TRIED: Final = 20


@dataclass(frozen=True, eq=False)
class Seen:
    """What a measure made of one query, and what it told."""

    chunk: Chunk
    hits: Hits
    place: int
    notes: Notes
    parts: Contributions
    scored: Scored
    curve: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(
        cls,
        measure: Measure,
        chunk: Chunk,
        hits: Hits,
        place: int,
        options: Alignment,
        curve: Curve | None = None,
    ) -> Seen:
        """Let the measure tell what it computes with, and score as ever."""
        notes = Notes()
        if hits.queries == 1:
            hits = replace(hits, notes=notes, _memo={})
        scored = measure.score(hits, options.empty)
        if chunk.undefined:
            scored = scored.without_value()
        looked, parts = measure.parts(replace(hits, notes=None, _memo={}))
        points = () if curve is None else _points(curve, hits, place, options.empty)
        return cls(chunk, looked if hits.queries == 1 else hits, place, notes, parts, scored, points)

    @property
    def status(self) -> Status:
        """Why the query has the value it has."""
        return Status(int(self.scored.status[self.place]))

    @property
    def value(self) -> float | None:
        """The score; ``None`` where there is none."""
        value = float(self.scored.value[self.place])
        return None if np.isnan(value) else value

    @property
    def numerator(self) -> float:
        """What is divided."""
        return float(self.scored.numerator[self.place])

    @property
    def denominator(self) -> float:
        """What it is divided by."""
        return float(self.scored.denominator[self.place])

    @property
    def ratio(self) -> float:
        """The quotient, 0 where there is nothing to divide by."""
        return self.numerator / self.denominator if self.denominator > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Listed:
    """One query's list with the documents' names."""

    seen: Seen
    judgments: Judgments
    code: int
    ids: pl.Series

    @property
    def query(self) -> object:
        """The query's id."""
        return self.judgments.queries.names[self.code]

    @property
    def whole(self) -> Hits:
        """All hits of the list, also those below what the measure looks at."""
        return self.seen.chunk.hits

    @property
    def retrieved(self) -> int:
        """How many documents the list has."""
        return int(self.whole.n[self.seen.place])

    @property
    def answered(self) -> bool:
        """Whether the run has a list for the query."""
        return self.seen.chunk.tally is not None

    def pseudo(self, values: Any) -> float | None:  # noqa: ANN401 - float64 [queries], or None
        """Return what a pseudo-row adds."""
        return None if values is None else float(values[self.seen.place])

    def _names(self, rows: Any) -> list[str]:  # noqa: ANN401 - int64 rows of the run
        return self.ids.gather(np.asarray(rows)).to_list()

    @cached_property
    def docs(self) -> list[str]:
        """The list's documents in order."""
        return [row.doc_id or "" for row in self.rows]

    @cached_property
    def judged(self) -> list[tuple[str, float, int | None]]:
        """Judged documents with grade and rank (``None`` where not retrieved), best first."""
        pairs = slice(*self.judgments.pairs.offsets[self.code : self.code + 2])
        docs = self.judgments.pairs.docs[pairs].cast(pl.String).to_list()
        grades = self.judgments.grade[pairs].tolist()
        at = {row.doc_id: row.rank for row in reversed(self.rows)}
        best = sorted(zip(docs, grades, strict=True), key=lambda one: (-one[1], one[0]))
        return [(doc, grade, at.get(doc)) for doc, grade in best]

    @property
    def negative(self) -> int:
        """Judgments below zero that do not count as such."""
        pooled = self.judgments.pooled
        count = 0 if pooled is None else int(np.diff(pooled.offsets)[self.code])
        below = self.judgments.grade[slice(*self.judgments.pairs.offsets[self.code : self.code + 2])] < 0
        return count + int(below.sum())

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The list, a row a document, in rank order."""
        return tuple(self._rows()) if self.answered else ()

    def _rows(self) -> Iterator[Row]:
        hits, holes = self.whole, self.whole.holes
        share, told = self.seen.parts.hits.tolist(), self.seen.notes.of_hits
        running = np.add.accumulate(self.seen.parts.hits).tolist() if share else []
        notes = {name: values.tolist() for name, values in told.items()}
        looked = len(share)
        places = _places(hits.rank, hits.first, hits.last)
        documents = zip(
            places, self._names(hits.run_row), hits.grade.tolist(), hits.judged.tolist(), strict=True
        )
        found: list[tuple[tuple[int, int, int], str, float | None, bool, int]] = [
            (place, doc, grade, judged, at) for at, (place, doc, grade, judged) in enumerate(documents)
        ]
        if holes is not None:
            unjudged = zip(
                _places(holes.rank, holes.first, holes.last), self._names(holes.run_row), strict=True
            )
            found += [(place, doc, None, False, -1) for place, doc in unjudged]
        so_far = 0.0
        for place, doc, grade, judged, at in sorted(found, key=lambda one: one[0][0]):
            said = {name: values[at] for name, values in notes.items() if 0 <= at < len(values)}
            so_far = running[at] if 0 <= at < looked else so_far
            yield Row(*place, doc, grade, judged, said, share[at] if 0 <= at < looked else None, so_far)

    def ideal_rows(self) -> Iterator[IdealRow]:
        """Return what the norm is the sum of, as deep as it goes; documents where grades are in order."""
        told = self.seen.notes.of_ideal
        if not told:
            return
        judged, adding = self.judged, np.flatnonzero(told["contribution"])
        same = len(judged) == len(told["gain"])
        for at in range(int(adding[-1]) + 1 if len(adding) else 0):
            numbers = {name: float(values[at]) for name, values in told.items()}
            yield IdealRow(at + 1, judged[at][0] if same else None, numbers)

    def intents(self) -> Iterator[Intent]:
        """Return the query's subtopics, where the measure asks for these."""
        groups = self.judgments.groups
        if groups is None or self.whole.pool is None:
            return
        pairs = self.judgments.pairs.offsets[self.code : self.code + 2]
        entries, doc = groups.entries(np.arange(*pairs))
        good = groups.grade[entries] > 0
        code, doc = groups.code[entries][good], doc[good]
        ids = self.judgments.pairs.docs[slice(*pairs)].cast(pl.String).to_list()
        at = {row.doc_id: row.rank for row in reversed(self.rows)}
        first, last = groups.starts[self.code : self.code + 2]
        for number in range(int(last - first)):
            names = [ids[place] for place in doc[code == number].tolist()]
            ranks = sorted(at[name] for name in names if name in at)
            name = str(number + 1) if groups.names is None else str(groups.names[int(first) + number])
            yield Intent(name, float(groups.weight[int(first) + number]), len(names), tuple(ranks))

    def facts(self, measure: Measure) -> dict[str, float]:
        """Return numbers about the query."""
        place = self.seen.place
        relevant = measure.relevant_count(self.whole)
        known = {} if relevant is None else {"relevant": int(relevant[place])}
        judged = int(np.diff(self.whole.ideal.offsets)[place])
        hits = int(np.diff(self.whole.offsets)[place])
        return {"retrieved": self.retrieved, "judged": judged, **known, "judged_retrieved": hits}

    def promotions(self) -> Iterator[tuple[str, float, int | None, int]]:
        """Return documents that stand below worse ones, or nowhere: id, grade, rank, where they belong."""
        grades = [row.relevance if row.relevance is not None else 0.0 for row in self.rows]
        tried = 0
        for doc, grade, at in self.judged:
            to = next((rank for rank, other in enumerate(grades, 1) if other < grade), len(grades) + 1)
            if grade > 0 and self.answered and (at is None or to < at) and tried < _TRIED:
                tried += 1
                yield doc, grade, at, to


def _points(curve: Curve, hits: Hits, place: int, empty: str) -> tuple[tuple[float, float], ...]:
    """Return a query's points: its own where the curve has such, its heights over the grid otherwise."""
    traced = curve.score(hits, empty)
    if traced.points is not None:
        own = slice(*traced.points.offsets[place : place + 2])
        return tuple(zip(traced.points.x[own].tolist(), traced.points.y[own].tolist(), strict=True))
    return tuple(zip(curve.grid().tolist(), traced.value[place].tolist(), strict=True))


def _places(rank: Any, first: Any, last: Any) -> Iterator[tuple[int, int, int]]:  # noqa: ANN401 - int64 each
    """Return where documents stand, and where their tie blocks begin and end."""
    return zip(rank.tolist(), first.tolist(), last.tolist(), strict=True)
