"""Cutoffs by cost: they are cutoffs by rank where every document costs the same, and a loop elsewhere."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankstone
from rankstone import AP, Measure, P, R, RankstoneError, evaluate, nDCG, parse_measure
from rankstone.errors import (
    BadOption,
    BadParameter,
    BadValue,
    DuplicateRows,
    MissingColumn,
)
from rankstone.evaluation.out_of_core import MemoryBudget, evaluate_out_of_core
from rankstone.hits import Budget
from rankstone.hits.extras.abstained_lists import AbstainedLists
from rankstone.hits.extras.list_costs import ListCosts
from rankstone.hits.extras.list_sources import ListSources
from rankstone.hits.extras.text_spans import TextSpans
from rankstone.integrations import arrays
from rankstone.measures import MEASURES
from rankstone.measures.core.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Iterator

CROSSINGS: Final[tuple[Any, ...]] = ("drop", "include", "skip")
SEEDS = st.integers(0, 2**32)


def world(
    seed: int, queries: int = 8, *, unit: bool = False
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return judgments with subtopics and costs, and a run with ties and costs of 0, halves and tenths."""
    rng = np.random.default_rng(seed)
    judged, shown = [], []
    for index in range(queries):
        cost = {
            f"d{i}": float(rng.choice([0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 7.0]))
            for i in range(16)
        }
        cost = dict.fromkeys(cost, 1.0) if unit else cost
        for doc in rng.permutation(list(cost))[: rng.integers(1, 14)].tolist():
            row = f"q{index}", doc, int(rng.integers(0, 4)), cost[doc]
            # what is forbidden has grade 0
            forbidden = row[2] == 0 and bool(rng.integers(0, 2))
            about = f"s{rng.integers(0, 3)}", 0.2 + rng.random(), forbidden
            judged.append((*row, *about))
        docs = rng.permutation(list(cost))[: rng.integers(10, 17)].tolist()
        shown += [
            (f"q{index}", doc, float(rng.integers(0, 9)), cost[doc]) for doc in docs
        ]
    names = ["query_id", "doc_id", "relevance", "tokens"]
    names += ["subtopic", "propensity", "forbidden"]
    run = pl.DataFrame(shown, ["query_id", "doc_id", "score", "tokens"], orient="row")
    return pl.DataFrame(judged, names, orient="row"), run


def whole_lists() -> Iterator[Measure]:
    """Yield the measures that a budget can cut, without a cutoff."""
    for name, kind in MEASURES.items():
        if not issubclass(kind, Measure) or kind.requires & {
            TextSpans,
            AbstainedLists,
            ListCosts,
            ListSources,
        }:
            continue  # they have worlds of their own
        if kind.takes_cutoff and kind.takes_budget:
            for text in kind.examples or (name,):
                try:
                    measure = replace(parse_measure(text), k=None)
                    assert isinstance(measure, Measure)
                    (measure @ Budget("tokens", 1)).check("docid_desc")
                except RankstoneError:  # it needs a cutoff, or reads below it
                    continue
                yield measure


WHOLE: Final = tuple(whole_lists())


def values(judged: Any, run: Any, measure: Any, **options: Any) -> list[float | None]:
    scores = evaluate(
        judged, run, measure, negative="zero", duplicate_judgments="max", **options
    )
    return scores.per_query["value"].to_list()


def test_most_measures_take_budgets() -> None:
    assert len({measure.name for measure in WHOLE}) >= 40
    assert {
        "R",
        "P",
        "AP",
        "RR",
        "nDCG",
        "DCG",
        "ERR",
        "RBP",
        "Success",
        "Bpref",
        "StRecall",
    } <= {measure.name for measure in WHOLE}


@given(SEEDS, st.integers(1, 9))
def test_with_equal_costs_it_is_a_cutoff(seed: int, k: int) -> None:
    """Every list has ten documents or more, so P@k divides by k on both sides."""
    judged, run = world(seed, unit=True)
    queries = {
        name: {"position": 1, "session": name} for name in run["query_id"].unique()
    }
    by_rank = values(judged, run, [measure @ k for measure in WHOLE], queries=queries)
    for crossing in CROSSINGS:
        budget = Budget("tokens", float(k), crossing)
        by_cost = values(
            judged, run, [measure @ budget for measure in WHOLE], queries=queries
        )
        assert by_rank == by_cost, crossing


