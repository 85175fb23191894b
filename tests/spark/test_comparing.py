"""Comparisons on a cluster say what one machine says, digit for digit."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.spark.layouts import laid_out
from tests.spark.test_spark import there

import rankstone
import rankstone.spark
from rankstone.errors import BadOption, UsageError
from rankstone.spark.score_sums import (
    CountingTask,
    DrawingTask,
    MeasureSpread,
    MeasureSums,
    MergingTask,
)
from rankstone.testing.small_worlds import small_world

QUERIES = 60


def world(systems: int = 3) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Return judgments and runs that answer nearly the same queries."""
    inputs = small_world("nDCG", QUERIES, seed=1, ties=True)
    draw = np.random.default_rng(2)
    runs = {}
    for index in range(systems):
        noise = pl.Series(draw.normal(0, 0.5 * index, inputs.run.height))
        gone = pl.Series(draw.random(inputs.run.height) < 0.1 * index)
        runs["abc"[index]] = inputs.run.with_columns(
            score=pl.col("score") + noise
        ).filter(~gone)
    return inputs.judgments, runs


def both(
    session: Any, measures: Any, systems: int = 3, **options: Any
) -> tuple[Any, Any]:
    """Compare on a cluster and here."""
    qrels, runs = world(systems)
    inputs = {
        "test": "t",
        "interval": "poisson",
        "resamples": 300,
        "seed": 5,
        **options,
    }
    here = rankstone.compare(qrels, runs, measures, **inputs)
    far = rankstone.spark.compare(
        there(session, qrels),
        {
            name: there(session, run, index, index + 2)
            for index, (name, run) in enumerate(runs.items())
        },
        measures,
        **inputs,
    )
    return far, here


def check(far: Any, here: Any) -> None:
    """Check that all is the same that both know."""
    assert_frame_equal(
        far.table.drop("es_hsd"), here.table.drop("es_hsd"), check_exact=True
    )
    means = [
        case.mean().sort("measure", "system").drop("judged") for case in (far, here)
    ]
    assert_frame_equal(*means, check_exact=True)
    assert far.sentences() == here.sentences()
    assert far.conventions["comparison"] == here.conventions["comparison"]
    for name in ("systems", "baseline", "primary", "measures"):
        assert getattr(far, name) == getattr(here, name)
    far.scores.unpersist()


OPTIONS: list[dict[str, Any]] = [
    {"baseline": "b"},
    {},
    {"systems": 2, "margin": 0.05, "primary": "AP"},
    {"interval": "t", "correction": "bonferroni", "confidence": 0.9},
    {"empty": "undefined", "missing": "drop"},
    {"baseline": "a", "extra": "keep"},
]


@pytest.mark.spark
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_digits_of_one_machine(spark: Any, options: dict[str, Any]) -> None:
    """Differences, intervals, p and verdicts; queries left out."""
    far, here = both(spark, "nDCG@5 AP P@3", **options)
    check(far, here)
    assert far.sheet().title == here.sheet().title
    assert "comparisons" in far.report()


@pytest.mark.spark
def test_clusters_and_weights(spark: Any) -> None:
    """Users with several queries are drawn whole, those in no cluster alone; queries weigh what they say."""
    names = sorted({*world()[0]["query_id"], *world()[1]["a"]["query_id"]})
    about = {
        name: {
            "weight": 1 + index / 7,
            "user": None if index % 9 == 0 else f"u{index % 11}",
        }
        for index, name in enumerate(names)
    }
    far, here = both(
        spark, "AP(agg=weighted) nDCG@5", queries=about, cluster="user", baseline="a"
    )
    check(far, here)
    assert far.table["units"][0] < far.table["n"][0]


