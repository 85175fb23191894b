"""What is shown of derivations: the tables that were added up, and what became of their sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import printable
from rankstone.lists.telling.words import heading
from rankstone.sheets import Sheet, Table, number

if TYPE_CHECKING:
    import polars as pl

    from rankstone.lists.telling.derivation import Added, Derivation

__all__ = ["of_derivation"]

#: rows shown at most
_ROWS: Final = 25
#: letters of a run's name in a heading
_RUN: Final = 9
#: what is said below tables that have a column
_TO_READ: Final = {"places": "place_a", "counts_twice": "opposite", "doubled": "same"}
#: statuses that have words of their own; the card says the others
_SAID: Final = ("only_a", "only_b")
#: letters of an id
_NAME: Final = 60


def of_derivation(one: Derivation) -> Sheet:
    """Return what is shown of a derivation."""
    lang = one.lang
    shown = number(one.value) if one.value is not None else heading("undefined", lang)
    whose = heading("whole_run", lang) if one.of is None else _whose(one)
    runs = " · ".join(map(printable, one.runs))
    parts: list[Table | tuple[str, tuple[str, ...]]] = [
        _table(one, table, last=table is one.tables[-1]) for table in one.tables
    ]
    columns = {name for table in one.tables for name in table.frame.columns}
    said = [name for name, sign in _TO_READ.items() if sign in columns]
    if said:
        parts.append((heading("notes", lang), tuple(heading(name, lang) for name in said)))
    if one.value is None:
        why = heading(
            one.status if one.status in _SAID else "as_its_card_says",
            lang,
            undefined=one.card["undefined"],
            first=printable(one.runs[0]),
            last=printable(one.runs[-1]),
        )
        parts.append((heading("why", lang), (why,)))
    title = f"{printable(one.measure)} = {shown}   {whose}   {runs}"
    return Sheet(title, one.card["formula"], one.card["symbols"], tuple(parts))


def _whose(one: Derivation) -> str:
    word = "query" if len(one.runs) > 1 else "user"
    return f"{heading(word, one.lang)} {printable(one.of or '')}"


def _table(one: Derivation, table: Added, *, last: bool) -> Table:
    lang, frame = one.lang, table.frame
    names = [name for name in frame.columns if name != table.of]
    shown = frame.head(_ROWS)
    rows = [(printable(row[0], _NAME), *map(_cell, row[1:])) for row in shown.select(table.of, *names).rows()]
    blank = ("",) * len(names)
    if frame.height > _ROWS:
        rest = frame.slice(_ROWS)
        more = heading("more", lang, count=rest.height)
        cells = [_rest(rest, name) if name == "contribution" else "" for name in names]
        rows.append((more, *cells))
    ends = [(heading(name, lang), value) for name, value in _ends(one, table, last=last)]
    rows += [(name, *blank[1:], number(value)) for name, value in ends]
    head = (heading(table.of, lang), *(_head(one, name) for name in names))
    numeric = (table.of == "depth", *(True for _ in names))
    title = heading(table.title or f"by_{table.of}", lang)
    return Table(title, head, tuple(rows), numeric, len(ends))


def _ends(one: Derivation, table: Added, *, last: bool) -> list[tuple[str, float | None]]:
    """Return what stands below the rows: the sum, what became of it, and below the last table the value."""
    found: list[tuple[str, float | None]] = []
    if table.total is not None and (not last or table.steps or table.total != one.numerator):
        found.append(("sum", table.total))
    found += table.steps.items()
    if last:
        found += [("numerator", one.numerator), ("denominator", one.denominator)]
        ratio = one.numerator / one.denominator if one.denominator and one.numerator is not None else None
        if ratio is not None and one.value is not None and ratio != one.value:
            found.append(("ratio", ratio))
        found.append(("value", one.value))
    return found


def _head(one: Derivation, name: str) -> str:
    """Return the head of a column; ranks in either run bear its name."""
    word, _, side = name.rpartition("_")
    if word in ("rank", "place"):
        return f"{heading(word, one.lang)} {printable(one.runs[0 if side == 'a' else -1], _RUN)}"
    return heading(name, one.lang)


def _cell(value: Any) -> str:  # noqa: ANN401 - what measures tell
    return number(value)


def _rest(rest: pl.DataFrame, name: str) -> str:
    return number(float(rest[name].sum()))
