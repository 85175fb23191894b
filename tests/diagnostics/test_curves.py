"""Curves by hand: worked examples, who is left out, micro and macro, noise, crossings, targets, refusals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.rows import each

import rankstone
from rankstone import P
from rankstone.diagnostics.curve_resampling import Resampling
from rankstone.errors import BadOption, BadParameter, UsageError
from rankstone.measures.at_cutoffs import AtK, parse_curves
from rankstone.measures.core.definition import MOST_RANKS

if TYPE_CHECKING:
    from pathlib import Path

    from rankstone import Curves

Lists = dict[str, str]


def world(
    lists: Lists, **missed: int
) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Return judgments and a run of lists written as O (relevant) and X (judged, not relevant)."""
    qrels, run = {}, {}
    for query, marks in lists.items():
        docs = [f"d{rank}" for rank in range(1, len(marks) + 1)]
        qrels[query] = {
            doc: int(mark == "O") for doc, mark in zip(docs, marks, strict=True)
        }
        qrels[query] |= {f"m{i}": 1 for i in range(missed.get(query, 0))}
        run[query] = docs
    return qrels, run


def trace(
    lists: Lists,
    curves: Any = "PR",
    *,
    missed: dict[str, int] | None = None,
    **options: Any,
) -> Curves:
    qrels, run = world(lists, **missed or {})
    return rankstone.curve(qrels, run, curves, **options)


def means(curves: Curves, curve: str | None = None) -> list[float]:
    return curves.mean().filter(curve=curve or str(curves.curves[0]))["mean"].to_list()


W11, W12 = "OXOOOOXXXO", "XOXXOOOXOO"


# -- worked examples -----------------------------------------------------------------------------------
def test_the_first_list_of_the_tutorial() -> None:
    """Hits at 1, 3, 4, 5, 6, 10 of 6: precision 1 up to recall 1/6, 5/6 up to 5/6, then 6/10."""
    result = means(trace({"q": W11}))

    assert result == pytest.approx([1, 1, *[5 / 6] * 7, 6 / 10, 6 / 10])
    assert sum(result) / 11 == pytest.approx((1 * 2 + 5 / 6 * 7 + 3 / 5 * 2) / 11)
    assert sum(result) / 11 == pytest.approx(0.821212, abs=5e-7)


def test_the_second_list_of_the_tutorial() -> None:
    """Hits at 2, 5, 6, 7, 9, 10 of 6: the last one has the best precision, 6/10 at all levels."""
    assert means(trace({"q": W12})) == [6 / 10] * 11


@pytest.mark.parametrize(
    ("interp", "middle", "average"),
    [
        ("exact", [3 / 5, 3 / 5], 0.8545),
        ("trec9", [1, 3 / 5], 0.8909),
        ("trec10", [1, 1], 0.9273),
    ],
)
def test_three_readings_of_a_level(
    interp: str, middle: list[float], average: float
) -> None:
    """Hits at 1, 2, 5 of 3: who reaches recall 0.7 and 0.8 depends on how r·R is rounded."""
    result = means(trace({"q": "OOXXOXX"}, f"PR(interp={interp})"))

    assert result == [*[1] * 7, *middle, 3 / 5, 3 / 5]
    assert sum(result) / 11 == pytest.approx(average, abs=5e-5)


def test_corners_without_interpolation() -> None:
    """Both ends of every plateau: the step up at a hit, and the precision just before the next."""
    points = (
        trace({"q": "XOXXO"}, "PR(interp=none)", missed={"q": 2})
        .per_query.select("x", "y")
        .rows()
    )

    assert points == [(0, 0), (1 / 4, 1 / 2), (1 / 4, 1 / 4), (2 / 4, 2 / 5)]


def test_the_mean_over_two_queries_with_its_spread() -> None:
    """Macro mean, sample SD, SE, quantile band, least and largest at recall 0 and 1."""
    mean = trace({"a": W11, "b": W12}, "PR(levels=2)", band=(0.25, 0.75)).mean()
    first, last = mean.iter_rows(named=True)

    assert first["mean"] == (1 + 6 / 10) / 2
    assert first["sd"] == pytest.approx(math.sqrt(2 * 0.2**2))
    assert first["se"] == pytest.approx(first["sd"] / math.sqrt(2))
    assert (first["band_low"], first["band_high"]) == pytest.approx(
        (0.6 + 0.4 / 4, 1 - 0.4 / 4)
    )
    assert (first["min"], first["max"], first["n"]) == (6 / 10, 1, 2)
    assert (last["mean"], last["sd"]) == (6 / 10, 0)
    assert (first["ci_low"], first["ci_high"]) == pytest.approx((6 / 10, 1))


