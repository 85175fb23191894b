"""What commands share: check files, compute with a progress bar, show the result in a format, write files."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from rankstone.cli.arguments import advise_on_all, judged_runs, present, split_columns
from rankstone.cli.options import FORMATS
from rankstone.errors import InputError, UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from rankstone.cli.standard_error import Ticker


_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
#: the largest threshold the GNU C library accepts
_MOST_KEPT = 32 << 20
#: columns of notes in a pipe, where programs look for whole lines
_ENDLESS: Final = 10_000
Found = TypeVar("Found")
#: formats without room for the audit, which then goes to standard error
_WITHOUT_NOTES: Final = ("csv", "jsonl")


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
    from rankstone.io import suffixes_of, written_format
    from rankstone.tables import ROWS

    if path is not None and written_format(Path(path)) not in ROWS:
        raise UsageError(
            f"{flag} {path}: no known suffix", expected=", ".join(suffixes_of(*ROWS))
        )


def check_charts(charts: Mapping[str, str | None], page: str | None = None) -> None:
    """Refuse, before any work, charts (flag → file) and pages that cannot be written."""
    from rankstone.io import CHARTS

    suffixes = [f".{kind}" for kind in CHARTS]
    for flag, name in charts.items():
        if name is not None and Path(name).suffix.lower() not in suffixes:
            raise UsageError(
                f"--{flag} {name}: no known suffix", expected=", ".join(suffixes)
            )
    if page is not None or any(charts.values()):
        from rankstone.reports import require

        require(charts=any(charts.values()))


def command_line() -> str:
    """Return the command line as it can be typed again, in this folder or in a copy of it elsewhere."""
    here = f"{Path.cwd()}/"
    words = (word.replace(here, "") for word in sys.argv[1:])
    return shlex.join(["rankstone", *words])


def deliver(
    rows: Any,
    text: str,
    output: str | None,
    per_query: str | None,
    page: Any = None,
    lang: str | None = None,
) -> None:
    """Write rows (values per query) if requested, and print the text or write it to a file.

    A file named ``.html`` becomes the page of a result, if one is given, in a language.
    """
    from rankstone.io import atomic, written_format

    if per_query is not None:
        write_rows(rows, per_query)
    if output is None:
        # in a pipe ids of CSV keep what looks like colours; texts for people have none there
        # a page says that it is UTF-8, whatever the encoding of the output
        shown = text.encode() if text.startswith("<!") else text
        click.echo(shown, nl=False, color=None if sys.stdout.isatty() else True)
        return
    if page is not None and written_format(Path(output)) == "html":
        import rankstone

        rankstone.report(page, output, lang=lang or "en", command=command_line())
        return
    with atomic(output) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def write_rows(rows: Any, path: str) -> None:
    """Write the rows of a result, or of a frame; CSV as --csv-formulas says."""
    from rankstone.tables.results import write_rows as write

    write(rows.lazy(), path, formulas(), getattr(rows, "conventions", None))


def csv_text(rows: Any) -> str:
    """Return a frame as CSV; texts that a spreadsheet would compute as --csv-formulas says."""
    from rankstone.tables.results import as_csv

    return as_csv(rows, formulas())


def formulas() -> str:
    """Return the option for CSV texts that a spreadsheet would compute."""
    return str(kept("csv_formulas") or "keep")


def kept(option: str) -> Any:
    """Return the value of an option that is the same for all commands."""
    context = click.get_current_context(silent=True)
    return (
        None
        if context is None
        else context.meta.get(f"rankstone.{option}", context.params.get(option))
    )


def keep_freed_memory() -> None:
    """Ask the C library to keep what is freed instead of giving it back to the system at once.

    Batches allocate and free the same few megabytes again and again; page faults would otherwise
    cost a quarter of the time.  This is our own process, so nothing else is affected.
    """
    import ctypes

    mallopt = (
        getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    )
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
    from rankstone.tables import markup, page_text

    given = view if digits is None else {**view, "digits": digits}
    sheets = [one.sheet(**given) for one in results]
    if kept("verbose"):
        sheets = [sheet.verbose() for sheet in sheets]
    elif kept("quiet"):
        sheets = [replace(sheet, notes=()) for sheet in sheets]
    if form == "html":
        return markup.document("rankstone", map(markup.html, sheets))
    if form in ("md", "latex"):
        return "\n".join(map(markup.markdown if form == "md" else markup.latex, sheets))
    tty = sys.stdout.isatty()
    columns = width or page_text.page_width()
    styled = tty and "NO_COLOR" not in os.environ
    notes = columns if tty else _ENDLESS
    signs = kept("output") is not None or _writes("▲▼≈")
    pages = [
        page_text.text(one, columns, notes=notes, styled=styled, signs=signs)
        for one in sheets
    ]
    return "\n\n".join(pages) + "\n"


def _writes(signs: str) -> bool:
    """Return whether standard output can write some signs."""
    try:
        signs.encode(sys.stdout.encoding or "utf-8")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


# -- running a command --------------------------------------------------------------------------------


def audit_lines(result: Any) -> list[str]:
    """Return what was found in the data of a result, whole if ``-v``; nothing for saved scores."""
    from rankstone.tables.phrases import from_english

    if result.audit is None:
        return []
    lines = result.audit.lines() if kept("verbose") else result.audit.brief()
    lang = kept("lang") or "en"
    return [from_english(line, lang) for line in lines]


def execute(
    given: dict[str, Any],
    find: Callable[..., Found],
    inputs: Iterable[str | None],
    *,
    show: Callable[[Found, str, int | None], str] = written,
    formats: Iterable[str] = FORMATS,
    rows: Callable[[Found], Any] = lambda found: found,
    notes: Callable[[Found], list[str]] | None = audit_lines,
    paged: bool = False,
) -> Found:
    """Compute a result with a public function, show it, write it, and return it.

    Parameters
    ----------
    given
        Values of the options.  Those for reading and printing are used here; the others are passed to
        ``find`` by name, if they were given.
    find
        Computes the result; also takes ``columns`` and ``progress``.
    inputs
        Files that are read, which may lack the same columns.
    show
        Formats the result: result, format, decimals.
    formats
        The possible formats.
    rows
        Returns what ``--per-query`` writes.
    notes
        Returns lines for standard error, where the format has no room for them; ``None`` for none.
    paged
        True if the result has a page, which ``-o page.html`` writes.
    """
    form, digits, output, per_query = (
        given.pop(name, None) for name in ("form", "digits", "output", "per_query")
    )
    quiet = given["quiet"]
    check_format(form, formats)
    check_rows(per_query)
    with keyword_options(given, inputs) as options:
        found = find(**options)
    text = show(found, form, digits)
    page = found if paged and form == "table" else None
    deliver(
        None if per_query is None else rows(found),
        text,
        output,
        per_query,
        page,
        given.get("lang"),
    )
    if notes is not None and not quiet and form in _WITHOUT_NOTES:
        print_notes(notes(found))
    return found


@contextmanager
def keyword_options(
    given: dict[str, Any], inputs: Iterable[str | None]
) -> Iterator[dict[str, Any]]:
    """Yield keyword arguments for a public function, with a progress bar; arguments as for :func:`execute`.

    Whether renamed columns exist is checked afterwards.
    """
    quiet = given.pop("quiet")
    named = split_columns(given.pop("columns"))
    keep_freed_memory()
    with progress_bar(quiet=quiet) as bar:
        try:
            yield {"columns": named, "progress": bar, **present(given)}
        except InputError as error:
            advise_on_all(error, filter(None, inputs))
            raise
    named.require_present()


def on_runs(
    study: Callable[..., Found], files: Sequence[str], measures: Sequence[Any]
) -> Callable[..., Found]:
    """Return a function that applies ``study`` to judgments, runs and measures."""

    def find(**options: Any) -> Found:
        runs = judged_runs(click.get_current_context().info_name or "", files)
        return study(files[0], runs, measures, **options)

    return find


def print_notes(lines: Iterable[str]) -> None:
    """Print lines on standard error."""
    for line in lines:
        click.echo(line, err=True)


def progress_bar(
    *, quiet: bool, what: str = "rows"
) -> AbstractContextManager[Ticker | None]:
    """Return a progress bar that counts ``what``; nothing in pipes, in CI and with ``--quiet``."""
    if quiet or not sys.stderr.isatty() or os.environ.get("CI"):
        return nullcontext()
    from rankstone.cli.standard_error import Ticker

    return Ticker(what)
