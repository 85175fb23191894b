"""LensKit's own numbers: what RunAnalysis sums up, lists without a value filled in as it does."""

from __future__ import annotations

import re
import sys
import types
import warnings
from typing import Any

LIBRARY = "lenskit-2025.8"
#: PyTorch serves its models; in these measures it is a type that nothing is of
REQUIRES = [
    "--no-deps",
    "lenskit==2025.8.1",
    "annotated-types",
    "backports-zstd",
    "certifi",
    "charset-normalizer",
    "deepmerge",
    "humanize",
    "idna",
    "lazy-loader",
    "markdown-it-py",
    "mdurl",
    "more-itertools",
    "numpy==2.*",
    "packaging",
    "pandas==2.*",
    "prettytable",
    "psutil",
    "pyarrow",
    "pydantic-core",
    "pydantic-settings",
    "pydantic==2.*",
    "pygments",
    "python-dateutil",
    "python-dotenv",
    "pytz",
    "pyzmq",
    "requests",
    "rich",
    "scipy",
    "setuptools",
    "six",
    "structlog",
    "threadpoolctl",
    "typing-extensions",
    "typing-inspection",
    "tzdata",
    "urllib3",
    "wcwidth",
    "xopen",
]
TRAITS = {
    "grades": [0, 0.5, 1, 2, 3],
    "duplicates": True,
    "missing": True,
    "extra": True,
}
_NAMES = (
    "NDCG",
    "DCG",
    "AveragePrecision",
    "RecipRank",
    "Precision",
    "Recall",
    "Hit",
    "RBP",
)
MEASURES = [
    *(name + cutoff for name in _NAMES for cutoff in ("@<k>", "")),
    "NDCG(n=<k>, weight=LogRankWeight(offset=1))",
    "NDCG(n=<k>, gain='rating')",
    "NDCG(n=<k>, weight=LogRankWeight(offset=1), gain='rating')",
    "DCG(n=<k>, weight=LogRankWeight(offset=1))",
    "DCG(n=<k>, gain='rating')",
    "RBP(n=<k>, patience=0.5)",
    "RBP(patience=0.5)",
    "RBP(n=<k>, normalize=True)",
]
_SINGLE = "[measure_list]"
MEASURES += [measure + _SINGLE for measure in MEASURES]


class Torch(types.ModuleType):
    """Stands for PyTorch: every attribute of it is a type; what decorates decorates with nothing."""

    __path__: tuple[str, ...] = ()
    jit = types.SimpleNamespace(ignore=lambda function: function)

    def __getattr__(self, name: str) -> type:
        """Return a type of that name, always the same."""
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {})
        setattr(self, name, made)
        return made

    def is_tensor(self, _value: object) -> bool:
        """Say no."""
        return False


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    sys.modules.setdefault("torch", Torch("torch"))
    from lenskit.data import ItemList, ItemListCollection

    warnings.simplefilter("ignore")
    outputs, test, everybody = (ItemListCollection(["user_id"]) for _ in range(3))
    for user, listed in case["run"].items():
        items, scores = [item for item, _ in listed], [score for _, score in listed]
        shown = (
            ItemList(item_ids=items, scores=scores, ordered=True)
            if listed
            else ItemList([], ordered=True)
        )
        outputs.add(shown, user_id=user)
    for user, judged in case["qrels"].items():
        kept = {item: grade for item, grade in judged.items() if grade > 0}
        if kept:
            test.add(
                ItemList(item_ids=list(kept), rating=list(kept.values())), user_id=user
            )
        ratings = {"rating": list(kept.values())} if kept else {}
        everybody.add(
            ItemList(item_ids=list(kept), **ratings) if kept else ItemList([]),
            user_id=user,
        )
    return {
        measure: _mean(measure.removesuffix(_SINGLE), outputs, everybody)
        if measure.endswith(_SINGLE)
        else _score(measure, outputs, test)
        for measure in measures
    }


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of empty lists of users without test items, whom RunAnalysis does not see."""
    hollow = [user for user, listed in case["run"].items() if not listed]
    if not measure.endswith(_SINGLE) and any(
        max(case["qrels"].get(user, {}).values(), default=0) <= 0 for user in hollow
    ):
        return "a user without test items who is shown nothing does not count"
    if hollow and measure.endswith(_SINGLE):
        return "a list without a value, or an error: the first of them decides"
    return None


def _mean(measure: str, outputs: Any, test: Any) -> Any:
    """Average single calls over users with test data and a list."""
    import numpy as np

    metric, keys = _metric(measure), set(outputs.keys())
    judged = [
        (outputs.lookup(key), test.lookup(key))
        for key in test.keys()  # noqa: SIM118 - iterating gives lists
        if key in keys
    ]
    try:
        return float(np.mean([metric.measure_list(*pair) for pair in judged]))
    except (ZeroDivisionError, KeyError) as error:
        return {"error": repr(error)}


def _score(measure: str, outputs: Any, test: Any) -> Any:
    from lenskit.metrics import RunAnalysis

    analysis = RunAnalysis()
    analysis.add_metric(_metric(measure), label="it")
    try:
        return float(analysis.measure(outputs, test).list_summary().loc["it", "mean"])
    except (ZeroDivisionError, KeyError) as error:
        return {"error": repr(error)}


def _metric(measure: str) -> Any:
    from lenskit.metrics import ranking

    name, cutoff, settings = re.fullmatch(
        r"(\w+)@?(\d*)(?:\((.*)\))?", measure
    ).groups()  # type: ignore[union-attr]
    values = dict(re.findall(r"(\w+)=('\w+'|[\d.]+|True|\w+\(.*?\))", settings or ""))
    made: dict[str, Any] = {"n": int(cutoff) if cutoff else None}
    for word, text in values.items():
        if word == "weight":
            from lenskit.metrics.ranking._weighting import LogRankWeight

            made[word] = LogRankWeight(offset=int(re.findall(r"\d+", text)[0]))
        elif word != "n":
            made[word] = (
                text.strip("'") if text[0] == "'" else text == "True" or float(text)
            )
        else:
            made[word] = int(text)
    return getattr(ranking, name)(**made)
