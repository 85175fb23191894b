"""What was found: the ways that print as the number, and the nearest others.

What is shown of a search: the groups that print as the number, and the nearest others.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._text import counted
from rankstone.conventions.identification.search_space import grouped, printed_by_chance
from rankstone.errors import printable
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.conventions.identification.candidate_values import Facts
    from rankstone.conventions.identification.reported_number import Printed
    from rankstone.conventions.identification.search_space import Group, Way
    from rankstone.hits.alignment_options import AlignmentOptions


#: values told of that do not print as the number
_NEAREST: Final = 5

_SCHEMA: Final[dict[str, Any]] = {
    "group": pl.Int64,
    "value": pl.Float64,
    "prints": pl.String,
    "off": pl.Float64,
    "steps": pl.Int64,
    "measure": pl.String,
    "options": pl.String,
    "rounding": pl.String,
    "library": pl.String,
    "spelling": pl.String,
    "run": pl.String,
    "number": pl.String,
}


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Result):
    """Which ways to compute a number there are that print as it.

    Attributes
    ----------
    printed
        The number, and its decimals.
    measure
        What it was called, ``None`` where nobody said.
    groups
        Ways that print as the number; those that are equal for a run are one group.  Fewest steps from
        what is usual, or from what a library does, first.
    nearest
        The nearest groups that do not.
    tried
        How many ways were tried.
    different
        How many different values they gave, of each run.
    by_chance
        How many of these would print as the number if it had nothing to do with them, an estimate.
    taken_for
        The run that the number was taken for; :attr:`run` is whose it is.
    usual
        The options that the search started from, as far as they are not the defaults.
    inputs
        Run → what the data hold: queries, rows, ties, missing queries and so on.

    Examples
    --------
    >>> import rankstone
    >>> found = rankstone.identify({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, "0.25", "AP")
    >>> [(group.value, group.simplest.measure, group.simplest.steps) for group in found.groups][:1]
    [(0.25, 'AP', 0)]
    """

    printed: Printed
    measure: str | None
    groups: tuple[Group, ...]
    nearest: tuple[Group, ...]
    tried: int
    different: int
    by_chance: float
    taken_for: str
    usual: Mapping[str, Any]
    inputs: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(
        cls,
        printed: Printed,
        taken_for: str,
        measure: object,
        ways: Sequence[Way],
        facts: Mapping[str, Facts],
        usual: AlignmentOptions,
    ) -> Identification:
        """Put equal values together, and what prints as the number first."""
        groups = grouped(list(ways))
        fitting = tuple(group for group in groups if group.how is not None)
        others = tuple(group for group in groups if group.how is None)[:_NEAREST]
        chosen = {n: v for n, v in usual.changed().items() if not n.startswith("duplicate")}
        name = None if measure is None else str(measure)
        chance = printed_by_chance([group.value for group in groups], printed)
        held = {run: one.told() for run, one in facts.items()}
        sizes = len(ways), len(groups), chance
        return cls(printed, name, fitting, others, *sizes, taken_for, chosen, held)

    @property
    def run(self) -> str | None:
        """Whose value it is: the run with fewer steps than any other; ``None`` where there is no such run."""
        nearest = {group.run for group in self.groups if group.simplest.away == self.groups[0].simplest.away}
        return nearest.pop() if len(nearest) == 1 else None

    @property
    def ambiguous(self) -> bool:
        """Whether the first two groups are equally far from what is usual, so that nothing decides."""
        return len(self.groups) > 1 and self.groups[0].simplest.away == self.groups[1].simplest.away

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`frame`."""
        return self.frame

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row a way: those that print as the number, then those of the nearest groups.

        Columns ``group`` (from 1), ``value``, ``prints`` (``rounded``, ``cut off`` or null), ``off``,
        ``steps``, ``measure``, ``options`` (JSON), ``rounding``, ``library`` and ``spelling`` (null where
        there is none), ``run``, and ``number`` as it was printed.
        """
        rows = [
            (
                number,
                way.value,
                way.how,
                way.off,
                way.steps,
                way.measure,
                json.dumps(dict(way.options)),
                way.rounding or None,
                way.library or None,
                way.spelling or None,
                way.run,
                str(self.printed),
            )
            for number, group in enumerate([*self.groups, *self.nearest], 1)
            for way in group.ways
        ]
        return pl.DataFrame(rows, _SCHEMA, orient="row")

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {
            "value": self.printed.value,
            "digits": self.printed.digits,
            "percent": self.printed.percent,
            "measure": self.measure,
            "tried": self.tried,
            "different": self.different,
            "by_chance": self.by_chance,
            "taken_for": self.taken_for,
            "run": self.run,
            "ambiguous": self.ambiguous,
            "groups": [_told(group) for group in self.groups],
            "nearest": [_told(group) for group in self.nearest],
            "usual": dict(self.usual),
            "inputs": {run: dict(held) for run, held in self.inputs.items()},
        }

    def sheet(self, digits: int = 4) -> Sheet:
        """Return what people read, the first groups and the nearest others; numbers as they were printed."""
        del digits

        return sheet(self)


def _told(group: Group) -> dict[str, Any]:
    return {
        "run": group.run,
        "value": group.value,
        "prints": group.how,
        "off": group.off,
        "libraries": {library: list(words) for library, words in group.libraries.items()},
        "ways": [
            {
                "measure": way.measure,
                "options": dict(way.options),
                "rounding": way.rounding or None,
                "steps": way.steps,
                "library": way.library or None,
                "spelling": way.spelling or None,
            }
            for way in group.ways
        ],
    }


#: groups, and ways and libraries of one group, that are shown
_GROUPS: Final = 8
_WAYS: Final = 3
_LIBRARIES: Final = 8
#: decimals shown beyond those that are known, and at most
_MORE: Final = 3
_MOST_DECIMALS: Final = 15


def sheet(found: Identification) -> Sheet:
    """Return what is shown."""
    parts: list[Table | tuple[str, tuple[str, ...]]] = []
    for number, group in enumerate(found.groups[:_GROUPS], 1):
        whose = f"{printable(group.run)}   " if len(found.inputs) > 1 else ""
        parts.append((f"{number}   {_value(found, group)}   {whose}{group.simplest}", _lines(group)))
    if len(found.groups) > _GROUPS:
        left = counted(len(found.groups) - _GROUPS, "other group")
        parts.append(("", (f"… and {left}, further from what is usual",)))
    if found.nearest:
        parts.append(_nearest(found))
    parts.append(("Notes", tuple(_notes(found))))
    return Sheet(_title(found), parts=tuple(parts))


def _title(found: Identification) -> str:
    """Return the number, what it was called, and how many ways print it."""
    said = "" if found.measure is None else f", called {found.measure}"
    groups = len(found.groups)
    answer = "nothing prints so" if not groups else f"{counted(groups, 'value')} of this data print so"
    answer = answer.replace("1 value of this data print so", "1 value of this data prints so")
    return f"{found.printed}{said}: {answer} ({found.tried:,} ways tried)"


def _decimals(found: Identification) -> int:
    return min(found.printed.digits + _MORE, _MOST_DECIMALS)


def _value(found: Identification, group: Group) -> str:
    return f"{group.value:.{_decimals(found)}f}"


def _lines(group: Group) -> tuple[str, ...]:
    best = group.simplest
    lines = []
    if best.how == "cut off":
        lines.append("cut off, not rounded")
    if group.libraries:
        named = [f"{library} {words[0]}" for library, words in group.libraries.items()]
        left = len(named) - _LIBRARIES
        lines.append(
            "means this: " + ", ".join(named[:_LIBRARIES]) + (f" and {left} more" if left > 0 else "")
        )
    lines.append(_steps(best))
    others = [str(way) for way in group.ours if str(way) != str(best)]
    if others:
        left = len(others) - _WAYS
        more = f"; and {left} more" if left > 0 else ""
        lines.append(f"the same here: {'; '.join(others[:_WAYS])}{more}")
    return tuple(lines)


def _steps(way: Way) -> str:
    if way.library:
        return "no step from what that library does"
    return "the usual way" if way.steps == 0 else f"{counted(way.steps, 'step')} from what is usual"


def _nearest(found: Identification) -> Table:
    several = len(found.inputs) > 1
    rows = tuple(
        (
            _value(found, group),
            f"{group.off:+.{_decimals(found)}f}",
            *([printable(group.run)] if several else []),
            str(group.simplest),
        )
        for group in found.nearest
    )
    title = "The nearest others" if found.groups else "The nearest"
    heads = ("value", "off by", *(["run"] if several else []), "how")
    return Table(title, heads, rows, ("number", "number", *([False] if several else []), "text"))


def _notes(found: Identification) -> list[str]:
    """Return what to make of it."""
    notes = [_whose(found)] if len(found.inputs) > 1 and found.groups else []
    notes.append(
        f"of {counted(found.different, 'different value')} that were tried, "
        f"{_expected(found.by_chance)} would print as {found.printed} by chance"
    )
    if found.ambiguous:
        notes.append(
            "the first groups are equally near to what is usual; more decimals, or another run, would tell"
        )
    if found.groups and found.groups[0].simplest.rounding:
        notes.append("numbers were rounded on the way: rankstone explain shows the exact terms")
    if not found.groups:
        notes.append(
            "is it this run, and are these the judgments? rankstone check QRELS RUN shows what is in them"
        )
    notes.append("a step is a choice that is not the usual one; what a library does by itself is none")
    return notes


def _whose(found: Identification) -> str:
    """Say which run's value it is, as far as the ways that print it tell."""
    claimed, away = printable(found.taken_for), found.groups[0].simplest.away
    if found.run is None:
        runs = dict.fromkeys(printable(one.run) for one in found.groups if one.simplest.away == away)
        return (
            f"{' and '.join(runs)} print so, equally near to what is usual: nothing tells whose value it is"
        )
    run = printable(found.run)
    if found.run == found.taken_for:
        return f"this is {run}'s value: no other run prints so in as few steps"
    if away > 1:
        return f"it may be {run}'s value rather than {claimed}'s, but by nothing near to what is usual"
    theirs = [one.simplest.away for one in found.groups if one.run == found.taken_for]
    less = (
        f"it is {counted(theirs[0], 'step')} away there"
        if theirs
        else f"nothing tried for {claimed} prints so"
    )
    return f"this is {run}'s value, not {claimed}'s: {less}"


def _expected(number: float) -> str:
    """Return how many values are expected, with no more digits than an estimate has."""
    if number < 0.001:  # noqa: PLR2004 - below that, no digit says more
        return "fewer than 0.001"
    return f"about {number:.0f}" if number >= 10 else f"about {number:.2g}"  # noqa: PLR2004 - two digits
