"""How much each subtopic of a query counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import BadValue, DuplicateRows, NotComparable, printable
from rankstone.hits.audit import BesideAudit

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.hits.arrays import Floats
    from rankstone.hits.judgments import Judgments

__all__ = ["Intents"]

_PAIR = ["query_id", "subtopic"]
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Intents:
    """Weights of subtopics, such as the shares of users who mean them.

    Attributes
    ----------
    source
        What to call the table in messages.
    table
        ``query_id`` and ``subtopic`` as text, ``weight`` as float64.
    locate
        Says where a row of the table stands.
    """

    source: str
    table: pl.DataFrame
    locate: Callable[[int], str]

    def __post_init__(self) -> None:
        """Refuse rows without a name, weights below zero, and a subtopic named twice."""
        for column in _PAIR:
            self._refuse(self.table[column].is_null(), f"an intent without {column}", "a name")
        weight = self.table["weight"].fill_null(np.nan).to_numpy()
        self._refuse(
            pl.Series(~((weight >= 0) & (weight <= _LARGEST))),
            "the weight of an intent is no share",
            "a number, 0 or more (shares are sums; beyond 1e100 they leave the range of numbers)",
        )
        twice = self.table.select(_PAIR).is_duplicated()
        if twice.any():
            at = twice.arg_max() or 0
            raise DuplicateRows(
                "an intent has two weights", where=self.locate(at), given=_named(self.table, at)
            )

    def _refuse(self, bad: pl.Series, what: str, expected: str) -> None:
        if bad.any():
            at = bad.arg_max() or 0
            given = f"{_named(self.table, at)}, weight {self.table['weight'][at]}"
            raise BadValue(what, where=self.locate(at), given=given, expected=expected)

    def weights(self, names: pl.DataFrame) -> Floats:
        """Return the weight of each judged subtopic in ``names`` (``query_id``, ``subtopic``), float64.

        A query that the table does not mention has equal weights; a subtopic that it leaves out of a
        query it does mention weighs nothing.
        """
        names = names.select(pl.col(_PAIR).cast(pl.String))
        found = names.join(self.table.select(*_PAIR, "weight"), on=_PAIR, how="left", maintain_order="left")
        if names.height and found["weight"].null_count() == found.height:
            raise NotComparable(
                "no intent is a judged subtopic",
                where=self.source,
                given=f"{_named(self.table, 0)}; judged: {_named(names, 0)}",
                expected="queries and subtopics by the names that the judgments use",
            )
        mentioned = found.select(pl.col("weight").is_not_null().any().over("query_id")).to_series()
        return found["weight"].fill_null(pl.Series(np.where(mentioned, 0.0, 1.0))).to_numpy()

    def audit(self, judgments: Judgments) -> BesideAudit:
        """Say how the table and the judgments fit together."""
        groups = judgments.groups
        assert groups is not None  # noqa: S101 - only grouped judgments are weighed
        queries = judgments.queries.names.cast(pl.String)
        names = pl.DataFrame({"query_id": queries.gather(groups.query), "subtopic": groups.names})
        listed = self.table.select("query_id").unique()
        left_out = names.join(self.table, on=_PAIR, how="anti").join(listed, on="query_id", how="semi")
        return BesideAudit(
            source=self.source,
            rows=self.table.height,
            unknown=self.table.join(names, on=_PAIR, how="anti").height,
            missing=len(queries) - int(queries.is_in(listed["query_id"].implode()).sum()),
            weightless=left_out.height,
        )


def _named(table: pl.DataFrame, row: int) -> str:
    return f"query {printable(table['query_id'][row])}, subtopic {printable(table['subtopic'][row])}"
