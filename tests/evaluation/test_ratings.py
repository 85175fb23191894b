"""Ratings as judgments: missing ones, short lists, hit ratios, sampled candidates."""

from __future__ import annotations

import gzip
import math
from statistics import mean, median
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.oracle.worlds import close
from tests.real_data import data

import rankstone
from rankstone import evaluate, sampled, thresholds
from rankstone.errors import BadOption, BadParameter, BadValue, NotComparable
from rankstone.rankings import correct_sampled

#: three of five items are rated; the others come from users who rated these
RATINGS = {
    "u": {"m1": 5, "m3": 2, "m4": 1},
    "v": {"m2": 4, "m5": 2, "m9": 3},
    "w": {"m2": 1},
}
LIST = {"u": ["m1", "m2", "m3", "m4", "m5"]}
EVERY = [grade for grades in RATINGS.values() for grade in grades.values()]


def exp2_ndcg(grades: list[float], ideal: list[float]) -> float:
    """NDCG of five grades against the best five, written down."""

    def dcg(row: list[float]) -> float:
        return sum(
            (2**grade - 1) / math.log2(position + 1)
            for position, grade in enumerate(row, 1)
        )

    return dcg(grades) / dcg(sorted(ideal, reverse=True)[:5])


def ndcg(unjudged: Any, ratings: Any = None) -> float | None:
    options = {"missing": "drop", "unjudged": unjudged}
    record = evaluate(
        ratings or RATINGS, LIST, "nDCG(gain=exp2)@5", **options
    ).to_dict()
    return record["run"]["nDCG(gain=exp2)@5"]


# -- missing ratings -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("unjudged", "m2", "m5"),
    [
        ("query_mean", mean([5, 2, 1]), mean([5, 2, 1])),
        ("query_median", median([5, 2, 1]), median([5, 2, 1])),
        ("doc_mean", mean([4, 1]), 2),
        ("doc_median", median([4, 1]), 2),
        ("global_mean", mean(EVERY), mean(EVERY)),
        ("global_median", median(EVERY), median(EVERY)),
        (1.5, 1.5, 1.5),
        (
            lambda pairs: [0.5 if doc == "m2" else 3.0 for doc in pairs["doc_id"]],
            0.5,
            3.0,
        ),
    ],
)
def test_imputed_ratings_enter_the_list_and_the_ideal(
    unjudged: Any, m2: float, m5: float
) -> None:
    """A missing rating is what the rule says, where the item stands and among the best."""
    shown = [5, m2, 2, 1, m5]
    assert close(exp2_ndcg(shown, shown), ndcg(unjudged), 1e-12)


def test_missing_ratings_that_are_not_imputed() -> None:
    """Worth nothing, or taken out of the list."""
    assert close(exp2_ndcg([5, 0, 2, 1, 0], [5, 2, 1]), ndcg("nonrelevant"), 1e-12)
    assert ndcg(0) == ndcg("nonrelevant")
    assert ndcg("condensed") == 1.0


@pytest.mark.parametrize("middle", ["mean", "median"])
def test_who_has_no_rating_has_that_of_all(middle: str) -> None:
    """An unrated item, and a user without ratings, have the mean or median of all."""
    ratings = {"u": {"m1": 5, "m3": 2}, "v": {"m9": 4}, "w": {"m9": 5}}
    all_of_them = {"mean": mean([5, 2, 4, 5]), "median": median([5, 2, 4, 5])}[middle]
    assert ndcg(f"doc_{middle}", ratings) == ndcg(all_of_them, ratings)

    stranger = {**LIST, "x": ["m1"]}
    scores = evaluate(
        ratings,
        stranger,
        "DCG",
        extra="keep",
        missing="drop",
        unjudged=f"query_{middle}",
    )
    assert scores.per_query.filter(query_id="x")["value"].item() == all_of_them


def test_a_function_is_reported_by_its_name_and_held_to_its_word() -> None:
    """It is handed ids, must answer every row with a grade, and what is wrong is named."""
    values: list[pl.DataFrame] = []

    def by_model(pairs: pl.DataFrame) -> pl.Series:
        values.append(pairs)
        return pl.Series([1] * pairs.height)

    scores = evaluate(RATINGS, LIST, "nDCG@5", missing="drop", unjudged=by_model)
    assert scores.conventions["alignment"]["unjudged"] == "by_model()"
    assert values[0].rows(named=True) == [
        {"query_id": "u", "doc_id": "m2"},
        {"query_id": "u", "doc_id": "m5"},
    ]
    with pytest.raises(BadValue, match="did not return a list") as short:
        ndcg(lambda _: [1.0])
    assert "a grade for each of the 2 rows" in str(short.value)
    with pytest.raises(BadValue, match="returned nan") as none:
        ndcg(lambda pairs: [1.0, math.nan][: pairs.height])
    assert none.value.where == "query_id u, doc_id m5"
    with pytest.raises(BadValue, match="did not return a list"):
        ndcg(lambda pairs: ["much"] * pairs.height)


