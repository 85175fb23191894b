"""Coordinate ascent: never below where it began, exact, and fooled by nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.ltr.worlds import world

from rankstone.errors import BadParameter, InputError, UsageError
from rankstone.ltr import CoordinateAscent, RankSVM


@pytest.mark.parametrize("measure", ["nDCG(gain=exp2)@5", "AP", "RR"])
@pytest.mark.parametrize("seed", range(3))
def test_never_worse_than_its_start(measure: str, seed: int) -> None:
    """On the training measure it is at least as good as the rank SVM it began with; usually better."""
    X, y, qid = world(seed, queries=15)
    start = RankSVM().fit(X, y, qid)
    model = CoordinateAscent(measure, start=start, restarts=1, random_state=seed).fit(
        X, y, qid
    )

    assert model.value_ == pytest.approx(model.score(X, y, qid, measure), abs=1e-12)
    assert model.value_ >= start.score(X, y, qid, measure) - 1e-12
    heights = [value for start, _, value in model.history_ if start == 0]
    assert heights == sorted(heights)


def test_it_climbs() -> None:
    """Where one feature orders everything and the start ignores it, the start is left far behind."""
    rng = np.random.default_rng(0)
    y = np.tile([0.0, 1.0, 2.0, 0.0], 20)
    X = np.stack(
        [rng.normal(size=80), y + 0.01 * rng.normal(size=80), np.ones(80)], axis=1
    )
    model = CoordinateAscent("nDCG", start=[1.0, 0.0, 0.0], restarts=0).fit(
        X, y, np.repeat(np.arange(20), 4)
    )

    assert model.value_ == 1.0
    assert model.coef_[2] == 0


def test_a_zero_start_earns_chance() -> None:
    """Relevant documents stand first in the file; weights of zero gain nothing by that."""
    X, y = np.zeros((4, 2)), [1, 0, 1, 0]
    X[:, 0] = [0, 1, 0, 1]
    model = CoordinateAscent("RR", start=[0.0, 0.0], restarts=0, max_iter=1).fit(
        X, y, [1, 1, 2, 2]
    )

    assert model.value_ == 1.0
    assert model.coef_[0] < 0
    assert model.score(X, y, [1, 1, 2, 2], "RR") == 1.0


def test_a_sample_of_queries_serves_large_data() -> None:
    """With work for a few queries only, every step is still tried on all of them."""
    X, y, qid = world(5, queries=30)
    start = RankSVM().fit(X, y, qid)
    model = CoordinateAscent("nDCG@5", start=start, restarts=0, work=200).fit(X, y, qid)

    assert model.value_ >= start.score(X, y, qid, "nDCG@5") - 1e-12


def test_sparse_and_scattered_rows() -> None:
    """Layout and the order of rows leave the result alone."""
    X, y, qid = world(6)
    order = np.random.default_rng(1).permutation(len(y))
    model = CoordinateAscent("AP", restarts=0).fit(X, y, qid)
    sparse = CoordinateAscent("AP", restarts=0).fit(csr_array(X), y, qid)
    assert sparse.value_ == pytest.approx(model.value_, abs=0.02)
    mixed = CoordinateAscent("AP", restarts=0, start=model).fit(
        X[order], y[order], qid[order]
    )
    assert mixed.value_ >= model.value_ - 1e-12


def test_the_seed_decides() -> None:
    """The same seed gives the same weights, and the count of lines is reported."""
    X, y, qid = world(7)
    lines = list[int]()
    models = [
        CoordinateAscent(
            "AP", start=None, restarts=2, random_state=3, progress=lines.append
        ).fit(X, y, qid)
        for _ in range(2)
    ]

    assert (models[0].coef_ == models[1].coef_).all()
    assert sum(lines) % X.shape[1] == 0
    assert len({start for start, _, _ in models[0].history_}) == 2


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"measure": "AP(agg=gmean)"}, BadParameter, "no mean"),
        ({"start": "svn"}, UsageError, "start="),
        ({"start": [1.0]}, InputError, r"start has shape \(1,\)"),
        ({"start": None, "restarts": 0}, UsageError, "nowhere to start"),
        ({"restarts": -1}, UsageError, "restarts"),
        ({"work": 0}, UsageError, "work"),
    ],
)
def test_mistakes(
    parameters: dict[str, Any], error: type[Exception], message: str
) -> None:
    """What cannot be climbed is refused, and why is stated."""
    X, y, qid = world(8)
    with pytest.raises(error, match=message):
        CoordinateAscent(**parameters).fit(X, y, qid)


def test_nothing_to_climb() -> None:
    """Without documents of different labels no order is better than another."""
    with pytest.raises(InputError, match="no order is better"):
        CoordinateAscent(start=None).fit([[1.0], [2.0]], [1, 1], [1, 1])
