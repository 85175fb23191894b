"""A way to compute a number, and how far it is from the usual one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.identifying.printed import Printed

__all__ = ["Group", "Way", "grouped"]

#: values no further apart than this, beside their size, are equal: sums were taken in another order
_EQUAL = 1e-11


@dataclass(frozen=True)
class Way:
    """A measure, the options its lists are aligned under, and what it gives.

    Attributes
    ----------
    value
        The number.
    measure
        Our text of the measure.
    options
        The options of alignment that are not the usual ones.
    steps
        How many choices are not the usual ones (those of a library together count as none).
    rounding
        What is rounded on the way; empty for nothing.
    library, spelling
        The library that means this by a word of its own, and the word; empty where it is nobody's.
    how
        How the value prints as the number that is looked for: ``rounded``, ``cut off``, or ``None``.
    off
        How far it is from that number.
    run
        The run whose value it is.
    """

    value: float
    measure: str
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 0
    rounding: str = ""
    library: str = ""
    spelling: str = ""
    how: str | None = None
    off: float = 0.0
    run: str = ""

    @property
    def away(self) -> int:
        """Steps from what is usual, a number that was cut off instead of rounded being one more."""
        return self.steps + (self.how == "cut off")

    def against(self, printed: Printed) -> Way:
        """Return the same way, compared with a number that was printed."""
        return replace(self, how=printed.how(self.value), off=printed.off(self.value))

    def __str__(self) -> str:
        said = [f"{name}={value}" for name, value in self.options.items()]
        return "  ".join([self.measure, *said, *([self.rounding] if self.rounding else [])])


@dataclass(frozen=True)
class Group:
    """Ways that give a run the same value on this data, the simplest first."""

    value: float
    ways: tuple[Way, ...]

    @property
    def simplest(self) -> Way:
        """The way with the fewest steps."""
        return self.ways[0]

    @property
    def run(self) -> str:
        """The run whose value it is."""
        return self.simplest.run

    @property
    def how(self) -> str | None:
        """How the value prints as the number that is looked for; ``None`` where it does not."""
        return self.simplest.how

    @property
    def off(self) -> float:
        """How far the value is from that number."""
        return self.simplest.off

    @property
    def libraries(self) -> dict[str, tuple[str, ...]]:
        """Libraries that mean this value, and what they call it."""
        found: dict[str, list[str]] = {}
        for way in self.ways:
            if way.library:
                found.setdefault(way.library, []).append(way.spelling)
        return {library: tuple(dict.fromkeys(words)) for library, words in found.items()}

    @property
    def ours(self) -> tuple[Way, ...]:
        """The ways that are told in our words, each once."""
        kept: dict[str, Way] = {}
        for way in self.ways:
            kept.setdefault(str(way), way)
        return tuple(kept.values())


def grouped(ways: list[Way]) -> list[Group]:
    """Bring equal values of a run together: first what prints as the number, then by steps and distance."""
    found: list[list[Way]] = []
    for way in sorted(ways, key=lambda one: (one.run, one.value)):
        if found and way.run == found[-1][0].run and _equal(way.value, found[-1][0].value):
            found[-1].append(way)
        else:
            found.append([way])
    groups = [Group(same[0].value, tuple(sorted(same, key=_simple))) for same in found]
    return sorted(groups, key=_order)


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= _EQUAL * max(1.0, abs(one))


def _simple(way: Way) -> tuple[int, bool, bool, int, str]:
    return way.away, bool(way.library), bool(way.rounding), len(str(way)), str(way)


def _order(group: Group) -> tuple[bool, float, float, int, float]:
    matches = group.how is not None
    best = group.simplest
    if not matches:
        return True, abs(group.off), best.away, 0, group.value
    return False, best.away, bool(best.rounding), -len(group.libraries), abs(group.off)
