"""Scores of documents in files: a number a line, tables, TREC runs; and as runs and judgments of the road."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.errors import BadValue, InputError, MissingColumn, printable
from rankstone.io import atomic, read_text, reading
from rankstone.io.files import scan_parts
from rankstone.io.formulas import without_formulas
from rankstone.ltr.data import TABLES
from rankstone.ltr.models import is_model, load

if TYPE_CHECKING:
    import os

    from rankstone.hits.arrays import Floats
    from rankstone.ltr.data import Dataset

__all__ = ["as_lines", "judgments", "read_predictions", "run_of", "write_predictions"]

_RUNS: Final = (".run", ".trec")


def judgments(data: Dataset) -> pl.DataFrame:
    """Return the labels as judgments: ``query_id``, ``doc_id``, ``relevance``."""
    return pl.DataFrame({"query_id": data.qid, "doc_id": _docs(data), "relevance": data.y})


def run_of(path: str, data: Dataset) -> pl.DataFrame:
    """Return what a model or saved scores say of a dataset, as a run: ``query_id``, ``doc_id``, ``score``."""
    if Path(path).suffix.lower() in TABLES or not is_model(path):
        scores = read_predictions(path, data)
    else:
        scores = load(path).scores(data)
    return pl.DataFrame({"query_id": data.qid, "doc_id": _docs(data), "score": scores})


def _docs(data: Dataset) -> pl.Series:
    """Return ids that tell the documents of a query apart: their own, or else the rows' numbers, from 1."""
    if data.docs is not None:
        pairs = pl.DataFrame({"query_id": data.qid, "doc_id": data.docs})
        if pairs.n_unique() == pairs.height:
            return data.docs
    return pl.int_range(1, len(data) + 1, eager=True).cast(pl.String).str.zfill(len(str(len(data))))


def write_predictions(
    path: str | os.PathLike[str], data: Dataset, scores: Floats, *, formulas: str = "keep"
) -> None:
    """Write scores whole or not at all: ``.run`` for TREC, a table by its suffix, else a number a line.

    ``formulas`` says what becomes of texts in CSV and TSV that a spreadsheet would compute.
    """
    suffix = Path(path).suffix.lower()
    table = pl.DataFrame({"query_id": data.qid, "doc_id": _docs(data), "score": scores})
    with atomic(path) as unfinished:
        if suffix in _RUNS:
            ranked = table.sort("query_id", "score", descending=[False, True], maintain_order=True)
            rank = pl.int_range(1, pl.len() + 1).over("query_id").alias("rank")
            word, tag = pl.lit("Q0").alias("q0"), pl.lit("rankstone").alias("tag")
            lines = ranked.select("query_id", word, "doc_id", rank, "score", tag)
            lines.write_csv(unfinished, separator=" ", include_header=False, quote_style="never")
        elif suffix in (".parquet", ".pq"):
            table.write_parquet(unfinished)
        elif suffix in (".jsonl", ".ndjson"):
            table.write_ndjson(unfinished)
        elif suffix in (".arrow", ".ipc", ".feather"):
            table.write_ipc(unfinished)
        elif suffix in TABLES:
            rows = without_formulas(table.lazy(), formulas).collect()
            rows.write_csv(unfinished, separator="\t" if suffix == ".tsv" else ",")
        else:
            unfinished.write_text(as_lines(scores), encoding="utf-8")


def as_lines(scores: Floats) -> str:
    """Return scores a line each, with all their digits."""
    return "".join(f"{score!r}\n" for score in scores.tolist())


def read_predictions(path: str | os.PathLike[str], data: Dataset) -> Floats:
    """Read saved scores, in the order of the rows: a number a line, or a table with ``score``.

    A table that has ``query_id``, too, must have those of the dataset.
    """
    place = Path(path)
    scores = _column(place, data) if place.suffix.lower() in TABLES else _numbers(place)
    if len(scores) != len(data):
        raise InputError(
            f"{len(scores)} scores, and there are {len(data)} rows",
            where=str(path),
            expected="a score for each row",
        )
    return np.array(scores)


def _column(place: Path, data: Dataset) -> list[float]:
    [part] = scan_parts(place, TABLES[place.suffix.lower()])
    with reading(part.title):
        frame = part.frame.collect()
    if "score" not in frame.columns:
        raise MissingColumn("there is no column score", where=part.title)
    found = frame["score"].cast(pl.Float64, strict=False)
    bad = found.is_null() | ~found.is_finite()
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise BadValue(f"a score is {printable(frame['score'][row])}", where=part.place(row))
    if "query_id" in frame.columns and frame.height == len(data):
        unlike = frame["query_id"].cast(pl.String) != data.qid.cast(pl.String)
        if unlike.any():
            row = int(unlike.arg_max() or 0)
            raise InputError(
                f"query {printable(frame['query_id'][row])}, and in the data {printable(data.qid[row])}",
                where=part.place(row),
                expected="the scores of the same rows, in their order",
            )
    return found.to_list()


def _numbers(place: Path) -> list[float]:
    scores = []
    for at, line in enumerate(read_text(str(place)).splitlines(), start=1):
        text = line.strip()
        if not text:
            continue
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise BadValue(
                f"{printable(text)!r} is no score", where=f"{place}:{at}", expected="a number a line"
            )
        scores.append(value)
    return scores