def kept(rows: list[tuple[str, float]], limit: float, crossing: str) -> list[str]:
    """Return the documents within a budget: the definition, one document at a time."""
    spent, inside, fits = 0.0, [], limit * (1 + 1e-12)
    for doc, cost in rows:
        if spent + cost <= fits:
            spent += cost
            inside.append(doc)
        elif crossing == "include":
            if spent < limit * (1 - 1e-12):
                inside.append(doc)
            break
        elif crossing == "drop":
            break
    return inside


@given(
    SEEDS, st.sampled_from([0.1, 0.4, 1.0, 3.3, 8.0, 100.0]), st.sampled_from(CROSSINGS)
)
def test_lists_end_where_the_budget_does(
    seed: int, limit: float, crossing: Any
) -> None:
    """Measures without an ideal list have the values of the lists that a loop cuts."""
    judged, run = world(seed)
    measures = [
        parse_measure(text)
        for text in ("R", "P", "AP", "RR", "DCG", "RBP(p=0.8)", "bpref", "Success")
    ]
    lists = {}
    for query, rows in run.sort("score", "doc_id", descending=True).group_by(
        "query_id", maintain_order=True
    ):
        lists[query[0]] = kept(
            list(zip(rows["doc_id"], rows["tokens"], strict=True)), limit, crossing
        )
    cut = {query: docs for query, docs in lists.items() if docs}
    options: Any = {"no_results": "zero"}
    whole = (
        evaluate(judged, {**lists}, measures, negative="zero", **options)
        .per_query["value"]
        .to_list()
    )
    by_cost = values(
        judged, run, [m @ Budget("tokens", limit, crossing) for m in measures]
    )
    assert whole == by_cost, cut


