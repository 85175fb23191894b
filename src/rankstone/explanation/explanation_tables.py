"""Explanations, and differences of two of them, as sheets."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from rankstone.errors import printable
from rankstone.tables.phrases import about_card, from_english, phrase
from rankstone.tables.sheet import Sheet, Table
from rankstone.tables.sheet import number as decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankstone._basics import Names
    from rankstone.explanation.explanation_result import Explanation
    from rankstone.explanation.explanation_rows import Row
    from rankstone.explanation.score_difference import ExplainedDifference, Share

    #: a number → as it is shown
    Writer = Callable[[float | bool | None], str]

heading: Final = partial(phrase, "explanation")
#: the most rows shown; rows without a contribution are left out first
_ROWS: Final = 25
#: the most letters of a text, and the most texts of documents outside the list
_TEXT: Final = 160
_MISSED: Final = 5
#: the most letters of the name of a run in a heading
_RUN: Final = 9


def explanation_sheet(one: Explanation, digits: int = 4) -> Sheet:
    """Return an explanation as a sheet, with this many decimals."""
    lang = one.lang
    number = partial(decimal, digits=digits)
    value = number(one.value) if one.value is not None else heading("undefined", lang)
    title = f"{printable(one.measure)} = {value}   {heading('query', lang)} {printable(one.query_id)}"
    parts: list[Table | tuple[str, Names]] = []
    if one.ours != one.measure:
        meant = f"{printable(one.measure)} = {printable(one.ours)}"
        parts.append(("", (f"{meant}: {one.note}" if one.note else meant,)))
    parts.append(_list(one, number))
    if one.texts:
        parts.append(_texts(one))
    if one.ideal:
        parts.append(_ideal(one, number))
    if one.intents:
        parts.append(_intents(one, number))
    if one.curve:
        head = tuple(heading(name, lang) for name in ("x", "y"))
        points = tuple((number(x), number(y)) for x, y in one.curve)
        parts.append(Table(heading("curve", lang), head, points, (True, True)))
    parts += [
        (heading(name, lang), lines) for name, lines in _lines(one, number) if lines
    ]
    about = about_card(one.card, lang)
    return Sheet(f"{title}   {printable(one.run)}", *about, tuple(parts))


def _list(one: Explanation, number: Writer) -> Table:
    lang = one.lang
    shown = _chosen(one)
    names = [name for name in one.columns if any(row.values.get(name) for row in shown)]
    head = ("rank", "document", "relevance", *names, "contribution", "running")
    rows = [
        (
            _place(row),
            printable(row.doc_id or "", 60),
            number(row.relevance),
            *(from_english(number(row.values.get(name)), lang) for name in names),
            "" if row.contribution is None else number(row.contribution),
            number(row.running),
        )
        for row in shown
    ]
    blank = ("",) * (len(head) - 3)
    if len(one.rows) > len(shown):
        more = heading("more", lang, count=len(one.rows) - len(shown))
        rows.append(("", more, *blank, ""))
    so_far = one.rows[-1].running if one.rows else 0.0
    for name in ("missed", "unjudged"):
        added = getattr(one, name)
        if added is not None:
            so_far += added
            rows.append(
                ("", heading(name, lang), *blank[1:], number(added), number(so_far))
            )
    sums = (
        ("numerator", one.numerator),
        ("denominator", one.denominator),
        ("value", one.value),
    )
    rows += [("", heading(name, lang), *blank, number(value)) for name, value in sums]
    numeric = (True, False, *[True] * (len(head) - 2))
    return Table(
        heading("list", lang),
        tuple(heading(name, lang) for name in head),
        tuple(rows),
        numeric,
        len(sums),
    )


def _chosen(one: Explanation) -> Sequence[Row]:
    """Return the rows that are shown: those above the cutoff, and those with a contribution."""
    if len(one.rows) <= _ROWS:
        return one.rows
    chosen = [
        row
        for row in one.rows
        if row.contribution or (one.k is not None and row.rank <= one.k)
    ]
    return chosen[:_ROWS] or one.rows[:_ROWS]


def _texts(one: Explanation) -> Table:
    """Return the texts of the documents that are shown, then of the best that were not retrieved."""
    ranks = [(str(row.rank), row.doc_id or "") for row in _chosen(one)]
    missed = [
        ("–", miss.doc_id) for miss in one.not_retrieved[:_MISSED] if miss.relevance > 0
    ]
    rows = tuple(
        (rank, printable(doc, 60), printable(one.texts[doc], _TEXT))
        for rank, doc in (*ranks, *missed)
        if doc in one.texts
    )
    head = tuple(heading(name, one.lang) for name in ("rank", "document", "text"))
    return Table(heading("texts", one.lang), head, rows, ("number", "id", "text"))


def _place(row: Row) -> str:
    return (
        str(row.rank)
        if row.first == row.last
        else f"{row.rank} ({row.first}–{row.last})"
    )


def _ideal(one: Explanation, number: Writer) -> Table:
    names = list(one.ideal[0].values)
    documents = any(row.doc_id is not None for row in one.ideal)
    head = ("rank", *(("document",) if documents else ()), *names)
    rows = tuple(
        (
            str(row.rank),
            *((printable(row.doc_id or "", 60),) if documents else ()),
            *(number(row.values[name]) for name in names),
        )
        for row in one.ideal[:_ROWS]
    )
    numeric = (True, *((False,) if documents else ()), *[True] * len(names))
    total = (
        "",
        *(("",) if documents else ()),
        *[""] * (len(names) - 1),
        number(one.denominator),
    )
    head_texts = tuple(heading(name, one.lang) for name in head)
    return Table(heading("ideal", one.lang), head_texts, (*rows, total), numeric, 1)


def _intents(one: Explanation, number: Writer) -> Table:
    head = tuple(
        heading(name, one.lang)
        for name in ("intent", "weight", "relevant_known", "ranks")
    )
    rows = tuple(
        (
            printable(intent.name, 30),
            number(intent.weight),
            str(intent.relevant),
            " ".join(map(str, intent.ranks[:8]))
            + (" …" if len(intent.ranks) > 8 else ""),  # noqa: PLR2004
        )
        for intent in one.intents[:_ROWS]
    )
    return Table(heading("intents", one.lang), head, rows, (False, True, True, False))


def _lines(one: Explanation, number: Writer) -> Iterator[tuple[str, Names]]:
    lang = one.lang
    yield "footnotes", tuple(note.text(lang) for note in one.footnotes)
    yield "not_retrieved", tuple(_missed(one, number))
    yield (
        "changes",
        tuple(
            heading(
                "change",
                lang,
                doc=printable(change.doc_id, 60),
                grade=number(change.relevance),
                to=change.to,
                at=heading("nowhere", lang)
                if change.at is None
                else heading("at", lang, at=change.at),
                value=number(change.value),
                gain=number(change.gain),
            )
            for change in one.changes
        ),
    )
    yield "others", tuple(_others(one, number))


def _missed(one: Explanation, number: Writer) -> Iterator[str]:
    """Yield judged documents outside the list: those above grade 0 by name, the others as a count."""
    better = [
        f"{printable(doc.doc_id, 60)} ({number(doc.relevance)})"
        for doc in one.not_retrieved
        if doc.relevance > 0
    ]
    if better:
        more = [] if len(better) <= _ROWS else [f"… {len(better) - _ROWS}"]
        yield ", ".join(better[:_ROWS] + more)
    if rest := len(one.not_retrieved) - len(better):
        yield heading("worthless", one.lang, count=rest)


def _others(one: Explanation, number: Writer) -> Iterator[str]:
    """Yield libraries by the value that they would print."""
    by_value: dict[str, list[str]] = {}
    refuses = heading("refuses", one.lang)
    for library, value in one.others.items():
        text = (
            value.replace("refuses", refuses, 1)
            if isinstance(value, str)
            else number(value)
        )
        by_value.setdefault(text, []).append(library)
    for text, libraries in sorted(by_value.items(), key=lambda item: -len(item[1])):
        yield f"{text}: {', '.join(libraries)}"


def difference_sheet(both: ExplainedDifference, digits: int = 4) -> Sheet:
    """Return the difference of two scores as a sheet, with this many decimals."""
    number = partial(decimal, digits=digits)
    lang = both.first.lang
    first = both.first
    second = both.second
    title = (
        f"{printable(first.measure)}   {heading('query', lang)} {printable(first.query_id)}   "
        f"{printable(first.run)} {number(first.value)} − {printable(second.run)} {number(second.value)} = "
        f"{number(both.difference)}"
    )
    head = (
        heading("document", lang),
        heading("relevance", lang),
        *(
            f"{heading('rank', lang)} {printable(one.run, _RUN)}"
            for one in (first, second)
        ),
        printable(first.run, _RUN),
        printable(second.run, _RUN),
        heading("difference", lang),
    )
    rows = [_share(one, lang, number) for one in both.shares[:_ROWS]]
    rest = both.shares[_ROWS:]
    if rest:
        sums = (sum(one.shares[0] for one in rest), sum(one.shares[1] for one in rest))
        rows.append(
            (
                f"… {len(rest)}",
                "",
                "",
                "",
                *map(number, sums),
                number(sums[0] - sums[1]),
            )
        )
    rows.append(
        (
            "",
            "",
            "",
            "",
            number(first.value),
            number(second.value),
            number(both.difference),
        )
    )
    numeric = (False, *[True] * (len(head) - 1))
    table = Table(heading("difference", lang), head, tuple(rows), numeric, 1)
    about = about_card(first.card, lang)
    return Sheet(title, *about, (table,))


def _share(one: Share, lang: str, number: Writer) -> Names:
    name = heading(one.of, lang) if one.doc_id is None else printable(one.doc_id, 60)
    ranks = ["–" if rank is None else str(rank) for rank in one.ranks]
    grade = "" if one.doc_id is None else number(one.relevance)
    return (name, grade, *ranks, *map(number, one.shares), number(one.difference))