@pytest.mark.spark
def test_partitions_change_no_digit(spark: Any) -> None:
    """Few and many partitions, before and after the scores."""
    qrels, runs = world(2)
    rows = []
    for parts in (1, 7):
        options = {
            n: laid_out(spark, [run[index::parts] for index in range(parts)])
            for n, run in runs.items()
        }
        spark.conf.set("spark.sql.shuffle.partitions", str(parts))
        rows.append(
            rankstone.spark.compare(there(spark, qrels), options, "AP", resamples=200)
        )
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    assert_frame_equal(rows[0].table, rows[1].table, check_exact=True)


@pytest.mark.spark
def test_questions_without_an_answer(spark: Any) -> None:
    """What looks at all queries at once is refused, and where to ask is stated."""
    qrels, runs = world(2)
    mine, theirs = (
        there(spark, qrels),
        {name: there(spark, run) for name, run in runs.items()},
    )
    refused: list[dict[str, Any]] = [
        {"test": "randomisation"},
        {"interval": "bca"},
        {"correction": "tukey"},
    ]
    for options in refused:
        with pytest.raises(BadOption, match="at once"):
            rankstone.spark.compare(mine, theirs, "AP", **options)
    with pytest.raises(UsageError, match="two runs"):
        rankstone.spark.compare(mine, {"a": theirs["a"]}, "AP")
    with pytest.raises(BadOption, match="are one system"):
        rankstone.spark.compare(
            mine, {"x/1": theirs["a"], "x/2": theirs["b"], "y": theirs["a"]}, "AP"
        )
    with pytest.raises(UsageError, match="no system"):
        rankstone.spark.compare(mine, theirs, "AP", baseline="z")
    with pytest.raises(BadOption, match="is not a mean"):
        rankstone.spark.compare(mine, theirs, "AP(agg=gmean)")


# -- without Spark ---------------------------------------------------------------------------------------
def scores(seed: int) -> pl.DataFrame:
    """Return scores of two measures by two runs, as they are brought together."""
    draw, position = np.random.default_rng(seed), np.arange(80) // 2
    return pl.DataFrame(
        {
            "query_id": [f"q{n}" for n in position],
            "run": np.arange(80) % 2,
            "value": draw.random((80, 2)).tolist(),
            "weight": np.ones((80, 2)).tolist(),
            "status": np.zeros((80, 2)).tolist(),
            "unit": [f"u{n // 3}" for n in position],
        }
    )


@pytest.mark.parametrize("seed", range(5))
def test_sums_add_up(seed: int) -> None:
    """Parts of the units, in any order, come to what all of them come to."""
    whole, inputs = scores(seed), (2, (False, True), ((1, 0),))
    draw = np.random.default_rng(seed)
    share = dict(
        zip(sorted(set(whole["unit"])), draw.integers(0, 3, 99).tolist(), strict=False)
    )
    part = whole["unit"].replace_strict(share)
    parts = [
        whole.filter(part == position).sample(fraction=1, shuffle=True, seed=seed)
        for position in (2, 0, 1)
    ]
    drawing = DrawingTask(
        *inputs, ((0.01,), (0.02,)), (1.0, 1.0), (50, 0), seed, (400.0, 900.0)
    )
    for task, kind in ((CountingTask(*inputs), MeasureSums), (drawing, MeasureSpread)):
        merging = MergingTask(kind)
        once, thrice = (
            merging.merged(
                batch["sums"][0].as_py()
                for p in subset
                for batch in task(p.to_arrow().to_batches())
            )
            for subset in ([whole], parts)
        )
        for item, other in zip(once, thrice, strict=True):
            assert item.to_dict().keys() == other.to_dict().keys()
            if kind is MeasureSums:
                assert (item.means(2), item.n, item.units) == (
                    other.means(2),
                    other.n,
                    other.units,
                )
            else:
                assert [s.value() for s in item.squares] == [
                    s.value() for s in other.squares
                ]
                assert item.robust(0) == other.robust(0)
                assert np.array_equal(item.counts, other.counts)
                if item.stream is not None:
                    assert np.array_equal(
                        item.stream.means(), other.stream.means(), equal_nan=True
                    )
