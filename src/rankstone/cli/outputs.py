"""What commands do with results: print them, or write files that spare the inputs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "FORMULAS_GIVEN",
    "as_csv",
    "as_json",
    "as_json_lines",
    "check_charts",
    "check_format",
    "columns_of_terminal",
    "deliver",
    "formulas",
    "keep_freed_memory",
    "per_query_writer",
    "write_rows",
]

#: where a command keeps what --csv-formulas was given
FORMULAS_GIVEN = "rankstone.csv_formulas"
_WRITERS = {
    ".parquet": "write_parquet",
    ".pq": "write_parquet",
    ".csv": "write_csv",
    ".jsonl": "write_ndjson",
    ".ndjson": "write_ndjson",
}
_CHARTS = (".svg", ".png", ".pdf", ".html")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
#: the largest threshold the GNU C library accepts
_MOST_KEPT = 32 << 20


def check_format(form: str, known: Iterable[str]) -> None:
    """Refuse a --format that nobody can write."""
    from rankstone.errors import UsageError, nearest

    names = list(known)
    if form not in names:
        close = nearest(form, names, n=1)
        raise UsageError(
            f"--format {form} is not known",
            expected=", ".join(names),
            fix=f"did you mean {close[0]}?" if close else None,
        )


def per_query_writer(per_query: str | None, flag: str = "--per-query") -> str:
    """Return the method that writes such a file; refuse a suffix nobody can write before any work is done."""
    from rankstone.errors import UsageError

    suffix = Path(per_query).suffix.lower() if per_query is not None else ".csv"
    if suffix not in _WRITERS:
        raise UsageError(f"{flag} {per_query}: no known suffix", expected=", ".join(_WRITERS))
    return _WRITERS[suffix]


def check_charts(charts: Mapping[str, str | None], page: str | None = None) -> None:
    """Refuse, before any work, charts (flag → file) and pages that cannot be written."""
    from rankstone.errors import UsageError

    for flag, name in charts.items():
        if name is not None and Path(name).suffix.lower() not in _CHARTS:
            raise UsageError(f"--{flag} {name}: no known suffix", expected=", ".join(_CHARTS))
    if page is not None or any(charts.values()):
        from rankstone.report import require

        require()


def deliver(results: Any, text: str, output: str | None, per_query: str | None) -> None:  # noqa: ANN401
    """Write rows (values per query) where that was asked for, and print the text or write it to a file."""
    from rankstone.io import atomic

    if per_query is not None:
        write_rows(results, per_query_writer(per_query), per_query)
    if output is None:
        click.echo(text, nl=False)
        return
    with atomic(output) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def write_rows(results: Any, method: str, path: str) -> None:  # noqa: ANN401 - of any command
    """Write results by one of their methods; CSV as --csv-formulas says."""
    getattr(results, method)(path, **({"formulas": formulas()} if method == "write_csv" else {}))


def formulas() -> str:
    """Return what becomes of texts in CSV that a spreadsheet would compute."""
    context = click.get_current_context(silent=True)
    return "keep" if context is None else str(context.meta.get(FORMULAS_GIVEN, "keep"))


def as_csv(frame: Any) -> str:  # noqa: ANN401 - Polars' frame
    """Return a table as CSV, its texts as --csv-formulas says."""
    from rankstone.io.formulas import without_formulas

    text: str = without_formulas(frame.lazy(), formulas()).collect().write_csv()
    return text


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


def columns_of_terminal() -> int:
    """Return the width of the terminal, 80 where there is none."""
    import shutil
    import sys

    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80


def as_markup(found: Sequence[Any], form: str) -> str:
    """Return results that show themselves as sheets in Markdown, LaTeX, or as one page of HTML."""
    pieces = [{"md": one.markdown, "latex": one.latex, "html": one.html}[form]() for one in found]
    if form == "html":
        from rankstone.sheets.markup import document

        return document("rankstone", pieces)
    return "\n".join(pieces).rstrip("\n") + "\n"


def as_json(told: object) -> str:
    """Return a report as JSON, a line a value; what JSON has no word for, a date say, is a text."""
    return json.dumps(told, ensure_ascii=False, indent=1, default=str) + "\n"


def as_json_lines(rows: Iterable[dict[str, Any]]) -> str:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
