"""Whatever hooks make travels to other processes and into files, and is the same there."""

from __future__ import annotations

import copy
import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.hooks.conftest import drawn

pytestmark = pytest.mark.hooks
joblib = pytest.importorskip("joblib")


def there_and_back(thing: Any) -> Any:
    """Write something as a file, and read it."""
    file = io.BytesIO()
    joblib.dump(thing, file)
    return joblib.load(file)


CONVENTIONS = [
    ("nDCG@5 RR", None),
    ("ndcg@5", "lightgbm"),
    ("ndcg@5-", "xgboost"),
    ("NDCG:top=5", "catboost"),
]


@pytest.mark.parametrize(("measures", "convention"), CONVENTIONS)
def test_scoring(measures: str, convention: str | None) -> None:
    """Measures under our rules or a library's come back with their names and numbers, without old labels."""
    from rankstone.integrations.trainer_scores import Scoring

    data = drawn(1)
    scoring = Scoring(measures, convention=convention)
    expected = scoring(data.scores, data.y, sizes=data.sizes)
    again = there_and_back(scoring)

    assert again(data.scores, data.y, sizes=data.sizes) == expected
    assert there_and_back(again)(data.scores, data.y, sizes=data.sizes) == expected
    used, fresh = io.BytesIO(), io.BytesIO()
    joblib.dump(scoring, used)
    joblib.dump(Scoring(measures, convention=convention), fresh)
    assert used.getbuffer().nbytes <= fresh.getbuffer().nbytes + 100


def test_lightgbm() -> None:
    """Both evaluation functions, and a ranker that was trained with one."""
    from rankstone.integrations.lightgbm import eval_metric, feval

    lightgbm = pytest.importorskip("lightgbm")
    data = drawn(1)
    handed = SimpleNamespace(
        get_label=lambda: data.y, get_group=lambda: data.sizes, get_weight=lambda: None
    )  # as a lightgbm.Dataset
    for way in (there_and_back, copy.deepcopy):
        first, second = feval("nDCG@5 RR"), eval_metric("ndcg@5", convention="lightgbm")
        assert way(first)(data.scores, handed) == first(data.scores, handed)
        inputs = (data.y, data.scores, None, data.sizes)
        assert way(second)(*inputs) == second(*inputs)
    ranker = lightgbm.LGBMRanker(n_estimators=3, metric="None", verbosity=-1, n_jobs=1)
    ranker.fit(
        data.X,
        data.y,
        group=data.sizes,
        eval_X=(data.X,),
        eval_y=(data.y,),
        eval_group=[data.sizes],
        eval_metric=eval_metric("nDCG@5"),
    )
    assert (there_and_back(ranker).predict(data.X) == ranker.predict(data.X)).all()


def test_xgboost() -> None:
    """Evaluation functions, early stopping and the callback; rankers that have them are cloned and dumped."""
    from sklearn.base import clone

    from rankstone.integrations.xgboost import custom_metric, early_stopping, watch

    xgboost = pytest.importorskip("xgboost")
    data = drawn(1)
    weights = np.linspace(0.5, 2.0, len(data.sizes))
    matrix = xgboost.DMatrix(
        data.X, data.y, qid=data.qid, weight=weights, feature_names=list("abcd")
    )
    metric = custom_metric("nDCG@5 RR")
    assert there_and_back(metric)(data.scores, matrix) == metric(data.scores, matrix)
    callbacks = [
        watch("nDCG@5 RR", {"valid": matrix}),
        early_stopping(5, "RR", data_name="valid"),
    ]
    ranker = xgboost.XGBRanker(n_estimators=4, n_jobs=1, callbacks=callbacks)

    booster = xgboost.train({"objective": "rank:ndcg", "nthread": 1}, matrix, 2)
    histories: list[dict[str, Any]] = []
    for each in (ranker, clone(ranker), there_and_back(ranker), copy.deepcopy(ranker)):
        histories.append({})
        each.get_params()["callbacks"][0].after_iteration(booster, 0, histories[-1])
    assert set(histories[0]["valid"]) == {"nDCG@5", "RR"}
    assert histories == [histories[0]] * 4
    frame = pytest.importorskip("pandas").DataFrame(data.X, columns=list("abcd"))
    fitted = clone(ranker).fit(frame, data.y, qid=data.qid)
    assert (there_and_back(fitted).predict(frame) == fitted.predict(frame)).all()