def test_the_micro_curve_pools_documents() -> None:
    """At each rank Σ h_k / (k · queries) over Σ h_k / Σ R; queries without a relevant document stay out."""
    value = trace({"a": "OX", "b": "XOO", "c": "XX"}).micro()

    assert value["k"].to_list() == [1, 2, 3]
    assert value["x"].to_list() == [1 / 3, 2 / 3, 3 / 3]
    assert value["y"].to_list() == [1 / 2, 2 / 4, 3 / 6]


def test_roc_corners() -> None:
    """Relevant, not, relevant, not; tied in the middle the way goes straight."""
    steps = trace({"q": "OXOX"}, "ROC(negatives=judged)")
    tied = rankstone.curve(
        {"q": {"a": 1, "b": 0, "c": 1, "d": 0}},
        {"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}},
        "ROC(negatives=judged)",
    )

    assert steps.per_query.select("x", "y").rows() == [
        (0, 0),
        (0, 1 / 2),
        (1 / 2, 1 / 2),
        (1 / 2, 1),
        (1, 1),
    ]
    assert tied.per_query.select("x", "y").rows() == [
        (0, 0),
        (0, 1 / 2),
        (1 / 2, 1),
        (1, 1),
    ]
    assert steps.mean().filter(x=0.5)["mean"].item() == 1
    assert tied.mean().filter(x=0.25)["mean"].item() == 3 / 4


# -- a measure over k ------------------------------------------------------------------------------------
FIRST_HITS = {"a": "XXO", "b": "XOX", "c": "OXX"}


def test_reciprocal_rank_over_k_and_the_cutoff_that_reaches_a_target() -> None:
    """First hits at 3, 2, 1: MRR@1, 2, 3 is 1/3, 1/2, 11/18; 0.5 is reached at 2, 0.6 at 3, 0.7 never."""
    curves = trace(FIRST_HITS, "RR@1..3")
    reached = curves.reach([0.5, 0.6, 0.7])

    assert means(curves) == [1 / 3, 1 / 2, pytest.approx(11 / 18)]
    assert reached["k"].to_list() == [2, 3, None]
    assert reached["grows"].all()
    assert reached["all_k"].null_count() == 3


def test_a_measure_that_falls_names_every_cutoff() -> None:
    """Precision of O X O over k is 1, 1/2, 2/3: at or above 0.6 at 1 and 3."""
    row = trace({"q": "OXO"}, "P@1..3").reach(0.6).row(0, named=True)

    assert (row["k"], row["grows"], row["all_k"]) == (1, False, [1, 3])


def test_success_over_k_is_the_distribution_of_the_first_relevant_rank() -> None:
    """One of three queries has its first relevant document at rank 1, two at 2 or above, three at 3."""
    assert means(trace(FIRST_HITS, "Success@1..3")) == [1 / 3, 2 / 3, 3 / 3]


def test_aggregation_is_the_measures_own() -> None:
    """Pooled recall divides all hits by all relevant documents; a sum adds up, without an interval."""
    curves = trace(
        {"a": "OX", "b": "XO"}, "R(agg=pooled)@1,2 NumRelRet@1,2", missed={"b": 2}
    )

    assert means(curves, "R(agg=pooled)@1,2") == [1 / 4, 2 / 4]
    assert means(curves, "NumRelRet@1,2") == [1, 2]
    assert curves.mean().filter(curve="NumRelRet@1,2")["ci_low"].null_count() == 2
    assert curves.reach(2).filter(curve="NumRelRet@1,2")["never"].to_list() == [None]


def test_weights_of_the_query_table_weigh_the_mean() -> None:
    """A query of weight 3 counts three times, in the mean and in every resample."""
    qrels, run = world({"a": "O", "b": "X"}, b=1)
    queries = {"a": {"weight": 3}, "b": {"weight": 1}}
    curve = rankstone.curve(qrels, run, "R(agg=weighted)@1,2", queries=queries)

    assert means(curve) == [3 / 4, 3 / 4]
    assert set(curve.mean()["ci_high"]) == {1.0}


def test_cutoffs_that_nothing_takes() -> None:
    """Cutoffs are refused where every curve has its own, and one cutoff may be a number."""
    for text in ("PR", "nDCG@1..5", "PR R@1,2"):
        with pytest.raises(UsageError, match="cutoffs are for measures without one"):
            parse_curves(text, [1, 2])
    assert [str(curve) for curve in parse_curves("PR R", 5)] == ["PR", "R@5"]


@pytest.mark.parametrize("cutoffs", ["1..4,10", (10, 4, 3, 2, 1), [1, 2, 3, 4, 10, 10]])
def test_cutoffs_in_every_spelling(cutoffs: Any) -> None:
    """Cutoffs are ordered, each once; the text names runs briefly."""
    (curve,) = parse_curves("nDCG", cutoffs)

    assert str(curve) == "nDCG@1..4,10"
    assert curve.grid().tolist() == [1, 2, 3, 4, 10]


# -- who is counted --------------------------------------------------------------------------------------
def test_queries_without_a_relevant_document_have_no_curve() -> None:
    """They are left out of PR and ROC and counted; a missing query is a curve at zero, or left out."""
    qrels, run = world({"a": "O", "b": "X", "c": "O"})
    del run["c"]
    curve = rankstone.curve(qrels, run, "PR")
    dropped = rankstone.curve(qrels, run, "PR", missing="drop", empty="drop")

    assert curve.counts().row(0)[2:] == (2, 1, 1, 0)
    assert means(curve) == [1 / 2] * 11
    assert dropped.counts().row(0)[2:] == (1, 0, 0, 0)
    assert means(dropped) == [1] * 11
    assert curve.per_query["query_id"].unique().sort().to_list() == ["a", "c"]


def test_queries_without_a_negative_have_no_roc() -> None:
    """One class only: undefined and counted."""
    curves = trace({"a": "OX", "b": "OO", "c": "XX"}, "ROC(negatives=judged)")

    assert curves.counts().row(0)[2:] == (1, 0, 1, 1)


def test_a_query_without_a_relevant_document_can_be_an_error() -> None:
    """empty=error is obeyed."""
    with pytest.raises(BadOption, match="1 query without a relevant document for PR"):
        trace({"a": "X"}, empty="error")
    with pytest.raises(BadOption, match="1 query without a relevant document for PR"):
        trace({"a": "X", "b": "OX", "c": "XO"}, empty="error")


def test_no_query_has_a_curve() -> None:
    """Means are null, nothing crosses, and nothing fails."""
    curves = trace({"a": "X", "b": "XX"})

    assert curves.mean()["mean"].null_count() == 11
    assert curves.noise()["mean"].to_list() == [None]
    assert curves.report()["counts"][0]["n"] == 0
    assert curves.crossings().is_empty()


# -- noise -----------------------------------------------------------------------------------------------
def test_noise_of_average_precision() -> None:
    """Mean, SD, SE, CV, quartiles and the share of failed queries are those of AP."""
    values = [1.0, 1 / 2, 1 / 3, 1 / 20]
    lists = {
        f"q{i}": "X" * (round(1 / value) - 1) + "O" for i, value in enumerate(values)
    }
    row = trace(lists).noise().row(0, named=True)
    mean = math.fsum(values) / 4
    sd = math.sqrt(sum((v - mean) ** 2 for v in values) / 3)

    assert (row["measure"], row["n"], row["mean"]) == ("AP", 4, mean)
    assert (row["sd"], row["se"], row["cv"]) == pytest.approx((sd, sd / 2, sd / mean))
    quartiles = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    assert [row["q25"], row["median"], row["q75"]] == pytest.approx(quartiles)
    assert (row["iqr"], row["min"], row["max"]) == pytest.approx(
        (quartiles[2] - quartiles[0], 1 / 20, 1)
    )
    assert row["failed"] == 1 / 4
    assert row["ci_low"] < mean < row["ci_high"]


# -- two runs --------------------------------------------------------------------------------------------
def two(result: Lists, other: Lists, curves: str, **options: Any) -> Curves:
    """Trace two runs over the same judgments."""
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, list[str]]] = {"a": {}, "b": {}}
    for name, lists in (("a", result), ("b", other)):
        for query, marks in lists.items():
            relevant = iter(range(99))
            docs = [
                f"r{next(relevant)}" if m == "O" else f"{name}x{i}"
                for i, m in enumerate(marks)
            ]
            qrels.setdefault(query, {}).update(
                {doc: 1 for doc in docs if doc[0] == "r"}
            )
            runs[name][query] = docs
    return rankstone.curve(qrels, runs, curves, **options)


