"""The values of all lines for all queries, and trec_eval's summary of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.conventions.trec_eval.output_lines import decoded, pieces
from rankstone.evaluation.prepared import Prepared
from rankstone.measures.core.aggregation import SMALLEST_IN_GMEAN, running_sum
from rankstone.measures.core.measure import Measure, Status
from rankstone.measures.core.syntax import parse_measure
from rankstone.measures.precision import Utility

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from rankstone._basics import Bools, Floats
    from rankstone.conventions.trec_eval.output_lines import TrecLine, ZScores
    from rankstone.conventions.trec_eval.trec_settings import Settings
    from rankstone.evaluation.request import QrelsLike
    from rankstone.evaluation.scores import RunScores


_NINTH: Final = 9


class Results(Record):
    """The requested values of the queries that are printed.

    Attributes
    ----------
    queries
        Their ids, in trec_eval's order: by bytes.
    values
        Line → float64 ``[queries]``; logarithms for geometric means.
    strings
        Line → a string for each query.
    judged
        How many queries are judged.
    relevant
        How many judgments of all queries are above 0.
    missing
        Ids of judged queries that the run does not answer.
    emptied
        Ids of queries whose list is empty after documents were removed.
    """

    queries: list[str]
    values: Mapping[str, Floats]
    strings: Mapping[str, list[str]]
    judged: int
    relevant: int
    missing: list[str]
    emptied: list[str]

    def total(self, line: TrecLine, settings: Settings) -> float:
        """Return a line's value over all queries, summed from the first query to the last.

        Sums in another order may be rounded differently from trec_eval's.
        """
        ninth = settings.version == _NINTH and settings.complete
        count = self.judged if ninth else len(self.queries)
        if line.name == "num_q":
            return float(count)
        if line.name == "num_rel" and settings.complete:
            return float(self.relevant)
        total = running_sum(self.values[line.name])
        if line.trec.counts:
            return total
        if not line.is_geometric:
            return total / count
        if ninth:
            total += (count - len(self.queries)) * float(np.log(SMALLEST_IN_GMEAN))
        return float(np.exp(total / count))


class PreparedLines:
    """Prepared judgments, to compute lines for any number of runs.

    Parameters
    ----------
    judgments
        Judgments as for :class:`rankstone.Prepared`.
    lines
        The requested lines.
    settings
        The options.
    """

    def __init__(
        self, judgments: QrelsLike, lines: Sequence[TrecLine], settings: Settings
    ) -> None:
        self.lines, self.settings = lines, settings
        strings = [piece for line in lines for piece in pieces(line.length)]
        wanted = [line.measure for line in lines if line.measure is not None]
        measures = (*map(_measure, self._further_measures()), *wanted, *strings)
        options = {
            **settings.alignment(),
            "missing": "zero",
        }  # which missing queries are printed is decided later
        self._ready = Prepared(judgments, measures, **options)

    def _further_measures(self) -> list[str]:
        """Return further measures that the lines need."""
        if self.settings.judgments != "qrels":
            return ["NumRet"]
        level = f"NumRel(rel={self.settings.level})"
        return ["NumRet", "NumRel", level]

    def __call__(
        self,
        run: object,
        scores: ZScores | None = None,
        also: Container[str] = frozenset(),
    ) -> Results:
        """Evaluate a run; queries named in ``also`` are reported although the run has no list for them."""
        scored = _ScoresByName(
            self._ready.score_runs({"run": run}, on_bad_run="stop").runs["run"]
        )
        all_queries = self.settings.version != _NINTH and self.settings.complete
        reported = [
            row
            for row, name in enumerate(scored.names)
            if all_queries or not scored.missing[row] or name in also
        ]
        printed = sorted(reported, key=lambda row: scored.names[row].encode())
        queries = [scored.names[row] for row in printed]
        values = {
            line.name: self._adjusted(line, line.measure, scored)[printed]
            for line in self.lines
            if line.measure is not None
        }
        if scores is not None:
            values = {
                name: scores.of(name, queries, numbers)
                for name, numbers in values.items()
            }
        empty = ~scored.missing & (scored.of("NumRet") == 0)
        return Results(
            queries=queries,
            values=values,
            strings={
                line.name: scored.strings(line.length, printed)
                for line in self.lines
                if line.length
            },
            judged=len(scored.names),
            relevant=int(scored.of("NumRel").sum())
            if self.settings.judgments == "qrels"
            else 0,
            missing=[scored.names[row] for row in np.flatnonzero(scored.missing)],
            emptied=[scored.names[row] for row in np.flatnonzero(empty)],
        )

    def _adjusted(
        self, line: TrecLine, measure: Measure, scored: _ScoresByName
    ) -> Floats:
        """Return a line's values, with trec_eval's exceptions for some queries."""
        values = scored.values(measure)
        if line.is_geometric:
            return np.log(np.maximum(values, SMALLEST_IN_GMEAN))
        if line.trec.name == "Rndcg" and self.settings.level != 1:
            values = np.where(
                scored.of(f"NumRel(rel={self.settings.level})") > 0, values, 0.0
            )
        elif isinstance(
            measure, Utility
        ):  # version 10 lets a missing query retrieve one foreign document
            foreign = 0.0 if line.name == "utility" else values + measure.b - measure.d
            values = np.where(
                scored.missing & (self.settings.version != _NINTH), foreign, values
            )
        return values


class _ScoresByName(Record):
    """The scores of one run by the names of our measures."""

    scores: RunScores

    @cached_property
    def names(self) -> list[str]:
        """The judged queries' ids."""
        return self.scores.queries.cast(pl.String).to_list()

    @cached_property
    def missing(self) -> Bools:
        """The queries that the run does not answer, bool ``[queries]``."""
        missing: Bools = (
            self.scores.by_measure[_measure("NumRet")].status == Status.missing
        )
        return missing

    def values(self, measure: Measure) -> Floats:
        """Return a measure's values; undefined ones are 0 in trec_eval."""
        return np.nan_to_num(self.scores.by_measure[measure].value)

    def of(self, text: str) -> Floats:
        """Return the values of a measure by its name."""
        return self.values(_measure(text))

    def strings(self, length: int, queries: list[int]) -> list[str]:
        """Return the relevance strings of some queries."""
        numbers = zip(
            *(self.values(piece)[queries].tolist() for piece in pieces(length)),
            strict=True,
        )
        shown = np.minimum(self.of("NumRet")[queries], length).astype(int).tolist()
        return [
            decoded(parts, most) for parts, most in zip(numbers, shown, strict=True)
        ]


def _measure(text: str) -> Measure:
    measure = parse_measure(text)
    assert isinstance(measure, Measure)  # noqa: S101 - our own names
    return measure
