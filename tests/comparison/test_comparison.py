"""Comparisons: who is held against whom, in which families, and what is stated."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.rows import each

import rankstone
from rankstone import compare, compare_scores, demo, intervals, power
from rankstone.comparison.pairwise_tests import _together
from rankstone.comparison.score_matrix import Matrix, systems_of
from rankstone.errors import (
    BadOption,
    DuplicateRows,
    NotComparable,
    RankstoneError,
    UsageError,
)
from rankstone.stats import adjusted, verdict
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from pathlib import Path

Scores = dict[str, dict[str, dict[str, float]]]


def scores(
    gains: dict[str, float], queries: int = 40, seed: int = 1, noise: float = 0.1
) -> Scores:
    """Return systems' scores: a query's level, a system's gain, and noise."""
    draw = np.random.default_rng(seed)
    level = draw.random(queries)
    return {
        system: {
            f"q{index}": {"m": float(level[index] + gain + draw.normal(0, noise))}
            for index in range(queries)
        }
        for system, gain in gains.items()
    }


def rows(comparison: rankstone.Comparison, *columns: str) -> list[tuple[Any, ...]]:
    return comparison.table.select(columns).rows()


def test_two_systems_are_one_question() -> None:
    """The first is what the second is held against."""
    comparison = compare_scores(scores({"old": 0.0, "new": 0.1}))

    assert rows(comparison, "system", "versus", "family", "verdict") == [
        ("new", "old", 1, "better")
    ]
    assert comparison.baseline == "old"


def test_a_baseline_is_held_against_every_other() -> None:
    """One family of the m - 1 questions: the largest t of these pairs, or Holm where that is chosen."""
    systems = scores({"a": 0.0, "b": 0.02, "c": 0.2})
    comparison = compare_scores(systems, baseline="b")
    by_holm = compare_scores(systems, baseline="b", correction="holm")

    assert rows(comparison, "system", "versus") == [("a", "b"), ("c", "b")]
    assert comparison.families[0].correction == "flipped_max_t"
    p = comparison.table["p"].to_numpy()
    assert (comparison.table["p_adjusted"].to_numpy() >= p).all()
    assert by_holm.table["p_adjusted"].to_list() == adjusted(p).tolist()


def test_several_baselines_are_one_family() -> None:
    """Every pair that holds one of them, each once; the numbers of a pair are those it always has."""
    systems = scores({"a": 0.0, "b": 0.02, "c": 0.2, "d": 0.1})
    comparison = compare_scores(systems, baseline=["b", "d", "b"])

    pairs = [("a", "b"), ("c", "b"), ("d", "b"), ("a", "d"), ("c", "d")]
    assert rows(comparison, "system", "versus") == pairs
    assert comparison.baselines == ("b", "d")
    assert set(comparison.table["family"]) == {len(pairs)}
    alone = pl.concat(
        compare_scores(systems, baseline=name).table for name in comparison.baselines
    )
    same = ["system", "versus", "difference", "p", "wins", "low_alone", "high_alone"]
    expected = alone.filter(~((pl.col("system") == "b") & (pl.col("versus") == "d")))
    assert comparison.table.select(same).equals(expected.select(same))
    before = dict(zip(pairs, expected["p_adjusted"], strict=True))
    together = dict(zip(pairs, comparison.table["p_adjusted"], strict=True))
    assert all(together[pair] >= p for pair, p in before.items())
    assert comparison.report()["baseline"] == ["b", "d"]
    assert not comparison.letters("m")
    assert compare_scores(systems, baseline=[]).baselines == ()
    with pytest.raises(UsageError, match="no system 'bb'"):
        compare_scores(systems, baseline=["b", "bb"])


def test_each_baseline_is_seen_against_the_others() -> None:
    """Leaderboards, tables and marks of each: what b is to d, d is to b."""
    systems = {"a": 0.0, "b": 0.02, "c": 0.2, "d": 0.1}
    comparison = compare_scores(scores(systems), baseline=["b", "d"])

    def seen(versus: str) -> dict[str, tuple[Any, ...]]:
        board = comparison.leaderboard(versus=versus)
        columns = ("system", "verdict", "wins", "losses")
        return {row[0]: row[1:] for row in board.select(columns).iter_rows()}

    versus_b, versus_d = seen("b"), seen("d")
    assert versus_b["d"][0] == "better"
    assert versus_d["b"][0] == "worse"
    assert versus_b["d"][1:] == versus_d["b"][:0:-1]
    assert versus_b["b"] == versus_d["d"] == (None, None, None)
    assert comparison.leaderboard().equals(comparison.leaderboard(versus="b"))
    with pytest.raises(UsageError, match="'x'"):
        comparison.leaderboard(versus="x")
    text = comparison.text()
    assert text.index("Differences from b") < text.index("Differences from d")
    latex = comparison.to_latex("means", caption=True)
    assert "than b (1), d (2)." in latex
    [best] = [line for line in latex.splitlines() if line.startswith("c ")]
    assert r"$^{\dagger_{1}\dagger_{2}}$" in best
    many = {f"s{number}": number / 20 for number in range(14)}
    board = compare_scores(scores(many), baseline=["s3", "s9"])
    markdown = board.to_markdown()
    assert "W/T/L (s3)" in markdown.replace("\\", "")
    assert "W/T/L (s9)" in markdown.replace("\\", "")
    assert "verdict (s3)" in markdown.replace("\\", "")
    assert "verdict (s9)" in markdown.replace("\\", "")


def test_all_pairs_without_a_baseline() -> None:
    """Three systems are three pairs, in one family; with other intervals two procedures have to confirm."""
    comparison = compare_scores(
        scores({"a": 0.0, "b": 0.02, "c": 0.2}), permutations=2000
    )

    assert rows(comparison, "system", "versus") == [("b", "a"), ("c", "a"), ("c", "b")]
    assert comparison.families[0].correction == "flipped_max_t"
    assert comparison.baseline is None
    assert comparison.families[0].permutations == 2000
    other = compare_scores(
        scores({"a": 0.0, "b": 0.02, "c": 0.2}), permutations=500, interval="auto"
    )
    assert other.families[0].correction == "robust_tukey"


