"""The measures near a measure: every parameter it declares, with every value it may take.

How many of the values that were tried would print as a number by chance.

A way to compute a number, and how far it is from the usual one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

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
    from rankstone.conventions.identification.reported_number import Asked, Printed
    from rankstone.conventions.library_convention import Convention, Entry


#: depths that people cut lists at
_USUAL_CUTOFFS: Final = (1, 3, 5, 10, 20, 50, 100, 1000)
#: a measure that fewer libraries have is tried as these compute it, and no step further
_SEVERAL: Final = 3
#: grades that are tried where a library asks for a threshold, at most
_THRESHOLDS: Final = 8
#: measures whose cutoff nobody said are tried with these
_FIRST_CUTOFFS: Final = (None, 10)


def cutoffs(measure: Measure | None, longest: int) -> list[int | None]:
    """Return the cutoffs that are tried beside a measure's own: usual ones, and its neighbours."""
    own = None if measure is None else measure.k
    near = [] if own is None else [own - 1, own + 1]
    usual = [k for k in _USUAL_CUTOFFS if k < longest]
    return [k for k in dict.fromkeys([None, *usual, *near]) if k is None or k > 0]


def starts(asked: Asked | None) -> list[Measure]:
    """Return the measures to start from: the one asked for, or those that several libraries have."""
    if asked is not None:
        return [] if asked.measure is None else [asked.measure]
    found: list[Measure] = []
    have = {(kind(entry.ours), library.name) for library in conventions() for entry in library.entries}
    known = Counter(name for name, _ in have)
    for name, each in MEASURES.items():
        if (
            known[name] < _SEVERAL
            or not issubclass(each, Measure)
            or each.query_columns
            or each.judgment_columns
        ):
            continue
        found += _with_first_cutoffs(name) or _with_first_cutoffs(*each.examples[:1])
    return [one for one in dict.fromkeys(found) if not one.brings & {"groups", "pool"}]


def _with_first_cutoffs(*texts: str) -> list[Measure]:
    found = []
    for text, k in product(texts, _FIRST_CUTOFFS):
        try:
            measure = parse_measure(text)
            measure = measure if k is None or not measure.takes_cutoff else replace(measure, k=k)
        except RankstoneError:  # it needs a number that nobody said, or a cutoff
            continue
        if isinstance(measure, Measure):
            found.append(measure)
    return found


def around(measure: Measure, facts: Facts, reach: int, said: frozenset[str]) -> Iterator[tuple[Measure, int]]:
    """Return measures up to so many steps away from one, itself among them, and how many steps that is.

    A parameter that was said is two steps from another value, others are one.
    """
    sides = _sides(measure, facts)
    for changed in range(reach + 1):
        for names in combinations(sides, changed):
            steps = sum(1 + (name in said) for name in names)
            for changes in product(*(sides[name] for name in names)) if steps <= reach else ():
                try:
                    other = replace(measure, **{name: at for one in changes for name, at in one.items()})
                except RankstoneError:  # these do not go together
                    continue
                if other.inactive_parameters.isdisjoint(names):
                    yield other, steps


def _sides(measure: Measure, facts: Facts) -> dict[str, list[dict[str, Any]]]:
    """Return every parameter with the changes that give it another value."""
    theirs = _numbers_of_libraries(measure.name)
    sides: dict[str, list[dict[str, Any]]] = {}
    for entry in fields(measure):
        own, name = getattr(measure, entry.name), entry.name
        if name == "k":
            values: Sequence[Any] = cutoffs(measure, facts.run.longest) if measure.takes_cutoff else ()
        elif name == "rel":
            values = [None, *(Threshold(grade) for grade in facts.thresholds)]
        elif name == "agg":  # the way to make one number of queries is tried when there are such numbers
            values = ()
        else:
            numbers = (*theirs.get(name, ()), *numbers_for(measure, name, facts))
            values = [*entry.metadata.get("choices", ()), *dict.fromkeys(numbers)]
        others = [with_scale(measure, {name: value}, facts) for value in values if value != own]
        if others:
            sides[name] = others
    return sides


