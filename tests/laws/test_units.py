"""Units: chunks that roll up to documents, documents that are equal, and ids that are there twice."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankstone
from rankstone import evaluate
from rankstone.errors import BadOption, DuplicateRows, MissingColumn
from rankstone.evaluation.out_of_core import evaluate_out_of_core

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURES: Final = "R R@3 P@3 AP RR nDCG nDCG@3 Success@1 ERR(max_grade=3) RBP(p=0.8)"
SEEDS = st.integers(0, 2**32)
SCORES: Final[dict[str, Callable[[list[float]], float]]] = {
    "max": max,
    "first": lambda scores: scores[0],
    "sum": sum,
    "mean": lambda scores: sum(scores) / len(scores),
    "top2": lambda scores: sum(sorted(scores)[-2:]),
}


def world(seed: int, queries: int = 6) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return judgments and lists of chunks, with ties, ids with several separators, and ids without one."""
    rng = np.random.default_rng(seed)
    chunks = [f"d#{doc}#{chunk}" for doc in range(6) for chunk in range(4)] + [
        "whole",
        "d#0",
    ]
    judged, shown = [], []
    for index in range(queries):
        listed = rng.permutation(chunks)[: rng.integers(1, 12)].tolist()
        judged += [(f"q{index}", chunk, int(rng.integers(0, 4))) for chunk in listed]
        picked = rng.permutation(chunks)[: rng.integers(1, 25)].tolist()
        shown += [
            (f"q{index}", chunk, float(rng.integers(0, 9)) / 4) for chunk in picked
        ]
    names = ["query_id", "doc_id"]
    return (
        pl.DataFrame(judged, [*names, "relevance"], orient="row"),
        pl.DataFrame(shown, [*names, "score"], orient="row"),
    )


def document(chunk: str) -> str:
    return chunk.rpartition("#")[0] or chunk


