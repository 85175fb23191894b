"""Explanations, and differences of two of them, as sheets."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from rankstone.errors import printable
from rankstone.tables.phrases import about_card, from_english, phrase
from rankstone.tables.sheet import Sheet, Table
from rankstone.tables.sheet import number as decimal
from rankstone.tables.short_names import shortened

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
#: the most rows of the first screen; longer lists leave out there what adds nothing
_FIRST_ROWS: Final = 10
#: rows of the first screen where nothing contributes
_FIRST: Final = 3
#: the most letters of a text, and the most texts of documents outside the list
_TEXT: Final = 160
_MISSED: Final = 5
#: the most letters of the name of a run in a heading
_RUN: Final = 16


def explanation_sheet(
    explanation: Explanation, digits: int = 4, *, verbose: bool = False
) -> Sheet:
    """Return an explanation as a sheet, with this many decimals.

    The first screen has the table that the number is the sum of, the rules that applied, and the changes that
    would raise it most; ``verbose`` adds rows that contribute nothing, the ideal list, and all changes.
    """
    lang = explanation.lang
    number = partial(decimal, digits=digits)

    value = heading("undefined", lang)
    if explanation.value is not None:
        value = number(explanation.value)

    measure = printable(explanation.measure)
    query = printable(explanation.query_id)
    title = f"{measure} = {value}   {heading('query', lang)} {query}"

    parts: list[Table | tuple[str, Names]] = []
    if explanation.ours != explanation.measure:
        meant = f"{measure} = {printable(explanation.ours)}"
        if explanation.note:
            meant = f"{meant}: {explanation.note}"
        parts.append(("", (meant,)))

    shown = _chosen(explanation, verbose=verbose)
    title_of_list = heading("list", lang) if verbose else ""
    parts.append(_list(explanation, shown, number, title_of_list))
    if explanation.sources:
        counts = _source_counts(explanation)
        parts.append(("", (counts,)))
    if explanation.texts:
        parts.append(_texts(explanation, shown))
    if explanation.ideal and verbose:
        parts.append(_ideal(explanation, number))
    if explanation.intents:
        parts.append(_intents(explanation, number))
    if explanation.curve:
        head = tuple(heading(name, lang) for name in ("x", "y"))
        points = tuple((number(x), number(y)) for x, y in explanation.curve)
        parts.append(Table(heading("curve", lang), head, points, (True, True)))

    parts += _lines(explanation, number, verbose=verbose)
    about = about_card(explanation.card, lang)
    title += f"   {printable(explanation.run)}"
    if verbose:
        return Sheet(title, *about, tuple(parts))
    return Sheet(
        title,
        *about,
        tuple(parts),
        whole=partial(explanation_sheet, explanation, digits, verbose=True),
        more=heading("whole", lang),
    )


def _list(
    explanation: Explanation, shown: Sequence[Row], number: Writer, title: str
) -> Table:
    lang = explanation.lang
    names = [
        name
        for name in explanation.columns
        if any(row.values.get(name) for row in shown)
    ]
    texts = ["document"]
    if explanation.sources:
        texts.append("source")
    head = ("rank", *texts, "relevance", *names, "contribution", "running")
    rows = [_cells(row, names, explanation, number) for row in shown]
    blank = ("",) * (len(head) - 3)
    rest = [row for row in explanation.rows if row not in shown]
    if rest:
        adds = any(row.contribution for row in rest)
        more = heading("more", lang, count=len(rest))
        if not adds:
            more = heading("more_of_nothing", lang, count=len(rest))
        rows.append(("", more, *blank, ""))
    so_far = 0.0
    if explanation.rows:
        so_far = explanation.rows[-1].running
    for name in ("missed", "unjudged"):
        added = getattr(explanation, name)
        if added is not None:
            so_far += added
            label = "all_shown" if explanation.whole else name
            title_of_row = heading(label, lang)
            rows.append(("", title_of_row, *blank[1:], number(added), number(so_far)))
    sums = (
        ("numerator", explanation.numerator),
        ("denominator", explanation.denominator),
        ("value", explanation.value),
    )
    rows += [("", heading(name, lang), *blank, number(value)) for name, value in sums]
    numbers = len(head) - len(texts) - 1
    numeric = (True, *[False] * len(texts), *[True] * numbers)
    return Table(
        title,
        tuple(heading(name, lang) for name in head),
        tuple(rows),
        numeric,
        len(sums),
    )


def _cells(
    row: Row, names: Sequence[str], explanation: Explanation, number: Writer
) -> Names:
    """Return the cells of a document."""
    document = row.doc_id or ""
    cells = [_place(row)]
    cells.append(printable(document, 60))
    if explanation.sources:
        source = explanation.sources.get(document, "")
        cells.append(printable(source, 40))
    cells.append(number(row.relevance))
    for name in names:
        text = number(row.values.get(name))
        cells.append(from_english(text, explanation.lang))
    contribution = ""
    if row.contribution is not None:
        contribution = number(row.contribution)
    cells.append(contribution)
    cells.append(number(row.running))
    return tuple(cells)


def _source_counts(explanation: Explanation) -> str:
    """Return how many documents each source has, the largest first."""
    counts = Counter(explanation.sources.values())
    texts = []
    for source, count in counts.most_common(_ROWS):
        name = printable(source, 40)
        texts.append(f"{name} × {count}")
    if len(counts) > _ROWS:
        texts.append("…")
    shown = ", ".join(texts)
    return heading("sources", explanation.lang, counts=shown)


def _chosen(explanation: Explanation, *, verbose: bool) -> Sequence[Row]:
    """Return the rows that are shown of a longer list: those that contribute; ``verbose``: also to the cutoff."""
    if not verbose:
        if len(explanation.rows) <= _FIRST_ROWS:
            return explanation.rows
        contributing = [row for row in explanation.rows if row.contribution]
        first = _FIRST
        if explanation.sources:
            first = _FIRST_ROWS
        return contributing[:_FIRST_ROWS] or explanation.rows[:first]

    if len(explanation.rows) <= _ROWS:
        return explanation.rows
    chosen = [
        row
        for row in explanation.rows
        if row.contribution or (explanation.k is not None and row.rank <= explanation.k)
    ]
    return chosen[:_ROWS] or explanation.rows[:_ROWS]


def _texts(explanation: Explanation, shown: Sequence[Row]) -> Table:
    """Return the texts of the documents that are shown, then of the best that were not retrieved."""
    ranks = [(str(row.rank), row.doc_id or "") for row in shown]
    missed = [
        ("–", miss.doc_id)
        for miss in explanation.not_retrieved[:_MISSED]
        if miss.relevance > 0
    ]
    rows = tuple(
        (rank, printable(doc, 60), printable(explanation.texts[doc], _TEXT))
        for rank, doc in (*ranks, *missed)
        if doc in explanation.texts
    )
    head = tuple(
        heading(name, explanation.lang) for name in ("rank", "document", "text")
    )
    return Table(
        heading("texts", explanation.lang), head, rows, ("number", "id", "text")
    )


def _place(row: Row) -> str:
    return (
        str(row.rank)
        if row.first == row.last
        else f"{row.rank} ({row.first}–{row.last})"
    )


def _ideal(explanation: Explanation, number: Writer) -> Table:
    names = list(explanation.ideal[0].values)
    documents = any(row.doc_id is not None for row in explanation.ideal)
    head = ("rank", *(("document",) if documents else ()), *names)
    rows = tuple(
        (
            str(row.rank),
            *((printable(row.doc_id or "", 60),) if documents else ()),
            *(number(row.values[name]) for name in names),
        )
        for row in explanation.ideal[:_ROWS]
    )
    numeric = (True, *((False,) if documents else ()), *[True] * len(names))
    total = (
        "",
        *(("",) if documents else ()),
        *[""] * (len(names) - 1),
        number(explanation.denominator),
    )
    head_texts = tuple(heading(name, explanation.lang) for name in head)
    return Table(
        heading("ideal", explanation.lang), head_texts, (*rows, total), numeric, 1
    )


def _intents(explanation: Explanation, number: Writer) -> Table:
    head = tuple(
        heading(name, explanation.lang)
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
        for intent in explanation.intents[:_ROWS]
    )
    return Table(
        heading("intents", explanation.lang), head, rows, (False, True, True, False)
    )


def _lines(
    explanation: Explanation, number: Writer, *, verbose: bool
) -> Iterator[tuple[str, Names]]:
    """Yield the rules that applied, what is not in the list, what would raise the score, and other libraries.

    Each under its heading; on the first screen relevant documents and the largest change alone.
    """
    rules = tuple(note.text(explanation.lang) for note in explanation.footnotes)
    missed = tuple(_missed(explanation, number))
    changes = tuple(_changes(explanation, number))
    names = ["footnotes", "not_retrieved", "changes", "others"]
    lists = [rules, missed, changes, tuple(_others(explanation, number))]
    if not verbose:
        if any(document.relevance > 0 for document in explanation.not_retrieved):
            rules += (heading("outside", explanation.lang, documents=missed[0]),)
        names = ["", "others"]
        lists[:3] = [rules + changes[:1]]
    for name, texts in zip(names, lists, strict=True):
        if texts:
            yield heading(name, explanation.lang) if name else "", texts


def _changes(explanation: Explanation, number: Writer) -> Iterator[str]:
    """Yield what would raise the score, the most first."""
    lang = explanation.lang
    for change in explanation.changes:
        now = heading("nowhere", lang)
        if change.at is not None:
            now = heading("at", lang, at=change.at)
        yield heading(
            "change",
            lang,
            doc=printable(change.doc_id, 60),
            grade=number(change.relevance),
            to=change.to,
            at=now,
            value=number(change.value),
            gain=number(change.gain),
        )


def _missed(explanation: Explanation, number: Writer) -> Iterator[str]:
    """Yield judged documents outside the list: those above grade 0 by name, the others as a count."""
    better = [
        f"{printable(doc.doc_id, 60)} ({number(doc.relevance)})"
        for doc in explanation.not_retrieved
        if doc.relevance > 0
    ]
    if better:
        more = [] if len(better) <= _ROWS else [f"… {len(better) - _ROWS}"]
        yield ", ".join(better[:_ROWS] + more)
    if rest := len(explanation.not_retrieved) - len(better):
        yield heading("worthless", explanation.lang, count=rest)


def _others(explanation: Explanation, number: Writer) -> Iterator[str]:
    """Yield libraries by the value that they would print."""
    by_value: dict[str, list[str]] = {}
    refuses = heading("refuses", explanation.lang)
    for library, value in explanation.others.items():
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
    runs = [printable(side.run) for side in (first, second)]
    short = shortened(runs, _RUN)
    names = [short[run] for run in runs]
    rank = heading("rank", lang)
    head = (
        heading("document", lang),
        heading("relevance", lang),
        f"{rank} {names[0]}",
        f"{rank} {names[1]}",
        *names,
        heading("difference", lang),
    )
    shown = both.shares[:_ROWS]
    rows = [_share(share, lang, number) for share in shown]
    rest = both.shares[_ROWS:]
    if rest:
        sums = [0.0, 0.0]
        for share in rest:
            sums[0] += share.shares[0]
            sums[1] += share.shares[1]
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


def _share(share: Share, lang: str, number: Writer) -> Names:
    name = heading(share.of, lang)
    grade = ""
    if share.doc_id is not None:
        name = printable(share.doc_id, 60)
        grade = number(share.relevance)
    ranks = []
    for rank in share.ranks:
        absent = "–"
        if share.doc_id is not None:
            absent = heading("absent", lang)
        ranks.append(absent if rank is None else str(rank))
    shares = map(number, share.shares)
    difference = number(share.difference)
    return (name, grade, *ranks, *shares, difference)
