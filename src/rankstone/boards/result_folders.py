"""Folders of results as MTEB and BEIR write them: a JSON file for each system and data set."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import BadLine, BadValue, EmptyInput, did_you_mean, printable
from rankstone.io.file_roles import note_input

if TYPE_CHECKING:
    import os

#: files of MTEB that hold no scores
_ABOUT: Final = ("model_meta.json", "model_metadata.json")
#: the split of MTEB that boards show
_SPLIT: Final = "test"
#: the number that a task of MTEB is ranked by, and what BEIR's boards show
_MAIN, _BEIR = "main_score", "NDCG@10"


def read_folder(
    path: str | os.PathLike[str], measure: str | None = None
) -> pl.DataFrame:
    """Return ``system``, ``revision``, ``dataset``, ``split`` and ``value`` of a folder.

    MTEB has ``{"task_name", "scores": {split: [{"hf_subset", "main_score", …}]}}`` in
    ``MODEL/REVISION/TASK.json``, of which the split ``test`` counts where there is one, and the mean over
    subsets; BEIR ``{"NDCG@10": 0.3, …}`` in ``MODEL/DATASET.json``.

    Parameters
    ----------
    path
        The folder.
    measure
        Which number of each file; by default MTEB's ``main_score``, or ``NDCG@10``.
    """
    root = Path(path)
    files = [file for file in sorted(root.rglob("*.json")) if file.name not in _ABOUT]
    rows = [row for file in files for row in _rows(file, root, measure)]
    if not rows:
        raise EmptyInput(
            "no file of the folder holds scores",
            where=str(root),
            expected='MODEL/REVISION/TASK.json of MTEB, or MODEL/DATASET.json with {"NDCG@10": 0.3}',
        )
    frame = pl.DataFrame(
        rows, ["system", "revision", "dataset", "split", "value"], orient="row"
    )
    tested = (pl.col("split") == _SPLIT).any().over("system", "revision", "dataset")
    return frame.filter((pl.col("split") == _SPLIT) | ~tested)


def _rows(
    file: Path, root: Path, measure: str | None
) -> Iterator[tuple[str, str, str, str, float]]:
    """Yield system, revision, data set, split and value of a file; the mean over subsets of a task."""
    note_input(file, f"an input in {root}")
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadLine(
            "the file is not JSON", where=str(file), given=printable(error)
        ) from error
    folders = file.relative_to(root).parts[:-1]
    system = (folders[0] if folders else root.name).replace("__", "/")
    revision = folders[1] if len(folders) > 1 else ""
    if not isinstance(found, Mapping):
        return
    if not isinstance(scores := found.get("scores"), Mapping):
        if any(isinstance(value, float) for value in found.values()):
            yield (
                system,
                revision,
                file.stem,
                "",
                _number(found, measure or _BEIR, file),
            )
        return
    for split, subsets in scores.items():
        values = [_number(one, measure or _MAIN, file) for one in subsets]
        yield (
            system,
            revision,
            str(found.get("task_name", file.stem)),
            split,
            sum(values) / len(values),
        )


def _number(found: Mapping[str, Any], name: str, file: Path) -> float:
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        known = [key for key, one in found.items() if isinstance(one, float)]
        raise BadValue(
            f"there is no number {printable(name)}",
            where=str(file),
            given=", ".join(map(printable, known[:12])),
            fix=did_you_mean(name, known),
        )
    return float(value)
