"""RecBole's own numbers: its metric classes, over the matrices its collector makes of lists."""

from __future__ import annotations

import sys
import types
import warnings
from importlib import util
from pathlib import Path
from typing import Any

LIBRARY = "recbole-1.2"
REQUIRES = [
    "--no-deps",
    "recbole==1.2.1",
    "numpy==2.*",
    "scikit-learn==1.*",
    "scipy",
    "joblib",
    "threadpoolctl",
    "cloudpickle",
    "narwhals",
]
#: our means are rounded to four decimals; its own are requested unrounded, lest rounding noise differ
WITHIN = 0.5001e-4
TRAITS = {
    "grades": [0, 0.5, 1, 2, 3],
    "duplicates": False,
    "missing": True,
    "extra": True,
}
_TOP = ("ndcg", "map", "mrr", "recall", "precision", "hit")
MEASURES = [*(f"{name}@<k>" for name in _TOP), "gauc", "auc"]


class Kept:
    """Stands for a tensor: holds an array and gives it back."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def to(self, kind: Any) -> Kept:
        """Return it as another type."""
        return Kept(self.array.astype(kind))

    def squeeze(self, axis: int) -> Kept:
        """Return it with one axis less."""
        return Kept(self.array.squeeze(axis))

    def numpy(self) -> Any:
        """Return the array."""
        return self.array


def _split(kept: Kept, sizes: list[int], dim: int) -> tuple[Kept, ...]:
    import numpy as np

    return tuple(
        Kept(part) for part in np.split(kept.array, np.cumsum(sizes)[:-1], axis=dim)
    )


def _theirs() -> Any:
    """Return its file of metrics, as it is; what it imports beside NumPy is stood in for."""
    import numpy as np

    if "recbole.evaluator.metrics" in sys.modules:
        return sys.modules["recbole.evaluator.metrics"]
    # names that NumPy 1.24 took away
    for alias in (float, bool, int):
        if not hasattr(np, alias.__name__):
            setattr(np, alias.__name__, alias)
    torch = types.ModuleType("torch")
    torch.Tensor, torch.split, torch.bool = Kept, _split, bool  # type: ignore[attr-defined]
    utils = types.ModuleType("recbole.utils")
    utils.EvaluatorType = types.SimpleNamespace(RANKING=1, VALUE=2)  # type: ignore[attr-defined]
    sys.modules |= {"torch": torch, "recbole.utils": utils}
    result = util.find_spec("recbole")
    assert result is not None
    folder = Path(str(result.origin)).parent / "evaluator"
    package = types.ModuleType("recbole.evaluator")
    package.__path__ = [str(folder)]
    sys.modules["recbole.evaluator"] = package
    import recbole.evaluator.metrics as theirs

    return theirs


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    theirs = _theirs()
    warnings.simplefilter("ignore")
    config = {"topk": [case["k"]], "metric_decimal_place": 15}
    classes = {
        "ndcg": "NDCG",
        "hit": "Hit",
        "recall": "Recall",
        "precision": "Precision",
    }
    data, values = _data(case), {}
    for measure in measures:
        name = measure.partition("@")[0]
        metric = getattr(theirs, classes.get(name, name.upper()))(config)
        try:
            values[measure] = float(metric.calculate_metric(data)[measure])
        except (ValueError, IndexError) as error:
            values[measure] = {"error": repr(error)}
    return values


def _data(case: dict[str, Any]) -> dict[str, Kept]:
    """Make what its collector makes of every list: hits down to k, and mean ranks."""
    import numpy as np
    from scipy.stats import rankdata

    k = case["k"]
    top, ranks, rows = [], [], []
    for user, listed in case["run"].items():
        liked = {doc for doc, grade in case["qrels"].get(user, {}).items() if grade > 0}
        hit = [doc in liked for doc, _ in listed]
        row = (hit + [False] * k)[:k]
        top.append([*row, len(liked)])
        own = np.array([score for _, score in listed])
        ranks.append([rankdata(-own)[hit].sum(), len(hit), sum(hit)])
        rows += zip(own, hit, strict=True)
    scores, labels = (
        Kept(np.array(column, float)[:, None]) for column in zip(*rows, strict=True)
    )
    tables = {
        "rec.topk": Kept(np.array(top)),
        "rec.meanrank": Kept(np.array(ranks, float)),
    }
    return {**tables, "rec.score": scores, "data.label": labels}
