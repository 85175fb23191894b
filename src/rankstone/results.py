"""What results have in common: they write themselves whole or not at all, and show themselves as tables."""

from __future__ import annotations

import importlib
import json
import re
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from rankstone.errors import BadParameter, MissingExtra
from rankstone.io import atomic
from rankstone.io.formulas import without_formulas

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "ShowsTable",
    "TellsMeans",
    "WritesReport",
    "WritesRows",
    "WritesTable",
    "as_pandas",
    "plain_name",
    "shown_whole",
]


class _Audit(Protocol):
    """What was found in the data."""

    def lines(self) -> list[str]:
        """Return it as sentences."""

    def _repr_html_(self) -> str: ...


class _Reporting(Protocol):
    """A result that can be told as plain dicts."""

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""


class _PerQuery(Protocol):
    """A result with a row for each query."""

    @property
    def per_query(self) -> pl.DataFrame:
        """The rows."""


class _Rows(Protocol):
    """A result that hands its rows out lazily."""

    def rows(self) -> pl.LazyFrame:
        """Return the rows."""


class _Tabled(Protocol):
    """A result that a person reads as a table."""

    @property
    def audit(self) -> _Audit:
        """What was found in the data."""

    def table(self) -> pl.DataFrame:
        """Return what is shown."""


