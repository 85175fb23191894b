"""Events and registrations, opened and brought to ids of one kind, and which of them knows the segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstone.behaviour.cohorts.registered import alike
from rankstone.errors import MissingColumn, nearest, printable
from rankstone.io import Events, read_events

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.io import Progress

__all__ = ["Opened", "opened"]


@dataclass(frozen=True, eq=False)
class Opened:
    """What there is to read.

    Attributes
    ----------
    events, registrations
        The tables; the second may be missing.
    teller
        The one of them that says which segment users belong to; ``None`` where nobody asks.
    """

    events: Events
    registrations: Events | None
    teller: Events | None

    @property
    def inputs(self) -> dict[str, str]:
        """Where they came from."""
        further = {} if self.registrations is None else {"registrations": self.registrations.source}
        return {"events": self.events.source, **further}


def opened(
    events: object,
    registrations: object,
    by: str | None,
    *,
    columns: Mapping[str, str] | None,
    format_in: str | None,
    progress: Progress | None,
) -> Opened:
    """Open the tables; the column ``by`` may be one of either, and is first looked for among the events."""

    def table(source: object, name: str) -> Events:
        further = () if by is None else (by,)
        return read_events(source, columns, format_in, name=name, further=further).watched(progress)

    log = table(events, "events")
    if registrations is None:
        return Opened(log, None, _teller(by, log))
    log, people = alike(log, table(registrations, "registrations"))
    return Opened(log, people, _teller(by, log, people))


def _teller(by: str | None, *tables: Events) -> Events | None:
    if by is None:
        return None
    for table in tables:
        if by in table.schema and by not in ("user_id", "time"):
            return table
    known = {name: None for table in tables for name in table.present}
    close = nearest(by, known, n=1)
    raise MissingColumn(
        f"there is no column {printable(by)}",
        where=", ".join(table.source for table in tables),
        given=f"columns {', '.join(printable(name, 40) for name in known)}",
        fix=f"did you mean {printable(close[0])}?" if close else None,
    )
