"""Boards of several collections: judgments and runs of each, scored like any run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import polars as pl

from rankstone._basics import is_path
from rankstone.conventions.evaluation_by_convention import scores_by
from rankstone.errors import EmptyInput, UsageError, blaming, did_you_mean, printable
from rankstone.io.file_formats import stem
from rankstone.io.sources import read_toml

if TYPE_CHECKING:
    from rankstone._basics import StrPath

#: keys of a collection
_KEYS: Final = ("qrels", "runs", "weight")
#: keys of a file
_TOP: Final = ("measure", "convention", "options", "collections")
_EXAMPLE: Final = '[collections.nq]\nqrels = "nq.qrels"\nruns = ["runs/nq/*.run"]'


def score_collections(
    collections: Mapping[str, Mapping[str, Any]] | StrPath,
    measure: str | None = None,
    *,
    convention: str | None = None,
    **options: Any,  # noqa: ANN401 - options of alignment
) -> tuple[pl.DataFrame, str]:
    """Score the runs of collections, and return scores per query with their data set, and the measure.

    Parameters
    ----------
    collections
        ``{name: {"qrels": …, "runs": …, "weight": …}}``, where runs are ``{system: run}``, or paths and
        patterns of files that are called as the system is; or a TOML file with such tables, ``measure``,
        ``convention`` and ``[options]``.  Paths in a file start at its folder.
    measure
        The measure; ``nDCG@10`` unless the file or this names one.
    convention, **options
        As for :func:`rankstone.evaluate`.

    Raises
    ------
    UsageError
        For keys that are not known, and collections without judgments or runs.
    """
    folder = Path()
    by_name = cast("Mapping[str, Mapping[str, Any]]", collections)
    if is_path(collections):
        where = os.fspath(collections)
        folder = Path(collections).parent
        with blaming(where):
            read = _read(where)
        measure = measure or read.get("measure")
        convention = convention or read.get("convention")
        options = {**read.get("options", {}), **options}
        by_name = read["collections"]
    measure = measure or "nDCG@10"
    frames = []
    for name, collection in by_name.items():
        _check(name, collection)
        qrels = _located(collection["qrels"], folder)
        runs = _runs(collection["runs"], folder, name)
        with blaming(f"collection {printable(name)}"):
            scores = scores_by(convention, qrels, runs, measure, **options)
        frame = (
            scores.to_frame()
            .rename({"run": "system"})
            .with_columns(dataset=pl.lit(str(name)))
        )
        frames.append(
            frame.with_columns(weight=pl.lit(collection.get("weight"), pl.Float64))
        )
    if not frames:
        raise EmptyInput("there are no collections", expected=_EXAMPLE)
    columns = ["system", "dataset", "query_id", "measure", "value", "weight"]
    return pl.concat(frame.select(columns) for frame in frames), measure


def _read(path: str) -> dict[str, Any]:
    read = read_toml(path, "[collections.NAME] with qrels and runs, for each NAME")
    for key in read:
        if key not in _TOP:
            raise UsageError(
                f"{printable(key)} is not known",
                fix=did_you_mean(key, _TOP),
                expected=_EXAMPLE,
            )
    if not isinstance(read.get("collections"), Mapping):
        raise UsageError("there are no collections", expected=_EXAMPLE)
    return read


def _check(name: str, collection: Mapping[str, Any]) -> None:
    for key in collection:
        if key not in _KEYS:
            raise UsageError(
                f"collection {printable(name)}: {printable(key)} is not known",
                fix=did_you_mean(key, _KEYS),
            )
    for key in ("qrels", "runs"):
        if key not in collection:
            raise UsageError(
                f"collection {printable(name)} has no {key}", expected=_EXAMPLE
            )


def _located(source: Any, folder: Path) -> Any:  # noqa: ANN401 - whatever holds judgments or a run
    """Return a path of a file, which starts at the folder; addresses and tables as they are."""
    plain = isinstance(source, str) and "://" not in source
    if plain and folder != Path():
        return str(folder / source)
    return source


def _runs(runs: Any, folder: Path, name: str) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return the runs by system."""
    if isinstance(runs, Mapping):
        return {str(system): _located(run, folder) for system, run in runs.items()}
    patterns = [runs] if isinstance(runs, str) else list(runs)
    paths = [
        path
        for pattern in patterns
        for path in sorted(map(str, folder.glob(pattern)))
        or [_located(pattern, folder)]
    ]
    by_system = {stem(path): path for path in paths}
    if len(by_system) < len(paths) or not paths:
        raise UsageError(
            f"collection {printable(name)}: {'two runs have one name' if paths else 'there are no runs'}",
            expected='runs = {bm25 = "a/run.txt", dense = "b/run.txt"}',
        )
    return by_system
