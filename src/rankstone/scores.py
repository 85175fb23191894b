"""The last station of the road: scores per query first, means derived from them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.io import atomic
from rankstone.measures import Measure, Status

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from rankstone.hits.audit import Audit
    from rankstone.hits.ragged import Floats
    from rankstone.measures.base import Scored

__all__ = ["RunScores", "Scores"]

_STATUS = pl.Enum([status.name for status in Status])
_NAMES = pl.Series([status.name for status in Status], dtype=_STATUS)
_SCHEMA: dict[str, Any] = {
    "run": pl.String,
    "query_id": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "numerator": pl.Float64,
    "denominator": pl.Float64,
    "weight": pl.Float64,
    "status": _STATUS,
}


@dataclass(frozen=True, eq=False)
class RunScores:
    """One run's scores: the queries, and for each measure one value a query."""

    queries: pl.Series
    by_measure: Mapping[Measure, Scored]


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Scores of one or more runs.

    Attributes
    ----------
    runs
        Run name → its scores.
    measures
        The measures, in the order asked for.
    audit
        What alignment did.
    conventions
        Every option and parameter the numbers depend on.
    inputs
        Where judgments and runs came from.

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
    _means: dict[tuple[str, ...], pl.DataFrame] = field(default_factory=dict, compare=False)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row per run, query and measure.

        Columns ``run``, ``query_id``, ``measure``, ``value`` (null where undefined),
        ``numerator``, ``denominator``, ``weight`` and ``status``
        (see :class:`~rankstone.measures.Status`).
        """
        parts = [
            _long(name, run, measure, scored)
            for name, run in self.runs.items()
            for measure, scored in run.by_measure.items()
        ]
        return pl.concat(parts) if parts else pl.DataFrame(schema=_SCHEMA)

    def mean(self, without: Iterable[str] = ()) -> pl.DataFrame:
        """Return one row per run and measure: the aggregate over queries.

        Parameters
        ----------
        without
            Statuses of queries to leave out: ``["missing"]`` gives the mean over answered queries,
            ``["no_relevant"]`` the one over queries with something to find.

        Returns
        -------
        polars.DataFrame
            ``run``, ``measure``, ``value`` (null when no query counts), ``n`` (queries averaged)
            and ``n_undefined``.
        """
        if tuple(without) not in self._means:
            self._means[tuple(without)] = self._mean(tuple(without))
        return self._means[tuple(without)]

    def _mean(self, without: tuple[str, ...]) -> pl.DataFrame:
        left_out = [Status[name] for name in (Status.undefined.name, Status.dropped.name, *without)]
        rows = []
        for name, run in self.runs.items():
            for measure, scored in run.by_measure.items():
                counted = ~np.isin(scored.status, left_out)
                value = measure.aggregate(
                    scored.value[counted],
                    _weight(scored)[counted],
                    scored.numerator[counted],
                    scored.denominator[counted],
                )
                undefined = int((scored.status == Status.undefined).sum())
                rows.append((name, str(measure), value, int(counted.sum()), undefined))
        schema = {
            "run": pl.String,
            "measure": pl.String,
            "value": pl.Float64,
            "n": pl.Int64,
            "n_undefined": pl.Int64,
        }
        return pl.DataFrame(rows, schema, orient="row").with_columns(pl.col("value").fill_nan(None))

    def has(self, status: str) -> bool:
        """Return whether any query has the given status for any measure."""
        code = Status[status]
        return any((s.status == code).any() for r in self.runs.values() for s in r.by_measure.values())

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Return ``{run: {measure: mean}}``."""
        means: dict[str, dict[str, float | None]] = {}
        for run, measure, value, _, _ in self.mean().iter_rows():
            means.setdefault(run, {})[measure] = value
        return means

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is not imported here
        """Return :attr:`per_query` as a pandas frame (needs pandas)."""
        import importlib

        from rankstone.errors import MissingExtra

        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise MissingExtra("pandas is not installed", fix='pip install "rankstone[pandas]"') from error
        return pandas.DataFrame({column.name: _for_pandas(column) for column in self.per_query.get_columns()})

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts: means, audit, conventions, inputs."""
        audit = self.audit.to_dict()
        for without in ("missing", "no_relevant"):
            means = self.mean(without=[without]).iter_rows() if self.has(without) else ()
            for run, measure, value, n, _ in means:
                others = audit["runs"][run].setdefault(f"means_without_{without}", {})
                others[measure] = {"value": value, "n": n}
        return {
            "runs": self.to_dict(),
            "audit": audit,
            "conventions": dict(self.conventions),
            "inputs": dict(self.inputs),
        }

    # -- files -------------------------------------------------------------------------------------
    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write :attr:`per_query` as Parquet, whole or not at all."""
        with atomic(path) as unfinished:
            self.per_query.write_parquet(unfinished)

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write :attr:`per_query` as CSV, whole or not at all."""
        with atomic(path) as unfinished:
            self.per_query.write_csv(unfinished)

    def write_ndjson(self, path: str | os.PathLike[str]) -> None:
        """Write :attr:`per_query` as JSON lines, whole or not at all."""
        with atomic(path) as unfinished:
            self.per_query.write_ndjson(unfinished)

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`report` as one JSON object, whole or not at all."""
        with atomic(path) as unfinished:
            unfinished.write_text(json.dumps(self.report(), ensure_ascii=False, indent=1) + "\n")

    # -- people ------------------------------------------------------------------------------------
    def table(self) -> pl.DataFrame:
        """Return the means as one row per run and one column per measure."""
        return self.mean().pivot("measure", index="run", values="value", maintain_order=True)

    def __repr__(self) -> str:
        with pl.Config(tbl_hide_dataframe_shape=True, float_precision=4, tbl_cols=-1, tbl_rows=-1):
            return "\n".join([str(self.table()), *self.audit.lines()])

    def _repr_html_(self) -> str:
        with pl.Config(tbl_hide_dataframe_shape=True, float_precision=4):
            return self.table()._repr_html_() + self.audit._repr_html_()


def _weight(scored: Scored) -> Floats:
    """Return what each query weighs, 1 where nobody says more."""
    return np.ones(len(scored.value)) if scored.weight is None else scored.weight


def _long(name: str, run: RunScores, measure: Measure, scored: Scored) -> pl.DataFrame:
    kept = scored.status != Status.dropped
    frame = pl.DataFrame(
        {
            "query_id": run.queries.cast(pl.String),
            "value": scored.value,
            "numerator": scored.numerator,
            "denominator": scored.denominator,
            "weight": _weight(scored),
            "status": _NAMES.gather(scored.status),
        }
    )
    if not kept.all():
        frame = frame.filter(pl.Series(kept))
    return frame.select(
        pl.lit(name).alias("run"),
        "query_id",
        pl.lit(str(measure)).alias("measure"),
        pl.col("value").fill_nan(None),
        "numerator",
        "denominator",
        "weight",
        "status",
    )


def _for_pandas(column: pl.Series) -> Any:  # noqa: ANN401 - an array or a list
    return column.to_list() if not column.dtype.is_numeric() else column.to_numpy()
