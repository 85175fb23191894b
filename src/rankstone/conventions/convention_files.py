"""The data files: found, read, checked.

Two libraries side by side: which options of the measures they share differ.

What libraries refuse: grades, lists they cannot take, means over nobody.

Query ids that a library does not tell apart, or cannot read.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._text import some
from rankstone.conventions.library_convention import Convention, Entry, Grades, Refusal
from rankstone.errors import BadOption, UnknownConvention, nearest, printable
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.measures.core.definition import Named
from rankstone.measures.core.measure import Measure, Status
from rankstone.measures.core.registry import MEASURES
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankstone.hits.list_arrays import Bools, Floats
    from rankstone.measures.core.measure import Scored


#: ``xgboost``, ``xgboost-3.2``, ``xgboost 3.2.1``
_NAME: Final = re.compile(r"(.+?)(?:[-=\s]+v?(\d[\w.]*))?")

#: what a library may say once for all its measures
_SHARED: Final = frozenset({"declared", "grades", "digits", "nan", "nobody", "refuses", "summed", "topics"})
#: what a data file may say of a library, and of each measure
_OF_LIBRARY: Final = frozenset(
    {"name", "version", "title", "url", "about", "checked", "also", "options"}
    | {"measures", "variants", "beyond"}
    | _SHARED
)
_OF_MEASURE: Final = frozenset(
    {"spelling", "ours", "also", "options", "unbounded", "bug", "note", "differs"} | _SHARED
)
#: what is said of all measures and holds for those of whole lists, too; the rest is about judgments
_OF_ORDER: Final = ("ties", "score_dtype")
#: what it may say of a way to ask for any of its measures; the suffix comes behind the spelling
_OF_VARIANT: Final = frozenset({"suffix", "options", "note"}) | _SHARED


@cache
def conventions() -> tuple[Convention, ...]:
    """Return every convention there is, by name, newest version first."""
    return _newest_first(_files())


def _files() -> list[str]:
    """Return the names of the data files."""
    folder = files("rankstone.conventions").joinpath("data")
    return [file.name for file in folder.iterdir() if file.name.endswith(".toml")]


def _newest_first(names: Iterable[str]) -> tuple[Convention, ...]:
    """Read data files; by name, newest version first."""
    found = sorted(map(_read, names), key=lambda one: _numbers(one.version), reverse=True)
    return tuple(sorted(found, key=lambda one: one.name))


@cache
def _read(name: str) -> Convention:
    text = files("rankstone.conventions").joinpath("data", name).read_text(encoding="utf-8")
    return _parsed(tomllib.loads(text), name)


def convention(name: str) -> Convention:
    """Return a library's conventions: ``xgboost`` (the newest we know), ``xgboost-3.2``, ``xgboost-3.2.1``.

    Raises
    ------
    UnknownConvention
        When we do not know the library, or nothing of that version; the nearest names are given.

    Examples
    --------
    >>> str(convention("xgboost-3.2.1"))
    'xgboost-3.2'
    """
    asked = _NAME.fullmatch(str(name).strip())
    library, version = (asked[1].lower(), asked[2]) if asked else (name, None)
    own = _newest_first(
        name for name in _files() if name.startswith(f"{library}-")
    )  # rarely needs the others
    known = own or conventions()
    mine = [one for one in known if library in (one.name, *one.also)]
    fitting = [one for one in mine if version is None or _covers(one.version, version)]
    if fitting:
        return fitting[0]
    if mine:
        raise UnknownConvention(
            f"nothing is known of {mine[0].title} {printable(version)}",
            expected=", ".join(map(str, mine)),
            fix=f"choose the nearest: {mine[0]}",
        )
    close = nearest(name, [spelled for one in known for spelled in (one.name, str(one), *one.also)])
    raise UnknownConvention(
        f"no library is known as {printable(name)}",
        expected=", ".join(dict.fromkeys(one.name for one in known)),
        fix=f"did you mean {' or '.join(close)}?" if close else "rankstone conventions list",
    )


def _covers(known: str, asked: str) -> bool:
    """Say whether what is known of ``3.2`` holds for ``3.2.1``."""
    return asked == known or asked.startswith(f"{known}.")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _parsed(data: dict[str, Any], file: str) -> Convention:
    _only(data, _OF_LIBRARY, file)
    usual: dict[str, Any] = {name: data[name] for name in ("options", *_SHARED) if name in data}
    entries = []
    for measure in data["measures"]:
        _only(measure, _OF_MEASURE, f"{file}: {measure.get('spelling')}")
        entries += [_entry(_over(usual, measure))]
        entries += [_entry(_varied(usual, measure, variant)) for variant in data.get("variants", ())]
    for variant in data.get("variants", ()):
        _only(variant, _OF_VARIANT, f"{file}: {variant.get('suffix')}")
    order = {name: value for name, value in data.get("options", {}).items() if name in _OF_ORDER}
    for measure in data.get("beyond", ()):
        _only(measure, _OF_MEASURE - {"grades"}, f"{file}: {measure.get('spelling')}")
        entries += [_entry(_over({"options": order, "of_lists": True}, measure))]
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


def _over(usual: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Lay what is said of one over what is said of all."""
    return {**usual, **own, "options": {**usual.get("options", {}), **own.get("options", {})}}


