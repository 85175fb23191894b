"""The leaderboard of a comparison: the rows that frames, terminals, papers and pages are made of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.comparison.letter_display import letters as compact_letters
from rankstone.comparison.verdict import CLEAR, TURNED

if TYPE_CHECKING:
    from rankstone._basics import Bools


class Leaderboard(Record):
    """Systems by their means of one measure, the best first.

    Attributes
    ----------
    rows
        A row a system: ``rank``, which equal means share, ``system``, ``mean``, ``judged``.
    pairs
        Every pair both ways round: ``system``, ``versus``, ``verdict``, ``wins``, ``ties``, ``losses``.
    all_pairs
        True if every two systems are compared; only then are there letters.
    """

    rows: pl.DataFrame
    pairs: pl.DataFrame
    all_pairs: bool

    @classmethod
    def from_tables(
        cls,
        means: pl.DataFrame,
        table: pl.DataFrame,
        *,
        lower_is_better: bool = False,
        all_pairs: bool = True,
    ) -> Leaderboard:
        """Return the order by the means of systems, with what a table says of their pairs.

        Examples
        --------
        >>> means = pl.DataFrame({"system": ["a", "b"], "mean": [0.2, 0.4], "judged": [None, None]})
        >>> pair = {"system": "a", "versus": "b", "verdict": "worse", "wins": 1, "ties": 0, "losses": 9}
        >>> board = Leaderboard.from_tables(means, pl.DataFrame([pair]))
        >>> board.systems, board.letters, board.against("a").rows()
        (('b', 'a'), {'b': 'a', 'a': 'b'}, [('b', 'better', 9, 0, 1), ('a', None, None, None, None)])
        """
        best_first = means.sort(
            "mean", descending=not lower_is_better, maintain_order=True
        )
        rank = pl.col("mean").rank("min", descending=not lower_is_better)
        turned = table.select(
            system="versus",
            versus="system",
            verdict=pl.col("verdict").replace(TURNED),
            wins="losses",
            ties="ties",
            losses="wins",
        )
        return cls(
            best_first.select(rank.alias("rank"), "system", "mean", "judged"),
            pl.concat([table.select(turned.columns), turned]),
            all_pairs,
        )

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems in order."""
        return tuple(self.rows["system"])

    @property
    def means(self) -> list[float]:
        """Their means."""
        return self.rows["mean"].to_list()

    def against(self, versus: str) -> pl.DataFrame:
        """Return a row a system: its ``verdict`` and counts of queries against one; null where none is known."""
        rows = self.pairs.filter(versus=versus).drop("versus")
        return self.rows.select("system").join(
            rows, on="system", how="left", maintain_order="left"
        )

    @cached_property
    def beats(self) -> Bools:
        """True where the row is clearly better than the column, bool ``[systems, systems]``."""
        return self._where("better")

    @cached_property
    def letters(self) -> dict[str, str]:
        """Letters, of which two systems share one if and only if their pair is not clearly different.

        This is the compact letter display (Piepho 2004); empty where not every pair is compared.
        """
        if not self.all_pairs:
            return {}
        return dict(
            zip(self.systems, compact_letters(self._where(*CLEAR)), strict=True)
        )

    @property
    def possible_ranks(self) -> list[tuple[int, int]]:
        """The best and the worst rank that the clear differences leave to each system."""
        best = 1 + self.beats.sum(axis=0)
        worst = len(self.beats) - self.beats.sum(axis=1)
        return list(zip(best.tolist(), worst.tolist(), strict=True))

    def _where(self, *verdicts: str) -> Bools:
        """Return where the verdict on the row against the column is one of these."""
        place = {system: number for number, system in enumerate(self.systems)}
        pairs = self.pairs.filter(pl.col("verdict").is_in(verdicts))
        rows, columns = (
            pairs[name].replace_strict(place, return_dtype=pl.Int64)
            for name in ("system", "versus")
        )
        chosen = np.zeros((len(place), len(place)), np.bool_)
        chosen[rows, columns] = True
        return chosen
