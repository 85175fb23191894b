"""The result of an identification: the definitions that print a reported number, and the nearest others."""

from __future__ import annotations

import json
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record
from rankstone.conventions.convention_files import convention
from rankstone.conventions.identification.search_space import grouped, printed_by_chance
from rankstone.errors import printable
from rankstone.tables.phrases import from_english, phrase
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankstone.conventions.identification.candidate_values import Facts
    from rankstone.conventions.identification.reported_number import Printed
    from rankstone.conventions.identification.search_space import Group, Way
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.tables.sheet import Kind

    #: the phrases of the section ``identification`` in a language
    Say = Callable[..., str]


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

    def sheet(self, digits: int = 4, *, lang: str = "en") -> Sheet:
        """Return the first groups and the nearest others, with notes."""
        return self.pictured(digits, lang=lang)

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
        name = None
        if measure is not None:
            name = str(measure)
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
        if len(nearest) == 1:
            return nearest.pop()
        return None

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


def sheet(
    result: Identification,
    digits: int = 4,  # noqa: ARG001 - those of the report
    *,
    lang: str = "en",
) -> Sheet:
    """Return an identification as a sheet: the first groups and the nearest others, as they were printed."""
    say = partial(phrase, "identification", lang=lang)
    parts: list[Table | tuple[str, tuple[str, ...]]] = []
    for number, group in enumerate(result.groups[:_GROUPS], 1):
        whose = ""
        if len(result.inputs) > 1:
            whose = f"{printable(group.run)}   "
        way = from_english(str(group.simplest), lang)
        heading = f"{number}   {_value(result, group)}   {whose}{way}"
        parts.append((heading, tuple(_lines(group, result, lang))))
    left = len(result.groups) - _GROUPS
    if left > 0:
        parts.append(("", (say("more_groups", n=left),)))
    if result.nearest:
        parts.append(_nearest(result, lang))
    parts.append((say("notes"), tuple(_notes(result, say))))
    return Sheet(_title(result, say), parts=tuple(parts))


def _title(result: Identification, say: Say) -> str:
    """Return the number, its reported name, and how many values round to it."""
    name = ""
    if result.measure is not None:
        name = say("reported_as", measure=result.measure)
    answer = say("no_value")
    if result.groups:
        answer = say("values", n=len(result.groups))
    return say(
        "title",
        printed=result.printed,
        name=name,
        answer=answer,
        tried=f"{result.tried:,}",
    )


def _decimals(result: Identification) -> int:
    return min(result.printed.digits + _MORE, _MOST_DECIMALS)


def _value(result: Identification, group: Group) -> str:
    return f"{group.value:.{_decimals(result)}f}"


def _lines(group: Group, result: Identification, lang: str) -> Iterator[str]:
    """Yield who computes a value, and how else it is reached."""
    say = partial(phrase, "identification", lang=lang)
    best = group.simplest
    if best.how == "cut off":
        yield say("cut_off")
    if group.libraries:
        yield _computed_by(group, result.measure, say)
    yield from _remarks(group, result, lang)
    yield _steps(best, say)

    texts = map(str, group.ours)
    others = [from_english(text, lang) for text in texts if text != str(best)]
    if others:
        shown = "; ".join(others[:_WAYS])
        if len(others) > _WAYS:
            shown += say("and_more_ways", n=len(others) - _WAYS)
        yield say("the_same", ways=shown)


def _computed_by(group: Group, reported: str | None, say: Say) -> str:
    """Return which libraries have the value, those first that call it by the reported name."""
    named = []
    others = []
    for library, words in group.libraries.items():
        if reported in words:
            named.append(f"{library} {reported}")
        else:
            others.append(f"{library} {words[0]}")
    libraries = [*named, *others]
    shown = ", ".join(libraries[:_LIBRARIES])
    if len(libraries) > _LIBRARIES:
        shown += say("and_more", n=len(libraries) - _LIBRARIES)
    return say("computed_by", libraries=shown)


def _remarks(group: Group, result: Identification, lang: str) -> Iterator[str]:
    """Yield what there is to say of libraries that call the value by the reported name."""
    reported = result.measure
    counts = result.inputs[group.run]
    for library, words in group.libraries.items():
        if reported not in words:
            continue
        reading = convention(library).read(reported)[0]
        note = reading.entry.remarks(counts)
        if note:
            yield f"{library} {reported}: {from_english(note, lang)}"


def _steps(way: Way, say: Say) -> str:
    if way.library:
        return say("as_in_library")
    if way.steps == 0:
        return say("with_defaults")
    return say("steps", n=way.steps)


def _nearest(result: Identification, lang: str) -> Table:
    say = partial(phrase, "identification", lang=lang)
    several = len(result.inputs) > 1
    heads = [say("value"), say("off_by"), say("method")]
    kinds: list[Kind | bool] = ["number", "number", "text"]
    if several:
        heads.insert(2, say("run"))
        kinds.insert(2, False)

    rows = []
    for group in result.nearest:
        off = f"{group.off:+.{_decimals(result)}f}"
        row = [_value(result, group), off, from_english(str(group.simplest), lang)]
        if several:
            row.insert(2, printable(group.run))
        rows.append(tuple(row))

    title = say("nearest")
    if result.groups:
        title = say("nearest_others")
    return Table(title, tuple(heads), tuple(rows), tuple(kinds))


def _notes(result: Identification, say: Say) -> Iterator[str]:
    """Yield notes on how to read the result."""
    several = len(result.inputs) > 1
    if several and result.groups:
        yield _run_note(result, say)
    if not any(way.how for way in result.by_name):
        for way in result.by_name:
            whose = ""
            if several:
                whose = say("of_run", run=printable(way.run))
            yield say(
                "library_has",
                spelling=way.spelling,
                library=way.library,
                value=f"{way.value:.{_decimals(result)}f}",
                whose=whose,
                printed=result.printed,
            )
    if result.copies is not None:
        yield say("copies", rule=result.copies)
    if result.judged_again is not None:
        yield say("judged_again", rule=result.judged_again)
    yield say(
        "by_chance",
        n=f"{result.different:,}",
        expected=_expected(result.by_chance, say),
        printed=result.printed,
    )
    if result.ambiguous:
        yield say("ambiguous")
    if result.groups and result.groups[0].simplest.rounding:
        yield say("rounded")
    if not result.groups:
        yield say("right_files")
    yield say("about_steps")


def _run_note(result: Identification, say: Say) -> str:
    """Return a note on which run's value it is."""
    claimed = printable(result.taken_for)
    away = result.groups[0].simplest.away
    if result.run is None:
        runs = dict.fromkeys(
            printable(group.run)
            for group in result.groups
            if group.simplest.away == away
        )
        return say("run_ambiguous", runs=say("and").join(runs))
    run = printable(result.run)
    if result.run == result.taken_for:
        return say("run_right", run=run)
    if away > 1:
        return say("run_perhaps", run=run, claimed=claimed)
    for group in result.groups:
        if group.run == result.taken_for:
            steps = group.simplest.away
            return say("run_wrong_steps", run=run, claimed=claimed, n=steps)
    return say("run_wrong", run=run, claimed=claimed)


def _expected(number: float, say: Say) -> str:
    """Return the expected number of values, with two digits."""
    if number < 0.001:  # noqa: PLR2004 - below that, no digit says more
        return say("fewer")
    digits = f"{number:.2g}"
    if number >= 10:  # noqa: PLR2004 - two digits
        digits = f"{number:.0f}"
    return say("about", number=digits)
