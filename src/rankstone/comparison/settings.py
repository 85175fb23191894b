"""How systems are compared: the settings of tests, intervals and families."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, TypedDict

from rankstone.comparison.families import PROCEDURES
from rankstone.errors import BadOption, one_of
from rankstone.stats.mean_intervals import METHODS
from rankstone.stats.multiple_testing import CORRECTIONS
from rankstone.stats.paired_tests import PAIRED
from rankstone.stats.random_streams import check_count

#: tests of one pair
TESTS: Final = ("randomisation", *PAIRED)


#: corrections, and procedures for all pairs at once
FAMILIES: Final = (*PROCEDURES, *CORRECTIONS)


_MOST: Final = 10_000_000


#: most random numbers by default
_WORK: Final = 10**9


_RESAMPLED: Final = 10**8


class SettingsKeywords(TypedDict, total=False):
    """The fields of :class:`ComparisonSettings` as keyword arguments."""

    test: str
    interval: str
    correction: str | None
    confidence: float
    margin: float | None
    rope: float | None
    power: float
    permutations: int | None
    resamples: int | None
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSettings:
    """The settings of a comparison.

    Parameters
    ----------
    test
        The test of one pair: ``randomisation`` (signs of differences are flipped; exact up to 20 queries that
        differ), ``t``, ``wilcoxon``, ``sign`` or ``mcnemar`` (for measures that are 0 or 1).
    interval
        ``test``: the differences that the test does not reject, so p, interval and verdict agree; with a
        margin, what is said about losses follows ``auto``.  ``auto``: limits that are valid for few queries,
        for measures of 0 and 1 and if few queries differ (see ``automatic_intervals``); ``worst_case``:
        limits that are valid for any distribution; ``t``, ``bca``, ``percentile``, ``studentised`` or
        ``poisson``.
    correction
        The correction of a family: ``holm``, ``bonferroni``, ``holm_sidak``, ``sidak``, ``hochberg``,
        ``hommel``, ``bh``, ``by``, ``none``; ``flipped_max_t`` (the largest t of the compared pairs by sign
        flips); for all pairs ``robust_tukey`` (randomised Tukey and the largest t by sign flips, where both
        are significant), ``tukey`` (randomised), ``max_t`` (bootstrap), ``hsd`` (Tukey's, by the studentised
        range) or ``nemenyi`` (of mean ranks).  ``None``: ``flipped_max_t`` for the randomisation test with
        its own intervals, with other intervals ``robust_tukey`` for all pairs of more than two systems;
        ``holm`` otherwise.
    confidence
        The confidence of a family as a whole; 1 less alpha.
    margin
        A difference that is too small to matter; with it, systems can be equivalent.
    rope
        Half the width of a region of practical equivalence: adds the probabilities that a difference is
        worse, equivalent or better (Benavoli and others 2014), see
        :meth:`~rankstone.comparison.comparison_result.Comparison.practical_probability`.
    power
        The power for which detectable differences and numbers of queries are computed.
    permutations, resamples
        How many are drawn; ``None``: 100,000 and 10,000, fewer with very many queries.
    seed
        Makes all results reproducible to the last bit, on any number of threads.
    """

    test: str = "randomisation"
    interval: str = "test"
    correction: str | None = None
    confidence: float = 0.95
    margin: float | None = None
    rope: float | None = None
    power: float = 0.8
    permutations: int | None = None
    resamples: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that are not valid."""
        one_of("test", self.test, TESTS)
        one_of("interval", self.interval, ("test", *METHODS))
        if self.correction is not None:
            one_of("correction", self.correction, FAMILIES)
        for name in ("confidence", "power"):
            value = getattr(self, name)
            least = self.alpha if name == "power" else 0.0
            if not (_is_number(value) and least < value < 1):
                raise BadOption(
                    f"{name}={value!r} is out of range",
                    expected=f"{least:g} < {name} < 1",
                )
        for name in ("margin", "rope"):
            value = getattr(self, name)
            if value is not None and not (
                _is_number(value) and 0 < value < float("inf")
            ):
                raise BadOption(
                    f"{name}={value!r} is out of range",
                    expected="a difference above 0 that is too small to matter",
                )
        for name in ("permutations", "resamples"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), 1, _MOST)
        check_count("seed", self.seed, 0, 2**63 - 1)

    @property
    def alpha(self) -> float:
        """The family-wise error rate."""
        return round(1 - self.confidence, 12)

    def shuffles(self, numbers: int) -> int:
        """Return how many permutations of this many numbers are drawn."""
        if self.permutations is not None:
            return self.permutations
        return min(100_000, max(1_000, _WORK // max(numbers, 1)))

    def draws(self, units: int) -> int:
        """Return how many resamples of this many units are drawn."""
        return self.resamples or min(10_000, max(1_000, _RESAMPLED // max(units, 1)))

    def as_dict(self) -> dict[str, Any]:
        """Return the settings by name."""
        return asdict(self)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
