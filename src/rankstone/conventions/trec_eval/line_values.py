"""Values of every line for every query, and the summary trec_eval makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.conventions.trec_eval.output_lines import pieces, spelt
from rankstone.evaluation.prepared import Prepared
from rankstone.measures.core.aggregation import SMALLEST_IN_GMEAN, running_sum
from rankstone.measures.core.measure import Measure, Status
from rankstone.measures.core.syntax import parse_measure
from rankstone.measures.precision import Utility

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from rankstone.conventions.trec_eval.output_lines import Line, ZScores
    from rankstone.conventions.trec_eval.relevance_evaluator import Settings
    from rankstone.evaluation.request import QrelsLike
    from rankstone.evaluation.scores import RunScores
    from rankstone.hits.list_arrays import Bools, Floats


_NINTH: Final = 9


@dataclass(frozen=True, eq=False)
class Results:
    """What was asked for, of the queries that are printed.

    Attributes
    ----------
    queries
        Their ids, in trec_eval's order: by bytes.
    values
        Line → float64 ``[queries]``.  A geometric mean has the queries' logarithms.
    strings
        Line → a string for each query.
    judged
        How many queries are judged.
    relevant
        How many judgments of all queries are above 0.
    missing
        Ids of judged queries that the run does not answer.
    hollow
        Ids of queries whose list is empty once documents were taken out.
    """

    queries: list[str]
    values: Mapping[str, Floats]
    strings: Mapping[str, list[str]]
    judged: int
    relevant: int
    missing: list[str]
    hollow: list[str]

    def total(self, line: Line, settings: Settings) -> float:
        """Return a line's number over all queries, added from the first query to the last.

        Only so are the digits those of trec_eval: a sum in any other order may round otherwise.
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


class Ready:
    """Judgments prepared for runs.

    Parameters
    ----------
    judgments
        Whatever :class:`rankstone.Prepared` takes.
    lines
        What is asked for.
    settings
        The options.
    """

    def __init__(self, judgments: QrelsLike, lines: Sequence[Line], settings: Settings) -> None:
        self.lines, self.settings = lines, settings
        spelling = [piece for line in lines for piece in pieces(line.length)]
        wanted = [line.measure for line in lines if line.measure is not None]
        measures = (*map(_measure, self._helping()), *wanted, *spelling)
        options = {**settings.alignment(), "missing": "zero"}  # who is missing, and is printed, shows later
        self._ready = Prepared(judgments, measures, **options)

    def _helping(self) -> list[str]:
        """Return what has to be known beside what is asked for."""
        if self.settings.judgments != "qrels":
            return ["NumRet"]
        level = f"NumRel(rel={self.settings.level})"
        return ["NumRet", "NumRel", level]

    def __call__(
        self, run: object, scores: ZScores | None = None, also: Container[str] = frozenset()
    ) -> Results:
        """Evaluate a run; queries named in ``also`` are reported although the run has no list for them."""
        found = _Found(self._ready.score_runs({"run": run}, on_bad_run="stop").runs["run"])
        everyone = self.settings.version != _NINTH and self.settings.complete
        printed = sorted(
            (at for at, name in enumerate(found.names) if everyone or not found.missing[at] or name in also),
            key=lambda at: found.names[at].encode(),
        )
        queries = [found.names[at] for at in printed]
        values = {
            line.name: self._settled(line, line.measure, found)[printed]
            for line in self.lines
            if line.measure is not None
        }
        if scores is not None:
            values = {name: scores.of(name, queries, numbers) for name, numbers in values.items()}
        empty = ~found.missing & (found.of("NumRet") == 0)
        return Results(
            queries=queries,
            values=values,
            strings={line.name: found.strings(line.length, printed) for line in self.lines if line.length},
            judged=len(found.names),
            relevant=int(found.of("NumRel").sum()) if self.settings.judgments == "qrels" else 0,
            missing=[found.names[at] for at in np.flatnonzero(found.missing)],
            hollow=[found.names[at] for at in np.flatnonzero(empty)],
        )

    def _settled(self, line: Line, measure: Measure, found: _Found) -> Floats:
        """Return a line's values with what trec_eval does differently for some queries."""
        values = found.values(measure)
        if line.is_geometric:
            return np.log(np.maximum(values, SMALLEST_IN_GMEAN))
        if line.trec.name == "Rndcg" and self.settings.level != 1:
            values = np.where(found.of(f"NumRel(rel={self.settings.level})") > 0, values, 0.0)
        elif isinstance(measure, Utility):  # version 10 lets a missing query retrieve one foreign document
            foreign = 0.0 if line.name == "utility" else values + measure.b - measure.d
            values = np.where(found.missing & (self.settings.version != _NINTH), foreign, values)
        return values


@dataclass(frozen=True, eq=False)
class _Found:
    """Scores of one run, by our texts."""

    scores: RunScores

    @cached_property
    def names(self) -> list[str]:
        """The judged queries' ids."""
        return self.scores.queries.cast(pl.String).to_list()

    @cached_property
    def missing(self) -> Bools:
        """Which of them the run does not answer."""
        missing: Bools = self.scores.by_measure[_measure("NumRet")].status == Status.missing
        return missing

    def values(self, measure: Measure) -> Floats:
        """Return a measure's values; what is undefined is 0 for trec_eval."""
        return np.nan_to_num(self.scores.by_measure[measure].value)

    def of(self, text: str) -> Floats:
        """Return the values of the measure a text stands for."""
        return self.values(_measure(text))

    def strings(self, length: int, queries: list[int]) -> list[str]:
        """Return the relevance strings of some queries."""
        numbers = zip(*(self.values(piece)[queries].tolist() for piece in pieces(length)), strict=True)
        shown = np.minimum(self.of("NumRet")[queries], length).astype(int).tolist()
        return [spelt(parts, most) for parts, most in zip(numbers, shown, strict=True)]


def _measure(text: str) -> Measure:
    measure = parse_measure(text)
    assert isinstance(measure, Measure)  # noqa: S101 - our own texts
    return measure
