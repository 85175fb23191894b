"""Runs by name, whether somebody hands over one, several, or a long table of many."""

from __future__ import annotations

import os
from collections.abc import Mapping

from rankstone.errors import UsageError, printable
from rankstone.io import read_runs, shown, stem

__all__ = ["name_runs", "split_runs"]


def name_runs(runs: object) -> dict[str, object]:
    """Return runs by name; a single run is called ``run``, a file by its name.

    >>> name_runs(["runs/bm25.run.gz", "runs/dense.parquet"])
    {'bm25': 'runs/bm25.run.gz', 'dense': 'runs/dense.parquet'}
    """
    if isinstance(runs, Mapping) and runs and all(_is_run(value) for value in runs.values()):
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


def _is_run(value: object) -> bool:
    """Tell ``{name: run}`` from a run that is itself a dict, ``{query: {doc: score}}``."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(v, (Mapping, list)) for v in value.values())
    return not isinstance(value, (list, int, float)) or (
        isinstance(value, tuple) and len(value) == 3  # noqa: PLR2004 - a triple of arrays
    )
