"""Sample size: how many queries are needed to detect a difference, from the variance in a pilot."""

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
#: with fewer queries that differ, the standard deviation of a pilot is only a guess
_FEW_DIFFERING: Final = 10


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """The number of queries needed to detect differences.

    Attributes
    ----------
    table
        One row a pair, measure and difference: ``measure``, ``system``, ``versus``, ``n`` (queries of the
        pilot), ``deviation`` (standard deviation of the differences per query, with one more query at the
        worst credible loss for the default interval; for clusters the equivalent one), ``difference``,
        ``needed`` queries, ``needed_cautious`` (by the upper 80 % limit of the deviation, since a pilot
        estimates it only roughly: Browne 1995), and ``detectable``, the smallest difference that n queries
        detect with this power.
    power
        The probability of detecting the difference.
    alpha
        The level of each test.
    digits
        Decimals shown.
    notes
        Which deviations are only guesses, because few queries of the pilot differ.
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
        """Return the plan as people read it; ``digits`` are decimals."""
        piloted = self.table["n"].null_count() == 0
        head: tuple[str, ...] = ("std. dev.", "difference", "queries")
        if piloted:
            head = ("measure", "pair", *head, "cautious", "detectable now")
        shown = self.digits if digits is None else digits
        rows = tuple(self._row(row, shown, piloted=piloted) for row in self.table.iter_rows(named=True))
        level = percent(1 - self.alpha)
        title = (
            f"Queries needed to detect a difference with {percent(self.power)} power, at {level} confidence"
        )
        caution = "cautious: from the upper 80 % limit of the standard deviation (Browne 1995)"
        numeric = tuple(name not in ("measure", "pair") for name in head)
        now = "detectable now: the smallest difference that the pilot's queries detect with this power"
        notes = (("", (caution, now, *self.notes)),) if piloted else ()
        return Sheet(title, parts=(Table("", head, rows, numeric), *notes))

    def _row(self, row: dict[str, Any], digits: int, *, piloted: bool) -> tuple[str, ...]:
        counts = ["–" if row[name] is None else f"{row[name]:,}" for name in ("needed", "needed_cautious")]
        spread, given = f"{row['deviation']:.{digits}f}", f"{row['difference']:g}"
        if not piloted:
            return spread, given, counts[0]
        pair = f"{printable(row['system'], 20)} − {printable(row['versus'], 20)}"
        least = "–" if row["detectable"] is None else f"{row['detectable']:.{digits}f}"
        return row["measure"], pair, spread, given, *counts, least

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
    comparisons: int | None = None,
) -> Plan:
    """Return how many queries are needed to detect a true difference with the paired t-test.

    Parameters
    ----------
    pilot
        A comparison, from which the standard deviation of differences is estimated; or this standard
        deviation as a number.
    differences
        True differences of means to be detected.
    power
        The probability of detecting them.
    confidence
        1 less the family-wise error rate.
    comparisons
        Size of the family, each tested at level ``(1 - confidence) / comparisons``; by default that of the
        pilot's primary family.

    Returns
    -------
    Plan
        A row for each difference, pair and measure of the pilot.

    Examples
    --------
    >>> power(0.2, [0.01, 0.05]).table["needed"].to_list()
    [3142, 128]
    """
    given = [differences] if isinstance(differences, (int, float)) else list(differences)
    for difference in given:
        if not 0 < difference < math.inf:
            raise BadOption(
                f"a difference of {difference!r} cannot be planned for", expected="a number above 0"
            )
    if isinstance(pilot, Comparison):
        if any(matrix.replicates for matrix in pilot.matrices.values()):
            raise BadOption(
                "the variance between several runs of one system does not depend on the number of queries",
                fix="plan with a pilot of single runs",
            )
        size = comparisons or pilot.families[0].size
        pairs = [
            (measure, system, versus, n, units, spread * math.sqrt(units) if ties < n else 0.0)
            for measure, system, versus, n, units, spread, ties in pilot.table.select(
                "measure", "system", "versus", "n", "units", "spread", "ties"
            ).rows()
            if spread is not None
        ]
    else:
        if not 0 < pilot < math.inf:
            raise BadOption(f"a standard deviation of {pilot!r} is not possible", expected="a number above 0")
        size, pairs = comparisons or 1, [(None, None, None, None, None, float(pilot))]
    if not 0 < confidence < 1 or size < 1:
        raise BadOption(
            "confidence or comparisons is out of range",
            given=f"confidence={confidence!r}, comparisons={size!r}",
        )
    alpha = (1 - confidence) / size
    rows = []
    for measure, system, versus, n, units, deviation in pairs:
        least = (
            None
            if units is None or not deviation
            else detectable(units, alpha=alpha, power=power) * deviation
        )
        cautious = None if units is None else deviation * upper_deviation(units - 1)
        each = 1.0 if n is None or units is None else n / units
        for difference in given:
            counts = [
                _queries(difference, spread, alpha, power, each) if spread is not None else None
                for spread in (deviation, cautious)
            ]
            shown = deviation * math.sqrt(each)
            rows.append((measure, system, versus, n, shown, difference, *counts, least))
    notes = tuple(_rough_estimates(pilot)) if isinstance(pilot, Comparison) else ()
    return Plan(pl.DataFrame(rows, _SCHEMA, orient="row"), power, alpha, notes=notes)


def _rough_estimates(pilot: Comparison) -> Iterator[str]:
    """Yield a note for each pair that differs on too few queries to estimate the deviation."""
    for row in pilot.table.iter_rows(named=True):
        if (differing := row["wins"] + row["losses"]) < _FEW_DIFFERING:
            pair = f"{printable(row['system'], 20)} and {printable(row['versus'], 20)}"
            yield (
                f"{pair} differ on {differing} of {row['n']:,} queries by {row['measure']}: "
                "its standard deviation is only a guess; use a pilot with more queries"
            )


def _queries(difference: float, deviation: float, alpha: float, power: float, each: float) -> int | None:
    if deviation <= 0:  # no variance in the pilot: other queries may still vary
        return None
    units = needed(difference / deviation, alpha=alpha, power=power)
    return None if units is None else math.ceil(units * each)
