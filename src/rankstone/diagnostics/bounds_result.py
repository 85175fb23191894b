"""Bounds per query, and the bounds of means derived from them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.diagnostics.bound_search import Certificate
from rankstone.errors import printable
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Floats, Ints
    from rankstone.diagnostics.bound_search import Search
    from rankstone.hits.alignment_audit import Audit
    from rankstone.measures.core.measure import Measure


#: sign of a difference → word
_SIGNS = {">": "above", "<": "below", "=": "equal", "?": "uncertain"}


_CERTIFICATE: Final = pl.Enum([certificate.name for certificate in Certificate])
_NAMES: Final = pl.Series(
    [certificate.name for certificate in Certificate], dtype=_CERTIFICATE
)
_PER_QUERY: Final[dict[str, Any]] = {
    "run": pl.String,
    "query_id": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "certificate": _CERTIFICATE,
    "holes": pl.Int64,
}


class MeasureBounds(Record):
    """One measure's bounds for some queries of a run, or of the difference of two.

    Attributes
    ----------
    value, low, high
        float64 ``[queries]``; NaN where there is no value, infinite where there is no bound.
    certificate
        int64 ``[queries]``, as :class:`~rankstone.diagnostics.bound_search.Certificate`.
    holes
        int64 ``[queries]``: unjudged documents of the list, or of either list.
    """

    value: Floats
    low: Floats
    high: Floats
    certificate: Ints
    holes: Ints

    @classmethod
    def from_search(cls, value: Floats, search: Search, holes: Ints) -> MeasureBounds:
        """Return what a search found, beside the values and all holes, also those too deep to matter."""
        return cls(value, search.low, search.high, search.certificate, holes)

    @classmethod
    def joined(cls, parts: Sequence[MeasureBounds], order: Ints) -> MeasureBounds:
        """Concatenate parts, with their queries in the order given."""
        columns = []
        for name in ("value", "low", "high", "certificate", "holes"):
            column = np.concatenate([getattr(part, name) for part in parts])
            columns.append(column[order])
        return cls(*columns)

    def frame(self, run: str, measure: str, queries: pl.Series) -> pl.DataFrame:
        """Return a row for each query."""
        nothing = np.isnan(self.value)
        # NaN and infinity are null
        finite = {}
        for name in ("value", "low", "high"):
            array = getattr(self, name)
            is_null = nothing | np.isinf(array)
            finite[name] = np.where(is_null, np.nan, array)
        return pl.DataFrame(
            {
                "run": pl.repeat(run, len(queries), eager=True),
                "query_id": queries.cast(pl.String),
                "measure": pl.repeat(measure, len(queries), eager=True),
                **finite,
                "certificate": _NAMES.gather(self.certificate).set(
                    pl.Series(nothing), None
                ),
                "holes": self.holes,
            },
            schema=_PER_QUERY,
            nan_to_null=True,
        )


class Bounds(Result, Record):
    """The lowest and the highest score that are possible, whatever the grades of unjudged documents.

    Attributes
    ----------
    per_query
        One row per run, query and measure: ``run``, ``query_id``, ``measure``, ``value`` (unjudged
        documents not relevant; null where undefined), ``low``, ``high`` (null where there is no bound),
        ``certificate`` (see :class:`~rankstone.diagnostics.bound_search.Certificate`) and ``holes``, how many
        unjudged documents in the list.  The difference of two runs is a run ``a - b``.
    measures
        The measures, in the order given.
    grades
        The grades that an unjudged document can have.
    difference
        The names of two runs whose difference is bounded, too.
    audit, conventions, inputs
        As for :class:`~rankstone.Scores`.

    Examples
    --------
    >>> import rankstone
    >>> bounds = rankstone.bounds({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
    >>> bounds.per_query.select("value", "low", "high", "certificate", "holes").row(0)
    (0.5, 0.5, 1.0, 'proven', 1)
    """

    per_query: pl.DataFrame
    measures: tuple[Measure, ...]
    grades: tuple[float, ...]
    difference: tuple[str, str] | None
    audit: Audit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`per_query`."""
        return self.per_query

    def mean(self) -> pl.DataFrame:
        """Return one row per run and measure: the bounds of the mean (or whatever ``agg`` says).

        Queries are bounded one by one, so the mean of the lowest values is the lowest mean.  Columns
        ``run``, ``measure``, ``value``, ``low``, ``high``, ``certificate`` (the weakest of the queries'),
        ``n`` (queries with a value) and ``sign``: for a difference ``>``, ``<`` or ``=`` where it is
        certain, ``?`` where it is not.
        """
        measures = {str(measure): measure for measure in self.measures}
        rows = []
        for part in self.per_query.partition_by("run", "measure", maintain_order=True):
            run = part["run"][0]
            measure = part["measure"][0]
            counted = part.filter(pl.col("value").is_not_null())
            of = measures[measure]
            low = _aggregated(of, counted["low"], -np.inf)
            high = _aggregated(of, counted["high"], np.inf)
            weakest = counted["certificate"].to_physical().max()
            row = {
                "run": run,
                "measure": measure,
                "value": _aggregated(of, counted["value"], 0.0),
                "low": low,
                "high": high,
                "certificate": None,
                "n": counted.height,
                "sign": None,
            }
            if weakest is not None:
                row["certificate"] = Certificate(int(weakest)).name  # type: ignore[arg-type]
            if self.difference and run == " - ".join(self.difference):
                row["sign"] = _sign(low, high)
            rows.append(row)
        names = ("run", "measure", "value", "low", "high", "certificate")
        schema = {name: _PER_QUERY[name] for name in names}
        schema |= {"n": pl.Int64, "sign": pl.String}
        means = pl.DataFrame(rows, schema)
        return means.with_columns(_finite("value", "low", "high"))

    def residuals(self) -> pl.DataFrame:
        """Return how much each score may fall and rise: ``value - low`` and ``high - value``."""
        return self.per_query.select(
            "run",
            "query_id",
            "measure",
            "value",
            below=pl.col("value") - pl.col("low"),
            above=pl.col("high") - pl.col("value"),
        )

    def to_dict(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return ``{run: {measure: {"value": …, "low": …, "high": …, "certificate": …}}}``."""
        by_run: dict[str, dict[str, dict[str, Any]]] = {}
        for row in self.mean().iter_rows(named=True):
            by_measure = by_run.setdefault(row.pop("run"), {})
            by_measure[row.pop("measure")] = row
        return by_run

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts: means with their bounds, audit, conventions, inputs."""
        return self._reported(
            runs=self.to_dict(), grades=self.grades, difference=self.difference
        )

    def sheet(self, digits: int = 4) -> Sheet:
        """Return the bounds of the means as a sheet."""
        heads = {"value": "score", "low": "lowest", "high": "highest"}
        shown = self.mean().drop("n").rename(heads)
        names = {}
        if self.difference is None:
            shown = shown.drop("sign")
        else:
            sign = pl.col("sign").replace_strict(_SIGNS, default="")
            shown = shown.with_columns(sign.alias("sign"))
            names = {"sign": f"{printable(self.difference[0])} is"}
        scale = " ".join(f"{grade:g}" for grade in self.grades)
        lines = [f"possible grades of each unjudged document in the lists: {scale}"]
        if "outer" in shown["certificate"]:
            lines.append(
                "outer: contains every possible score, but may be too wide (a higher --limit can narrow it)"
            )
        table = Table.of(shown, digits=digits, names=names)
        return Sheet("", parts=(table,), notes=(*lines, self._notes()))


def _finite(*names: str) -> list[pl.Expr]:
    """Replace NaN and infinity by null."""
    columns = []
    for name in names:
        is_finite = pl.col(name).is_finite()
        columns.append(pl.when(is_finite).then(name).alias(name))
    return columns


def _aggregated(measure: Measure, values: pl.Series, beyond: float) -> float:
    """Aggregate one value a query; where a query has no bound, the aggregate has none."""
    array = values.fill_null(beyond).to_numpy()
    if np.isinf(array).any():
        return beyond
    ones = np.ones(len(array))
    return measure.aggregate(array, ones, array, ones)


def _sign(low: float, high: float) -> str:
    """Return which of two runs is above, ``?`` where that is uncertain."""
    if low > 0 or high < 0:
        return ">" if low > 0 else "<"
    return "=" if low == high else "?"
