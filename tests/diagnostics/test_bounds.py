"""Bounds one fact at a time: numbers on paper, what is requested, what is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
import pytest
from tests.diagnostics.possibilities import Case, draw, judgments, possible, run
from tests.rows import each

import rankstone
from rankstone import UsageError
from rankstone.diagnostics.bound_questions import all_grades_matter, rule_of
from rankstone.measures.average_precision import AP
from rankstone.measures.core.measure import Contributions

if TYPE_CHECKING:
    from pathlib import Path

    from rankstone.hits.hits import Hits


def interval(bounds: rankstone.Bounds, run: str = "run") -> tuple[float, float]:
    """Return the bounds of the one measure's mean."""
    low, high = bounds.mean().filter(run=run).select("low", "high").row(0)
    return low, high


# -- numbers ---------------------------------------------------------------------------------------------
def test_the_extremes_are_neither_all_nor_nothing() -> None:
    """Grades 2, 2, 1 and two unjudged: nDCG is lowest with a 2 at the bottom, highest with nothing."""
    bounds = rankstone.bounds(
        {"q": {"a": 2, "b": 2, "c": 1}}, {"q": ["a", "b", "c", "d", "e"]}, "nDCG"
    )
    both = rankstone.evaluate(
        {"q": {"a": 2, "b": 2, "c": 1, "d": 2, "e": 2}},
        {"q": ["a", "b", "c", "d", "e"]},
        "nDCG",
    ).to_dict()["run"]["nDCG"]

    shown = 2 / log2(2) + 2 / log2(3) + 1 / log2(4) + 2 / log2(6)
    ideal = 2 / log2(2) + 2 / log2(3) + 2 / log2(4) + 1 / log2(5)
    assert interval(bounds) == pytest.approx((shown / ideal, 1.0), abs=1e-15)
    assert both == pytest.approx(
        0.979, abs=5e-4
    )  # what a bound by “all of the best grade” would say
    assert bounds.mean()["certificate"][0] == "proven"


def test_average_precision_on_paper() -> None:
    """One relevant document of two at rank 1, unjudged ones at ranks 2 and 3."""
    bounds = rankstone.bounds({"q": {"a": 1, "z": 1}}, {"q": ["a", "b", "c"]}, "AP")

    none, second, third, both = (
        1 / 2,
        (1 + 2 / 2) / 3,
        (1 + 2 / 3) / 3,
        (1 + 2 / 2 + 3 / 3) / 4,
    )
    assert interval(bounds) == (
        min(none, second, third, both),
        max(none, second, third, both),
    )


