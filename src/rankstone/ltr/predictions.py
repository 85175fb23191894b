"""Scores of documents in files: a number a line, tables, TREC runs; and as runs and judgments.

From scores, labels and queries to values per query: lists become hits, and measures do the rest.

Tied documents are in any order with equal probability (``ties="expected"``): no order of rows can be
exploited.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, first_true, there_are
from rankstone.errors import (
    BadParameter,
    BadValue,
    InputError,
    MissingColumn,
    printable,
)
from rankstone.hits.hits import Hits
from rankstone.hits.list_arrays import (
    Ideal,
    descending_within,
    list_numbers,
    offsets_of,
)
from rankstone.io.atomic_files import atomic
from rankstone.io.csv_files import without_formulas
from rankstone.io.file_formats import scan_parts
from rankstone.io.json_objects import read_text
from rankstone.io.suffixes import RUN_SUFFIXES, written_format
from rankstone.io.unreadable_files import reading
from rankstone.ltr.model_files import is_model, load
from rankstone.ltr.training_data import table_format
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints, StrPath
    from rankstone.ltr.estimator_inputs import Queries
    from rankstone.ltr.training_data import Dataset


def judgments(data: Dataset) -> pl.DataFrame:
    """Return the labels as judgments: ``query_id``, ``doc_id``, ``relevance``."""
    return _with_empty_lists(
        pl.DataFrame(
            {"query_id": data.qid, "doc_id": _docs(data), "relevance": data.y}
        ),
        data,
    )


def run_of(path: str, data: Dataset) -> pl.DataFrame:
    """Return what a model or saved scores say of a dataset, as a run: ``query_id``, ``doc_id``, ``score``."""
    if table_format(Path(path)) or not is_model(path):
        scores = read_predictions(path, data)
    else:
        scores = load(path).scores(data)
    return _with_empty_lists(
        pl.DataFrame({"query_id": data.qid, "doc_id": _docs(data), "score": scores}),
        data,
    )


def _with_empty_lists(table: pl.DataFrame, data: Dataset) -> pl.DataFrame:
    """Return a row a list where group sizes name queries without rows, which tables of rows cannot hold."""
    if not data.without_rows:
        return table
    lists = table.group_by("query_id").agg(pl.all())
    empty = pl.DataFrame({"query_id": data.without_rows}).cast(lists["query_id"].dtype)
    every = pl.concat([lists, empty], how="diagonal").sort("query_id")
    return every.with_columns(pl.exclude("query_id").fill_null([]))


def _docs(data: Dataset) -> pl.Series:
    """Return ids that distinguish the documents of a query: given ones, or else row numbers from 1."""
    if data.docs is not None:
        pairs = pl.DataFrame({"query_id": data.qid, "doc_id": data.docs})
        if pairs.n_unique() == pairs.height:
            return data.docs
    return (
        pl.int_range(1, len(data) + 1, eager=True)
        .cast(pl.String)
        .str.zfill(len(str(len(data))))
    )


def write_predictions(
    path: StrPath, data: Dataset, scores: Floats, *, formulas: str = "keep"
) -> None:
    """Write scores whole or not at all: ``.run`` for TREC, a table by its suffix, else a number a line.

    ``formulas`` says what becomes of texts in CSV and TSV that a spreadsheet would compute.
    """
    kind = written_format(Path(path))
    table = pl.DataFrame({"query_id": data.qid, "doc_id": _docs(data), "score": scores})
    with atomic(path) as unfinished:
        if Path(path).suffix.lower() in RUN_SUFFIXES:
            ranked = table.sort(
                "query_id", "score", descending=[False, True], maintain_order=True
            )
            rank = pl.int_range(1, pl.len() + 1).over("query_id").alias("rank")
            word = pl.lit("Q0").alias("q0")
            tag = pl.lit("rankstone").alias("tag")
            lines = ranked.select("query_id", word, "doc_id", rank, "score", tag)
            lines.write_csv(
                unfinished, separator=" ", include_header=False, quote_style="never"
            )
        elif kind == "parquet":
            table.write_parquet(unfinished)
        elif kind == "jsonl":
            table.write_ndjson(unfinished)
        elif kind == "arrow":
            table.write_ipc(unfinished)
        elif kind in ("csv", "tsv"):
            rows = without_formulas(table.lazy(), formulas).collect()
            rows.write_csv(unfinished, separator="\t" if kind == "tsv" else ",")
        else:
            unfinished.write_text(as_lines(scores), encoding="utf-8")


def as_lines(scores: Floats) -> str:
    """Return scores a line each, with all their digits."""
    return "".join(f"{score!r}\n" for score in scores.tolist())


#: words of a line of RankLib's: query, number of the document, score
_RANKLIB: Final = 3


def read_predictions(path: StrPath, data: Dataset) -> Floats:
    """Read saved scores, in the order of the rows: a number a line, or a table with ``score``.

    A table that has ``query_id``, too, must have those of the dataset.
    """
    place = Path(path)
    read = _column if table_format(place) else _numbers
    scores = read(place, data)
    if len(scores) != len(data):
        raise InputError(
            f"{counted(len(scores), 'score')}, and {there_are(len(data), 'row')}",
            where=str(path),
            expected="a score for each row",
        )
    return np.array(scores)


def _column(place: Path, data: Dataset) -> list[float]:
    [part] = scan_parts(place, table_format(place))
    with reading(part.title):
        frame = part.frame.collect()
    if "score" not in frame.columns:
        raise MissingColumn("there is no column score", where=part.title)
    scores = frame["score"].cast(pl.Float64, strict=False)
    bad = scores.is_null() | ~scores.is_finite()
    if bad.any():
        row = first_true(bad)
        raise BadValue(
            f"a score is {printable(frame['score'][row])}", where=part.place(row)
        )
    if "query_id" in frame.columns and frame.height == len(data):
        unlike = frame["query_id"].cast(pl.String) != data.qid.cast(pl.String)
        if unlike.any():
            row = first_true(unlike)
            raise InputError(
                f"query {printable(frame['query_id'][row])}, and in the data {printable(data.qid[row])}",
                where=part.place(row),
                expected="the scores of the same rows, in their order",
            )
    return scores.to_list()


def _numbers(place: Path, data: Dataset) -> list[float]:
    """Return a number a line; RankLib writes the query and the document's number before it."""
    scores = list[float]()
    queries = data.qid.cast(pl.String)
    for number, line in enumerate(read_text(str(place)).splitlines(), start=1):
        text = line.strip()
        if not text:
            continue
        words = text.split()
        row = len(scores)
        if len(words) == _RANKLIB and row < len(queries) and words[0] == queries[row]:
            text = words[-1]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise BadValue(
                f"{printable(text)!r} is not a score",
                where=f"{place}:{number}",
                expected="one number per line",
            )
        scores.append(value)
    return scores