def _varied(usual: dict[str, Any], measure: dict[str, Any], variant: dict[str, Any]) -> dict[str, Any]:
    """Return a measure asked for in another way; what it says of itself holds there, too."""
    spelled = [text + variant["suffix"] for text in (measure["spelling"], *measure.get("also", ()))]
    said = {name: value for name, value in variant.items() if name != "suffix"}
    return _over(_over(usual, said), measure) | {"spelling": spelled[0], "also": spelled[1:]}


def _entry(data: dict[str, Any]) -> Entry:
    grades = data.get("grades")
    return Entry(
        spelling=data["spelling"],
        ours=data["ours"],
        also=tuple(data.get("also", ())),
        options=data["options"],
        grades=Grades(**grades) if grades else None,
        digits=data.get("digits"),
        undefined_propagates=data.get("nan") == "propagates",
        nobody=data.get("nobody"),
        summed=data.get("summed"),
        topics=data.get("topics"),
        refuses=tuple(_refusal(one) for one in data.get("refuses", ())),
        unbounded=data.get("unbounded", False),
        declared=data.get("declared", False),
        of_lists=data.get("of_lists", False),
        bug=data.get("bug"),
        note=data.get("note"),
        differs=data.get("differs"),
    )


def _refusal(data: dict[str, Any]) -> Refusal:
    """Read what a library refuses; a value of ``"none"`` is no value at all."""
    value = None if data["value"] == "none" else float(data["value"])
    return Refusal(data["measure"], value, data["why"], data.get("every", False))


def _only(data: dict[str, Any], known: frozenset[str], where: str) -> None:
    if strange := sorted(set(data) - known):
        raise ValueError(f"{where}: {', '.join(strange)} is nothing a convention says")


#: the numbers that spellings are filled with to be compared
_FILL: Final = {"k": "10"}


@dataclass(frozen=True)
class Difference:
    """A measure that two libraries have, and what they mean by it.

    Attributes
    ----------
    measure
        Our name of it, ``nDCG@k``.
    first, second
        Their spellings.
    options
        Option → what the first and the second say; empty where they agree in all.
    """

    measure: str
    first: str
    second: str
    options: Mapping[str, tuple[Any, Any]]


def shared(entry: Entry) -> str | None:
    """Return what libraries have in common when they have this measure: its name, and whether it is cut."""
    if not _fillable(entry):
        return None
    measure = entry.measure(_FILL)
    name = measure.name
    if name not in MEASURES or not isinstance(measure, MEASURES[name]):  # one that only this library has
        return None
    return f"{name}@k" if "<k>" in entry.spelling else name


def _fillable(entry: Entry) -> bool:
    text = entry.spelling + entry.ours
    return "<" not in text.replace("<k>", "")


def choices(entry: Entry) -> dict[str, Any]:
    """Return every choice behind an entry: parameters of our measure, options of alignment."""
    measure = entry.measure(_FILL)
    usual = {} if entry.of_lists else AlignmentOptions().as_dict()
    alignment = {**usual, **entry.options}
    parameters = {f.name: getattr(measure, f.name) for f in fields(measure)}
    if "<k>" in entry.spelling:
        parameters.pop("k")
    own = {"replay": entry.ours} if entry.ours.startswith("replay:") else {}
    ways = {
        "nan": "propagates" if entry.undefined_propagates else None,
        "nobody": entry.nobody,
        "digits": entry.digits,
    }
    refused = {"grades": entry.grades and str(entry.grades)}
    chosen = {**own, **parameters, **alignment, **ways, **refused}
    return {name: _said(value) for name, value in chosen.items()}


def _said(value: object) -> object:
    return (
        str(value) if isinstance(value, Named) or not isinstance(value, (int, float, type(None))) else value
    )


