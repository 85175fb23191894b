"""CatBoost: numbers of its own metrics, groups bound by their labels, scores tree by tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.hooks.conftest import Data, drawn

from rankstone import InputError, UsageError
from rankstone.integrations import catboost as hook

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.hooks
catboost = pytest.importorskip("catboost")

QUIET = {
    "verbose": 0,
    "allow_writing_files": False,
    "thread_count": 1,
    "depth": 2,
    "random_seed": 1,
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CatBoost write what it cannot be kept from writing."""
    monkeypatch.chdir(tmp_path)


def pool(data: Data, weights: Any = None) -> Any:
    return catboost.Pool(data.X, data.y, group_id=data.qid, group_weight=weights)


def trained(metric: Any, train: Any, valid: Any, own: str, **how: Any) -> Any:
    settings = {
        "iterations": 4,
        "loss_function": "YetiRank",
        "custom_metric": [own],
        **QUIET,
        **how,
    }
    model = catboost.CatBoost({**settings, "eval_metric": metric})
    return model.fit(train, eval_set=valid, use_best_model=False)


@pytest.mark.parametrize(
    "measure",
    [
        "NDCG:top=3",
        "NDCG:type=Exp",
        "MAP:top=5",
        "MRR",
        "PrecisionAt:top=2",
        "RecallAt:top=2",
    ],
)
def test_its_own_numbers(measure: str, data: Data, seed: int) -> None:
    """Rows that tie stand worst first, an empty group has NDCG 1, MAP 0: as in CatBoost, tree by tree."""
    train, valid = pool(data), pool(drawn(seed + 1))

    model = trained(
        hook.eval_metric(measure, train, valid, convention="catboost"),
        train,
        valid,
        measure,
    )

    theirs = model.eval_metrics(valid, [measure])
    validation = model.get_evals_result()["validation"]
    assert validation[measure] == pytest.approx(next(iter(theirs.values())), abs=1e-9)
    assert model.get_evals_result()["learn"][measure] == pytest.approx(
        next(iter(model.eval_metrics(train, [measure]).values())), abs=1e-9
    )
    after = hook.staged(model, valid, measure, convention="catboost")
    assert after[measure].to_list() == pytest.approx(
        next(iter(theirs.values())), abs=1e-9
    )
    assert after["trees"].to_list() == [1, 2, 3, 4]


def test_weights(data: Data, seed: int) -> None:
    """Weights of groups weigh as in CatBoost."""
    of_groups = np.random.Generator(np.random.Philox(seed)).random(len(data.sizes))
    of_rows = np.repeat(of_groups, data.sizes)
    rows = pool(data, of_rows)

    model = trained(
        hook.eval_metric("NDCG:top=3", rows, convention="catboost"),
        rows,
        rows,
        "NDCG:top=3",
    )

    (theirs,) = model.eval_metrics(rows, ["NDCG:top=3"]).values()
    assert model.get_evals_result()["validation"]["NDCG:top=3"] == pytest.approx(
        theirs, abs=1e-6
    )
    stages = hook.staged(
        model, rows, "NDCG:top=3", group_weight=of_rows, convention="catboost"
    )
    assert stages["NDCG:top=3"].to_list() == pytest.approx(theirs, abs=1e-6)


def test_it_chooses_the_best_model() -> None:
    """The number of trees is the best by our measure, and the metric bears its name."""
    train, valid = pool(drawn(1)), pool(drawn(2))
    metric = hook.eval_metric("nDCG@5", train, valid, ties="worst")
    model = catboost.CatBoost(
        {"iterations": 30, "loss_function": "YetiRank", "eval_metric": metric, **QUIET}
    )

    model.fit(train, eval_set=valid, use_best_model=True)

    values = model.get_evals_result()["validation"]["nDCG@5"]
    assert model.get_best_iteration() == int(np.argmax(values))
    assert model.tree_count_ == int(np.argmax(values)) + 1


def test_every_few_trees() -> None:
    """Stages are reported by their trees, the last one whole; several measures at once."""
    data = drawn(1)
    rows = pool(data)
    model = trained("NDCG", rows, rows, "MAP", iterations=5)

    stages = hook.staged(model, rows, "nDCG@5 AP", every=2)

    assert stages["trees"].to_list() == [2, 4, 5]
    assert stages.columns == ["trees", "nDCG@5", "AP"]


def test_mistakes() -> None:
    """What is not bound, or could be two sets of data: refused; CatBoost hands our sentence on."""
    data, other = drawn(1), drawn(2)
    train, valid = pool(data), pool(other)
    with pytest.raises(UsageError, match="no data sets are given"):
        hook.eval_metric("AP")
    with pytest.raises(UsageError, match="lack labels or groups"):
        hook.eval_metric("AP", catboost.Pool(data.X, data.y))
    with pytest.raises(
        UsageError, match=r"(?s)pools\[1\].*same labels and different groups"
    ):
        hook.eval_metric("AP", ([1, 0, 1], [1, 1, 2]), ([1, 0, 1], [1, 2, 2]))
    with pytest.raises(InputError, match="are not adjacent"):
        hook.eval_metric("AP", ([1, 0, 1], [1, 2, 1]))
    with pytest.raises(InputError, match="do not match"):
        hook.eval_metric("AP", ([1, 0, 1], [1, 2]))
    with pytest.raises(UsageError, match="one measure"):
        hook.eval_metric("AP RR", train)
    with pytest.raises(
        catboost.CatBoostError, match="belong to none of the given data sets"
    ):
        trained(hook.eval_metric("AP", valid), train, valid, "MAP")
