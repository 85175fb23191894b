"""Words, numbers and names as all tables and sentences of a comparison write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import percentage
from rankstone.errors import printable
from rankstone.tables.sheet import cell
from rankstone.tables.short_names import shortened

if TYPE_CHECKING:
    from rankstone.comparison.compared_systems import ComparedSystems

Say = Callable[..., str]

#: sentences and caveats that are shown, further ones are counted; systems whose pairs are all shown
MAX_SENTENCES: Final = 12
#: longest name of a system in titles and sentences
MAX_NAME: Final = 30


def signed(value: float | None, digits: int = 4) -> str:
    """Return a difference with its sign.

    >>> signed(0.03171), signed(-0.5, 2), signed(None)
    ('+0.0317', '-0.50', '–')
    """
    return cell(value, "difference", digits)


def percent(confidence: float) -> str:
    """Return a confidence as a percentage.

    >>> percent(0.95), percent(1 - 0.05 / 3)
    ('95 %', '98.33 %')
    """
    return percentage(confidence, 4)


def p_value(value: float) -> str:
    """Return a p-value.

    >>> p_value(0.031), p_value(0.00001), p_value(0.1), p_value(0.104)
    ('0.031', '<0.0001', '0.10', '0.10')
    """
    return cell(value, "p")


def first_sentences(lines: list[str], say: Say) -> list[str]:
    """Return the first sentences, and one that counts the others."""
    if len(lines) <= MAX_SENTENCES:
        return lines
    return [*lines[:MAX_SENTENCES], say("more", count=len(lines) - MAX_SENTENCES)]


def short_names(comparison: ComparedSystems) -> dict[str, str]:
    """Return a short name for each system, all of them different."""
    shown = {}
    for system in comparison.systems:
        shown[system] = printable(system, 300)
    short = shortened(shown.values(), MAX_NAME)
    return {system: short[name] for system, name in shown.items()}


def names_in(
    comparison: ComparedSystems, row: dict[str, Any], short: dict[str, str]
) -> dict[str, str]:
    """Return the names in a row: of its two systems, and of its measure as it was requested."""
    label = comparison.label(row["measure"])
    return {
        "system": short[row["system"]],
        "versus": short[row["versus"]],
        "measure": printable(label, MAX_NAME),
    }


def interval_ends(row: dict[str, Any], digits: int) -> str:
    """Return the interval of a row's difference, ends with their signs."""
    low = signed(row["low"], digits)
    high = signed(row["high"], digits)
    return f"[{low}, {high}]"