def test_a_query_without_value_has_no_bounds() -> None:
    """Nothing is judged relevant: no value now, no bounds, and no warning on the way there."""
    qrels, runs = {"q": {"x": 0}}, {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d1"]}}
    bounds = rankstone.bounds(
        qrels, runs, "RR@1", empty="undefined", grades=[0, 1], difference=("a", "b")
    )

    assert bounds.mean().filter(run="a - b").select("low", "high").row(0) == (
        None,
        None,
    )


def test_holes_below_the_cutoff_count() -> None:
    """A relevant document at rank 3 makes the ideal list of nDCG@1 no better, but R of R@1 larger."""
    qrels, ranked = {"q": {"a": 1}}, {"q": ["a", "b", "c"]}

    assert interval(rankstone.bounds(qrels, ranked, "R@1")) == (1 / 3, 1.0)
    assert interval(rankstone.bounds(qrels, ranked, "nDCG@1")) == (1.0, 1.0)
    assert interval(rankstone.bounds(qrels, ranked, "R@1", depth=2)) == (1 / 2, 1.0)


def test_the_scale_is_given_or_that_of_the_judgments() -> None:
    """Grades are those judged, and 0, or the scale of the option."""
    qrels, ranked = {"q": {"a": 3}}, {"q": ["b", "a"]}
    bounds = rankstone.bounds(qrels, ranked, "CG")

    assert bounds.grades == (0.0, 3.0)
    assert interval(bounds) == (3.0, 6.0)
    assert interval(rankstone.bounds(qrels, ranked, "CG", grades=[0, 1, 10])) == (
        3.0,
        13.0,
    )
    assert interval(rankstone.bounds(qrels, ranked, "CG", grades=[1])) == (4.0, 4.0)


def test_a_shared_document_has_one_grade() -> None:
    """What both runs show at the same rank cannot tell them apart; what one shows alone can."""
    qrels = {"q": {"a": 1}}
    same = rankstone.bounds(
        qrels,
        {"x": {"q": ["b", "a"]}, "y": {"q": ["b", "c"]}},
        "P@1",
        difference=("x", "y"),
    )
    open_ = rankstone.bounds(
        qrels, {"x": {"q": ["b"]}, "y": {"q": ["c"]}}, "P@1", difference=("x", "y")
    )

    assert interval(same, "x - y") == (0.0, 0.0)
    assert same.mean().filter(run="x - y")["sign"].to_list() == ["="]
    assert interval(open_, "x - y") == (-1.0, 1.0)
    assert open_.mean().filter(run="x - y")["sign"].to_list() == ["?"]


def test_a_certain_difference_is_called_certain() -> None:
    """Whatever the unjudged document is worth, the run with the relevant one on top is above."""
    qrels = {"q": {"a": 1, "b": 0}}
    runs = {"x": {"q": ["a", "b", "u"]}, "y": {"q": ["b", "u", "a"]}}
    rows = (
        rankstone.bounds(qrels, runs, "RR AP", difference=("x", "y"))
        .mean()
        .filter(run="x - y")
    )

    assert rows["sign"].to_list() == [">", ">"]
    assert rows["low"].to_list() == [1 - 1 / 2, (1 + 2 / 3) / 2 - (1 / 2 + 2 / 3) / 2]


def test_the_mean_is_bounded_query_by_query() -> None:
    """The lowest mean is the mean of the lowest values; queries without holes stay what they are."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    bounds = rankstone.bounds(
        qrels, {"q1": ["x", "a"], "q2": ["b"]}, "RR RR(agg=median)"
    )

    assert bounds.mean()["low"].to_list() == [(1 / 2 + 1 + 0) / 3, 1 / 2]
    assert bounds.mean()["high"].to_list() == [(1 + 1 + 0) / 3, 1.0]
    assert bounds.mean()["n"].to_list() == [3, 3]
    assert bounds.per_query.filter(measure="RR")["holes"].to_list() == [1, 0, 0]


def test_residuals_say_how_far_a_score_may_move() -> None:
    """`residuals` is value - low and high - value."""
    residuals = rankstone.bounds({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").residuals()

    assert residuals.select("value", "below", "above").row(0) == (1 / 2, 0.0, 1 - 1 / 2)


# -- how the lists came about ----------------------------------------------------------------------------
def test_scattered_rows_duplicates_and_ids_of_two_kinds() -> None:
    """Holes are found in runs whose rows are scattered, repeat documents, or write numbers as text."""
    rows = [("1", 7, 3.0), ("2", 9, 1.0), ("1", 8, 2.0), ("1", 7, 1.0), ("2", 8, 0.5)]
    qrels = pl.DataFrame({"query_id": [1, 2], "doc_id": [8, 9], "relevance": [1, 1]})
    scattered = pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row").cast(
        {"query_id": pl.Int64}
    )
    bounds = rankstone.bounds(qrels, scattered, "AP", duplicates="first_keep_rank")

    assert bounds.per_query["holes"].to_list() == [1, 1]
    assert bounds.per_query["low"].to_list() == [1 / 2, (1 + 0) / 1]
    assert bounds.per_query["high"].to_list() == [1.0, 1.0]


def test_excluded_and_collapsed_documents_are_no_holes() -> None:
    """What alignment takes out of the list is not open; passages of one document are one hole."""
    qrels, ranked = (
        {"q": {"a": 1}},
        {"q": {"b#1": 3.0, "b#2": 2.0, "c#1": 1.5, "a#1": 1.0}},
    )
    bounds = rankstone.bounds(
        qrels, ranked, "RR", unit=r"^(.*)#\d+$", exclude={"q": ["c"]}
    )
    other = {"q": {"b#9": 9.0, "a#1": 1.0}}
    pair = rankstone.bounds(
        qrels,
        {"x": ranked, "y": other},
        "RR",
        unit=r"^(.*)#\d+$",
        difference=("x", "y"),
        exclude={"q": ["c"]},
    )

    assert bounds.per_query.select("value", "low", "high", "holes").row(0) == (
        1 / 2,
        1 / 2,
        1.0,
        1,
    )
    assert interval(pair, "x - y") == (0.0, 0.0)


def test_pooled_documents_left_unjudged_are_holes() -> None:
    """A grade below zero says pooled, not judged: such a document may have any grade of the scale."""
    bounds = rankstone.bounds({"q": {"a": 1, "b": -1}}, {"q": ["b", "a"]}, "RR")

    assert interval(bounds) == (1 / 2, 1.0)
    assert bounds.grades == (0.0, 1.0)


def test_queries_without_a_value_have_no_bounds() -> None:
    """A query that `empty` leaves without a value is not bounded and not counted."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 0}}
    bounds = rankstone.bounds(
        qrels, {"q1": ["a"], "q2": ["b", "c"]}, "RR", empty="undefined"
    )
    counted = rankstone.bounds(qrels, {"q1": ["a"], "q2": ["b", "c"]}, "RR")

    assert bounds.per_query["high"].to_list() == [1.0, None]
    assert bounds.mean()["n"].to_list() == [1]
    assert counted.per_query["high"].to_list() == [1.0, 1 / 2]


@pytest.mark.parametrize(
    "measure", ["AP", "AP@10", "nDCG", "nDCG@5", "R@5", "F@8", "RR", "Rprec"]
)
def test_longer_lists(measure: str) -> None:
    """Lists of 30 documents with nine holes: every assignment of two grades is tried."""
    check_long(measure, (0.0, 1.0), 9)


@pytest.mark.parametrize(
    "measure", ["nDCG", "nDCG(gain=exp2)@10", "nDCG(discount=jk)@5", "DCG@10"]
)
def test_longer_lists_with_grades(measure: str) -> None:
    """Lists of 30 documents with six holes: every assignment of three grades is tried."""
    check_long(measure, (0.0, 1.0, 2.0), 6)


def check_long(measure: str, scale: tuple[float, ...], holes: int) -> None:
    """Compare bounds found without trying with everything tried."""
    rng = np.random.default_rng(7)
    docs = [f"d{index}" for index in range(30)]
    cases = []
    for _ in range(12):
        bare = set(rng.choice(docs, holes, replace=False).tolist())
        judged = {doc: float(rng.choice(scale)) for doc in docs if doc not in bare}
        cases.append(
            Case(
                judged,
                (
                    {
                        doc: -float(index)
                        for index, doc in enumerate(rng.permutation(docs))
                    },
                ),
                scale,
            )
        )
    bounds = rankstone.bounds(
        judgments(cases), run(cases, 0), measure, grades=scale, limit=1
    )
    true = possible(cases, [measure], (0,))

    for row in bounds.per_query.iter_rows(named=True):
        low, high = true[row["query_id"], measure]
        if row["certificate"] == "proven":
            assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-12)
        else:
            assert measure == "Rprec"
            assert row["low"] <= low <= high <= row["high"]


