"""The effect of the relevance threshold on scores and on the order of runs.

Binary measures turn grades into relevant and not relevant.  This shows what the threshold changes: the value
at every threshold with its interval, the spread of values, where two runs swap places, and how many
preferences between documents are lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from rankstone._basics import exact
from rankstone.comparison.single_intervals import intervals
from rankstone.diagnostics.cutoff_choice import tau_b
from rankstone.errors import BadParameter, printable
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords
from rankstone.hits.alignment_options import takes
from rankstone.measures.core.definition import Threshold
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_measures
from rankstone.stats.mean_intervals import RESAMPLED
from rankstone.tables.drawing import Drawing, Line
from rankstone.tables.results import Result, data_notes, given
from rankstone.tables.sheet import Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Ints, Progress
    from rankstone.evaluation.request import MeasuresLike, QrelsLike, RunsLike
    from rankstone.evaluation.scores import Scores
    from rankstone.hits.list_arrays import Ideal
    from rankstone.tables.sheet import Details


#: runs whose intervals are shown, and pairs of runs that are named
_FEW = 4
_NAMED = 5


@takes(EvaluationKeywords)
def thresholds(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike,
    *,
    levels: Sequence[float] | None = None,
    strict: bool = False,
    interval: str = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Thresholds:
    """Score runs with every threshold on the grades.

    Parameters
    ----------
    qrels, runs, progress, **options
        As for :func:`~rankstone.evaluate`.
    measures
        Measures with a threshold ``rel``; one that is set already is replaced.
    levels
        The lowest relevant grades to try; by default every grade above 0 in the judgments.
    strict
        True if only grades above a level are relevant, not the level itself; by default levels are then 0 and
        every grade above it but the highest.
    interval, confidence, seed
        The interval of every value over queries, as for :func:`~rankstone.intervals`.

    Returns
    -------
    Thresholds
        Values, their spread over thresholds, runs that swap places, and lost preferences.

    Raises
    ------
    BadParameter
        When a measure has no threshold.

    Examples
    --------
    >>> qrels = {"q": {"a": 4, "b": 3, "c": 2, "d": 1, "e": 3, "f": 1, "g": 2}}
    >>> study = thresholds(qrels, {"q": list("abcdefg")}, "AP")
    >>> [round(value, 6) for value in study.values["value"]]
    [1.0, 0.902857, 0.866667, 1.0]
    >>> study.pairs["kept"].to_list()
    [0, 10, 12, 6]
    """
    ready = Prepared(qrels, _with_threshold(measures), **options)
    ideal = ready.judgments().ideal
    if levels is None:
        grades = _levels(ideal, strict=strict)
    else:
        grades = sorted({float(level) for level in levels})
    if not grades:
        raise BadParameter(
            "there is no grade above 0, so there are no thresholds to try"
        )

    lines = [Threshold(grade, strict=strict) for grade in grades]
    cut = [(m, line, replace(m, rel=line)) for m in ready.measures for line in lines]  # type: ignore[call-arg]
    scores = ready.for_measures([measure for _, _, measure in cut]).evaluate(
        runs, progress=progress
    )
    settings = {"interval": interval, "confidence": confidence, "seed": seed}
    ends = intervals(scores, interval=interval, confidence=confidence, seed=seed)
    return Thresholds(
        scores,
        _values(scores, cut, ends),
        _pairs(ideal, lines),
        strict=strict,
        settings=settings,
    )


def _levels(ideal: Ideal, *, strict: bool) -> list[float]:
    """Return the levels between grades: every grade above 0, or for > the grade below each."""
    grades = sorted(set(ideal.grade[ideal.grade > 0].tolist()))
    if strict:
        return [0.0, *grades][: len(grades)]
    return grades


def _with_threshold(measures: MeasuresLike) -> list[Measure]:
    with_threshold = []
    for measure in parse_measures(measures):
        if not isinstance(measure, Measure) or not hasattr(measure, "rel"):
            raise BadParameter(
                f"{measure} has no threshold",
                expected="measures with rel: AP, P@10, RR, R@100 …",
            )
        if "rel" in measure.changed():
            raise BadParameter(
                f"{measure} already has a threshold",
                fix="leave rel out: all thresholds are tried",
            )
        with_threshold.append(measure)
    return with_threshold


@dataclass(frozen=True, eq=False)
class Thresholds(Result):
    """Values at every threshold, and how they compare.

    Attributes
    ----------
    scores
        The scores behind the values, per query too.
    values
        ``run``, ``measure``, ``rel``, ``value``, ``low``, ``high`` (null where there is no interval),
        ``n``.
    pairs
        For each threshold: ``rel``, ``pairs`` (of documents of one query with different grades),
        ``kept`` (of these, with the threshold between them), ``loss`` (the share that is lost), ``empty``
        (queries without a relevant document).
    strict
        True if only grades above ``rel`` are relevant, not ``rel`` itself.
    settings
        How intervals were computed.
    """

    scores: Scores
    values: pl.DataFrame
    pairs: pl.DataFrame
    strict: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def sensitivity(self) -> pl.DataFrame:
        """The spread of values over thresholds: ``run``, ``measure``, ``low``, ``high``, ``spread``."""
        low = pl.col("value").min()
        high = pl.col("value").max()
        return self.values.group_by("run", "measure", maintain_order=True).agg(
            low=low, high=high, spread=high - low
        )

    @cached_property
    def reversals(self) -> pl.DataFrame:
        """Which runs swap places between two thresholds.

        ``measure``, ``rel``, ``other``, ``tau_b`` (Kendall's, between the two orders of runs; null
        where one of them is all ties), ``reversal`` (1 − tau_b) and ``swapped`` (pairs of runs).
        """
        rows: list[tuple[object, ...]] = []
        for (measure,), part in self.values.group_by("measure", maintain_order=True):
            by_level = {
                level: values
                for (level,), values in part.group_by("rel", maintain_order=True)
            }
            for rel, other in combinations(by_level, 2):
                rows.append(
                    (measure, rel, other, *_orders(by_level[rel], by_level[other]))
                )
        schema: dict[str, Any] = {"measure": pl.String, **self._line}
        schema |= {
            "tau_b": pl.Float64,
            "reversal": pl.Float64,
            "swapped": pl.List(pl.List(pl.String)),
        }
        return pl.DataFrame(rows, schema, orient="row")

    @cached_property
    def crossings(self) -> pl.DataFrame:
        """The places where runs swap: ``measure``, ``rel`` and ``other`` (neighbours), ``a``, ``b``."""
        levels = self.pairs["rel"].to_list()
        following = pl.DataFrame({"rel": levels[:-1], "other": levels[1:]}, self._line)
        near = self.reversals.join(
            following, on=["rel", "other"], maintain_order="left"
        )
        swap = pl.col("swapped").list
        return (
            near.select("measure", "rel", "other", "swapped")
            .explode("swapped")
            .drop_nulls()
            .with_columns(a=swap.get(0), b=swap.get(1))
            .drop("swapped")
        )

    @property
    def _line(self) -> dict[str, Any]:
        return {"rel": pl.Float64, "other": pl.Float64}

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`values`."""
        return self.values

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        return given(
            values=self.values,
            sensitivity=self.sensitivity,
            reversals=self.reversals,
            crossings=self.crossings,
            pairs=self.pairs,
            strict=self.strict,
            intervals=self.settings,
            audit=self.scores.audit,
            conventions=self.scores.conventions,
            inputs=self.scores.inputs,
        )

    def sheet(self, digits: int = 4, *, drawn: bool = False) -> Sheet:
        """Return values by threshold, their spread, and where runs swap places.

        Parameters
        ----------
        digits
            Decimals.
        drawn
            True to draw the values above the table.
        """
        runs = list(self.scores.runs)
        head = (
            "measure",
            "relevant",
            *map(printable, runs),
            "preferences lost",
            "queries without relevant",
        )
        rows: list[tuple[str, ...]] = []
        for part in self.values.partition_by("measure", maintain_order=True):
            rows += self._rows(part, runs, digits)

        numeric = (True for _ in head[2:])
        table = Table("", head, tuple(rows), ("id", "text", *numeric))
        parts: list[Any] = []
        if drawn:
            for heading, drawing in self._drawings():
                parts += [heading, drawing]
        return Sheet("", parts=(*parts, table), notes=tuple(self._note_lines()))

    def _rows(
        self, part: pl.DataFrame, runs: list[str], digits: int
    ) -> Iterator[tuple[str, ...]]:
        """Yield a row for each threshold of a measure, then one for the spread."""
        measure = part["measure"][0]
        lines = {line: more for line, _, _, *more in self.pairs.iter_rows()}
        for values in part.partition_by("rel", maintain_order=True):
            rel = values["rel"][0]
            cells = {}
            for run, *ends in values.select("run", "value", "low", "high").iter_rows():
                cells[run] = self._cell(*ends, digits=digits)

            share, empty = lines[rel]
            lost = "–" if share is None else f"{share:.0%}"
            line = f"{'>' if self.strict else '≥'} {exact(rel)}"
            yield measure, line, *(cells[run] for run in runs), lost, f"{empty:,}"
        moved = dict(
            self.sensitivity.filter(measure=measure).select("run", "spread").iter_rows()
        )
        yield (
            measure,
            "spread",
            *(cell(moved[run], digits=digits) for run in runs),
            "",
            "",
        )

    def _cell(
        self, value: float | None, low: float | None, high: float | None, *, digits: int
    ) -> str:
        mean = cell(value, digits=digits)
        if low is None or len(self.scores.runs) > _FEW:
            return mean
        return f"{mean} [{cell(low, digits=digits)}, {cell(high, digits=digits)}]"

    def _drawings(self) -> Iterator[tuple[tuple[str, tuple[str, ...]], Drawing]]:
        known = self.values.drop_nulls("value")
        for part in known.partition_by("measure", maintain_order=True):
            runs = part.partition_by("run", maintain_order=True)
            lines = {}
            for run in runs:
                line = Line(run["rel"].to_list(), run["value"].to_list())
                lines[str(run["run"][0])] = line
            heading = f"{part['measure'][0]} over the threshold"
            yield (heading, ()), Drawing(lines, named=len(lines) > 1)

    def _note_lines(self) -> Iterator[str | Details]:
        if len(self.scores.runs) > 1:
            yield from self._order_of_runs()
        if len(self.scores.runs) > _FEW:
            yield "intervals: use --format csv or json to see those of more than four runs"
        else:
            settings = self.settings
            drawn = ""
            if settings["interval"] in RESAMPLED:
                drawn = f" bootstrap, seed {settings['seed']}"
            yield f"intervals  {100 * settings['confidence']:g} % over queries, {settings['interval']}{drawn}"
        yield data_notes(self.scores.audit, self.scores.conventions)

    def _order_of_runs(self) -> Iterator[str]:
        """Yield where runs swap places, and between which thresholds their order differs most."""
        for (measure,), part in self.reversals.group_by("measure", maintain_order=True):
            places = self.crossings.filter(measure=measure)
            by_levels = places.group_by("rel", "other", maintain_order=True)
            for (rel, other), swaps in by_levels:
                named = [
                    f"{printable(a)} and {printable(b)}"
                    for a, b in swaps.select("a", "b").iter_rows()
                ]
                more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
                pairs = "; ".join(named[:_NAMED]) + more
                yield f"{measure}: from {exact(rel)} to {exact(other)} {pairs} swap places"
            if places.is_empty():
                yield f"{measure}: no runs swap places from one threshold to the next"
            lowest = part.drop_nulls("tau_b").sort("tau_b", maintain_order=True).head(1)
            for rel, other, tau in (
                lowest.filter(lowest["tau_b"] < 1)
                .select("rel", "other", "tau_b")
                .iter_rows()
            ):
                yield f"{measure}: the orders at {exact(rel)} and {exact(other)} differ most, tau_b {tau:.2f}"


