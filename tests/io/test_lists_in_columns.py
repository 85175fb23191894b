"""Tables whose rows are queries and whose cells are lists: the numbers of a row for each document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankstone
from rankstone.errors import (
    BadValue,
    DuplicateRows,
    InputError,
    MissingColumn,
    MixedIds,
    NotComparable,
)
from rankstone.io import list_columns as module
from rankstone.io import read_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = {"user": "query_id", "items": "doc_id", "sc": "score", "grades": "relevance"}
QRELS = {"a": {"x": 1}, "b": {"z": 2, "y": 1}, "c": {"x": 1}}
FOLDED = pl.DataFrame(
    {
        "user": ["a", "b", "c"],
        "items": [["w", "x"], ["y", "z", "v"], []],
        "sc": [[0.9, 0.8], [0.5, 0.7, 0.6], []],
    }
)
FLAT = FOLDED.explode("items", "sc", empty_as_null=False)
MEASURES = "RR nDCG@3 AP R@2"
INNER: Any = FOLDED.select(
    "user",
    recs=pl.Series(
        [
            [{"items": i, "sc": s} for i, s in zip(*r[1:], strict=True)]
            for r in FOLDED.rows()
        ]
    ),
)


def scores(run: Any, **options: Any) -> dict[str, Any]:
    """Score a run against the judgments."""
    evaluation = rankstone.evaluate(
        QRELS, {"run": run}, MEASURES, columns=NAMES, **options
    )
    return evaluation.to_dict()["run"]


OBJECTS: dict[str, Any] = {
    "polars": FOLDED,
    "lazy": FOLDED.lazy(),
    "arrow": FOLDED.to_arrow(),
    "arrow list": pa.table(
        {
            "user": ["a", "b", "c"],
            "items": FOLDED["items"].to_list(),
            "sc": FOLDED["sc"].to_list(),
        }
    ),
    "pandas": pd.DataFrame(FOLDED.to_dict(as_series=False)),
    "pandas arrays": pd.DataFrame(
        {
            c: [np.array(v) if isinstance(v, list) else v for v in FOLDED[c].to_list()]
            for c in FOLDED.columns
        }
    ),
    "categories": FOLDED.cast(
        {"user": pl.Categorical, "items": pl.List(pl.Categorical)}
    ),
    "enum": FOLDED.cast({"items": pl.List(pl.Enum(["v", "w", "x", "y", "z"]))}),
    "dictionary": pa.table(FOLDED.cast({"items": pl.List(pl.Categorical)}).to_arrow()),
    "structs": INNER,
    "float32": FOLDED.cast({"sc": pl.List(pl.Float32)}),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_every_object_reads_alike(kind: str) -> None:
    """Lists are the rows they stand for, whatever library holds them, and whatever holds the ids."""
    assert scores(OBJECTS[kind]) == scores(FLAT)


def test_relations_of_duckdb() -> None:
    """DuckDB has lists and lists of structs, too, which are read in batches."""
    connection = duckdb.connect()
    connection.register("folded", FOLDED.to_arrow())
    connection.register("inner_", INNER.to_arrow())

    assert scores(connection.sql("FROM folded")) == scores(FLAT)
    assert scores(connection.sql("FROM inner_")) == scores(FLAT)


WRITERS: dict[str, Callable[[Path], object]] = {
    "r.parquet": FOLDED.write_parquet,
    "r.arrow": FOLDED.write_ipc,
    "r.jsonl": FOLDED.write_ndjson,
    "r.json": lambda path: path.write_text(json.dumps(FOLDED.to_dicts())),
    "s.parquet": INNER.write_parquet,
    "s.jsonl": INNER.write_ndjson,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_reads_alike(tmp_path: Path, name: str) -> None:
    """So are those of files that know lists."""
    WRITERS[name](tmp_path / name)

    assert scores(tmp_path / name) == scores(FLAT)


def test_whole_numbers_are_ids(tmp_path: Path) -> None:
    """Lists of whole numbers of any width match whole numbers, and those of more than 63 bits their text."""
    for dtype in (pl.UInt8, pl.Int16, pl.Int64, pl.UInt64, pl.Int128):
        run = pl.DataFrame(
            {"query_id": [7], "doc_id": [[2, 1]]},
            schema_overrides={"doc_id": pl.List(dtype)},
        )
        run.write_parquet(path := tmp_path / f"{dtype}.parquet")
        assert rankstone.evaluate({7: {1: 1}}, path, "RR").to_dict() == {
            path.stem: {"RR": 1 / 2}
        }
    fixed = pl.DataFrame(
        {"query_id": [7], "doc_id": [[2, 1]]},
        schema_overrides={"doc_id": pl.Array(pl.Int32, 2)},
    )
    assert rankstone.evaluate({7: {1: 1}}, fixed, "RR").to_dict() == {
        "run": {"RR": 1 / 2}
    }


@given(
    run=st.dictionaries(
        st.sampled_from("abcdef"),
        st.lists(st.sampled_from("uvwxyz"), unique=True),
        min_size=1,
        max_size=6,
    ),
    no_results=st.sampled_from(["missing", "zero", "undefined", "drop"]),
    cut=st.integers(1, 5),
)
def test_lists_are_dicts_of_lists(
    run: dict[str, list[str]], no_results: Any, cut: int
) -> None:
    """Order is the ranking and empty lists are unanswered queries, as for ``{query: [doc, …]}``."""
    lists = {**run, "judged": ["u"]}
    types = {"doc_id": pl.List(pl.String)}
    table = pl.DataFrame(
        {"query_id": list(lists), "doc_id": list(lists.values())},
        schema_overrides=types,
    )
    ready = rankstone.Prepared(
        {q: {"u": 1, "w": 2} for q in ("a", "b", "x", "judged")},
        MEASURES,
        no_results=no_results,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS", cut)  # pieces end anywhere between lists
        evaluation = ready.evaluate(table)

    assert evaluation.per_query.equals(ready.evaluate(lists).per_query)
    assert evaluation.audit.lines() == ready.evaluate(lists).audit.lines()


def test_a_list_is_judgments_of_grade_one() -> None:
    """What is in a list of judgments is relevant; grades may stand beside it, or one for the whole row."""
    run = {"a": ["w", "x"], "b": ["y"]}
    plain = pl.DataFrame({"query_id": ["a", "b"], "doc_id": [["x"], ["y", "z"]]})
    graded = plain.with_columns(relevance=pl.Series([[2], [1, 0]]))
    frame = pl.DataFrame(
        {"query_id": ["b", "b"], "relevance": [2, 1], "doc_id": [["z"], ["y"]]}
    )

    assert rankstone.evaluate(plain, run, "RR R@2").to_dict()["run"] == {
        "RR": (1 / 2 + 1) / 2,
        "R@2": (1 + 1 / 2) / 2,
    }
    assert rankstone.evaluate({"a": ["x"], "b": {"y", "z"}}, run, "R@2").to_dict()[
        "run"
    ] == {"R@2": (1 + 1 / 2) / 2}
    assert rankstone.evaluate(graded, run, "CG@2").to_dict()["run"] == {
        "CG@2": (2 + 1) / 2
    }
    assert rankstone.evaluate(frame, run, "CG@2").to_dict()["run"] == {"CG@2": 1 / 1}


def test_lists_of_scores_and_labels() -> None:
    """A labelled table may hold its scores and labels in lists, with documents or without."""
    table = pl.DataFrame(
        {
            "query_id": ["a", "b"],
            "score": [[0.1, 0.9], [0.3, 0.2]],
            "label": [[0, 1], [0, 1]],
        }
    )
    flat = table.explode("score", "label")

    for case in (True, False):
        there = rankstone.evaluate(
            table=table, measures="RR AUC(negatives=judged)", one_group=case
        )
        evaluation = rankstone.evaluate(
            table=flat, measures="RR AUC(negatives=judged)", one_group=case
        )
        assert there.to_dict() == evaluation.to_dict()


def test_rows_of_a_query_are_lists_of_their_own() -> None:
    """Of a query in two rows, far apart, an option keeps one; an empty list counts like others."""
    parts = pl.DataFrame(
        {"query_id": ["a", "b", "a", "b"], "doc_id": [["w"], ["z", "y"], ["x"], []]}
    )
    with pytest.raises(DuplicateRows, match="query a has two lists") as refused:
        rankstone.evaluate(QRELS, parts, MEASURES)
    assert "row 3" in str(refused.value.where)
    for duplicates, rows in (("first_drop", [0, 1]), ("last_drop", [2, 3])):
        evaluation = rankstone.evaluate(QRELS, parts, MEASURES, duplicates=duplicates)
        alone = rankstone.evaluate(QRELS, parts[rows], MEASURES)
        assert evaluation.per_query.equals(alone.per_query)


@pytest.mark.parametrize("distance", [1, 2, module.LISTS, 3 * module.LISTS])
def test_a_second_list_is_seen_from_afar(distance: int) -> None:
    """However many lists stand between two of a query."""
    lists = [f"q{n}" for n in range(distance)]
    ids = [*lists, "q0"]
    run = pl.DataFrame({"query_id": ids, "doc_id": [["d"]] * len(ids)})
    with pytest.raises(DuplicateRows, match="query q0 has two lists"):
        rankstone.evaluate({"q0": {"d": 1}}, run, "RR")


def test_an_empty_list_is_an_error_on_request() -> None:
    """A declared empty list is no answer."""
    with pytest.raises(NotComparable, match="an empty list for query c"):
        scores(FOLDED, no_results="error")


def test_beside_runs() -> None:
    """Histories, pairs to exclude and whole lists are read by the same rules."""
    past = {"a": ["w", "x"], "b": ["y"], "d": ["w"]}
    folded = pl.DataFrame({"user": list(past), "items": list(past.values())})
    text = "Coverage@2 Novelty@2"
    by_dict = rankstone.beyond(
        {"a": ["w", "x"], "b": ["y", "z", "v"]}, text, history=past, catalogue_size=9
    )
    by_list = rankstone.beyond(
        FOLDED.drop("sc"), text, history=folded, catalogue_size=9, columns=NAMES
    )

    assert by_list.to_dict() == by_dict.to_dict()
    assert scores(FOLDED, exclude=folded) == scores(FLAT, exclude=past)
    assert rankstone.diff(FOLDED, FLAT, "RBO(p=0.9)", columns=NAMES).to_dict()[
        "RBO(p=0.9)"
    ] == pytest.approx(1)


def test_check_tells_empty_lists() -> None:
    """Lists without an item are counted."""
    facts = rankstone.check(QRELS, FOLDED, columns=NAMES).files[1].facts

    assert (facts["rows"], facts["empty lists"]) == ("5", "1")


# -- what does not fit -----------------------------------------------------------------------------------
NAN = float("nan")
BROKEN: dict[str, tuple[str, list[object], str]] = {
    "a short list": (
        "sc",
        [[0.9, 0.8], [0.5], []],
        "row 2: doc_id and score are lists of.*query b, 3 and 1",
    ),
    "no list": ("items", [["w", "x"], None, []], "row 2: a row without doc_id"),
    "no scores": ("sc", [[0.9, 0.8], None, []], "row 2: a row without score"),
    "no item": (
        "items",
        [["w", "x"], ["y", None, "v"], []],
        "row 2, item 2: a row without doc_id",
    ),
    "no score": (
        "sc",
        [[0.9, 0.8], [0.5, 0.7, None], []],
        "row 2, item 3: the score is missing",
    ),
    "a NaN": (
        "sc",
        [[0.9, 0.8], [NAN, 0.7, 1.0], []],
        "row 2, item 1: the score is NaN",
    ),
    "no query": ("user", ["a", "b", None], "row 3: a row without query_id"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_lists_that_do_not_fit(tmp_path: Path, what: str) -> None:
    """A message names the file, the row in it, and the item of the list."""
    column, values, message = BROKEN[what]
    FOLDED.with_columns(user="items").explode(
        "user", empty_as_null=False
    ).write_parquet(tmp_path / "a.parquet")
    FOLDED.with_columns(pl.Series(column, values)).write_parquet(tmp_path / "p.parquet")

    with pytest.raises(BadValue, match=f"(?s)p.parquet, {message}"):
        scores(tmp_path / "p.parquet", duplicates="first_drop")
    with pytest.raises(BadValue, match=f"(?s)p.parquet, {message}"):
        scores(tmp_path, duplicates="first_drop", extra="keep")


def test_columns_of_two_kinds() -> None:
    """One score for a list of documents has no meaning, nor has a list of scores for one document."""
    with pytest.raises(
        InputError, match="score is one in each row, but doc_id is a list in each row"
    ):
        read_run(FOLDED.with_columns(sc=1.0), NAMES)
    with pytest.raises(
        InputError, match="score is a list in each row, but doc_id is one in each row"
    ):
        read_run(FLAT.with_columns(sc=pl.Series([[1.0]] * 5)), NAMES)
    with pytest.raises(MixedIds, match=r"doc_id holds lists of texts"):
        read_run(pl.DataFrame({"query_id": ["a"], "doc_id": [[["x"]]]}))
    with pytest.raises(MixedIds, match=r"query_id holds lists of texts"):
        read_run(pl.DataFrame({"query_id": [["a"]], "doc_id": [["x"]]}))
    with pytest.raises(
        MissingColumn, match="no column relevance"
    ):  # a run where judgments should be
        rankstone.evaluate(FOLDED, QRELS, "RR", columns=NAMES)
    with pytest.raises(MixedIds, match="items holds text and whole number"):
        scores(pd.DataFrame({"user": ["a"], "items": [["x", 1]]}))
    with pytest.raises(MissingColumn, match=r"(?s)no column doc_id.*columns="):
        read_run(FOLDED)
