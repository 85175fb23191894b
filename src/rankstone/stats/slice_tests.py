"""Tests of many slices at once: groups of units whose values are lower or higher than elsewhere.

Slices overlap, and the largest of a thousand gaps is large by chance alone.  So each gap is held against the
largest gap of all slices in permuted data (Westfall and Young 1993), which keeps the chance of a single false
slice at the level.  Gaps are studentised by the variances of both sides, which permutations need where slices
differ in variance (Janssen 1997), with the common variance as a weak prior, since ten values show little of
their variance; quantiles of t become those of a normal distribution (Wallace 1959), so that small slices do
not decide what is large.  The level is shared among slices in proportion to their units (weights of
Genovese, Roeder and Wasserman 2006): small slices, of which there are many, can show only large gaps anyway.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.random_streams import Whole, in_blocks, raw, tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Bools, Floats, Ints, Progress


#: values that the common variance counts for in the variance of a slice
_PRIOR: Final = 10
#: how often the excess of gaps that are found is taken off: so that the mean is that of true gaps in simulation
_TIMES: Final = 5
#: permutations of a block, and members of slices that are turned into numbers at a time
_BLOCK = 64
_CHUNK = 1 << 23
#: names the stream of random numbers of these tests
_STREAM: Final = 0x736C6963


class SliceTests(Record):
    """The gaps of slices, and what is known of all of them together.

    Attributes
    ----------
    gap
        The mean of each slice less the mean of all other units; less 0 in tests against zero; float64
        ``[slices]``.
    error
        Their standard errors.
    df
        Their degrees of freedom.
    z
        The studentised gaps, on the scale of the standard normal distribution.
    evidence
        What slices are ordered by: ``z² / 2`` plus the logarithm of their share of the units.
    p
        Adjusted p-values: the chance that any slice has such evidence if none differs.
    critical
        The evidence that is exceeded by any slice with the chance of the level.
    """

    gap: Floats
    error: Floats
    df: Floats
    z: Floats
    evidence: Floats
    p: Floats
    critical: float

    @property
    def critical_z(self) -> Floats:
        """The z of each slice that has the critical evidence."""
        return critical_z(self.critical, self.evidence - self.z**2 / 2)

    def kept(self) -> Floats:
        """Return the share of gaps that is left without what being found adds; NaN where not found.

        Only gaps whose evidence is above the critical one are found, so they are larger on the average than
        the true ones (winner's curse).  The excess is that of a truncated normal distribution, first around
        what is observed, then around what that leaves (Zöllner and Pritchard, Am. J. Human Genetics 80,
        2007, solve for the mean; one seldom knows it so well, and taking off all would be too much).
        """
        from scipy import special

        size = np.abs(self.z)
        critical = self.critical_z
        found = self.evidence > self.critical
        known = np.where(found, size, np.nan)
        for _ in range(_TIMES):
            above = known - critical
            excess = np.exp(-above * above / 2) / special.ndtr(above)
            excess /= np.sqrt(2 * np.pi)
            known = np.maximum(size - excess, 0.0)
        share: Floats = known / np.maximum(size, 1e-300)
        return share

    def reach(self) -> Floats:
        """Return half the width of the simultaneous intervals, float64 ``[slices]``."""
        root = self.critical_z * (8 * self.df + 3) / (8 * self.df + 1)
        found: Floats = self.error * np.sqrt(self.df * np.expm1(root * root / self.df))
        return found


class Gaps(Record):
    """Slices of the same units, and what their statistics need.

    Attributes
    ----------
    members
        Bool ``[units, slices]``; every slice has two members or more, and two units outside.
    zero
        True for gaps from zero, False from the mean of all other units.
    cluster
        int64 ``[units]`` from 0: units that are not independent; ``None`` if all are.
    """

    members: Bools
    zero: bool = False
    cluster: Ints | None = None

    def statistics(self, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return gap, standard error, degrees of freedom and z of each slice."""
        sums, squares = (
            self.summed(part[None])[0] for part in (values, values * values)
        )
        gap, *parts = self._moments(sums, squares, values)
        if self.cluster is None:
            error, df = parts
        else:
            own = np.concatenate(
                [(part**2).sum(axis=0) for part in self._contributions(values)]
            )
            clusters = self.cluster.max() + 1
            error = np.sqrt(own * clusters / (clusters - 1))
            df = np.full(len(gap), clusters - 1.0)
        return gap, error, df, _normal(gap, error, df)

    @cached_property
    def log_share(self) -> Floats:
        """The logarithm of the share of units of each slice, or of what is outside if that is less."""
        share = self.members.mean(axis=0)
        found: Floats = np.log(np.minimum(share, 1 - share))
        return found

    def largest(
        self,
        values: Floats,
        permutations: int,
        seed: int,
        progress: Progress | None = None,
    ) -> Floats:
        """Return the largest evidence of all slices in each permutation, float64 ``[permutations]``.

        Values change places between units; against zero, or where units are in clusters, their signs change
        instead, those of a cluster together.
        """
        centred = values - (0.0 if self.zero else values.mean())
        work = (
            self._flipped if self.zero or self.cluster is not None else self._permuted
        )
        blocks = -(-permutations // _BLOCK)
        sizes = [min(_BLOCK, permutations - at * _BLOCK) for at in range(blocks)]
        each = work(centred, seed)
        return np.concatenate(
            list(in_blocks(lambda at: each(at, sizes[at]), blocks, progress=progress))
        )

    def _permuted(self, values: Floats, seed: int) -> Callable[[int, int], Floats]:
        """Return what draws a block of permutations."""
        whole = Whole.of(np.stack([values, values * values], axis=1))

        def draw(block: int, count: int) -> Floats:
            bits = raw(seed, _STREAM, block, size=count * len(values)).reshape(
                count, -1
            )
            order = np.argsort(bits, axis=1)
            sums, squares = (
                np.ldexp(self.summed(column[order]), -bit)
                for column, bit in zip(whole.whole.T, whole.bits.tolist(), strict=True)
            )
            gap, error, df = self._moments(sums, squares, values)
            most: Floats = (_normal(gap, error, df) ** 2 / 2 + self.log_share).max(
                axis=-1
            )
            return most

        return draw

    def _flipped(self, values: Floats, seed: int) -> Callable[[int, int], Floats]:
        """Return what draws a block of sign flips of clusters."""
        clusters = len(values) if self.cluster is None else int(self.cluster.max()) + 1

        def draw(block: int, count: int) -> Floats:
            bits = raw(seed, _STREAM, block, size=count * clusters).reshape(count, -1)
            signs = np.where(bits >> np.uint64(63), 1.0, -1.0)
            most = np.full(count, -np.inf)
            for at, part in zip(
                self._chunks(), self._contributions(values), strict=True
            ):
                gap = signs @ part
                own = (part**2).sum(axis=0)
                spread = (
                    np.maximum(own - gap * gap / clusters, 1e-300)
                    * clusters
                    / (clusters - 1)
                )
                z = _normal(gap, np.sqrt(spread), np.full(1, clusters - 1.0))
                np.maximum(most, (z**2 / 2 + self.log_share[at]).max(axis=1), out=most)
            return most

        return draw

    def _chunks(self) -> list[slice]:
        units, slices = self.members.shape
        each = max(1, _CHUNK // units)
        return [slice(at, at + each) for at in range(0, slices, each)]

    def summed(self, values: Floats) -> Floats:
        """Return the sums of members, float64 ``[…, slices]``."""
        return np.concatenate(
            [
                values @ self.members[:, part].astype(np.float64)
                for part in self._chunks()
            ],
            axis=-1,
        )

    def _contributions(self, values: Floats) -> list[Floats]:
        """Return what each cluster adds to the gaps of some slices, float64 ``[clusters, slices]``."""
        found = []
        for part in self._chunks():
            inside = self.members[:, part].astype(np.float64)
            size = inside.sum(axis=0)
            each = values[:, None] * (inside / size)
            if not self.zero:
                each -= values[:, None] * ((1 - inside) / (len(values) - size))
            if self.cluster is not None:
                order = np.argsort(self.cluster, kind="stable")
                begins = np.searchsorted(
                    self.cluster[order], np.arange(self.cluster.max() + 1)
                )
                each = np.add.reduceat(each[order], begins, axis=0)
            found.append(each)
        return found

    def _moments(
        self, sums: Floats, squares: Floats, values: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return gap, standard error and degrees of freedom of each slice (Welch 1947)."""
        n = len(values)
        size = self.members.sum(axis=0)
        total = values.sum()
        every = (values * values).sum()
        mean = sums / size
        common = max(every - total * total / n, 0.0) / (
            n - 1
        )  # rounding can leave less
        held = self.zero
        other = n - size
        rest = np.zeros_like(mean) if held else (total - sums) / other
        # means are subtracted, so rounding can leave less than nothing
        inside = np.maximum(squares - sums * mean, 0.0)
        inside = (_PRIOR * common + inside) / (_PRIOR + size - 1) / size
        if held:
            return (
                mean,
                np.sqrt(inside),
                np.broadcast_to(_PRIOR + size - 1.0, mean.shape),
            )
        outside = np.maximum(every - squares - (total - sums) * rest, 0.0)
        outside = (_PRIOR * common + outside) / (_PRIOR + other - 1) / other
        both = inside + outside
        with np.errstate(invalid="ignore", divide="ignore"):
            df = both**2 / (
                inside**2 / (_PRIOR + size - 1) + outside**2 / (_PRIOR + other - 1)
            )
        return mean - rest, np.sqrt(both), np.where(both > 0, df, n - 1.0)


def _normal(gap: Floats, error: Floats, df: Floats) -> Floats:
    """Return the normal deviate of a t-value (Wallace 1959, within .02 from five degrees of freedom on)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        squared = np.where(gap == 0, 0.0, (gap / error) ** 2)
    found: Floats = (
        np.sign(gap)
        * (8 * df + 1)
        / (8 * df + 3)
        * np.sqrt(df * np.log1p(squared / df))
    )
    return found


def slice_tests(
    values: Floats,
    gaps: Gaps,
    *,
    confidence: float = 0.95,
    permutations: int = 2000,
    seed: int = 0,
    progress: Progress | None = None,
) -> SliceTests:
    """Test whether the values of slices differ from those of all other units, or from zero.

    Parameters
    ----------
    values
        float64 ``[units]``: differences of two systems, or scores of one.
    gaps
        The slices.
    confidence
        1 less the chance that any slice is found if none differs.
    permutations
        How many are drawn.
    seed
        Makes the result reproducible, on any number of threads.
    progress
        Called with 1 after every block of permutations.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> members = rng.random((500, 40)) < 0.2
    >>> found = slice_tests(rng.normal(0, 0.1, 500) - 0.1 * members[:, 7], Gaps(members))
    >>> int(found.z.argmin()), bool(found.p[7] < 0.05)
    (7, True)
    """
    if not gaps.zero and np.ptp(values) <= tolerance(values):
        values = np.zeros_like(values)  # rounding is no gap
    gap, error, df, z = gaps.statistics(values)
    largest = np.sort(gaps.largest(values, permutations, seed, progress))
    # equal gaps of permuted data count as large, whatever the rounding of their sums
    evidence = z**2 / 2 + gaps.log_share
    reached = permutations - np.searchsorted(largest, evidence - 1e-9)
    place = min(int(np.ceil(confidence * (permutations + 1))), permutations) - 1
    return SliceTests(
        gap,
        error,
        df,
        z,
        evidence,
        (1 + reached) / (permutations + 1),
        float(largest[place]),
    )


def critical_z(critical: float, log_share: Floats) -> Floats:
    """Return the normal deviate that has this evidence in slices of some share of the units."""
    return np.sqrt(np.maximum(2 * (critical - log_share), 1e-12))
