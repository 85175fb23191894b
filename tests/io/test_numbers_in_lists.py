"""Lists of numbers beside those of the documents: they are used, or a name is required, or they are others'."""

from __future__ import annotations

import json
from collections import namedtuple
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pandas as pd
import polars as pl
import pytest

import rankstone
from rankstone.errors import BadValue, MissingColumn
from rankstone.io import read_judgments, read_run

if TYPE_CHECKING:
    from pathlib import Path

GRADES: Final = [0, 3]
RUN: Final = {"a": ["p1", "p2"]}


def folded(name: str, numbers: list[Any], docs: str = "doc_id") -> list[dict[str, Any]]:
    """Return a row with a list of objects, each a document and a number."""
    objects = [
        {docs: doc, name: n} for doc, n in zip(("p1", "p2"), numbers, strict=True)
    ]
    return [{"query_id": "a", "docs": objects}]


def flat(name: str, numbers: list[Any]) -> list[dict[str, Any]]:
    """Return a row with two lists."""
    return [{"query_id": "a", "doc_id": ["p1", "p2"], name: numbers}]


def written(rows: list[dict[str, Any]], path: Path) -> Path:
    """Write rows in the format of a suffix."""
    if path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        pl.DataFrame(rows).write_parquet(path)
    return path


def sources(rows: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return rows as files and as objects."""
    row = namedtuple("row", list(rows[0]))  # type: ignore[misc] # noqa: PYI024 - fields are known here
    files = {
        suffix: written(rows, folder / f"x.{suffix}")
        for suffix in ("json", "jsonl", "parquet")
    }
    return files | {
        "polars": pl.DataFrame(rows),
        "lazy": pl.LazyFrame(rows),
        "arrow": pl.DataFrame(rows).to_arrow(),
        "pandas": pd.DataFrame(rows),
        "dicts": rows,
        "columns": {name: [row[name] for row in rows] for name in rows[0]},
        "named tuples": [row(**item) for item in rows],
    }


@pytest.mark.parametrize("shape", [folded, flat])
@pytest.mark.parametrize(
    "name",
    ["rating", "grade", "rel", "gain", "judgment", "relevance_score", "isRelevant"],
)
def test_grades_are_required(shape: Any, name: str, tmp_path: Path) -> None:
    """Wherever the lists come from, the fix leads to the grades."""
    for what, source in sources(shape(name, GRADES), tmp_path).items():
        if what in ("pandas", "columns", "named tuples") and shape is folded:
            continue  # objects in cells, which are no lists of ids
        with pytest.raises(
            MissingColumn, match=f"no column relevance, but.*doc_id: {name}\n"
        ) as error:
            rankstone.evaluate(source, RUN, "RR")
        assert f"columns={{'{name}': 'relevance'}}" in str(error.value), what
        options = {name: "relevance"}
        scores = rankstone.evaluate(source, RUN, "RR nDCG", columns=options)
        assert scores.to_dict()["run"]["RR"] == 1 / 2, what
        none = rankstone.evaluate(source, RUN, "RR", columns={name: "unused"})
        assert none.to_dict()["run"]["RR"] == 1, what


def test_relations_ask_too() -> None:
    """DuckDB has lists of structs, read in batches."""
    with duckdb.connect() as connection:
        connection.register("rows", pl.DataFrame(folded("rating", ["0", "3"])))
        with pytest.raises(MissingColumn, match="doc_id: rating"):
            read_judgments(connection.sql("FROM rows"))
        read = read_judgments(connection.sql("FROM rows"), {"rating": "relevance"})
        assert read.collect("relevance")["relevance"].to_list() == [0, 3]


@pytest.mark.parametrize("shape", [folded, flat])
def test_labels_are_grades(shape: Any, tmp_path: Path) -> None:
    """As the page on options says; one label for a whole list is about the question."""
    for source in sources(shape("label", GRADES), tmp_path).values():
        if not isinstance(source, (dict, list, pd.DataFrame)):
            scores = rankstone.evaluate(source, RUN, "RR")
            assert scores.to_dict()["run"] == {"RR": 1 / 2}
    flat_rows = pl.DataFrame(
        {"query_id": ["a", "a"], "doc_id": ["p1", "p2"], "label": GRADES}
    )
    assert rankstone.evaluate(flat_rows, RUN, "RR").to_dict()["run"] == {"RR": 1 / 2}
    about = [{"query_id": "a", "doc_id": ["p1", "p2"], "label": "easy"}]
    assert rankstone.evaluate(about, RUN, "RR").to_dict()["run"] == {"RR": 1}
    with pytest.raises(MissingColumn, match="'label': 'relevance'"):
        read_judgments(flat_rows.with_columns(rating="label"))


@pytest.mark.parametrize("shape", [folded, flat])
def test_scores_are_required(shape: Any, tmp_path: Path) -> None:
    """A run with other numbers is not in the order of its lists until somebody says so."""
    qrels = {"a": {"p2": 1}}
    for name in ("similarity", "_score", "relevance_score", "sim"):
        path = written(shape(name, [0.1, 0.9]), tmp_path / "x.json")
        with pytest.raises(MissingColumn, match=f"doc_id: {name}") as error:
            rankstone.evaluate(qrels, path, "RR")
        assert f"'{name}': 'score'" in str(error.value)
        options = {name: "score"}
        scores = rankstone.evaluate(qrels, path, "RR", columns=options)
        assert scores.to_dict()["x"] == {"RR": 1}
        ordered = rankstone.evaluate(qrels, path, "RR", order="input")
        assert ordered.to_dict()["x"] == {"RR": 1 / 2}
    position = shape("position", [2, 1])
    assert rankstone.evaluate(qrels, {"r": pl.DataFrame(position)}, "RR").to_dict() == {
        "r": {"RR": 1}
    }
    page = pl.DataFrame(shape("page", [4, 17]))
    with pytest.raises(MissingColumn, match=r"fix: *order='input'"):
        read_run(page)


@pytest.mark.parametrize("shape", [folded, flat])
def test_distances_are_no_scores(shape: Any) -> None:
    """The nearest is the best, as a rank of 1 is: the advice says so, for flat tables, too."""
    for name in ("distance", "cosine_distance", "dist"):
        frame = pl.DataFrame(shape(name, [0.9, 0.1]))
        rows = pl.DataFrame(
            {"query_id": ["a"] * 2, "doc_id": ["p1", "p2"], name: [0.9, 0.1]}
        )
        for table in (frame, rows):
            with pytest.raises(MissingColumn, match=f"'{name}': 'rank'"):
                read_run(table)
            scores = rankstone.evaluate(
                {"a": {"p2": 1}}, {"r": table}, "RR", columns={name: "rank"}
            )
            assert scores.to_dict()["r"] == {"RR": 1}


def test_texts_of_numbers(tmp_path: Path) -> None:
    """In lists they are numbers, as in CSV; others are named with their place."""
    for shape in (folded, flat):
        graded = written(shape("relevance", ["0.0", "3.0"]), tmp_path / "q.json")
        assert rankstone.evaluate(graded, RUN, "RR").to_dict()["run"] == {"RR": 1 / 2}
        scored = written(shape("score", ["9.5", "10.5"]), tmp_path / "r.jsonl")
        record = rankstone.evaluate({"a": {"p2": 1}}, scored, "RR").to_dict()
        assert record["r"] == {"RR": 1}
        bad = written(shape("score", ["9.5", "high"]), tmp_path / "b.jsonl")
        with pytest.raises(
            BadValue, match=r"b\.jsonl:1.*the score 'high' is not a num"
        ):
            rankstone.evaluate(RUN, bad, "RR")
        long = shape("score", [str(2**53), str(2**53 + 1)])
        with pytest.raises(BadValue, match="more digits than a float64"):
            rankstone.evaluate(RUN, {"r": pl.DataFrame(long)}, "RR")


def test_whole_numbers_beside_others(tmp_path: Path) -> None:
    """A score of 1 beside one of 0.5 is a number as any other, whichever is the first."""
    for numbers in ([1, 2.5], [0.5, 1]):
        for shape in (folded, flat):
            rows = shape("score", numbers)
            files = [written(rows, tmp_path / name) for name in ("r.json", "r.jsonl")]
            for source in (*files, rows):
                scores = rankstone.evaluate({"a": {"p2": 1}}, {"r": source}, "RR")
                assert scores.to_dict()["r"] == {"RR": 1}


def test_numbers_of_other_lists() -> None:
    """Scores of what was retrieved grade nothing, tokens and metadata are known, ids are no numbers."""
    log = pl.DataFrame(
        {
            "query_id": ["a", "b"],
            "gold": [["p2"], ["p1"]],
            "retrieved": [["p1", "p2"], ["p1"]],
            "scores": [[0.1, 0.9], [0.5]],
            "rating": [[1], [2]],
        }
    )
    names = {"qrels.gold": "doc_id", "run.retrieved": "doc_id"}
    with pytest.raises(MissingColumn, match="doc_id: rating\n"):
        read_judgments(log, names)
    with pytest.raises(MissingColumn, match="doc_id: scores\n"):
        read_run(log, names)
    both = names | {"rating": "relevance", "scores": "score"}
    assert rankstone.evaluate(log, {"r": log}, "RR CG@1", columns=both).to_dict()[
        "r"
    ] == {"RR": 1, "CG@1": (1 + 2) / 2}
    equal = log.filter(query_id="b").drop("rating")
    assert read_judgments(equal, names).collect("relevance").height == 1
    for name in ("tokens", "chunk_id", "n_tokens", "timestamp"):
        assert read_run(pl.DataFrame(flat(name, [3, 4]))).listed
    about = [{"doc_id": "p1", "metadata": {"page": 4}}]
    assert read_judgments(pl.DataFrame({"query_id": ["a"], "docs": [about]})).listed


def test_check_asks_too(tmp_path: Path) -> None:
    """The same finding, with the same fix, and no word of grades."""
    path = written(folded("rating", GRADES), tmp_path / "q.json")
    report = rankstone.check(path)
    assert "doc_id: rating" in report.files[0].findings[0].what
    assert "columns={'rating': 'relevance'}" in str(report.files[0].findings[0].fix)
    graded = rankstone.check(path, columns={"rating": "relevance"}).files[0].facts
    assert graded["grades"] == "0 × 1, 3 × 1"