def by_hand(judged: pl.DataFrame, run: pl.DataFrame, score: str) -> tuple[Any, Any]:
    """Roll up one row at a time."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for query, chunk, grade in judged.rows():
        unit = document(chunk)
        grades[query][unit] = max(grade, grades[query].get(unit, 0))
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for query, chunk, first in run.rows():
        scores[query][document(chunk)].append(first)
    rolled = {
        q: {doc: SCORES[score](value) for doc, value in docs.items()}
        for q, docs in scores.items()
    }
    return dict(grades), rolled


def values(
    judged: Any, run: Any, measures: str = MEASURES, **options: Any
) -> list[float | None]:
    return evaluate(judged, run, measures, **options).per_query["value"].to_list()


@given(
    SEEDS,
    st.sampled_from(sorted(SCORES)),
    st.sampled_from(["document", "#", r"^(.*)#[^#]*$"]),
)
def test_chunks_roll_up(seed: int, score: str, unit: str) -> None:
    judged, run = world(seed)
    options: Any = {"unit": unit, "unit_score": score}
    numbers = values(judged, run, **options)
    assert numbers == values(*by_hand(judged, run, score))
    assert all(value is None or value <= 1 + 1e-12 for value in numbers)
    mixed = (
        run.with_row_index().sample(fraction=1.0, shuffle=True, seed=seed).drop("index")
    )
    if score in (
        "max",
        "sum",
        "mean",
        "top2",
    ):  # scores are multiples of a quarter, whose sums are exact
        assert values(judged, mixed, **options) == numbers


@given(SEEDS)
def test_ids_without_chunks_are_left_alone(seed: int) -> None:
    judged, run = (
        frame.with_columns(pl.col("doc_id").str.replace_all("#", "-"))
        for frame in world(seed)
    )
    assert values(judged, run, unit="document") == values(judged, run)


@given(SEEDS)
def test_a_document_is_no_deeper_than_its_best_chunk(seed: int) -> None:
    """Each relevant chunk alone, and its document: the reciprocal rank never falls."""
    _, run = world(seed)
    # a query for each chunk, with the whole list
    chunks = run.select("query_id", relevant="doc_id")
    names = pl.format("{} {}", "query_id", "relevant")
    lists = run.join(chunks, on="query_id").with_columns(query_id=names)
    judged = chunks.select(query_id=names, doc_id="relevant", relevance=1)
    as_chunk, as_document = (
        values(judged, lists, "RR", unit=unit) for unit in ("chunk", "document")
    )
    assert len(as_chunk) == run.height
    for deep, shallow in zip(as_chunk, as_document, strict=True):
        assert deep is not None
        assert shallow is not None
        assert shallow >= deep


def test_by_a_mapping_and_by_a_column_of_documents() -> None:
    run, judged = {"q": {"c1": 3.0, "c2": 2.0, "c3": 1.0}}, {"q": {"B": 1}}
    parents = {"c1": "A", "c2": "A", "c3": "B"}
    table = pl.DataFrame({"doc_id": list(parents), "parent": list(parents.values())})
    assert values(judged, run, "RR", unit=parents) == [1 / 2]
    assert values(judged, run, "RR", unit="parent", documents=table) == [1 / 2]
    with pytest.raises(BadOption, match="not a unit"):
        values(judged, run, "RR", unit="parents", documents=table)
    with pytest.raises(BadOption, match="collapse is called unit"):
        values(judged, run, "RR", collapse="^(.)")


def test_a_chunk_that_is_there_twice_is_an_error_all_the_same() -> None:
    with pytest.raises(DuplicateRows, match="a#1 is retrieved 2 times"):
        values({"q": {"a": 1}}, {"q": ["a#1", "a#2", "a#1"]}, "RR", unit="document")
    assert values(
        {"q": {"a": 1}},
        {"q": ["a#1", "a#1"]},
        "R",
        unit="document",
        duplicates="first_drop",
    ) == [1]
    twice = pl.DataFrame(
        {"query_id": "q", "doc_id": ["a#1", "a#1"], "relevance": [1, 2]}
    )
    with pytest.raises(DuplicateRows, match="judged more than once"):
        values(twice, {"q": ["a#1"]}, "R", unit="document")


def test_tokens_of_all_chunks_are_paid_for() -> None:
    """The first two chunks are of one document; the second document begins after 20 tokens."""
    run = pl.DataFrame(
        {
            "query_id": "q",
            "doc_id": ["a#1", "a#2", "b#1"],
            "score": [3.0, 2.0, 1.0],
            "tokens": [10, 10, 10],
        }
    )
    judged = {"q": {"b": 1}}
    assert values(
        judged, run, "R@tokens(20) R@tokens(30) R@1 R@2", unit="document"
    ) == [0, 1, 0, 1]


@given(SEEDS, st.sampled_from([1.0, 2.0, 3.5, 6.0]))
def test_budgets_count_every_chunk_above_a_document(seed: int, limit: float) -> None:
    """A document is reached if its first chunk fits; all chunks above it are paid for."""
    judged, run = world(seed)
    rng = np.random.default_rng(seed)
    grades, _ = by_hand(judged, run, "max")
    run = run.with_columns(tokens=pl.Series(rng.integers(0, 5, run.height) / 2))
    expected = []
    for query, relevant in grades.items():
        rows = run.filter(query_id=query).with_columns(
            unit=pl.col("doc_id").map_elements(document, pl.String)
        )
        rows = rows.sort("score", "unit", "doc_id", descending=True)
        spent, inside = 0.0, set[str]()
        for name, cost in rows.select("unit", "tokens").rows():
            spent += cost
            inside |= {name} if spent <= limit else set()
        good = {doc for doc, grade in relevant.items() if grade > 0}
        expected.append(len(good & inside) / len(good) if good else 0.0)
    numbers = values(judged, run, f"R@tokens({limit})", unit="document")
    assert numbers == pytest.approx(expected, abs=1e-12)
    mixed = run.sample(fraction=1.0, shuffle=True, seed=seed)
    assert values(judged, mixed, f"R@tokens({limit})", unit="document") == numbers


def test_scores_of_chunks_are_needed_to_add_them() -> None:
    with pytest.raises(BadOption, match="needs scores"):
        values(
            {"q": {"a": 1}},
            {"q": ["a#1", "a#2"]},
            "RR",
            unit="document",
            unit_score="sum",
        )
    assert values(
        {"q": {"a": 1}},
        {"q": ["b#1", "a#2"]},
        "RR",
        unit="document",
        unit_score="first",
    ) == [1 / 2]


def test_whole_numbers_as_ids() -> None:
    judged = pl.DataFrame({"query_id": [1], "doc_id": [10], "relevance": [1]})
    run = pl.DataFrame({"query_id": [1, 1], "doc_id": [11, 12], "score": [2.0, 1.0]})
    assert values(judged, run, "RR", same_as={"10": "A", "12": "A"}) == [1 / 2]
    assert values(judged, run, "RR", unit={11: 9, 12: 10}) == [1 / 2]


# -- copies ------------------------------------------------------------------------------------------
#: name → list, judgments: what the threads about scores above 1 show, in small
COPIES: Final[dict[str, tuple[list[str], dict[str, int]]]] = {
    "one relevant chunk twice: recall 2.0": (["a", "a"], {"a": 1}),
    "the gain of a chunk twice: nDCG 1.63": (["a", "a", "x"], {"a": 1}),
    "every chunk twice": (["a", "a", "b", "b"], {"a": 1, "b": 1}),
    "a copy far below": (["a", "x", "y", "z", "a"], {"a": 1}),
    "copies of an irrelevant chunk": (["x", "x", "a"], {"a": 1, "x": 0}),
    "three copies, graded": (["b", "a", "a", "a"], {"a": 3, "b": 1}),
    "two retrievers merged without removing copies": (
        ["a", "b", "a", "b", "c"],
        {"a": 1, "b": 1, "c": 1},
    ),
    "overlapping windows with one id": (["a", "a", "a", "b"], {"a": 1, "b": 2}),
    "fewer relevant than copies": (["x", "a", "a", "a", "a"], {"a": 1, "b": 1}),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_earn_nothing(name: str) -> None:
    """Equal ids are refused, and never exceed 1 by request; other ids of equal texts neither."""
    docs, judged = COPIES[name]
    with pytest.raises(DuplicateRows):
        values({"q": judged}, {"q": docs})
    kept = values({"q": judged}, {"q": docs}, duplicates="first_keep_rank")
    assert all(value is not None and 0 <= value <= 1 + 1e-12 for value in kept)
    renamed = [
        f"{doc}{docs[:index].count(doc) or ''}" for index, doc in enumerate(docs)
    ]
    texts = {
        item: {"text": f"  The Text of\n{item[0].upper()} "} for item in renamed
    } | {doc: {"text": f"the text of {doc}"} for doc in {*docs, *judged}}
    classes = {item: item[0] for item in renamed}
    by_text, by_class = (
        values({"q": judged}, {"q": renamed}, same_as=table)
        for table in (texts, classes)
    )
    assert by_text == by_class == kept


def test_judgments_of_copies_are_one() -> None:
    """A class has the best grade of its copies and is relevant once, whichever copy is retrieved."""
    judged = {"q": {"a": 1, "a2": 3, "b": 1}}
    same = {"a": "A", "a2": "A"}
    scores = evaluate(judged, {"q": ["a2", "b"]}, "R nDCG", same_as=same)
    assert scores.to_dict() == {"run": {"R": 1.0, "nDCG": 1.0}}
    assert values(judged, {"q": ["a", "a2", "b"]}, "RR R AP", same_as=same) == [
        1,
        1,
        (1 + 2 / 3) / 2,
    ]


def test_tied_copies_are_paid_for_in_the_order_of_their_ids() -> None:
    run = pl.DataFrame(
        {
            "query_id": "q",
            "doc_id": ["a", "c", "b"],
            "score": [1.0, 1.0, 0.5],
            "tokens": [1, 9, 1],
        }
    )
    same = {"a": "A", "c": "A"}
    for rows in (run, run.reverse()):
        assert values(
            {"q": {"a": 1}}, rows, "R@tokens(1) R@tokens(9)", same_as=same
        ) == [0, 1]


def test_tied_copies_and_others_are_in_the_order_of_their_own_ids() -> None:
    """The rows of the table of copies say which documents are equal, not which of them comes first."""
    judged, run = {"q": {"k": 1}}, {"q": {"m": 1.0, "k": 1.0}}
    for rows in ({"m": "M", "z": "M"}, {"z": "M", "m": "M"}, {"a": "M", "m": "M"}):
        assert values(judged, run, "RR", same_as=rows) == [1 / 2]
        assert values(judged, run, "RR", same_as=rows, ties="docid_asc") == [1]


def test_calls_are_numbered_before_chunks_roll_up() -> None:
    """A call that returns another chunk of a document that is there already counts nonetheless."""
    run = pl.DataFrame(
        {
            "query_id": "q",
            "doc_id": ["a#1", "a#2", "b#1"],
            "score": [3.0, 2.0, 1.0],
            "call": [1, 2, 3],
        }
    )
    assert values({"q": {"b": 1}}, run, "R@calls(2) R@calls(3)", unit="document") == [
        0,
        1,
    ]


def test_copies_and_columns_of_documents_as_a_dict_of_columns() -> None:
    judged, run = {"q": {"b": 1}}, {"q": ["c", "a"]}
    same = {"doc_id": ["a", "b"], "class": ["A", "A"]}
    assert values(judged, run, "RR", same_as=same) == [1 / 2]
    documents = {"doc_id": np.array(["a", "b", "c"]), "tokens": [3, 3, 4]}
    judged = {"q": {"a": 1}}
    assert values(judged, run, "R@tokens(6) R@tokens(7)", documents=documents) == [0, 1]


def test_an_explanation_where_scores_of_chunks_are_added_up() -> None:
    """Changes are those of units at other ranks, whose scores are already added up."""
    run = {"q": {"a#1": 3.0, "b#1": 2.0, "b#2": 2.0}}
    explanation = rankstone.explain(
        {"q": {"a": 1, "b": 1}}, run, "RR", "q", unit="document", unit_score="sum"
    )
    assert isinstance(explanation, rankstone.Explanation)
    assert explanation.value == 1


def test_chunks_and_copies_together() -> None:
    """Chunks of a and of its copy c are one unit, at the first of them; d keeps the rank behind the copy."""
    run = {"q": ["c#1", "a#1", "a#2", "d#1"]}
    numbers = values(
        {"q": {"a": 1, "d": 1}},
        run,
        "R AP",
        unit="document",
        same_as={"c": "A", "a": "A"},
    )
    assert numbers == [1, (1 + 2 / 3) / 2]


def test_tables_of_copies_that_are_refused() -> None:
    table = pl.DataFrame({"doc_id": ["a", "b"], "one": [1, 2], "other": [1, 2]})
    with pytest.raises(BadOption, match="some ranks are empty"):
        values({"q": {"a": 1}}, {"q": ["a"]}, "Judged@3", same_as={"a": "A"})
    with pytest.raises(MissingColumn, match="class or text"):
        values({"q": {"a": 1}}, {"q": ["a"]}, "R", same_as=table)
    with pytest.raises(BadOption, match="one_group"):
        rankstone.evaluate(
            {"q": {"a": 1}}, {"q": ["a"]}, "R", unit="document", one_group=True
        )


def test_what_a_count_of_rows_would_say() -> None:
    """The error and the audit both tell by how much copies would have inflated recall."""
    judged, run = {"q": {"a": 1}, "p": {"b": 1}}, {"q": ["a", "a"], "p": ["b"]}
    with pytest.raises(DuplicateRows, match="counting each row, recall would be 2"):
        evaluate(judged, run, "R")
    for options in (
        {"duplicates": "first_keep_rank"},
        {"same_as": {"a": "A", "b": "B"}, "duplicates": "keep"},
    ):
        audit = evaluate(judged, run, "P@1", **options).audit
        assert "recall over all queries 1.5 × as high" in "\n".join(audit.lines())
    assert "as high" not in "\n".join(
        evaluate(judged, {"q": ["a", "x"]}, "R").audit.lines()
    )


def test_a_corpus_of_chunks_has_their_documents() -> None:
    """Of A, B and Z only Z has no chunk in the corpus; out of core the audit is the same."""
    parents = {"c1": "A", "c2": "A", "c3": "B"}
    run, judged = {"q": ["c1", "c3"]}, {"q": {"B": 1, "Z": 1}, "r": {"Z": 1}}
    options: Any = {"unit": parents, "corpus": list(parents)}
    whole = rankstone.evaluate(judged, run, "R", **options).audit.judgments
    assert (whole.absent, whole.unwinnable) == (1, 1)
    assert "at most R 0.2500 can be reached" in whole.warnings[0]
    parts = evaluate_out_of_core(judged, run, "R", **options).audit.judgments
    assert vars(parts) == vars(whole)
