"""One library's conventions: how it spells measures, and what ours prints the same number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from rankstone.conventions.renamed_measures import called
from rankstone.errors import BadParameter, RankstoneError, UnknownMeasure, nearest, printable
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.measures.core.definition import Named
from rankstone.measures.core.syntax import parse_measure, read_as

if TYPE_CHECKING:
    from collections.abc import Mapping


#: what stands for a number in a spelling: ``ndcg@<k>``
_PLACE: Final = re.compile(r"<(\w+)>")
#: how a library adds queries up, in words
_SUMMED: Final = {
    "in_order": "added up query by query and ",
    "by_id": "added up in the order of query ids and ",
}
_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
#: the place of numbers with commas between them: gains of the grades 0, 1, 2, …
_GAINS: Final = "gains"


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades a library takes; others it refuses, and so do we under its name.

    Attributes
    ----------
    low, high
        Bounds, both included; ``None`` for none.
    whole
        Whether they must be whole numbers.
    """

    low: float | None = None
    high: float | None = None
    whole: bool = False

    def __str__(self) -> str:
        kind = "whole grades" if self.whole else "grades"
        low = "" if self.low is None else f" from {self.low:g}"
        return f"{kind}{low}{'' if self.high is None else f' to {self.high:g}'}"

    def takes(self, grade: float) -> bool:
        """Say whether a grade is taken."""
        inside = (self.low is None or grade >= self.low) and (self.high is None or grade <= self.high)
        return inside and not (self.whole and grade != int(grade))


@dataclass(frozen=True, slots=True)
class Refusal:
    """What makes a library raise an error, and us under its name.

    Attributes
    ----------
    measure
        A measure of ours that betrays it: ``RR``.
    value
        The value that does; ``None`` for no value at all.
    why
        What to say of a query.
    every
        Whether all queries must have it, or any may.
    """

    measure: str
    value: float | None
    why: str
    every: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One measure of a library.

    Attributes
    ----------
    spelling
        What the library calls it; ``<k>`` stands for a number.
    ours
        The same in our words.
    also
        Other spellings of it.
    options
        Options of alignment: the library's, and this measure's own.
    grades
        The grades it takes; ``None`` for any.
    digits
        Decimals the library rounds its mean to.
    undefined_propagates
        True if one query without a value leaves the mean without one (a NaN among numbers).
    nobody
        What the mean over no query is: ``zero``, an ``error``; ``None`` for no value.
    summed
        How the library adds queries up where that decides the last decimal it prints: one after the other
        ``in_order``, or in the order of their ids (``by_id``); ``None`` for sums rounded once.
    topics
        A pattern of the query ids it takes: queries that it captures equal numbers of are one to it.
    refuses
        What else the library raises errors for.
    unbounded
        True if values may leave the range: a bug of theirs, replayed.
    declared
        Whether a query whose judgments are given and empty counts.
    of_lists
        Whether it measures whole lists (``rankstone.beyond``) instead of lists against judgments.
    bug, note
        What is wrong with it, and what else there is to say.
    differs
        Inputs on which the library's number is another, and why; nothing where there are none.
    """

    spelling: str
    ours: str
    also: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    grades: Grades | None = None
    digits: int | None = None
    undefined_propagates: bool = False
    nobody: str | None = None
    summed: str | None = None
    topics: str | None = None
    refuses: tuple[Refusal, ...] = ()
    unbounded: bool = False
    declared: bool = False
    of_lists: bool = False
    bug: str | None = None
    note: str | None = None
    differs: str | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """What its spelling leaves places for: ``k``, ``p``."""
        return tuple(_PLACE.findall(self.spelling))

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every way to write it."""
        return self.spelling, *self.also

    @property
    def ways(self) -> tuple[str, ...]:
        """What the library does with values, in words: rounding, means without a value, errors."""
        nobody = {"zero": "the mean over no query is 0", "error": "a mean over no query is an error"}
        said = (
            None if self.grades is None else f"takes {self.grades}",
            "a query whose judgments are empty counts" if self.declared else None,
            None
            if self.digits is None
            else f"means are {_SUMMED.get(self.summed or '', '')}rounded to {self.digits} decimals",
            "one query without a value, and the mean has none (NaN)" if self.undefined_propagates else None,
            nobody.get(self.nobody or ""),
            *(f"raises an error: {refusal.why}" for refusal in self.refuses),
        )
        return tuple(way for way in said if way is not None)

    @property
    def chosen(self) -> dict[str, Any]:
        """The options that are not the usual ones."""
        usual = AlignmentOptions().as_dict()
        return {name: value for name, value in self.options.items() if usual.get(name) != value}

    def match(self, text: str) -> Mapping[str, str] | None:
        """Return the numbers in a library's text, or ``None`` when it names something else."""
        for spelling in self.spellings:
            if not text.startswith(
                spelling.partition("<")[0]
            ):  # most are somebody else's: no pattern for these
                continue
            found = _pattern(spelling).fullmatch(text)
            if found:
                return found.groupdict()
        return None

    def measure(self, numbers: Mapping[str, str]) -> Named:
        """Return our measure for the numbers in a library's text."""
        table = {_GAINS: _table(numbers[_GAINS])} if _GAINS in numbers else {}
        return named(self.written(self.ours, {**numbers, **table}))

    @staticmethod
    def written(text: str, numbers: Mapping[str, str]) -> str:
        """Return a text with numbers in the places it leaves for them."""
        return _PLACE.sub(lambda place: numbers[place[1]], text)


