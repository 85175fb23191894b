"""Families of comparisons that are tested together: corrected p-values, intervals and verdicts.

By default the verdict follows from the corrected p, with which the interval agrees; of other intervals, from
the corrected interval.  So verdict and interval cannot contradict each other.

Procedures for all pairs of systems give p-values and intervals that hold for every pair at once; each states
what it assumes, and docs/compare.md shows how often each was wrong on scores of real systems.

Where a system has several runs (seeds, folds), the variance between them is part of the uncertainty.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone._basics import Record
from rankstone.comparison.families import DRAWN, FLIPPED, PROCEDURES, Family
from rankstone.comparison.verdict import (
    Pair,
    PairStatistics,
    by_matrix,
    p_or_one,
    pair_statistics,
    result_rows,
    two_sided,
)
from rankstone.errors import BadOption
from rankstone.stats.automatic_intervals import difference_estimates
from rankstone.stats.friedman_and_nemenyi import nemenyi, nemenyi_reach
from rankstone.stats.inverted_tests import inverted
from rankstone.stats.max_t import flipped_max_t, resampled_max_t
from rankstone.stats.mean_intervals import RESAMPLED, Estimate, estimates
from rankstone.stats.multiple_testing import adjusted, family_level
from rankstone.stats.paired_tests import PAIRED
from rankstone.stats.randomisation_test import sign_flips
from rankstone.stats.randomised_tukey_hsd import randomised_tukeys
from rankstone.stats.two_way_anova import hsd_reach, tukey_hsd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone._basics import Floats, Ints, Progress
    from rankstone.comparison.score_matrix import Matrix
    from rankstone.comparison.settings import ComparisonSettings


class AllPairs(Record):
    """Corrected p-values and intervals of a family, by a procedure for all pairs.

    Attributes
    ----------
    p
        float64 ``[pairs]``, corrected.
    ends
        Both ends of each pair's simultaneous interval; it excludes 0 exactly where p is at most alpha.
    draws
        How many shuffles, flips or resamples were drawn.
    """

    p: Floats
    ends: list[tuple[float, float]]
    draws: int = 0


def all_pairs(
    families: Sequence[Sequence[Pair]],
    settings: ComparisonSettings,
    correction: str,
    progress: Progress | None,
) -> list[AllPairs]:
    """Compute p-values and intervals of each family by a procedure for all pairs."""
    matrices = [
        list(dict.fromkeys(pair.matrix for pair in pairs)) for pairs in families
    ]
    if correction not in DRAWN:
        return [
            _closed_form_pairs(*family, settings, correction)
            for family in zip(families, matrices, strict=True)
        ]
    tables = [_stack(of_family) for of_family in matrices]
    if correction == FLIPPED:
        return [
            _flipped_pairs(*family, settings, progress)
            for family in zip(families, matrices, tables, strict=True)
        ]
    if correction == "max_t":
        cubes = [_max_t(table, settings, progress, flipped=False) for table in tables]
    else:
        cubes = _shuffled(tables, settings, progress)
    if correction == "robust_tukey":
        cubes = [
            _combined(cube, _max_t(table, settings, progress, flipped=True))
            for cube, table in zip(cubes, tables, strict=True)
        ]
    return [
        _pairs_from_cube(*family)
        for family in zip(families, matrices, cubes, strict=True)
    ]


def _flipped_pairs(
    pairs: Sequence[Pair],
    matrices: Sequence[Matrix],
    table: tuple[Floats, Floats],
    settings: ComparisonSettings,
    progress: Progress | None,
) -> AllPairs:
    """Compare pairs with the largest t of all of them by sign flips; a single pair by its own test."""
    if len(pairs) == 1:
        ends = _inverted_ends(pairs, settings, settings.alpha, progress)
        return AllPairs(np.zeros(1), ends)
    compared = np.unique([(pair.one, pair.other) for pair in pairs], axis=0)
    cube = _max_t(table, settings, progress, flipped=True, pairs=compared)
    return _pairs_from_cube(pairs, matrices, cube)


def _inverted_ends(
    pairs: Sequence[Pair],
    settings: ComparisonSettings,
    level: float,
    progress: Progress | None = None,
) -> list[tuple[float, float]]:
    """Return the interval of each pair that its test gives."""
    ends: dict[int, tuple[float, float]] = {}
    for matrix, places, systems, versus in by_matrix(pairs):
        intervals = inverted(
            settings.test,
            matrix.units.difference(systems, versus),
            level,
            flips=settings.shuffles(len(matrix.units)),
            seed=settings.seed,
            progress=progress,
        )
        ends |= zip(places, intervals, strict=True)
    return [ends[place] for place in range(len(pairs))]


class _Cube(Record):
    """Results of a procedure, ``[systems, systems, measures]``: p-values, and the ends of intervals."""

    p: Floats
    low: Floats
    high: Floats
    draws: int


def _combined(first: _Cube, second: _Cube) -> _Cube:
    """Combine two procedures: the larger p, and intervals that contain those of both."""
    return _Cube(
        np.maximum(first.p, second.p),
        np.minimum(first.low, second.low),
        np.maximum(first.high, second.high),
        max(first.draws, second.draws),
    )


def _pairs_from_cube(
    pairs: Sequence[Pair], matrices: Sequence[Matrix], cube: _Cube
) -> AllPairs:
    measure = {matrix: number for number, matrix in enumerate(matrices)}
    p = []
    ends = []
    for pair in pairs:
        place = pair.one, pair.other, measure[pair.matrix]
        p.append(cube.p[place])
        ends.append((float(cube.low[place]), float(cube.high[place])))
    return AllPairs(np.array(p), ends, cube.draws)


def _stack(matrices: Sequence[Matrix]) -> tuple[Floats, Floats]:
    """Return totals ``[units, systems, measures]`` and sizes ``[units, measures]``."""
    totals = np.stack([matrix.units.total for matrix in matrices], axis=2)
    sizes = np.stack([matrix.units.size for matrix in matrices], axis=1)
    return totals, sizes


def _shuffled(
    tables: Sequence[tuple[Floats, Floats]],
    settings: ComparisonSettings,
    progress: Progress | None,
) -> list[_Cube]:
    """Shuffle systems within units; families with the same number of units share their shuffles."""
    shapes: dict[tuple[int, ...], list[int]] = {}
    for place, (totals, _) in enumerate(tables):
        shapes.setdefault(totals.shape[:2], []).append(place)
    cubes: dict[int, _Cube] = {}
    for (units, systems), places in shapes.items():
        count = settings.shuffles(units * systems)
        shuffled = randomised_tukeys(
            [tables[place] for place in places],
            shuffles=count,
            seed=settings.seed,
            progress=progress,
        )
        for place, tukey in zip(places, shuffled, strict=True):
            reach = tukey.critical(settings.alpha)
            low = tukey.gap - reach
            high = tukey.gap + reach
            cubes[place] = _Cube(tukey.p, low, high, count)
    return [cubes[place] for place in range(len(tables))]


def _max_t(
    table: tuple[Floats, Floats],
    settings: ComparisonSettings,
    progress: Progress | None,
    *,
    flipped: bool,
    pairs: Ints | None = None,
) -> _Cube:
    """Compare pairs with the largest t of units that are flipped, or drawn again."""
    units = len(table[0])
    drawing: dict[str, Any] = {
        "alpha": settings.alpha,
        "seed": settings.seed,
        "progress": progress,
    }
    # as many flips as for one pair: another system must not change what is drawn
    if flipped:
        flips = settings.shuffles(units)
        result = flipped_max_t(*table, pairs=pairs, flips=flips, **drawing)
    else:
        result = resampled_max_t(*table, resamples=settings.draws(units), **drawing)
    return _Cube(result.p, result.low, result.high, len(result.largest))


def _closed_form_pairs(
    pairs: Sequence[Pair],
    matrices: Sequence[Matrix],
    settings: ComparisonSettings,
    correction: str,
) -> AllPairs:
    """Compare the pairs of one measure by a procedure in closed form."""
    [matrix, *others] = matrices
    if others or matrix.cluster is not None or np.ptp(matrix.weight) > 0:
        raise BadOption(
            f"correction={correction!r} takes one primary measure, without clusters and weights",
            fix="correction='robust_tukey' takes several measures, clusters and weights",
        )
    if len(matrix) < 2:  # noqa: PLR2004 - one query
        raise BadOption(
            "one query gives no estimate of the error", fix="compare over more queries"
        )
    if correction == "nemenyi" and settings.margin is not None:
        raise BadOption(
            "a margin is a difference of scores, and correction='nemenyi' compares mean ranks",
            fix="leave margin out, or use correction='robust_tukey'",
        )
    if correction == "hsd":
        p_of_pairs = tukey_hsd(matrix.values)
        reach = hsd_reach(matrix.values, settings.alpha)
    else:
        p_of_pairs = nemenyi(matrix.values)
        reach = nemenyi_reach(matrix.values, settings.alpha)
    mean = matrix.units.mean
    p = []
    ends = []
    for pair in pairs:
        gap = float(mean[pair.one] - mean[pair.other])
        p.append(p_of_pairs[pair.one, pair.other])
        ends.append((gap - reach, gap + reach))
    return AllPairs(np.array(p), ends)


def with_runs(estimate: Estimate, matrix: Matrix, system: int, versus: int) -> Estimate:
    """Add the variance between runs to the error of an estimate over queries.

    Queries and runs are both drawn from many, and crossed: the squared error of a difference of means over
    runs is ``s²/n`` of the queries' differences plus ``s²/r`` of the runs' means, for each system with
    several.  Their shared part is counted twice, which errs on the safe side.  Degrees of freedom are those
    of Satterthwaite (1946).  A system with one run does not show how runs vary.

    Parameters
    ----------
    estimate
        The estimate over queries alone, by t.
    matrix
        The scores, and the means of runs.
    system, versus
        Columns of the two systems.
    """
    parts = [(estimate.error**2, estimate.df)]
    for column in (system, versus):
        means = matrix.replicates.get(matrix.systems[column])
        if means is None:
            continue
        variance = float(np.var(means, ddof=1))
        parts.append((variance / len(means), len(means) - 1))

    square = sum(part for part, _ in parts)
    if len(parts) == 1 or not square > 0:
        return estimate
    uncertain = sum(part**2 / freedom for part, freedom in parts)
    df = square**2 / uncertain
    return replace(estimate, error=math.sqrt(square), df=df)


def analyse_families(
    families: Mapping[str, Sequence[Pair]],
    settings: ComparisonSettings,
    correction: str,
    progress: Progress | None = None,
    by: tuple[str, ...] = (),
) -> list[tuple[Family, list[dict[str, Any]]]]:
    """Return each family (by name) with a row for each of its pairs, the columns ``by`` in front."""
    every: Sequence[AllPairs | None] = [None] * len(families)
    if correction in PROCEDURES:
        every = all_pairs(list(families.values()), settings, correction, progress)
    results = []
    for (name, pairs), together in zip(families.items(), every, strict=True):
        statistics, drawn = _statistics(pairs, settings, progress)
        own = settings.interval == "test" and not _replicated(pairs)
        invert = None
        if own:
            invert = partial(_inverted_ends, pairs, settings)
        results.append(
            family_results(
                name, statistics, drawn, settings, correction, together, by, invert
            )
        )
    return results


def _replicated(pairs: Sequence[Pair]) -> bool:
    return any(pair.matrix.replicates for pair in pairs)


def _statistics(
    pairs: Sequence[Pair], settings: ComparisonSettings, progress: Progress | None
) -> tuple[list[PairStatistics], int]:
    """Return the statistics of every pair, and how many permutations were drawn."""
    of_pair = _estimates(pairs, settings)
    if settings.interval in RESAMPLED:
        of_pair = _bootstrap_estimates(pairs, of_pair, settings, progress)
    p, drawn = _p_values(pairs, of_pair, settings, progress)
    guarded = of_pair
    if settings.margin is not None and settings.interval == "test":
        guarded = _estimates(pairs, replace(settings, interval="auto"))
    return pair_statistics(pairs, of_pair, p, settings.margin, guarded), drawn


def family_results(
    name: str,
    statistics: Sequence[PairStatistics],
    drawn: int,
    settings: ComparisonSettings,
    correction: str,
    every: AllPairs | None = None,
    by: tuple[str, ...] = (),
    invert: Callable[[float], list[tuple[float, float]]] | None = None,
) -> tuple[Family, list[dict[str, Any]]]:
    """Return a family and a row for each of its pairs, from statistics computed anywhere.

    Parameters
    ----------
    name
        The family's name.
    statistics
        The statistics of each pair.
    drawn
        How many permutations the test drew.
    settings, correction
        The settings, and the correction that follows from them.
    every
        The result of a procedure with intervals of its own.
    by
        Columns that queries are grouped by.
    invert
        Returns the interval of each pair that its test gives at a level; those of the estimates unless given.
    """
    estimates = [pair.estimate for pair in statistics]
    p = np.array([pair.p for pair in statistics])
    if every is not None:
        # another pair never lowers p, whatever is drawn
        corrected = every.p
        level = math.nan
        if correction == FLIPPED:
            corrected = np.maximum(p, every.p)
            if len(p) == 1:
                level = settings.alpha
        drawn = max(drawn, every.draws)
        intervals = every.ends
    else:
        corrected = adjusted(p, correction)
        level = family_level(p, correction, settings.alpha)
        if invert is None:
            intervals = [estimate.interval(1 - level) for estimate in estimates]
        else:
            intervals = invert(level)
    levels = [level] * len(p)
    if math.isnan(level):
        levels = _levels(estimates, intervals)
    test = settings.test
    if any(pair.replicated for pair in statistics):
        test = "t, queries and runs"
    family = Family(
        name, len(statistics), correction, test, settings.alpha, level, drawn
    )
    rows = result_rows(statistics, settings, intervals, levels, corrected, family)
    return family, [
        {**dict(zip(by, pair.segment, strict=True)), **row}
        for pair, row in zip(statistics, rows, strict=True)
    ]


def _estimates(pairs: Sequence[Pair], settings: ComparisonSettings) -> list[Estimate]:
    """Estimate differences without resampling, with the variance between runs where there are several."""
    of_pair: dict[int, Estimate] = {}
    for matrix, places, systems, versus in by_matrix(pairs):
        if matrix.replicates and settings.interval not in ("test", "auto", "t"):
            raise BadOption(
                f"interval={settings.interval!r} cannot be used with several runs of one system",
                fix="interval='t' covers queries and runs",
            )
        units = matrix.units.difference(systems, versus)
        if not matrix.replicates and settings.interval in ("auto", "worst_case"):
            bounded = difference_estimates(units, matrix.span, settings.interval)
            of_pair |= zip(places, bounded, strict=True)
            continue
        most = matrix.span[1] - matrix.span[0]
        of_queries = estimates(units, span=(-most, most))
        columns = zip(systems, versus, strict=True)
        for place, estimate, pair in zip(places, of_queries, columns, strict=True):
            of_pair[place] = with_runs(estimate, matrix, *pair)
    return [of_pair[place] for place in range(len(pairs))]


def _bootstrap_estimates(
    pairs: Sequence[Pair],
    plain: Sequence[Estimate],
    settings: ComparisonSettings,
    progress: Progress | None,
) -> list[Estimate]:
    """Estimate by the bootstrap: all pairs of a measure share their resamples."""
    of_pair = list(plain)
    for matrix, places, systems, versus in by_matrix(pairs):
        units = matrix.units.difference(systems, versus)
        keys = matrix.keys if settings.interval == "poisson" else None
        resampled = estimates(
            units,
            settings.interval,
            resamples=settings.draws(len(units)),
            seed=settings.seed,
            keys=keys,
            progress=progress,
        )
        for place, estimate in zip(places, resampled, strict=True):
            of_pair[place] = replace(estimate, span=plain[place].span)
    return of_pair


def _p_values(
    pairs: Sequence[Pair],
    of_pair: Sequence[Estimate],
    settings: ComparisonSettings,
    progress: Progress | None,
) -> tuple[Floats, int]:
    """Return p of every pair, and the largest number of permutations drawn."""
    p = np.ones(len(pairs))
    most = 0
    for matrix, places, systems, versus in by_matrix(pairs):
        if matrix.replicates:
            p[places] = [two_sided(of_pair[place]) for place in places]
        elif settings.test != "randomisation":
            test = PAIRED[settings.test]
            p[places] = [p_or_one(test(pairs[place].units)) for place in places]
        else:
            tests = sign_flips(
                matrix.units.total,
                pairs=np.stack([systems, versus], axis=1),
                flips=settings.shuffles(len(matrix.units)),
                seed=settings.seed,
                progress=progress,
            )
            p[places] = [flipped.p for flipped in tests]
            drawn = [flipped.flips for flipped in tests if not flipped.exact]
            most = max([most, *drawn])
    return p, most


def _levels(
    estimates: Sequence[Estimate], ends: Sequence[tuple[float, float]]
) -> list[float]:
    """Return the level of t intervals of the same widths, for detectable differences."""
    levels = []
    for estimate, (low, high) in zip(estimates, ends, strict=True):
        half = (high - low) / 2
        level = math.nan
        if estimate.error > 0 and math.isfinite(half):
            level = two_sided(replace(estimate, value=half))
        levels.append(level)
    return levels