def test_curves_cross_where_they_change_sides() -> None:
    """Together at 2 and 3, and on other sides before and behind: they cross in the middle."""
    row = two({"q": "OXXXO"}, {"q": "XOXOX"}, "R@1..5").crossings().row(0, named=True)

    assert row["x"] == (2 + 3) / 2  # recall 1/2 1/2 1/2 1/2 1 against 0 1/2 1/2 1 1
    assert (row["before"], row["after"]) == ("a", "b")
    assert (row["ci_low"], row["ci_high"], row["found"]) == (2.5, 2.5, 1.0)


def test_touching_is_no_crossing() -> None:
    """Precision 1, 1/2, 2/3 against 0, 1/2, 2/3: they meet at 2 and stay together."""
    assert two({"q": "OXO"}, {"q": "XOO"}, "P@1,2,3").crossings().is_empty()


def test_curves_are_straight_between_places() -> None:
    """A difference of 1/3 at 1 and of -2/3 at 3 is none a third of the way."""
    lists = {"p": "OXX", "q": "OXX", "r": "XXX"}, {"p": "XXO", "q": "OXO", "r": "XXO"}
    row = two(*lists, "NumRelRet(agg=mean)@1,3").crossings().row(0, named=True)

    assert row["x"] == pytest.approx(1 + 2 * (1 / 3) / (1 / 3 + 2 / 3))


