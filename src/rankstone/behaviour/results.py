"""What results of logs have in common: tables by name, an audit, conventions, inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.results import ShowsTable, WritesRows, shown_whole
from rankstone.words import InLines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Found", "Notes", "floats"]

#: characters of a line in which no name is broken
_WIDE: Final = 160


@dataclass(frozen=True, repr=False)
class Notes(InLines):
    """What was found in the log, counted.

    Attributes
    ----------
    source
        Where it came from.
    counts
        What was counted, by name.
    told
        The same in words, a part of a sentence each.
    warnings
        What deserves a second look.
    remarks
        What numbers mean, by what they are called.
    """

    source: str
    counts: Mapping[str, int | None]
    told: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    remarks: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return it as sentences."""
        remarks = [f"{name}  {sentence}" for name, sentence in self.remarks.items()]
        warnings = [f"warning  {sentence}" for sentence in self.warnings]
        return [f"log  {' · '.join(self.told)}", *remarks, *warnings]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        told = {"remarks": dict(self.remarks)} if self.remarks else {}
        return {"source": self.source, **self.counts, **told, "warnings": list(self.warnings)}


@dataclass(frozen=True, eq=False, repr=False)
class Found(WritesRows, ShowsTable):
    """What was found in a log.

    Attributes
    ----------
    tables
        Tables by name, the one that answers the question first.
    audit
        What was found in the log.
    conventions
        What the numbers depend on.
    inputs
        Where everything came from.
    """

    tables: Mapping[str, pl.DataFrame]
    audit: Notes
    conventions: Mapping[str, Any]
    inputs: Mapping[str, str]

    def table(self) -> pl.DataFrame:
        """Return the table that answers the question."""
        return next(iter(self.tables.values()))

    def rows(self) -> pl.LazyFrame:
        """Return that table lazily: what is written to files."""
        return self.table().lazy()

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts, ready for JSON: null where there is no value."""
        return {
            **{name: table.to_dicts() for name, table in self.tables.items()},
            "audit": self.audit.to_dict(),
            "conventions": dict(self.conventions),
            "inputs": dict(self.inputs),
        }

    def __repr__(self) -> str:
        with shown_whole(), pl.Config(tbl_width_chars=_WIDE):
            return "\n".join([*map(str, self.tables.values()), *self.audit.lines()])


def floats(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Return rows as a frame in which what is no number is null."""
    frame = pl.DataFrame(list(rows), schema=dict(schema))
    return frame.with_columns(pl.selectors.float().fill_nan(None))