def test_a_function_serves_explanations_and_labelled_tables() -> None:
    """Wherever alignment goes, it goes along."""
    explanation = rankstone.explain(
        RATINGS, LIST, "nDCG@5", "u", unjudged=lambda pairs: [1.0] * pairs.height
    )
    assert "<lambda>()" in explanation.text()
    with pytest.raises(
        BadOption, match=r"unjudged=<lambda>\(\) grades unjudged documents"
    ):
        rankstone.bounds(
            RATINGS, LIST, "nDCG@5", unjudged=lambda pairs: [1.0] * pairs.height
        )
    labelled = pl.DataFrame(
        {"query_id": ["q"] * 2, "score": [2.0, 1.0], "label": [-1, 1]}
    )
    graded = rankstone.evaluate(
        table=labelled, measures="CG", unjudged=lambda pairs: [3.0] * pairs.height
    )
    assert graded.to_dict() == {"run": {"CG": 4.0}}


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("user_mean", "query_mean"),
        ("item_median", "doc_median"),
        ("drop", "condensed"),
        ("zero", "0"),
    ],
)
def test_words_of_others_are_known(theirs: str, ours: str) -> None:
    """Another library's word leads to what it is called here."""
    with pytest.raises(BadOption, match=f"did you mean '{ours}'"):
        ndcg(theirs)


# -- three hit ratios ----------------------------------------------------------------------------------------
def test_three_hit_ratios() -> None:
    """Pooled, per user, and mean recall: 15 hits of 30 (source 004); with one item a user all are one."""
    relevant, hits = {"u1": 10, "u2": 12, "u3": 8}, {"u1": 6, "u2": 5, "u3": 4}
    truth = {
        user: {f"{user}-{index}": 1 for index in range(count)}
        for user, count in relevant.items()
    }
    lists = {
        user: [
            f"{user}-{index}" if index < hits[user] else f"x{index}"
            for index in range(10)
        ]
        for user in relevant
    }
    texts = ("R(agg=pooled)@10", "HR@10", "R@10")

    items = list(evaluate(truth, lists, texts).to_dict()["run"].values())
    assert items == pytest.approx(
        [15 / 30, 3 / 3, (6 / 10 + 5 / 12 + 4 / 8) / 3], abs=1e-15
    )
    one_each = {"u1": {"u1-0": 1}, "u2": {"elsewhere": 1}, "u3": {"u3-3": 1}}
    assert set(evaluate(one_each, lists, texts).to_dict()["run"].values()) == {2 / 3}


def test_a_user_without_a_list_counts() -> None:
    """The pooled ratio has the user's items below the line, unless such users are left out."""
    truth = {"u": {"a": 1}, "v": {"a": 1, "b": 1, "c": 1}}
    assert evaluate(truth, {"u": ["a"]}, "R(agg=pooled)@5").to_dict()["run"] == {
        "R(agg=pooled)@5": 1 / 4
    }
    dropped = evaluate(truth, {"u": ["a"]}, "R(agg=pooled)@5", missing="drop")
    assert dropped.to_dict()["run"] == {"R(agg=pooled)@5": 1 / 1}


