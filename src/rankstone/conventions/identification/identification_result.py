"""The result of an identification: the definitions that print a reported number, and the nearest others."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, counted
from rankstone.conventions.convention_files import convention
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


#: how many groups that do not print as the number are kept
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


class Identification(Result, Record):
    """The ways of computing a value that print as a reported number.

    Attributes
    ----------
    printed
        The number with its decimals.
    measure
        The reported name of the measure; ``None`` where it is unknown.
    groups
        Ways that print as the number; those with equal values for a run are one group.  First those with the
        fewest steps from the defaults, or from a library.
    nearest
        The nearest groups that do not.
    tried
        The number of ways tried.
    different
        The number of different values they gave, for each run.
    by_chance
        An estimate of how many of these would print as the number by chance.
    taken_for
        The run for which the number was reported; :attr:`run` is the run whose value it is.
    usual
        The options that the search started from, where they are not the defaults.
    inputs
        Run → facts about the data: queries, rows, ties, missing queries and so on.
    by_name
        How libraries compute what they call by the reported name.
    copies, judged_again
        The rules for documents that are in a list more than once, and for those that are judged more than
        once, unless a way has another; ``None`` where the data has none.

    Examples
    --------
    >>> import rankstone
    >>> identification = rankstone.identify({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, "0.25", "AP")
    >>> [(group.value, group.simplest.measure, group.simplest.steps) for group in identification.groups][:1]
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
    by_name: tuple[Way, ...] = ()
    copies: str | None = None
    judged_again: str | None = None

    picture = "rankstone.conventions.identification.identification_result:sheet"

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
        """Group equal values; groups that print as the number come first."""
        groups = grouped(list(ways))
        fitting = tuple(group for group in groups if group.how is not None)
        others = tuple(group for group in groups if group.how is None)[:_NEAREST]
        chosen = {
            n: v for n, v in usual.changed().items() if not n.startswith("duplicate")
        }
        name = None if measure is None else str(measure)
        chance = printed_by_chance([group.value for group in groups], printed)
        inputs = {run: run_facts.to_dict() for run, run_facts in facts.items()}
        sizes = len(ways), len(groups), chance
        by_name = tuple(way for way in ways if way.library and way.spelling == name)
        copied = any(run_facts.run.duplicates for run_facts in facts.values())
        again = any(run_facts.judgments.duplicates for run_facts in facts.values())
        return cls(
            printed,
            name,
            fitting,
            others,
            *sizes,
            taken_for,
            chosen,
            inputs,
            by_name,
            usual.duplicates if copied else None,
            usual.duplicate_judgments if again else None,
        )

    @property
    def run(self) -> str | None:
        """The run whose value it is: the one with the fewest steps; ``None`` if there are several."""
        nearest = {
            group.run
            for group in self.groups
            if group.simplest.away == self.groups[0].simplest.away
        }
        return nearest.pop() if len(nearest) == 1 else None

    @property
    def ambiguous(self) -> bool:
        """True if the first two groups are equally far from the defaults, so the result is ambiguous."""
        return (
            len(self.groups) > 1
            and self.groups[0].simplest.away == self.groups[1].simplest.away
        )

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`frame`."""
        return self.frame

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row for each way: those that print as the number, then those of the nearest groups.

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
        """Return all data as plain dicts."""
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
            "groups": [_as_dict(group) for group in self.groups],
            "nearest": [_as_dict(group) for group in self.nearest],
            "usual": dict(self.usual),
            "inputs": {run: dict(facts) for run, facts in self.inputs.items()},
        }


def _as_dict(group: Group) -> dict[str, Any]:
    return {
        "run": group.run,
        "value": group.value,
        "prints": group.how,
        "off": group.off,
        "libraries": {
            library: list(words) for library, words in group.libraries.items()
        },
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


#: how many groups, and ways and libraries of one group, are shown
_GROUPS: Final = 8
_WAYS: Final = 3
_LIBRARIES: Final = 8
#: decimals shown beyond the known ones, and in all
_MORE: Final = 3
_MOST_DECIMALS: Final = 15


def sheet(result: Identification, digits: int = 4) -> Sheet:  # noqa: ARG001 - those of the report
    """Return an identification as a sheet: the first groups and the nearest others, as they were printed."""
    parts: list[Table | tuple[str, tuple[str, ...]]] = []
    for number, group in enumerate(result.groups[:_GROUPS], 1):
        whose = f"{printable(group.run)}   " if len(result.inputs) > 1 else ""
        parts.append(
            (
                f"{number}   {_value(result, group)}   {whose}{group.simplest}",
                _lines(group, result),
            )
        )
    if len(result.groups) > _GROUPS:
        left = counted(len(result.groups) - _GROUPS, "other group")
        parts.append(("", (f"… and {left}, further from the defaults",)))
    if result.nearest:
        parts.append(_nearest(result))
    parts.append(("Notes", tuple(_notes(result))))
    return Sheet(_title(result), parts=tuple(parts))


def _title(result: Identification) -> str:
    """Return the number, its reported name, and how many values round to it."""
    name = "" if result.measure is None else f", reported as {result.measure}"
    groups = len(result.groups)
    verb = "rounds" if groups == 1 else "round"
    answer = (
        f"{counted(groups, 'value')} of this data {verb} to it"
        if groups
        else "no value rounds to it"
    )
    return f"{result.printed}{name}: {answer} ({result.tried:,} ways tried)"


def _decimals(result: Identification) -> int:
    return min(result.printed.digits + _MORE, _MOST_DECIMALS)


def _value(result: Identification, group: Group) -> str:
    return f"{group.value:.{_decimals(result)}f}"


def _lines(group: Group, result: Identification) -> tuple[str, ...]:
    best = group.simplest
    reported = result.measure
    counts = result.inputs[group.run]
    lines = []
    if best.how == "cut off":
        lines.append("cut off, not rounded")
    if group.libraries:
        first = sorted(
            group.libraries.items(), key=lambda item: reported not in item[1]
        )
        named = [
            f"{library} {reported if reported in words else words[0]}"
            for library, words in first
        ]
        left = len(named) - _LIBRARIES
        lines.append(
            "computed by: "
            + ", ".join(named[:_LIBRARIES])
            + (f" and {left} more" if left > 0 else "")
        )
    lines += [
        f"{library} {reported}: {note}"
        for library, words in group.libraries.items()
        if reported in words
        if (note := convention(library).read(reported)[0].entry.remarks(counts))
    ]
    lines.append(_steps(best))
    others = [str(way) for way in group.ours if str(way) != str(best)]
    if others:
        left = len(others) - _WAYS
        more = f"; and {left} more" if left > 0 else ""
        lines.append(f"the same value: {'; '.join(others[:_WAYS])}{more}")
    return tuple(lines)


def _steps(way: Way) -> str:
    if way.library:
        return "as in that library"
    return (
        "with the defaults"
        if way.steps == 0
        else f"{counted(way.steps, 'step')} from the defaults"
    )


def _nearest(result: Identification) -> Table:
    several = len(result.inputs) > 1
    rows = tuple(
        (
            _value(result, group),
            f"{group.off:+.{_decimals(result)}f}",
            *([printable(group.run)] if several else []),
            str(group.simplest),
        )
        for group in result.nearest
    )
    title = "Nearest other values" if result.groups else "Nearest values"
    heads = ("value", "off by", *(["run"] if several else []), "method")
    return Table(
        title, heads, rows, ("number", "number", *([False] if several else []), "text")
    )


def _notes(result: Identification) -> list[str]:
    """Return notes on how to read the result."""
    notes = [_run_note(result)] if len(result.inputs) > 1 and result.groups else []
    for way in result.by_name if not any(way.how for way in result.by_name) else ():
        run = f" for {printable(way.run)}" if len(result.inputs) > 1 else ""
        value = f"{way.value:.{_decimals(result)}f}"
        notes.append(
            f"{way.spelling} of {way.library} is {value} on this data{run}, which is not {result.printed}"
        )
    if result.copies is not None:
        notes.append(
            f"lists have copies: duplicates={result.copies}, unless another rule is named"
        )
    if result.judged_again is not None:
        notes.append(
            f"documents are judged again: duplicate_judgments={result.judged_again}, unless another rule is named"
        )
    notes.append(
        f"{counted(result.different, 'different value')} tried: "
        f"expect {_expected(result.by_chance)} chance matches of {result.printed}"
    )
    if result.ambiguous:
        notes.append(
            "the first groups are equally near to the defaults; more decimals or another run would decide"
        )
    if result.groups and result.groups[0].simplest.rounding:
        notes.append(
            "intermediate numbers were rounded: rankstone explain shows the exact terms"
        )
    if not result.groups:
        notes.append(
            "are these the right run and judgments? rankstone check QRELS RUN shows their content"
        )
    notes.append(
        "steps count departures from the defaults; a library's own settings are free"
    )
    return notes


def _run_note(result: Identification) -> str:
    """Return a note on which run's value it is."""
    claimed = printable(result.taken_for)
    away = result.groups[0].simplest.away
    if result.run is None:
        runs = dict.fromkeys(
            printable(group.run)
            for group in result.groups
            if group.simplest.away == away
        )
        return f"values of {' and '.join(runs)} round to it, equally near to the defaults: the run is ambiguous"
    run = printable(result.run)
    if result.run == result.taken_for:
        return f"this is {run}'s value: no other run prints it in as few steps"
    if away > 1:
        return f"it may be {run}'s value rather than {claimed}'s, but only far from the defaults"
    theirs = [
        group.simplest.away for group in result.groups if group.run == result.taken_for
    ]
    less = (
        f"that is {counted(theirs[0], 'step')} away"
        if theirs
        else f"no way tried for {claimed} prints it"
    )
    return f"this is {run}'s value, not {claimed}'s: {less}"


def _expected(number: float) -> str:
    """Return the expected number of values, with two digits."""
    if number < 0.001:  # noqa: PLR2004 - below that, no digit says more
        return "fewer than 0.001"
    return f"about {number:.0f}" if number >= 10 else f"about {number:.2g}"  # noqa: PLR2004 - two digits
