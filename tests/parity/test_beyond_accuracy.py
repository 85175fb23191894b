"""RecTools, LensKit, recommenders and RecBole on the same lists; where they differ, why.

None of them installs beside the others without argument, so none is among the packages of `make parity`;
each test runs where its peer is there, RecTools after ``pip install --no-deps rectools attrs typeguard`` say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankstone

pytestmark = [pytest.mark.heavy_parity, pytest.mark.filterwarnings("ignore")]

CASES = 300
ITEMS = 14
WITHIN = 1e-12


@dataclass(frozen=True)
class Shop:
    """Recommendations, the past, what was liked, and features; items and users are small numbers."""

    lists: dict[int, list[int]]
    past: list[tuple[int, int]]
    liked: set[tuple[int, int]]
    features: dict[int, list[float]]

    @classmethod
    def draw(cls, seed: int, *, least: int = 1, cold: bool = True) -> Shop:
        """Draw a shop; with ``cold=False`` every item was met."""
        rng = np.random.default_rng(seed)
        users = range(1, int(rng.integers(3, 7)))
        warm = range(ITEMS if not cold else ITEMS - 3)
        lists, past = {}, []
        for user in users:
            order = [int(i) for i in rng.permutation(ITEMS)]
            length = int(rng.integers(least, 7))
            lists[user] = order[:length]
            # some peers refuse lists that repeat the past
            met = [i for i in order[length:] if i in warm]
            past += [(user, i) for i in met[: int(rng.integers(1, 5))]]
        if not cold:
            past += [(99, i) for i in range(ITEMS)]
        liked = {
            (u, i) for u, items in lists.items() for i in items if rng.random() < 0.4
        } | {(1, 0)}
        features = {
            i: [float(v) for v in rng.choice([0.0, 1.0, 2.0], 3)] for i in range(ITEMS)
        }
        for vector in features.values():
            vector[0] += 0.5  # no vector is zero
        return cls(lists, past, liked, features)

    def recs(self, user: str, item: str, rank: str | None = None) -> pd.DataFrame:
        """Return the lists as a frame with the peer's names of columns."""
        rows = [
            (u, i, r) for u, items in self.lists.items() for r, i in enumerate(items, 1)
        ]
        frame = pd.DataFrame(rows, columns=[user, item, rank or "rank"])
        return frame if rank else frame[[user, item]]

    def pairs(self, user: str, item: str) -> pd.DataFrame:
        """Return the past likewise."""
        return pd.DataFrame(self.past, columns=[user, item])

    def ours(self, measures: str, **options: Any) -> rankstone.BeyondScores:
        """Compute measures of ours."""

        def name(item: int) -> str:
            return f"{item:02d}"

        history: dict[str, list[str]] = {}
        for user, item in self.past:
            history.setdefault(str(user), []).append(name(item))
        qrels: dict[str, dict[str, int]] = {}
        for user, item in self.liked:
            qrels.setdefault(str(user), {})[name(item)] = 1
        items = {
            name(i): {"features": v, "x": v[0], "y": v[1], "z": v[2]}
            for i, v in self.features.items()
        }
        run = {str(u): [name(i) for i in shown] for u, shown in self.lists.items()}
        return rankstone.beyond(
            run, measures, history=history, qrels=qrels, items=items, **options
        )


def only_value(scores: rankstone.BeyondScores) -> float:
    value = next(iter(scores.to_dict()["run"].values()))
    assert value is not None
    return value


def per_user(scores: rankstone.BeyondScores) -> dict[int, float | None]:
    return {
        int(u): v for u, v in scores.per_query.select("query_id", "value").iter_rows()
    }


def same(theirs: dict[int, float], ours: dict[int, float | None]) -> bool:
    return theirs.keys() == ours.keys() and all(
        value is not None and math.isclose(theirs[user], value, abs_tol=WITHIN)
        for user, value in ours.items()
    )


# -- RecTools --------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def rectools() -> Any:
    return pytest.importorskip(
        "rectools.metrics",
        reason="RecTools is not installed (pip install --no-deps rectools)",
    )


