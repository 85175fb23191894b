"""What can be chosen about a comparison, with the defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from rankstone.comparing.all_pairs import ALL_PAIRS
from rankstone.errors import BadOption, nearest, printable
from rankstone.stats import CORRECTIONS, METHODS, PAIRED
from rankstone.stats.drawing import check_count

__all__ = ["FAMILIES", "TESTS", "How"]

#: tests of one pair
TESTS: Final = ("randomisation", *PAIRED)
#: corrections, and procedures that look at all pairs at once
FAMILIES: Final = (*ALL_PAIRS, *CORRECTIONS)
_MOST: Final = 10_000_000
#: numbers drawn at most, unless a count is asked for
_WORK: Final = 10**9
_RESAMPLED: Final = 10**8


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How systems are compared.

    Parameters
    ----------
    test
        Of one pair: ``randomisation`` (signs of differences flipped; exact up to 20 queries that differ),
        ``t``, ``wilcoxon``, ``sign`` or ``mcnemar`` (for measures that are 0 or 1).
    interval
        ``auto``: limits that hold for few queries, for measures of 0 and 1 and where few queries differ (see
        :mod:`rankstone.stats.automatic`); ``worst_case``: those that hold whatever was not seen; ``t``,
        ``bca``, ``percentile``, ``studentised`` or ``poisson``.
    correction
        Of a family: ``holm``, ``bonferroni``, ``holm_sidak``, ``sidak``, ``hochberg``, ``hommel``, ``bh``,
        ``by``, ``none``; for all pairs ``robust_tukey`` (randomised Tukey and the largest t by sign flips,
        where both claim), ``tukey`` (randomised), ``max_t`` (bootstrap), ``hsd`` (Tukey's, by
        the studentised range) or ``nemenyi`` (of mean ranks).  ``None``: ``robust_tukey`` for all pairs of
        more than two systems, ``holm`` otherwise.
    confidence
        Of a family as a whole; 1 less alpha.
    margin
        A difference that does not matter; with it systems can be equivalent.
    power
        With which chance detectable differences and numbers of queries are counted.
    permutations, resamples
        How many are drawn; ``None``: 100,000 and 10,000, fewer where there are very many queries.
    seed
        Makes every p and interval reproducible, bit by bit, on any number of threads.
    """

    test: str = "randomisation"
    interval: str = "auto"
    correction: str | None = None
    confidence: float = 0.95
    margin: float | None = None
    power: float = 0.8
    permutations: int | None = None
    resamples: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no test, interval, correction, chance, margin or count."""
        _known("test", self.test, TESTS)
        _known("interval", self.interval, tuple(METHODS))
        if self.correction is not None:
            _known("correction", self.correction, FAMILIES)
        for name in ("confidence", "power"):
            value, least = getattr(self, name), self.alpha if name == "power" else 0.0
            if not (_is_number(value) and least < value < 1):
                raise BadOption(f"{name}={value!r} is out of range", expected=f"{least:g} < {name} < 1")
        if self.margin is not None and not (_is_number(self.margin) and 0 < self.margin < float("inf")):
            raise BadOption(
                f"margin={self.margin!r} is no margin", expected="a difference above 0 that does not matter"
            )
        for name in ("permutations", "resamples"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), 1, _MOST)
        check_count("seed", self.seed, 0, 2**63 - 1)

    @property
    def alpha(self) -> float:
        """The chance of a false claim in a family."""
        return round(1 - self.confidence, 12)

    def shuffles(self, numbers: int) -> int:
        """Return how many permutations of so many numbers are drawn."""
        if self.permutations is not None:
            return self.permutations
        return min(100_000, max(1_000, _WORK // max(numbers, 1)))

    def draws(self, units: int) -> int:
        """Return how many resamples of so many units are drawn."""
        return self.resamples or min(10_000, max(1_000, _RESAMPLED // max(units, 1)))

    def as_dict(self) -> dict[str, Any]:
        """Return every choice and its value."""
        return asdict(self)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _known(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        close = nearest(str(value), known, n=1)
        raise BadOption(
            f"{name}={printable(repr(value))} is not known",
            expected=", ".join(known),
            fix=f"did you mean {close[0]!r}?" if close else None,
        )
