"""Folders of results as MTEB and BEIR write them: a JSON file for each system and data set."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.comparison.score_sources import LARGEST
from rankstone.errors import BadValue, EmptyInput, did_you_mean, printable
from rankstone.io.file_roles import note_input
from rankstone.io.json_objects import parsed, read_text
from rankstone.io.python_rows import ids_of

if TYPE_CHECKING:
    from rankstone._basics import StrPath

#: files of MTEB that hold no scores
_ABOUT: Final = ("model_meta.json", "model_metadata.json")
#: the split of MTEB that boards show
_SPLIT: Final = "test"
#: the number that a task of MTEB is ranked by, and what BEIR's boards show
_MAIN, _BEIR = "main_score", "NDCG@10"


def read_folder(path: StrPath, measure: str | None = None) -> pl.DataFrame:
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
    *texts, values = zip(*rows, strict=True)
    names = "system", "revision", "dataset", "split"
    columns = zip(names, texts, strict=True)
    frame = pl.DataFrame(
        {name: ids_of(column, name, str(root)) for name, column in columns}
        | {"value": values}
    )
    tested = (pl.col("split") == _SPLIT).any().over("system", "revision", "dataset")
    return frame.filter((pl.col("split") == _SPLIT) | ~tested)


def _rows(
    file: Path, root: Path, measure: str | None
) -> Iterator[tuple[str, str, str, str, float]]:
    """Yield system, revision, data set, split and value of a file; the mean over subsets of a task."""
    note_input(file, f"an input in {root}")
    result = parsed(read_text(str(file), longest=None), str(file))
    folders = file.relative_to(root).parts[:-1]
    system = (folders[0] if folders else root.name).replace("__", "/")
    revision = folders[1] if len(folders) > 1 else ""
    if not isinstance(result, Mapping):
        return
    if "scores" not in result:
        if any(isinstance(value, float) for value in result.values()):
            value = _number(result, measure or _BEIR, file)
            yield system, revision, file.stem, "", value
        return
    dataset = str(result.get("task_name", file.stem))
    for split, subsets in _part(result["scores"], dict, "scores", file).items():
        place = f"scores.{split}"
        values = [
            _number(_part(subset, dict, place, file), measure or _MAIN, file)
            for subset in _part(subsets, list, place, file)
        ]
        yield system, revision, dataset, split, math.fsum(values) / len(values)


def _part(value: Any, kind: type, place: str, file: Path) -> Any:  # noqa: ANN401 - of JSON
    """Return a part of a result that holds scores; refuse one of another type, or an empty one."""
    if isinstance(value, kind) and value:
        return value
    raise BadValue(
        f"{printable(place, 60)} holds no scores",
        where=str(file),
        given=printable(json.dumps(value), 60),
        expected=f'{{"scores": {{"test": [{{"{_MAIN}": 0.3}}]}}}}',
        fix="evaluate the task again, or remove the file",
    )


def _number(entries: Mapping[str, Any], name: str, file: Path) -> float:
    value = entries.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        known = [key for key, entry in entries.items() if isinstance(entry, float)]
        raise BadValue(
            f"there is no number {printable(name)}",
            where=str(file),
            given=", ".join(map(printable, known[:12])),
            fix=did_you_mean(name, known),
        )
    if value < -LARGEST or value > LARGEST:
        raise BadValue(
            f"{printable(name)} is out of range",
            where=str(file),
            given=printable(value, 40),
            expected=f"a number up to {LARGEST:g}",
        )
    return float(value)