_NUMBER: Final = re.compile(r"(\w+)=([0-9]+(?:\.[0-9]+)?)(?=[,)])")


@cache
def _numbers_of_libraries(name: str) -> dict[str, list[float]]:
    """Return the numbers that libraries give to the parameters of a measure: bases, persistences."""
    found: dict[str, dict[float, None]] = {"base": {math.e: None, 10.0: None}}
    head = re.compile(rf"{re.escape(name)}\(")
    for library in conventions():
        for entry in library.entries:
            if head.match(entry.ours):
                for parameter, number in _NUMBER.findall(entry.ours):
                    found.setdefault(parameter, {})[float(number)] = None
    return {parameter: list(numbers) for parameter, numbers in found.items() if parameter not in ("k", "rel")}


@dataclass(frozen=True, eq=False)
class Meant:
    """A measure of a library, with numbers for the places that its spelling leaves."""

    library: Convention
    entry: Entry
    numbers: Mapping[str, str]

    @cached_property
    def measure(self) -> Measure:
        """Ours; libraries that mean the same have the same one, so that it is computed once."""
        text = self.entry.written(self.entry.ours, self.numbers)
        if self.entry.unbounded:
            kept: Measure = self.library.reading(self.entry, self.numbers).measure
            return kept
        found = _read(text)
        assert isinstance(found, Measure)  # noqa: S101 - those of whole lists are left out
        return found

    @property
    def spelling(self) -> str:
        """What the library calls it."""
        return self.entry.written(self.entry.spelling, self.numbers)

    @property
    def ours(self) -> str:
        """The same in our words; a replay of what only that library has keeps its long name."""
        text = self.entry.written(self.entry.ours, self.numbers)
        return text if text.startswith("replay:") or self.entry.unbounded else str(self.measure)

    @property
    def empty(self) -> str:
        """Its rule for queries without a relevant document."""
        rule: str = self.entry.options.get("empty", "zero")
        return rule

    @property
    def aligned(self) -> dict[str, Any]:
        """Options that decide where documents stand and which queries there are."""
        return {name: value for name, value in self.entry.options.items() if name != "empty"}


_read = cache(named)


def meant_by_libraries(asked: Asked | None, facts: Facts) -> Iterator[Meant]:
    """Return what libraries mean by words for such a measure, with the cutoffs that may be meant."""
    ks = [asked.k] if asked is not None else cutoffs(None, facts.run.longest)
    for library in conventions():
        for entry in library.entries:
            if not entry.of_lists and (asked is None or asked.fits(entry)):
                yield from (Meant(library, entry, numbers) for numbers in _fillings(entry, asked, ks, facts))


def _fillings(
    entry: Entry, asked: Asked | None, ks: Sequence[int | None], facts: Facts
) -> Iterator[dict[str, str]]:
    """Return numbers for the places that a library's spelling leaves."""
    sides = []
    for place in entry.places:
        if place == "k":
            sides.append([str(k) for k in ks if k is not None])
        else:
            sides.append([f"{number:g}" for number in _for_place(entry, place, asked, facts)])
    for numbers in product(*sides):
        yield dict(zip(entry.places, numbers, strict=True))


def _for_place(entry: Entry, place: str, asked: Asked | None, facts: Facts) -> Iterable[float]:
    """Return what the parameter of ours may be that a place stands for, where a measure was named."""
    if asked is None or place == "gains":  # a gain of every grade: whoever has such a table names it
        return ()
    fed = re.search(rf"(\w+)=\W*<{place}>", entry.ours)
    parameter = place if fed is None else fed[1]
    if asked.measure is not None and parameter in asked.said:
        own = getattr(asked.measure, parameter)
        return [own.level if parameter == "rel" else own]
    if parameter == "rel":
        return 0.0, *facts.grades[:_THRESHOLDS]
    if parameter == "max_grade":
        return scales(facts)
    theirs = _numbers_of_libraries(kind(entry.ours)).get(parameter, ())
    return tuple(dict.fromkeys((*theirs, *PUBLISHED.get(parameter, ()))))


