"""The bottom of the grade scale is one, whichever road the grades come along."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone.integrations import arrays as functional
from rankstone.ltr.predictions import LabelledLists

#: grades, what those below zero mean, and the bottom of the scale
CHOSEN = [
    ([2, 1, 3], None, 1.0),
    ([2, -1, 3], "unjudged", 2.0),
    ([2, -1, 3], "zero", 0.0),
    ([2, -1, 3], "keep", -1.0),
]
QUERIES = ["a", "a", "b"]
SCORES = [0.9, 0.5, 0.7]


@pytest.mark.parametrize(("grades", "negative", "bottom"), CHOSEN)
def test_every_road_pads_with_the_same_grade(
    grades: list[int], negative: str | None, bottom: float
) -> None:
    """Judgments, one labelled table, arrays and shares of queries find the same lowest grade."""
    measure = "DCG(pad=min_grade)@5"
    options: dict[str, Any] = {} if negative is None else {"negative": negative}
    table = pl.DataFrame(
        {
            "query_id": QUERIES,
            "doc_id": list("xyz"),
            "score": SCORES,
            "relevance": grades,
        }
    )
    qrels, run = table.drop("score"), table.drop("relevance")
    shown: list[list[float]] = [[grades[0], _meant(grades[1], negative)], [grades[2]]]
    expected = sum(_dcg([*item, *[bottom] * (5 - len(item))]) for item in shown) / 2

    kept: list[Any] = [
        rankstone.evaluate(qrels, run, measure, **options),
        rankstone.evaluate(table=table, measures=measure, name="run", **options),
        rankstone.evaluate(qrels, run, measure, memory="1GB", **options),
    ]
    values = [scores.to_dict()["run"][measure] for scores in kept]
    values.append(
        functional.evaluate(SCORES, grades, measure, qid=QUERIES, **options).mean()[
            measure
        ]
    )
    assert values == pytest.approx([expected] * 4, abs=1e-12)


def test_rankers_pad_with_the_lowest_label() -> None:
    """Lists of a data set for rankers have their own lowest label, not 0."""
    assert (
        LabelledLists.of(np.array([2.0, 1.0, 3.0]), np.array([0, 2, 3])).lowest == 1.0
    )


def test_measures_of_other_measures_say_what_they_read() -> None:
    """A measure over intents reads the bottom of the scale if the one it averages does."""
    read = {
        text: rankstone.parse_measure(text).claims.reads_lowest_grade
        for text in ("IA(of=nDCG(pad=min_grade))@5", "IA(of=nDCG)@5", "nDCG@5")
    }
    assert list(read.values()) == [True, False, False]


def _meant(grade: int, negative: str | None) -> float:
    return 0.0 if grade < 0 and negative != "keep" else float(grade)


def _dcg(grades: list[float]) -> float:
    return sum(grade / log2(rank + 2) for rank, grade in enumerate(grades))


@pytest.mark.parametrize(
    "docs", [["a", "n"], ["a", "n", "x"], ["a", "x", "n"], ["a", "b", "n", "x", "y"]]
)
def test_the_first_k_in_their_best_order_are_ideal(docs: list[str]) -> None:
    """The ideal of ideal=topk is the first k documents, unjudged ones worth 0, and nothing from below them."""
    qrels = {"q": {"a": 2, "b": 1, "n": -1}}
    scored = rankstone.evaluate(
        qrels, {"q": docs}, "nDCG(ideal=topk)@2", negative="keep"
    )
    assert scored.to_dict()["run"]["nDCG(ideal=topk)@2"] == 1.0


def test_the_ideal_of_the_first_k_by_hand() -> None:
    """n, a, x: the first two in their best order are a, n; of n, x they are x, n, a sum below 0."""
    discount = 1 / log2(3)
    for docs, k, expected in (
        (["n", "a", "x"], 2, (-1 + 2 * discount) / (2 - discount)),
        (["x", "n", "a"], 3, (-discount + 2 / 2) / (2 - 1 / 2)),
        (["n", "x", "a"], 5, (-1 + 2 / 2) / (2 - 1 / 2)),
    ):
        measure = f"nDCG(ideal=topk)@{k}"
        scored = rankstone.evaluate(
            {"q": {"a": 2, "n": -1}}, {"q": docs}, measure, negative="keep"
        )
        assert scored.to_dict()["run"][measure] == pytest.approx(expected)
