"""The convention of one library: its names of measures, and our measures that print the same numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import Record, counted
from rankstone.conventions.renamed_measures import renamed
from rankstone.errors import (
    BadParameter,
    RankstoneError,
    UnknownMeasure,
    did_you_mean,
    printable,
)
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.measures.core.definition import Named
from rankstone.measures.core.syntax import parse_as, parse_measure
from rankstone.measures.core.trec_eval_names import TREC, split_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.evaluation.prepared import Prepared


#: a placeholder for a number in a spelling: ``ndcg@<k>``
_PLACE: Final = re.compile(r"<(\w+)>")
#: how a library sums queries, in words
_SUMMED: Final = {
    "in_order": "summed query by query and ",
    "by_id": "summed in the order of query ids and ",
}
_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
#: the placeholder of a list of numbers: gains of the grades 0, 1, 2, …
_GAINS: Final = "gains"


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades a library accepts; it refuses others, and so does rankstone under its name.

    Attributes
    ----------
    low, high
        Bounds, both included; ``None`` for none.
    whole
        True if grades must be whole numbers.
    """

    low: float | None = None
    high: float | None = None
    whole: bool = False

    def __str__(self) -> str:
        kind = "whole grades" if self.whole else "grades"
        low = "" if self.low is None else f" from {self.low:g}"
        return f"{kind}{low}{'' if self.high is None else f' to {self.high:g}'}"

    def accepts(self, grade: float) -> bool:
        """Return True for a grade that is accepted."""
        inside = (self.low is None or grade >= self.low) and (
            self.high is None or grade <= self.high
        )
        return inside and not (self.whole and grade != int(grade))


