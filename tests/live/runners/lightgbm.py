"""LightGBM's own numbers: a booster without trees, whose validation data start from given scores."""

from __future__ import annotations

from typing import Any

LIBRARY = "lightgbm-4.7"
REQUIRES = ["lightgbm==4.7.*"]
TRAITS = {"grades": [0, 1, 2, 3, 4], "duplicates": True}
#: it sees the labels of rows, and no other judgments
ROWS = True
MEASURES = [
    "ndcg@<k>",
    "ndcg@<k>[label_gain=0,1,2.5,7,7]",
    "ndcg@<k>[label_gain=0,1,3]",
    "map@<k>",
    "auc",
    "average_precision",
]
BINARY = MEASURES


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np

    lists = case["run"].items()
    labels = np.array(
        [case["qrels"].get(q, {}).get(d, 0.0) for q, listed in lists for d, _ in listed]
    )
    scores = np.array([score for _, listed in lists for _, score in listed])
    sizes = np.array([len(listed) for _, listed in lists])
    return {measure: _one(measure, labels, scores, sizes) for measure in measures}


def _one(measure: str, labels: Any, scores: Any, sizes: Any) -> Any:
    import lightgbm
    import numpy as np

    name, _, gains = measure.rstrip("]").partition("[label_gain=")
    metric, _, k = name.partition("@")
    params = {"objective": "none", "metric": metric, "verbosity": -1, "num_threads": 1}
    params |= {"eval_at": [int(k)]} if k else {}
    params |= {"label_gain": gains} if gains else {}
    train = lightgbm.Dataset(
        np.arange(40.0).reshape(40, 1), label=np.zeros(40), group=[40]
    )
    rows = np.arange(float(len(labels))).reshape(-1, 1)
    valid = lightgbm.Dataset(
        rows, label=labels, group=sizes, init_score=scores, reference=train
    )
    try:
        booster = lightgbm.Booster(params, train).add_valid(valid, "valid")
        return next(
            value for _, message, value, _ in booster.eval_valid() if message == name
        )
    except lightgbm.basic.LightGBMError as error:
        return {"error": str(error)}
