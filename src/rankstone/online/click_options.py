"""The options of estimating grades from clicks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rankstone.errors import BadOption, UsageError, between_0_and_1, one_of
from rankstone.stats.random_streams import check_count

if TYPE_CHECKING:
    from collections.abc import Iterable


#: methods of estimating grades from clicks
METHODS: Final = ("ctr", "click", "satisfaction", "ips", "pbm")


POLICIES: Final = {
    "invalid": ("error", "drop"),
    "lists": ("error", "keep", "drop"),
    "unlinked": ("error", "drop"),
}


@dataclass(frozen=True)
class ClickOptions:
    """Options of estimating grades from clicks.

    Attributes
    ----------
    method
        One of :data:`METHODS`.
    smoothing
        Clicks, and impressions without a click, added to every pair: the parameters of a Beta prior.
    min_impressions
        Pairs with fewer impressions get no grade.
    clip
        Smaller propensities are replaced by this value.
    grades
        Thresholds of grades 1, 2, …; ``None`` to use the estimate as the grade.
    confidence
        The confidence level of intervals.
    tolerance, max_iterations
        Stop the fit when no propensity changes by more than this share, or after so many iterations.
    """

    method: str = "ctr"
    smoothing: tuple[float, float] = (0.0, 0.0)
    min_impressions: int = 1
    clip: float | None = None
    grades: tuple[float, ...] | None = None
    confidence: float = 0.95
    tolerance: float = 1e-7
    max_iterations: int = 100

    def __post_init__(self) -> None:
        """Refuse invalid values and combinations."""
        one_of("method", self.method, METHODS)
        if not all(math.isfinite(count) and count >= 0 for count in self.smoothing):
            raise BadOption(
                f"smoothing={_comma_separated(self.smoothing)} cannot be added",
                expected="two numbers, 0 or more: clicks, and impressions without a click",
            )
        if self.method == "click" and any(self.smoothing):
            raise UsageError(
                "method=click cannot be smoothed",
                fix="leave out smoothing, or use method=ctr",
            )
        check_count("min_impressions", self.min_impressions, 1, 2**63 - 1)
        if self.clip is not None and not 0 < self.clip <= 1:
            raise BadOption(
                f"clip={self.clip!r} is out of range", expected="0 < clip <= 1"
            )
        if self.clip is not None and self.method != "ips":
            raise UsageError(
                f"clip={self.clip}: only method=ips has weights",
                fix="leave out clip, or use method=ips",
            )
        if self.grades is not None and not _is_increasing(self.grades):
            raise BadOption(
                f"grades={_comma_separated(self.grades)} are not increasing",
                expected="increasing thresholds of grades 1, 2, …, such as 0.02,0.1,0.3",
            )
        between_0_and_1("confidence", self.confidence)
        if not 0 < self.tolerance < 1:
            raise BadOption(
                f"tolerance={self.tolerance!r} is out of range",
                expected="0 < tolerance < 1",
            )
        if isinstance(self.max_iterations, bool) or self.max_iterations < 1:
            raise BadOption(
                f"max_iterations={self.max_iterations!r} is not a count",
                expected="1 or more",
            )

    @property
    def fractional(self) -> bool:
        """True if fractions of a click count as such; otherwise every value above 0 is one click."""
        return self.method in ("satisfaction", "ips", "pbm")


def _is_increasing(grades: tuple[float, ...]) -> bool:
    finite = bool(grades) and all(math.isfinite(grade) for grade in grades)
    return finite and all(low < high for low, high in pairwise(grades))


def _comma_separated(values: Iterable[float]) -> str:
    return ",".join(f"{value:g}" for value in values)
