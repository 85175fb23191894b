"""Sample size: how many queries show a difference, or narrow its interval, from the variance in a pilot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import polars as pl

from rankstone._basics import Record, counted
from rankstone.comparison.compare_systems import compare
from rankstone.comparison.comparison_result import Comparison
from rankstone.comparison.comparison_words import percent
from rankstone.errors import BadOption, UsageError, printable
from rankstone.evaluation.request import EvaluationKeywords
from rankstone.hits.alignment_options import takes
from rankstone.stats.pilots import Pilots
from rankstone.stats.sample_size import smallest_n, upper_deviation
from rankstone.stats.topic_set_sizes import (
    detectable_among,
    expected_width,
    power_among,
)
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone.evaluation.request import MeasuresLike, QrelsLike, RunsLike
    from rankstone.tables.sheet import Part


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
_DIFFERENCES: Final = "-d 0.01,0.05 (in Python differences=[0.01, 0.05])"
#: what is planned for unless it is given
_OBSERVED: Final = (
    "difference: the observed one of each pair, which chance has made larger or smaller; "
    "better plan for the smallest that matters"
)


class Plan(Result, Record):
    """The number of queries needed to detect differences.

    Attributes
    ----------
    table
        One row a pair, measure and difference: ``measure``, ``system``, ``versus``, ``n`` (queries of the
        pilot), ``deviation`` (standard deviation of the differences per query, with one more query at the
        worst credible loss for the default interval; for clusters the equivalent one), ``difference``,
        ``needed`` queries, ``needed_cautious`` (by the upper 80 % limit of the deviation, since a pilot
        estimates it only roughly: Browne 1995), and ``detectable``, the smallest difference that n queries
        detect with this power.  Of a plan for widths, ``difference`` is the width of an interval, and
        ``detectable`` the expected width now.
    power
        The probability of detecting the difference.
    alpha
        The level of each test.
    systems
        How many are compared: differences are of the best and the worst.
    widths
        True for a plan by the width of intervals.
    digits
        Decimals shown.
    notes
        Which deviations are only guesses, because few queries of the pilot differ.
    """

    table: pl.DataFrame
    power: float
    alpha: float
    systems: int = 2
    widths: bool = False
    digits: int = 4
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`table`."""
        return self.table

    def sheet(self, digits: int | None = None) -> Sheet:
        """Return the plan as people read it; ``digits`` are decimals."""
        piloted = self.table["n"].null_count() == 0
        level = percent(1 - self.alpha)
        power = f"with {percent(self.power)} power, at {level} confidence"
        wanted = "difference"
        now = "detectable now"
        meaning = (
            "the smallest difference that the pilot's queries detect with this power"
        )
        title = f"Queries needed to detect a difference {power}"
        if self.widths:
            wanted = "width"
            now = "width now"
            meaning = "the expected width with the pilot's queries"
            title = f"Queries needed for {level} intervals of differences that are as wide as this on average"
        elif self.systems > 2:  # noqa: PLR2004 - a pair
            wanted = "range"
            title = f"Queries needed to see the range of {self.systems} systems {power} (Sakai 2016)"

        head: tuple[str, ...] = ("std. dev.", wanted, "queries")
        parts: list[Part] = []
        if piloted:
            head = ("measure", "pair", *head, "cautious", now)
            caution = "cautious: from the upper 80 % limit of the standard deviation (Browne 1995)"
            parts.append(("", (caution, f"{now}: {meaning}", *self.notes)))
        decimals = self.digits if digits is None else digits
        rows = tuple(
            self._row(row, decimals, piloted=piloted)
            for row in self.table.iter_rows(named=True)
        )
        numeric = tuple(name not in ("measure", "pair") for name in head)
        return Sheet(title, parts=(Table("", head, rows, numeric), *parts))

    def _row(
        self, row: dict[str, Any], digits: int, *, piloted: bool
    ) -> tuple[str, ...]:
        counts = [cell(row[name]) for name in ("needed", "needed_cautious")]
        spread = f"{row['deviation']:.{digits}f}"
        difference = f"{row['difference']:g}"
        if not piloted:
            return spread, difference, counts[0]
        names = [
            printable(row[name], 20)
            for name in ("system", "versus")
            if row[name] is not None
        ]
        pair = " − ".join(names)
        least = cell(row["detectable"], digits=digits)
        return row["measure"], pair, spread, difference, *counts, least

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        plan = self.table.to_dicts()
        numbers = {
            "power": self.power,
            "alpha": self.alpha,
            "systems": self.systems,
            "widths": self.widths,
        }
        return {**numbers, "plan": plan, "notes": list(self.notes)}


