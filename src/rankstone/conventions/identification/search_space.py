"""The search space: measures near a measure, measures of libraries, ways to compute a value, groups."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import Record
from rankstone.conventions.convention_files import conventions
from rankstone.conventions.identification.reported_number import (
    PUBLISHED,
    kind,
    numbers_for,
    scales,
    with_scale,
)
from rankstone.conventions.library_convention import named
from rankstone.errors import RankstoneError
from rankstone.measures.core.definition import Threshold
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.registry import MEASURES
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankstone.conventions.identification.candidate_values import Facts
    from rankstone.conventions.identification.reported_number import (
        Printed,
        ReportedMeasure,
    )
    from rankstone.conventions.library_convention import Convention, Entry


#: common cutoffs
_COMMON_CUTOFFS: Final = (1, 3, 5, 10, 20, 50, 100, 1000)
#: a measure of fewer libraries is tried only as these compute it
_SEVERAL: Final = 3
#: the most grades that are tried as thresholds of a library
_THRESHOLDS: Final = 8
#: cutoffs tried first where none is given
_FIRST_CUTOFFS: Final = (None, 10)


def cutoffs(measure: Measure | None, longest: int) -> list[int | None]:
    """Return the cutoffs to try besides a measure's own: common ones, and its neighbours."""
    own = None if measure is None else measure.k
    near = [] if own is None else [own - 1, own + 1]
    common = [k for k in _COMMON_CUTOFFS if k < longest]
    tried: list[int | None] = [None]
    for k in (*common, *near):
        if k > 0 and k not in tried:
            tried.append(k)
    return tried


def starts(reported: ReportedMeasure | None) -> list[Measure]:
    """Return the measures to start from: the reported one, or those of several libraries."""
    if reported is not None:
        if reported.measure is None:
            return []
        return [reported.measure]
    measures: list[Measure] = []
    have = {
        (kind(entry.ours), library.name)
        for library in conventions()
        for entry in library.entries
    }
    known = Counter(name for name, _ in have)
    for name, each in MEASURES.items():
        if (
            known[name] < _SEVERAL
            or not issubclass(each, Measure)
            or each.query_columns
            or each.judgment_columns
        ):
            continue
        measures += _with_first_cutoffs(name) or _with_first_cutoffs(*each.examples[:1])
    return [
        measure
        for measure in dict.fromkeys(measures)
        if not any(extra.reads_pool for extra in measure.requires)
    ]


def _with_first_cutoffs(*texts: str) -> list[Measure]:
    measures = []
    for text, k in product(texts, _FIRST_CUTOFFS):
        try:
            measure = parse_measure(text)
            measure = (
                measure
                if k is None or not measure.takes_cutoff
                else replace(measure, k=k)
            )
        except RankstoneError:  # it needs a parameter or a cutoff that is not given
            continue
        if isinstance(measure, Measure):
            measures.append(measure)
    return measures


def around(
    measure: Measure, facts: Facts, reach: int, stated: frozenset[str]
) -> Iterator[tuple[Measure, int]]:
    """Yield measures up to ``reach`` steps away from one, itself included, with their numbers of steps.

    Another value of a given parameter counts as two steps, of any other parameter as one.
    """
    sides = _sides(measure, facts)
    for changed in range(reach + 1):
        for names in combinations(sides, changed):
            steps = sum(1 + (name in stated) for name in names)
            for changes in (
                product(*(sides[name] for name in names)) if steps <= reach else ()
            ):
                parameters = {
                    name: value for change in changes for name, value in change.items()
                }
                try:
                    other = replace(measure, **parameters)
                except RankstoneError:  # these values cannot be combined
                    continue
                if other.inactive_parameters.isdisjoint(names):
                    yield other, steps


def _sides(measure: Measure, facts: Facts) -> dict[str, list[dict[str, Any]]]:
    """Return every parameter with the changes to other values."""
    by_libraries = _numbers_of_libraries(measure.name)
    sides: dict[str, list[dict[str, Any]]] = {}
    for entry in fields(measure):
        own = getattr(measure, entry.name)
        name = entry.name
        if name == "k":
            values: Sequence[Any] = (
                cutoffs(measure, facts.run.longest) if measure.takes_cutoff else ()
            )
        elif name == "rel":
            values = [None, *(Threshold(grade) for grade in facts.thresholds)]
        elif name in (
            "agg",
            "budget",
        ):  # aggregations are tried once there are values of queries
            values = ()
        else:
            numbers = (*by_libraries.get(name, ()), *numbers_for(measure, name, facts))
            values = [*entry.metadata.get("choices", ()), *dict.fromkeys(numbers)]
        others = [
            with_scale(measure, {name: value}, facts)
            for value in values
            if value != own
        ]
        if others:
            sides[name] = others
    return sides