def test_catboost(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The metric keeps its name and its data; models that have it are cloned and dumped."""
    from sklearn.base import clone

    from rankstone.integrations.catboost import eval_metric

    catboost = pytest.importorskip("catboost")
    monkeypatch.chdir(tmp_path)
    data = drawn(1)
    metric = eval_metric("NDCG:top=5", (data.y, data.qid), convention="catboost")
    again = there_and_back(metric)
    assert type(again).__name__ == "NDCG:top=5"
    assert again.evaluate((data.scores,), data.y, None) == metric.evaluate(
        (data.scores,), data.y, None
    )
    how = {
        "iterations": 3,
        "verbose": 0,
        "allow_writing_files": False,
        "thread_count": 1,
    }
    model = catboost.CatBoostRanker(eval_metric=metric, **how)
    values = [
        each.fit(data.X, data.y, group_id=data.qid).get_evals_result()["learn"][
            "NDCG:top=5"
        ]
        for each in (model, clone(model), there_and_back(model))
    ]
    assert values[0] == values[1] == values[2]
    fitted = there_and_back(model)
    assert (there_and_back(fitted).predict(data.X) == model.predict(data.X)).all()


def test_sklearn() -> None:
    """Scorers alone, and in searches before and after they are fitted, here and in other processes."""
    import sklearn
    from sklearn.base import clone
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GridSearchCV, GroupKFold

    from rankstone.integrations.sklearn import scorer, scorers

    data = drawn(1)
    with sklearn.config_context(enable_metadata_routing=True):
        made = scorer("nDCG@5")
        model = LinearRegression().fit(data.X, data.y)
        inputs = (model, data.X, data.y)
        assert there_and_back(made)(*inputs, qid=data.qid) == made(
            *inputs, qid=data.qid
        )
        assert repr(there_and_back(made)) == repr(made)
        search = GridSearchCV(
            LinearRegression(),
            {"fit_intercept": [True, False]},
            scoring=scorers("nDCG@5 RR"),
            refit="RR",
            cv=GroupKFold(3),
            n_jobs=2,
        )
        for way in (there_and_back, clone, copy.deepcopy):
            result = way(search).fit(data.X, data.y, groups=data.qid, qid=data.qid)
            again = there_and_back(result)
            assert again.score(data.X, data.y, qid=data.qid) == result.score(
                data.X, data.y, qid=data.qid
            )


def test_grouped_ranker() -> None:
    """A ranker with groups, trained, is read under the name by which it is imported."""
    from rankstone.integrations import sklearn as hook

    lightgbm = pytest.importorskip("lightgbm")
    data = drawn(1)
    ranker = hook.GroupedRanker(
        lightgbm.LGBMRanker(n_estimators=3, verbosity=-1, n_jobs=1)
    )
    ranker.fit(data.X, data.y, qid=data.qid)
    again = there_and_back(ranker)
    assert type(again) is hook.GroupedRanker
    assert (again.predict(data.X) == ranker.predict(data.X)).all()


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_grouped_ranker_looks_at_names(library: str) -> None:
    """A frame with its columns in another order, or with other ones, is refused whatever ranker there is."""
    from rankstone.integrations.grouped_ranker import GroupedRanker

    pandas, module = pytest.importorskip("pandas"), pytest.importorskip(library)
    data = drawn(1)
    how = {"verbose": 0, "allow_writing_files": False, "iterations": 2}
    kinds = {
        "lightgbm": lambda: module.LGBMRanker(n_estimators=2, verbosity=-1, n_jobs=1),
        "xgboost": lambda: module.XGBRanker(n_estimators=2, n_jobs=1),
        "catboost": lambda: module.CatBoostRanker(thread_count=1, **how),
    }
    frame = pandas.DataFrame(data.X, columns=list("abcd"))
    ranker = GroupedRanker(kinds[library]()).fit(frame, data.y, qid=data.qid)
    assert ranker.feature_names_in_.tolist() == list("abcd")
    assert ranker.n_features_in_ == 4
    for other in (frame[list("bacd")], frame.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match="feature names should match"):
            ranker.predict(other)


def test_ir_measures() -> None:
    """A measure and the provider; the measure computes where it arrives."""
    from rankstone.integrations.ir_measures import measure, provider

    pytest.importorskip("ir_measures")
    qrels, run = {"1": {"a": 2, "b": 0}}, {"1": {"b": 2.0, "a": 1.0}}
    result = measure("nDCG(gain=exp2)@10", ties="expected")
    again = there_and_back(result)
    assert (again, repr(again)) == (result, repr(result))
    expected = provider().calc_aggregate([result], qrels, run)[result]
    assert (
        there_and_back(provider()).calc_aggregate([again], qrels, run)[result]
        == expected
    )