@given(SEEDS)
def test_more_budget_never_hurts(seed: int) -> None:
    judged, run = world(seed)
    growing = [
        measure
        for measure in WHOLE
        if measure.claims.grows_with_k and measure.name != "sDCG"
    ]
    assert len(growing) > 12
    limits = (0.1, 0.5, 1.0, 2.0, 4.0, 9.0, 30.0)
    plain = [
        measure
        for measure in growing
        if not (measure.ideal_has_costs or measure.query_columns)
    ]
    by_limit = [
        values(judged, run, [item @ Budget("tokens", limit) for item in plain])
        for limit in limits
    ]
    for less, more in pairwise(by_limit):
        better = [
            a is None or (b is not None and a <= b)
            for a, b in zip(less, more, strict=True)
        ]
        assert all(better), plain[better.index(False) * len(plain) // len(better)]


@given(SEEDS, st.sampled_from([0.3, 1.0, 2.5, 9.0]), st.sampled_from(CROSSINGS))
def test_nothing_exceeds_one(seed: int, limit: float, crossing: Any) -> None:
    """Cheap documents may gain more than the best grade; the ideal list is then the list itself."""
    judged, run = world(seed)
    budget = Budget("tokens", limit, crossing)
    for measure in (nDCG(), nDCG(gain="exp2"), parse_measure("nERR(max_grade=3)")):
        assert all(
            value is None or value <= 1 + 1e-12
            for value in values(judged, run, measure @ budget)
        )


def test_the_fraction_that_fits() -> None:
    """Of 10 tokens 4 are left for the second document: it counts 4/8."""
    run = pl.DataFrame(
        {
            "query_id": "q",
            "doc_id": ["a", "b", "c"],
            "score": [3.0, 2.0, 1.0],
            "tokens": [6, 8, 1],
        }
    )
    judged = {"q": {"b": 2, "c": 1}}
    assert values(judged, run, "R@tokens(10, crossing=fraction)") == [4 / 8 / 2]
    assert values(judged, run, "DCG@tokens(10, crossing=fraction)") == [
        2 / np.log2(3) * (4 / 8)
    ]
    assert values(judged, run, "R@tokens(14, crossing=fraction)") == [1 / 2]
    with pytest.raises(BadParameter, match="part of a document"):
        parse_measure("AP@tokens(10, crossing=fraction)")


def test_the_ideal_list_has_a_budget_too() -> None:
    """By grade, then cost: a (3 tokens) and b fit into 5, c is passed over, d fits."""
    run = pl.DataFrame(
        {"query_id": "q", "doc_id": ["b", "x"], "score": [2.0, 1.0], "tokens": [1, 1]}
    )
    rows = {
        "query_id": "q",
        "doc_id": list("abcd"),
        "relevance": [3, 2, 2, 1],
        "tokens": [3, 1, 4, 1],
    }
    scores = evaluate(pl.DataFrame(rows), run, "nDCG@tokens(5)")
    assert scores.per_query["value"].to_list() == [
        2 / (3 + 2 / np.log2(3) + 1 / np.log2(4))
    ]


def test_without_costs_the_ideal_list_is_all_and_the_name_says_so() -> None:
    run = pl.DataFrame(
        {"query_id": "q", "doc_id": ["b"], "score": [2.0], "tokens": [1]}
    )
    judged = pl.DataFrame(
        {
            "query_id": "q",
            "doc_id": ["a", "b"],
            "relevance": [3, 2],
            "tokens": [None, 1],
        }
    )
    for given_ in (judged, judged.drop("tokens")):
        scores = evaluate(given_, run, "nDCG@tokens(5)")
        assert scores.to_dict() == {
            "run": {"nDCG(ideal_depth=all)@tokens(5)": 2 / (3 + 2 / np.log2(3))}
        }
        with pytest.raises(BadParameter, match="needs the costs of judged documents"):
            evaluate(given_, run, "nERR(max_grade=3)@tokens(5)")


def test_what_costs_nothing_fits_behind_what_fills_the_budget() -> None:
    """A fills the budget of 5, b is free; both are kept in the list, and in the ideal one."""
    rows = {"query_id": "q", "doc_id": ["a", "b"], "tokens": [5, 0]}
    run = pl.DataFrame({**rows, "score": [2.0, 1.0]})
    judged = pl.DataFrame({**rows, "relevance": [2, 1]})
    for crossing in ("drop", "include", "skip"):
        half = values(
            judged, run.filter(doc_id="a"), f"nDCG@tokens(5, crossing={crossing})"
        )
        assert half == [2 / (2 + 1 / np.log2(3))]
        assert values(judged, run, f"nDCG@tokens(5, crossing={crossing})") == [1]


def test_columns_that_every_run_has_are_no_costs() -> None:
    for name in ("doc_id", "relevance", "rank"):
        with pytest.raises(BadParameter, match=f"{name} is no cost"):
            parse_measure(f"R@{name}(2)")


def test_costs_from_a_table_of_documents() -> None:
    documents = {"a": {"tokens": 3, "text": "üben"}, "b": {"tokens": 4, "text": "xy"}}
    run, judged = {"q": ["b", "a"]}, {"q": {"a": 1}}
    assert values(
        judged, run, "R@tokens(6) R@tokens(7) R@characters(6)", documents=documents
    ) == [0, 1, 1]
    with pytest.raises(BadValue, match="tokens is missing"):
        evaluate(judged, {"q": ["b", "a", "z"]}, "R@tokens(6)", documents=documents)


@given(SEEDS)
def test_the_same_bits_whatever_the_order_of_rows(seed: int) -> None:
    judged, run = world(seed, queries=5)
    measures = "R@tokens(1.2) P@tokens(1.2, crossing=skip) nDCG@tokens(3.3) DCG@tokens(2.1, crossing=fraction)"
    inside = values(judged, run, measures)
    assert (
        values(judged, run.sample(fraction=1.0, shuffle=True, seed=seed), measures)
        == inside
    )


def test_out_of_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryBudget, "ranges", lambda *_: 3)
    judged, run = world(5, queries=30)
    measures = "R@tokens(1.2) P@tokens(1.2, crossing=skip) nDCG@tokens(3.3)"
    options: Any = {"duplicate_judgments": "max", "negative": "zero"}
    parts = evaluate_out_of_core(judged, run, measures, **options)
    assert parts.to_dict() == evaluate(judged, run, measures, **options).to_dict()


