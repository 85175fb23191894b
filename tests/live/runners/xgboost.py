"""XGBoost's own numbers: metrics that a booster prints for margins it is given."""

from __future__ import annotations

from typing import Any

LIBRARY = "xgboost-3.2"
REQUIRES = ["xgboost==3.2.*", "numpy", "scipy"]
TRAITS = {"grades": [0, 1, 2, 3, 4], "duplicates": False, "missing": True, "extra": True}
MEASURES = ["ndcg@<k>", "ndcg@<k>-", "ndcg"]
#: in binary judgments
BINARY = ["map@<k>", "pre@<k>"]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np
    import xgboost

    lists = case["run"].items()
    labels = [case["qrels"].get(q, {}).get(d, 0.0) for q, listed in lists for d, _ in listed]
    margins = [score for _, listed in lists for _, score in listed]
    found: dict[str, Any] = {}
    for measure in measures:
        data = xgboost.DMatrix(np.zeros((len(labels), 1)), label=np.array(labels, np.float32))
        data.set_group([len(listed) for _, listed in lists])
        data.set_base_margin(np.array(margins, np.float32))
        params = {"objective": "rank:pairwise", "eval_metric": measure, "base_score": 0.0}
        params |= {"disable_default_eval_metric": 1, "verbosity": 0}
        try:
            booster = xgboost.train(params, data, num_boost_round=0)
            text = booster.eval_set([(data, "e")], 0)
            found[measure] = float(text.split(":")[-1])
        except xgboost.core.XGBoostError as error:
            found[measure] = {"error": type(error).__name__}
    return found
