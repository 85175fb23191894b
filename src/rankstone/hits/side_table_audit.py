"""The audit of a table beside judgments and runs: of queries, or of intents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone._basics import Record, counted, line, noted, read_as

if TYPE_CHECKING:
    from rankstone._basics import Names


class SideTableAudit(Record):
    """The audit of a table of queries or of intents.

    Attributes
    ----------
    source
        Its source.
    rows
        Rows read.
    unknown
        Rows about queries (or subtopics) without judgments.
    missing
        Judged queries without a row.
    weightless
        Judged subtopics of weight 0, because other subtopics of their query have rows.
    read_as
        What was guessed of how a file is written.
    """

    source: str
    rows: int
    unknown: int
    missing: int
    weightless: int = 0
    read_as: Names = ()

    def concerns(self, what: str) -> Names:
        """Return what deserves attention; ``what`` the rows are about, ``queries`` or ``intents``."""
        about = {"intents": "subtopics"}.get(what, what)
        return (
            noted(self.unknown, "row", f"about {about} without judgments"),
            noted(self.missing, "query", "without a row"),
            noted(self.weightless, "subtopic", "without a row, with weight 0"),
        )

    def line(self, what: str) -> str:
        """Return the audit as one line about ``queries`` or ``intents``."""
        return line(
            counted(self.rows, "row"), self.concerns(what), read_as(self.read_as)
        )
