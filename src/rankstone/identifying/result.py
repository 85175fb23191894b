"""What was found: the ways that print as the number, and the nearest others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.identifying.chance import printed_by_chance
from rankstone.identifying.ways import grouped
from rankstone.results import WritesTable
from rankstone.sheets import ShowsSheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.hits.options import Alignment
    from rankstone.identifying.facts import Facts
    from rankstone.identifying.printed import Printed
    from rankstone.identifying.ways import Group, Way
    from rankstone.sheets import Sheet

__all__ = ["Identification"]

#: values told of that do not print as the number
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


@dataclass(frozen=True, eq=False, repr=False)
class Identification(ShowsSheet, WritesTable):
    """Which ways to compute a number there are that print as it.

    Attributes
    ----------
    printed
        The number, and its decimals.
    measure
        What it was called, ``None`` where nobody said.
    groups
        Ways that print as the number; those that are equal for a run are one group.  Fewest steps from
        what is usual, or from what a library does, first.
    nearest
        The nearest groups that do not.
    tried
        How many ways were tried.
    different
        How many different values they gave, of each run.
    by_chance
        How many of these would print as the number if it had nothing to do with them, an estimate.
    taken_for
        The run that the number was taken for; :attr:`run` is whose it is.
    usual
        The options that the search started from, as far as they are not the defaults.
    inputs
        Run → what the data hold: queries, rows, ties, missing queries and so on.

    Examples
    --------
    >>> import rankstone
    >>> found = rankstone.identify({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, "0.25", "AP")
    >>> [(group.value, group.simplest.measure, group.simplest.steps) for group in found.groups][:1]
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

    @classmethod
    def of(
        cls,
        printed: Printed,
        taken_for: str,
        measure: object,
        ways: Sequence[Way],
        facts: Mapping[str, Facts],
        usual: Alignment,
    ) -> Identification:
        """Put equal values together, and what prints as the number first."""
        groups = grouped(list(ways))
        fitting = tuple(group for group in groups if group.how is not None)
        others = tuple(group for group in groups if group.how is None)[:_NEAREST]
        chosen = {n: v for n, v in usual.changed().items() if not n.startswith("duplicate")}
        name = None if measure is None else str(measure)
        chance = printed_by_chance([group.value for group in groups], printed)
        held = {run: one.told() for run, one in facts.items()}
        sizes = len(ways), len(groups), chance
        return cls(printed, name, fitting, others, *sizes, taken_for, chosen, held)

    @property
    def run(self) -> str | None:
        """Whose value it is: the run with fewer steps than any other; ``None`` where there is no such run."""
        nearest = {group.run for group in self.groups if group.simplest.away == self.groups[0].simplest.away}
        return nearest.pop() if len(nearest) == 1 else None

    @property
    def ambiguous(self) -> bool:
        """Whether the first two groups are equally far from what is usual, so that nothing decides."""
        return len(self.groups) > 1 and self.groups[0].simplest.away == self.groups[1].simplest.away

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """The same as :attr:`frame`: there are no rows for queries here."""
        return self.frame

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row a way: those that print as the number, then those of the nearest groups.

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
        """Return everything as plain dicts."""
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
            "groups": [_told(group) for group in self.groups],
            "nearest": [_told(group) for group in self.nearest],
            "usual": dict(self.usual),
            "inputs": {run: dict(held) for run, held in self.inputs.items()},
        }

    def sheet(self) -> Sheet:
        """Return what is shown: the first groups, and the nearest others."""
        from rankstone.identifying.telling import sheet

        return sheet(self)


def _told(group: Group) -> dict[str, Any]:
    return {
        "run": group.run,
        "value": group.value,
        "prints": group.how,
        "off": group.off,
        "libraries": {library: list(words) for library, words in group.libraries.items()},
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