def test_verdicts_follow_the_interval() -> None:
    """Every row's verdict is what its interval says, whatever the correction."""
    data = scores({"a": 0.0, "b": 0.03, "c": 0.06, "d": -0.04}, queries=25)
    words: list[dict[str, Any]] = [
        {},
        {"baseline": "a"},
        {"correction": "bh"},
        {"correction": "hsd"},
    ]
    for options in [*words, {"interval": "bca"}, {"margin": 0.05, "baseline": "b"}]:
        comparison = compare_scores(data, permutations=999, resamples=500, **options)
        margin = options.get("margin")
        for low, high, word in rows(comparison, "low", "high", "verdict"):
            assert word == verdict((low, high), "higher", margin)


@pytest.mark.parametrize(
    "correction",
    [
        "holm",
        "bonferroni",
        "holm_sidak",
        "sidak",
        "hochberg",
        "hommel",
        "bh",
        "by",
        "none",
        "hsd",
        "nemenyi",
    ],
)
def test_p_and_interval_draw_one_line(correction: str) -> None:
    """With t as the test, an adjusted p of at most 0.05 is an interval without 0."""
    for seed in range(8):
        data = scores(
            {"a": 0.0, "b": 0.02, "c": 0.04, "d": 0.06}, queries=30, seed=seed
        )
        comparison = compare_scores(data, test="t", interval="t", correction=correction)
        for p, low, high in rows(comparison, "p_adjusted", "low", "high"):
            assert (p <= 0.05) == (low > 0 or high < 0)


@pytest.mark.parametrize("correction", ["robust_tukey", "tukey", "max_t"])
def test_all_pairs_and_their_intervals_draw_one_line(correction: str) -> None:
    """A pair's p is at most 0.05 exactly where its simultaneous interval is without 0."""
    claims = 0
    for seed in range(5):
        data = scores(
            {"a": 0.0, "b": 0.02, "c": 0.04, "d": 0.06}, queries=30, seed=seed
        )
        comparison = compare_scores(
            data, correction=correction, permutations=2000, resamples=2000
        )
        for p, low, high in rows(comparison, "p_adjusted", "low", "high"):
            assert (p <= 0.05) == (low > 0 or high < 0)
            claims += p <= 0.05
    assert claims


def test_the_default_claims_what_tukey_and_flips_claim() -> None:
    """Its p is the larger of both procedures', so it claims no more than randomised Tukey."""
    data = scores({"a": 0.0, "b": 0.02, "c": 0.04, "d": 0.06}, queries=30)
    both, tukey = (
        compare_scores(data, correction=name, permutations=2000).table
        for name in ("robust_tukey", "tukey")
    )

    assert (both["p_adjusted"] >= tukey["p_adjusted"]).all()
    assert (both["low"] <= tukey["low"]).all()
    assert (both["high"] >= tukey["high"]).all()


def test_few_queries_are_called_too_few() -> None:
    """Of four queries no sign pattern is rare enough: no interval ends, and a sentence says why."""
    comparison = compare_scores(scores({"a": 0.0, "b": 0.5, "c": 1.0}, queries=4))

    assert comparison.table["low"].is_null().all()
    assert "too few for" in comparison.text()
    # one pair cannot be fewer pairs
    alone = compare_scores(scores({"a": 0.0, "b": 0.5}, queries=4))
    assert "fewer pairs" not in alone.text()


def test_queries_without_any_weight_have_no_mean() -> None:
    """Weights of 0 leave nothing to compare; one query with a weight does."""
    judged = {"q": {"x": 1}, "p": {"x": 1}}
    runs = {"a": {"q": ["x"], "p": ["y"]}, "b": {"q": ["y"], "p": ["x"]}}
    for weight in (0.0, 2.0):
        weights = {"q": {"weight": 0.0}, "p": {"weight": weight}}
        measure = "RR(agg=weighted)"
        if weight:
            comparison = compare(judged, runs, measure, queries=weights)
            assert comparison.table["difference"].to_list() == [1.0]
            continue
        with pytest.raises(NotComparable, match="all queries have weight 0"):
            compare(judged, runs, measure, queries=weights)


def test_judged_shares_have_a_cutoff_where_no_measure_has_one() -> None:
    """Shares of judged documents are those of the first ten where only AP is compared."""
    runs = {"a": {"q": ["x"], "p": ["y"]}, "b": {"q": ["y"], "p": ["x"]}}
    comparison = compare({"q": {"x": 1}, "p": {"x": 1}}, runs, "AP")
    assert "Judged@10" in comparison.text(verbose=True)


@pytest.mark.parametrize("correction", ["hsd", "max_t", "tukey"])
def test_simultaneous_intervals_have_a_detectable_difference(correction: str) -> None:
    """It is that of t at the level that intervals of this width have."""
    data = scores({"a": 0.0, "b": 0.1, "c": 0.2}, queries=20)
    comparison = compare_scores(
        data, correction=correction, permutations=200, resamples=200
    )
    assert comparison.table["detectable"].is_not_null().all()
    assert (comparison.table["detectable"] > 0).all()


def test_what_no_query_could_show_is_stated() -> None:
    """A detectable difference above the range of the measure is none: of three queries, not of thirty."""
    few, many = (
        compare_scores(scores({"a": 0.0, "b": 0.1}, queries=n)).text() for n in (3, 60)
    )
    assert "no difference that the measure can have is detectable" in few
    assert "no difference that the measure can have" not in many
    assert "smallest difference detectable with 80 % power" in many
    # t knows a deviation of three queries, and asks for more than 1
    values = {"a": (0.0, 1.0, 0.0), "b": (1.0, 0.0, 0.5)}
    data = {
        system: {f"q{index}": {"RR": value} for index, value in enumerate(of)}
        for system, of in values.items()
    }
    comparison = compare_scores(data, test="t", interval="t")
    assert comparison.table["detectable"][0] > 1
    assert "no difference that the measure can have is detectable" in comparison.text()