def test_one_curve_above_the_other() -> None:
    """A run that is never below dominates; p counts the resamples in which it falls below."""
    lists = {f"q{i}": "OX" for i in range(6)}
    rows = two(lists, dict.fromkeys(lists, "XO"), "RR@1,2").dominance().rows(named=True)

    assert [
        (r["run"], r["above"], r["equal"], r["below"], r["dominates"]) for r in rows
    ] == [("a", 2, 0, 0, True), ("b", 0, 0, 2, False)]
    assert [r["p"] for r in rows] == [1 / 1001, 1]


def test_equal_runs_are_equal_everywhere() -> None:
    """The same run twice: no crossing, neither dominates, and no resample says otherwise."""
    comparison = two({"a": W11, "b": W12}, {"a": W11, "b": W12}, "PR RR@1..3")

    assert comparison.crossings().is_empty()
    assert comparison.dominance()["equal"].to_list() == [11, 11, 3, 3]
    assert comparison.dominance()["p"].to_list() == [1 / 1001] * 4
    assert comparison.races(0.4).row(0, named=True)["same"] == 1.0


def test_only_shared_queries_are_compared() -> None:
    """Where one run leaves a query out, the other one's curve is compared without it."""
    comparison = two({"p": "OX", "q": "XO"}, {"p": "XO"}, "RR@1,2", missing="drop")

    assert comparison.counts()["n"].to_list() == [2, 1]
    assert set(comparison.dominance()["n"]) == {1}


def test_a_race_to_a_target() -> None:
    """Which run reaches a value at the smaller cutoff, in how many resamples."""
    lists = {f"q{i}": "OX" for i in range(4)}
    row = (
        two(lists, dict.fromkeys(lists, "XO"), "Success@1,2")
        .races(1.0)
        .row(0, named=True)
    )

    assert (row["k"], row["k_other"]) == (1, 2)
    assert (row["sooner"], row["same"], row["later"]) == (1.0, 0.0, 0.0)


# -- settings -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"resamples": 0}, "resamples=0"),
        ({"resamples": 2.5}, "resamples=2.5"),
        ({"seed": -1}, "seed=-1"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"band": (0.9, 0.1)}, "band="),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    """What is no number of resamples, seed, probability or band is refused."""
    with pytest.raises(BadOption, match=message):
        trace({"q": "O"}, **settings)


