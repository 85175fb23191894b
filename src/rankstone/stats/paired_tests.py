"""Tests of paired scores: randomisation, t, Wilcoxon, sign, McNemar, and equivalence by two t-tests.

The paired randomisation test: the probability of a difference as large under the null hypothesis.

Fisher's test (The Design of Experiments, 1935): if systems do not differ, the sign of each query's
difference is random.  With few queries, all sign patterns are counted; with many, a sample that includes the
observed one, so that no p is 0 (Phipson and Smyth 2010).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from rankstone.errors import BadOption
from rankstone.stats.random_streams import in_blocks, raw, tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Floats, Ints
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
    >>> from rankstone.stats.sampling_units import Units
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


def paired_ts(units: Units) -> Floats:
    """Return p of :func:`paired_t` for each column, float64 ``[columns]``; 1 where a single unit gives none.

    >>> from rankstone.stats.sampling_units import Units
    >>> paired_ts(Units.of(np.array([[0.1, 0.0], [0.2, 0.0], [0.2, 0.0]]))).round(6).tolist()
    [0.03775, 1.0]
    """
    from scipy import special

    mean, (error, df) = units.mean, units.robust_error()
    some = (np.abs(mean) * len(units) > units.roundings) & (error > 0)
    statistic = np.divide(np.abs(mean), error, out=np.zeros(len(mean)), where=some)
    return np.where(some, np.minimum(1.0, 2 * special.stdtr(df, -statistic)), 1.0)


def tost(units: Differences, margin: float) -> tuple[float, float]:
    """Return p of two one-sided t-tests (Schuirmann 1987): not inferior, and not superior, by a margin.

    The first is small where the mean is above ``-margin`` (non-inferiority), the second where it is below
    ``margin``; the larger of the two is p of equivalence.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
    >>> low, high = tost(Units.of(np.array([[0.01], [-0.01], [0.02], [0.0]])), 0.05)
    >>> max(low, high) < 0.01
    True
    """
    if not margin > 0:
        raise BadOption(
            f"margin={margin!r} is not a margin",
            expected="a difference above 0 that is too small to matter",
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

    Its hypothesis is about the median of averages of two differences, not about the mean.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
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
    >>> from rankstone.stats.sampling_units import Units
    >>> sign_test(Units.of(np.array([[0.1], [0.2], [0.3], [0.0]])))
    0.25
    """
    from scipy import special

    differences = _per_query(units)
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return min(1.0, 2 * float(special.bdtr(min(wins, losses), wins + losses, 0.5)))


