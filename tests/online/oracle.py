"""Retention the slow, obvious way: sets of users, one period after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from typing import Any

    Log = Iterable[tuple[Hashable, int]]


@dataclass
class Expected:
    """What a log of (user, period) comes to: ``cells`` by (cohort, window), ``None`` where it is unknown."""

    cells: dict[tuple[int, int], tuple[int, int] | None]
    new: dict[int, int]
    login: dict[int, int]
    returning: dict[int, int]


def retention(
    log: Log,
    windows: list[tuple[int, int | None]],
    *,
    registered: Mapping[Any, int] | None = None,
    last: int | None = None,
) -> Expected:
    """Count, cohort by cohort.

    Parameters
    ----------
    log
        Pairs of a user and a period.
    windows
        Ages: first and last; ``None`` where there is no end.
    registered
        The period of registration of every user; that of the first event unless given.
    last
        The last period that was watched; that of the last event unless given.
    """
    log = list(log)
    seen: dict[Hashable, set[int]] = {}
    for user, period in log:
        seen.setdefault(user, set()).add(period)
    cohort = (
        {user: min(when) for user, when in seen.items()}
        if registered is None
        else dict(registered)
    )
    first = min(period for _, period in log)
    end = max(period for _, period in log) if last is None else last
    cells: dict[tuple[int, int], tuple[int, int] | None] = {}
    for index in range(min(first, *cohort.values()), max(end, *cohort.values()) + 1):
        members = [user for user, begun in cohort.items() if begun == index]
        for place, (low, high) in enumerate(windows):
            if index + low < first or index + (low if high is None else high) > end:
                cells[index, place] = None
                continue
            stop = end if high is None else index + high
            back = [
                u
                for u in members
                if any(index + low <= position <= stop for position in seen.get(u, ()))
            ]
            cells[index, place] = len(back), len(members)
    spans = range(min(first, *cohort.values()), max(end, *cohort.values()) + 1)
    there = {
        position: {user for user, when in seen.items() if position in when}
        for position in spans
    }
    return Expected(
        cells,
        {
            position: sum(begun == position for begun in cohort.values())
            for position in spans
        },
        {position: len(there[position]) for position in spans},
        {
            position: sum(cohort[user] != position for user in there[position])
            for position in spans
        },
    )
