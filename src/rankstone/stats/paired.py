"""Tests of paired scores beside randomisation: t, Wilcoxon, sign, McNemar, and equivalence by two t-tests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from rankstone.errors import BadOption
from rankstone.stats.drawing import tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankstone.stats.units import Units

    Floats = NDArray[np.float64]

__all__ = ["PAIRED", "Differences", "mcnemar", "paired_t", "sign_test", "t_tail", "tost", "wilcoxon"]


class Differences(Protocol):
    """What t-tests look at: one column of differences, as :class:`~rankstone.stats.units.Units` has it."""

    @property
    def mean(self) -> Floats:
        """Their mean, float64 ``[1]``."""

    @property
    def rounding(self) -> float:
        """By how much two sums of them may differ and still be called equal."""

    def robust_error(self) -> tuple[Floats, float]:
        """Return the standard error of the mean, float64 ``[1]``, and its degrees of freedom."""

    def __len__(self) -> int: ...


def t_tail(t: float, df: float) -> float:
    """Return the chance that Student's t is above ``t``."""
    from scipy import special

    return float(special.stdtr(df, -t)) if not math.isinf(t) else float(t < 0)


def paired_t(units: Differences, shift: float = 0.0) -> float:
    """Return two-sided p of Student's paired t-test, for one column of differences.

    Clusters are units of their own, so dependence inside them does no harm.  Where nothing varies there is
    nothing to test with: p is 1.  NaN for a single unit.

    Examples
    --------
    >>> from rankstone.stats.units import Units
    >>> round(paired_t(Units.of(np.array([[0.1], [0.2], [0.2]]))), 6)
    0.03775
    """
    statistic, df = _t(units, shift)
    return min(1.0, 2 * t_tail(abs(statistic), df))


def _t(units: Differences, shift: float) -> tuple[float, float]:
    """Return the t statistic of the mean less ``shift``, 0 where nothing varies, and degrees of freedom."""
    mean, (error, df) = float(units.mean[0]) - shift, units.robust_error()
    if abs(mean) * len(units) <= units.rounding or error[0] == 0:
        return 0.0 if not np.isnan(error[0]) else math.nan, df
    return mean / float(error[0]), df


def tost(units: Differences, margin: float) -> tuple[float, float]:
    """Return p of two one-sided t-tests (Schuirmann 1987): not inferior, and not superior, by a margin.

    The first is small where the mean is above ``-margin`` (non-inferiority), the second where it is below
    ``margin``; the larger of the two is p of equivalence.

    Examples
    --------
    >>> from rankstone.stats.units import Units
    >>> low, high = tost(Units.of(np.array([[0.01], [-0.01], [0.02], [0.0]])), 0.05)
    >>> max(low, high) < 0.01
    True
    """
    if not margin > 0:
        raise BadOption(
            f"margin={margin!r} is no margin", expected="a difference above 0 that does not matter"
        )
    (low, df), (high, _) = _t(units, -margin), _t(units, margin)
    return t_tail(low, df), t_tail(-high, df)


def _per_query(units: Units) -> Floats:
    """Return one mean difference for each unit that counts, what is only rounding as 0."""
    some = units.size > 0
    means: Floats = units.total[some, 0] / units.size[some]
    return np.where(np.abs(means) <= tolerance(means) / max(len(means), 1), 0.0, means)


def wilcoxon(units: Units) -> float:
    """Return two-sided p of Wilcoxon's signed-rank test (1945); differences of 0 are left out.

    It asks about the median of averages of two differences, not about the mean.

    Examples
    --------
    >>> from rankstone.stats.units import Units
    >>> wilcoxon(Units.of(np.array([[0.1], [0.2], [0.3], [-0.4], [0.5]])))
    0.4375
    """
    from scipy import stats

    differences = _per_query(units)
    if not differences.any():
        return 1.0
    return float(stats.wilcoxon(differences).pvalue)


def sign_test(units: Units) -> float:
    """Return two-sided p of the sign test: wins and losses as tosses of a coin, ties left out.

    Examples
    --------
    >>> from rankstone.stats.units import Units
    >>> sign_test(Units.of(np.array([[0.1], [0.2], [0.3], [0.0]])))
    0.25
    """
    differences = _per_query(units)
    return _coin(int((differences > 0).sum()), int((differences < 0).sum()))


def _coin(wins: int, losses: int) -> float:
    from scipy import special

    n = wins + losses
    return 1.0 if not n else min(1.0, 2 * float(special.bdtr(min(wins, losses), n, 0.5)))


def mcnemar(units: Units) -> float:
    """Return two-sided p of McNemar's exact test (1947), for measures that are 0 or 1: success or not.

    Raises
    ------
    BadOption
        When a difference is neither -1, 0 nor 1.

    Examples
    --------
    >>> from rankstone.stats.units import Units
    >>> mcnemar(Units.of(np.array([[1.0], [1.0], [1.0], [0.0], [-1.0]])))
    0.625
    """
    differences = _per_query(units)
    if not np.isin(differences, (-1.0, 0.0, 1.0)).all():
        raise BadOption(
            "McNemar's test is for measures that are 0 or 1",
            given=f"a difference of {differences[~np.isin(differences, (-1.0, 0.0, 1.0))][0]:g}",
            expected="Success@k, or another test",
        )
    return _coin(int((differences > 0).sum()), int((differences < 0).sum()))


#: tests without a random number, by name
PAIRED: Final[dict[str, Callable[[Units], float]]] = {
    "t": paired_t,
    "wilcoxon": wilcoxon,
    "sign": sign_test,
    "mcnemar": mcnemar,
}