class LabelledLists(Record):
    """Labels of some lists laid end to end, and their ideal orders, made once for any number of scores.

    Attributes
    ----------
    labels
        float64 ``[documents]``; below 0: not judged, at a rank and worth nothing.
    offsets
        int64 ``[lists + 1]``.
    ideal
        The judged grades of each list, best first.
    lowest
        The bottom of the scale.
    """

    labels: Floats
    offsets: Ints
    ideal: Ideal
    lowest: float

    @classmethod
    def of(cls, labels: Floats, offsets: Ints) -> LabelledLists:
        """Prepare labels."""
        lengths = np.diff(offsets)
        query = list_numbers(lengths)
        judged = labels >= 0
        counts = np.bincount(query[judged], minlength=len(lengths))
        ideal = Ideal(
            offsets_of(counts), descending_within(query[judged], labels[judged])
        )
        lowest = float(labels[judged].min()) if judged.any() else 0.0
        return cls(labels, offsets, ideal, lowest)

    def take(self, lists: Ints) -> LabelledLists:
        """Return some of the lists, in the order given and as often."""
        lengths = np.diff(self.offsets)[lists]
        rows = np.arange(int(lengths.sum())) + np.repeat(
            self.offsets[lists] - (np.cumsum(lengths) - lengths), lengths
        )
        return LabelledLists(
            self.labels[rows], offsets_of(lengths), self.ideal.take(lists), self.lowest
        )

    def hits(self, scores: Floats) -> Hits:
        """Return the hits of lists ordered by scores, float64 ``[documents]``."""
        lengths = np.diff(self.offsets)
        order = order_within(-scores, self.offsets)
        start = np.repeat(self.offsets[:-1], lengths)
        rank = np.arange(len(scores)) - start + 1
        first, last = _blocks(scores[order], start, rank)
        grade = self.labels[order]
        judged = grade >= 0
        offsets = self.offsets
        if not judged.all():
            offsets = offsets_of(judged)[self.offsets]
            rank = rank[judged]
            first = first[judged]
            last = last[judged]
            grade = grade[judged]
        return Hits(
            offsets=offsets,
            rank=rank,
            grade=grade,
            first=first,
            last=last,
            judged=np.ones(len(rank), bool),
            n=lengths,
            length=lengths,
            ideal=self.ideal,
            found=np.ones(len(lengths), bool),
            expected=True,
            lowest_grade=self.lowest,
        )

    def values(self, scores: Floats, measure: Measure) -> Floats:
        """Return a measure's value of each list, float64 ``[lists]``; NaN where it has none."""
        return measure.score(self.hits(scores)).value


