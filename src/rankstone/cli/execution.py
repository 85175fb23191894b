"""What commands share: check files, compute with a progress bar, show and write the result."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, present, split_columns
from rankstone.cli.outputs import FORMATS, check_format, check_rows, deliver, keep_freed_memory, written
from rankstone.cli.standard_error import Ticker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


Found = TypeVar("Found")
#: formats without room for the audit, which then goes to standard error
_ROWS: Final = ("csv", "jsonl")


def audit_lines(result: Any) -> list[str]:
    """Return what was found in the data of a result; nothing for saved scores."""
    return [] if result.audit is None else list(result.audit.lines())


def execute(
    given: dict[str, Any],
    find: Callable[..., Found],
    inputs: Iterable[str | None],
    *,
    show: Callable[[Found, str, int | None], str] = written,
    formats: Iterable[str] = FORMATS,
    rows: Callable[[Found], Any] = lambda found: found,
    outputs: Mapping[str, str | None] | None = None,
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
        Files that are read.
    show
        Formats the result: result, format, decimals.
    formats
        The possible formats.
    rows
        Returns what ``--per-query`` writes.
    outputs
        Flag → file, of further outputs, which the caller writes.
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
    with keyword_options(
        given, inputs, {"-o": output, "--per-query": per_query, **(outputs or {})}
    ) as options:
        found = find(**options)
    text, page = show(found, form, digits), found if paged and form == "table" else None
    deliver(None if per_query is None else rows(found), text, output, per_query, page, given.get("lang"))
    if notes is not None and not quiet and form in _ROWS:
        print_notes(notes(found))
    return found


@contextmanager
def keyword_options(
    given: dict[str, Any], inputs: Iterable[str | None], outputs: Mapping[str, str | None]
) -> Iterator[dict[str, Any]]:
    """Yield keyword arguments for a public function, with a progress bar; arguments as for :func:`execute`.

    Files are checked before, and whether renamed columns exist afterwards.
    """
    keep_inputs(filter(None, inputs), outputs)
    quiet, named = given.pop("quiet"), split_columns(given.pop("columns"))
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        yield {"columns": named, "progress": ticker, **present(given)}
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
