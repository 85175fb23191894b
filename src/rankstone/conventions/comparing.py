"""Two libraries side by side: which options of the measures they share differ."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from rankstone.hits.options import Alignment
from rankstone.measures import Named
from rankstone.measures.registry import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.conventions.convention import Convention, Entry

__all__ = ["Difference", "choices", "compare", "shared"]

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
    usual = {} if entry.of_lists else Alignment().as_dict()
    alignment = {**usual, **entry.options}
    parameters = {f.name: getattr(measure, f.name) for f in fields(measure)}
    if "<k>" in entry.spelling:
        parameters.pop("k")
    own = {"replay": entry.ours} if entry.ours.startswith("replay:") else {}
    ways = {"nan": "spoils" if entry.spoils else None, "nobody": entry.nobody, "digits": entry.digits}
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