def _values(
    scores: Scores, cut: list[tuple[Measure, Threshold, Measure]], ends: pl.DataFrame
) -> pl.DataFrame:
    named = pl.DataFrame(
        [
            (str(measure), line.level, str(with_line))
            for measure, line, with_line in cut
        ],
        {"measure": pl.String, "rel": pl.Float64, "text": pl.String},
        orient="row",
    )
    means = scores.mean().rename({"measure": "text"})
    p_or_one = ends.select("run", "low", "high", text="measure")
    joined = (
        pl.DataFrame({"run": list(scores.runs)})
        .join(named, how="cross")
        .join(means, on=["run", "text"], how="left", maintain_order="left")
        .join(p_or_one, on=["run", "text"], how="left", maintain_order="left")
    )
    return joined.select("run", "measure", "rel", "value", "low", "high", "n")


def _pairs(ideal: Ideal, lines: list[Threshold]) -> pl.DataFrame:
    """Count the pairs of documents with different grades, and those with the threshold between them."""
    judged = np.diff(ideal.offsets)
    fresh = np.ones(len(ideal.grade), bool)
    another_grade = ideal.grade[1:] != ideal.grade[:-1]
    another_query = ideal.query[1:] != ideal.query[:-1]
    fresh[1:] = another_grade | another_query
    starts = np.flatnonzero(fresh)
    sizes = np.diff(np.append(starts, len(fresh)))

    # every pair of a query, but those of one grade
    ordered = (judged * judged).sum()
    equal = (sizes * sizes).sum()
    pairs = int(ordered - equal) // 2
    rows = []
    for line in lines:
        above = ideal.count(line(ideal.grade))
        kept = int((above * (judged - above)).sum())
        lost = 1 - kept / pairs if pairs else None
        empty = int((above == 0).sum())
        rows.append((line.level, pairs, kept, lost, empty))
    counts = dict.fromkeys(("pairs", "kept"), pl.Int64)
    schema = {"rel": pl.Float64, **counts, "loss": pl.Float64, "empty": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")


def _orders(
    first: pl.DataFrame, second: pl.DataFrame
) -> tuple[float | None, float | None, list[list[str]]]:
    """Compare two orders of runs: Kendall's tau_b, one less that, and the pairs that swap places."""
    before = _signs(first["value"])
    after = _signs(second["value"])
    tau = float(tau_b(before, after))

    pairs = combinations(first["run"], 2)
    products = before * after
    swapped = [
        [*pair] for pair, product in zip(pairs, products, strict=True) if product < 0
    ]
    if math.isnan(tau):
        return (None, None, swapped)
    return (tau, 1 - tau, swapped)


def _signs(values: pl.Series) -> Ints:
    """Return for each pair of runs 1, -1 or 0; 0 where a value is missing, too."""
    return np.array([_sign(a, b) for a, b in combinations(values, 2)], np.int64)


def _sign(a: float | None, b: float | None) -> int:
    if a is None or b is None:
        return 0
    return (a > b) - (a < b)