@dataclass(frozen=True, slots=True)
class Refusal:
    """A condition under which a library raises an error, and so does rankstone under its name.

    Attributes
    ----------
    measure
        Our measure that shows the condition: ``RR``.
    value
        The value that shows it; ``None`` for undefined.
    why
        The reason, for the message.
    every
        True if all queries must have the value; otherwise one is enough.
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
        The library's name of it; ``<k>`` is replaced by a number.
    ours
        Our name of the same measure.
    also
        Other spellings of it.
    options
        Alignment options of the library and of this measure.
    grades
        The grades it accepts; ``None`` for any.
    last_rank
        The last rank the library looks at: cutoffs beyond it act as this one; ``None`` for no such rank.
    cutoff_limit
        The largest cutoff that has a number here, and why larger ones have none.
    digits
        Decimals the library rounds its mean to.
    undefined_propagates
        True if one query without a value leaves the mean without one (a NaN among numbers).
    no_queries
        The mean over no query: ``zero``, or an ``error``; ``None`` for undefined.
    summed
        How the library sums queries, if that decides the last decimal it prints: ``in_order``, or in the
        order of their ids (``by_id``); ``None`` for exact sums, rounded once.
    topics
        A pattern of the query ids it accepts; ids with the same captured number are one query to it.
    refuses
        Other conditions under which it raises errors.
    unbounded
        True if values may leave the range: a bug of the library, replayed.
    declared
        True if a query with an empty entry in the judgments counts.
    by_ranks
        True if it orders lists by a column of ranks: so do we where a run has one, even beside scores.
    of_lists
        True for measures of whole lists (``rankstone.beyond``), False for lists against judgments.
    of_texts
        True for measures of judgments by the similarity of texts.
    bug, note
        A known bug, and other remarks.
    differs
        Inputs on which the library prints another number, and why; ``None`` if there are none.
    when
        ``bug``, ``note`` or ``differs`` → what data must have for that remark to matter: ``duplicates``,
        ``tied`` rows, ``negative`` grades.
    """

    spelling: str
    ours: str
    also: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    grades: Grades | None = None
    last_rank: int | None = None
    cutoff_limit: tuple[int, str] | None = None
    digits: int | None = None
    undefined_propagates: bool = False
    no_queries: str | None = None
    summed: str | None = None
    topics: str | None = None
    refuses: tuple[Refusal, ...] = ()
    unbounded: bool = False
    declared: bool = False
    by_ranks: bool = False
    of_lists: bool = False
    of_texts: bool = False
    bug: str | None = None
    note: str | None = None
    differs: str | None = None
    when: Mapping[str, str] = field(default_factory=dict)

    @property
    def places(self) -> tuple[str, ...]:
        """The placeholders in its spelling: ``k``, ``p``."""
        return tuple(_PLACE.findall(self.spelling))

    @property
    def spellings(self) -> tuple[str, ...]:
        """All its spellings."""
        return self.spelling, *self.also

    def remarks(self, counts: Mapping[str, int]) -> str:
        """Return what matters on data with these counts of ``duplicates``, ``tied`` and so on, as one text."""
        differs = self.differs and f"differs: {self.differs}"
        texts = {"bug": self.bug, "note": self.note, "differs": differs}
        return "; ".join(
            text
            for kind, text in texts.items()
            if text and counts.get(self.when.get(kind, ""), kind != "differs")
        )

    @property
    def rules(self) -> tuple[str, ...]:
        """The library's rules for values in words: rounding, undefined means, errors."""
        mean_of_none = {
            "zero": "the mean over no query is 0",
            "error": "a mean over no query is an error",
        }
        texts = (
            None if self.grades is None else f"accepts {self.grades}",
            "a query with an empty entry in the judgments counts"
            if self.declared
            else None,
            None
            if self.last_rank is None or "k" not in self.places
            else f"cutoffs above {self.last_rank} act as {self.last_rank}",
            None
            if self.cutoff_limit is None
            else "no number for cutoffs above {}: {}".format(*self.cutoff_limit),
            None
            if self.digits is None
            else f"means are {_SUMMED.get(self.summed or '', '')}rounded to {counted(self.digits, 'decimal')}",
            "one undefined query makes the mean undefined (NaN)"
            if self.undefined_propagates
            else None,
            mean_of_none.get(self.no_queries or ""),
            *(f"raises an error: {refusal.why}" for refusal in self.refuses),
        )
        return tuple(text for text in texts if text is not None)

    @property
    def chosen(self) -> dict[str, Any]:
        """The options that differ from rankstone's defaults."""
        defaults = AlignmentOptions().as_dict()
        return {
            name: value
            for name, value in self.options.items()
            if defaults.get(name) != value
        }

    def as_read(self, ready: Prepared, options: Mapping[str, object]) -> Prepared:
        """Return prepared judgments for which empty entries and ranks count as for the library."""
        if not self.declared:
            ready = ready.without_empty_entries()
        if self.by_ranks and "order" not in options:
            ready = ready.by_ranks()
        return ready

    def match(self, text: str) -> Mapping[str, str] | None:
        """Return the numbers in a library's name of this measure; ``None`` for any other name."""
        for spelling in self.spellings:
            if not text.startswith(
                spelling.partition("<")[0]
            ):  # most are other measures: skip the pattern
                continue
            matched = _pattern(spelling).fullmatch(text)
            if matched:
                return matched.groupdict()
        return None

    def measure(self, numbers: Mapping[str, str]) -> Named:
        """Return our measure with the numbers of a library's name."""
        table = {_GAINS: _table(numbers[_GAINS])} if _GAINS in numbers else {}
        return named(self.ours_with({**numbers, **table}))

    def ours_with(self, numbers: Mapping[str, str]) -> str:
        """Return our name of the measure with the numbers of a library's name.

        Raises
        ------
        BadParameter
            When the library has no number for this cutoff, or none that is computed here.
        """
        k = float(numbers.get("k", 0))
        if self.cutoff_limit is not None and k > self.cutoff_limit[0]:
            limit, why = self.cutoff_limit
            raise BadParameter(
                f"{self.written(self.spelling, numbers)} has no number here: {why}",
                expected=f"a cutoff up to {limit}",
                fix=f"write {self.written(self.spelling, {**numbers, 'k': str(limit)})}",
            )
        if self.last_rank is not None and k > self.last_rank:
            numbers = {**numbers, "k": str(self.last_rank)}
        return self.written(self.ours, numbers)

    @staticmethod
    def written(text: str, numbers: Mapping[str, str]) -> str:
        """Return a text with numbers in place of its placeholders."""
        return _PLACE.sub(lambda place: numbers[place[1]], text)


