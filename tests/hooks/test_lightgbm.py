"""LightGBM: numbers of its own metrics, early stopping, several measures."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from tests.hooks.conftest import Data, drawn

from rankstone import InputError, UsageError
from rankstone.integrations import arrays as functional
from rankstone.integrations import lightgbm as hook

pytestmark = [pytest.mark.hooks, pytest.mark.filterwarnings("ignore::UserWarning")]
lightgbm = pytest.importorskip("lightgbm")

QUIET = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "min_data_in_bin": 1}


def datasets(data: Data, **further: Any) -> tuple[Any, Any]:
    train = lightgbm.Dataset(data.X, data.y, group=data.sizes, free_raw_data=False)
    valid = train.create_valid(data.X, data.y, group=data.sizes, **further)
    return train, valid


def history(
    data: Data, measures: str, rounds: int = 3, **how: Any
) -> dict[str, list[float]]:
    """Train, and return what was recorded of the validation data, our numbers under ``ours:``."""
    own = {"metric": ["ndcg", "map", "auc", "average_precision"], "eval_at": [1, 3, 10]}
    train, valid = datasets(data, **how)
    values: dict[str, Any] = {}
    feval = hook.feval(measures, convention="lightgbm")
    lightgbm.train(
        {"objective": "lambdarank", **own, **QUIET},
        train,
        rounds,
        valid_sets=[valid],
        valid_names=["valid"],
        feval=lambda preds, inputs: [
            (f"ours:{name}", v, up) for name, v, up in feval(preds, inputs)
        ],
        callbacks=[lightgbm.record_evaluation(values)],
    )
    return dict(values["valid"])


def test_its_own_numbers(data: Data) -> None:
    """Ties, and queries without a relevant row, count as LightGBM counts them; round after round."""
    measures = ["ndcg@1", "ndcg@3", "ndcg@10", "map@3", "auc", "average_precision"]

    recorded = history(data, " ".join(measures))

    for measure in measures:
        assert recorded[f"ours:{measure}"] == pytest.approx(
            recorded[measure], abs=1e-9
        ), measure


def test_given_scores(data: Data) -> None:
    """Scores that tie in every list: a booster without trees starts from them."""
    booster = lightgbm.Booster(
        {
            "objective": "none",
            "metric": ["ndcg", "map"],
            "eval_at": [1, 3, 10],
            **QUIET,
        },
        lightgbm.Dataset(np.arange(40.0).reshape(40, 1), np.zeros(40), group=[40]),
    )
    rows = np.arange(float(len(data.y))).reshape(-1, 1)
    train = booster.train_set
    valid = lightgbm.Dataset(
        rows, data.y, group=data.sizes, init_score=data.scores, reference=train
    )
    booster.add_valid(valid, "valid")
    own = {name: value for _, name, value, _ in booster.eval_valid()}

    message = hook.feval(" ".join(own), convention="lightgbm")(data.scores, valid)

    assert {name: value for name, value, _ in message} == pytest.approx(own, abs=1e-9)


def test_weights(seed: int) -> None:
    """Weights of rows are weights of queries, as LightGBM takes them where each query has a relevant row."""
    data = drawn(seed)
    data.y[np.cumsum(data.sizes) - 1] = 3
    weight = np.random.Generator(np.random.Philox(seed)).random(len(data.y))

    recorded = history(data, "ndcg@3 map@10", weight=weight)

    for measure in ("ndcg@3", "map@10"):  # it keeps weights in single precision
        assert recorded[f"ours:{measure}"] == pytest.approx(
            recorded[measure], abs=1e-6
        ), measure


def test_weights_of_empty_queries() -> None:
    """LightGBM adds 1, unweighted, for a query without a relevant row, and leaves [0, 1]; we do not."""
    data = drawn(1)

    recorded = history(data, "ndcg@3", weight=np.full(len(data.y), 0.01))

    assert recorded["ndcg@3"][0] > 1
    assert recorded["ours:ndcg@3"] == pytest.approx(
        history(data, "ndcg@3")["ours:ndcg@3"]
    )


def test_early_stopping() -> None:
    """Training stops at the best round of our measure, alone where metric is "None"."""
    data = drawn(2)
    train, valid = datasets(data)
    numbers: dict[str, Any] = {}
    stop = lightgbm.early_stopping(5, verbose=False)
    model = lightgbm.train(
        {"objective": "lambdarank", "metric": "None", **QUIET},
        train,
        60,
        valid_sets=[valid.set_label(data.y[::-1].copy())],
        feval=hook.feval("RR LastRel"),
        callbacks=[stop, lightgbm.record_evaluation(numbers)],
    )

    values = numbers["valid_0"]

    assert list(values) == ["RR", "LastRel"]
    best = {
        "RR": int(np.argmax(values["RR"])),
        "LastRel": int(np.argmin(values["LastRel"])),
    }
    assert model.best_iteration - 1 in best.values()
    assert len(values["RR"]) == model.best_iteration + 5


def test_its_ranker(data: Data) -> None:
    """The scikit-learn API hands groups to a function of four arguments; ours are the numbers of arrays."""
    metric = hook.eval_metric("nDCG@5 AP", ties="worst")
    model = lightgbm.LGBMRanker(
        n_estimators=3, metric="None", min_child_samples=3, verbosity=-1, n_jobs=1
    )
    model.fit(
        data.X,
        data.y,
        group=data.sizes,
        eval_X=(data.X,),
        eval_y=(data.y,),
        eval_group=[data.sizes],
        eval_metric=metric,
    )

    expected = functional.evaluate(
        model.predict(data.X), data.y, "nDCG@5 AP", sizes=data.sizes, ties="worst"
    )

    assert len(inspect.signature(metric).parameters) == 4
    (value,) = model.evals_result_.values()
    assert {name: values[-1] for name, values in value.items()} == pytest.approx(
        expected.mean()
    )


def test_mistakes() -> None:
    """Data without groups, labels LightGBM refuses, measures without a direction: reported in words."""
    data = drawn(3)
    with pytest.raises(UsageError, match="have no groups"):
        hook.eval_metric("AP")(data.y, data.scores, None, None)
    with pytest.raises(UsageError, match="LightGBM decides ties"):
        hook.feval("ndcg@5", convention="lightgbm", ties="worst")
    with pytest.raises(UsageError, match="has no direction"):
        hook.feval("NumQ")
    for labels, text in (
        (data.y + 0.5, r"does not take label 0\.5"),
        (data.y - 1, "label -1"),
    ):
        with pytest.raises(InputError, match=text):
            hook.eval_metric("ndcg@5", convention="lightgbm")(
                labels, data.scores, None, data.sizes
            )
    with pytest.raises(InputError, match="scores do not fit the labels"):
        hook.eval_metric("AP")(data.y, np.zeros((len(data.y), 3)), None, data.sizes)
    with pytest.raises(InputError, match="no query counts"):
        hook.eval_metric("AP", empty="undefined")([0, 0], [1, 2], None, [2])
    with pytest.raises(InputError, match="cannot be used"):
        hook.eval_metric("AP")([0, 1], [1, 2], [-1, -1], [2])
