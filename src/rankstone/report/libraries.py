"""What other libraries would say of the first two systems, by words that mean such a measure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import InputError, UsageError
from rankstone.identifying import as_libraries
from rankstone.report.queries import first_pair
from rankstone.report.words import words

if TYPE_CHECKING:
    from rankstone.comparing import Comparison
    from rankstone.identifying import Way

__all__ = ["libraries"]

#: rows of a run that are aligned as often as libraries differ, at most
_ROWS: Final = 1_000_000
#: values no further apart than this are equal: sums were taken in another order
_EQUAL: Final = 11
_ALIGNED: Final = ("columns", "format_in", "exclude", "collapse", "order", "depth", "queries")


def libraries(found: Comparison) -> dict[str, Any]:
    """Return what libraries would print for each primary measure, those that agree in one row."""
    say = words(found.lang)
    one, other = first_pair(found)
    told: dict[str, Any] = {"systems": [one, other], "rows": [], "note": None}
    if found.sources is None or found.sources.convention is not None or found.audit is None:
        return {**told, "note": say["no_libraries"]}
    runs = [found.replicates.get(system, [system])[0] for system in (one, other)]
    if max(found.audit.runs[run].retrieved for run in runs) > _ROWS:
        return {**told, "note": say["libraries_large"]}
    given = {name: value for name, value in found.sources.given.items() if name in _ALIGNED}
    try:
        for measure in found.primary:
            word = re.sub(r"\(.*?\)", "", measure)
            ways = [as_libraries(found.sources.qrels, found.sources.runs[run], word, **given) for run in runs]
            told["rows"] += _rows(measure, _mean(found, measure, (one, other)), *ways)
    except (UsageError, InputError) as error:
        return {**told, "rows": [], "note": str(error)}
    return told


def _mean(found: Comparison, measure: str, systems: tuple[str, str]) -> tuple[float, float]:
    matrix = found.matrices[measure]
    one, other = (float(matrix.units.mean[matrix.systems.index(name)]) for name in systems)
    return one, other


def _rows(measure: str, ours: tuple[float, float], one: list[Way], other: list[Way]) -> list[dict[str, Any]]:
    """Return a row for each pair of values: ours first, then as libraries agree."""
    second = {(way.library, way.spelling): way for way in other}
    agreeing: dict[tuple[float, float], list[Way]] = {_key(*ours): []}
    for way in one:
        same = second.get((way.library, way.spelling))
        if same is not None and not way.steps:  # with steps it is one with another cutoff
            agreeing.setdefault(_key(way.value, same.value), []).append(way)
    return [
        {
            "measure": measure,
            "means": measure if not at else _simplest(ways),
            "libraries": _named(ways),
            "one": values[0],
            "other": values[1],
            "difference": values[0] - values[1],
            "turned": (values[0] - values[1]) * (ours[0] - ours[1]) < 0,
        }
        for at, (values, ways) in enumerate(agreeing.items())
    ]


def _key(one: float, other: float) -> tuple[float, float]:
    return round(one, _EQUAL), round(other, _EQUAL)


def _simplest(ways: list[Way]) -> str:
    """Return the shortest way to say in our words what libraries mean."""
    return min(map(str, ways), key=lambda text: (len(text), text))


def _named(ways: list[Way]) -> str:
    """Return libraries with the shortest word each has for it, and how many others.

    >>> from rankstone.identifying import Way
    >>> _named([Way(0.5, "RR", library="a-1", spelling=word) for word in ("mrr@all", "mrr")])
    'a-1 mrr (+1)'
    """
    known: dict[str, dict[str, None]] = {}
    for way in ways:
        known.setdefault(way.library, {})[way.spelling] = None
    return "; ".join(
        f"{library} {min(words, key=len)}{f' (+{len(words) - 1})' if len(words) > 1 else ''}"
        for library, words in known.items()
    )
