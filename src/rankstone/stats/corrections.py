"""Several questions at once: p-values corrected for the family, and the level its intervals have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadOption, BadValue, nearest, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["CORRECTIONS", "adjusted", "family_level"]

#: correction → who, and what it holds
CORRECTIONS: Final = {
    "holm": "Holm 1979: the chance of any false claim, whatever the dependence",
    "bonferroni": "Bonferroni (Dunn 1961): the same, in one step",
    "hochberg": "Hochberg 1988: the same, for p-values that are independent or positively dependent",
    "bh": "Benjamini and Hochberg 1995: the share of false claims among all claims",
    "by": "Benjamini and Yekutieli 2001: the same, whatever the dependence",
    "none": "no correction",
}


def adjusted(p: Sequence[float] | Floats, correction: str = "holm") -> Floats:
    """Return p-values corrected for being several.

    Parameters
    ----------
    p
        float64 ``[questions]``, between 0 and 1.
    correction
        One of :data:`CORRECTIONS`.

    Returns
    -------
    NDArray
        float64 ``[questions]``: a claim may be made where this is at most alpha.

    Raises
    ------
    BadValue
        When a p-value is missing or not between 0 and 1, or when they are not one row of numbers.
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
    if correction == "bonferroni":
        return np.minimum(values * n, 1.0)
    if correction in ("bh", "by"):
        from scipy import stats

        found: Floats = stats.false_discovery_control(values, method=correction)
        return found
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(n, 0, -1)
    stepped = (
        np.maximum.accumulate(scaled) if correction == "holm" else np.minimum.accumulate(scaled[::-1])[::-1]
    )
    result = np.empty(n)
    result[order] = np.minimum(stepped, 1.0)
    return result


def family_level(p: Sequence[float] | Floats, correction: str = "holm", alpha: float = 0.05) -> float:
    """Return the level of each interval of a family: it excludes 0 where the claim stands.

    All intervals of a family have one level, that at which the procedure stopped.  With m questions and r
    claims: Bonferroni alpha/m; Holm and Hochberg alpha/(m - r), alpha where all are claimed; BH
    (r + 1)·alpha/m, at most alpha, nearly the false coverage level of Benjamini and Yekutieli (2005); BY the
    same over the sum of 1/i.

    Examples
    --------
    >>> family_level([0.001, 0.2], "holm"), family_level([0.3, 0.2], "holm")
    (0.05, 0.025)
    """
    corrected = adjusted(p, correction)
    m, claims = len(corrected), int((corrected <= alpha).sum())
    if correction == "none" or not m:
        return alpha
    if correction == "bonferroni":
        return alpha / m
    if correction in ("holm", "hochberg"):
        return alpha / max(m - claims, 1)
    share = alpha * min(claims + 1, m) / m
    return share if correction == "bh" else share / float((1.0 / np.arange(1, m + 1)).sum())


def _p_values(p: Sequence[float] | Floats) -> Floats:
    """Return p-values as an array; refuse what is none."""
    try:
        values = np.asarray(p, np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1:
        raise BadValue(
            "p-values are no row of numbers", given=printable(repr(p), 60), expected="[0.01, 0.2, …]"
        )
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))  # a NaN is neither
    if len(bad):
        raise BadValue(
            f"p[{bad[0]}] is no p-value" + (f", and {len(bad) - 1} more" if len(bad) > 1 else ""),
            given=f"{values[bad[0]]:.6g}",
            expected="numbers between 0 and 1; a question without an answer has no place in the family",
            fix="leave it out: adjusted([x for x in p if x == x])" if np.isnan(values[bad]).all() else None,
        )
    return values


def _check(correction: str) -> None:
    if correction not in CORRECTIONS:
        close = nearest(correction, CORRECTIONS, n=1)
        raise BadOption(
            f"there is no correction {correction!r}",
            expected=", ".join(CORRECTIONS),
            fix=f"did you mean {close[0]!r}?" if close else None,
        )
