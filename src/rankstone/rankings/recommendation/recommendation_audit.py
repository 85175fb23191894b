"""The audit of a run and its tables: unknown items, ties, duplicates, users without a list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import InLines, counted, line, noted, read_as, some, spread
from rankstone.errors import NotComparable, printable
from rankstone.hits.alignment_audit import not_in_means

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from rankstone._basics import Bools
    from rankstone.hits.alignment_audit import Reasons
    from rankstone.rankings.recommendation.list_frame import Numbers
    from rankstone.rankings.recommendation.list_reading import RunLists
    from rankstone.rankings.recommendation.recommendation_tables import Tables


@dataclass(frozen=True)
class RecommendationAudit:
    """The audit of one run.

    Attributes
    ----------
    source
        The source of the run.
    rows, queries
        Rows read, and lists.
    shown, items
        Rows down to the deepest cutoff, and distinct items among them.
    shortest, longest
        Lengths of lists down to that cutoff.
    tied, duplicates
        Rows in tie blocks that reach above the cutoff; rows whose item is in its list more than once.
    unknown
        Table → distinct items shown that are not in it, and their share of rows.
    without
        Table → users with a list who are not in it.
    unlisted
        Known users without a list.
    undefined, dropped
        Measure → why users have no value, or are left out of its mean → how many.
    read_as
        What was guessed of how a file is written.
    """

    source: str
    rows: int
    queries: int
    shown: int
    items: int
    shortest: int
    longest: int
    tied: int
    duplicates: int
    unknown: dict[str, tuple[int, float]]
    without: dict[str, int]
    unlisted: int
    #: judged queries without a list are not counted here
    missing: int = 0
    read_as: tuple[str, ...] = ()
    undefined: Reasons = field(default_factory=dict)
    dropped: Reasons = field(default_factory=dict)

    def line(self) -> str:
        """Return it as one line."""
        lengths = spread(self.shortest, self.longest, "counted item")
        return line(
            f"{counted(self.queries, 'list')} × {lengths}, {self.items:,} distinct",
            noted(self.tied, "tied row"),
            noted(self.duplicates, "duplicate row"),
            (
                noted(items, "item", f"({share:.1%} of rows) not in the {table}")
                for table, (items, share) in self.unknown.items()
            ),
            (
                noted(users, "user", f"without {what}")
                for what, users in self.without.items()
            ),
            noted(self.unlisted, "user", "without a list"),
            not_in_means(self.undefined, "user"),
            not_in_means(self.dropped, "user"),
            read_as(self.read_as),
        )


@dataclass(frozen=True, repr=False)
class BeyondAudit(InLines):
    """The audit of the tables and of each run."""

    tables: dict[str, str]
    runs: dict[str, RecommendationAudit] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return a line for each table and run."""
        known = [f"{table}  {what}" for table, what in self.tables.items()]
        return known + [
            f"{printable(name)}  {run.line()}" for name, run in self.runs.items()
        ]


def audit_run(
    reading: RunLists, tables: Tables, whole: Callable[[], RunLists]
) -> RecommendationAudit:
    """Return the audit of a run and its tables.

    Parameters
    ----------
    reading
        The run down to the deepest cutoff.
    tables
        The tables.
    whole
        Reads it again with all ranks; called only where no id matches.

    Raises
    ------
    NotComparable
        When a table has no item of the run, or the judgments have none of its users.
    """
    lists = reading.frame
    source = reading.source
    counts = lists.counts(tables.known)
    shown = np.flatnonzero(counts).astype(np.uint32)
    unknown: dict[str, tuple[int, float]] = {}
    unmatched: set[str] = set()
    for table, code in _items_of(tables).items():
        foreign = ~_among(shown, code, tables.known)
        rows = int(counts[shown[foreign]].sum())
        unknown[table] = (int(foreign.sum()), rows / max(len(lists.item), 1))
        if foreign.all():
            unmatched.add(table)
    unlisted_users = {
        what: ~np.isin(lists.user, user) for what, user in _users_of(tables).items()
    }
    if unmatched:
        every = whole().frame.item
        codes = _items_of(tables)
        unmatched = {
            table
            for table in unmatched
            if not _among(every, codes[table], tables.known).any()
        }
    if "table of items" in unmatched:
        raise _no_common_ids(
            "no item of the run is in the table of items",
            tables.item_codes.ids(shown[:3]),
            source,
        )
    if "history" in unmatched and unlisted_users["a history"].all():
        raise _no_common_ids(
            "no user and no item of the run is in the history", lists.names, source
        )
    if "judgments" in unlisted_users and unlisted_users["judgments"].all():
        raise _no_common_ids("no user of the run is judged", lists.names, source)
    without = {what: int(unlisted.sum()) for what, unlisted in unlisted_users.items()}
    audience = tables.audience()
    return RecommendationAudit(
        source=source,
        rows=reading.tally["rows"],
        queries=len(lists),
        shown=len(lists.item),
        items=len(shown),
        shortest=int(lists.n.min(initial=lists.n.max(initial=0))),
        longest=int(lists.n.max(initial=0)),
        tied=reading.tally["tied"],
        duplicates=reading.tally["duplicates"],
        unknown=unknown,
        without=without,
        read_as=reading.read_as,
        unlisted=0 if audience is None else int((~np.isin(audience, lists.user)).sum()),
    )


def _items_of(tables: Tables) -> dict[str, Numbers]:
    codes = {}
    if tables.items is not None:
        codes["table of items"] = tables.items.code
    if tables.history is not None:
        codes["history"] = tables.history.item
    return codes


def _users_of(tables: Tables) -> dict[str, Numbers]:
    users = {}
    if tables.history is not None:
        users["a history"] = tables.history.users
    if tables.judged is not None:
        users["judgments"] = tables.judged.users
    return users


def _among(shown: Numbers, code: Numbers, known: int) -> Bools:
    is_known = np.zeros(known, bool)
    is_known[code] = True
    return is_known[shown]


def _no_common_ids(what: str, examples: pl.Series, source: str) -> NotComparable:
    return NotComparable(
        what,
        where=source,
        given=some(examples),
        expected="the same ids on both sides",
        fix="check that the files belong together, and that ids are spelled the same way",
    )


def describe_tables(
    tables: Tables, notes: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return a text on each table: its size, and what was detected about its file (``notes``)."""
    lines: dict[str, str] = {}
    if tables.has("catalogue"):
        catalogue = tables.catalogue()
        by = (
            "as given"
            if tables.catalogue_size
            else ("table of items" if tables.items is not None else "history")
        )
        lines["catalogue"] = f"{counted(catalogue.size, 'item')} ({by})"
    if tables.history is not None:
        users = counted(len(tables.history.users), "user")
        pairs = len(tables.history)
        lines["history"] = f"{users}, {counted(pairs, 'interaction')}"
    if tables.judged is not None:
        users = counted(len(tables.judged.users), "user")
        lines["judgments"] = f"{users}, {counted(len(tables.judged), 'judgment')}"
    if tables.users is not None:
        notes = {**notes, "users": tables.users.read_as}
    return lines | {
        name: line(lines.get(name, ""), read_as(notes[name]))
        for name in notes
        if notes[name]
    }
