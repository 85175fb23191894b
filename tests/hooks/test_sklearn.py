"""scikit-learn: numbers of its own functions, queries routed to scorers, rankers with groups in a search."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.hooks.conftest import Data, drawn

from rankstone import InputError, UsageError
from rankstone.integrations import arrays as functional

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.hooks
sklearn = pytest.importorskip("sklearn")


@pytest.fixture(autouse=True)
def routing() -> Iterator[None]:
    """Hand on metadata, as the documents say."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def first_column_model() -> Any:
    """Return a model that says what stands in the first of its columns."""
    from sklearn.linear_model import LinearRegression

    model = LinearRegression()
    model.coef_, model.intercept_ = np.ones(1), 0.0
    return model


def test_its_own_numbers(data: Data) -> None:
    """Ties are averaged and an empty query is 0, as in ndcg_score, query by query."""
    from sklearn.metrics import ndcg_score

    from rankstone.integrations.sklearn import scorers

    two = np.flatnonzero(data.sizes >= 2)  # it refuses lists of one
    rows = np.isin(data.qid, two)
    labels, scores, qid = data.y[rows], data.scores[rows], data.qid[rows]
    own = {
        f"ndcg_score(k={k})": np.mean(
            [
                ndcg_score([labels[qid == query]], [scores[qid == query]], k=k)
                for query in two
            ]
        )
        for k in (1, 3, 10)
    }

    made = scorers(list(own), convention="sklearn")

    for name, expected in own.items():
        message = made[name](
            first_column_model(), scores.reshape(-1, 1), labels, qid=qid
        )
        assert message == pytest.approx(expected, abs=1e-9), name


def test_cross_validation(data: Data) -> None:
    """Each fold has the value of its rows; where less is better, numbers are negative."""
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GroupKFold, cross_validate

    from rankstone.integrations.sklearn import scorers

    results = cross_validate(
        LinearRegression(),
        data.X,
        data.y,
        scoring=scorers("nDCG@5 LastRel"),
        cv=GroupKFold(3),
        params={"qid": data.qid, "groups": data.qid},
    )
    for fold, (train, test) in enumerate(GroupKFold(3).split(data.X, data.y, data.qid)):
        model = LinearRegression().fit(data.X[train], data.y[train])
        expected = functional.evaluate(
            model.predict(data.X[test]),
            data.y[test],
            "nDCG@5 LastRel",
            qid=data.qid[test],
        ).mean()
        assert results["test_nDCG@5"][fold] == pytest.approx(expected["nDCG@5"])
        assert results["test_LastRel"][fold] == pytest.approx(-expected["LastRel"])


def test_a_classifier_ranks_by_its_chances() -> None:
    """And not by the classes it predicts."""
    from sklearn.linear_model import LogisticRegression

    from rankstone.integrations.sklearn import scorer

    data = drawn(2, grades=2)
    model = LogisticRegression().fit(data.X, data.y)

    message = scorer("AP")(model, data.X, data.y, qid=data.qid)

    assert (
        message
        == functional.evaluate(
            model.decision_function(data.X), data.y, "AP", qid=data.qid
        ).mean()["AP"]
    )


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_rankers_in_a_search(library: str, data: Data) -> None:
    """Rows in any order: the ranker is trained on sorted ones, and the search finds the best by nDCG."""
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, GroupKFold

    from rankstone.integrations.grouped_ranker import GroupedRanker
    from rankstone.integrations.sklearn import scorer

    module = pytest.importorskip(library)
    rankers: dict[str, Any] = {
        "lightgbm": lambda: (
            module.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1),
            "min_child_samples",
        ),
        "xgboost": lambda: (
            module.XGBRanker(n_estimators=5, verbosity=0, n_jobs=1),
            "max_depth",
        ),
        "catboost": lambda: (
            module.CatBoostRanker(
                iterations=5, verbose=0, thread_count=1, allow_writing_files=False
            ),
            "depth",
        ),
    }
    ranker, parameter = rankers[library]()
    shuffled = np.random.Generator(np.random.Philox(1)).permutation(len(data.y))
    X, y, qid = data.X[shuffled], data.y[shuffled], data.qid[shuffled]  # noqa: N806
    grid = {f"estimator__{parameter}": [2, 4]}

    search = GridSearchCV(
        GroupedRanker(ranker), grid, scoring=scorer("nDCG@5"), cv=GroupKFold(2)
    )
    search.fit(X, y, qid=qid, groups=qid)

    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = pickle.loads(pickle.dumps(search.best_estimator_))  # noqa: S301 - our own
    order = np.argsort(qid, kind="stable")
    again = clone(best).fit(X[order], y[order], qid=qid[order])
    assert best.predict(X) == pytest.approx(again.predict(X))
    assert search.score(X, y, qid=qid) == pytest.approx(
        functional.evaluate(best.predict(X), y, "nDCG@5", qid=qid).mean()["nDCG@5"]
    )


def test_the_ranker_is_given_groups() -> None:
    """GroupedRanker learns what the ranker learns from sorted rows and sizes; weights of rows move along."""
    lightgbm = pytest.importorskip("lightgbm")
    from rankstone.integrations.grouped_ranker import GroupedRanker

    data = drawn(7)
    weight = np.random.Generator(np.random.Philox(2)).random(len(data.y))
    result = lightgbm.LGBMRanker(
        n_estimators=5, verbosity=-1, n_jobs=1, min_child_samples=3
    )
    plain = lightgbm.LGBMRanker(**result.get_params())
    plain.fit(data.X, data.y, group=data.sizes, sample_weight=weight)
    shuffled = np.argsort(
        np.random.Generator(np.random.Philox(3)).random(len(data.sizes))[data.qid],
        kind="stable",
    )

    ours = GroupedRanker(result).fit(
        data.X[shuffled],
        data.y[shuffled],
        qid=data.qid[shuffled],
        sample_weight=weight[shuffled],
    )

    assert ours.predict(data.X) == pytest.approx(plain.predict(data.X))


def test_mistakes() -> None:
    """Queries that are missing, and models that take no groups: reported in words."""
    from sklearn.linear_model import LinearRegression

    from rankstone.integrations.grouped_ranker import GroupedRanker
    from rankstone.integrations.sklearn import scorer

    data = drawn(3)
    with pytest.raises(UsageError, match="receives no queries"):
        scorer("AP")(first_column_model(), data.X[:, :1], data.y)
    with pytest.raises(UsageError, match="no queries are given"):
        GroupedRanker(LinearRegression()).fit(data.X, data.y)
    with pytest.raises(UsageError, match=r"LinearRegression\.fit takes no groups"):
        GroupedRanker(LinearRegression()).fit(data.X, data.y, qid=data.qid)
    with pytest.raises(InputError, match="qid does not fit"):
        GroupedRanker(LinearRegression()).fit(data.X, data.y, qid=data.qid[1:])
    with pytest.raises(InputError, match="a list of one document"):
        scorer("ndcg_score", convention="sklearn")(
            first_column_model(), data.X[:1, :1], data.y[:1], qid=data.qid[:1]
        )
    with (
        sklearn.config_context(enable_metadata_routing=False),
        pytest.raises(UsageError, match="set_config"),
    ):
        scorer("AP")