def _matrix(measure: str, queries: list[str], values: list[list[float]]) -> Matrix:
    weight = np.ones(len(queries))
    names = pl.Series("query_id", queries)
    return Matrix(measure, "higher", ("a", "b"), names, np.array(values), weight)


def test_measures_tested_together_have_their_queries_in_one_order() -> None:
    """Queries of another order, or fewer, are put in the order of the first measure's."""
    first = _matrix("RR", ["q1", "q2", "q3"], [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    turned = _matrix("AP", ["q2", "q3", "q1"], [[0.3, 0.4], [0.5, 0.6], [0.1, 0.2]])
    fewer = _matrix("P", ["q3", "q1"], [[0.5, 0.6], [0.1, 0.2]])

    both = _together([first, turned])
    assert both["RR"] is first
    assert both["AP"].queries.to_list() == ["q1", "q2", "q3"]
    assert both["AP"].values.tolist() == first.values.tolist()
    three = _together([first, turned, fewer])
    for matrix in three.values():
        assert matrix.queries.to_list() == ["q1", "q3"]
        assert matrix.values.tolist() == [[0.1, 0.2], [0.5, 0.6]]


def test_identical_scores_are_called_identical() -> None:
    """Where every query has the same score of both there is nothing open; lists may differ nevertheless."""
    data = scores({"a": 0.0, "c": 0.2})
    data["b"] = data["a"]

    every: list[dict[str, Any]] = [
        {},
        {"baseline": "a"},
        {"correction": "max_t", "resamples": 500},
    ]
    for options in every:
        comparison = compare_scores(
            {name: data[name] for name in "abc"}, permutations=500, **options
        )
        assert rows(comparison, "system", "versus", "verdict", "p_adjusted")[0] == (
            "b",
            "a",
            "identical",
            1.0,
        )
        assert (
            comparison.sentences()[0]
            == "b and a have identical scores on m for all 40 queries."
        )
    assert (
        compare_scores({name: data[name] for name in "ab"}, margin=0.5).table[
            "verdict"
        ][0]
        == "equivalent"
    )
    chinese = compare_scores({name: data[name] for name in "ab"}, lang="zh")
    assert "在全部 40 个查询上的 m 得分完全相同" in chinese.sentences()[0]


@pytest.mark.parametrize(
    ("options", "kind", "head"),
    [
        ({}, "simultaneous", "simultaneous 95 %"),
        ({"correction": "bonferroni"}, "simultaneous", "simultaneous 95 %"),
        ({"baseline": "a"}, "simultaneous", "simultaneous 95 %"),
        (
            {"baseline": "a", "correction": "holm"},
            "pointwise",
            "pointwise 97.5 % interval",
        ),
        ({"correction": "none"}, "pointwise", "pointwise 95 % interval"),
        ({"lang": "zh"}, "simultaneous", "95 % 同时区间"),
    ],
)
def test_intervals_are_named_for_what_they_hold(
    options: dict[str, Any], kind: str, head: str
) -> None:
    """Holm's intervals hold one by one, those of all pairs and Bonferroni together; every table says so."""
    comparison = compare_scores(
        scores({"a": 0.0, "b": 0.0, "c": 0.0}), permutations=500, **options
    )

    assert set(comparison.table["interval_kind"]) == {kind}
    assert comparison.report()["families"][0]["interval_kind"] == kind
    for text in (comparison.to_markdown(), comparison.to_html()):
        assert head in text
    assert head.replace("%", r"\%") in comparison.to_latex()


def test_one_question_needs_no_word_about_others() -> None:
    """A single interval is neither pointwise nor simultaneous."""
    text = compare_scores(scores({"a": 0.0, "b": 0.1})).text()

    assert "95 % interval" in text
    assert "pointwise" not in text
    assert "simultaneous" not in text


def test_mean_ranks_are_compared_by_nemenyi() -> None:
    """Differences are of mean ranks, from 1 to the number of systems, and the sentence says so."""
    comparison = compare_scores(
        scores({"a": 0.0, "b": 0.5, "c": 1.0}, noise=0.01), correction="nemenyi"
    )

    assert rows(comparison, "system", "versus", "difference")[1] == (
        "c",
        "a",
        pytest.approx(2.0),
    )
    assert "difference of mean ranks" in comparison.sentences()[1]
    with pytest.raises(BadOption, match="margin"):
        compare_scores(
            scores({"a": 0.0, "b": 0.5, "c": 1.0}), correction="nemenyi", margin=0.1
        )
    two = {
        name: {q: {"x": value["m"], "y": value["m"]} for q, value in each.items()}
        for name, each in scores({"a": 0.0, "b": 0.5, "c": 1.0}).items()
    }
    with pytest.raises(BadOption, match="one primary measure"):
        compare_scores(two, primary="x y", correction="nemenyi")


def test_friedman_is_part_of_a_comparison() -> None:
    """Friedman's test of every measure is a table, and in the JSON."""
    data = scores({"a": 0.0, "b": 0.1, "c": 0.2})
    comparison = compare_scores(data, permutations=500)
    table = np.array([[value["m"] for value in data[name].values()] for name in "abc"])

    peer = stats.friedmanchisquare(*table)
    assert comparison.friedman["chi_square"][0] == pytest.approx(peer.statistic)
    assert comparison.report()["friedman"][0]["p_chi_square"] == pytest.approx(
        peer.pvalue
    )


def test_families_do_not_touch_each_other() -> None:
    """Measures whose shuffles are shared get what each gets alone."""
    both = {
        name: {q: {"x": value["m"], "y": value["m"] ** 2} for q, value in each.items()}
        for name, each in scores({"a": 0.0, "b": 0.02, "c": 0.2}).items()
    }
    lines = ("system", "versus", "p_adjusted", "low", "high")
    together = compare_scores(both, permutations=2000).table

    for measure in ("x", "y"):
        alone = compare_scores(both, measure, permutations=2000).table
        assert (
            together.filter(measure=measure).select(lines).equals(alone.select(lines))
        )


def test_other_tests_answer_the_same_questions() -> None:
    """The requested test stands beside the others; they agree where there is no doubt."""
    comparison = compare_scores(scores({"a": 0.0, "b": 0.5, "c": 0.001}), baseline="a")
    by_test = comparison.by_test

    assert by_test.columns == [
        "measure",
        "system",
        "versus",
        "randomisation",
        "t",
        "wilcoxon",
        "sign",
        "mcnemar",
        "agree",
    ]
    assert by_test["randomisation"].to_list() == comparison.table["p"].to_list()
    assert by_test["t"].to_list() == comparison.table["p_t"].to_list()
    assert by_test["mcnemar"].to_list() == [None, None]
    assert by_test["agree"][0] is True
    sign = stats.binomtest(
        int(comparison.table["wins"][1]), int(comparison.table["n"][1])
    ).pvalue
    assert math.isclose(by_test["sign"][1], sign, rel_tol=1e-12)


def test_less_can_be_better() -> None:
    """Where lower is better, a system that is below is better and wins."""
    qrels = {f"q{index}": {"d": 1} for index in range(30)}
    deep = {f"q{index}": [*"abcfgh"[: index % 3 + 3], "d"] for index in range(30)}
    high = {f"q{index}": ["d"] for index in range(30)}
    comparison = compare(qrels, {"deep": deep, "high": high}, "LastRel")
    row = comparison.table.row(0, named=True)

    assert row["difference"] < 0
    assert (row["verdict"], row["wins"], row["losses"]) == ("better", 30, 0)


@each(
    ("ends", "direction", "margin", "word"),
    [
        ((0.01, 0.2), "higher", None, "better"),
        ((0.01, 0.2), "lower", None, "worse"),
        ((-0.2, -0.01), "neither", None, "lower"),
        ((-0.01, 0.2), "higher", None, "inconclusive"),
        ((-0.01, 0.02), "higher", 0.03, "equivalent"),
        ((0.01, 0.02), "higher", 0.03, "equivalent"),
        ((0.01, 0.04), "higher", 0.03, "better"),
        ((math.nan, math.nan), "higher", 0.03, "inconclusive"),
    ],
)
def test_words(
    ends: tuple[float, float], direction: str, margin: float | None, word: str
) -> None:
    """Better and worse exclude 0; equivalent lies within the margin; all else is open."""
    assert verdict(ends, direction, margin) == word


def test_queries_are_brought_together_by_id() -> None:
    """The order of rows plays no part; queries that one system lacks are left out and counted."""
    data = scores({"a": 0.0, "b": 0.1})
    turned = {**data, "b": dict(reversed(list(data["b"].items())))}
    short = {
        **data,
        "b": {query: value for query, value in data["b"].items() if query != "q7"},
    }

    assert compare_scores(turned).table.equals(compare_scores(data).table)
    assert rows(compare_scores(short), "n", "left_out") == [(39, 1)]


def test_undefined_is_no_score() -> None:
    """A query whose score is NaN for one system is left out, not zero."""
    data = scores({"a": 0.0, "b": 0.1})
    data["a"]["q3"]["m"] = math.nan

    assert rows(compare_scores(data), "n", "left_out") == [(39, 1)]


@pytest.mark.parametrize("nothing", ["", " ", "NaN", None])
def test_texts_of_saved_scores(nothing: str | None) -> None:
    """Numbers may be texts; an empty one is no value."""
    comparison = compare_scores(
        pl.DataFrame(
            {
                "run": ["a", "a", "a", "b", "b", "b"],
                "query_id": ["1", "2", "3"] * 2,
                "measure": ["RR"] * 6,
                "value": [nothing, "1", " 0.5 ", "0.25", "0.5", "1e0"],
            }
        )
    )
    assert comparison.table["n"].to_list() == [2]
    assert comparison.table["difference"].to_list() == [0.0]


def test_exploratory_measures_are_families_of_their_own() -> None:
    """The primary family does not grow with what else is looked at."""
    comparison = compare(demo.QRELS, demo.RUNS, "nDCG@10 AP RR", primary="AP")

    assert rows(comparison, "measure", "role", "family") == [
        ("AP", "primary", 1),
        ("nDCG@10", "exploratory", 1),
        ("RR", "exploratory", 1),
    ]


def test_several_primary_measures_are_one_family() -> None:
    """Two measures are two questions, and intervals widen with them."""
    comparison = compare(
        demo.QRELS,
        demo.RUNS,
        "nDCG@10 AP",
        primary="nDCG@10 AP",
        correction="bonferroni",
    )
    row = comparison.table.row(0, named=True)

    assert comparison.table["family"].to_list() == [2, 2]
    assert row["low"] < row["low_alone"] < row["high_alone"] < row["high"]


def test_means_are_those_of_evaluate() -> None:
    """A comparison shows the very means that evaluation gives."""
    comparison = compare(demo.QRELS, demo.RUNS, "nDCG@10 AP")
    means = rankstone.evaluate(demo.QRELS, demo.RUNS, "nDCG@10 AP").to_dict()

    for system, measure, mean in (
        comparison.mean().select("system", "measure", "mean").rows()
    ):
        assert mean == means[system][measure]


def test_weights_count() -> None:
    """agg=weighted is compared as a weighted mean."""
    options = {
        query: {"weight": index % 3} for index, query in enumerate(json.loads(_ids()))
    }
    comparison = compare(demo.QRELS, demo.RUNS, "AP(agg=weighted)", queries=options)
    means = rankstone.evaluate(
        demo.QRELS, demo.RUNS, "AP(agg=weighted)", queries=options
    ).to_dict()
    row = comparison.table.row(0, named=True)

    assert row["mean"] == pytest.approx(means["tfidf"]["AP(agg=weighted)"], rel=1e-12)
    assert row["difference"] == pytest.approx(
        row["mean"] - row["mean_versus"], abs=1e-15
    )


def _ids() -> str:
    scores = rankstone.evaluate(demo.QRELS, demo.RUNS, "AP")
    return json.dumps(
        scores.per_query["query_id"].unique(maintain_order=True).to_list()
    )


def test_means_only() -> None:
    """What queries do not become by a mean is refused, with what to do."""
    with pytest.raises(BadOption, match="use agg=mean"):
        compare(demo.QRELS, demo.RUNS, "AP(agg=gmean)")


def test_clusters_are_the_units() -> None:
    """Users with four queries each: as many units as users, and a wider interval."""
    draw = np.random.default_rng(3)
    taste = np.repeat(draw.normal(0, 0.2, 15), 4)
    data = {
        "a": {f"q{index}": {"m": 0.5} for index in range(60)},
        "b": {
            f"q{index}": {"m": 0.5 + float(taste[index]) + 0.01 * (index % 4)}
            for index in range(60)
        },
    }
    users = {f"q{index}": {"user": index // 4} for index in range(60)}
    alone, clustered = (
        compare_scores(data),
        compare_scores(data, queries=users, cluster="user"),
    )
    width, wide = (
        case.table["high"][0] - case.table["low"][0] for case in (alone, clustered)
    )

    assert rows(clustered, "n", "units") == [(60, 15)]
    assert wide > 1.5 * width
    assert clustered.table["difference"][0] == pytest.approx(
        alone.table["difference"][0], abs=1e-12
    )


def test_the_order_of_queries_is_nothing_to_the_poisson_bootstrap() -> None:
    """Clusters, and queries in none, are drawn by name: turned around, not a digit is another."""
    data = scores({"a": 0.0, "b": 0.05})
    users = {
        f"q{index}": {"user": None if index % 5 == 0 else f"u{index % 7}"}
        for index in range(40)
    }
    turned = {system: dict(reversed(values.items())) for system, values in data.items()}
    first, other = (
        compare_scores(
            subset, queries=users, cluster="user", interval="poisson", resamples=500
        )
        for subset in (data, turned)
    )
    assert rows(first, "difference", "low", "high", "error") == rows(
        other, "difference", "low", "high", "error"
    )
    assert first.table["units"][0] == 7 + 8


def test_segments_are_a_family() -> None:
    """Two countries are two questions, corrected by Holm, beside the one about all queries."""
    about = {
        f"q{index}": {"country": "de" if index % 2 else "fr"} for index in range(40)
    }
    comparison = compare_scores(
        scores({"a": 0.0, "b": 0.1}), queries=about, by="country"
    )
    assert comparison.segments is not None

    assert comparison.segments.select("country", "n", "family").rows() == [
        ("de", 20, 2),
        ("fr", 20, 2),
    ]
    assert (
        comparison.segments["p_adjusted"].to_list()
        == adjusted(comparison.segments["p"].to_numpy()).tolist()
    )
    assert comparison.table["family"].to_list() == [1]


def test_runs_of_one_system() -> None:
    """Seeds become one system; what varies between them widens the interval."""
    data = scores({"base": 0.0, "new/1": 0.02, "new/2": 0.1, "new/3": 0.18}, noise=0.02)
    comparison = compare_scores(data)
    alone = compare_scores({"base": data["base"], "new/2": data["new/2"]})
    means = comparison.mean().filter(system="new").row(0, named=True)

    assert rows(comparison, "system", "versus") == [("new", "base")]
    assert means["runs"] == 3
    assert means["sd"] == pytest.approx(0.08, abs=0.02)
    assert comparison.families[0].test == "t, queries and runs"
    assert comparison.table["high"][0] - comparison.table["low"][0] > 3 * (
        alone.table["high"][0] - alone.table["low"][0]
    )
    assert rows(comparison, "verdict", "needed", "detectable") == [
        ("inconclusive", None, None)
    ]
    with pytest.raises(BadOption, match="does not depend on the number of queries"):
        power(comparison, 0.1)


def test_folds_are_one_run_in_parts() -> None:
    """Runs that answer different queries say nothing of how runs vary."""
    data = scores({"a": 0.0, "b": 0.1})
    halves = {"a": data["a"]}
    for part in (0, 1):
        halves[f"b/{part}"] = {
            query: value
            for query, value in data["b"].items()
            if int(query[1:]) % 2 == part
        }
    columns = ("difference", "low", "high", "p", "n")

    assert rows(compare_scores(halves), *columns) == rows(
        compare_scores(data), *columns
    )


def test_names_with_a_stroke() -> None:
    """Only names that share what stands before one stroke are runs of one system."""
    assert systems_of(["a/x", "b/x"]) == {"a/x": ["a/x"], "b/x": ["b/x"]}
    assert systems_of(["a/x", "a/y", "b"]) == {"a": ["a/x", "a/y"], "b": ["b"]}
    assert systems_of(["a/x", "a/y"]) == {"a/x": ["a/x"], "a/y": ["a/y"]}
    assert list(systems_of(["r/a/x", "r/a/y", "b"])) == ["r/a/x", "r/a/y", "b"]


def test_pool_bias_is_reported() -> None:
    """The demo's tf-idf run shows fewer judged documents, so it may be underestimated."""
    comparison = compare(demo.QRELS, demo.RUNS, "nDCG@10")
    judged = dict(comparison.mean().select("system", "judged").rows())

    assert comparison.pool_bias == [("tfidf", "bm25")]
    assert judged["tfidf"] < judged["bm25"]


def shares(n: int, queries: int = 60) -> dict[str, dict[str, float]]:
    """Return lists of ten with 2n documents that are judged, and one fewer for a query in n + 1."""
    judged = {f"q{q}": 2 * n - (q % (n + 1) == 0) for q in range(queries)}
    return {
        q: {f"d{i}" if i < many else f"x{i}": -i for i in range(10)}
        for q, many in judged.items()
    }


@pytest.mark.parametrize(
    ("grades", "measure", "alone"),
    [
        ((1, 2), "nDCG@10", True),
        ((1, 2), "P(rel=2)@10", False),
        ((0, 1), "nDCG@10", False),
    ],
)
def test_judged_positives_are_no_bias(
    grades: tuple[int, int],
    measure: str,
    alone: bool,  # noqa: FBT001
) -> None:
    """Where only relevant documents are judged, Judged@k is P@k: that it differs is no caveat."""
    qrels = {q: {f"d{i}": grades[i % 2] for i in range(10)} for q in shares(1)}
    comparison = compare(
        qrels, {"s1": shares(1), "s2": shares(2)}, f"{measure} P@10 Judged@10"
    )
    means = {row[:2]: row[2] for row in comparison.mean().rows()}

    assert comparison.relevant_alone == alone
    assert comparison.pool_bias == ([] if alone else [("s2", "s1")])
    assert ("never judged" in " ".join(comparison.text().split())) != alone
    assert (means["s1", "P@10"] == means["s1", "Judged@10"]) == (min(grades) > 0)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_many_pairs_judged_apart_are_one_table(lang: str) -> None:
    """Five systems, ten pairs that are judged apart: a sentence that names the five, and their table with -v."""
    qrels = {f"q{q}": {f"d{i}": i % 2 for i in range(10)} for q in range(60)}
    runs = {f"s{n}": shares(n) for n in range(1, 6)}
    comparison = compare(qrels, runs, "nDCG@10", lang=lang)
    parts = comparison.sheet(verbose=True).parts
    [table] = [
        part
        for part in parts
        if isinstance(part, Table) and part.head[1] == "Judged@10"
    ]

    assert len(comparison.pool_bias) == 5 * 4 / 2
    assert [row[:2] for row in table.rows] == [
        (f"s{n}", f"{(2 * n - 1 / (n + 1)) / 10:.3f}") for n in range(5, 0, -1)
    ]
    assert [row[2:] for row in table.rows] == [
        (str(n - 1), str(5 - n)) for n in range(5, 0, -1)
    ]
    brief = " ".join(comparison.text().split())
    assert brief.count("Judged@10") == 1
    assert "10 of 10 pairs" in brief or "10 对系统中有 10 对" in brief
    assert re.findall(r"\bs\d \d\.\d{3}\b", brief) == [
        f"s{n} {(2 * n - 1 / (n + 1)) / 10:.3f}" for n in range(1, 6)
    ]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("systems", "most"), [(2, 25), (6, 45)])
def test_the_first_screen_is_short_and_verbose_has_the_rest(
    systems: int, most: int, lang: str
) -> None:
    """Of partly judged runs, which are warned about, at 80 columns; no means or pairs are lost."""
    qrels = {f"q{q}": {f"d{i}": i % 2 for i in range(10)} for q in range(60)}
    runs = {f"s{n}": shares(n) for n in range(1, systems + 1)}
    measures = "nDCG@10 AP RR P@10" if systems > 2 else "nDCG@10 AP"
    comparison = compare(qrels, runs, measures, lang=lang)
    brief = comparison.text(80)
    every = comparison.text(80, verbose=True)

    rare_losses = 3 * brief.count("--interval worst_case")
    assert len(brief.splitlines()) - rare_losses <= most
    never_judged = ("never judged", "从未标注")
    assert "Judged@10" in brief or any(
        words in brief.replace("\n  ", " ") for words in never_judged
    )
    for measure, mean in comparison.mean().select("measure", "mean").iter_rows():
        assert measure in brief
        assert f"{mean:.4f}" in brief
        assert f"{mean:.4f}" in every
    counts = re.findall(r"\d+/\d+/\d+", every)
    assert len(counts) == comparison.table.height


def test_bounds_of_the_difference() -> None:
    """What unjudged documents leave open stands beside what queries leave open."""
    comparison = compare(demo.QRELS, demo.RUNS, "nDCG@10 AP", bounds=True)
    peer = rankstone.bounds(
        demo.QRELS, demo.RUNS, "nDCG@10", difference=("tfidf", "bm25")
    ).mean()
    row = comparison.table.row(0, named=True)

    assert (row["lowest"], row["highest"]) == peer.filter(run="tfidf - bm25").select(
        "low", "high"
    ).row(0)
    assert row["lowest"] <= row["difference"] <= row["highest"]
    assert comparison.table["lowest"][1] is None


@each(
    ("runs", "options"),
    [
        (demo.RUNS, {"convention": "beir"}),
        (
            {
                "new/1": demo.RUNS["bm25"],
                "new/2": demo.RUNS["bm25"],
                "old": demo.RUNS["tfidf"],
            },
            {},
        ),
    ],
)
def test_bounds_are_those_of_own_measures_and_single_runs(
    runs: Any, options: dict[str, Any]
) -> None:
    """Another library's numbers have no bounds, and neither have several runs of one system: either is enough."""
    with pytest.raises(BadOption, match="own measures and single runs only"):
        compare(demo.QRELS, runs, "nDCG@10", bounds=True, **options)


def test_saved_scores_are_the_same_comparison(tmp_path: Path) -> None:
    """From Parquet, CSV, frames and memory: one table."""
    whole = rankstone.evaluate(demo.QRELS, demo.RUNS, "nDCG@10 AP")
    whole.write(tmp_path / "scores.parquet")
    whole.write(tmp_path / "scores.csv")
    direct = compare(demo.QRELS, demo.RUNS, "nDCG@10 AP").table

    for source in (
        whole,
        whole.per_query,
        tmp_path / "scores.parquet",
        tmp_path / "scores.csv",
    ):
        assert compare_scores(source).table.equals(direct), source


def test_what_trec_eval_prints(tmp_path: Path) -> None:
    """Lines of measure, query and value; the lines of all queries are passed over."""
    for name, gain in (("old", 0.0), ("new", 0.2)):
        lines = [
            f"map                   \tq{index}\t{0.3 + gain + index % 7 / 20:.4f}"
            for index in range(30)
        ]
        lines += [f"runid                 \tall\t{name}", "map\tall\t0.5"]
        (tmp_path / f"{name}.eval").write_text("\n".join(lines) + "\n")
    comparison = compare_scores(
        {name: tmp_path / f"{name}.eval" for name in ("old", "new")}, "AP"
    )

    assert rows(comparison, "measure", "system", "n", "verdict") == [
        ("map", "new", 30, "better")
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("map q1 0.5 x\n", "not a line of trec_eval"),
        ("map all 0.5\n", "no scores of single queries"),
    ],
)
def test_what_is_not_printed_by_trec_eval(
    tmp_path: Path, text: str, message: str
) -> None:
    """Other text is reported by line."""
    path = tmp_path / "a.eval"
    path.write_text(text)
    with pytest.raises(RankstoneError, match=message):
        compare_scores({"a": path, "b": path})


def test_two_values_for_one_query() -> None:
    """A table that gives a query twice is refused."""
    row = {"run": "a", "query_id": "q", "measure": "m", "value": 0.5}
    with pytest.raises(DuplicateRows, match="two values of m for query q"):
        compare_scores(pl.DataFrame([row, row, {**row, "run": "b"}]))


@each(
    ("options", "error", "message"),
    [
        ({"baseline": "c"}, UsageError, "no system 'c'"),
        ({"test": "tt"}, BadOption, "test='tt' is not known"),
        ({"correction": "tukey"}, BadOption, "all pairs"),
        ({"confidence": 95}, BadOption, "confidence=95"),
        ({"margin": -1}, BadOption, "margin"),
        ({"permutations": 0}, BadOption, "permutations=0"),
        ({"tries": 3}, BadOption, "is not an option of compare_scores"),
        ({"by": "country"}, BadOption, "table of queries"),
        ({"measures": "n"}, UsageError, "no scores of n"),
        ({"test": "mcnemar"}, BadOption, "0 or 1"),
        ({"seed": 2**63}, BadOption, "seed"),
    ],
)
def test_questions_without_an_answer(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    """Mistakes are reported with what was expected."""
    with pytest.raises(error, match=message):
        compare_scores(scores({"a": 0.0, "b": 0.1}), **options)


def test_one_run_is_no_comparison() -> None:
    """Two runs or more."""
    with pytest.raises(UsageError, match="two or more runs"):
        compare(demo.QRELS, {"a": demo.RUNS["bm25"]}, "AP")
    with pytest.raises(NotComparable, match="only one system"):
        compare_scores(scores({"a": 0.0}))


def test_the_report_is_json() -> None:
    """Everything in it can be written as JSON, without NaN."""
    for permutations in (None, 50):
        data = scores({"a": 0.0, "b": 0.1, "c": 0.1})
        page = compare_scores(data, permutations=permutations).report()
        assert json.loads(json.dumps(page, allow_nan=False))["systems"] == [
            "a",
            "b",
            "c",
        ]


def test_per_query_differences() -> None:
    """The rows that differences are means of."""
    comparison = compare(demo.QRELS, demo.RUNS, "nDCG@10")

    assert comparison.per_query["difference"].mean() == pytest.approx(
        comparison.table["difference"][0], abs=1e-15
    )
    assert comparison.hashes().keys() == {"judgments", "bm25", "tfidf"}


def test_what_would_decide() -> None:
    """An inconclusive comparison says how many queries would show a difference of this size."""
    comparison = compare_scores(scores({"a": 0.0, "b": 0.02}, noise=0.15), interval="t")
    row = comparison.table.row(0, named=True)

    assert row["verdict"] == "inconclusive"
    assert row["needed"] > row["n"]
    assert row["needed"] == rankstone.stats.needed(row["d_z"])


def test_planning() -> None:
    """More queries for smaller differences; a pilot's deviation is taken with caution, and families cost."""
    comparison = compare_scores(scores({"a": 0.0, "b": 0.02}, noise=0.15), interval="t")
    table = power(comparison, [0.02, 0.05]).table
    first, four = (
        power(0.2, 0.05, comparisons=size).table["needed"][0] for size in (1, 4)
    )

    assert table["needed"][0] > table["needed"][1]
    assert (table["needed_cautious"] > table["needed"]).all()
    assert table["deviation"][0] == pytest.approx(
        comparison.per_query["difference"].std(), rel=1e-12
    )
    assert first < four
    with pytest.raises(BadOption):
        power(0.2, 0.0)


@pytest.mark.parametrize(
    "interval", ["t", "bca", "percentile", "studentised", "poisson"]
)
def test_intervals_of_single_systems(interval: str) -> None:
    """Every mean lies in its interval, and what is no mean has none."""
    evaluation = rankstone.evaluate(demo.QRELS, demo.RUNS, "nDCG@10 AP NumRet")
    table = intervals(evaluation, interval=interval, resamples=500)
    means = evaluation.mean().filter(pl.col("measure") != "NumRet")

    assert (
        table.filter(pl.col("measure") != "NumRet")["value"].to_list()
        == means["value"].to_list()
    )
    known = table.filter(pl.col("measure") != "NumRet")
    assert ((known["low"] < known["value"]) & (known["value"] < known["high"])).all()


def test_letters_have_one_meaning(tmp_path: Path) -> None:
    """Terminal, frame, LaTeX and page show the same letters, and no letter names a system."""
    comparison = compare_scores(
        scores({"x": 0.0, "y": 0.3, "z": 0.6}, noise=0.02), permutations=2000
    )
    letter = dict(comparison.leaderboard().select("system", "letters").rows())
    rankstone.report(comparison, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    latex = comparison.to_latex(table="means")

    assert letter == {"z": "a", "y": "b", "x": "c"}
    for system, mean in comparison.mean().select("system", "mean").iter_rows():
        assert re.search(
            rf"{system} +{mean:.4f} .*\] +{letter[system]}", comparison.text()
        )
        assert re.search(
            rf"{system} & \S*{mean:.4f}\S* & \$\^{{\\mathrm{{{letter[system]}}}}}\$",
            latex,
        )
        assert re.search(
            rf'<td class="group">{letter[system]}</td>\s*<th[^>]*>{system}<', page
        )
    assert not re.search(r"\b[a-c] − [a-c]\b", comparison.text())
    assert "share a letter" in comparison.text()


def test_letters_need_three_systems_without_a_baseline() -> None:
    """A pair has its verdict, and against a baseline the others are not compared."""
    data = scores({"x": 0.0, "y": 0.3, "z": 0.6}, noise=0.02)
    pair = compare_scores({name: data[name] for name in ("x", "y")})

    assert "letter" not in pair.text()
    assert "letter" not in compare_scores(data, baseline="x").text()


def test_borderline_is_reported() -> None:
    """Where the test and another interval disagree, the reader hears that the interval decides.

    By default the test decides, and what it assumes is stated.
    """
    data = {"a": {f"q{index}": {"m": 0.0} for index in range(8)}}
    data["b"] = {
        f"q{index}": {"m": value} for index, value in enumerate([0.01] * 7 + [0.5])
    }
    comparison = compare_scores(data, interval="auto")
    row = comparison.table.row(0, named=True)

    assert row["p"] <= 0.05
    assert row["verdict"] == "inconclusive"
    assert "the test and the interval disagree" in " ".join(comparison.text().split())
    decided = compare_scores(data)
    assert decided.table["verdict"].item() == "better"
    text = " ".join(decided.text().split())
    assert "the test and the interval disagree" not in text
    # 1 - .025^(1/8): so many queries may lose while eight show no loss
    assert "a loss of 1 on up to 37 % of queries is not excluded" in text


def test_names_are_untrusted() -> None:
    """A name that holds a terminal's escapes is shown, not obeyed."""
    comparison = compare_scores(scores({"a\x1b[31m": 0.0, "b": 0.1}))

    assert "\x1b" not in comparison.text()
    assert (
        "<script>" not in compare_scores(scores({"<script>": 0.0, "b": 0.1})).to_html()
    )


def test_a_pilot_without_differences_is_a_guess() -> None:
    """No spread is no reason to plan with two queries: nothing can be planned with it, and that is stated."""
    same = {f"q{index}": {"m": index / 50} for index in range(50)}
    plan = power(compare_scores({"a": same, "b": dict(same)}), [0.05])

    assert plan.table.select("needed", "needed_cautious", "detectable").row(0) == (
        None,
        None,
        None,
    )
    assert plan.notes[0].startswith("b and a differ on 0 of 50 queries by m")
    assert plan.notes[0] in " ".join(plan.text(200).split())


def test_planning_counts_clusters() -> None:
    """Queries that go with their user: more of them are needed than of independent ones."""
    draw = np.random.default_rng(2)
    user = draw.normal(0, 0.2, 12).repeat(5)
    noise = draw.normal(0, 0.02, 60)
    old = {f"q{index}": {"m": 0.5} for index in range(60)}
    new = {f"q{index}": {"m": 0.5 + user[index] + noise[index]} for index in range(60)}
    about = {f"q{index}": {"user": f"u{index // 5}"} for index in range(60)}
    alone = power(compare_scores({"a": old, "b": new}), 0.05).table["needed"][0]
    clustered = compare_scores({"a": old, "b": new}, queries=about, cluster="user")

    assert power(clustered, 0.05).table["needed"][0] > 2 * alone


def test_advice_on_the_correction_can_be_followed() -> None:
    """`robust_tukey` compares all pairs, so it is no advice where there is a baseline."""
    systems = scores({"a": 0.0, "b": 0.1, "c": 0.2})
    advice = "--correction robust_tukey"

    assert advice in " ".join(compare_scores(systems).text().split())
    assert compare_scores(systems, correction="robust_tukey").baselines == ()
    against = compare_scores(systems, baseline="a")
    assert advice not in " ".join(against.text().split())


def test_a_probability_beside_the_test() -> None:
    """Of practical differences: three shares a pair in text and JSON, never 1.00 of few queries."""
    systems = {"a": 0.0, "b": 0.2}
    few = compare_scores(scores(systems), rope=0.01)
    [row] = few.practical_probability().iter_rows(named=True)

    assert row["better"] > 0.99
    assert row["worse"] + row["equivalent"] + row["better"] == pytest.approx(1)
    assert ">0.99" in few.text()
    assert "1.00" not in few.text().split("Bayesian")[1].split("Method")[0]
    assert few.report()["practical"] is not None
    assert "±0.01" in compare_scores(scores(systems), rope=0.01, lang="zh").text()
    without = compare_scores(scores(systems))
    assert not len(without.practical_probability())
    assert without.table.equals(few.table)
    with pytest.raises(BadOption, match="rope=-1 is out of range"):
        compare_scores(scores(systems), rope=-1)