class _Averaged(Protocol):
    """A result that has means."""

    @property
    def audit(self) -> Any:  # noqa: ANN401 - an Audit
        """What was found in the data."""

    @property
    def conventions(self) -> Mapping[str, Any]:
        """What the numbers depend on."""

    @property
    def inputs(self) -> Mapping[str, Any]:
        """Where everything came from."""

    def mean(self, without: str | Iterable[str] = (), by: str | Sequence[str] = ()) -> pl.DataFrame:
        """Return one row per run and measure."""

    def has(self, status: str) -> bool:
        """Say whether any query has a status."""

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Return the means."""


class WritesReport:
    """A result that writes its report."""

    def write_json(self: _Reporting, path: str | os.PathLike[str]) -> None:
        """Write :meth:`report` as one JSON object, whole or not at all."""
        with atomic(path) as unfinished:
            text = json.dumps(self.report(), ensure_ascii=False, indent=1) + "\n"
            unfinished.write_text(text, encoding="utf-8")


class WritesRows(WritesReport):
    """A result that writes its rows and its report."""

    def write_parquet(self: _Rows, path: str | os.PathLike[str]) -> None:
        """Write the rows as Parquet, whole or not at all."""
        with atomic(path) as unfinished:
            self.rows().sink_parquet(unfinished)

    def write_csv(self: _Rows, path: str | os.PathLike[str], *, formulas: str = "keep") -> None:
        """Write the rows as CSV, whole or not at all.

        Parameters
        ----------
        path
            The file.
        formulas
            What becomes of texts that a spreadsheet would compute, such as an id ``=1+1``: ``keep`` writes
            them as they are, ``escape`` with an apostrophe before them.
        """
        with atomic(path) as unfinished:
            without_formulas(self.rows(), formulas).sink_csv(unfinished)

    def write_ndjson(self: _Rows, path: str | os.PathLike[str]) -> None:
        """Write the rows as JSON lines, whole or not at all."""
        with atomic(path) as unfinished:
            self.rows().sink_ndjson(unfinished)

    def to_pandas(self: _Rows) -> Any:  # noqa: ANN401 - pandas is not imported here
        """Return the rows as a pandas frame (needs pandas)."""
        return as_pandas(self.rows().collect())


class WritesTable(WritesRows):
    """A result whose rows are one or more a query: :attr:`per_query`."""

    def rows(self: _PerQuery) -> pl.LazyFrame:
        """Return :attr:`per_query` lazily: written from this, many millions of rows take no memory."""
        return self.per_query.lazy()


class TellsMeans:
    """A result that tells its means as plain values."""

    def to_dict(self: _Averaged) -> dict[str, dict[str, float | None]]:
        """Return ``{run: {measure: mean}}``."""
        means: dict[str, dict[str, float | None]] = {}
        for run, measure, value, _, _ in self.mean().iter_rows():
            means.setdefault(run, {})[measure] = value
        return means

    def to_flat_dict(self: _Averaged, prefix: str = "", *, plain: bool = False) -> dict[str, float]:
        """Return means under one name each, for trackers of experiments; what has no value has no name.

        Parameters
        ----------
        prefix
            Stands before every name: ``val/``.
        plain
            Names of letters, digits, ``_`` and ``/``, which MLflow and all others take: ``nDCG_at_10``.

        Returns
        -------
        dict
            By measure; of several runs by run and measure, ``bm25/nDCG@10``.

        Examples
        --------
        >>> import rankstone
        >>> scores = rankstone.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}}, "RR nDCG@10")
        >>> scores.to_flat_dict("val/"), scores.to_flat_dict(plain=True)
        ({'val/RR': 1.0, 'val/nDCG@10': 1.0}, {'RR': 1.0, 'nDCG_at_10': 1.0})
        """
        means = self.to_dict()
        name = plain_name if plain else str
        several = len(means) > 1
        rows = [(run, measure, value) for run, of in means.items() for measure, value in of.items()]
        flat = {f"{prefix}{name(r) + '/' if several else ''}{name(m)}": value for r, m, value in rows}
        if len(flat) < len(rows):
            raise BadParameter("two means have the same name", given=", ".join(flat), fix="leave plain out")
        return {name: value for name, value in flat.items() if value is not None}

    def report(self: _Averaged, by: str | Sequence[str] = ()) -> dict[str, Any]:
        """Return everything as plain dicts: means, audit, conventions, inputs; ``by`` adds segments."""
        audit = self.audit.to_dict()
        for without in ("missing", "no_relevant"):
            means = self.mean(without=[without]).iter_rows() if self.has(without) else ()
            for run, measure, value, n, _ in means:
                others = audit["runs"][run].setdefault(f"means_without_{without}", {})
                others[measure] = {"value": value, "n": n}
        segments = {"segments": self.mean(by=by).to_dicts()} if by else {}
        return {
            "runs": self.to_dict(),
            **segments,
            "audit": audit,
            "conventions": dict(self.conventions),
            "inputs": dict(self.inputs),
        }

    def table(self: _Averaged) -> pl.DataFrame:
        """Return the means as one row per run and one column per measure."""
        return self.mean().pivot("measure", index="run", values="value", maintain_order=True)


class ShowsTable:
    """A result that shows its table, and below it what was found in the data."""

    def __repr__(self: _Tabled) -> str:
        with shown_whole():
            return "\n".join([str(self.table()), *self.audit.lines()])

    def _repr_html_(self: _Tabled) -> str:
        with pl.Config(tbl_hide_dataframe_shape=True, float_precision=4):
            return self.table()._repr_html_() + self.audit._repr_html_()


def shown_whole(rows: int = -1) -> pl.Config:
    """Return how tables are shown while it is entered: all columns, and so many rows (-1: all of them)."""
    return pl.Config(
        tbl_hide_dataframe_shape=True,
        float_precision=4,
        fmt_str_lengths=80,
        tbl_cols=-1,
        tbl_rows=rows,
    )


def plain_name(name: str) -> str:
    """Return a name of letters, digits and ``_``.

    >>> plain_name("AP(rel=2)@5")
    'AP_rel_2_at_5'
    """
    return re.sub(r"\W+", "_", name.replace("@", "_at_")).replace("__at_", "_at_").strip("_")


def as_pandas(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - pandas is not imported here
    """Return a frame as one of pandas; texts and lists are Python objects, numbers NumPy's."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise MissingExtra("pandas is not installed", fix='pip install "rankstone[pandas]"') from error
    columns = frame.get_columns()
    return pandas.DataFrame({c.name: c.to_numpy() if c.dtype.is_numeric() else c.to_list() for c in columns})