def printed_by_chance(values: Sequence[float], printed: Printed) -> float:
    """Estimate how many different values would print as a number if it had nothing to do with them.

    That is the length of the interval of values that print so, times how thickly values lie around it.  The
    density is that of the nearest values outside the interval, as many as the square root of their number
    (Loftsgaarden and Quesenberry, 1965); what prints as the number does not count, since some of it may be
    no chance.  Where values lie independently of each other and of the number, and about as thickly as next
    to it, the estimate is right on average.

    Parameters
    ----------
    values
        Different values, each once.
    printed
        The number.

    Returns
    -------
    float
        From 0 to as many as there are values; 0 where fewer than two lie outside.

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


#: values no further apart than this, beside their size, are equal: sums were taken in another order
_EQUAL = 1e-11


@dataclass(frozen=True)
class Way:
    """A measure, the options its lists are aligned under, and what it gives.

    Attributes
    ----------
    value
        The number.
    measure
        Our text of the measure.
    options
        The options of alignment that are not the usual ones.
    steps
        How many choices are not the usual ones (those of a library together count as none).
    rounding
        What is rounded on the way; empty for nothing.
    library, spelling
        The library that means this by a word of its own, and the word; empty where it is nobody's.
    how
        How the value prints as the number that is looked for: ``rounded``, ``cut off``, or ``None``.
    off
        How far it is from that number.
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
        """Steps from what is usual, a number that was cut off instead of rounded being one more."""
        return self.steps + (self.how == "cut off")

    def against(self, printed: Printed) -> Way:
        """Return the same way, compared with a number that was printed."""
        return replace(self, how=printed.how(self.value), off=printed.off(self.value))

    def __str__(self) -> str:
        said = [f"{name}={value}" for name, value in self.options.items()]
        return "  ".join([self.measure, *said, *([self.rounding] if self.rounding else [])])


@dataclass(frozen=True)
class Group:
    """Ways that give a run the same value on this data, the simplest first."""

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
        """How the value prints as the number that is looked for; ``None`` where it does not."""
        return self.simplest.how

    @property
    def off(self) -> float:
        """How far the value is from that number."""
        return self.simplest.off

    @property
    def libraries(self) -> dict[str, tuple[str, ...]]:
        """Libraries that mean this value, and what they call it."""
        found: dict[str, list[str]] = {}
        for way in self.ways:
            if way.library:
                found.setdefault(way.library, []).append(way.spelling)
        return {library: tuple(dict.fromkeys(words)) for library, words in found.items()}

    @property
    def ours(self) -> tuple[Way, ...]:
        """The ways that are told in our words, each once."""
        kept: dict[str, Way] = {}
        for way in self.ways:
            kept.setdefault(str(way), way)
        return tuple(kept.values())


def grouped(ways: list[Way]) -> list[Group]:
    """Bring equal values of a run together: first what prints as the number, then by steps and distance."""
    found: list[list[Way]] = []
    for way in sorted(ways, key=lambda one: (one.run, one.value)):
        if found and way.run == found[-1][0].run and _equal(way.value, found[-1][0].value):
            found[-1].append(way)
        else:
            found.append([way])
    groups = [Group(same[0].value, tuple(sorted(same, key=_simple))) for same in found]
    return sorted(groups, key=_order)


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= _EQUAL * max(1.0, abs(one))


def _simple(way: Way) -> tuple[int, bool, bool, int, str]:
    return way.away, bool(way.library), bool(way.rounding), len(str(way)), str(way)


def _order(group: Group) -> tuple[bool, float, float, int, float]:
    matches = group.how is not None
    best = group.simplest
    if not matches:
        return True, abs(group.off), best.away, 0, group.value
    return False, best.away, bool(best.rounding), -len(group.libraries), abs(group.off)