def named(text: str) -> Named:
    """Return a measure of ours, or one that replays a library's own: ``replay:allrank.MRR@5``."""
    if not text.startswith("replay:"):
        return parse_measure(text)
    module, _, own = text.removeprefix("replay:").partition(".")
    name = re.split(r"[(@]", own, maxsplit=1)[0]
    return read_as(getattr(import_module(f"rankstone.conventions.replays.{module}"), name), own)


def _pattern(spelling: str) -> re.Pattern[str]:
    parts = _PLACE.split(spelling)
    many = {_GAINS: f"{_NUMBER}(?:,{_NUMBER})*"}
    shape = [
        re.escape(p) if at % 2 == 0 else f"(?P<{p}>{many.get(p, _NUMBER)})" for at, p in enumerate(parts)
    ]
    return re.compile("".join(shape))


def _table(gains: str) -> str:
    """Return gains of the grades 0, 1, 2, … as a table: ``0: 0, 1: 1, 2: 3``."""
    return ", ".join(f"{grade}: {gain}" for grade, gain in enumerate(gains.split(",")))


@dataclass(frozen=True)
class Reading:
    """A library's measure, read: its text, ours, and how lists are aligned for it.

    Attributes
    ----------
    text
        As the library writes it.
    measure
        Ours, under the library's name.
    ours
        Our own text of it.
    options
        Options of alignment that decide where documents stand.
    entry
        Where it comes from.
    """

    text: str
    measure: Any  # a measure of judgments, or of whole lists: the entry says which
    ours: str
    options: Mapping[str, Any]
    entry: Entry

    @property
    def key(self) -> tuple[tuple[str, Any], ...]:
        """What readings that can be computed together have in common."""
        return *sorted(self.options.items()), ("declared", self.entry.declared)


