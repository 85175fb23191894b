"""The data files of conventions: reading, comparing, and what a library refuses.

A library may refuse grades, lists and means over no query, and may read different query ids as one.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone import __version__
from rankstone._basics import counted, some
from rankstone.conventions.library_convention import Convention, Entry, Grades, Refusal
from rankstone.errors import (
    BadOption,
    UnknownConvention,
    UsageError,
    did_you_mean,
    printable,
)
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.measures.core.definition import Named
from rankstone.measures.core.measure import Measure, Status
from rankstone.measures.core.registry import MEASURES
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankstone._basics import Bools, Floats
    from rankstone.measures.core.measure import Scored


#: ``xgboost``, ``xgboost-3.2``, ``xgboost 3.2.1``
_NAME: Final = re.compile(r"(.+?)(?:[-=\s]+v?(\d[\w.]*))?")

#: keys that a file may give once for all its measures
_SHARED: Final = frozenset(
    {
        "by_ranks",
        "declared",
        "grades",
        "digits",
        "last_rank",
        "nan",
        "no_queries",
        "refuses",
    }
    | {"summed", "topics"}
)
#: keys of a library, and of each measure
_OF_LIBRARY: Final = frozenset(
    {"name", "version", "title", "url", "about", "checked", "also", "options"}
    | {"measures", "variants", "beyond"}
    | _SHARED
)
_OF_MEASURE: Final = frozenset(
    {
        "spelling",
        "ours",
        "also",
        "options",
        "texts",
        "unbounded",
        "bug",
        "note",
        "differs",
        "cutoff_limit",
        "when",
    }
    | _SHARED
)
#: options for all measures that also apply to measures of whole lists; the others are about judgments
_OF_ORDER: Final = ("ties", "score_dtype")
#: keys of a variant of every measure; its suffix is appended to the spelling
_OF_VARIANT: Final = frozenset({"suffix", "options", "note"}) | _SHARED


@cache
def conventions() -> tuple[Convention, ...]:
    """Return all conventions by name, newest version first."""
    return _newest_first(_files())


def _files() -> list[str]:
    """Return the names of the data files."""
    folder = files("rankstone.conventions").joinpath("data")
    return [file.name for file in folder.iterdir() if file.name.endswith(".toml")]


def _newest_first(names: Iterable[str]) -> tuple[Convention, ...]:
    """Read data files; sort by name, newest version first."""
    by_version = sorted(
        map(_read, names), key=lambda library: _numbers(library.version), reverse=True
    )
    return tuple(sorted(by_version, key=lambda library: library.name))


@cache
def _read(name: str) -> Convention:
    text = (
        files("rankstone.conventions")
        .joinpath("data", name)
        .read_text(encoding="utf-8")
    )
    return _parsed(tomllib.loads(text), name)


def convention(name: str) -> Convention:
    """Return a library's convention: ``xgboost`` (newest known version), ``xgboost-3.2``, ``xgboost-3.2.1``.

    Raises
    ------
    UnknownConvention
        When the library or that version is not known; the nearest names are suggested.

    Examples
    --------
    >>> str(convention("xgboost-3.2.1"))
    'xgboost-3.2'
    """
    parts = _NAME.fullmatch(str(name).strip())
    library, version = (parts[1].lower(), parts[2]) if parts else (name, None)
    # the files of other libraries are rarely needed
    known = (
        _newest_first(name for name in _files() if name.startswith(f"{library}-"))
        or conventions()
    )
    versions = [
        candidate for candidate in known if library in (candidate.name, *candidate.also)
    ]
    matching = [
        candidate
        for candidate in versions
        if version is None or _covers(candidate.version, version)
    ]
    if matching:
        return matching[0]
    if versions:
        raise UnknownConvention(
            f"version {printable(version)} of {versions[0].title} is not known",
            expected=", ".join(map(str, versions)),
            fix=f"choose a known version: {versions[0]}",
        )
    spellings = [
        spelling
        for candidate in known
        for spelling in (candidate.name, str(candidate), *candidate.also)
    ]
    raise UnknownConvention(
        f"no library is known as {printable(name)}",
        expected=", ".join(dict.fromkeys(candidate.name for candidate in known)),
        fix=did_you_mean(name, spellings, n=3)
        or "rankstone conventions list (in Python rankstone.conventions.conventions())",
    )


@cache
def own_convention() -> Convention:
    """Return rankstone's own definitions as a convention, to hold libraries against."""
    entries = []
    judging = [name for name, kind in MEASURES.items() if issubclass(kind, Measure)]
    for name, with_cutoff in product(judging, (True, False)):
        spelling = f"{name}@<k>" if with_cutoff else name
        entry = Entry(spelling, spelling, declared=True)
        try:
            entry.measure(_FILL)
        except UsageError:  # it needs parameters, or has no cutoff
            continue
        entries.append(entry)
    name = "rankstone"
    return Convention(name, __version__, name, "", "", (), tuple(entries))