@pytest.mark.parametrize("k", [1, 3, 10])
def test_rectools(rectools: Any, k: int) -> None:
    """Coverage, novelty, popularity and serendipity are the same, user by user."""
    for seed in range(CASES // 3):
        shop = Shop.draw(1000 * k + seed)
        recs, past = (
            shop.recs("user_id", "item_id", "rank"),
            shop.pairs("user_id", "item_id"),
        )
        liked = pd.DataFrame(sorted(shop.liked), columns=["user_id", "item_id"])

        assert rectools.CatalogCoverage(k=k, normalize=True).calc(
            recs, range(ITEMS)
        ) == pytest.approx(only_value(shop.ours(f"Coverage@{k}")), abs=WITHIN)
        assert rectools.CatalogCoverage(k=k).calc(recs, range(ITEMS)) == only_value(
            shop.ours(f"Coverage(scale=count)@{k}")
        )
        for theirs, ours in (
            (rectools.MeanInvUserFreq(k=k).calc_per_user(recs, past), "Novelty"),
            (
                rectools.AvgRecPopularity(k=k).calc_per_user(recs, past),
                "Popularity(count=records)",
            ),
            (
                rectools.Serendipity(k=k).calc_per_user(
                    recs, liked, past, range(ITEMS)
                ),
                "Serendipity(count=records)",
            ),
        ):
            assert same(theirs.to_dict(), per_user(shop.ours(f"{ours}@{k}"))), (
                ours,
                seed,
            )


def test_rectools_diversity(rectools: Any) -> None:
    """ILD with its Hamming distance is the same; a list of one item has 0 there and no value here."""
    lone = 0
    for seed in range(CASES // 3):
        shop = Shop.draw(seed)
        table = pd.DataFrame.from_dict(shop.features, orient="index")
        distance = rectools.PairwiseHammingDistanceCalculator(table)
        theirs = rectools.IntraListDiversity(
            k=4, distance_calculator=distance
        ).calc_per_user(shop.recs("user_id", "item_id", "rank"))
        ours = per_user(shop.ours("ILD(features=x+y+z, distance=hamming)@4"))
        for user, items in shop.lists.items():
            if len(items) == 1:
                lone += 1
                assert (theirs[user], ours[user]) == (0, None)
            else:
                assert math.isclose(theirs[user], ours[user] or 0.0, abs_tol=WITHIN)
    assert lone


# -- LensKit ---------------------------------------------------------------------------------------
def test_lenskit() -> None:
    """LensKit's Gini divides by the number of items; its exposure is summed in single precision."""
    metrics = pytest.importorskip(
        "lenskit.metrics", reason="LensKit is not installed (it needs PyTorch)"
    )
    data = pytest.importorskip("lenskit.data")
    count = 0
    for seed in range(CASES):
        shop = Shop.draw(seed)
        outputs = {
            u: data.ItemList(item_ids=items, ordered=True)
            for u, items in shop.lists.items()
        }
        for theirs, text, within in (
            (metrics.ListGini(items=ITEMS, n=4), "Gini(denom=m)@4", WITHIN),
            (
                metrics.ExposureGini(items=ITEMS, n=4),
                "Gini(discount=geometric, p=0.85, denom=m)@4",
                1e-6,
            ),
        ):
            lists = [
                theirs.compute_list_data(output, None) for output in outputs.values()
            ]
            assert theirs.global_aggregate(lists) == pytest.approx(
                only_value(shop.ours(text)), abs=within
            )
        count += only_value(shop.ours("Gini(denom=m)@4")) != pytest.approx(
            only_value(shop.ours("Gini@4"))
        )
        past = shop.pairs("user_id", "item_id")
        known = data.from_interactions_df(past)
        rank = metrics.MeanPopRank(known, n=4)
        values = {
            u: float(rank.measure_list(output, None)) for u, output in outputs.items()
        }
        ours = per_user(shop.ours("Popularity(scale=quantile)@4"))
        assert all(
            math.isclose(values[u], ours[u] or 0.0, abs_tol=1e-9) for u in values
        ), seed
    assert count == CASES


# -- recommenders ----------------------------------------------------------------------------------
def test_recommenders() -> None:
    """Novelty is pooled and gives cold items nothing; coverage divides by the items of the past."""
    theirs = pytest.importorskip(
        "recommenders.evaluation.python_evaluation",
        reason="recommenders is not installed",
    )
    cold_met = 0
    for seed in range(CASES):
        shop = Shop.draw(seed)
        names = {"col_user": "u", "col_item": "i"}
        train, recs = shop.pairs("u", "i"), shop.recs("u", "i")
        assert theirs.novelty(train, recs, **names) == pytest.approx(
            only_value(shop.ours("Novelty(count=records, cold=zero, agg=pooled)")),
            abs=WITHIN,
        )
        assert theirs.distributional_coverage(train, recs, **names) == pytest.approx(
            only_value(shop.ours("Entropy")), abs=WITHIN
        )
        met, shown = set(train["i"]), set(recs["i"])
        assert theirs.catalog_coverage(train, recs, **names) == pytest.approx(
            len(shown) / len(met)
        )
        ours = rankstone.beyond(
            {str(u): [str(i) for i in items] for u, items in shop.lists.items()},
            "Coverage",
            history={
                str(u): [str(i) for v, i in shop.past if v == u] for u, _ in shop.past
            },
        )
        assert only_value(ours) == pytest.approx(len(shown & met) / len(met))
        cold_met += bool(shown - met)
    assert cold_met


def test_recommenders_diversity() -> None:
    """Diversity and serendipity over feature vectors are the same; lists of one item have no diversity."""
    theirs = pytest.importorskip(
        "recommenders.evaluation.python_evaluation",
        reason="recommenders is not installed",
    )
    for seed in range(CASES):
        shop = Shop.draw(seed)
        table = pd.DataFrame(
            {
                "i": list(shop.features),
                "features": [np.array(v) for v in shop.features.values()],
            }
        )
        names: dict[str, Any] = {
            "col_user": "u",
            "col_item": "i",
            "item_feature_df": table,
        }
        names["item_sim_measure"] = "item_feature_vector"
        train, recs = shop.pairs("u", "i"), shop.recs("u", "i")
        recs["relevance"] = [
            float((u, i) in shop.liked)
            for u, i in recs[["u", "i"]].itertuples(index=False)
        ]
        record = (
            theirs.user_diversity(train, recs, **names)
            .set_index("u")["user_diversity"]
            .to_dict()
        )
        ours = per_user(shop.ours("ILD(features=features)"))
        assert {u for u, v in ours.items() if v is not None} == set(record)
        assert all(
            math.isclose(record[u], ours[u] or 0.0, abs_tol=1e-9) for u in record
        )
        surprise = theirs.user_serendipity(
            train, recs, col_relevance="relevance", **names
        )
        got = surprise.set_index("u")["user_serendipity"].to_dict()
        ours = per_user(shop.ours("Serendipity(expected=history, features=features)"))
        assert all(
            math.isclose(got[u], ours[u] or 0.0, abs_tol=1e-3) for u in got
        )  # they weigh in float16


# -- RecBole ---------------------------------------------------------------------------------------
def test_recbole(monkeypatch: pytest.MonkeyPatch) -> None:
    """RecBole's entropy is in nats and divided by the number of distinct items, its Gini by all items."""
    monkeypatch.setattr(
        np, "float", float, raising=False
    )  # its last release still says np.float
    theirs = pytest.importorskip(
        "recbole.evaluator.metrics", reason="RecBole is not installed"
    )
    config = {"topk": [4], "metric_decimal_place": 15, "tail_ratio": 0.3}
    for seed in range(CASES):
        shop = Shop.draw(seed, least=4, cold=False)
        matrix = np.array([items[:4] for items in shop.lists.values()])
        counts = pd.Series([i for _, i in shop.past]).value_counts().to_dict()
        distinct = len(np.unique(matrix))

        assert theirs.ItemCoverage(config).get_coverage(matrix, ITEMS) == pytest.approx(
            only_value(shop.ours("Coverage@4"))
        )
        assert theirs.GiniIndex(config).get_gini(matrix, ITEMS) == pytest.approx(
            only_value(shop.ours("Gini(denom=m)@4"))
        )
        assert theirs.ShannonEntropy(config).get_entropy(matrix) == pytest.approx(
            only_value(shop.ours("Entropy@4")) * math.log(2) / distinct
        )
        popular = theirs.AveragePopularity(config)
        mean = popular.metric_info(popular.get_pop(matrix, counts))[:, -1].mean()
        assert mean == pytest.approx(
            only_value(shop.ours("Popularity(count=records)@4"))
        )
        tail = theirs.TailPercentage(config)
        share = tail.metric_info(tail.get_tail(matrix, counts))[:, -1].mean()
        assert share == pytest.approx(
            only_value(shop.ours("APLT(head=0.7, by=items)@4"))
        )