# -- steps of an agent -------------------------------------------------------------------------------
CALLS = pl.DataFrame(
    {
        "query_id": ["q"] * 5,
        "doc_id": ["a", "b", "a", "c", "d"],
        "score": [0.2, 0.1, 9.0, 8.0, 7.0],
        "call": [1, 1, 2, 2, 3],
        "tokens": [5, 5, 5, 5, 5],
    }
)


def test_evidence_that_a_second_call_finds() -> None:
    """An agent that recovers at its second call has found the evidence; one that stops has not."""
    judged = {"q": {"c": 1}}
    assert values(judged, CALLS, "R@calls(1) R@calls(2) R@calls(3)") == [0, 1, 1]
    assert values(judged, CALLS, "RR@calls(2) RR") == [
        1 / 4,
        1 / 4,
    ]  # a comes again at rank 3
    assert values(judged, CALLS, "R@tokens(15) R@tokens(20)") == [
        0,
        1,
    ]  # and is paid for again
    mixed = CALLS.sample(fraction=1.0, shuffle=True, seed=3)
    assert values(judged, mixed, "R@calls(1) R@calls(2) RR R@tokens(15)") == [
        0,
        1,
        1 / 4,
        0,
    ]


def test_calls_need_no_numbers_from_one() -> None:
    run = CALLS.with_columns(call=pl.col("call") * 10)
    assert values({"q": {"c": 1}}, run, "R@calls(1) R@calls(2)") == [0, 1]


def test_a_call_that_returns_a_document_twice() -> None:
    with pytest.raises(DuplicateRows, match="a is retrieved 3 times"):
        evaluate(
            {"q": {"c": 1}},
            pl.concat([CALLS.with_columns(call=pl.lit(1, pl.Int64)), CALLS.head(1)]),
            "R",
        )


def test_lists_without_scores_are_in_order_within_calls() -> None:
    run = CALLS.drop("score").with_columns(rank=pl.Series([1, 2, 1, 2, 1]))
    assert values({"q": {"d": 1}}, run, "RR") == [1 / 5]


# -- names and errors ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "R@tokens(2000)",
        "nDCG(gain=exp2)@cost(0.01, crossing=include)",
        "P(rel=2)@calls(3)",
        "AP@ms(1e+06)",
    ],
)
def test_names_are_read_back(text: str) -> None:
    measure = parse_measure(text)
    assert str(measure) == text
    assert parse_measure(str(measure)) == measure


def test_a_budget_takes_the_place_of_a_cutoff() -> None:
    budget = Budget("tokens", 2000)
    assert str(R @ budget) == str((R @ 5) @ budget) == "R@tokens(2000)"
    assert str((R @ budget) @ 5) == "R@5"
    assert R @ "tokens(2000)" == R() @ "tokens(2000)" == R @ budget
    with pytest.raises(BadParameter, match="is no budget"):
        R @ "tokens (10"
    with pytest.raises(BadParameter, match="two cutoffs"):
        AP(k=5, budget=budget)
    with pytest.raises(BadParameter, match="not a budget"):
        AP(budget="tokens(5)")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R@tokens(0)", "a budget of"),
        ("R@tokens(many)", "is not a number"),
        ("R@tokens(5, crossing=split)", "not known"),
        ("R@calls(1.5)", "not a number of calls"),
        ("AUC(negatives=judged)@tokens(5)", "needs the number of ranks"),
        ("R(denom=min_R_k)@tokens", "not a rank"),
        ("Coverage@tokens(5)", "takes no budget"),
        ("nDCG(ideal_depth=min_k_n)@tokens(5)", "long documents"),
    ],
)
def test_budgets_that_are_refused(text: str, message: str) -> None:
    with pytest.raises((BadParameter, BadOption), match=message):
        parse_measure(text)


def test_input_that_is_refused() -> None:
    judged, run = world(1)
    with pytest.raises(MissingColumn, match="needs a column ms"):
        evaluate(judged, run, "R@ms(5)")
    with pytest.raises(BadValue, match="tokens is -1"):
        evaluate(judged, run.with_columns(tokens=pl.lit(-1)), "R@tokens(5)")
    with pytest.raises(BadOption, match="leaves open"):
        evaluate(judged, run, "R@tokens(5)", ties="expected")
    with pytest.raises(BadOption, match="crossing"):
        Budget("tokens", 5, "split")  # type: ignore[arg-type]