def _covers(known: str, version: str) -> bool:
    """Return True if a known version includes another one, as ``3.2`` includes ``3.2.1``."""
    return version == known or version.startswith(f"{known}.")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _parsed(data: dict[str, Any], file: str) -> Convention:
    _only(data, _OF_LIBRARY, file)
    defaults: dict[str, Any] = {
        name: data[name] for name in ("options", *_SHARED) if name in data
    }
    entries = []
    for measure in data["measures"]:
        _only(measure, _OF_MEASURE, f"{file}: {measure.get('spelling')}")
        entries += [_entry(_overridden(defaults, measure))]
        entries += [
            _entry(_variant(defaults, measure, variant))
            for variant in data.get("variants", ())
        ]
    for variant in data.get("variants", ()):
        _only(variant, _OF_VARIANT, f"{file}: {variant.get('suffix')}")
    order = {
        name: value
        for name, value in data.get("options", {}).items()
        if name in _OF_ORDER
    }
    ranks = {"by_ranks": data.get("by_ranks", False)}
    for measure in data.get("beyond", ()):
        _only(measure, _OF_MEASURE - {"grades"}, f"{file}: {measure.get('spelling')}")
        entries += [
            _entry(_overridden({**ranks, "options": order, "of_lists": True}, measure))
        ]
    return Convention(
        name=data["name"],
        version=data["version"],
        title=data["title"],
        url=data["url"],
        about=data["about"],
        checked=tuple(data.get("checked", ())),
        entries=tuple(entries),
        also=tuple(data.get("also", ())),
    )


