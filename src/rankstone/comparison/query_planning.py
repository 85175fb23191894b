"""How many queries a difference needs: planned from how much earlier differences vary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.comparison.comparison_result import Comparison
from rankstone.comparison.comparison_tables import percent
from rankstone.errors import BadOption, printable
from rankstone.stats.sample_size import detectable, needed, upper_deviation
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


__all__ = ["Plan", "power"]

_SCHEMA: Final[dict[str, Any]] = {
    "measure": pl.String,
    "system": pl.String,
    "versus": pl.String,
    "n": pl.Int64,
    "deviation": pl.Float64,
    "difference": pl.Float64,
    "needed": pl.Int64,
    "needed_cautious": pl.Int64,
    "detectable": pl.Float64,
}
#: with fewer queries that differ a pilot says little of how much differences vary
_FEW_DIFFERING: Final = 10


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """How many queries differences need.

    Attributes
    ----------
    table
        One row a pair, measure and difference: ``measure``, ``system``, ``versus``, ``n`` (queries of the
        pilot), ``deviation`` (of differences per query, with one more query at the worst credible loss for
        the default interval; for clusters what it comes to), ``difference``,
        ``needed`` queries, ``needed_cautious`` (by the upper 80 % limit of the deviation, since a pilot
        knows it only roughly: Browne 1995), and ``detectable``, the smallest difference that n queries show
        so.
    power
        The chance to find the difference.
    alpha
        The level at which each question is asked.
    digits
        Decimals shown.
    notes
        Which deviations are little more than a guess, since few queries of the pilot differ.
    """

    table: pl.DataFrame
    power: float
    alpha: float
    digits: int = 4
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`table`."""
        return self.table

    def sheet(self, digits: int | None = None) -> Sheet:
        """Return what people read; ``digits`` are decimals."""
        piloted = self.table["n"].null_count() == 0
        head: tuple[str, ...] = ("deviation", "difference", "queries")
        if piloted:
            head = ("measure", "pair", *head, "with caution", "shown by now")
        shown = self.digits if digits is None else digits
        rows = tuple(self._row(row, shown, piloted=piloted) for row in self.table.iter_rows(named=True))
        level = percent(1 - self.alpha)
        title = f"Queries that show a difference with a chance of {self.power:g}, at {level} confidence"
        caution = "with caution: by the upper 80 % limit of the deviation (Browne 1995)"
        numeric = tuple(name not in ("measure", "pair") for name in head)
        lines = [caution, "shown by now: the smallest difference that the pilot's queries show", *self.notes]
        told = (("", tuple(lines)),)
        return Sheet(title, parts=(Table("", head, rows, numeric), *(told if piloted else ())))

    def _row(self, row: dict[str, Any], digits: int, *, piloted: bool) -> tuple[str, ...]:
        counts = ["–" if row[name] is None else f"{row[name]:,}" for name in ("needed", "needed_cautious")]
        spread, wanted = f"{row['deviation']:.{digits}f}", f"{row['difference']:g}"
        if not piloted:
            return spread, wanted, counts[0]
        pair = f"{printable(row['system'], 20)} − {printable(row['versus'], 20)}"
        least = "–" if row["detectable"] is None else f"{row['detectable']:.{digits}f}"
        return row["measure"], pair, spread, wanted, *counts, least

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        plan = self.table.to_dicts()
        return {"power": self.power, "alpha": self.alpha, "plan": plan, "notes": list(self.notes)}


def power(
    pilot: Comparison | float,
    differences: float | Sequence[float],
    *,
    power: float = 0.8,
    confidence: float = 0.95,
    questions: int | None = None,
) -> Plan:
    """Return how many queries show a true difference, by the paired t-test.

    Parameters
    ----------
    pilot
        A comparison, whose differences tell how much they vary; or their standard deviation as a number.
    differences
        True differences of means that should be found.
    power
        The chance to find them.
    confidence
        1 less the chance of a false claim, in the whole family.
    questions
        Size of the family, each asked at ``(1 - confidence) / questions``; as many as the pilot's primary
        family unless given.

    Returns
    -------
    Plan
        A row a difference, of every pair and measure of the pilot.

    Examples
    --------
    >>> power(0.2, [0.01, 0.05]).table["needed"].to_list()
    [3142, 128]
    """
    wanted = [differences] if isinstance(differences, (int, float)) else list(differences)
    for difference in wanted:
        if not 0 < difference < math.inf:
            raise BadOption(
                f"a difference of {difference!r} cannot be planned for", expected="a number above 0"
            )
    if isinstance(pilot, Comparison):
        if any(matrix.replicates for matrix in pilot.matrices.values()):
            raise BadOption(
                "several runs of one system vary, however many queries there are",
                fix="plan with a pilot of single runs",
            )
        size = questions or pilot.families[0].size
        found = [
            (measure, system, versus, n, units, spread * math.sqrt(units) if ties < n else 0.0)
            for measure, system, versus, n, units, spread, ties in pilot.table.select(
                "measure", "system", "versus", "n", "units", "spread", "ties"
            ).rows()
            if spread is not None
        ]
    else:
        if not 0 < pilot < math.inf:
            raise BadOption(f"a deviation of {pilot!r} cannot be", expected="a number above 0")
        size, found = questions or 1, [(None, None, None, None, None, float(pilot))]
    if not 0 < confidence < 1 or size < 1:
        raise BadOption("these are no chances", given=f"confidence={confidence!r}, questions={size!r}")
    alpha = (1 - confidence) / size
    rows = []
    for measure, system, versus, n, units, deviation in found:
        least = (
            None
            if units is None or not deviation
            else detectable(units, alpha=alpha, power=power) * deviation
        )
        cautious = None if units is None else deviation * upper_deviation(units - 1)
        each = 1.0 if n is None or units is None else n / units
        for difference in wanted:
            counts = [
                _queries(difference, spread, alpha, power, each) if spread is not None else None
                for spread in (deviation, cautious)
            ]
            shown = deviation * math.sqrt(each)
            rows.append((measure, system, versus, n, shown, difference, *counts, least))
    notes = tuple(_guesses(pilot)) if isinstance(pilot, Comparison) else ()
    return Plan(pl.DataFrame(rows, _SCHEMA, orient="row"), power, alpha, notes=notes)


def _guesses(pilot: Comparison) -> Iterator[str]:
    """Say which pairs differ on so few queries that their deviation is a guess."""
    for row in pilot.table.iter_rows(named=True):
        if (differing := row["wins"] + row["losses"]) < _FEW_DIFFERING:
            pair = f"{printable(row['system'], 20)} and {printable(row['versus'], 20)}"
            yield (
                f"{pair} differ on {differing} of {row['n']:,} queries by {row['measure']}: "
                "the deviation is a guess, take more queries for the pilot"
            )


def _queries(difference: float, deviation: float, alpha: float, power: float, each: float) -> int | None:
    if deviation <= 0:  # nothing varied, which says nothing about how much the next queries will
        return None
    units = needed(difference / deviation, alpha=alpha, power=power)
    return None if units is None else math.ceil(units * each)