@takes(EvaluationKeywords)
def power(
    pilot: Comparison | float | QrelsLike,
    runs: float | Sequence[float] | RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    differences: float | Sequence[float] | None = None,
    widths: float | Sequence[float] | None = None,
    among: int = 2,
    power: float = 0.8,
    confidence: float = 0.95,
    comparisons: int | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Plan:
    """Return how many queries are needed to detect a true difference, or for intervals of some width.

    Two systems are compared by the pilot's test, more by the analysis of variance (Sakai 2016).  For the
    randomisation test power is that of t on the queries that differ, at the level that so few signs attain.

    Parameters
    ----------
    pilot
        A comparison, from which the standard deviation of differences is estimated; or this standard
        deviation as a number; or judgments, with runs and measures that are then compared by the t test.
    runs, measures, **options
        As for :func:`rankstone.compare`.  Without measures the second argument is ``differences``.
    differences
        True differences of means to be detected; by default each pair's observed one.
    widths
        Instead of differences: expected widths of the interval of a difference.
    among
        How many systems will be compared; of more than two, differences are of the best and the worst.
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
        A row for each difference (or width), pair and measure of the pilot; among systems for each measure.

    Examples
    --------
    >>> power(0.2, [0.01, 0.05]).table["needed"].to_list()
    [3142, 128]
    >>> power(0.2, 0.05, among=10).table["needed"].to_list()
    [252]
    >>> power(0.2, widths=0.05).table["needed"].to_list()
    [248]
    >>> from rankstone import demo
    >>> power(demo.QRELS, demo.RUNS, "nDCG@10").table["needed"].to_list()
    [93]
    """
    if measures is not None:
        pilot = compare(pilot, runs, measures, test="t", primary=measures, **options)  # type: ignore[arg-type]
    elif differences is None:
        differences = runs  # type: ignore[assignment] # as the second argument
    is_open = differences is None and widths is None
    design, planned = _Design.of(differences, widths, among, power)
    pairs = list(_pairs(pilot, design))
    size = comparisons or 1
    if isinstance(pilot, Comparison) and among == 2:  # noqa: PLR2004 - a pair
        size = comparisons or pilot.families[0].size
    elif is_open:
        raise UsageError(
            "there is no observed difference to plan for", fix=_DIFFERENCES
        )
    if not 0 < confidence < 1 or size < 1:
        raise BadOption(
            "confidence or comparisons is out of range",
            given=f"confidence={confidence!r}, comparisons={size!r}",
        )
    alpha = (1 - confidence) / size
    rows = []
    for measure, system, versus, n, units, deviation, pilots, *observed in pairs:
        plan = _PairPlan(design, deviation, pilots, alpha)
        least = None if units is None else plan.shows(units)
        each = 1.0 if n is None or units is None else n / units
        for difference in planned or observed:
            widened = [1.0] if units is None else [1.0, plan.caution(units)]
            counts = [plan.queries(difference, widen, each) for widen in widened]
            counts += [None] * (2 - len(counts))
            shown = deviation * math.sqrt(each)
            rows.append((measure, system, versus, n, shown, difference, *counts, least))
    notes = []
    if is_open:
        notes.append(_OBSERVED)
    if isinstance(pilot, Comparison):
        notes += _rough_estimates(pilot)
    table = pl.DataFrame(rows, _SCHEMA, orient="row")
    return Plan(table, power, alpha, among, design.widths, notes=tuple(notes))


def _pairs(pilot: object, design: _Design) -> Iterator[tuple[Any, ...]]:
    """Yield what is known of each pair: names, queries, deviation, its test, the observed difference."""
    is_pair = design.systems == 2  # noqa: PLR2004
    if isinstance(pilot, Comparison):
        if any(matrix.replicates for matrix in pilot.matrices.values()):
            raise BadOption(
                "the variance between several runs of one system does not depend on the number of queries",
                fix="plan with a pilot of single runs",
            )
        if is_pair:
            yield from _deviations(pilot, widths=design.widths)
        else:
            yield from _residuals(pilot, design.systems)
        return
    if not isinstance(pilot, (int, float)) or not 0 < pilot < math.inf:
        raise BadOption(
            f"a standard deviation of {printable(pilot)} is not possible",
            expected="a number above 0, a comparison, or judgments with runs and measures",
        )
    alone = None
    if is_pair and not design.widths:
        alone = Pilots(np.ones(1), np.array([float(pilot)]), flips=True)
    yield None, None, None, None, None, float(pilot), alone


class _Design(Record):
    """What is planned for: a power among so many systems, or the width of intervals."""

    systems: int
    widths: bool
    power: float

    @classmethod
    def of(
        cls,
        differences: float | Sequence[float] | None,
        widths: float | Sequence[float] | None,
        systems: int,
        power: float,
    ) -> tuple[_Design, list[float]]:
        """Return the design, and the differences or widths."""
        if differences is None:
            wanted = widths
        else:
            wanted = differences
        if None not in (differences, widths):
            raise UsageError(
                "a plan is either for differences or for widths", fix=_DIFFERENCES
            )
        if systems < 2 or (systems > 2 and widths is not None):  # noqa: PLR2004 - a pair
            raise BadOption(
                f"among={systems!r} is out of range",
                expected="2 or more systems, of differences",
            )
        if isinstance(wanted, (int, float)):
            sizes = [wanted]
        else:
            sizes = list(wanted or ())
        for size in sizes:
            if not isinstance(size, (int, float)) or not 0 < size < math.inf:
                what = "difference" if widths is None else "width"
                raise BadOption(
                    f"a {what} of {printable(size)} cannot be planned for",
                    expected="a number above 0; with judgments and runs also measures",
                )
        return cls(systems, widths is not None, power), sizes

    def needs(self, effect: float, alpha: float) -> int | None:
        """Return how many queries an effect needs, in standard deviations of differences."""
        if self.widths:
            return smallest_n(lambda n: expected_width(n, alpha=alpha) <= effect)
        return smallest_n(
            lambda n: power_among(effect, n, self.systems, alpha=alpha) >= self.power
        )

    def shows(self, n: int, alpha: float) -> float:
        """Return the effect that so many queries show."""
        if self.widths:
            return expected_width(n, alpha=alpha)
        return detectable_among(n, self.systems, alpha=alpha, power=self.power)


class _PairPlan(Record):
    """What is planned for one pair: by its test where two systems are compared, otherwise by the design."""

    design: _Design
    deviation: float
    pilots: Pilots | None
    alpha: float

    def shows(self, units: int) -> float | None:
        """Return the effect that so many units show; ``None`` where none is, or nothing varies."""
        if not self.deviation:
            return None
        if self.pilots is None:
            return self.design.shows(units, self.alpha) * self.deviation
        level = np.array([self.alpha])
        [least] = self.pilots.detectable(np.array([units]), level, self.design.power)
        if math.isfinite(least):
            return float(least)
        return None

    def caution(self, units: int) -> float:
        """Return what the deviation is multiplied by to be its upper limit."""
        if self.pilots is None:
            share = 1.0
        else:
            share = float(self.pilots.share[0])
        return upper_deviation(round(share * units) - 1)

    def queries(self, difference: float, widen: float, each: float) -> int | None:
        """Return how many queries a difference needs, ``each`` a unit."""
        if not self.deviation > 0 or not difference:  # other queries may vary
            return None
        if self.pilots is None:
            effect = difference / (self.deviation * widen)
            units = self.design.needs(effect, self.alpha)
        else:
            wanted = np.array([difference])
            level = np.array([self.alpha])
            [units] = self.pilots.needed(wanted, level, self.design.power, widen)
        if units is None:
            return None
        return math.ceil(units * each)


def _deviations(pilot: Comparison, *, widths: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the deviation of the differences of each pair, and what they say about the test."""
    flips = pilot.settings.interval == "test" and pilot.settings.test != "t"
    for row in pilot.table.iter_rows(named=True):
        n = row["n"]
        units = row["units"]
        spread = row["spread"]
        if spread is None:
            continue
        deviation = 0.0
        if row["ties"] < n:
            deviation = spread * math.sqrt(units)
        share = 1.0
        if units == n:
            share = 1 - row["ties"] / n
        pilots = Pilots.from_differences(
            np.array([row["difference"]]),
            np.array([deviation]),
            np.array([units]),
            np.array([share]),
            flips=flips,
        )
        if not pilots.deviation > 0:
            deviation = 0.0
        names = row["measure"], row["system"], row["versus"]
        pilot_test = None if widths else pilots
        yield (*names, n, units, deviation, pilot_test, abs(row["difference"]))


def _residuals(pilot: Comparison, systems: int) -> Iterator[tuple[Any, ...]]:
    """Yield the deviation of differences by each measure that residuals of all systems amount to."""
    for measure, matrix in pilot.matrices.items():
        if matrix.cluster is not None:
            raise BadOption(
                "a plan among systems needs independent queries",
                fix="leave cluster out",
            )
        if matrix.anova is not None:
            deviation = math.sqrt(2 * matrix.anova.error)
            yield (
                measure,
                f"{systems} systems",
                None,
                len(matrix),
                len(matrix),
                deviation,
                None,
            )


def _rough_estimates(pilot: Comparison) -> Iterator[str]:
    """Yield a note for each pair that differs on too few queries to estimate the deviation."""
    for row in pilot.table.iter_rows(named=True):
        if (differing := row["wins"] + row["losses"]) < _FEW_DIFFERING:
            pair = f"{printable(row['system'], 20)} and {printable(row['versus'], 20)}"
            yield (
                f"{pair} differ on {differing} of {counted(row['n'], 'query')} by {row['measure']}: "
                "its standard deviation is only a guess; use a pilot with more queries"
            )