# -- curves ------------------------------------------------------------------------------------------
def test_a_curve_over_budgets_is_the_measure_at_each() -> None:
    judged, run = world(3, queries=20)
    judged = judged.unique(["query_id", "doc_id"], keep="first", maintain_order=True)
    limits = (0.5, 1.0, 4.0, 9.0)
    for text in ("R@tokens({})", "nDCG@tokens({})", "P@tokens({},crossing=skip)"):
        many = ",".join(map(str, limits))
        traced = rankstone.curve(judged, run, text.format(many))
        means = [
            evaluate(judged, run, text.format(limit)).mean()["value"].item()
            for limit in limits
        ]
        assert traced.mean()["mean"].to_list() == means
        assert traced.mean()["x"].to_list() == list(limits)
        area = np.trapezoid(means, limits) / (limits[-1] - limits[0])
        row = traced.area().row(0, named=True)
        assert row["area"] == pytest.approx(area, rel=1e-12)
        assert row["ci_low"] < row["area"] < row["ci_high"]


def test_the_smallest_budget_that_reaches_a_target() -> None:
    run = pl.DataFrame(
        {
            "query_id": "q",
            "doc_id": list("abc"),
            "score": [3.0, 2.0, 1.0],
            "tokens": [10, 20, 5],
        }
    )
    traced = rankstone.curve(
        {"q": {"b": 1, "c": 1}}, run, "R@tokens(10,30,35) R@tokens(0.5,29.5)"
    )
    assert traced.reach({"R": 0.5})["k"].to_list() == [30.0, None]
    assert rankstone.curve({"q": {"b": 1}}, run, "R@tokens(10,30)").reach(1)[
        "k"
    ].to_list() == [30]


def test_one_budget_is_no_curve() -> None:
    run = pl.DataFrame(
        {"query_id": "q", "doc_id": ["a"], "score": [1.0], "tokens": [1]}
    )
    with pytest.raises(BadParameter, match=r"one point of a curve") as caught:
        rankstone.curve({"q": {"a": 1}}, run, "R@tokens(2000)")
    assert "R@tokens(1000,2000)" in str(caught.value)


def test_a_labelled_table_has_costs_too() -> None:
    """R and P are those of judgments and run; the ideal list holds all labels, and the name says so."""
    judged, run = world(7)
    judged = judged.unique(["query_id", "doc_id"], keep="first", maintain_order=True)
    grade = pl.col("relevance").fill_null(0)
    table = run.join(
        judged.drop("tokens"), on=["query_id", "doc_id"], how="left"
    ).with_columns(grade)
    within = table.select("query_id", "doc_id", "relevance")
    measures = "P@tokens(2.5) R@tokens(2.5)"
    labelled = (
        evaluate(table=table, measures=measures, ties="docid_desc")
        .per_query["value"]
        .to_list()
    )
    assert labelled == evaluate(within, run, measures).per_query["value"].to_list()
    scores = evaluate(table=table, measures="nDCG@tokens(2.5)", ties="docid_desc")
    assert [str(measure) for measure in scores.measures] == [
        "nDCG(ideal_depth=all)@tokens(2.5)"
    ]


def test_lists_without_costs_are_refused() -> None:
    """Arrays of a training loop have scores and labels, and no costs."""
    with pytest.raises(BadParameter, match="needs the costs of documents"):
        arrays.evaluate([[2.0, 1.0]], [[0, 1]], "R@tokens(5)", ties="input")


def test_what_reads_below_the_cutoff_takes_no_budget() -> None:
    """A measure of a pool, or one that claims to look deeper: either is enough."""

    class Below(P):
        claims = Claims(looks_deeper=True)

    for measure in (
        parse_measure("infAP@tokens(5)"),
        Below(budget=Budget("tokens", 5)),
    ):
        assert isinstance(measure, Measure)
        with pytest.raises(BadParameter, match="reads the list below the cutoff"):
            measure.check("docid_desc")
    P(budget=Budget("tokens", 5)).check("docid_desc")
