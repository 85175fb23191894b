"""Measures of scores by their names: the requested ones, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rankstone.errors import RankstoneError, UsageError, did_you_mean, printable
from rankstone.measures.core.definition import Named
from rankstone.measures.core.syntax import parse_measure, parse_measures


def fact_of(text: str, fact: str, otherwise: Any) -> Any:  # noqa: ANN401 - whatever a card holds
    """Return a property of a measure by its text, ``otherwise`` for an unknown measure."""
    try:
        measure = parse_measure(text)
    except RankstoneError:
        return otherwise
    if fact == "span":
        return measure.span
    return getattr(measure.card, fact)


def requested_measures(requested: object, known: Sequence[str]) -> list[str]:
    """Return the known names of the requested measures, in whatever spelling."""
    names = []
    for item in _one_by_one(requested, known):
        same = (name for name in known if name == str(item) or _same(name, item))
        text = next(same, None)
        if text is None:
            shown = ", ".join(map(printable, known[:20]))
            raise UsageError(
                f"there are no scores of {printable(item)}",
                expected=shown,
                fix=did_you_mean(item, known),
            )
        names.append(text)
    return list(dict.fromkeys(names))


def _one_by_one(requested: object, known: Sequence[str]) -> list[object]:
    """Return the requested measures one by one; a text may hold several, also unknown names."""
    if isinstance(requested, (str, Named)) or not isinstance(requested, Iterable):
        requested = [requested]
    measures: list[object] = []
    for item in requested:
        if not isinstance(item, str) or item in known:
            measures.append(item)
            continue
        try:
            measures += parse_measures(item)
        except RankstoneError:
            measures += item.replace(",", " ").split()
    return measures


def _same(name: str, item: object) -> bool:
    try:
        return parse_measure(name) == parse_measure(item)  # type: ignore[arg-type]
    except RankstoneError:
        return False
