"""The rank SVM against sums over listed pairs, scikit-learn's SVM on differences, and its own laws."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from tests.ltr.worlds import objective, pair_weights, pairs, world, worlds
from tests.rows import each

from rankstone.errors import BadOption, BadValue, InputError, UsageError
from rankstone.ltr import RankSVM
from rankstone.ltr.pair_sums import TrainingPairs, levels_of

QUERY_WEIGHTS, PAIR_WEIGHTS = (
    st.sampled_from(["query", "pair"]),
    st.sampled_from(["uniform", "gain"]),
)


def small(y: np.ndarray) -> np.ndarray:
    """Bring labels to where 2 to their power is a gain."""
    return y * min(1.0, 5.0 / max(float(y.max()), 1.0))


@given(worlds, st.integers(0, 10**6))
def test_sums_over_pairs(given_world: Any, seed: int) -> None:
    """Counts and products of the active pairs are those of the matrix that is never written down."""
    _, y, qid = given_world
    f = np.random.default_rng(seed).normal(size=len(y)) * 2
    active = TrainingPairs(qid, levels_of(qid, y)).at(f)
    table = np.zeros((len(y), len(y)))
    for i, j in pairs(y, qid):
        table[i, j] = table[j, i] = f[i] - f[j] < 1
    better = np.sign(np.subtract.outer(y, y))

    assert active.count == pytest.approx(table.sum(axis=1))
    assert active.excess == pytest.approx((table * better).sum(axis=1))
    assert active.laplacian(f) == pytest.approx(
        table.sum(axis=1) * f - table @ f, abs=1e-10
    )


@given(worlds, st.sampled_from([0.1, 3.0, 200.0]), QUERY_WEIGHTS, PAIR_WEIGHTS)
def test_objective_is_the_sum_over_pairs(
    given_world: Any, price: float, query_weight: str, pair_weight: str
) -> None:
    """The value found is that of all pairs one by one, and their gradient is zero there."""
    X, y, qid = given_world
    y = small(y)
    model = RankSVM(
        price, query_weight=query_weight, pair_weight=pair_weight, tol=1e-10
    ).fit(X, y, qid)
    weights = pair_weights(y, qid, query_weight, pair_weight)
    Z = (X - model.mean_) / model.scale_
    value, gradient = objective(model.standardised_coef_, Z, y, qid, price, weights)
    _, start = objective(np.zeros(Z.shape[1]), Z, y, qid, price, weights)

    assert model.converged_
    assert model.objective_ == pytest.approx(value, rel=1e-10)
    assert np.linalg.norm(gradient) <= 1e-8 * np.linalg.norm(start)
    assert model.predict(X) == pytest.approx(X @ model.coef_)


@pytest.mark.parametrize("query_weight", ["query", "pair"])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_an_svm_on_differences(
    query_weight: str, seed: int
) -> None:
    """scikit-learn's LinearSVC on explicit differences has the same minimiser."""
    X, y, qid = world(seed, queries=12)
    price = 20.0
    model = RankSVM(price, query_weight=query_weight, standardise=False, tol=1e-12).fit(
        X, y, qid
    )
    weights = pair_weights(y, qid, query_weight, "uniform")
    turned = np.where(
        np.arange(len(weights)) % 2, 1.0, -1.0
    )  # an SVM wants two classes
    away = np.array([X[i] - X[j] for i, j in pairs(y, qid)]) * turned[:, None]
    svm = LinearSVC(
        C=price,
        loss="squared_hinge",
        dual=False,
        fit_intercept=False,
        tol=1e-12,
        max_iter=10**6,
    )
    svm.fit(away, turned, sample_weight=weights)

    assert model.coef_ == pytest.approx(
        svm.coef_[0], rel=1e-6, abs=1e-6 * np.abs(svm.coef_).max()
    )


