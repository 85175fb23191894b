"""Objects that people hold already: rows of other libraries, dicts of columns, measures, exports."""

from __future__ import annotations

import json
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankstone
from rankstone.errors import (
    BadValue,
    DuplicateRows,
    EmptyInput,
    InputError,
    MissingColumn,
)
from rankstone.io import read_judgments, read_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: as ir_measures and ir_datasets define them
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")  # noqa: PYI024 - as there
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")  # noqa: PYI024

QRELS = [Qrel("q1", "d1", 2, "0"), Qrel("q1", "d2", 0, "0"), Qrel("q2", "d3", 1, "0")]
RUN = [
    ScoredDoc("q1", "d2", 0.9),
    ScoredDoc("q1", "d1", 0.8),
    ScoredDoc("q2", "d3", 0.5),
]
COLUMNS = {name: [getattr(row, name) for row in RUN] for name in ScoredDoc._fields}
RR = (1 / 2 + 1 / 1) / 2


def yielded(rows: list[Any]) -> Iterator[Any]:
    yield from rows


class Qrels:
    """Judgments as ``dataset.qrels`` of ir_datasets holds them: to be gone through again and again."""

    def __iter__(self) -> Iterator[Any]:
        return iter(QRELS)

    def __len__(self) -> int:
        return len(QRELS)


class Data:
    """A data set of ir_datasets."""

    qrels = Qrels()

    def qrels_iter(self) -> Iterator[Any]:
        """Yield judgments."""
        return yielded(QRELS)

    def scoreddocs_iter(self) -> Iterator[Any]:
        """Yield a run."""
        return yielded(RUN)


def rr(qrels: Any, runs: Any, **options: Any) -> dict[str, float | None]:
    return {
        name: each["RR"]
        for name, each in rankstone.evaluate(qrels, runs, "RR", **options)
        .to_dict()
        .items()
    }


# -- rows ------------------------------------------------------------------------------------------------
JUDGMENTS: dict[str, Any] = {
    "list": lambda: QRELS,
    "tuple": lambda: tuple(QRELS),
    "generator": lambda: yielded(QRELS),
    "iterator": lambda: iter(QRELS),
    "iterable": Qrels,
    "data set": Data,
    "dicts": lambda: [row._asdict() for row in QRELS],
}


@pytest.mark.parametrize("kind", JUDGMENTS)
def test_rows_are_judgments(kind: str) -> None:
    """Named tuples are judgments whoever hands them out; three of them are no triple of arrays."""
    assert rr(JUDGMENTS[kind](), RUN) == {"run": RR}


@pytest.mark.parametrize(
    "runs", [tuple(RUN), Data(), yielded(RUN), [row._asdict() for row in RUN]]
)
def test_rows_are_a_run(runs: Any) -> None:
    """A run may come as rows, too."""
    assert rr(QRELS, runs) == {"run": RR}


def test_runs_of_several_kinds_by_name() -> None:
    """{name: run} takes whatever is a run."""
    arrays = {name: np.array(cells) for name, cells in COLUMNS.items()}
    runs = {
        "rows": RUN,
        "generator": yielded(RUN),
        "columns": COLUMNS,
        "arrays": arrays,
    }

    assert rr(QRELS, runs) == dict.fromkeys(runs, RR)


def test_a_generator_is_read_once_and_used_again() -> None:
    """A convention whose measures are aligned differently reads again, as a second evaluation does."""
    qrels, run, other = yielded(QRELS), yielded(RUN), yielded(RUN[1:])
    record = rankstone.evaluate(
        qrels, run, "RR ERR@5", convention="ir_measures"
    ).to_dict()

    assert (
        record
        == rankstone.evaluate(
            QRELS, RUN, "RR ERR@5", convention="ir_measures"
        ).to_dict()
    )
    assert rr(qrels, {"a": run, "b": other}) == {"a": RR, "b": 1.0}