def order_within(values: Floats, offsets: Ints) -> Ints:
    """Return row numbers that order values ascending within each list, int64.

    Lists of about the same length are rows of one table, which is several times quicker than one long sort.

    >>> order_within(np.array([3.0, 1.0, 2.0, 0.0]), np.array([0, 2, 4])).tolist()
    [1, 0, 3, 2]
    """
    lengths = np.diff(offsets)
    result = np.empty(len(values), np.int64)
    size = np.frexp(lengths.astype(np.float64))[1]
    for bucket in np.unique(size[lengths > 0]):
        chosen = np.flatnonzero(size == bucket)
        places = np.arange(int(lengths[chosen].max()))
        inside = places < lengths[chosen][:, None]
        begins = offsets[:-1][chosen][:, None]
        row = begins + places

        # what fills a row of the table up stays behind its values
        table = np.where(inside, values[np.where(inside, row, 0)], np.inf)
        order = table.argsort(axis=1, kind="stable") + begins
        result[row[inside]] = order[inside]
    return result


def _blocks(ordered: Floats, start: Ints, rank: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last rank of each document's tie block, in an ordered list."""
    if not len(ordered):
        return rank, rank
    fresh = np.ones(len(ordered), bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]) | (start[1:] != start[:-1])
    if fresh.all():
        return rank, rank
    heads = np.flatnonzero(fresh)
    sizes = np.diff(np.append(heads, len(ordered)))
    first = np.repeat(rank[heads], sizes)
    return first, first + np.repeat(sizes, sizes) - 1


def checked_measure(measure: str | Measure, *, climbed: bool = False) -> Measure:
    """Return a measure that scores and labels suffice for.

    Parameters
    ----------
    measure
        A measure or its text.
    climbed
        Whether it must be a mean over queries of which more, or less, is better.
    """
    parsed = parse_measure(measure)
    if (
        not isinstance(parsed, Measure)
        or parsed.judgment_columns
        or parsed.query_columns
        or parsed.requires
    ):
        raise BadParameter(
            f"{parsed} needs more than scores and labels",
            expected="a measure such as nDCG@10",
        )
    parsed.check("expected")
    if climbed and (
        parsed.agg != "mean" or parsed.card.direction not in ("higher", "lower")
    ):
        raise BadParameter(f"{parsed} has no mean over queries to be made better")
    return parsed


def values_of(
    scores: Floats, labels: Floats, queries: Queries, measure: Measure
) -> Floats:
    """Return a measure's value of each query, float64 ``[queries]``."""
    lists = LabelledLists.of(queries.arranged(labels), queries.offsets)
    return lists.values(queries.arranged(scores), measure)


def mean_of(
    scores: Floats, labels: Floats, queries: Queries, measure: str | Measure
) -> float:
    """Return a measure's mean over the queries that have a value."""
    values = values_of(scores, labels, queries, checked_measure(measure))
    known: Bools = ~np.isnan(values)
    return float(values[known].mean()) if known.any() else float("nan")
