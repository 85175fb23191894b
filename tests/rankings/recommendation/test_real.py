"""Real recommendation lists: eight algorithms, 98 users, 100 items a list (LensKit's test data)."""

from __future__ import annotations

import gzip
import math
import os
from typing import Any

import polars as pl
import pytest
from tests.rankings.recommendation import oracle
from tests.rankings.recommendation.worlds import World
from tests.real_data import data

import rankstone

MEASURES = (
    "Coverage@10",
    "Gini@10",
    "Gini(discount=log2)@20",
    "Entropy(scale=effective)@10",
    "Personalization@10",
    "Novelty@10",
    "EPC@20",
    "EFD@20",
    "Popularity(scale=quantile)@10",
    "APLT@10",
    "PopularityLift@10",
    "Unexpectedness@10",
    "Unexpectedness(against=history)@10",
    "Serendipity@10",
    "IAA@10",
)


@pytest.fixture(scope="module")
def lists() -> tuple[pl.DataFrame, pl.DataFrame]:
    folder = data("lenskit-topn")
    runs = pl.read_csv(gzip.decompress((folder / "topn-java-recs.csv.gz").read_bytes()))
    return runs, pl.read_csv(folder / "topn-java-truth.csv")


def test_real_lists(lists: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """Engine and loops agree on the algorithms; users with odd numbers are the past, all are judged.

    Continuous integration looks at two algorithms, since the loops take their time.
    """
    runs, truth = lists
    if os.environ.get("CI"):
        runs = runs.filter(
            pl.col("Algorithm").is_in(sorted(set(runs["Algorithm"]))[:2])
        )
    past = truth.filter(pl.col("user") % 2 == 1)
    names = {"user": "query_id", "item": "doc_id", "rating": "relevance"}
    shown = {
        str(name): part.drop("Algorithm")
        for (name,), part in runs.group_by("Algorithm")
    }
    qualities = rankstone.beyond(
        shown,
        list(MEASURES),
        history=past,
        qrels=truth,
        catalogue_size=6040,
        columns=names,
        order="rank",
    )
    history = [(str(u), str(i), 1.0) for u, i, _ in past.iter_rows()]
    qrels: dict[str, dict[str, float]] = {}
    for user, item, grade in truth.iter_rows():
        qrels.setdefault(str(user), {})[str(item)] = grade
    for name, part in shown.items():
        run: dict[str, dict[str, float]] = {}
        for user, rank, item in part.select("user", "rank", "item").iter_rows():
            run.setdefault(str(user), {})[str(item)] = -rank
        drawn = World(run, {}, history, qrels, {}, {}, {"catalogue_size": 6040})
        rows = (
            qualities.per_query.filter(run=name)
            .select("measure", "query_id", "value")
            .iter_rows()
        )
        per_user = {(measure, user): value for measure, user, value in rows}
        for text in MEASURES:
            wanted: Any = oracle.value(text, drawn)
            if not isinstance(wanted, dict):
                assert math.isclose(
                    qualities.to_dict()[name][text] or 0.0, wanted, rel_tol=1e-12
                ), (name, text)
                continue
            for user, value in wanted.items():
                got = per_user[text, user]
                assert (got is None) is (value is None)
                assert got is None or math.isclose(
                    got, value, rel_tol=1e-12, abs_tol=1e-12
                ), (name, text, user)