@given(worlds)
def test_dense_sparse_and_single_precision_agree(given_world: Any) -> None:
    """Layout and precision of features change digits at most as far as their own precision."""
    X, y, qid = given_world
    exact = RankSVM(5.0, tol=1e-9).fit(X, y, qid)
    sparse = RankSVM(5.0, tol=1e-9).fit(csr_array(X), y, qid)
    single = RankSVM(5.0).fit(X.astype(np.float32), y, qid)
    scale = np.abs(exact.standardised_coef_).max()

    assert sparse.coef_ == pytest.approx(exact.coef_, rel=1e-6, abs=1e-8)
    assert single.standardised_coef_ == pytest.approx(
        exact.standardised_coef_, abs=5e-3 * scale + 1e-6
    )


@given(worlds, st.integers(0, 10**6))
def test_the_order_of_rows_says_nothing(given_world: Any, seed: int) -> None:
    """Rows may come in any order, queries scattered; labels may be moved or stretched."""
    X, y, qid = given_world
    order = np.random.default_rng(seed).permutation(len(y))
    model = RankSVM(5.0, tol=1e-10).fit(X, y, qid)
    mixed = RankSVM(5.0, tol=1e-10).fit(
        X[order], 3 * y[order] + 1, [f"query {q}" for q in qid[order]]
    )

    assert mixed.coef_ == pytest.approx(model.coef_, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_nonnegative(seed: int) -> None:
    """Weights are those of a general minimiser with bounds."""
    X, y, qid = world(seed)
    model = RankSVM(10.0, nonnegative=True, tol=1e-10).fit(X, y, qid)
    weights = pair_weights(y, qid, "query", "uniform")
    Z = (X - model.mean_) / model.scale_
    minimum = minimize(
        objective,
        np.ones(Z.shape[1]),
        args=(Z, y, qid, 10.0, weights),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * Z.shape[1],
        options={"ftol": 1e-15, "gtol": 1e-10},
    )

    assert (model.coef_ >= 0).all()
    assert model.objective_ == pytest.approx(minimum.fun, rel=1e-9)
    assert model.standardised_coef_ == pytest.approx(minimum.x, abs=1e-5)


def test_path_is_many_fits() -> None:
    """Along C every model is the one that is found from zero."""
    X, y, qid = world(1)
    for model in RankSVM(tol=1e-9).path(X, y, qid, Cs=[0.1, 1, 10, 100]):
        alone = RankSVM(model.C, tol=1e-9).fit(X, y, qid)
        assert model.coef_ == pytest.approx(alone.coef_, rel=1e-5, abs=1e-8)


def test_warm_start_takes_fewer_steps() -> None:
    """A second fit begins where the first one ended, and has nothing left to do."""
    X, y, qid = world(2)
    model = RankSVM(10.0, warm_start=True).fit(X, y, qid)
    assert model.n_iter_ > 0
    assert model.fit(X, y, qid).n_iter_ == 0


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are held in blocks of whole queries; however these are cut, the weights are the same."""
    X, y, qid = world(3, queries=20)
    whole = RankSVM(10.0, tol=1e-10).fit(X, y, qid)
    monkeypatch.setattr("rankstone.ltr.hinge_objective._ROWS", 7)
    cut = RankSVM(10.0, tol=1e-10).fit(X, y, qid)

    assert cut.coef_ == pytest.approx(whole.coef_, rel=1e-7)


def test_what_is_not_in_pairs_says_nothing() -> None:
    """Queries of one document or one label, unjudged rows and constant features leave the weights alone."""
    X, y, qid = world(4)
    model = RankSVM(tol=1e-9, standardise=False).fit(X, y, qid)
    more = np.vstack([X, np.full((4, X.shape[1]), 7.0)])
    more = np.hstack([more, np.full((len(more), 1), 3.3)])
    wider = RankSVM(tol=1e-9, standardise=False).fit(
        more, [*y, 2, 1, 1, -1], [*qid, 900, 901, 901, qid[0]]
    )

    assert wider.coef_[:-1] == pytest.approx(model.coef_, rel=1e-6)
    assert wider.coef_[-1] == 0
    assert wider.n_queries_ == model.n_queries_
    assert (
        RankSVM().fit(more, [*y, 2, 1, 1, -1], [*qid, 900, 901, 901, 900]).coef_[-1]
        == 0
    )


def test_half_precision_and_frames() -> None:
    """Half precision is computed in single; frames bring the names of features."""
    import polars as pl

    X, y, qid = world(5)
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    assert RankSVM().fit(frame, y, pl.Series(qid)).feature_names_in_.tolist() == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert np.isfinite(RankSVM().fit(X.astype(np.float16), y, qid).coef_).all()


def test_not_converged_says_so() -> None:
    """One step is not enough, and that is reported."""
    X, y, qid = world(6)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        assert not RankSVM(1000.0, max_iter=1, tol=1e-9).fit(X, y, qid).converged_


def test_scikit_learn_knows_it() -> None:
    """It clones, and asks for qid by routing."""
    model = clone(RankSVM(3.0, query_weight="pair"))
    assert model.get_params()["C"] == 3.0
    assert "qid" in RankSVM.fit.__code__.co_varnames
    assert hasattr(model, "set_fit_request")


X, Y, QID = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]]), [1, 0, 2], [1, 1, 1]


@each(
    ("change", "error", "message"),
    [
        ({"qid": None}, UsageError, "qid is missing"),
        ({"qid": [1, 1]}, InputError, "qid has 2 values, and there are 3 rows"),
        ({"qid": [1, 2]}, InputError, r"np\.repeat"),
        ({"qid": [1, 1.5, 2]}, BadValue, "not whole numbers"),
        ({"qid": [1, None, 2]}, BadValue, "without a query id"),
        ({"y": [1, float("nan"), 2]}, BadValue, "row 1: a label is nan"),
        ({"y": [1, 2]}, InputError, r"labels have shape \(2,\)"),
        ({"y": ["a", "b", "c"]}, BadValue, "labels are not numbers"),
        ({"y": [1, 1, 1]}, InputError, "nothing to learn from"),
        ({"y": [-1, 1, 1]}, InputError, "nothing to learn from"),
        ({"qid": [1, 2, 3]}, InputError, "nothing to learn from"),
        (
            {"X": [[1.0, 2.0], [np.nan, 0.0], [0.0, 0.0]]},
            BadValue,
            "row 1, feature 0: a feature is nan",
        ),
        (
            {"X": csr_array([[1.0, 2.0], [0.0, np.inf], [0.0, 0.0]])},
            BadValue,
            "row 1, feature 1",
        ),
        ({"X": [1.0, 2.0, 3.0]}, InputError, "1 dimension"),
        ({"X": [["a", "b"]] * 3}, BadValue, "expected:"),
        ({"X": np.empty((0, 2)), "y": [], "qid": []}, InputError, "there are no rows"),
    ],
)
def test_bad_input(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    """What cannot be learnt from is refused: what, where, and what to do."""
    with pytest.raises(error, match=message):
        RankSVM().fit(**{"X": X, "y": Y, "qid": QID, **change})


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"C": 0}, UsageError),
        ({"C": float("nan")}, UsageError),
        ({"tol": -1}, UsageError),
        ({"max_iter": 1.5}, UsageError),
        ({"query_weight": "querry"}, BadOption),
        ({"pair_weight": "exp2"}, BadOption),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], error: type[Exception]) -> None:
    """Parameters out of range are refused before any work."""
    with pytest.raises(error):
        RankSVM(**parameters).fit(X, Y, QID)


def test_further_mistakes() -> None:
    """Gains of huge labels, models that are not trained, and rows of another width."""
    with pytest.raises(BadValue, match="labels up to 50"):
        RankSVM(pair_weight="gain").fit(X, [0, 51, 1], QID)
    with pytest.raises(UsageError, match="not trained yet"):
        RankSVM().predict(X)
    model = RankSVM(warm_start=True).fit(X, Y, QID)
    with pytest.raises(InputError, match=r"expected: *2"):
        model.predict([[1.0]])
    with pytest.raises(UsageError, match="warm_start"), warnings.catch_warnings():
        model.fit([[1.0], [2.0], [3.0]], Y, QID)