def test_an_iterator_that_ended_is_not_an_empty_run() -> None:
    """What cannot be remembered is refused when it is read again."""
    ended = iter(RUN)

    assert rr(QRELS, ended) == {"run": RR}
    with pytest.raises(EmptyInput, match=r"(?s)no rows.*only once: pass list\(rows\)"):
        rr(QRELS, ended)


def test_rows_of_no_names_are_refused() -> None:
    """Bare tuples do not say what is what; the row is named."""
    with pytest.raises(
        BadValue, match=r"(?s)run, row 2: a tuple is not a row.*orient='row'"
    ):
        rr(QRELS, [RUN[0], ("q1", "d1", 0.8)])
    with pytest.raises(BadValue, match="run, row 1: a str is not a row"):
        rr(QRELS, yielded(["d1"]))


def test_fields_go_by_names_of_ours() -> None:
    """The second column of TREC's judgments is a subtopic where somebody says so."""
    graded = [Qrel("q", "d1", 1, "1"), Qrel("q", "d1", 1, "2"), Qrel("q", "d2", 1, "2")]
    scores = rankstone.evaluate(
        graded, {"q": ["d2", "d1"]}, "StRecall@1", columns={"iteration": "subtopic"}
    )

    assert scores.to_dict() == {"run": {"StRecall@1": 1 / 2}}


NEITHER: list[Any] = [
    np.array(5),
    [np.array(5), ["d1"], [1.0]],
    [{"query_id": "q1", "doc_id": 1}, {"query_id": "q1", "doc_id": ["d1"]}],
    [{"query_id": "q1", "doc_id": 2**200}],
    [{"query_id": "q1", 3: 4}],
    {"query_id": ["q1", "q2"], "doc_id": [["d1"], "d2"]},
]


@pytest.mark.parametrize("value", NEITHER, ids=repr)
def test_what_is_no_table(value: Any) -> None:
    """Whatever somebody hands over, what is wrong with it is stated in a sentence."""
    with pytest.raises(InputError, match=r"^run"):
        rr({"q1": {"d1": 1}}, value)


def test_a_generator_of_documents() -> None:
    """A query's documents may come one by one, too."""
    assert rr(QRELS, {"q1": yielded(["d2", "d1"]), "q2": ["d3"]}) == {"run": RR}


# -- dicts of columns ------------------------------------------------------------------------------------
HELD = {
    "lists": list,
    "tuples": tuple,
    "arrays": np.array,
    "objects": lambda cells: np.array(cells, dtype=object),
    "polars": pl.Series,
    "pandas": pd.Series,
}


@pytest.mark.parametrize("kind", HELD)
def test_dicts_of_columns(kind: str) -> None:
    """A dict of columns is the table it stands for, whatever holds its cells."""
    held: Any = HELD[kind]

    assert rr(QRELS, {name: held(cells) for name, cells in COLUMNS.items()}) == {
        "run": RR
    }


def test_columns_under_other_names() -> None:
    """Names are given as for any table; without them the message says how."""
    named = dict(zip(("qid", "docno", "sim"), COLUMNS.values(), strict=True))
    names = {"qid": "query_id", "docno": "doc_id", "sim": "score"}

    assert rr(QRELS, named, columns=names) == {"run": RR}
    with pytest.raises(
        MissingColumn, match="'qid': 'query_id', 'docno': 'doc_id', 'sim': 'score'"
    ):
        rr(QRELS, named)


def test_columns_and_queries_are_distinguished() -> None:
    """Queries are called what they are called; only names of columns that belong together are columns."""
    lists = {"query": ["d2", "d1"], "doc": ["d3", "d4"]}
    judged = {"query": {"d1": 1}, "doc": {"d3": 1}}

    assert rr(judged, lists) == {"run": RR}
    assert rr(judged, {name: np.array(docs) for name, docs in lists.items()}) == {
        "run": RR
    }
    with pytest.raises(
        InputError,
        match=r"(?s)columns of different lengths.*query_id 3, doc_id 3, score 2",
    ):
        rr(QRELS, {**COLUMNS, "score": [1.0, 0.5]})


