"""What is asked of a log of clicks: the method, and what it needs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

from rankstone.errors import BadOption, BadValue, UsageError, between_0_and_1, one_of, printable
from rankstone.io import read_events

__all__ = ["METHODS", "POLICIES", "Asked", "numbers", "propensities_of"]

#: method → what a grade is
METHODS: Final = ("ctr", "click", "satisfaction", "ips", "pbm")
POLICIES: Final = {
    "invalid": ("error", "drop"),
    "lists": ("error", "keep", "drop"),
    "unlinked": ("error", "drop"),
}


@dataclass(frozen=True)
class Asked:
    """How clicks become grades.

    Attributes
    ----------
    method
        One of :data:`METHODS`.
    smoothing
        Clicks and impressions without one that are added to every pair: the two numbers of a Beta prior.
    min_impressions
        Pairs that were shown less often get no grade.
    clip
        Propensities below are taken as this.
    grades
        Where grades 1, 2, … begin; ``None`` for the estimate itself.
    confidence
        Of intervals.
    tolerance, max_iterations
        When the fit stops: no propensity moves by more than this share in a round, or after so many rounds.
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
        """Refuse what cannot be asked."""
        one_of("method", self.method, METHODS)
        if not all(math.isfinite(count) and count >= 0 for count in self.smoothing):
            raise BadOption(
                f"smoothing={_listed(self.smoothing)} cannot be added",
                expected="two numbers from 0 up: clicks, and impressions without one",
            )
        if self.method == "click" and any(self.smoothing):
            raise UsageError("method=click has nothing to smooth", fix="leave smoothing out, or method=ctr")
        if isinstance(self.min_impressions, bool) or self.min_impressions < 1:
            raise BadOption(f"min_impressions={self.min_impressions!r} is no count", expected="1 or more")
        if self.clip is not None and self.method != "ips":
            raise UsageError(f"clip={self.clip}: only method=ips has weights", fix="method=ips")
        if self.clip is not None and not 0 < self.clip <= 1:
            raise BadOption(f"clip={self.clip!r} is out of range", expected="0 < clip <= 1")
        if self.grades is not None and not _rising(self.grades):
            raise BadOption(
                f"grades={_listed(self.grades)} do not rise",
                expected="where grades 1, 2, … begin: 0.02,0.1,0.3",
            )
        between_0_and_1("confidence", self.confidence)
        if not 0 < self.tolerance < 1:
            raise BadOption(f"tolerance={self.tolerance!r} is out of range", expected="0 < tolerance < 1")
        if isinstance(self.max_iterations, bool) or self.max_iterations < 1:
            raise BadOption(f"max_iterations={self.max_iterations!r} is no count", expected="1 or more")

    @property
    def fractional(self) -> bool:
        """Whether a fraction counts as that much; else whatever is more than 0 is one click."""
        return self.method in ("satisfaction", "ips", "pbm")


def _rising(grades: tuple[float, ...]) -> bool:
    finite = bool(grades) and all(math.isfinite(grade) for grade in grades)
    return finite and all(low < high for low, high in pairwise(grades))


def _listed(values: Iterable[float]) -> str:
    return ",".join(f"{value:g}" for value in values)


def numbers(option: str, given: object, count: int | None = None) -> tuple[float, ...]:
    """Return numbers that were given as ``"0.02,0.1"`` or as a sequence of them.

    >>> numbers("smoothing", "1,9", 2)
    (1.0, 9.0)
    """
    parts = given.split(",") if isinstance(given, str) else given
    try:
        found = tuple(float(part) for part in parts) if isinstance(parts, Iterable) else ()
    except (TypeError, ValueError):
        found = ()
    if not found or (count is not None and len(found) != count):
        raise BadOption(
            f"{option}={printable(given)} cannot be read",
            expected=f"{'numbers' if count is None else f'{count} numbers'}, divided by commas",
        )
    return found


def propensities_of(given: object) -> tuple[dict[int, float], str]:
    """Return position → propensity, and where that came from.

    Parameters
    ----------
    given
        Numbers for positions 1, 2, … (``"1,0.6,0.4"`` or a sequence), ``{position: propensity}``, or a table
        with these columns: a path, an address of a database, a frame.
    """
    if isinstance(given, Mapping) and not {"position", "propensity"} <= {str(name) for name in given}:
        return _checked(dict(given), "propensities"), "propensities"
    if isinstance(given, (list, tuple)) or (isinstance(given, str) and _looks_like_numbers(given)):
        return _checked(dict(enumerate(numbers("propensities", given), 1)), "propensities"), "propensities"
    name = os.fspath(given) if isinstance(given, (str, os.PathLike)) else "propensities"
    table = read_events(given, name="propensities", needed=("position", "propensity"), ids=())
    cast = [pl.col(column).cast(pl.Float64, strict=False) for column in ("position", "propensity")]
    found = table.collect(table.frame.select(cast))
    known: dict[object, float] = {}
    for position, propensity in found.filter(pl.col("propensity").is_not_null()).iter_rows():
        if position in known:
            raise BadValue(f"position {position:g} has two propensities", where=name)
        known[position] = propensity
    return _checked(known, name), name


def _looks_like_numbers(text: str) -> bool:
    return all(part.strip().replace(".", "", 1).replace("e-", "", 1).isdigit() for part in text.split(","))


def _checked(known: Mapping[object, object], source: str) -> dict[int, float]:
    found: dict[int, float] = {}
    for position, propensity in known.items():
        place, value = _number(position), _number(propensity)
        if not (place >= 1 and place == int(place)):
            raise BadValue(
                f"{printable(position)} is no position", where=source, expected="whole numbers from 1 up"
            )
        if not 0 < value <= 1:
            raise BadValue(
                f"the propensity of position {place:g} is out of range",
                where=source,
                given=printable(propensity),
                expected="0 < propensity <= 1",
                fix="divide all of them by the largest" if value > 1 else None,
            )
        found[int(place)] = value
    if not found:
        raise BadOption("there are no propensities", where=source, expected="a propensity for each position")
    return found


def _number(value: object) -> float:
    """Return a number, 0 where it is none or not finite."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0.0
    return number if math.isfinite(number) else 0.0