def mcnemar(units: Units) -> float:
    """Return two-sided p of McNemar's exact test (1947), for measures that are 0 or 1: success or not.

    Raises
    ------
    BadOption
        When a difference is neither -1, 0 nor 1.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
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
    return sign_test(units)


#: tests without a random number, by name
PAIRED: Final[dict[str, Callable[[Units], float]]] = {
    "t": paired_t,
    "wilcoxon": wilcoxon,
    "sign": sign_test,
    "mcnemar": mcnemar,
}

#: up to so many differences other than 0, all ways their signs can fall are looked at
EXACT_UP_TO: Final = 20
#: flips of one block; flips and pairs that are compared at a time: what a processor's cache holds
_BLOCK, _CACHED, _TOGETHER = 4096, 1024, 64
#: sums of so many bits, and differences of two of them, are exact as int64
_SUM_BITS: Final = 62
#: random flips of a byte: eight differences' signs at once
_SIGNS: Final = (
    1
    - 2
    * np.unpackbits(
        np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"
    ).astype(np.int64)
).T


@dataclass(frozen=True, slots=True)
class SignFlips:
    """The result of the test.

    Attributes
    ----------
    p
        Two-sided, in (0, 1].
    exact
        Whether every way the signs can fall was looked at.
    flips
        How many ways were looked at.
    """

    p: float
    exact: bool
    flips: int


def sign_flips(
    differences: Floats,
    *,
    pairs: Ints | None = None,
    flips: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[SignFlips]:
    """Test whether the mean of differences is 0, for each of several columns.

    Parameters
    ----------
    differences
        float64 ``[units, columns]``, without NaN: for each unit the sum of its queries' differences.
    pairs
        int64 ``[pairs, 2]``: tests the first column less the second one of each pair instead; columns are
        sums of scores then.  All columns are flipped with the same signs, so a pair's flipped sum is the
        difference of two columns' flipped sums, and a pair costs a subtraction.
    flips
        How many random flips, where there are more than :data:`EXACT_UP_TO` differences other than 0.
    seed
        Makes p reproducible, bit by bit, on any number of threads.
    threads, progress
        As for :func:`~rankstone.stats.random_streams.in_blocks`.

    Returns
    -------
    list
        One :class:`SignFlips` a column or pair: ``p`` is the share of flips (the observed signs among them)
        whose sum is as far from 0 as the observed one.  Sums are of whole numbers; those that are nearer to
        each other than 1e-12 of the sum of absolute differences are equal.

    Examples
    --------
    Three of three queries better: of the 8 ways the signs can fall, 2 are as extreme.

    >>> sign_flips(np.array([[0.1], [0.2], [0.4]]))
    [SignFlips(p=0.25, exact=True, flips=8)]
    >>> sign_flips(np.array([[0.5, 0.4], [0.5, 0.3], [0.5, 0.1]]), pairs=np.array([[0, 1]]))[0].p
    0.25
    """
    units, columns = differences.shape
    largest = np.abs(differences).max(axis=0, initial=0.0)
    if pairs is None:  # every column with one of zeros, and on a scale of its own
        pairs = np.stack([np.arange(columns), np.full(columns, columns)], axis=1)
        differences, largest = (
            np.column_stack([differences, np.zeros(units)]),
            np.append(largest, 0.0),
        )
    else:
        largest[:] = largest.max(initial=0.0)
    bits = np.where(
        largest > 0, _SUM_BITS - np.frexp(largest * max(units, 1))[1], 0
    ).astype(np.int32)
    whole = np.rint(np.ldexp(differences, bits)).astype(np.int64)
    found: dict[int, SignFlips] = {}
    left = []
    for at, (one, other) in enumerate(pairs):
        between = differences[:, one] - differences[:, other]
        exact = _exact(between[between != 0])
        if exact is None:
            # twice the units: rounding of both columns to whole numbers
            slack = (
                math.ceil(math.ldexp(tolerance(between), int(bits[one]))) + 2 * units
            )
            left.append(
                (
                    at,
                    one,
                    other,
                    abs(int((whole[:, one] - whole[:, other]).sum())) - slack,
                )
            )
        else:
            found[at] = exact
    if left:
        work = _as_extreme(whole, np.array(left), flips, seed)
        counts = sum(
            in_blocks(work, -(-flips // _BLOCK), threads, progress),
            np.zeros(len(left), np.int64),
        )
        found |= {
            at: SignFlips((1 + int(count)) / (1 + flips), exact=False, flips=flips)
            for (at, *_), count in zip(left, counts, strict=True)
        }
    return [found[at] for at in range(len(pairs))]


def _exact(differences: Floats) -> SignFlips | None:
    """Look at every way the signs can fall; ``None`` where there are too many.

    Ways of one half are sorted, and each way of the other half finds by search how many go with it.
    """
    if len(differences) > EXACT_UP_TO:
        return None
    least = abs(differences.sum()) - tolerance(differences)
    middle = len(differences) // 2
    few, rest = (
        np.sort(_every_sum(differences[:middle])),
        _every_sum(differences[middle:]),
    )
    between = np.searchsorted(few, least - rest) - np.searchsorted(
        few, -least - rest, side="right"
    )
    ways = 2 ** len(differences)
    return SignFlips(
        1 - int(np.maximum(between, 0).sum()) / ways, exact=True, flips=ways
    )


def _every_sum(differences: Floats) -> Floats:
    """Return the sums of all ways the signs can fall."""
    sums = np.zeros(1)
    for one in differences:
        sums = np.concatenate([sums + one, sums - one])
    return sums


def _as_extreme(
    whole: Ints, pairs: Ints, flips: int, seed: int
) -> Callable[[int], Ints]:
    """Return what counts, in a block of random flips, those as far from 0 as a limit, int64 ``[pairs]``.

    Eight units share a byte of random signs, so their sum is one of 256.

    Parameters
    ----------
    whole
        int64 ``[units, columns]``.
    pairs
        int64 ``[pairs, 4]``: a number, the columns of a difference, the limit of its sum.
    flips, seed
        How many there are in all blocks, and their seed.
    """
    units, columns = whole.shape
    groups = -(-units // 8)
    padded = np.zeros((groups * 8, columns), np.int64)
    padded[:units] = whole
    parts = np.ascontiguousarray(padded.T.reshape(columns, groups, 8).swapaxes(0, 1))
    _, one, other, least = pairs.T
    order = np.argsort(other, kind="stable")
    same = np.split(order, np.flatnonzero(np.diff(other[order])) + 1)
    some = [
        part[at : at + _TOGETHER]
        for part in same
        for at in range(0, len(part), _TOGETHER)
    ]

    def block(number: int) -> Ints:
        size = min(_BLOCK, flips - number * _BLOCK)
        signs = (
            raw(seed, number, size=groups * _BLOCK // 8)
            .view(np.uint8)
            .reshape(groups, _BLOCK)
        )
        found = np.zeros((columns, size), np.int64)
        for group in range(groups):
            found += (parts[group] @ _SIGNS).take(signs[group, :size], axis=1)
        counts = np.zeros(len(pairs), np.int64)
        for places in some:
            for begin in range(0, size, _CACHED):
                now = found[one[places], begin : begin + _CACHED]
                now -= found[other[places[0]], begin : begin + _CACHED]
                np.abs(now, out=now)
                counts[places] += (now >= least[places, None]).sum(
                    axis=1, dtype=np.int32
                )
        return counts

    return block
