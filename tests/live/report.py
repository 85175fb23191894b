"""What a run found: ``python tests/live/report.py`` prints it as Markdown.

Every run of the live tests leaves its rows in ``build/live.json``; a library's newer row takes the place of
its older one.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Row", "keep", "kept", "markdown", "plain"]

FILE: Final = Path(__file__).resolve().parents[2] / "build" / "live.json"
_COLUMNS: Final = (
    "library",
    "runner",
    "installed",
    "measures",
    "cases",
    "numbers",
    "explained",
    "others",
    "seed",
    "date",
)
_COUNTS: Final = frozenset(
    {"measures", "cases", "numbers", "explained", "others", "seed"}
)

_ABOUT: Final = """\
Every library answered in an environment of its own, on random judgments and runs as nasty as it takes: ties,
unjudged and missing documents, missing and unknown queries, queries without a relevant document, fractional
and negative grades, documents listed twice; in rows from 2026-11-23 on also lists of up to 300 documents,
empty lists, queries without a judgment, ids of every script, queries called as one of their documents;
in rows from 2026-11-27 on also several copies of several documents, cutoffs above 1000, and scores that are
equal only in single precision.
*Cases* is how many of these each measure was asked of;
*explained* are answers that differ for a reason that a library's page states, listed below; *others* are
answers that differ otherwise. `make live` draws a new seed and asks again; `RANKSTONE_SEED=… make live
LIBRARIES=…` repeats a row, *runner* being what to write there."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One library, compared.

    Attributes
    ----------
    runner, library
        Who was compared, and whose convention.
    installed
        The package that answered, and its version.
    measures
        Spellings compared, ``ndcg@<k>`` counted once.
    cases
        Random cases on which every measure was compared.
    numbers
        Answers compared: cases times measures.
    reasons
        How many answers differ for which stated reason.
    others
        Answers that differ and should not.
    seed, date
        What the cases were drawn from, and when.
    """

    runner: str
    library: str
    installed: str
    measures: int
    cases: int
    numbers: int
    reasons: dict[str, int]
    others: int
    seed: int
    date: str

    @property
    def explained(self) -> int:
        """Answers that differ for a stated reason."""
        return sum(self.reasons.values())

    @property
    def cells(self) -> tuple[str, ...]:
        """Its columns, as text."""
        return tuple(str(getattr(self, name)) for name in _COLUMNS)


def kept() -> list[Row]:
    """Return the rows of earlier runs, by library."""
    parsed = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []
    return sorted(
        (Row(**row) for row in parsed), key=lambda row: (row.library, row.runner)
    )


def keep(rows: Iterable[Row]) -> None:
    """Put rows beside those of earlier runs."""
    everything = {row.runner: row for row in (*kept(), *rows)}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(
        json.dumps([asdict(row) for row in everything.values()], indent=1),
        encoding="utf-8",
    )


def plain(rows: Sequence[Row]) -> list[str]:
    """Return the table for a terminal, and under it why answers differ."""
    table = [_COLUMNS, *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for cells in table:
        sides = [_padded(*each) for each in zip(_COLUMNS, cells, widths, strict=True)]
        lines.append("  ".join(sides).rstrip())
    reasons = [
        f"{row.runner}: {count} × {why}" for row in rows for why, count in _often(row)
    ]
    return [*lines, *([""] if reasons else []), *reasons]


def _padded(column: str, text: str, width: int) -> str:
    return text.rjust(width) if column in _COUNTS else text.ljust(width)


def _often(row: Row) -> list[tuple[str, int]]:
    return sorted(row.reasons.items(), key=lambda message: -message[1])


def markdown(rows: Sequence[Row]) -> str:
    """Return the table as a page."""
    lines = [
        "# Conventions, compared with the libraries",
        "",
        _ABOUT,
        "",
        f"| {' | '.join(_COLUMNS)} |",
        f"|{'|'.join('--:' if name in _COUNTS else '---' for name in _COLUMNS)}|",
    ]
    for row in rows:
        linked = f"[{row.library}](conventions/{row.library}.md)"
        lines.append(f"| {' | '.join((linked, *row.cells[1:]))} |")
    lines += [
        "",
        "## Explained differences",
        "",
        "| runner | answers | of | why |",
        "|---|--:|--:|---|",
    ]
    lines += [
        f"| {row.runner} | {count} | {row.numbers} | {why.replace('|', chr(92) + '|')} |"
        for row in rows
        for why, count in _often(row)
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(markdown(kept()))
