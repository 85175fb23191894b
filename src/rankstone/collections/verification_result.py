"""What ``verify`` finds: whether a card still holds, and what on it is another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import polars as pl

from rankstone._basics import Record, some
from rankstone.collections.run_cards import BLOCK
from rankstone.errors import printable
from rankstone.tables.results import Findings
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.tables.sheet import Kind


_NAME: Final = 60
#: changed figures and statements that are listed
_LISTED: Final = 20
#: statements not checked that are named
_NAMED: Final = 6
FILE_COLUMNS: Final = {
    "role": pl.String,
    "path": pl.String,
    "state": pl.String,
    "block": pl.Int64,
    "offset": pl.Int64,
}
FIGURE_COLUMNS: Final = dict.fromkeys(
    ("run", "measure", "figure", "on_card", "again"), pl.String
) | {"digit": pl.Int64}
STATEMENT_COLUMNS: Final = dict.fromkeys(("statement", "on_card", "again"), pl.String)


class Verification(Findings, Record):
    """Whether a card still holds.

    Attributes
    ----------
    files
        ``role`` and ``path`` of each file; its ``state``: ``same``, ``changed``, ``missing``, or ``card`` if
        the card's own hashes of it do not agree; the first ``block`` that is another one, from 0, and the
        first byte, ``offset``, null where none is or the original was not given.
    figures
        The figures that are others: ``run``, ``measure``, ``figure`` (``mean``, ``low``, ``high``, or a
        query), their texts ``on_card`` and ``again``; ``digit``, the first character that differs, from 1.
    count
        How many figures were computed again.
    card_changed
        True if the card's own hash is not that of what it says.
    environment
        What is another version now: name → on the card (``None`` if it does not say), now.
    problem
        Why figures and conventions could not be computed again, if so.
    statements
        What else the card says and is not so: the ``statement``, such as ``conventions.alignment.ties``, and
        its texts ``on_card`` and ``again``.
    unchecked
        What the card says and nothing here can check, such as ``created``.
    lang
        Language of sentences.
    """

    files: pl.DataFrame
    figures: pl.DataFrame
    count: int
    card_changed: bool
    environment: Mapping[str, tuple[str | None, str]]
    problem: str | None
    statements: pl.DataFrame
    unchecked: tuple[str, ...]
    lang: str = "en"
    digits: int = 4

    section = "cards"
    audit: ClassVar[None] = None

    @property
    def holds(self) -> bool:
        """True if files, figures, conventions and the card are as they were."""
        changed_files = self.files.filter(pl.col("state") != "same")
        changed = changed_files.height or self.figures.height or self.statements.height
        return not (changed or self.card_changed or self.problem)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each file, and each figure and statement that is another one.

        Returns
        -------
        polars.DataFrame
            The columns of ``files``, then those of ``figures`` and ``statements``; null where a row has none.
        """
        changed = [
            rows.with_columns(state=pl.lit("changed"))
            for rows in (self.figures, self.statements)
        ]
        return pl.concat([self.files, *changed], how="diagonal")

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {"holds": self.holds} | super().report()

    def title(self) -> str:
        """Return whether the card holds."""
        return self.say("holds" if self.holds else "does_not_hold")

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:
        """Return the files, and the figures that are others."""
        say = self.say
        rows = []
        for file in self.files.iter_rows(named=True):
            role = say(file["role"])
            path = printable(file["path"], _NAME)
            state = say(f"state_{file['state']}")
            rows.append((role, path, state, self._place(file)))
        head = tuple(map(say, ("role", "file", "state", "place")))
        kinds: tuple[Kind, ...] = ("text", "id", "text", "text")
        tables = [Table(say("files"), head, tuple(rows), kinds)]

        names = {name: say(name) for name in (*FIGURE_COLUMNS, *STATEMENT_COLUMNS)}
        changes = {
            "changed_figures": self.figures,
            "changed_statements": self.statements,
        }
        for title, changed in changes.items():
            shown = changed if verbose else changed.head(_LISTED)
            if changed.height:
                table = Table.of(shown, say(title), digits=digits, names=names)
                tables.append(table)
        return tables

    def _place(self, row: Mapping[str, Any]) -> str:
        if row["offset"] is not None:
            return self.say("at_byte", byte=f"{row['offset']:,}")
        block = row["block"]
        if block is None:
            return ""
        return self.say(
            "in_block",
            block=block + 1,
            first=f"{block * BLOCK:,}",
            last=f"{(block + 1) * BLOCK - 1:,}",
        )

    def findings(self, digits: int = 4) -> Iterator[str]:  # noqa: ARG002 - figures are shown whole
        """Yield what holds and what does not."""
        for file in self.files.iter_rows(named=True):
            if file["state"] != "same":
                yield self.say(
                    f"file_{file['state']}",
                    file=printable(file["path"], _NAME),
                    place=self._place(file),
                )
        yield from self._changes("figure_changed", self.figures)
        more = self.figures.height - _LISTED
        if more > 0:
            yield self.say("more_figures", count=f"{more:,}")
        yield from self._changes("statement_changed", self.statements)
        if self.problem is not None:
            yield self.say("not_computed", problem=self.problem)
        elif not self.figures.height:
            yield self.say("all_figures", count=f"{self.count:,}")
        if self.card_changed:
            yield self.say("card_changed")
        yield from self._versions()
        if self.unchecked:
            yield self.say("unchecked", names=some(self.unchecked, _NAMED))

    def _changes(self, name: str, rows: pl.DataFrame) -> Iterator[str]:
        """Yield a sentence for each of the first rows."""
        for row in rows.head(_LISTED).iter_rows(named=True):
            texts = {column: printable(text, _NAME) for column, text in row.items()}
            yield self.say(name, **texts)

    def _versions(self) -> Iterator[str]:
        for name, (then, now) in self.environment.items():
            if then is None:
                yield self.say("no_version", name=name, now=now)
            else:
                card = printable(then, _NAME)
                yield self.say("other_version", name=name, then=card, now=now)
