"""XGBoost: numbers of its own metrics, stopping in the right direction, means over queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.hooks.conftest import Data, drawn

from rankstone import InputError, UsageError
from rankstone.integrations import arrays as functional
from rankstone.integrations import xgboost as hook

pytestmark = pytest.mark.hooks
xgboost = pytest.importorskip("xgboost")

QUIET = {"verbosity": 0, "nthread": 1, "max_depth": 2}


def matrix(data: Data, weights: Any = None) -> Any:
    return xgboost.DMatrix(data.X, data.y, qid=data.qid, weight=weights)


def own(
    data: Data, measures: list[str], weights: Any = None, rounds: int = 3
) -> tuple[Any, Any]:
    """Train, and return XGBoost's own history, and ours with every digit."""
    rows = matrix(data, weights)
    values: dict[str, Any] = {}
    params = {"objective": "rank:pairwise", "eval_metric": measures, **QUIET}
    watch = hook.watch(" ".join(measures), {"ours": rows}, convention="xgboost")
    xgboost.train(
        params,
        rows,
        rounds,
        evals=[(rows, "theirs")],
        evals_result=values,
        callbacks=[watch],
        verbose_eval=False,
    )
    return values["theirs"], values["ours"]


def test_its_own_numbers(data: Data) -> None:
    """Ties, groups without a relevant row and the 32 rows of a missing cutoff count as in XGBoost."""
    measures = ["ndcg@1", "ndcg@5", "ndcg@5-", "ndcg", "ndcg-"]
    binary = data._replace(y=(data.y > 1).astype(float))

    theirs, ours = own(data, measures)
    for measure in measures:
        assert ours[measure] == pytest.approx(theirs[measure], abs=1e-6), measure
    theirs, ours = own(binary, ["map@3", "map", "map@3-", "pre@2"])
    for measure in theirs:
        assert ours[measure] == pytest.approx(theirs[measure], abs=1e-6), measure


def test_weights(data: Data, seed: int) -> None:
    """Weights of groups count as XGBoost counts them, where each group has a relevant row."""
    data.y[np.cumsum(data.sizes) - 1] = 3
    weights = np.random.Generator(np.random.Philox(seed)).random(len(data.sizes))

    theirs, ours = own(data, ["ndcg@3"], weights)

    assert ours["ndcg@3"] == pytest.approx(theirs["ndcg@3"], abs=1e-6)


def test_custom_metric(data: Data) -> None:
    """Several measures, six decimals in the history, names that XGBoost can read back."""
    rows = matrix(data)
    numbers: dict[str, Any] = {}
    text = "nDCG(gain=exp2, ideal=topk)@5 RR"
    metric = hook.custom_metric(text, ties="input")
    model = xgboost.train(
        {"objective": "rank:ndcg", "disable_default_eval_metric": 1, **QUIET},
        rows,
        3,
        evals=[(rows, "valid")],
        custom_metric=metric,
        evals_result=numbers,
        verbose_eval=False,
    )
    expected = functional.evaluate(
        model.predict(rows), data.y, text, sizes=data.sizes, ties="input"
    ).mean()

    assert list(numbers["valid"]) == ["nDCG(gain=exp2,ideal=topk)@5", "RR"]
    last = [values[-1] for values in numbers["valid"].values()]
    assert last == pytest.approx(list(expected.values()), abs=1e-6)
    assert dict(metric(model.predict(rows), rows)) == pytest.approx(
        dict(zip(numbers["valid"], expected.values(), strict=True))
    )


def test_early_stopping() -> None:
    """The best round by RR is kept, the largest; left alone XGBoost keeps the smallest."""
    data, other = drawn(4), drawn(5)
    train, valid = matrix(data), matrix(other)

    def trained(**stop: Any) -> tuple[Any, list[float]]:
        numbers: dict[str, Any] = {}
        model = xgboost.train(
            {"objective": "rank:pairwise", "disable_default_eval_metric": 1, **QUIET},
            train,
            40,
            evals=[(valid, "valid")],
            custom_metric=hook.custom_metric("RR"),
            evals_result=numbers,
            verbose_eval=False,
            **stop,
        )
        return model, numbers["valid"]["RR"]

    model, values = trained(callbacks=[hook.early_stopping(6, "RR")])
    assert model.best_iteration == int(np.argmax(values))
    assert model.num_boosted_rounds() == model.best_iteration + 1
    backwards, values = trained(early_stopping_rounds=6)
    assert backwards.best_iteration == int(np.argmin(values))


def test_its_ranker() -> None:
    """Means over queries: a callable eval_metric of XGBRanker is weighted by the sizes of groups."""
    data = drawn(6)
    rows = matrix(data)
    watch = hook.watch("AP nDCG@5", {"valid": rows})
    stop = hook.early_stopping(5, "nDCG@5", data_name="valid")
    ranker = xgboost.XGBRanker(
        n_estimators=30, n_jobs=1, verbosity=0, max_depth=2, callbacks=[watch, stop]
    )

    ranker.fit(data.X, data.y, qid=data.qid)

    valid = ranker.evals_result_["valid"]
    assert ranker.best_iteration == int(np.argmax(valid["nDCG@5"]))
    expected = functional.evaluate(
        ranker.predict(data.X), data.y, "AP nDCG@5", sizes=data.sizes
    ).mean()
    best = {name: values[ranker.best_iteration] for name, values in valid.items()}
    assert best == pytest.approx(expected, abs=1e-12)


def test_sizes_weigh_in_its_callable() -> None:
    """What the callback is for: XGBoost's mean over queries is one over documents (sizes 2 and 50)."""
    y = np.concatenate([[1, 0], np.ones(1), np.zeros(49)])
    X, qid = np.arange(52.0).reshape(-1, 1), np.repeat([0, 1], [2, 50])  # noqa: N806
    ranker = xgboost.XGBRanker(
        n_estimators=1, n_jobs=1, verbosity=0, eval_metric=lambda y, _: float(len(y))
    )
    ranker.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid], verbose=False)

    *_, values = ranker.evals_result_["validation_0"].values()

    assert values[0] == pytest.approx((2 * 2 + 50 * 50) / 52, abs=1e-5)
    assert values[0] != pytest.approx((2 + 50) / 2)


def test_mistakes() -> None:
    """Data without queries, labels XGBoost refuses: reported in words."""
    data = drawn(3)
    without = xgboost.DMatrix(data.X, data.y)
    with pytest.raises(UsageError, match="have no queries"):
        hook.custom_metric("AP")(data.scores, without)
    with pytest.raises(UsageError, match=r"(?s)data\['valid'\].*have no queries"):
        hook.watch("AP", {"valid": without})
    with pytest.raises(InputError, match=r"does not take label 0\.5"):
        hook.custom_metric("ndcg@5", convention="xgboost")(
            data.scores, matrix(data._replace(y=data.y + 0.5))
        )
    with pytest.raises(UsageError, match="one measure"):
        hook.early_stopping(3, "AP RR")