def test_batches_and_slices_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers come out when lists are worked on a few at a time."""
    rng = np.random.default_rng(11)
    cases = [draw(rng, (0.0, 1.0, 2.0), runs=2) for _ in range(25)]
    runs = {"r0": run(cases, 0), "r1": run(cases, 1)}
    texts = ["nDCG@3", "AP", "RR", "P@2", "R@2", "Rprec", "Q", "ERR(max_grade=2)"]
    whole = rankstone.bounds(judgments(cases), runs, texts, difference=("r0", "r1"))
    monkeypatch.setattr("rankstone.diagnostics.filled_lists.slices.__defaults__", (7,))
    monkeypatch.setattr("rankstone.diagnostics.score_bounds._HOLES", 5)
    pieces = rankstone.bounds(judgments(cases), runs, texts, difference=("r0", "r1"))

    assert whole.per_query.equals(pieces.per_query)


# -- claims ------------------------------------------------------------------------------------------------
def test_a_claim_holds_for_the_contributions_it_was_made_about() -> None:
    """A measure that inherits a rule and contributes something else is enumerated."""

    @dataclass(frozen=True, kw_only=True)
    class Odd(AP):
        name: ClassVar[str] = "Odd"

        def contributions(self, hits: Hits) -> Contributions:
            share = np.where(hits.rank == 2, hits.grade / 2, 0.0)
            return Contributions(share, np.ones(hits.queries))

    assert rule_of(AP()) == "precisions"
    assert rule_of(Odd()) == "enumeration"
    assert all_grades_matter(Odd(denom="k", k=3))
    bounds = rankstone.bounds({"q": {"a": 1}}, {"q": ["a", "b", "c"]}, Odd())
    assert bounds.per_query.select("low", "high", "certificate").row(0) == (
        0.0,
        1 / 2,
        "enumerated",
    )
    wide = rankstone.bounds({"q": {"a": 1}}, {"q": ["a", "b", "c"]}, Odd(), limit=3)
    assert wide.per_query.select("low", "high", "certificate").row(0) == (
        0.0,
        1.0,
        "outer",
    )


def test_a_range_that_is_reached_is_no_guess() -> None:
    """Where all holes at one grade reach both ends of a measure's range, nothing can lie beyond."""
    bounds = rankstone.bounds(
        {"q": {"a": 0}}, {"q": ["b", "c", "d"]}, "Q", limit=1, grades=[0, 1]
    )
    open_ = rankstone.bounds({"q": {"a": 1}}, {"q": ["b", "c", "d"]}, "Q", limit=1)

    assert bounds.per_query.select("low", "high", "certificate").row(0) == (
        0.0,
        1.0,
        "proven",
    )
    assert open_.per_query.select("low", "high", "certificate").row(0) == (
        0.0,
        1.0,
        "outer",
    )


