"""What excluded pairs removed from a run, for its audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rankstone._basics import counted, noted

#: pairs without a match that a message names
SHOWN: Final = 3


@dataclass(frozen=True)
class LeftOut:
    """What exclusion removed from a run.

    Attributes
    ----------
    rows, relevant
        Rows removed from the lists; those of them judged with a grade above zero.
    pairs_relevant
        Excluded pairs judged with a grade above zero, whether or not they are in a list.
    unmatched, examples
        Excluded pairs that are in no list: how many, and some of them.
    """

    rows: int = 0
    relevant: int = 0
    pairs_relevant: int = 0
    unmatched: int = 0
    examples: tuple[str, ...] = ()

    def line(self, *, in_ideal: bool) -> str:
        """Return a sentence; ``in_ideal``: True if excluded relevant documents stay in the ideal list."""
        shown = ", ".join(self.examples) + (
            " …" if self.unmatched > len(self.examples) else ""
        )
        parts = (
            f"{counted(self.rows, 'row')} excluded, {self.relevant:,} of them relevant",
            noted(self.unmatched, "pair", f"to exclude in no list ({shown})"),
            self.concern(in_ideal=in_ideal),
        )
        return ", ".join(filter(None, parts))

    def concern(self, *, in_ideal: bool) -> str:
        """Return a warning about relevant documents that no list can have any more, and that still count."""
        return noted(
            self.pairs_relevant if in_ideal else 0,
            "excluded relevant document",
            "still in the ideal list (exclude_from=both removes them)",
        )
