"""A value of whole lists is computed once more, and the measure tells on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.errors import NotComparable, UsageError, nearest, printable
from rankstone.lists.beyond.measure import OfLists
from rankstone.lists.telling.derivation import Derivation, added_up
from rankstone.lists.telling.notes import Notes
from rankstone.measures.base import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.measure import OfRun
    from rankstone.lists.beyond.tables import Tables
    from rankstone.lists.telling.notes import Told

__all__ = ["derived"]


def derived(
    measure: OfLists | OfRun,
    user: object,
    lists: tuple[ListFrame, Tables],
    name: str,
    conventions: Mapping[str, Any],
    lang: str,
) -> Derivation:
    """Return how a value of one list, or of the whole run, came about.

    Parameters
    ----------
    measure
        The measure.
    user
        Whose list; ``None`` for measures of the whole run, and only for these.
    lists
        The run's lists, and the tables beside it.
    name
        What the run is called.
    conventions
        What the number depends on.
    lang
        Language of headings.
    """
    frame, tables = lists
    of_lists = isinstance(measure, OfLists)
    _check(measure, user, of_lists=of_lists)
    notes = Notes()
    if isinstance(measure, OfLists):
        at = _number(frame, user)
        frame = replace(frame.part(at, at + 1), notes=notes, _memo={})
        scored = measure.score(frame, tables)
        status, value = Status(int(scored.status[0])).name, float(scored.value[0])
        value = np.nan if status == Status.dropped.name else value
    else:
        frame = replace(frame, notes=notes, _memo={})
        value = measure.value(frame, tables)
        status = (Status.undefined if np.isnan(value) else Status.ok).name

    def names(told: Told) -> list[str]:
        if told.of == "item":
            return tables.item_codes.ids(np.asarray(told.rows).astype(np.uint32)).to_list()
        if told.of == "user":
            return frame.names.gather(np.asarray(told.rows)).cast(str).to_list()
        return [str(row) for row in told.rows]

    return Derivation(
        measure=str(measure),
        of=None if user is None else str(user),
        runs=(name,),
        status=status,
        value=None if np.isnan(value) else value,
        numerator=notes.numerator,
        denominator=notes.denominator,
        tables=tuple(added_up(told, names, in_order=of_lists) for told in notes.tables),
        conventions={**conventions, "measures": [str(measure)], "defaults": dict(measure.unsaid())},
        card={part: getattr(measure.card, part) for part in ("sentence", "formula", "symbols", "undefined")},
        lang=lang,
    )


def _check(measure: OfLists | OfRun, user: object, *, of_lists: bool) -> None:
    """Refuse a measure of lists without a user, and one of the whole run with one."""
    if of_lists and user is None:
        raise UsageError(f"{measure} has a value a user: whose?", fix="name the user (-q USER)")
    if not of_lists and user is not None:
        raise UsageError(
            f"{measure} has one value for the whole run, and none for {printable(user)}",
            fix="leave the user out",
        )


def _number(frame: ListFrame, user: object) -> int:
    """Return which list a user's is."""
    names = frame.names.cast(str)
    found = names.eq(str(user)).arg_true()
    if len(found):
        return int(found[0])
    close = nearest(str(user), names.head(1000).to_list(), n=1)
    raise NotComparable(
        f"{printable(user)} has no list in the run",
        given=f"users {', '.join(printable(name, 40) for name in names[:3])} …",
        fix=f"did you mean {printable(close[0])}?" if close else None,
    )