@dataclass(frozen=True, eq=False)
class Convention:
    """What one version of one library means.

    Attributes
    ----------
    name
        ``xgboost``; with the version ``xgboost-3.2``.
    version
        What its number begins with.
    title
        The library's own name.
    url
        Where it lives.
    about
        What it sees, and what to know.
    checked
        Version and date of each comparison with the library itself.
    entries
        Its measures.
    also
        Other names of the library.
    """

    name: str
    version: str
    title: str
    url: str
    about: str
    checked: tuple[str, ...]
    entries: tuple[Entry, ...]
    also: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"

    def read(self, measures: object) -> tuple[Reading, ...]:
        """Read measures in the library's spelling, or ours without parameters.

        Raises
        ------
        UnknownMeasure
            When the library has no such measure; the nearest are named.
        BadParameter
            When a parameter is asked for that the library cannot express.

        Examples
        --------
        >>> from rankstone.conventions import convention
        >>> found = convention("xgboost").read("ndcg@10-")[0]
        >>> found.text, found.entry.ours
        ('ndcg@10-', 'nDCG(gain=exp2)@<k>')
        """
        single = isinstance(measures, (str, Named)) or not isinstance(measures, Iterable)
        each: Iterable[object] = [measures] if single else measures  # type: ignore[assignment]
        texts = [text for one in each for text in split(str(one))]
        if not texts:
            raise UnknownMeasure("no measure given", expected=self._spellings())
        return tuple({text: self._read(text) for text in texts}.values())

    def reading(self, entry: Entry, numbers: Mapping[str, str]) -> Reading:
        """Return one of its measures, with numbers where its spelling leaves places for them."""
        return _reading(entry.written(entry.spelling, numbers), entry, entry.measure(numbers))

    def everything(self, k: int = 10, *, of_lists: bool = False) -> list[str]:
        """Return every measure that takes nothing but a cutoff, or not even that, and grades of any kind.

        Where all of them are for 0 and 1 only, these are.

        Parameters
        ----------
        k
            The cutoff.
        of_lists
            Measures of whole lists instead of those of judgments.
        """
        entries = [entry for entry in self.entries if entry.of_lists == of_lists]
        graded = [entry for entry in entries if entry.grades is None or entry.grades.high != 1]
        texts = [entry.spelling.replace("<k>", str(k)) for entry in graded or entries]
        return [text for text in texts if not _PLACE.search(text)]

    def _read(self, text: str) -> Reading:
        for entry in self.entries:
            numbers = entry.match(text)
            if numbers is not None:
                return _reading(text, entry, entry.measure(numbers))
        return self._in_our_words(text)

    def _in_our_words(self, text: str) -> Reading:
        """Read ``nDCG@10`` as whatever the library calls nDCG."""
        try:
            asked = parse_measure(text)
        except RankstoneError:
            raise self._unknown(text) from None
        if "(" in text:
            raise BadParameter(
                f"{self.title} decides what {asked.name} means: {printable(text)} cannot be asked of it",
                expected=self._spellings(),
                fix=f"write {_plain(asked)}, or leave the convention out",
            )
        for entry in self.entries:
            takes = "<k>" in entry.spelling
            if takes == (asked.k is not None) and _PLACE.findall(entry.ours) in ([], ["k"]):
                measure = entry.measure({"k": str(asked.k)})
                if measure.name == asked.name:
                    return _reading(entry.spelling.replace("<k>", str(asked.k)), entry, measure)
        raise self._unknown(text)

    def _unknown(self, text: str) -> UnknownMeasure:
        known = [spelling for entry in self.entries for spelling in entry.spellings]
        close = nearest(re.sub(r"\d+", "<k>", text), known)
        return UnknownMeasure(
            f"{self} has no measure {printable(text)}",
            expected=self._spellings(),
            fix=f"did you mean {' or '.join(close)}?" if close else None,
        )

    def _spellings(self) -> str:
        return ", ".join(entry.spelling for entry in self.entries)

    @cached_property
    def file(self) -> str:
        """The name of its data file."""
        return f"{self}.toml"


def _plain(measure: Named) -> str:
    return measure.name if measure.k is None else f"{measure.name}@{measure.k}"


def _reading(text: str, entry: Entry, measure: Named) -> Reading:
    """Give the measure the library's name; what an empty query is worth is the measure's own affair."""
    options = {name: value for name, value in entry.options.items() if name != "empty"}
    ours = called(
        measure,
        text,
        empty=entry.options.get("empty", "zero"),
        digits=entry.digits,
        bounded=not entry.unbounded,
        undefined_propagates=entry.undefined_propagates,
        nobody=entry.nobody,
        summed=entry.summed,
    )
    return Reading(text, ours, str(measure), options, entry)


def split(text: str) -> list[str]:
    """Cut a line into measures at blanks and commas that stand in no brackets.

    >>> split("ndcg@10 NDCG:top=5;type=Exp, P(judged_only=True, rel=2)@5")
    ['ndcg@10', 'NDCG:top=5;type=Exp', 'P(judged_only=True, rel=2)@5']
    """
    depth, words = 0, [""]
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and (sign.isspace() or sign == ","):
            words.append("")
        else:
            words[-1] += sign
    return [word for word in words if word]
