"""What was found in the events, in numbers: nothing is left out, merged or taken for granted in silence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rankstone.words import InLines, counted, left_out, read_as, where_read_as

if TYPE_CHECKING:
    from datetime import date

__all__ = ["Audit", "RegistrationsAudit"]


@dataclass(frozen=True)
class RegistrationsAudit:
    """What was found in the table of registrations.

    Attributes
    ----------
    rows, users
        Rows read, and users they are about.
    first, last
        The first and the last day.
    times
        How its times were read.
    no_user, no_time, unreadable, outside
        Rows left out: without a user, without a time, with one that cannot be read, before the start or
        after the end.
    repeated
        Users who stand in it more than once.
    never
        Users with a registration and no event.
    early
        Pairs of a user and a period before the user's registration, left out.
    unregistered
        Users with events and no registration.
    """

    rows: int
    users: int
    first: date
    last: date
    times: str
    no_user: int
    no_time: int
    unreadable: int
    outside: int
    repeated: int
    never: int
    early: int
    unregistered: int


@dataclass(frozen=True, repr=False)
class Audit(InLines):
    """What was found in the events.

    Attributes
    ----------
    source
        Where they came from.
    rows, users, logins
        Rows read; users in what is left of them; pairs of a user and a period with an event.
    repeated
        Rows beyond the first of a user and period, exact copies among them: they count once.
    first, last
        The first and the last day.
    times
        How times were read.
    zone
        Whose days they are; ``None`` for the calendar they are written in.
    no_user, no_time, unreadable, outside
        Rows left out: without a user, without a time, with one that cannot be read, before the start or
        after the end.
    twice
        Rows with a local time that came twice, when a clock was put back: the first is taken.
    in_no_cohort
        Users who were there before the first cohort.
    left_out
        Users left out.
    registrations
        The same of the table of registrations.
    several_segments, no_segment
        Users with events in more than one segment, and users without one.
    warnings
        What deserves a second look.
    read_as
        What was guessed of how their files are written.
    """

    source: str
    rows: int
    users: int
    logins: int
    repeated: int
    first: date
    last: date
    times: str
    zone: str | None
    no_user: int
    no_time: int
    unreadable: int
    outside: int
    twice: int
    in_no_cohort: int
    left_out: int
    registrations: RegistrationsAudit | None = None
    several_segments: int | None = None
    no_segment: int | None = None
    warnings: tuple[str, ...] = ()
    read_as: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        return _plain(where_read_as(asdict(self)))

    def lines(self) -> list[str]:
        """Return it as a sentence for each table."""
        parts = [
            f"{counted(self.rows, 'row')}, {counted(self.users, 'user')}, {self.first} to {self.last}",
            f"{counted(self.logins, 'user and period', 'pairs of user and period')}",
            f"{self.times}{'' if self.zone is None else f', days of {self.zone}'}",
        ]
        if self.repeated:
            parts.append(f"{counted(self.repeated, 'row')} beyond the first of a user and period")
        parts += _left_out(self)
        if self.twice:
            parts.append(f"{counted(self.twice, 'row')} in an hour that came twice, taken as its first")
        if self.in_no_cohort:
            parts.append(f"{counted(self.in_no_cohort, 'user')} from before the first cohort")
        if self.left_out:
            parts.append(f"{counted(self.left_out, 'user')} left out")
        if self.several_segments:
            parts.append(f"{counted(self.several_segments, 'user')} in several segments")
        if self.no_segment:
            parts.append(f"{counted(self.no_segment, 'user')} without a segment")
        parts += read_as(self.read_as)
        lines = [f"events  {' · '.join(parts)}"]
        if self.registrations is not None:
            lines.append(f"registrations  {_registrations(self.registrations)}")
        return lines + [f"warning  {sentence}" for sentence in self.warnings]


def _left_out(audit: Audit | RegistrationsAudit) -> list[str]:
    return left_out(
        {
            "without a user": audit.no_user,
            "without a time": audit.no_time,
            "with a time that cannot be read": audit.unreadable,
            "before the start or after the end": audit.outside,
        }
    )


def _registrations(audit: RegistrationsAudit) -> str:
    parts = [
        f"{counted(audit.rows, 'row')}, {counted(audit.users, 'user')}, {audit.first} to {audit.last}",
        audit.times,
        *_left_out(audit),
    ]
    if audit.repeated:
        parts.append(f"{counted(audit.repeated, 'user')} more than once")
    if audit.never:
        parts.append(f"{counted(audit.never, 'user')} never seen")
    if audit.early:
        parts.append(
            f"{counted(audit.early, 'user and period', 'pairs of user and period')} before registration"
        )
    if audit.unregistered:
        parts.append(f"{counted(audit.unregistered, 'user')} with events and no registration")
    return " · ".join(parts)


def _plain(told: dict[str, Any]) -> dict[str, Any]:
    """Return dates as texts and tuples as lists."""
    return {
        name: _plain(value)
        if isinstance(value, dict)
        else list(value)
        if isinstance(value, tuple)
        else value.isoformat()
        if hasattr(value, "isoformat")
        else value
        for name, value in told.items()
    }
