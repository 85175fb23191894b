"""Rankers in scikit-learn's cross-validation: whole queries in a fold, or a refusal that says how."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.ltr.worlds import world

from rankstone.errors import UsageError
from rankstone.integrations.sklearn import scorer
from rankstone.ltr import CoordinateAscent, RankSVM
from rankstone.ltr.estimator_inputs import in_cross_validation

MODELS = [RankSVM(), CoordinateAscent("nDCG@10", start=None, restarts=1, max_iter=1)]


@pytest.mark.parametrize("model", MODELS)
def test_whole_queries(model: Any) -> None:
    """With routing and GroupKFold each fold's score is that of a model trained on the other queries."""
    X, y, qid = world(1, queries=20)
    with sklearn.config_context(enable_metadata_routing=True):
        options = {"qid": qid, "groups": qid}
        values = cross_val_score(
            model, X, y, cv=GroupKFold(3), params=options, error_score="raise"
        )

    expected = []
    for train, test in GroupKFold(3).split(X, y, qid):
        fitted = clone(model).fit(X[train], y[train], qid[train])
        expected.append(fitted.score(X[test], y[test], qid[test]))
    assert values.tolist() == expected


@pytest.mark.parametrize("model", MODELS)
def test_a_cut_query_is_refused(model: Any) -> None:
    """Folds that put rows of one query on both sides have no score, and the message says how to fold."""
    X, y, qid = world(1, queries=20)
    folds = KFold(3, shuffle=True, random_state=0)
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(
            UsageError,
            match=r"queries were learnt from with other rows[\s\S]*GroupKFold\(5\)",
        ),
    ):
        cross_val_score(model, X, y, cv=folds, params={"qid": qid}, error_score="raise")


@pytest.mark.parametrize("how", [{}, {"groups": True}])
def test_without_queries(how: dict[str, bool]) -> None:
    """Neither nothing nor groups alone tell a ranker its queries: the refusal shows what does."""
    X, y, qid = world(1, queries=20)
    options = {"groups": qid, "cv": GroupKFold(3)} if how else {"cv": 3}
    with pytest.raises(
        UsageError, match=r"qid is missing[\s\S]*enable_metadata_routing=True"
    ):
        cross_val_score(RankSVM(), X, y, error_score="raise", **options)


def test_the_advice_runs() -> None:
    """What the message advises is code, and works as it stands."""
    X, y, qid = world(1, queries=20)
    _, advice = in_cross_validation().split(": ", 1)
    names = {
        "sklearn": sklearn,
        "cross_val_score": cross_val_score,
        "GroupKFold": GroupKFold,
    }
    names |= {"model": RankSVM(), "X": X, "y": y, "qid": qid}
    with sklearn.config_context():
        setting, scoring = advice.split("; ")
        eval(setting, names)  # noqa: S307 - our own
        value = eval(scoring, names)  # noqa: S307 - our own
    assert np.isfinite(value).all()


def test_in_a_search_and_a_pipeline() -> None:
    """A search over C, behind a scaler, needs the queries and a scorer that gets them."""
    X, y, qid = world(2, queries=20)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), RankSVM()),
            {"ranksvm__C": [0.1, 10.0]},
            scoring=scorer("nDCG@10"),
            cv=GroupKFold(3),
        )
        search.fit(X, y, qid=qid, groups=qid)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_training_queries_may_be_scored() -> None:
    """The rows that were learnt from, in any order, and other queries have a score; half a query has not."""
    X, y, qid = world(3)
    model = RankSVM().fit(X, y, qid)
    order = np.random.default_rng(0).permutation(len(y))

    assert model.score(X[order], y[order], qid[order]) == pytest.approx(
        model.score(X, y, qid), abs=1e-12
    )
    assert np.isfinite(model.score(X[:-1], y[:-1], qid[:-1] + 1000))
    with pytest.raises(
        UsageError, match=r"1 of \d+ queries was learnt from with other rows: \d"
    ):
        model.score(X[1:], y[1:], qid[1:])
