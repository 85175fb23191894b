"""Compact letter displays: systems that share a letter are not clearly different.

Columns of letters are found by inserting every difference and absorbing columns that others contain, then
sweeping out columns that say nothing of their own (Piepho, J. Comput. Graph. Stat. 13(2), 2004).
"""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from rankstone._basics import Bools


#: columns may double with every difference; from so many on, they are found one by one
_MOST: Final = 500
#: letters in a row that are written out
_RUN: Final = 3


def letter_columns(different: Bools) -> list[list[int]]:
    """Return groups of systems: two share a group if and only if they are not clearly different.

    Parameters
    ----------
    different
        bool ``[systems, systems]``, symmetric: True where two systems are clearly different.

    Returns
    -------
    list
        The systems of each group, in order; groups in the order of their first systems.

    Examples
    --------
    >>> apart = np.zeros((3, 3), bool)
    >>> apart[0, 2] = apart[2, 0] = True
    >>> letter_columns(apart)
    [[0, 1], [1, 2]]
    """
    systems = range(len(different))
    others = [
        sum(1 << int(other) for other in np.flatnonzero(row)) for row in different
    ]
    columns = {(1 << len(different)) - 1}
    for system in systems:
        both = {
            column
            for column in columns
            if column >> system & 1 and column & others[system]
        }
        columns -= both

        without_system = {column & ~(1 << system) for column in both}
        without_others = {column & ~others[system] for column in both}
        for new in without_system | without_others:
            if not any(new & column == new for column in columns):
                columns = {column for column in columns if column & new != column} | {
                    new
                }
        if len(columns) > _MOST:
            columns = _one_by_one(others)
            break
    member = np.array(
        [[column >> system & 1 for system in systems] for column in sorted(columns)],
        np.int64,
    )

    # a column goes if each of its pairs shares another one
    shared = member.T @ member
    for row in np.argsort(member.sum(axis=1), kind="stable"):
        inside = np.flatnonzero(member[row])
        if (shared[np.ix_(inside, inside)] > 1).all():
            shared[np.ix_(inside, inside)] -= 1
            member[row] = 0
    return sorted(np.flatnonzero(row).tolist() for row in member if row.any())


def _one_by_one(others: list[int]) -> set[int]:
    """Return columns that cover every pair that is not different, each grown from a pair left open."""
    everyone = (1 << len(others)) - 1
    left = [everyone & ~apart for apart in others]
    columns = set()
    for system in range(len(others)):
        while left[system]:
            column = 0
            room = everyone
            # pairs that are left open, then whoever else fits
            for wanted in (1 << system, left[system], everyone):
                for other in range(len(others)):
                    if wanted & room & ~column & 1 << other:
                        column = column | 1 << other
                        room = room & ~others[other]
            columns.add(column)
            left = [
                partners & ~column if column >> member & 1 else partners
                for member, partners in enumerate(left)
            ]
    return columns


def letters(different: Bools) -> list[str]:
    """Return the letters of each system, four and more in a row as a range; numbers beyond 52 letters.

    >>> letters(np.array([[False, False, True], [False, False, False], [True, False, False]]))
    ['a', 'ab', 'b']
    """
    columns = letter_columns(different)
    names = list(ascii_letters)
    joint = ""
    if len(columns) > len(names):
        names = [str(number) for number in range(1, len(columns) + 1)]
        joint = ","
    display = []
    for system in range(len(different)):
        places = np.flatnonzero([system in column for column in columns])
        runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
        parts = []
        for run in runs:
            part = [names[place] for place in run]
            if len(part) > _RUN:
                part = [f"{part[0]}–{part[-1]}"]
            parts += part
        display.append(joint.join(parts))
    return display
