"""Runs by name, whether somebody hands over one, several, or a long table of many."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rankstone.errors import BadRuns, InputError, UsageError, one_of, printable
from rankstone.io import holds_columns, holds_rows, is_column, is_quepid, read_runs, shown, stem

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["RunErrors", "name_runs", "split_runs"]


def name_runs(runs: object) -> dict[str, object]:
    """Return runs by name; a single run is called ``run``, a file by its name.

    >>> name_runs(["runs/bm25.run.gz", "runs/dense.parquet"])
    {'bm25': 'runs/bm25.run.gz', 'dense': 'runs/dense.parquet'}
    """
    one = holds_columns(runs) or is_quepid(runs)
    if isinstance(runs, Mapping) and runs and not one and all(map(_is_run, runs.values())):
        return {str(name): run for name, run in runs.items()}
    if isinstance(runs, (list, tuple)) and runs and all(isinstance(r, (str, os.PathLike)) for r in runs):
        names = [stem(run) for run in runs]
        if len(set(names)) < len(names):
            names = [shown(run) for run in runs]
        if len(set(names)) < len(names):
            raise UsageError("the same run is named twice", given=", ".join(map(printable, names)))
        return dict(zip(names, runs, strict=True))
    if isinstance(runs, (str, os.PathLike)):
        return {stem(runs): runs}
    return {"run": runs}


def split_runs(
    tables: Mapping[str, object],
    run_column: str,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
) -> dict[str, object]:
    """Return the runs of long tables by the names that ``run_column`` gives them."""
    found: dict[str, object] = {}
    for table in tables.values():
        runs = read_runs(table, run_column, columns, format_in, order=order)
        for name in runs.keys() & found.keys():
            raise UsageError(f"two tables have a run {printable(name)}", fix="one table of each run")
        found |= runs
    return found


class RunErrors:
    """What is wrong with some of several runs: all are looked at before anything is refused.

    Parameters
    ----------
    on_bad_run
        ``stop`` refuses them together, ``skip`` leaves them out; ``None`` stops where nobody can choose.

    Attributes
    ----------
    found
        Run name → its error.
    """

    def __init__(self, on_bad_run: str | None) -> None:
        if on_bad_run is not None:
            one_of("on_bad_run", on_bad_run, ("stop", "skip"))
        self._on_bad_run = on_bad_run
        self._shared: InputError | None = None
        self.found: dict[str, InputError] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Keep the error that a run meets."""
        try:
            yield
        except InputError as error:
            if error is self._shared:
                raise
            self.found[name] = error

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Let errors pass, inside :meth:`of`, that are not about the run: all runs would meet them."""
        try:
            yield
        except InputError as error:
            self._shared = error
            raise

    def settle(self, total: int) -> None:
        """Refuse bad runs, unless they are to be left out and others of the ``total`` remain."""
        if not self.found or (self._on_bad_run == "skip" and len(self.found) < total):
            return
        if len(self.found) == 1:
            raise next(iter(self.found.values()))
        can_skip = self._on_bad_run is not None and len(self.found) < total
        fix = "on_bad_run=skip leaves them out and scores the others" if can_skip else None
        raise BadRuns(self.found, total, fix)


def _is_run(value: object) -> bool:
    """Tell ``{name: run}`` from a run that is itself a dict: of queries, or of columns."""
    if isinstance(value, Mapping):
        if holds_columns(value):
            return True
        return bool(value) and all(isinstance(v, Mapping) or is_column(v) for v in value.values())
    triple = isinstance(value, tuple) and len(value) == 3  # noqa: PLR2004 - queries, documents, numbers
    return triple or holds_rows(value) or not (is_column(value) or isinstance(value, (int, float)))