def test_columns_may_hold_lists_and_labels() -> None:
    """Columns may be lists, labels, pairs to exclude and weights of subtopics, too."""
    assert rr(QRELS, {"query_id": ["q1", "q2"], "doc_id": [["d2", "d1"], ["d3"]]}) == {
        "run": RR
    }
    labelled = {"query_id": [1, 1, 2], "score": [0.9, 0.8, 0.5], "label": [0, 1, 1]}
    assert rankstone.evaluate(table=labelled, measures="RR").to_dict() == {
        "run": {"RR": RR}
    }
    assert rr(QRELS, RUN, exclude={"query_id": ["q1"], "doc_id": ["d2"]}) == {
        "run": 1.0
    }
    subtopics = {"q": {"a": {"1": 1}, "b": {"2": 1}}}
    weights = {"query_id": ["q", "q"], "subtopic": ["1", "2"], "weight": [3, 1]}
    record = rankstone.evaluate(
        subtopics, {"q": ["a"]}, "P_IA@1", intents=weights
    ).to_dict()
    assert record == {"run": {"P_IA@1": 3 / 4}}


def test_columns_in_a_json_file(tmp_path: Path) -> None:
    """A JSON file holds what Python holds."""
    (tmp_path / "run.json").write_text(json.dumps(COLUMNS))

    assert rr(QRELS, tmp_path / "run.json") == {"run": RR}


def test_one_table_of_lists_is_judgments_and_a_run(tmp_path: Path) -> None:
    """A row a question, with what was retrieved and what is relevant, is read as both."""
    rows = [
        {"question": "q1", "retrieved": ["d2", "d1"], "relevant": ["d1"]},
        {"question": "q2", "retrieved": ["d3"], "relevant": ["d3", "d4"]},
    ]
    names = {
        "question": "query_id",
        "qrels.relevant": "doc_id",
        "run.retrieved": "doc_id",
    }
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )

    for inputs in (rows, tmp_path / "rows.json", tmp_path / "rows.jsonl"):
        record = rankstone.evaluate(
            inputs, {"run": inputs}, "RR R@2", columns=names
        ).to_dict()
        assert record == {"run": {"RR": RR, "R@2": (1 / 1 + 1 / 2) / 2}}


# -- measures --------------------------------------------------------------------------------------------
class Measure:
    """Prints as ir_measures' measures do; known by the module of its class."""

    __module__ = "ir_measures.measures.base"

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("nDCG@10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp2)@10"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("SetP", "P(denom=n)"),
        ("SetR", "R"),
        ("IPrec@0.1", "IPrec(recall=0.1)"),
    ],
)
def test_measures_of_ir_measures(theirs: str, ours: str) -> None:
    """A measure of ir_measures is read by the name it prints, alone, in a list, with a convention."""
    kinds: Any = (Measure(theirs), [Measure(theirs)])
    for kind in kinds:
        assert list(rankstone.evaluate(QRELS, RUN, kind).to_dict()["run"]) == [ours]
        record = rankstone.evaluate(
            QRELS, RUN, kind, convention="ir_measures"
        ).to_dict()
        assert list(record["run"]) == [theirs]


