"""One way from a command line to an answer: check, read, compute with a progress bar, show, write."""

from __future__ import annotations

from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, present, split_columns
from rankstone.cli.outputs import FORMATS, check_format, check_rows, deliver, keep_freed_memory, written
from rankstone.cli.standard_error import Ticker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


__all__ = ["AUDIT", "answer", "note_audit", "of_runs", "options_of"]

Found = TypeVar("Found")
#: what results say of the data
AUDIT: Final = attrgetter("audit")
#: formats of rows alone, which have no room for what was found in the data
_ROWS: Final = ("csv", "jsonl")


def answer(
    given: dict[str, Any],
    find: Callable[..., Found],
    inputs: Iterable[str | None],
    *,
    show: Callable[[Found, str, int | None], str] = written,
    formats: Iterable[str] = FORMATS,
    rows: Callable[[Found], Any] = lambda found: found,
    outputs: Mapping[str, str | None] | None = None,
    audit: Callable[[Found], Any] | None = AUDIT,
) -> Found:
    """Have a public function find the answer, show it, write it, and return it.

    Parameters
    ----------
    given
        Values of the options.  Those of reading and printing are used here; the others are handed to
        ``find``, by name, if they were given.
    find
        Finds the answer; also takes ``columns`` and ``progress``.
    inputs
        Files that are read.
    show
        Returns the answer in a format, with so many decimals.
    formats
        The formats in which it can be shown.
    rows
        Returns what ``--per-query`` writes, of the answer.
    outputs
        Flag → file, of outputs beside those of ``-o`` and ``--per-query``, which the caller writes.
    audit
        Returns what was found in the data, of the answer; it is shown on standard error where the format
        has no room for it.  ``None`` shows nothing.
    """
    form, digits, output, per_query = (
        given.pop(name, None) for name in ("form", "digits", "output", "per_query")
    )
    quiet = given["quiet"]
    check_format(form, formats)
    check_rows(per_query)
    with options_of(given, inputs, {"-o": output, "--per-query": per_query, **(outputs or {})}) as options:
        found = find(**options)
    deliver(None if per_query is None else rows(found), show(found, form, digits), output, per_query)
    if audit is not None and not quiet and form in _ROWS:
        note_audit(audit(found))
    return found


@contextmanager
def options_of(
    given: dict[str, Any], inputs: Iterable[str | None], outputs: Mapping[str, str | None]
) -> Iterator[dict[str, Any]]:
    """Yield what a public function takes by name, with a progress bar; arguments as for :func:`answer`.

    Before, files are checked, the outputs by flag; afterwards, that named columns were found.
    """
    keep_inputs(filter(None, inputs), outputs)
    quiet, named = given.pop("quiet"), split_columns(given.pop("columns"))
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        yield {"columns": named, "progress": ticker, **present(given)}
    named.require_present()


def of_runs(
    study: Callable[..., Found], files: Sequence[str], measures: Sequence[Any]
) -> Callable[..., Found]:
    """Return what has a function look at judgments, runs and measures, once it is called with the rest."""

    def find(**options: Any) -> Found:
        runs = judged_runs(click.get_current_context().info_name or "", files)
        return study(files[0], runs, measures, **options)

    return find


def note_audit(audit: Any) -> None:
    """Say on standard error what was found in the data; of saved scores that is nothing."""
    for line in [] if audit is None else audit.lines():
        click.echo(line, err=True)