def named(text: str) -> Named:
    """Return one of our measures, or a replay of a library's own: ``replay:allrank.MRR@5``."""
    if not text.startswith("replay:"):
        return parse_measure(text)
    module, _, own = text.removeprefix("replay:").partition(".")
    name = re.split(r"[(@]", own, maxsplit=1)[0]
    return parse_as(
        getattr(import_module(f"rankstone.conventions.replays.{module}"), name), own
    )


def _pattern(spelling: str) -> re.Pattern[str]:
    parts = _PLACE.split(spelling)
    many = {_GAINS: f"{_NUMBER}(?:,{_NUMBER})*"}
    shape = [
        re.escape(p) if index % 2 == 0 else f"(?P<{p}>{many.get(p, _NUMBER)})"
        for index, p in enumerate(parts)
    ]
    return re.compile("".join(shape))


def _table(gains: str) -> str:
    """Return gains of the grades 0, 1, 2, … as a table: ``0: 0, 1: 1, 2: 3``."""
    return ", ".join(f"{grade}: {gain}" for grade, gain in enumerate(gains.split(",")))


@dataclass(frozen=True)
class Reading:
    """A parsed measure of a library: its name, our measure, and the alignment it needs.

    Attributes
    ----------
    text
        The library's name of it.
    measure
        Our measure, under the library's name.
    ours
        Our name of it.
    options
        Alignment options, which decide the ranks of documents.
    entry
        The entry of the data file.
    """

    text: str
    measure: Any  # a measure of judgments, or of whole lists: the entry says which
    ours: str
    options: Mapping[str, Any]
    entry: Entry

    @property
    def key(self) -> tuple[tuple[str, Any], ...]:
        """The key that is equal for readings which can be computed together."""
        return *sorted(self.options.items()), ("declared", self.entry.declared)


