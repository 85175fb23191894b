"""Multiple testing: corrected p-values, and levels of intervals that agree with them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadOption, BadValue, did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats, Ints


#: correction → source, and what it controls
CORRECTIONS: Final = {
    "holm": "Holm 1979: the family-wise error rate, under any dependence",
    "bonferroni": "Bonferroni (Dunn 1961): the family-wise error rate, under any dependence, in one step",
    "holm_sidak": "Holm with Šidák's levels: the family-wise error rate, for p-values that are independent "
    "or positively dependent",
    "sidak": "Šidák 1967: the same as holm_sidak, in one step; also for p-values of two-sided t-tests",
    "hochberg": "Hochberg 1988: the family-wise error rate, for the same p-values as holm_sidak",
    "hommel": "Hommel 1988: the same as hochberg; never rejects fewer hypotheses",
    "bh": "Benjamini and Hochberg 1995: the false discovery rate, for the same p-values as holm_sidak",
    "by": "Benjamini and Yekutieli 2001: the false discovery rate, under any dependence",
    "none": "no correction",
}
#: corrections whose intervals are simultaneous
SIMULTANEOUS: Final = ("bonferroni", "sidak")


def adjusted(p: Sequence[float] | Floats, correction: str = "holm") -> Floats:
    """Return p-values corrected for multiple testing.

    Parameters
    ----------
    p
        float64 ``[tests]``, between 0 and 1.
    correction
        One of :data:`CORRECTIONS`.

    Returns
    -------
    NDArray
        float64 ``[tests]``: significant if at most alpha.

    Raises
    ------
    BadValue
        If a p-value is missing or not between 0 and 1, or p is not one-dimensional.
    BadOption
        When there is no such correction.

    Examples
    --------
    >>> adjusted([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    values = _p_values(p)
    _check(correction)
    n = len(values)
    if correction == "none" or not n:
        return values.copy()
    if correction in ("bh", "by"):
        from scipy import stats

        rates: Floats = stats.false_discovery_control(values, method=correction)
        return rates
    if correction == "bonferroni":
        return np.minimum(values * n, 1.0)
    if correction == "sidak":
        return _any_of(values, n)

    order = np.argsort(values, kind="stable")
    corrected = np.empty(n)
    corrected[order] = np.minimum(_stepped(values[order], correction), 1.0)
    return corrected


def _any_of(p: Floats, tests: int | Ints) -> Floats:
    """Return the chance that any of so many independent tests has a p as small."""
    with np.errstate(divide="ignore"):  # p = 1
        chance: Floats = -np.expm1(tests * np.log1p(-p))
    return chance


def _stepped(p: Floats, correction: str) -> Floats:
    """Return corrected p of p in ascending order, by procedures in steps."""
    tests_left = np.arange(len(p), 0, -1)
    if correction == "holm":
        return np.maximum.accumulate(p * tests_left)
    if correction == "holm_sidak":
        return np.maximum.accumulate(_any_of(p, tests_left))
    if correction == "hochberg":
        descending = (p * tests_left)[::-1]
        return np.minimum.accumulate(descending)[::-1]
    return _hommel(p)


def _hommel(p: Floats) -> Floats:
    """Return Hommel's corrected p: the largest p of Simes' test over all sets that contain the hypothesis.

    The worst set of a size consists of the hypothesis and the largest p of the others.
    """
    corrected = p.copy()
    for size in range(2, len(p) + 1):
        largest = p[-size:]
        others = (size * largest[1:] / np.arange(2, size + 1)).min()
        simes = np.minimum(size * np.minimum(p, largest[0]), others)
        np.maximum(corrected, simes, out=corrected)
    return corrected


def family_level(
    p: Sequence[float] | Floats, correction: str = "holm", alpha: float = 0.05
) -> float:
    """Return the level of each interval of a family: it excludes 0 if the hypothesis is rejected.

    All intervals of a family have one level, that at which the procedure stopped.  With m hypotheses, r of
    them rejected: Bonferroni alpha/m; Holm and Hochberg alpha/(m - r), alpha if all are rejected; Hommel
    alpha/j, j the largest number of hypotheses that Simes' test does not reject together; Šidák as Bonferroni
    and Holm, with 1 - (1 - alpha)^(1/i) in place of alpha/i; BH (r + 1)·alpha/m, at most alpha, nearly the
    false coverage level of Benjamini and Yekutieli (2005); BY the same over the sum of 1/i.

    Only Bonferroni's and Šidák's intervals (:data:`SIMULTANEOUS`) are simultaneous with confidence 1 - alpha.
    The others agree with the tests; each interval is pointwise with confidence 1 - level.

    Examples
    --------
    >>> family_level([0.001, 0.2], "holm"), family_level([0.3, 0.2], "holm")
    (0.05, 0.025)
    """
    corrected = adjusted(p, correction)
    m = len(corrected)
    claims = int((corrected <= alpha).sum())
    if correction == "none" or not m:
        return alpha
    if correction in ("bonferroni", "sidak"):
        return _level_of_each(alpha, m, correction)
    if correction in ("holm", "hochberg", "holm_sidak"):
        return _level_of_each(alpha, max(m - claims, 1), correction)
    if correction == "hommel":
        ascending = np.sort(np.asarray(p, np.float64))
        return alpha / max(_left_open(ascending, alpha), 1)

    level = alpha * min(claims + 1, m) / m
    if correction == "by":
        level /= float((1.0 / np.arange(1, m + 1)).sum())
    return level


def _level_of_each(alpha: float, tests: int, correction: str) -> float:
    """Return the level of each of so many tests."""
    if "sidak" in correction:
        return -math.expm1(math.log1p(-alpha) / tests)
    return alpha / tests


def _left_open(p: Floats, alpha: float) -> int:
    """Return how many of the largest p, in ascending order, Simes' test does not reject together, at most."""
    for size in range(len(p), 0, -1):
        if (p[-size:] * size > alpha * np.arange(1, size + 1)).all():
            return size
    return 0


def _p_values(p: Sequence[float] | Floats) -> Floats:
    """Return p-values as an array; refuse other values."""
    try:
        values = np.asarray(p, np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1:
        raise BadValue(
            "p-values are not a list of numbers",
            given=printable(repr(p), 60),
            expected="[0.01, 0.2, …]",
        )
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))  # a NaN is neither
    if len(bad):
        raise _not_p_values(values, bad)
    return values


def _not_p_values(values: Floats, bad: Ints) -> BadValue:
    """Return the refusal of values at some places."""
    first, *more = bad
    problem = f"p[{first}] is not a p-value"
    if more:
        problem += f", and {len(more)} more"
    fix = None
    if np.isnan(values[bad]).all():
        fix = "leave it out: adjusted([x for x in p if x == x])"
    return BadValue(
        problem,
        given=f"{values[first]:.6g}",
        expected="numbers between 0 and 1; a test without a p-value cannot be in the family",
        fix=fix,
    )


def _check(correction: str) -> None:
    if correction not in CORRECTIONS:
        raise BadOption(
            f"there is no correction {correction!r}",
            expected=", ".join(CORRECTIONS),
            fix=did_you_mean(correction, CORRECTIONS),
        )
