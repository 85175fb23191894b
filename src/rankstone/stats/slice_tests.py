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
from rankstone.stats.exact_sums import Whole, tolerance
from rankstone.stats.parallel_blocks import in_slices
from rankstone.stats.random_streams import raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Bools, Floats, Ints, Progress


#: values that the common variance counts for in the variance of a slice
_PRIOR: Final = 10
#: how often the excess of gaps that are found is taken off: so that the mean is that of true gaps in simulation
_TIMES: Final = 5
#: permutations of a block
_BLOCK: Final = 64
#: members of slices that are turned into numbers at a time
_CHUNK: Final = 1 << 23
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
        kept = np.where(self.evidence > self.critical, size, np.nan)
        for _ in range(_TIMES):
            above = kept - critical
            excess = np.exp(-above * above / 2) / special.ndtr(above)
            excess /= np.sqrt(2 * np.pi)
            kept = np.maximum(size - excess, 0.0)
        return kept / np.maximum(size, 1e-300)

    def reach(self) -> Floats:
        """Return half the width of the simultaneous intervals, float64 ``[slices]``."""
        root = self.critical_z * (8 * self.df + 3) / (8 * self.df + 1)
        squared_t = self.df * np.expm1(root * root / self.df)
        return self.error * np.sqrt(squared_t)


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
        sums = self.summed(values[None])[0]
        squares = self.summed((values * values)[None])[0]
        gap, error, df = self._moments(sums, squares, values)
        if self.cluster is not None:
            parts = [(part**2).sum(axis=0) for part in self._contributions(values)]
            clusters = self.cluster.max() + 1
            error = np.sqrt(np.concatenate(parts) * clusters / (clusters - 1))
            df = np.full(len(gap), clusters - 1.0)
        return gap, error, df, _normal_deviate(gap, error, df)

    @cached_property
    def log_share(self) -> Floats:
        """The logarithm of the share of units of each slice, or of what is outside if that is less."""
        share = self.members.mean(axis=0)
        logarithm: Floats = np.log(np.minimum(share, 1 - share))
        return logarithm

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
        if not self.zero:
            values = values - values.mean()
        flips = self.zero or self.cluster is not None
        draw = self._flipped if flips else self._permuted
        work = draw(values, seed)
        blocks = in_slices(work, permutations, _BLOCK, progress=progress)
        return np.concatenate(list(blocks))

    def _permuted(self, values: Floats, seed: int) -> Callable[[int, range], Floats]:
        """Return what draws a block of permutations."""
        whole = Whole.from_values(np.stack([values, values * values], axis=1))
        columns = list(zip(whole.whole.T, whole.bits.tolist(), strict=True))

        def largest(block: int, places: range) -> Floats:
            count = len(places)
            bits = raw(seed, _STREAM, block, size=count * len(values))
            order = np.argsort(bits.reshape(count, -1), axis=1)
            sums, squares = (
                np.ldexp(self.summed(column[order]), -scale)
                for column, scale in columns
            )
            gap, error, df = self._moments(sums, squares, values)
            z = _normal_deviate(gap, error, df)
            evidence: Floats = (z**2 / 2 + self.log_share).max(axis=-1)
            return evidence

        return largest

    def _flipped(self, values: Floats, seed: int) -> Callable[[int, range], Floats]:
        """Return what draws a block of sign flips of clusters."""
        clusters = len(values)
        if self.cluster is not None:
            clusters = int(self.cluster.max()) + 1
        df = np.full(1, clusters - 1.0)

        def largest(block: int, places: range) -> Floats:
            count = len(places)
            bits = raw(seed, _STREAM, block, size=count * clusters).reshape(count, -1)
            signs = np.where(bits >> np.uint64(63), 1.0, -1.0)
            largest_evidence = np.full(count, -np.inf)
            chunks = zip(self._chunks(), self._contributions(values), strict=True)
            for chunk, part in chunks:
                gap = signs @ part
                own = (part**2).sum(axis=0)
                rest = np.maximum(own - gap * gap / clusters, 1e-300)
                error = np.sqrt(rest * clusters / (clusters - 1))
                z = _normal_deviate(gap, error, df)
                evidence = (z**2 / 2 + self.log_share[chunk]).max(axis=1)
                np.maximum(largest_evidence, evidence, out=largest_evidence)
            return largest_evidence

        return largest

    def _chunks(self) -> list[slice]:
        units, slices = self.members.shape
        size = max(1, _CHUNK // units)
        return [slice(begin, begin + size) for begin in range(0, slices, size)]

    def summed(self, values: Floats) -> Floats:
        """Return the sums of members, float64 ``[…, slices]``."""
        sums = []
        for chunk in self._chunks():
            members = self.members[:, chunk].astype(np.float64)
            sums.append(values @ members)
        return np.concatenate(sums, axis=-1)

    def _contributions(self, values: Floats) -> list[Floats]:
        """Return what each cluster adds to the gaps of each chunk of slices, float64 ``[clusters, slices]``."""
        column = values[:, None]
        contributions = []
        for chunk in self._chunks():
            inside = self.members[:, chunk].astype(np.float64)
            size = inside.sum(axis=0)
            part = column * (inside / size)
            if not self.zero:
                part -= column * ((1 - inside) / (len(values) - size))
            if self.cluster is not None:
                order = np.argsort(self.cluster, kind="stable")
                clusters = np.arange(self.cluster.max() + 1)
                begins = np.searchsorted(self.cluster[order], clusters)
                part = np.add.reduceat(part[order], begins, axis=0)
            contributions.append(part)
        return contributions

    def _moments(
        self, sums: Floats, squares: Floats, values: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return gap, standard error and degrees of freedom of each slice (Welch 1947)."""
        n = len(values)
        size: Floats = self.members.sum(axis=0, dtype=np.float64)
        total = values.sum()
        total_squares = (values * values).sum()
        mean = sums / size
        # means are subtracted, so rounding can leave less than nothing
        common = max(total_squares - total * total / n, 0.0) / (n - 1)
        scatter = np.maximum(squares - sums * mean, 0.0)
        inside, df = _with_prior(scatter, size, common)
        if self.zero:
            return mean, np.sqrt(inside), np.broadcast_to(df, mean.shape)

        other_size = n - size
        rest = total - sums
        other_mean = rest / other_size
        scatter = np.maximum(total_squares - squares - rest * other_mean, 0.0)
        outside, other_df = _with_prior(scatter, other_size, common)
        both = inside + outside
        with np.errstate(invalid="ignore", divide="ignore"):
            welch = both**2 / (inside**2 / df + outside**2 / other_df)
        return mean - other_mean, np.sqrt(both), np.where(both > 0, welch, n - 1.0)


def _with_prior(scatter: Floats, size: Floats, common: float) -> tuple[Floats, Floats]:
    """Return variances of means, to which a common variance is added, and degrees of freedom."""
    df = _PRIOR + size - 1
    return (_PRIOR * common + scatter) / df / size, df


def _normal_deviate(gap: Floats, error: Floats, df: Floats) -> Floats:
    """Return the normal deviate of a t-value (Wallace 1959, within .02 from five degrees of freedom on)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        squared_t = np.where(gap == 0, 0.0, (gap / error) ** 2)
    size = np.sqrt(df * np.log1p(squared_t / df))
    return np.sign(gap) * (8 * df + 1) / (8 * df + 3) * size


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
    >>> tests = slice_tests(rng.normal(0, 0.1, 500) - 0.1 * members[:, 7], Gaps(members))
    >>> int(tests.z.argmin()), bool(tests.p[7] < 0.05)
    (7, True)
    """
    if not gaps.zero and np.ptp(values) <= tolerance(values):
        values = np.zeros_like(values)  # rounding is no gap
    gap, error, df, z = gaps.statistics(values)
    largest = np.sort(gaps.largest(values, permutations, seed, progress))
    evidence = z**2 / 2 + gaps.log_share

    # equal gaps of permuted data count as large, whatever the rounding of their sums
    reached = permutations - np.searchsorted(largest, evidence - 1e-9)
    p = (1 + reached) / (permutations + 1)
    rank = min(int(np.ceil(confidence * (permutations + 1))), permutations)
    critical = float(largest[rank - 1])
    return SliceTests(gap, error, df, z, evidence, p, critical)


def critical_z(critical: float, log_share: Floats) -> Floats:
    """Return the normal deviate that has this evidence in slices of some share of the units."""
    return np.sqrt(np.maximum(2 * (critical - log_share), 1e-12))
