"""Output of commands: formats, files, and checks of both."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from rankstone.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


#: formats of every result
FORMATS: Final = ("table", "csv", "json", "jsonl", "md", "latex", "html")
_ROWS: Final = (".parquet", ".pq", ".csv", ".jsonl", ".ndjson")
_CHARTS = (".svg", ".png", ".pdf", ".html")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
#: the largest threshold the GNU C library accepts
_MOST_KEPT = 32 << 20
#: columns of notes in a pipe, where programs look for whole lines
_ENDLESS: Final = 10_000


def check_format(form: str, known: Iterable[str] = FORMATS) -> None:
    """Refuse a --format that does not exist."""
    names = list(known)
    if form not in names:
        raise UsageError(
            f"--format {form} is not known",
            expected=", ".join(names),
            fix=did_you_mean(form, names),
        )


def check_rows(path: str | None, flag: str = "--per-query") -> None:
    """Refuse, before any work, a file of rows with an unknown suffix."""
    if path is not None and Path(path).suffix.lower() not in _ROWS:
        raise UsageError(f"{flag} {path}: no known suffix", expected=", ".join(_ROWS))


def check_charts(charts: Mapping[str, str | None], page: str | None = None) -> None:
    """Refuse, before any work, charts (flag → file) and pages that cannot be written."""
    for flag, name in charts.items():
        if name is not None and Path(name).suffix.lower() not in _CHARTS:
            raise UsageError(f"--{flag} {name}: no known suffix", expected=", ".join(_CHARTS))
    if page is not None or any(charts.values()):
        from rankstone.reports import require

        require(charts=any(charts.values()))


def command_line() -> str:
    """Return the command line as somebody may type it again."""
    return shlex.join(["rankstone", *sys.argv[1:]])


def deliver(
    rows: Any, text: str, output: str | None, per_query: str | None, page: Any = None, lang: str | None = None
) -> None:
    """Write rows (values per query) if requested, and print the text or write it to a file.

    A file called ``.html`` becomes the page of a result, if one is given, in a language.
    """
    from rankstone.io import atomic

    if per_query is not None:
        write_rows(rows, per_query)
    if output is None:
        click.echo(text, nl=False)
        return
    if page is not None and Path(output).suffix.lower() in (".html", ".htm"):
        import rankstone

        rankstone.report(page, output, lang=lang or "en", command=command_line())
        return
    with atomic(output) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def write_rows(rows: Any, path: str) -> None:
    """Write the rows of a result, or of a frame; CSV as --csv-formulas says."""
    from rankstone.tables.results import write_rows as write

    write(rows.lazy(), path, formulas())


def formulas() -> str:
    """Return the option for CSV texts that a spreadsheet would compute."""
    context = click.get_current_context(silent=True)
    return "keep" if context is None else str(context.meta.get("rankstone.csv_formulas") or "keep")


def keep_freed_memory() -> None:
    """Ask the C library to keep what is freed instead of giving it back to the system at once.

    Batches allocate and free the same few megabytes again and again; page faults would otherwise
    cost a quarter of the time.  This is our own process, so nobody else is concerned.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:  # the GNU C library
        mallopt(_M_MMAP_THRESHOLD, _MOST_KEPT)
        mallopt(_M_TRIM_THRESHOLD, 1 << 30)


def written(
    found: Any,
    form: str,
    digits: int | None = None,
    *,
    width: int | None = None,
    frame: Any = None,
    content: Any = None,
    **view: Any,
) -> str:
    """Return a result in one of :data:`FORMATS`, ending in a newline.

    Parameters
    ----------
    found
        A result, or several of a kind.
    form
        The format.
    digits
        Decimals in tables; the result's own unless given.
    width
        Columns of a table; those of the page unless given.
    frame
        The rows for ``csv`` and ``jsonl``; by default the result's own.
    content
        The content for ``json``; by default the whole report.
    **view
        Arguments of the result's ``sheet``.
    """
    from rankstone.tables import markup
    from rankstone.tables import sheet as terminal
    from rankstone.tables.results import as_csv, as_json, as_json_lines

    results = list(found) if isinstance(found, (list, tuple)) else [found]
    if form == "json":
        whole = [one.report() for one in results] if content is None else [content]
        return as_json(whole[0] if len(whole) == 1 else whole)
    if form in ("csv", "jsonl"):
        rows = results[0].to_frame() if frame is None else frame
        for one in results[1:]:
            rows = rows.vstack(one.to_frame())
        return as_csv(rows, formulas()) if form == "csv" else as_json_lines(rows)
    given = view if digits is None else {**view, "digits": digits}
    sheets = [one.sheet(**given) for one in results]
    if form == "html":
        return markup.document("rankstone", map(markup.html, sheets))
    if form in ("md", "latex"):
        return "\n".join(map(markup.markdown if form == "md" else markup.latex, sheets))
    tty, columns = sys.stdout.isatty(), width or terminal.page_width()
    styled = tty and "NO_COLOR" not in os.environ
    notes = columns if tty else _ENDLESS
    return "\n\n".join(terminal.text(one, columns, notes=notes, styled=styled) for one in sheets) + "\n"
