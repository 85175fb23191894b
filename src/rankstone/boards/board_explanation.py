"""How a place on a board came about: what each data set gave to a system and took from it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import printable
from rankstone.tables.phrases import phrase
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from rankstone.boards.placed_systems import PlacedSystems


class BoardExplanation(Result, Record):
    """The table that the difference of two systems on a board is the sum of.

    Attributes
    ----------
    table
        See :meth:`to_frame`.
    system, versus
        The two systems.
    difference
        The sum of the contributions: the difference of their means.
    error
        Its standard error.
    clear
        Whether one is clearly better, among all pairs of the board.
    rank, low, high
        The rank of the system, and the ranks that clear differences leave to it.
    chance
        The chance that the system is better; NaN where no error is known.
    lang
        Language of sentences.
    """

    table: pl.DataFrame
    system: str
    versus: str
    difference: float
    error: float
    clear: bool
    rank: int
    low: int
    high: int
    chance: float
    estimate: str
    lang: str = "en"

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each data set, the largest contribution first.

        Returns
        -------
        polars.DataFrame
            ``dataset``; ``score`` and ``versus``, the two scores, null where missing; ``place``, the rank of
            the system within the data set; ``contribution`` to the difference of means, and the running
            ``total``, whose last value is the difference; ``rank_without``, the rank without the data set.
        """
        return self.table

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        names = (
            "system",
            "versus",
            "difference",
            "error",
            "clear",
            "rank",
            "low",
            "high",
            "chance",
        )
        report = {name: getattr(self, name) for name in names}
        if np.isnan(self.chance):
            report |= dict.fromkeys(("error", "chance"))
        return report | {"datasets": self.table.to_dicts()}

    def sheet(self, digits: int = 4) -> Sheet:
        """Return the table and what it says."""
        say = partial(phrase, "board", lang=self.lang)
        system = printable(self.system, 40)
        versus = printable(self.versus, 40)
        names = {
            "versus": versus,
            "score": system,
            "contribution": say("contribution"),
            "total": say("total"),
        }
        names |= {name: say(f"of_{name}") for name in ("dataset", "place", "places")}
        rank = f"{self.low}–{self.high}" if self.low < self.high else str(self.low)
        numbers = {
            "difference": f"{self.difference:+.{digits}f}",
            "error": f"{self.error:.{digits}f}",
        }
        state = "clear" if self.clear else "open"
        if np.isnan(self.chance):
            state = "unknown"
        lines = [
            say(
                f"explained_{state}",
                **numbers,
                system=system,
                versus=versus,
                chance=f"{100 * self.chance:.0f} %",
            ),
            *(
                say(
                    f"explained_{what}",
                    names=", ".join(printable(name, 40) for name in rows["dataset"]),
                )
                for what, rows in (
                    ("lifts", self._moving(1)),
                    ("costs", self._moving(-1)),
                )
                if rows.height
            ),
        ]
        signed = self.table.with_columns(
            pl.col("contribution", "total").map_elements(
                lambda x: f"{x:+.{digits}f}", pl.String
            ),
            pl.col("places").map_elements(lambda x: f"{x:+d}" if x else "0", pl.String),
        )
        table = Table.of(
            signed,
            digits=digits,
            names=names,
            kinds=dict.fromkeys(("contribution", "total", "places"), "number"),
        )
        title = say(
            "explained",
            system=system,
            rank=self.rank,
            ranks=rank,
            estimate=self.estimate,
        )
        return Sheet(title, parts=(table, ("", tuple(lines))))

    def _moving(self, sign: int) -> pl.DataFrame:
        """Return the data sets that lift the system, or cost it places."""
        return self.table.filter(pl.col("places") * sign > 0)


def explain_place(board: PlacedSystems, system: int, versus: int) -> BoardExplanation:
    """Return what each data set contributes to the difference of two systems.

    Parameters
    ----------
    board
        The board.
    system, versus
        Numbers of the systems: their columns in the board's scores.
    """
    parts = board.found.parts
    has = ~np.isnan(parts)
    share = board.rule.weights[:, None] * has
    each = np.where(has, parts, 0.0) * share / share.sum(axis=0)
    contribution = each[:, system] - each[:, versus]
    now = board.table.filter(system=board.scores.systems[system]).row(0, named=True)
    within = [
        1 + int(np.nansum(row > row[system])) if has_system else None
        for row, has_system in zip(parts, has[:, system], strict=True)
    ]
    scores = pl.DataFrame(
        {
            "score": board.scores.values[:, system],
            "versus": board.scores.values[:, versus],
        }
    )
    places = (
        board.without[:, system] - now["rank"]
        if len(board.without)
        else np.zeros(len(parts), np.int64)
    )
    table = pl.DataFrame(
        {
            "dataset": board.scores.datasets,
            **scores.fill_nan(None).to_dict(),
            "place": within,
            "contribution": contribution,
            "places": places,
        }
    )
    order = np.argsort(-np.abs(contribution), kind="stable")
    table = table[order].with_columns(total=pl.col("contribution").cum_sum())
    columns = ("dataset", "score", "versus", "place", "contribution", "total", "places")
    better = board.intervals.better
    error = float(board.errors.of_differences[system, versus])
    chance = float(board.chance_better()[system, versus])
    if not board.found.supported[[system, versus]].all():
        error = chance = np.nan
    return BoardExplanation(
        table.select(columns),
        board.scores.systems[system],
        board.scores.systems[versus],
        float(contribution.sum()),
        error,
        bool(better[system, versus] or better[versus, system]),
        now["rank"],
        now["rank_low"],
        now["rank_high"],
        chance,
        board.rule.estimate,
        board.lang,
    )