# -- sampled candidates --------------------------------------------------------------------------------------
def candidates(above: list[int], others: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return lists of one relevant item below so many of the sampled ones."""
    names = [f"i{index}" for index in range(others)]
    run = {
        f"u{index}": [*names[:n], "liked", *names[n:]] for index, n in enumerate(above)
    }
    return {user: {"liked": 1} for user in run}, run


def test_ranks_are_taken_from_lists() -> None:
    """Estimates are those of the ranks, and naive values those of the lists."""
    above = [0, 1, 1, 3, 7, 19, 2, 0]
    test, run = candidates(above, 19)
    texts = ["R@5", "nDCG@10", "RR"]
    options = {"items": 500, "sampled": 19, "replacement": False}
    by_hand = correct_sampled([n + 1 for n in above], texts, **options)  # type: ignore[arg-type]

    values = sampled(test, run, texts, items=500).values
    assert dict(values.select("measure", "value").iter_rows()) == pytest.approx(
        by_hand.to_dict(), abs=1e-12
    )
    lists = evaluate(test, run, texts).to_dict()["run"]
    assert dict(values.select("measure", "naive").iter_rows()) == pytest.approx(
        lists, abs=1e-12
    )
    assert values.select("sampled", "relevant", "queries").row(0) == (19, 8, 8)
    assert (
        values.select("lower", "upper").rows()
        == by_hand.values.select("lower", "upper").rows()
    )


def test_several_relevant_items_do_not_hide_one_another() -> None:
    """Each is ranked among itself and the sampled ones: relevant, other, relevant is rank 1 and rank 2."""
    test = {"u": {"a": 1, "b": 1}, "v": {"a": 1, "b": 1}}
    run = {"u": ["a", "x", "b", "y"], "v": ["x", "y", "a", "b"]}
    values = sampled(test, run, "RR", items=100, method="naive").values

    assert values["value"].item() == pytest.approx(
        (1 / 1 + 1 / 2 + 1 / 3 + 1 / 3) / 4, abs=1e-15
    )
    assert values.select("sampled", "relevant", "queries").row(0) == (2, 4, 2)


def test_sampled_lists_lead_back_to_all_items() -> None:
    """On average over samples, estimates come nearer to the exact value than the naive one is."""
    items, others, users = 400, 40, 4_000
    rank = np.minimum(np.random.default_rng(3).geometric(0.03, users), items)
    beaten = np.random.default_rng(4).hypergeometric(rank - 1, items - rank, others)
    exact = float((rank <= 20).mean())
    row = sampled(*candidates(beaten.tolist(), others), "R@20", items=items).values.row(
        0, named=True
    )

    assert abs(row["value"] - exact) < abs(row["naive"] - exact) / 2


@pytest.mark.parametrize(
    ("test", "run", "options", "message"),
    [
        ({"u": {"a": 1}}, {"u": ["x", "y"]}, {}, "not in the list: it has no rank"),
        (
            {"u": {"a": 1}, "v": {"a": 1}},
            {"u": ["a", "x"]},
            {},
            "1 query with a relevant document that is not",
        ),
        (
            {"u": {"a": 1}, "v": {"a": 1}},
            {"u": ["a", "x"], "v": ["a", "x", "y"]},
            {},
            "different numbers",
        ),
        ({"u": {"a": 1}}, {"u": ["a"]}, {}, "have no sampled documents"),
        (
            {"u": {"a": 1, "b": 0}},
            {"u": ["a", "b"]},
            {"rel": 2},
            "no relevant document to rank",
        ),
    ],
)
def test_lists_that_are_no_samples(
    test: Any, run: Any, options: dict[str, Any], message: str
) -> None:
    """What is wrong with them is stated, and where."""
    with pytest.raises((NotComparable, BadValue), match=message):
        sampled(test, run, "RR", items=100, **options)


def test_questions_to_samples_without_an_answer() -> None:
    """Ties without an order have no rank; there are at least as many items as were sampled."""
    test, run = candidates([0, 1], 3)
    with pytest.raises(BadParameter, match="no ranks to correct"):
        sampled(test, run, "RR", items=100, ties="expected")
    with pytest.raises(BadOption, match="sampled=3 of 2 other items"):
        sampled(test, run, "RR", items=3)
    left = sampled(
        test | {"z": {"liked": 1}}, run, "RR", items=100, method="naive", missing="drop"
    )
    assert left.values["queries"].item() == 2


def test_sampled_candidates_are_warned_of() -> None:
    """Many lists of one length with a single judged item each; not where lists are few, short or differ."""
    test, run = candidates([index % 20 for index in range(30)], 24)
    text = "if these are sampled candidates, the values are not those of full lists"

    assert text in evaluate(test, run, "RR").audit.lines()[-1]
    few = {user: run[user] for user in list(run)[:10]}
    assert text not in evaluate(test, few, "RR", missing="drop").audit.lines()[-1]
    assert (
        text not in evaluate(test, run | {"u3": run["u3"][:-1]}, "RR").audit.lines()[-1]
    )
    more = {user: {**grades, run[user][-1]: 0} for user, grades in test.items()}
    assert text not in evaluate(more, run, "RR").audit.lines()[-1]
    everywhere = [
        finding.what for finding in rankstone.check(test, run).files[1].findings
    ]
    assert not any(
        "sampled" in what for what in everywhere
    )  # all lists have the same items: all there are
    other = {
        user: [doc if doc == "liked" else f"{doc}-{user}" for doc in docs]
        for user, docs in run.items()
    }
    sentences = [
        finding.what for finding in rankstone.check(test, other).files[1].findings
    ]
    assert (
        "every list has 25 of 721 documents, one of them judged: sampled candidates?"
        in sentences
    )


# -- real lists ----------------------------------------------------------------------------------------------
def test_real_ratings() -> None:
    """Eight recommenders: thresholds agree with evaluate, and each line wipes out other preferences."""
    folder = data("lenskit-topn")
    recs = pl.read_csv(gzip.decompress((folder / "topn-java-recs.csv.gz").read_bytes()))
    runs = {
        str(name): part.drop("Algorithm")
        for (name,), part in recs.group_by("Algorithm", maintain_order=True)
    }
    named = {"user": "query_id", "item": "doc_id", "rating": "relevance"}
    truth = pl.read_csv(folder / "topn-java-truth.csv")
    options: dict[str, Any] = {"columns": named, "order": "rank"}

    study = thresholds(truth, runs, "R@20", levels=[3, 4, 5], interval="t", **options)
    record = evaluate(truth, runs, "R(rel=4)@20", **options).to_dict()
    at_four = dict(study.values.filter(rel=4).select("run", "value").iter_rows())
    assert at_four == {run: values["R(rel=4)@20"] for run, values in record.items()}
    assert (study.values["low"] <= study.values["value"]).all()
    by_user = truth.group_by("user").agg(pl.col("rating"))["rating"].to_list()
    pairs = [
        (a, b)
        for ratings in by_user
        for i, a in enumerate(ratings)
        for b in ratings[:i]
        if a != b
    ]
    kept = sum((a >= 4) != (b >= 4) for a, b in pairs)
    assert study.pairs.filter(rel=4).select("pairs", "kept").row(0) == (
        len(pairs),
        kept,
    )
