"""XGBoost's own numbers: metrics that a booster prints for margins it is given."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

LIBRARY = "xgboost-3.2"
REQUIRES = ["--no-deps", "xgboost==3.2.*", "numpy", "scipy"]
TRAITS = {"grades": [0, 1, 2, 3, 4], "duplicates": True}
#: it sees the labels of rows, and no other judgments
ROWS = True
MEASURES = [
    "ndcg@<k>",
    "ndcg@<k>-",
    "ndcg",
    "ndcg-",
    "ndcg@<k>[ndcg_exp_gain=False]",
    "ndcg@<k>-[ndcg_exp_gain=False]",
    "auc",
]
#: in binary judgments
BINARY = ["map@<k>", "map@<k>-", "map", "map-", "pre@<k>", "pre", "auc", "aucpr"]


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw cases, in a fifth of them with labels that only linear gains take, and mix up the rows.

    Some lists are made longer than the 32 rows it looks at.
    """
    from tests.live import worlds

    rng, few = random.Random(seed), 0 if traits.grades == (0, 1) else count // 5
    odd = replace(
        traits, grades=(-1, 0, 0.5, 1, 2), unretrieved=False, missing=False
    )  # it sees them all
    drawn = [
        *worlds.cases(seed, count - few, traits),
        *worlds.cases(seed + 7, few, odd),
    ]
    for case in drawn:
        for query, listed in case["run"].items():
            if rng.random() < 0.25:
                worst = min((score for _, score in listed), default=0.0)
                for number in range(rng.randint(20, 40)):
                    worst -= rng.choice((0, 0.5))
                    listed.append([f"x{number}", worst])
                    if query in case["qrels"] and rng.random() < 0.2:
                        case["qrels"][query][f"x{number}"] = float(
                            rng.choice(traits.grades)
                        )
            if rng.random() < 0.5:
                rng.shuffle(listed)
    return drawn


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np
    import xgboost

    lists = case["run"].items()
    labels = [
        case["qrels"].get(q, {}).get(d, 0.0) for q, listed in lists for d, _ in listed
    ]
    margins = [score for _, listed in lists for _, score in listed]
    values: dict[str, Any] = {}
    for measure in measures:
        metric, _, settings = measure.partition("[")
        data = xgboost.DMatrix(
            np.zeros((len(labels), 1)), label=np.array(labels, np.float32)
        )
        data.set_group([len(listed) for _, listed in lists])
        data.set_base_margin(np.array(margins, np.float32))
        params = {
            "objective": "rank:pairwise",
            "eval_metric": metric,
            "base_score": 0.0,
            "nthread": 1,
        }
        params |= {"disable_default_eval_metric": 1, "verbosity": 0}
        params |= {"ndcg_exp_gain": False} if settings else {}
        try:
            booster = xgboost.train(params, data, num_boost_round=0)
            values[measure] = float(booster.eval_set([(data, "e")], 0).split(":")[-1])
        except xgboost.core.XGBoostError as error:
            values[measure] = {"error": str(error)}
    return values