def compare(first: Convention, second: Convention) -> list[Difference]:
    """Compare what two libraries mean by the measures both have; each by its plainest spelling.

    >>> from rankstone.conventions import convention
    >>> one = convention("xgboost")
    >>> compare(one, one)[0]
    Difference(measure='nDCG@k', first='ndcg@<k>', second='ndcg@<k>', options={})
    """
    theirs = _plainest(second)
    return [
        Difference(name, mine.spelling, theirs[name].spelling, _apart(choices(mine), choices(theirs[name])))
        for name, mine in _plainest(first).items()
        if name in theirs
    ]


def _plainest(one: Convention) -> dict[str, Entry]:
    """Return the first entry of each measure."""
    found: dict[str, Entry] = {}
    for entry in one.entries:
        name = shared(entry)
        if name is not None:
            found.setdefault(name, entry)
    return found


def _apart(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = [*first, *(name for name in second if name not in first)]
    return {n: (first.get(n), second.get(n)) for n in names if first.get(n) != second.get(n)}


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a library raises an error, and the place of the first query that is to blame.

    ``query`` is ``None`` where no single query is; ``every`` where all are.
    """

    why: str
    query: int | None = None
    every: bool = False


def refused_grade(entry: Entry, grades: Floats) -> float | None:
    """Return a grade that a library refuses, if there is one."""
    if entry.grades is None:
        return None
    return next((grade for grade in np.unique(grades).tolist() if not entry.grades.takes(grade)), None)


def witnesses(entries: Iterable[Entry], alignment: AlignmentOptions) -> dict[str, Measure]:
    """Return the measures that betray what libraries refuse, as far as they can be computed."""
    found: dict[str, Measure] = {}
    for name in dict.fromkeys(refusal.measure for entry in entries for refusal in entry.refuses):
        witness = parse_measure(name)
        assert isinstance(witness, Measure)  # noqa: S101 - data files are tested
        try:
            witness.check_needs(alignment)
        except BadOption:  # the size of the catalogue, say, which nobody told us
            continue
        found[name] = witness
    return found


def refused(entry: Entry, scored: Scored, betrayed: Mapping[str, Scored]) -> Refused | None:
    """Say why a library raises an error instead of giving these scores; ``None`` where it does not.

    Parameters
    ----------
    entry
        The library's measure.
    scored
        Its scores.
    betrayed
        Name of a witness → its scores of the same queries.
    """
    counts = scored.status != Status.dropped
    for refusal in entry.refuses:
        if refusal.measure not in betrayed:
            continue
        guilty = _guilty(betrayed[refusal.measure], refusal.value) & counts
        if guilty.any() and (not refusal.every or guilty[counts].all()):
            return Refused(refusal.why, int(guilty.argmax()), refusal.every)
    present = counts if entry.undefined_propagates else counts & (scored.status != Status.undefined)
    if entry.nobody == "error" and not present.any():
        return Refused("no query has a value, and there is no mean")
    return None


def _guilty(scored: Scored, value: float | None) -> Bools:
    """Tell which queries have a witness' value."""
    guilty: Bools = scored.status == Status.undefined if value is None else scored.value == value
    return guilty


#: groups of ids that are told
_SHOWN: Final = 3


def confused(library: str, pattern: str, ids: Iterable[str]) -> Iterator[str]:
    """Say which query ids a library takes for one query, and which it refuses.

    Parameters
    ----------
    library
        Its name.
    pattern
        Matches the ids that it takes, and captures the number it goes by.
    ids
        The query ids, each once.

    Examples
    --------
    >>> list(confused("gdeval", "(?:.*-)?([0-9]+)", ["2010-1", "2011-1", "7"]))
    ['gdeval takes each of these groups of query ids for one query: 2010-1, 2011-1']
    """
    by_number: dict[int, list[str]] = {}
    refused = []
    for one in ids:
        found = re.fullmatch(pattern, one, re.ASCII)
        if found is None:
            refused.append(one)
        else:
            by_number.setdefault(int(found[1]), []).append(one)
    merged = [some(group) for group in by_number.values() if len(group) > 1]
    if merged:
        shown = "; ".join(merged[:_SHOWN])
        more = f" ({len(merged) - _SHOWN} more such groups)" if len(merged) > _SHOWN else ""
        yield f"{library} takes each of these groups of query ids for one query: {shown}{more}"
    if refused:
        yield f"{library} ends with an error at query ids that end in no number: {some(refused)}"