class Convention(Record):
    """The convention of one version of a library.

    Attributes
    ----------
    name
        ``xgboost``; with the version ``xgboost-3.2``.
    version
        The beginning of the version number.
    title
        The library's full name.
    url
        Its address on the web.
    about
        What the library reads, and what to know about it.
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

    @property
    def shown_by(self) -> str:
        """What shows its definitions, for a fix."""
        python = f"rankstone.conventions.convention({str(self)!r}).entries"
        return f"rankstone conventions show {self} (in Python {python})"

    def read(self, measures: object) -> tuple[Reading, ...]:
        """Parse measures by the library's names, or by ours without parameters.

        Raises
        ------
        UnknownMeasure
            When the library has no such measure; the nearest names are suggested.
        BadParameter
            When a parameter is given that the library decides.

        Examples
        --------
        >>> from rankstone.conventions import convention
        >>> reading = convention("xgboost").read("ndcg@10-")[0]
        >>> reading.text, reading.entry.ours
        ('ndcg@10-', 'nDCG(gain=exp2)@<k>')
        """
        single = isinstance(measures, (str, Named)) or not isinstance(
            measures, Iterable
        )
        each: Iterable[object] = [measures] if single else measures  # type: ignore[assignment]
        texts = [text for item in each for text in split(str(item))]
        if not texts:
            raise UnknownMeasure("no measure given", expected=self._spellings())
        by_text: dict[str, tuple[str, Reading]] = {}
        for text in dict.fromkeys(texts):
            reading = self._read(text)
            other, _ = by_text.setdefault(reading.text, (text, reading))
            if other != text:
                raise BadParameter(
                    f"{other} and {text} are one measure of {self.title}: {reading.text}",
                    fix="name it once; without the convention names have rankstone's definitions",
                )
        return tuple(reading for _, reading in by_text.values())

    def reading(self, entry: Entry, numbers: Mapping[str, str]) -> Reading:
        """Return one of its measures, with numbers in place of the placeholders."""
        return _reading(
            entry.written(entry.spelling, numbers), entry, entry.measure(numbers)
        )

    def everything(self, k: int = 10, *, of_lists: bool = False) -> list[str]:
        """Return the measures without parameters other than a cutoff, for grades of any kind.

        Where all of them are for the grades 0 and 1, these are returned.

        Parameters
        ----------
        k
            The cutoff.
        of_lists
            Measures of whole lists instead of those of judgments.
        """
        entries = [
            entry
            for entry in self.entries
            if entry.of_lists == of_lists and not entry.of_texts
        ]
        graded = [
            entry for entry in entries if entry.grades is None or entry.grades.high != 1
        ]
        texts = [entry.spelling.replace("<k>", str(k)) for entry in graded or entries]
        return [text for text in texts if not _PLACE.search(text)]

    def _read(self, text: str) -> Reading:
        for entry in self.entries:
            numbers = entry.match(text)
            if numbers is not None:
                return _reading(text, entry, entry.measure(numbers))
        return self._by_our_name(text)

    def _by_our_name(self, text: str) -> Reading:
        """Parse our ``nDCG@10`` as the library's nDCG."""
        try:
            measure = parse_measure(text)
        except RankstoneError:
            name, _ = split_name(text) or ("", None)
            if (
                self.name == "trec_eval"
                and name in TREC
                and TREC[name].values == "none"
            ):
                return self._read(name)  # it ignores what follows the name
            raise self._unknown(text) from None
        if "(" in text:
            raise BadParameter(
                f"{self.title} decides the parameters of {measure.name}, not {printable(text)}",
                expected=self._spellings(),
                fix=f"write {_plain(measure)}, or remove the convention",
            )
        for entry in self.entries:
            has_cutoff = "<k>" in entry.spelling
            if has_cutoff == (measure.k is not None) and _PLACE.findall(entry.ours) in (
                [],
                ["k"],
            ):
                same = entry.measure({"k": str(measure.k)} if has_cutoff else {})
                if same.name == measure.name:
                    return _reading(
                        entry.spelling.replace("<k>", str(measure.k)), entry, same
                    )
        raise self._unknown(text)

    def _unknown(self, text: str) -> UnknownMeasure:
        known = [spelling for entry in self.entries for spelling in entry.spellings]
        return UnknownMeasure(
            f"{self} has no measure {printable(text)}",
            expected=self._spellings(),
            fix=did_you_mean(re.sub(r"\d+", "<k>", text), known, n=3),
        )

    def _spellings(self) -> str:
        return ", ".join(entry.spelling for entry in self.entries)

    @cached_property
    def file(self) -> str:
        """The name of its data file."""
        return f"{self}.toml"


def _plain(measure: Named) -> str:
    if measure.k is None:
        return measure.name
    return f"{measure.name}@{measure.k}"


def _reading(text: str, entry: Entry, measure: Named) -> Reading:
    """Return a reading; the value of an empty query is a property of the measure, not of the alignment."""
    options = {name: value for name, value in entry.options.items() if name != "empty"}
    ours = renamed(
        measure,
        text,
        empty=entry.options.get("empty", "zero"),
        digits=entry.digits,
        bounded=not entry.unbounded,
        undefined_propagates=entry.undefined_propagates,
        no_queries=entry.no_queries,
        summed=entry.summed,
    )
    return Reading(text, ours, str(measure), options, entry)


def split(text: str) -> list[str]:
    """Split a line into measures at blanks and commas outside of brackets.

    >>> split("ndcg@10 NDCG:top=5;type=Exp, P(judged_only=True, rel=2)@5")
    ['ndcg@10', 'NDCG:top=5;type=Exp', 'P(judged_only=True, rel=2)@5']
    """
    depth = 0
    words = [""]
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and (sign.isspace() or sign == ","):
            words.append("")
        else:
            words[-1] += sign
    return [word for word in words if word]