def test_a_cutoff_may_be_as_deep_as_any() -> None:
    """The deepest rank there is, and no deeper one."""
    (deepest,) = parse_curves("P", [1, MOST_RANKS])
    assert str(deepest) == f"P@1,{MOST_RANKS}"
    for cutoff in (0, MOST_RANKS + 1):
        with pytest.raises(BadParameter, match="1 or more"):
            AtK(measure=P(), cutoffs=(1, cutoff))


def test_other_settings_for_the_same_curves() -> None:
    """Intervals can be computed again without reading anything."""
    curves = trace({"a": W11, "b": W12, "c": "XO"})
    wide, narrow = (
        curves.with_resampling(confidence=0.99),
        curves.with_resampling(confidence=0.5),
    )

    assert curves.resampling == Resampling()
    spans = [
        (c.mean()["ci_high"] - c.mean()["ci_low"]).sum() for c in (wide, curves, narrow)
    ]
    assert spans == sorted(spans, reverse=True)
    assert "seed 4" in curves.with_resampling(seed=4).resampling_line()


# -- refusals --------------------------------------------------------------------------------------------
@each(
    ("curve", "message"),
    [
        ("nDCG@10", r"nDCG@10 is one point of a curve"),
        ("Rprec", "takes no cutoff"),
        ("RBO(p=0.9)", "has no curve over k"),
        ("ROC", "ROC needs negatives"),
        ("ROC(negatives=judged)@5", "takes no cutoff"),
        ("PR(levels=1)", "are not recall levels"),
        ("PR(levels={0.5, 1.5})", "are not recall levels"),
        ("nDCG@5..1", "is not a cutoff"),
        ("nDCG@1..99999999", "is not a cutoff"),
        ("nonsense", "no measure"),
        ("", "no curve given"),
    ],
)
def test_what_is_no_curve_is_refused(curve: str, message: str) -> None:
    """With a sentence that says why."""
    with pytest.raises(UsageError, match=message):
        trace({"q": "O"}, curve)


def test_evaluate_refuses_curves_and_says_where_they_belong() -> None:
    """A curve is not a sum over a norm."""
    with pytest.raises(BadParameter, match="rankstone curve QRELS RUN"):
        rankstone.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "PR")


@pytest.mark.parametrize("curve", ["PR", "PR(interp=none)@3", "AP(denom=hits)@1..3"])
def test_open_ties_are_refused_where_nothing_is_known(curve: str) -> None:
    """The highest of several precisions has no closed form over tied documents."""
    with pytest.raises(BadOption, match="closed form"):
        rankstone.curve(
            {"q": {"d": 1}}, {"q": {"d": 1.0, "e": 1.0}}, curve, ties="expected"
        )


def test_thresholds_are_known_under_open_ties() -> None:
    """PR(interp=none) has points between tie blocks only; its means stand there, too."""
    table = pl.DataFrame({"query_id": "q", "score": [2, 2, 1], "label": [1, 0, 1]})
    curve = rankstone.curve(table=table, curves="PR(interp=none, levels=3)")

    assert curve.per_query.select("x", "y").rows() == [(1 / 2, 1 / 2), (1, 2 / 3)]
    assert means(curve) == [1 / 2, 1 / 2, 2 / 3]
    assert curve.micro().is_empty()


# -- files and reports -----------------------------------------------------------------------------------
def test_points_are_written_whole(tmp_path: Path) -> None:
    """Parquet, CSV and JSON lines hold every query's points; JSON holds everything else."""
    curves = trace({"a": W11, "b": "X"}, "PR(levels=2) RR@1,2")
    for name, write, read in (
        ("a.parquet", curves.write, pl.read_parquet),
        ("a.csv", curves.write, pl.read_csv),
        ("a.jsonl", curves.write, pl.read_ndjson),
    ):
        write(tmp_path / name)
        assert read(tmp_path / name).rows() == curves.per_query.rows()
    curves.write(tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    assert '"seed": 0' in text
    assert "NaN" not in text


def test_a_report_is_shown() -> None:
    """The console shows a table per curve, the audit and the seed."""
    shown = repr(trace({"a": W11}, "PR RR@1,2"))

    assert "RR@1,2" in shown
    assert "audit" not in shown
    assert "seed 0" in shown