def test_where_there_is_no_bound_there_is_none() -> None:
    """A measure without a range that cannot be enumerated has no bound, and the mean has none."""
    docs = [f"d{index}" for index in range(20)]
    bounds = rankstone.bounds({"q": {"d0": 1}}, {"q": docs}, "Utility")

    assert bounds.per_query.select("low", "high", "certificate").row(0) == (
        None,
        None,
        "outer",
    )
    assert bounds.mean().select("low", "high", "certificate").row(0) == (
        None,
        None,
        "outer",
    )


# -- refusals ----------------------------------------------------------------------------------------------
@each(
    ("measures", "options", "words"),
    [
        ("Judged@10", {}, "nothing to bound"),
        ("AP(agg=pooled)", {}, "agg=pooled"),
        ("alpha_nDCG@3", {}, "more of a document than a grade"),
        ("AP", {"unjudged": "condensed"}, "unjudged=condensed"),
        ("AP", {"ties": "best"}, "ties=best"),
        ("AP", {"duplicates": "keep"}, "duplicates=keep"),
        ("AP", {"empty": "one"}, "empty=one"),
        ("AP", {"negative": "keep"}, "negative=keep"),
        ("AP", {"grades": [-1, 0]}, "not a scale"),
        ("AP", {"grades": []}, "not a scale"),
        ("AP", {"limit": 0}, "not a count"),
        ("AP", {"difference": ("run", "other")}, "no run 'other'"),
        ("RR(agg=median)", {"difference": ("run", "run")}, "agg=median"),
    ],
)
def test_what_has_no_bounds_is_refused(
    measures: str, options: dict[str, Any], words: str
) -> None:
    """A question that has no answer is refused with the reason."""
    with pytest.raises((UsageError, rankstone.InputError), match=words):
        rankstone.bounds({"q": {"a": 1}}, {"q": ["b", "a"]}, measures, **options)


def test_a_new_bottom_of_the_scale_is_refused() -> None:
    """A document of a grade below all judged ones would pad the lists of other queries, too."""
    qrels, ranked = {"q": {"a": 1}, "r": {"b": 2}}, {"q": ["b", "a"], "r": ["b"]}

    with pytest.raises(UsageError, match="so queries cannot be bounded one by one"):
        rankstone.bounds(qrels, ranked, "DCG(pad=min_grade)@3")
    bounds = rankstone.bounds(qrels, ranked, "DCG(pad=min_grade)@3", grades=[1, 2])
    rest = 1 / log2(3) + 1 / log2(4)
    assert interval(bounds) == pytest.approx((3 / 2 + rest, 2 + rest))


# -- data and files ------------------------------------------------------------------------------------------
def test_bounds_are_data(tmp_path: Path) -> None:
    """Frames have the promised columns, files hold them, dicts hold the means."""
    bounds = rankstone.bounds({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR P@2")

    assert bounds.per_query.columns == [
        "run",
        "query_id",
        "measure",
        "value",
        "low",
        "high",
        "certificate",
        "holes",
    ]
    assert bounds.mean().columns == [
        "run",
        "measure",
        "value",
        "low",
        "high",
        "certificate",
        "n",
        "sign",
    ]
    for name, write, read in (
        ("a.parquet", bounds.write, pl.read_parquet),
        ("a.csv", bounds.write, pl.read_csv),
        ("a.jsonl", bounds.write, pl.read_ndjson),
    ):
        write(tmp_path / name)
        assert (
            read(tmp_path / name)["high"].to_list()
            == bounds.per_query["high"].to_list()
        )
    bounds.write(tmp_path / "a.json")
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["runs"]["run"]["RR"]["low"] == 1 / 2
    assert report["conventions"]["bounds"] == {"grades": [0.0, 1.0], "limit": 4096}
    assert "proven" in repr(bounds)