# -- Quepid ----------------------------------------------------------------------------------------------
RATED = [
    {"doc_id": "d1", "rating": 2, "user_email": None},
    {"doc_id": "d2", "rating": 0},
]
SNAPSHOT: dict[str, Any] = {
    "id": 7,
    "name": "before",
    "docs": {"11": [{"id": "d2", "explain": {}}, {"id": "d1"}], "12": [{"id": "d3"}]},
    "queries": [
        {"query_id": 11, "query_text": "a tent", "ratings": {"d1": 2.0, "d2": 0.0}},
        {"query_id": 12, "query_text": "a lamp", "ratings": {"d3": 1.0}},
        {"query_id": 13, "query_text": "unrated", "ratings": {}},
    ],
}
EXPORTS: dict[str, dict[str, Any]] = {
    "ratings": {
        "queries": [
            {"query": "a tent", "ratings": {"d1": 2, "d2": 0}},
            {"query": "a lamp", "ratings": {"d3": 1}},
        ]
    },
    "case": {
        "case_name": "camping",
        "scorer": {"name": "nDCG@10"},
        "queries": [
            {"query_text": "a tent", "options": None, "ratings": RATED},
            {"query_text": "a lamp", "ratings": [{"doc_id": "d3", "rating": 1}]},
            {"query_text": "unrated"},
        ],
    },
    "rre": {
        "index": "camping",
        "queries": [
            {
                "placeholders": {"$query": "a tent"},
                "relevant_documents": {"0": ["d2"], "2": ["d1"]},
            },
            {"placeholders": {"$query": "a lamp"}, "relevant_documents": {"1": ["d3"]}},
        ],
    },
    "book": {
        "name": "camping",
        "query_doc_pairs": [
            {
                "query_text": query,
                "doc_id": doc,
                "position": 1,
                "judgements": [{"rating": r} for r in ratings],
            }
            for query, doc, ratings in (
                ("a tent", "d1", [2.0, None]),
                ("a tent", "d2", [0.0]),
                ("a lamp", "d3", [1.0]),
                ("a lamp", "d4", []),
            )
        ],
    },
    "snapshot": SNAPSHOT,
}


@pytest.mark.parametrize("held", ["object", "file"])
@pytest.mark.parametrize("kind", EXPORTS)
def test_exports_of_quepid(tmp_path: Path, kind: str, held: str) -> None:
    """Whatever Quepid exports is judgments by the text of queries; who was not rated has no judgment."""
    export: Any = EXPORTS[kind]
    if held == "file":
        export = tmp_path / "export.json"
        export.write_text(json.dumps(EXPORTS[kind]))
    rows = (
        read_judgments(export)
        .collect("query_id", "doc_id", "relevance")
        .sort("relevance")
        .rows()
    )

    assert rows == [("a tent", "d2", 0.0), ("a lamp", "d3", 1.0), ("a tent", "d1", 2.0)]


def test_snapshots_of_quepid_are_runs(tmp_path: Path) -> None:
    """A snapshot's results are lists in order, by the text of the query."""
    (tmp_path / "before.json").write_text(json.dumps(SNAPSHOT))
    judged = EXPORTS["book"]

    assert rr(judged, tmp_path / "before.json") == {"before": RR}
    assert rr(judged, SNAPSHOT) == {"run": RR}
    assert rr(judged, {name: SNAPSHOT[name] for name in ("docs", "queries")}) == {
        "run": RR
    }
    with pytest.raises(
        InputError, match="this is a file of judgments, and not a run: case of Quepid"
    ):
        read_run(EXPORTS["case"])


def test_judges_of_a_book_who_differ() -> None:
    """Several judges of a pair are several judgments, and a rule for them is required."""
    book = {
        "query_doc_pairs": [
            {
                "query_text": "q",
                "doc_id": "d",
                "judgements": [{"rating": 1}, {"rating": 3}],
            }
        ]
    }
    run = {"q": ["d"]}

    with pytest.raises(DuplicateRows, match="duplicate_judgments=max, mean"):
        rankstone.evaluate(book, run, "CG@1")
    assert rankstone.evaluate(
        book, run, "CG@1", duplicate_judgments="mean"
    ).to_dict() == {"run": {"CG@1": 2.0}}


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        ({"queries": [{"query": "q", "ratings": [1]}]}, "looks like ratings of Quepid"),
        (
            {
                "query_doc_pairs": [
                    {"query_text": "q", "doc_id": "d", "judgements": [3]}
                ]
            },
            "looks like book of Quepid",
        ),
        ({"queries": [{"query": "q", "ratings": {}}]}, "no document is rated"),
        ({"queries": [{"ratings": {"d": 1}}]}, "doc_id holds object"),
    ],
)
def test_what_only_looks_like_an_export(broken: Any, what: str) -> None:
    """A file with the keys of an export and other values is refused by name."""
    with pytest.raises(InputError, match=rf"^judgments.*{what}"):
        read_judgments(broken)
