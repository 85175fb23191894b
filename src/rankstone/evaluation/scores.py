"""Scores: values of queries first, means computed from them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import polars as pl

from rankstone._basics import Record, some
from rankstone.errors import BadParameter, UnknownMean, did_you_mean, printable
from rankstone.evaluation.request import is_unnamed
from rankstone.measures.core.measure import Measure, Status
from rankstone.measures.core.syntax import parse_measure
from rankstone.tables.results import HasMeans

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints, NamedValues, Names
    from rankstone.hits.alignment_audit import Audit
    from rankstone.measures.core.definition import Named
    from rankstone.measures.core.measure import Scored
    from rankstone.tables.results import Averaged
    from rankstone.tables.sheet import Sheet


_STATUS = pl.Enum([status.name for status in Status])
_SCHEMA: NamedValues = {
    "run": pl.String,
    "query_id": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "numerator": pl.Float64,
    "denominator": pl.Float64,
    "weight": pl.Float64,
    "status": _STATUS,
}
_UNIT_SCHEMA: NamedValues = {
    "run": pl.String,
    "unit": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "n": pl.Int64,
}
_MEAN = ("measure", "value", "n", "n_undefined")


class RunScores(Record):
    """The scores of one run.

    Attributes
    ----------
    queries
        The queries' ids.
    by_measure
        For each measure one value for each query.
    about
        The rows of the query table for these queries; ``None`` without a table.
    """

    queries: pl.Series
    by_measure: Mapping[Measure, Scored]
    about: pl.DataFrame | None = None

    def unit(self, name: str) -> tuple[pl.Series, Ints]:
        """Return the distinct values (units) of a column of the query table, and the unit of each query."""
        assert self.about is not None  # noqa: S101 - measures with units are refused without the table
        units = self.about[name].unique(maintain_order=True)
        return units, _codes(self.about.select(name), units.to_frame())


class RunMeans(HasMeans):
    """A result that is shown with one row of means for each run."""

    picture = "rankstone.evaluation.score_tables:of_runs"
    #: True if the only run was given without a name
    unnamed: bool
    #: scores are looked up, not gone through
    __iter__ = None

    def __getitem__(self, key: object) -> Any:  # noqa: ANN401 - a number or some
        """Return the mean of a measure: a number, or that of each run where runs have names.

        Parameters
        ----------
        key
            The measure's name; or run and measure, which is always a number.

        Examples
        --------
        >>> import rankstone
        >>> qrels, run = {"q1": {"d": 1}}, {"q1": ["x", "d"]}
        >>> rankstone.evaluate(qrels, run, "RR")["RR"]
        0.5
        >>> scores = rankstone.evaluate(qrels, {"bm25": run}, "RR")
        >>> scores["RR"], scores["bm25", "RR"]
        ({'bm25': 0.5}, 0.5)
        """
        scores = cast("Averaged", self)
        means = scores.to_dict()
        measures = scores.measures
        known: dict[tuple[str, ...], Any] = {}
        for measure in map(str, measures):
            by_run = {run: values[measure] for run, values in means.items()}
            known[measure,] = by_run
            for run, value in by_run.items():
                known[run, measure] = value
                if self.unnamed:
                    known[measure,] = value

        parts: tuple[object, ...] = (key,)
        if isinstance(key, tuple):
            parts = key
        words = tuple(map(str, parts))
        if words not in known:
            with suppress(ValueError):  # no measure, or not even a word
                *runs, name = words
                canonical = str(parse_measure(name))
                words = (*runs, canonical)
        if words in known:
            return known[words]
        text = ", ".join(map(repr, words))
        near = [", ".join(map(repr, way)) for way in known]
        in_order = words[::-1] if words[::-1] in known else words
        ways = "scores[measure] or scores[run, measure]"
        raise UnknownMean(
            f"there is no mean scores[{printable(text)}]",
            expected=f"{ways}; measures {some(measures)}; runs {some(means)}",
            fix=did_you_mean(", ".join(map(repr, in_order)), near, "scores[{}]".format),
        )

    def given_as(self, runs: object) -> Self:
        """Return the same scores, which know whether their run was given without a name."""
        return replace(self, unnamed=is_unnamed(runs))  # type: ignore[type-var] # of dataclasses

    def sheet(
        self,
        digits: int = 4,
        *shown: Any,  # noqa: ANN401 - of the picture
        **options: Any,  # noqa: ANN401
    ) -> Sheet:
        """Return the means as a sheet; see :func:`rankstone.evaluation.score_tables.of_runs`."""
        return self.pictured(digits, *shown, **options)

    def sorted(self, measure: str | Named) -> Self:
        """Return the same scores with the runs sorted by a measure, the best first; without a mean last.

        Examples
        --------
        >>> import rankstone
        >>> runs = {"a": {"q1": ["x", "d"]}, "b": {"q1": ["d"]}}
        >>> rankstone.evaluate({"q1": {"d": 1}}, runs, "RR").sorted("RR").to_dict()
        {'b': {'RR': 1.0}, 'a': {'RR': 0.5}}
        """
        from rankstone.evaluation.run_places import places

        return self._with_runs([*places(cast("Averaged", self), measure)])

    def _with_runs(self, names: Sequence[str]) -> Self:
        """Return the scores of some runs, in an order."""
        raise NotImplementedError

    def has(self: Averaged, status: str) -> bool:
        """Return True if any query has the given status for any measure."""
        return any(self.share_of(run, status) for run in self.audit.runs)


class Scores(RunMeans, Record):
    """Scores of one or more runs.

    Attributes
    ----------
    runs
        Run name → its scores.
    measures
        The measures, in the requested order.
    audit
        The audit of alignment.
    conventions
        All options and parameters that the numbers depend on.
    inputs
        The sources of judgments and runs.
    unnamed
        True if the only run was given without a name: ``scores["RR"]`` is then a number.

    Examples
    --------
    >>> import rankstone
    >>> scores = rankstone.evaluate({"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, "RR P@1")
    >>> scores.to_dict()
    {'run': {'RR': 0.5, 'P@1': 0.0}}
    """

    runs: Mapping[str, RunScores]
    measures: tuple[Measure, ...]
    audit: Audit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    unnamed: bool = field(default=False, kw_only=True)
    _means: dict[tuple[Names, ...], pl.DataFrame] = field(
        default_factory=dict, compare=False
    )

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row per run, query and measure.

        Columns ``run``, ``query_id``, ``measure``, ``value`` (null where undefined),
        ``numerator``, ``denominator``, ``weight`` and ``status``
        (see :class:`~rankstone.measures.Status`).
        """
        return self.lazy().collect()

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`per_query`."""
        return self.per_query

    def lazy(self) -> pl.LazyFrame:
        """Return :attr:`per_query` lazily, to write many millions of rows without holding them in memory."""
        parts = [
            measure_rows(name, run, measure, scored)
            for name, run in self.runs.items()
            for measure, scored in run.by_measure.items()
        ]
        if parts:
            return pl.concat(parts)
        return pl.LazyFrame(schema=_SCHEMA)

    @cached_property
    def per_unit(self) -> pl.DataFrame:
        """One row per run, measure of sessions (or other units of queries) and session.

        Columns ``run``, ``unit`` (the session), ``measure``, ``value`` and ``n`` (its queries).
        """
        parts = [pl.DataFrame(schema=_UNIT_SCHEMA)]
        for name, run in self.runs.items():
            for measure, scored in run.by_measure.items():
                if measure.unit is None:
                    continue
                counted = np.flatnonzero(
                    ~np.isin(
                        scored.status,
                        uncounted(undefined_propagates=measure.undefined_propagates),
                    )
                )
                names, code = run.unit(measure.unit)
                places, value, n = _units(code, measure, scored, counted)
                unit = names.cast(pl.String).gather(places)
                units = pl.DataFrame({"unit": unit, "value": value, "n": n})
                named = units.with_columns(
                    run=pl.lit(name), measure=pl.lit(str(measure))
                )
                parts.append(named.select(list(_UNIT_SCHEMA)))
        return pl.concat(parts)

    def mean(
        self, without: str | Iterable[str] = (), by: str | Sequence[str] = ()
    ) -> pl.DataFrame:
        """Return one row per run and measure: the aggregate over queries.

        Parameters
        ----------
        without
            Statuses of queries to leave out: ``["missing"]`` gives the mean over answered queries,
            ``["no_relevant"]`` the one over queries with something to find.
        by
            Columns of the query table: one row for each of their values (null where the table has no value
            for a query).

        Returns
        -------
        polars.DataFrame
            ``run``, the columns of ``by``, ``measure``, ``value`` (null when no query counts), ``n``
            (queries averaged; sessions for measures of sessions) and ``n_undefined``.

        Examples
        --------
        >>> import rankstone
        >>> queries = {"q1": {"country": "de"}, "q2": {"country": "fr"}}
        >>> qrels, run = {"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": ["d"], "q2": ["x", "d"]}
        >>> scores = rankstone.evaluate(qrels, run, "RR", queries=queries)
        >>> scores.mean(by="country").select("country", "value", "n").rows()
        [('de', 1.0, 1), ('fr', 0.5, 1)]
        """
        left_out = (without,) if isinstance(without, str) else tuple(without)
        columns = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
        key = left_out, columns
        if key not in self._means:
            self._means[key] = self._mean(*key)
        return self._means[key]

    def _mean(self, without: Names, by: Names) -> pl.DataFrame:
        statuses = [status_of(name) for name in without]
        rows: list[tuple[Any, ...]] = []
        kinds: NamedValues = dict.fromkeys(by, pl.Null())
        for name, run in self.runs.items():
            segments, members = query_segments(run, by, self.inputs)
            kinds.update(segments.schema)
            columns = [
                _Averaging.of(run, measure, scored, statuses)
                for measure, scored in run.by_measure.items()
            ]
            values = segments.rows() if by else [()]
            for segment, inside in zip(values, members, strict=True):
                for column in columns:
                    figures = column.over(inside)
                    rows.append((name, *segment, str(column.measure), *figures))
        schema: NamedValues = {
            "run": pl.String,
            **kinds,
            "measure": pl.String,
            "value": pl.Float64,
            "n": pl.Int64,
            "n_undefined": pl.Int64,
        }
        return pl.DataFrame(rows, schema, orient="row").with_columns(
            pl.col("value").fill_nan(None)
        )

    def _with_runs(self, names: Sequence[str]) -> Self:
        runs = {}
        audits = {}
        for name in names:
            runs[name] = self.runs[name]
            audits[name] = self.audit.runs[name]
        audit = replace(self.audit, runs=audits)
        return replace(self, runs=runs, audit=audit, _means={})

    def share_of(self, run: str, status: str) -> float:
        """Return the share of a run's queries with a status, for the measure where it is largest."""
        code = status_of(status)
        largest = 0.0
        for scored in self.runs[run].by_measure.values():
            if len(scored.status):
                share = (scored.status == code).mean()
                largest = max(largest, float(share))
        return largest


def status_of(name: str) -> Status:
    """Return a status by its name."""
    if name not in Status.__members__:
        raise BadParameter(
            f"there is no status {printable(name)!r}",
            expected=", ".join(Status.__members__),
            fix=did_you_mean(name, Status.__members__, repr),
        )
    return Status[name]


def uncounted(*, undefined_propagates: bool) -> list[Status]:
    """Return the statuses of queries that are not part of a mean."""
    if undefined_propagates:
        return [Status.dropped]
    return [Status.dropped, Status.undefined]


class _Averaging(Record):
    """The data for means of one measure over any segments."""

    measure: Measure
    scored: Scored
    counts: Bools
    undefined: Bools
    weight: Floats
    unit: Ints | None

    @classmethod
    def of(
        cls, run: RunScores, measure: Measure, scored: Scored, without: list[Status]
    ) -> _Averaging:
        return cls(
            measure=measure,
            scored=scored,
            counts=~np.isin(
                scored.status,
                [
                    *uncounted(undefined_propagates=measure.undefined_propagates),
                    *without,
                ],
            ),
            undefined=scored.status == Status.undefined,
            weight=weights(scored),
            unit=None if measure.unit is None else run.unit(measure.unit)[1],
        )

    def over(self, inside: Ints) -> tuple[float, int, int]:
        """Return the aggregate over some queries, and how many units and undefined queries there are."""
        counts = self.counts[inside]
        counted = inside[counts]
        undefined = int(np.count_nonzero(self.undefined[inside]))
        if self.unit is None:
            parts = (
                self.scored.value,
                self.weight,
                self.scored.numerator,
                self.scored.denominator,
            )
            return (
                self.measure.aggregate(*(part[counted] for part in parts)),
                len(counted),
                undefined,
            )
        _, value, _ = _units(self.unit, self.measure, self.scored, counted)
        alike = np.ones(len(value))
        mean = self.measure.aggregate(value, alike, value, alike)
        return mean, len(value), undefined


def _units(
    code: Ints, measure: Measure, scored: Scored, counted: Ints
) -> tuple[Ints, Floats, Ints]:
    """Return the units of the counted queries, the value of each, and its number of queries."""
    places, unit = np.unique(code[counted], return_inverse=True)
    queries = scored.of(counted)
    value = measure.unit_values(
        unit, len(places), queries.value, queries.numerator, queries.denominator
    )
    n = np.bincount(unit, minlength=len(places))
    return places, value, n


def query_segments(
    run: RunScores, by: Names, inputs: Mapping[str, Any]
) -> tuple[pl.DataFrame, list[Ints]]:
    """Return the distinct values of columns of the query table, and the queries with each."""
    if not by:
        return pl.DataFrame(), [np.arange(len(run.queries))]
    if run.about is None:
        raise BadParameter(
            f"means by {', '.join(by)} need a query table",
            fix="evaluate with --queries FILE (in Python queries={query: {column: value}})",
        )
    for name in by:
        if name not in run.about.columns:
            raise BadParameter(
                f"the query table has no column {printable(name)}",
                where=inputs.get("queries"),
                expected=", ".join(map(printable, run.about.columns)),
                fix=did_you_mean(name, run.about.columns),
            )
        if name in ("run", *_MEAN):
            raise BadParameter(
                f"a column called {name} would collide with the columns of the means",
                fix="rename it",
            )
    return grouped(run.about.select(by))


def grouped(values: pl.DataFrame) -> tuple[pl.DataFrame, list[Ints]]:
    """Return the distinct rows of a frame in order, nulls last, and the indexes of each.

    >>> distinct, places = grouped(pl.DataFrame({"country": ["fr", "de", None, "fr"]}))
    >>> distinct["country"].to_list(), [at.tolist() for at in places]
    (['de', 'fr', None], [[1], [0, 3], [2]])
    """
    distinct = values.unique().sort(values.columns, nulls_last=True)
    code = _codes(values, distinct)
    order = np.argsort(code, kind="stable")
    ends = np.cumsum(np.bincount(code, minlength=distinct.height))
    bounds = (0, *ends.tolist())
    members = [order[begin:end] for begin, end in pairwise(bounds)]
    return distinct, members


def _codes(rows: pl.DataFrame, distinct: pl.DataFrame) -> Ints:
    """Return the index of each row among the distinct ones, int64."""
    numbered = distinct.with_row_index("place")
    joined = rows.join(
        numbered, on=rows.columns, how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["place"].to_numpy().astype(np.int64)


def weights(scored: Scored) -> Floats:
    """Return the weight of each query, 1 by default."""
    if scored.weight is None:
        return np.ones(len(scored.value))
    return scored.weight


def measure_rows(
    name: str, run: RunScores, measure: Measure, scored: Scored
) -> pl.LazyFrame:
    """Return the rows of :attr:`Scores.per_query` for one run and measure."""
    columns = {
        name: getattr(scored, name)
        for name in ("value", "numerator", "denominator", "status")
    }
    frame = pl.DataFrame(
        {"query_id": run.queries, **columns, "weight": weights(scored)}
    )
    return as_rows(frame.lazy(), name, measure)


def as_rows(scores: pl.LazyFrame, run: str, measure: Measure) -> pl.LazyFrame:
    """Return the rows of :attr:`Scores.per_query` for one measure.

    Parameters
    ----------
    scores
        ``query_id`` (a text or a whole number), ``value`` (NaN where undefined), ``numerator``,
        ``denominator``, ``weight``, and ``status`` as a number.
    run
        The run's name.
    measure
        The measure.
    """
    return scores.filter(pl.col("status") != int(Status.dropped)).select(
        pl.lit(run).alias("run"),
        pl.col("query_id").cast(pl.String),
        pl.lit(str(measure)).alias("measure"),
        pl.col("value").fill_nan(None),
        "numerator",
        "denominator",
        "weight",
        pl.col("status").cast(pl.UInt8).cat.to(_STATUS),
    )
