"""Tests of paired scores: t, Wilcoxon, sign, McNemar, and equivalence by two t-tests.

The randomisation test is in :mod:`~rankstone.stats.randomisation_test`, intervals that agree with the tests in
:mod:`~rankstone.stats.inverted_tests`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from rankstone.errors import BadOption
from rankstone.stats.exact_sums import tolerance
from rankstone.stats.student_t import t_tail, two_sided_p

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Floats
    from rankstone.stats.sampling_units import Units


class Differences(Protocol):
    """The input of t-tests: one column of differences, as in ``Units``."""

    @property
    def mean(self) -> Floats:
        """Their mean, float64 ``[1]``."""

    @property
    def rounding(self) -> float:
        """By how much two sums of them may differ and still be called equal."""

    def robust_error(self) -> tuple[Floats, float]:
        """Return the standard error of the mean, float64 ``[1]``, and its degrees of freedom."""

    def __len__(self) -> int: ...


def paired_t(units: Differences, shift: float = 0.0) -> float:
    """Return two-sided p of Student's paired t-test, for one column of differences.

    Clusters are units of their own, so dependence inside them does no harm.  Where nothing varies there is
    nothing to test with: p is 1.  NaN for a single unit.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
    >>> round(paired_t(Units.from_scores(np.array([[0.1], [0.2], [0.2]]))), 6)
    0.03775
    """
    statistic, df = _t_statistic(units, shift)
    return two_sided_p(statistic, df)


def _t_statistic(units: Differences, shift: float) -> tuple[float, float]:
    """Return the t statistic of the mean less ``shift``, 0 where nothing varies, and degrees of freedom."""
    mean = float(units.mean[0]) - shift
    errors, df = units.robust_error()
    error = float(errors[0])
    if math.isnan(error):
        return math.nan, df
    if abs(mean) * len(units) <= units.rounding or error == 0:
        return 0.0, df
    return mean / error, df


def paired_ts(units: Units) -> Floats:
    """Return p of :func:`paired_t` for each column, float64 ``[columns]``; 1 where a single unit gives none.

    >>> from rankstone.stats.sampling_units import Units
    >>> paired_ts(Units.from_scores(np.array([[0.1, 0.0], [0.2, 0.0], [0.2, 0.0]]))).round(6).tolist()
    [0.03775, 1.0]
    """
    from scipy import special

    mean = units.mean
    error, df = units.robust_error()
    differs = (np.abs(mean) * len(units) > units.roundings) & (error > 0)
    statistic = np.divide(np.abs(mean), error, out=np.zeros(len(mean)), where=differs)
    p = np.minimum(1.0, 2 * special.stdtr(df, -statistic))
    return np.where(differs, p, 1.0)


def tost(units: Differences, margin: float) -> tuple[float, float]:
    """Return p of two one-sided t-tests (Schuirmann 1987): not inferior, and not superior, by a margin.

    The first is small where the mean is above ``-margin`` (non-inferiority), the second where it is below
    ``margin``; the larger of the two is p of equivalence.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
    >>> low, high = tost(Units.from_scores(np.array([[0.01], [-0.01], [0.02], [0.0]])), 0.05)
    >>> max(low, high) < 0.01
    True
    """
    if not margin > 0:
        raise BadOption(
            f"margin={margin!r} is not a margin",
            expected="a difference above 0 that is too small to matter",
        )
    above_lower, df = _t_statistic(units, -margin)
    above_upper, _ = _t_statistic(units, margin)
    return t_tail(above_lower, df), t_tail(-above_upper, df)


def per_unit(units: Units, column: int = 0) -> Floats:
    """Return one mean difference for each unit that counts, what is only rounding as 0."""
    counting = units.counting()
    means: Floats = counting.total[:, column] / counting.size
    rounding = tolerance(means) / max(len(means), 1)
    return np.where(np.abs(means) <= rounding, 0.0, means)


def wilcoxon(units: Units) -> float:
    """Return two-sided p of Wilcoxon's signed-rank test (1945); differences of 0 are left out.

    Its hypothesis is about the median of averages of two differences, not about the mean.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
    >>> wilcoxon(Units.from_scores(np.array([[0.1], [0.2], [0.3], [-0.4], [0.5]])))
    0.4375
    """
    from scipy import stats

    differences = per_unit(units)
    moved = differences[differences != 0]
    if not len(moved):
        return 1.0
    # SciPy approximates where differences of 0 are among the rest
    return float(stats.wilcoxon(moved).pvalue)


def sign_test(units: Units) -> float:
    """Return two-sided p of the sign test: wins and losses as tosses of a coin, ties left out.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
    >>> sign_test(Units.from_scores(np.array([[0.1], [0.2], [0.3], [0.0]])))
    0.25
    """
    from scipy import special

    differences = per_unit(units)
    wins = int((differences > 0).sum())
    losses = int((differences < 0).sum())
    tail = float(special.bdtr(min(wins, losses), wins + losses, 0.5))
    return min(1.0, 2 * tail)


def mcnemar(units: Units) -> float:
    """Return two-sided p of McNemar's exact test (1947), for measures that are 0 or 1: success or not.

    Raises
    ------
    BadOption
        When a difference is neither -1, 0 nor 1.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
    >>> mcnemar(Units.from_scores(np.array([[1.0], [1.0], [1.0], [0.0], [-1.0]])))
    0.625
    """
    differences = per_unit(units)
    possible = np.isin(differences, (-1.0, 0.0, 1.0))
    if not possible.all():
        raise BadOption(
            "McNemar's test is for measures that are 0 or 1",
            given=f"a difference of {differences[~possible][0]:g}",
            expected="Success@k, or another test",
        )
    return sign_test(units)


#: tests without a random number, by name
PAIRED: Final[dict[str, Callable[[Units], float]]] = {
    "t": paired_t,
    "wilcoxon": wilcoxon,
    "sign": sign_test,
    "mcnemar": mcnemar,
}
