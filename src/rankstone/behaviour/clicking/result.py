"""Judgments made of clicks, as frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import InputError, printable
from rankstone.io import atomic
from rankstone.results import ShowsTable, WritesRows

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from rankstone.behaviour.clicking.audit import Audit

__all__ = ["Clicks", "Positions"]

#: rows that are shown unless somebody asks for more
_SHOWN: Final = 10


@dataclass(frozen=True, eq=False)
class Positions(WritesRows):
    """The table of positions, which writes itself.

    Attributes
    ----------
    frame
        The rows.
    """

    frame: pl.DataFrame

    def rows(self) -> pl.LazyFrame:
        """Return the rows lazily."""
        return self.frame.lazy()

    def report(self) -> dict[str, Any]:
        """Return them as plain dicts."""
        return {"positions": self.frame.to_dicts()}


@dataclass(frozen=True, eq=False, repr=False)
class Clicks(WritesRows, ShowsTable):
    """Judgments made of a log of clicks.

    ``rankstone.evaluate`` takes it, its :attr:`judgments` and the files it writes for judgments.

    Attributes
    ----------
    judgments
        A row a pair: ``query_id``, ``doc_id``, ``relevance`` (the grade), ``impressions``, ``clicks`` (with
        more than 0), ``estimate`` (the grade before thresholds), ``effective`` (how many impressions that
        were looked at it is worth), ``standard_error``, ``low`` and ``high``, the ends of its interval; null
        where nobody can know.  In the order of queries and documents.
    positions
        A row a position: ``position``, ``impressions``, ``clicks``, ``ctr``, and ``propensity``, the chance
        that somebody looks there, where it is known or was fitted; of ``pbm`` ``low`` and ``high``, the ends
        of its interval, and ``moved``, impressions there of documents that were seen elsewhere as often.
        As a table of ``propensities`` it may be handed back.
    audit
        What was found in the log.
    conventions
        Every option the numbers depend on.
    inputs
        Where the log came from.

    Examples
    --------
    >>> from rankstone.behaviour import clicks
    >>> log = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "a"], "clicked": [1, 0, 0]}
    >>> clicks(log).judgments.select("doc_id", "relevance", "impressions", "clicks").rows()
    [('a', 0.5, 2, 1), ('b', 0.0, 1, 0)]
    """

    judgments: pl.DataFrame
    positions: pl.DataFrame
    audit: Audit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, str]

    def table(self, top: int = _SHOWN) -> pl.DataFrame:
        """Return what is shown: the pairs with the most impressions."""
        return self.judgments.sort("impressions", descending=True, maintain_order=True).head(top)

    def rows(self) -> pl.LazyFrame:
        """Return what is written, :attr:`judgments`, lazily."""
        return self.judgments.lazy()

    @property
    def of_positions(self) -> Positions:
        """:attr:`positions`, ready to write itself."""
        return Positions(self.positions)

    def write_qrels(self, path: str | os.PathLike[str]) -> None:
        """Write ``query 0 document grade`` lines as trec_eval reads them, whole or not at all.

        Raises
        ------
        InputError
            When an id holds a blank, or is empty: such a line would be read as another one.
        """
        ids = self.judgments.select(pl.col("query_id", "doc_id").cast(pl.String))
        for name in ids.columns:
            odd = ids.filter(pl.col(name).str.contains(r"\s") | (pl.col(name) == ""))[name]
            if odd.len():
                raise InputError(
                    f"{name} {printable(odd[0])!r} cannot stand in TREC text, which is divided by blanks",
                    where=str(path),
                    fix="write .parquet, .csv or .jsonl instead",
                )
        lines = ids.select("query_id", pl.lit("0"), "doc_id", self.judgments["relevance"])
        with atomic(path) as unfinished:
            lines.write_csv(unfinished, separator=" ", include_header=False, quote_style="never")

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        return {
            "judgments": self.judgments.to_dicts(),
            "positions": self.positions.to_dicts(),
            "audit": self.audit.to_dict(),
            "conventions": dict(self.conventions),
            "inputs": dict(self.inputs),
        }

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the judgments as an Arrow stream, as which anything that takes a table reads them."""
        return self.judgments.__arrow_c_stream__(requested_schema)