_NUMBER: Final = re.compile(r"(\w+)=([0-9]+(?:\.[0-9]+)?)(?=[,)])")


@cache
def _numbers_of_libraries(name: str) -> dict[str, list[float]]:
    """Return the values that libraries use for the parameters of a measure: bases, persistences."""
    values: dict[str, dict[float, None]] = {"base": {math.e: None, 10.0: None}}
    head = re.compile(rf"{re.escape(name)}\(")
    for library in conventions():
        for entry in library.entries:
            if head.match(entry.ours):
                for parameter, number in _NUMBER.findall(entry.ours):
                    values.setdefault(parameter, {})[float(number)] = None
    return {
        parameter: list(numbers)
        for parameter, numbers in values.items()
        if parameter not in ("k", "rel")
    }


class LibraryMeasure(Record):
    """A measure of a library, with numbers for its placeholders."""

    library: Convention
    entry: Entry
    numbers: Mapping[str, str]

    @cached_property
    def measure(self) -> Measure:
        """Our measure; libraries with the same definition share it, so that it is computed once."""
        text = self.entry.ours_with(self.numbers)
        if self.entry.unbounded:
            entry = replace(
                self.entry, options={**self.entry.options, "empty": self.empty}
            )
            kept: Measure = self.library.reading(entry, self.numbers).measure
            return kept
        ours = _read(text)
        assert isinstance(ours, Measure)  # noqa: S101 - those of whole lists are left out
        return ours

    @property
    def spelling(self) -> str:
        """The library's name of it."""
        return self.entry.written(self.entry.spelling, self.numbers)

    @property
    def ours(self) -> str:
        """Our name of it; a replay of a library's own measure keeps its long name."""
        text = self.entry.ours_with(self.numbers)
        if text.startswith("replay:") or self.entry.unbounded:
            return text
        return str(self.measure)

    @property
    def empty(self) -> str:
        """Its rule for queries without a relevant document."""
        rule: str = self.entry.options.get("empty", "zero")
        # an error is found among the queries that count: others may be without a relevant document, too
        if rule == "error":
            return "undefined"
        return rule

    @property
    def aligned(self) -> dict[str, Any]:
        """Options that decide ranks and which queries there are."""
        return {
            name: value for name, value in self.entry.options.items() if name != "empty"
        }


_read = cache(named)


def library_measures(
    reported: ReportedMeasure | None, facts: Facts
) -> Iterator[LibraryMeasure]:
    """Yield measures of libraries that fit a reported one, with possible cutoffs."""
    ks = [reported.k] if reported is not None else cutoffs(None, facts.run.longest)
    for library in conventions():
        for entry in library.entries:
            if not entry.of_lists and (reported is None or reported.fits(entry)):
                yield from (
                    LibraryMeasure(library, entry, numbers)
                    for numbers in _fillings(entry, reported, ks, facts)
                )


def _fillings(
    entry: Entry,
    reported: ReportedMeasure | None,
    ks: Sequence[int | None],
    facts: Facts,
) -> Iterator[dict[str, str]]:
    """Yield numbers for the placeholders of a library's name."""
    sides = []
    for place in entry.places:
        if place == "k":
            sides.append([str(k) for k in ks if k is not None])
        else:
            sides.append(
                [f"{number:g}" for number in _for_place(entry, place, reported, facts)]
            )
    for numbers in product(*sides):
        yield dict(zip(entry.places, numbers, strict=True))


def _for_place(
    entry: Entry, place: str, reported: ReportedMeasure | None, facts: Facts
) -> Iterable[float]:
    """Return possible values of the parameter of a placeholder, where a measure is reported."""
    if reported is None or place == "gains":  # a table of gains must be given
        return ()
    fed = re.search(rf"(\w+)=\W*<{place}>", entry.ours)
    parameter = place if fed is None else fed[1]
    if reported.measure is not None and parameter in reported.given:
        own = getattr(reported.measure, parameter)
        return [own.level if parameter == "rel" else own]
    if parameter == "rel":
        return 0.0, *facts.grades[:_THRESHOLDS]
    if parameter == "max_grade":
        return scales(facts)
    by_libraries = _numbers_of_libraries(kind(entry.ours)).get(parameter, ())
    return tuple(dict.fromkeys((*by_libraries, *PUBLISHED.get(parameter, ()))))