def _overridden(defaults: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of all measures, overridden by a measure's own."""
    return {
        **defaults,
        **own,
        "options": {**defaults.get("options", {}), **own.get("options", {})},
    }


def _variant(
    defaults: dict[str, Any], measure: dict[str, Any], variant: dict[str, Any]
) -> dict[str, Any]:
    """Return a variant of a measure, which keeps the measure's own keys."""
    spellings = [
        text + variant["suffix"]
        for text in (measure["spelling"], *measure.get("also", ()))
    ]
    own = {name: value for name, value in variant.items() if name != "suffix"}
    names = {"spelling": spellings[0], "also": spellings[1:]}
    return _overridden(_overridden(defaults, own), measure) | names


def _entry(data: dict[str, Any]) -> Entry:
    grades = data.get("grades")
    limit = data.get("cutoff_limit")
    return Entry(
        spelling=data["spelling"],
        ours=data["ours"],
        also=tuple(data.get("also", ())),
        options=data["options"],
        grades=Grades(**grades) if grades else None,
        last_rank=data.get("last_rank"),
        cutoff_limit=(limit["k"], limit["why"]) if limit else None,
        digits=data.get("digits"),
        undefined_propagates=data.get("nan") == "propagates",
        no_queries=data.get("no_queries"),
        summed=data.get("summed"),
        topics=data.get("topics"),
        refuses=tuple(_refusal(refusal) for refusal in data.get("refuses", ())),
        unbounded=data.get("unbounded", False),
        declared=data.get("declared", False),
        by_ranks=data.get("by_ranks", False),
        of_lists=data.get("of_lists", False),
        of_texts=data.get("texts", False),
        bug=data.get("bug"),
        note=data.get("note"),
        differs=data.get("differs"),
        when=data.get("when", {}),
    )


def _refusal(data: dict[str, Any]) -> Refusal:
    """Parse what a library refuses; the value ``"none"`` means undefined."""
    value = None if data["value"] == "none" else float(data["value"])
    return Refusal(data["measure"], value, data["why"], data.get("every", False))


def _only(data: dict[str, Any], known: frozenset[str], where: str) -> None:
    if strange := sorted(set(data) - known):
        raise ValueError(f"{where}: {', '.join(strange)} is not a key of a convention")


#: the numbers that spellings are filled with to be compared
_FILL: Final = {"k": "10"}


@dataclass(frozen=True)
class Difference:
    """How two libraries define a measure that both have.

    Attributes
    ----------
    measure
        Our name of the measure, ``nDCG@k``.
    first, second
        Their spellings.
    options
        Option → the values of the first and the second; empty where all are equal.
    """

    measure: str
    first: str
    second: str
    options: Mapping[str, tuple[Any, Any]]


def shared(entry: Entry) -> str | None:
    """Return the name by which libraries share this measure, with ``@k`` where it has a cutoff."""
    if not _fillable(entry):
        return None
    measure = entry.measure(_FILL)
    name = measure.name
    if name not in MEASURES or not isinstance(
        measure, MEASURES[name]
    ):  # only this library has it
        return None
    if "<k>" in entry.spelling:
        return f"{name}@k"
    return name


def _fillable(entry: Entry) -> bool:
    text = entry.spelling + entry.ours
    return "<" not in text.replace("<k>", "")


def choices(entry: Entry) -> dict[str, Any]:
    """Return all choices of an entry: parameters of our measure, alignment options, rules for values."""
    measure = entry.measure(_FILL)
    defaults = {} if entry.of_lists else AlignmentOptions().as_dict()
    alignment = {**defaults, **entry.options}
    parameters = {f.name: getattr(measure, f.name) for f in fields(measure)}
    if "<k>" in entry.spelling:
        parameters.pop("k")
    own = {"replay": entry.ours} if entry.ours.startswith("replay:") else {}
    rules = {
        "nan": "propagates" if entry.undefined_propagates else None,
        "no_queries": entry.no_queries,
        "digits": entry.digits,
    }
    refused = {"grades": entry.grades and str(entry.grades)}
    chosen = {**own, **parameters, **alignment, **rules, **refused}
    return {name: _comparable(value) for name, value in chosen.items()}


def _comparable(value: object) -> object:
    if isinstance(value, Named) or not isinstance(value, (int, float, type(None))):
        return str(value)
    return value


def compare(first: Convention, second: Convention) -> list[Difference]:
    """Compare the measures that two libraries share, each by its simplest spelling.

    >>> from rankstone.conventions import convention
    >>> xgboost = convention("xgboost")
    >>> compare(xgboost, xgboost)[0]
    Difference(measure='nDCG@k', first='ndcg@<k>', second='ndcg@<k>', options={})
    """
    others = _simplest(second)
    return [
        Difference(
            name,
            entry.spelling,
            others[name].spelling,
            differences(choices(entry), choices(others[name])),
        )
        for name, entry in _simplest(first).items()
        if name in others
    ]


def _simplest(library: Convention) -> dict[str, Entry]:
    """Return the first entry of each measure."""
    simplest: dict[str, Entry] = {}
    for entry in library.entries:
        name = shared(entry)
        if name is not None:
            simplest.setdefault(name, entry)
    return simplest


def differences(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the choices that are not equal, with the values of both."""
    names = [*first, *(name for name in second if name not in first)]
    different = {}
    for name in names:
        both = first.get(name), second.get(name)
        if both[0] != both[1]:
            different[name] = both
    return different


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a library raises an error, and the index of the first query that causes it.

    ``query`` is ``None`` where no single query does; ``every`` is True where all do.
    """

    why: str
    query: int | None = None
    every: bool = False


def refused_grade(entry: Entry, grades: Floats) -> float | None:
    """Return the lowest grade that a library refuses; ``None`` where it accepts all."""
    if entry.grades is None:
        return None
    return next(
        (
            grade
            for grade in np.unique(grades).tolist()
            if not entry.grades.accepts(grade)
        ),
        None,
    )


def witnesses(
    entries: Iterable[Entry], alignment: AlignmentOptions
) -> dict[str, Measure]:
    """Return the measures whose values show what libraries refuse, if they can be computed."""
    measures: dict[str, Measure] = {}
    for name in dict.fromkeys(
        refusal.measure for entry in entries for refusal in entry.refuses
    ):
        witness = parse_measure(name)
        assert isinstance(witness, Measure)  # noqa: S101 - data files are tested
        try:
            witness.check_needs(alignment)
        except (
            BadOption
        ):  # it needs something that is not given, such as the size of the catalogue
            continue
        measures[name] = witness
    return measures


def refused(
    entry: Entry, scored: Scored, observed: Mapping[str, Scored]
) -> Refused | None:
    """Return why a library raises an error instead of returning these scores; ``None`` where it does not.

    Parameters
    ----------
    entry
        The library's measure.
    scored
        Its scores.
    observed
        Measure named in a refusal → its scores of the same queries.
    """
    counts = scored.status != Status.dropped
    for refusal in entry.refuses:
        if refusal.measure not in observed:
            continue
        matching = _with_value(observed[refusal.measure], refusal.value) & counts
        if matching.any() and (not refusal.every or matching[counts].all()):
            return Refused(refusal.why, int(matching.argmax()), refusal.every)
    present = (
        counts
        if entry.undefined_propagates
        else counts & (scored.status != Status.undefined)
    )
    if entry.no_queries == "error" and not present.any():
        return Refused("no query has a value, and there is no mean")
    return None


def _with_value(scored: Scored, value: float | None) -> Bools:
    """Return which queries have a value, bool ``[queries]``; ``None`` means undefined."""
    matching: Bools = (
        scored.status == Status.undefined if value is None else scored.value == value
    )
    return matching


#: groups of ids that a warning shows
_SHOWN: Final = 3


def confused_ids(library: str, pattern: str, ids: Iterable[str]) -> Iterator[str]:
    """Yield warnings about query ids that a library reads as one query, and about those it refuses.

    Parameters
    ----------
    library
        Its name.
    pattern
        Matches the ids that it accepts, and captures the number that it uses.
    ids
        The query ids, each once.

    Examples
    --------
    >>> list(confused_ids("gdeval", "(?:.*-)?([0-9]+)", ["2010-1", "2011-1", "7"]))
    ['gdeval reads each of these groups of query ids as one query: 2010-1, 2011-1']
    """
    by_number: dict[int, list[str]] = {}
    refused = []
    for query_id in ids:
        match = re.fullmatch(pattern, query_id, re.ASCII)
        if match is None:
            refused.append(query_id)
        else:
            by_number.setdefault(int(match[1]), []).append(query_id)
    merged = [some(group) for group in by_number.values() if len(group) > 1]
    if merged:
        shown = "; ".join(merged[:_SHOWN])
        more = (
            f" ({counted(len(merged) - _SHOWN, 'more group')})"
            if len(merged) > _SHOWN
            else ""
        )
        yield f"{library} reads each of these groups of query ids as one query: {shown}{more}"
    if refused:
        yield f"{library} raises an error for query ids that do not end in a number: {some(refused)}"
