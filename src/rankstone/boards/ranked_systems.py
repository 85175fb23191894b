"""What boards of scores and of paired comparisons have in common: an order, its tiers, what is said of it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import polars as pl

from rankstone._basics import some
from rankstone.errors import printable
from rankstone.tables.results import Findings, FirstScreen
from rankstone.tables.sheet import Details, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Floats, Ints
    from rankstone.stats.rank_intervals import RankIntervals
    from rankstone.tables.sheet import Kind


#: systems that are shown unless all are wanted
_SHOWN: Final = 10
#: columns beyond the first screen
_FURTHER: Final = frozenset(
    ["alone", "datasets", "left_out", "rules", "battles", "wins"]
)


def places(means: Floats) -> Ints:
    """Return the rank of each mean, the highest first; equal ones share a rank, NaN comes last.

    >>> places(np.array([0.5, 0.7, 0.5, np.nan])).tolist()
    [2, 1, 2, 4]
    """
    known = np.where(np.isnan(means), -np.inf, np.round(means, 12))
    return 1 + len(known) - np.searchsorted(np.sort(known), known, "right")


def span(row: Mapping[str, Any], name: str) -> str:
    """Return a range of ranks of a row.

    >>> span({"rank_low": 1, "rank_high": 4}, "rank")
    '1–4'
    """
    low = row[f"{name}_low"]
    high = row[f"{name}_high"]
    if low == high:
        return f"{low}"
    return f"{low}–{high}"


class RankedSystems(Findings):
    """The base class of boards: systems, a number of each, and the ranks that its error leaves."""

    #: the ranks that errors leave to each system
    intervals: RankIntervals
    #: the chance of each system to be the best, float64 ``[systems]``; NaN where no error is known
    first: Any
    #: confidence of all intervals of ranks together
    confidence: float
    section = "board"
    answer_stands = "above"
    digits = 4
    #: a board has no judgments of its own
    audit: ClassVar[None] = None

    @property
    def systems(self) -> Sequence[str]:
        """The names of the systems."""
        raise NotImplementedError

    @property
    def means(self) -> Floats:
        """The number of each system, higher is better, float64 ``[systems]``."""
        raise NotImplementedError

    @property
    def under_rules(self) -> Mapping[str, Ints]:
        """The ranks under every other rule, by its name."""
        raise NotImplementedError

    @cached_property
    def order(self) -> Ints:
        """The systems by their means, the best first."""
        return np.argsort(-self.means, kind="stable")

    @cached_property
    def tiers(self) -> Ints:
        """The tier of each system, from 1: the first of a tier is clearly better than all of the next."""
        tiers = np.empty(len(self.order), np.int64)
        head = self.order[0]
        tier = 1
        for system in self.order:
            if self.intervals.better[head, system]:
                head = system
                tier += 1
            tiers[system] = tier
        return tiers

    def ranked(
        self, numbers: Mapping[str, Any], others: Mapping[str, Any]
    ) -> pl.DataFrame:
        """Return a row for each system, the best first: numbers, the columns of ranks, others."""
        every = np.stack([places(self.means), *self.under_rules.values()])
        intervals = self.intervals
        columns = {
            "rank": every[0],
            "system": np.array(self.systems, dtype=object),
            **numbers,
            "rank_low": intervals.low,
            "rank_high": intervals.high,
            "single_low": intervals.one_low,
            "single_high": intervals.one_high,
            "first": self.first,
            "tier": self.tiers,
            "rules_low": every.min(axis=0),
            "rules_high": every.max(axis=0),
            **others,
        }
        rows = {name: values[self.order].tolist() for name, values in columns.items()}
        return pl.DataFrame(rows).fill_nan(None)

    # -- what people read -------------------------------------------------------------------------------
    @property
    def notes(self) -> Sequence[str]:
        """What was noticed while reading."""
        raise NotImplementedError

    def columns(self) -> dict[str, Kind]:
        """Return the columns that are shown, and their kinds."""
        raise NotImplementedError

    def cells(self, row: Mapping[str, Any], digits: int) -> dict[str, str]:  # noqa: ARG002 - of numbers
        """Return what is shown of a row of the table, by column."""
        return {
            "rank": str(row["rank"]),
            "system": row["system"],
            "ranks": span(row, "rank"),
            "alone": span(row, "single"),
            "first": "–" if row["first"] is None else f"{100 * row['first']:.0f} %",
            "tier": str(row["tier"]),
            "rules": span(row, "rules"),
        }

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:
        """Return the board, the ten best and what the order goes by unless ``verbose``."""
        kinds = self.columns()
        shown = self.to_frame()
        names = list(kinds)
        if not verbose:
            shown = shown.head(_SHOWN)
            names = [name for name in kinds if name not in _FURTHER]
        cells = (self.cells(row, digits) for row in shown.iter_rows(named=True))
        rows = tuple(tuple(of[name] for name in names) for of in cells)
        head = tuple(self.say(name, level=self.level) for name in names)
        return [Table("", head, rows, tuple(kinds[name] for name in names))]

    def more(self) -> str:
        """Return what is shown beyond the first screen."""
        hidden = max(self.to_frame().height - _SHOWN, 0)
        systems = self.say("more", count=hidden) if hidden else ""
        return self.say("whole", systems=systems)

    def _notes(self) -> Details:
        return Details(tuple(self.notes), tuple(self.notes))

    # -- the order --------------------------------------------------------------------------------------

    def leading(self) -> Iterator[str]:
        """Yield who leads, and how many neighbours are clearly different."""
        level = self.level
        names = [printable(self.systems[system], 40) for system in self.winners]
        key = "leads"
        if len(names) > 1:
            key = "could_lead"
        elif self.intervals.high[self.order[0]] > 1:
            key = "only_lead"
        listed = {"count": len(names), "names": some(names, 5), "system": names[0]}
        line = self.say(key, level=level, **listed)
        closeness = "neighbours" if self.apart else "neighbours_none"
        pairs = len(self.order) - 1
        line += self.say(closeness, apart=self.apart, pairs=pairs, level=level)
        yield FirstScreen(line)

    @property
    def winners(self) -> list[int]:
        """The systems that could be first, the best first: none is clearly better than one of them alone.

        The true best one is among them with the confidence of the board, since it is a single one
        (comparisons with the best: Hsu, Annals of Statistics 9, 1981).
        """
        return [
            system
            for system in self.order.tolist()
            if self.intervals.one_low[system] == 1
        ]

    @property
    def level(self) -> str:
        """The confidence in percent."""
        return f"{100 * self.confidence:g} %"

    @property
    def apart(self) -> int:
        """How many neighbours are clearly different."""
        above = self.order[:-1]
        below = self.order[1:]
        return int(self.intervals.better[above, below].sum())

    def moves(self) -> Iterator[str]:
        """Yield the largest move under every other rule; rules that give the same order together."""
        now = places(self.means)
        rules = dict[bytes, list[str]]()
        for name, ranks in self.under_rules.items():
            rules.setdefault(ranks.tobytes(), []).append(self.say(name))
        for key, names in rules.items():
            ranks = np.frombuffer(key, np.int64)
            moved = np.where(np.isnan(self.means), 0, ranks - now)
            if moved[most := int(np.abs(moved).argmax())]:
                another_leads = ranks[self.order[0]] > 1
                say = self.say_first if another_leads else self.say
                yield say(
                    "moves",
                    rule=", ".join(names),
                    system=printable(self.systems[most], 40),
                    before=now[most],
                    after=ranks[most],
                )