def printed_by_chance(values: Sequence[float], printed: Printed) -> float:
    """Estimate how many different values would print as a number by chance.

    That is the length of the interval of values that round to it, times the density of values around it.  The
    density is that of the nearest values outside the interval, as many as the square root of their number
    (Loftsgaarden and Quesenberry, 1965); values that print as the number do not count, since some of them may
    be no coincidence.  For independent values of about equal density the estimate is unbiased.

    Parameters
    ----------
    values
        Unique values.
    printed
        The number.

    Returns
    -------
    float
        From 0 to the number of values; 0 where fewer than two are outside the interval.

    Examples
    --------
    >>> from rankstone.conventions.identification import Printed
    >>> everywhere = [at / 10_000 for at in range(10_000)]
    >>> round(printed_by_chance(everywhere, Printed.of("0.413")))
    15
    """
    off = np.abs([printed.off(value) for value in values if printed.how(value) is None])
    if len(off) < 2:  # noqa: PLR2004 - no distance between values
        return 0.0
    near = max(2, math.isqrt(len(off)))
    reach = np.partition(off, near - 1)[near - 1]
    outside = sum(max(0.0, float(reach) - end) for end in printed.ends)
    return min((near - 1) * sum(printed.ends) / outside, float(len(values)))


#: the largest relative difference of equal values, whose sums were computed in different orders
_EQUAL = 1e-11


@dataclass(frozen=True)
class Way:
    """A way to compute a value: a measure, and the options of alignment.

    Attributes
    ----------
    value
        The value.
    measure
        Our name of the measure.
    options
        The alignment options that are not the defaults.
    steps
        How many choices are not the defaults (those of a library count as none).
    rounding
        Which intermediate numbers are rounded; empty for none.
    library, spelling
        A library that computes this, and its name for it; empty where there is none.
    how
        How the value prints as the reported number: ``rounded``, ``cut off``, or ``None``.
    off
        The difference from that number.
    run
        The run whose value it is.
    """

    value: float
    measure: str
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 0
    rounding: str = ""
    library: str = ""
    spelling: str = ""
    how: str | None = None
    off: float = 0.0
    run: str = ""

    @property
    def away(self) -> int:
        """Steps from the defaults; a value that is cut off instead of rounded counts as one more."""
        return self.steps + (self.how == "cut off")

    def against(self, printed: Printed) -> Way:
        """Return the same way, compared with a printed number."""
        return replace(self, how=printed.how(self.value), off=printed.off(self.value))

    def __str__(self) -> str:
        options = [f"{name}={value}" for name, value in self.options.items()]
        return "  ".join(
            [self.measure, *options, *([self.rounding] if self.rounding else [])]
        )


@dataclass(frozen=True)
class Group:
    """Ways that give the same value for a run on this data, the simplest first."""

    value: float
    ways: tuple[Way, ...]

    @property
    def simplest(self) -> Way:
        """The way with the fewest steps."""
        return self.ways[0]

    @property
    def run(self) -> str:
        """The run whose value it is."""
        return self.simplest.run

    @property
    def how(self) -> str | None:
        """How the value prints as the reported number; ``None`` where it does not."""
        return self.simplest.how

    @property
    def off(self) -> float:
        """The difference of the value from that number."""
        return self.simplest.off

    @property
    def libraries(self) -> dict[str, tuple[str, ...]]:
        """Libraries that compute this value, with their names for it."""
        names: dict[str, list[str]] = {}
        for way in self.ways:
            if way.library:
                names.setdefault(way.library, []).append(way.spelling)
        return {
            library: tuple(dict.fromkeys(words)) for library, words in names.items()
        }

    @property
    def ours(self) -> tuple[Way, ...]:
        """The distinct ways by our names."""
        kept: dict[str, Way] = {}
        for way in self.ways:
            kept.setdefault(str(way), way)
        return tuple(kept.values())


def grouped(ways: list[Way]) -> list[Group]:
    """Group equal values of a run: first those that print as the number, then by steps and distance."""
    clusters: list[list[Way]] = []
    for way in sorted(ways, key=lambda way: (way.run, way.value)):
        if (
            clusters
            and way.run == clusters[-1][0].run
            and _equal(way.value, clusters[-1][0].value)
        ):
            clusters[-1].append(way)
        else:
            clusters.append([way])
    groups = [
        Group(same[0].value, tuple(sorted(same, key=_complexity))) for same in clusters
    ]
    return sorted(groups, key=_sort_key)


def _equal(value: float, other: float) -> bool:
    return abs(value - other) <= _EQUAL * max(1.0, abs(value))


def _complexity(way: Way) -> tuple[int, bool, bool, int, str]:
    return way.away, bool(way.library), bool(way.rounding), len(str(way)), str(way)


def _sort_key(group: Group) -> tuple[bool, float, float, int, float]:
    matches = group.how is not None
    best = group.simplest
    if not matches:
        return True, abs(group.off), best.away, 0, group.value
    return False, best.away, bool(best.rounding), -len(group.libraries), abs(group.off)
