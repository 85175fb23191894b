"""Scores whose queries are in Parquet files: as many as the disk holds."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.measures.base import Scored
from rankstone.results import WritesTable
from rankstone.scores import RunScores, Scores, as_rows, weights
from rankstone.tasks import SummedScores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.measures import Measure
    from rankstone.tasks import Share

__all__ = ["Store", "StoredScores"]

_NUMBERS = ("value", "numerator", "denominator", "weight", "status")


class Store:
    """A folder of scores, a file a share, that is gone when nobody needs it any more."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rankstone-"))
        self._written = 0
        self.remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def write(self, share: Share, measures: Sequence[Measure]) -> Path:
        """Write a share's scores; return the file."""
        columns: dict[str, object] = {"query_id": share.scores.queries}
        for at, measure in enumerate(measures):
            scored = share.scores.by_measure[measure]
            columns |= {f"{name} {at}": getattr(scored, name) for name in _NUMBERS if name != "weight"}
            columns[f"weight {at}"] = weights(scored)
        path = self._folder / f"{self._written:06}.parquet"
        pl.DataFrame(columns).write_parquet(path, compression="lz4")
        self._written += 1
        return path


@dataclass(frozen=True, eq=False, repr=False)
class StoredScores(SummedScores, WritesTable):
    """Scores of one or more runs, those of queries in files that are removed with this object.

    Means, audit and report are those of :class:`rankstone.Scores`, to the last digit; :meth:`rows` is a lazy
    frame, and ``write_parquet``, ``write_csv`` and ``write_ndjson`` write it without holding it.  Queries are
    in the order of their ranges of ids, inside a range in that of the judgments.

    Attributes
    ----------
    files
        Run name → its files, a row a query.
    store
        Where they are.
    """

    files: Mapping[str, Sequence[Path]]
    store: Store

    def rows(self) -> pl.LazyFrame:
        """Return the rows of :attr:`rankstone.Scores.per_query`, lazily."""
        parts = [
            as_rows(self._wide(name).select("query_id", **_numbered(at)), name, measure)
            for name in self.files
            for at, measure in enumerate(self.measures)
        ]
        return pl.concat(parts)

    @property
    def per_query(self) -> pl.DataFrame:
        """The same, in memory."""
        return self.rows().collect(engine="streaming")

    def collect(self) -> Scores:
        """Return the same as one machine holds it; the scores of all queries must fit into its memory."""
        runs = {name: self._run(name) for name in self.files}
        return Scores(runs, self.measures, self.audit, self.conventions, self.inputs)

    def _wide(self, run: str) -> pl.LazyFrame:
        return pl.concat([pl.scan_parquet(path, glob=False) for path in self.files[run]])

    def _run(self, name: str) -> RunScores:
        by_measure = {}
        for at, measure in enumerate(self.measures):
            found = self._wide(name).select(**_numbered(at)).collect(engine="streaming")
            arrays = {column: found[column].to_numpy() for column in _NUMBERS}
            by_measure[measure] = Scored(**{**arrays, "status": arrays["status"].astype(np.int8)})
        names = self._wide(name).select("query_id").collect(engine="streaming")["query_id"]
        return RunScores(names, by_measure, None if self.queries is None else self.queries.take(names))


def _numbered(at: int) -> dict[str, pl.Expr]:
    """Return the columns of one measure under their own names."""
    return {name: pl.col(f"{name} {at}") for name in _NUMBERS}
