"""What is shown of a search: the groups that print as the number, and the nearest others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone.errors import printable
from rankstone.sheets import Sheet, Table
from rankstone.words import counted

if TYPE_CHECKING:
    from rankstone.identifying.result import Identification
    from rankstone.identifying.ways import Group, Way

__all__ = ["sheet"]

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
    return Sheet(_title(found), "", "", tuple(parts))


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
    return Table(title, heads, rows, (True, True, *([False] if several else []), False))


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
