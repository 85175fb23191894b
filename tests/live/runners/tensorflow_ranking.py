"""TensorFlow Ranking's own numbers: its Keras metrics of padded batches, one batch after the other."""

from __future__ import annotations

import re
from typing import Any

LIBRARY = "tensorflow_ranking-0.5"
PACKAGE = "tensorflow-ranking"
#: what its metrics import; estimators, serving and boards play no part in them (TensorFlow 2.15: Python 3.11)
REQUIRES = [
    "--no-deps",
    "tensorflow-ranking==0.5.5",
    "tensorflow-cpu==2.15.1",
    "keras==2.15.*",
    "numpy==1.26.*",
    *(
        "absl-py",
        "astunparse",
        "flatbuffers",
        "gast",
        "google-pasta",
        "grpcio",
        "h5py",
        "ml-dtypes==0.3.*",
    ),
    *(
        "opt-einsum",
        "packaging",
        "protobuf==4.*",
        "setuptools<81",
        "six",
        "termcolor",
        "typing-extensions",
    ),
    *("requests", "certifi", "charset-normalizer", "idna", "urllib3"),
    *(
        "wheel",
        "wrapt==1.14.*",
        "tensorflow-estimator==2.15.*",
        "tensorflow-io-gcs-filesystem",
    ),
]
TRAITS = {"grades": [0, 0.5, 1, 2, 3], "duplicates": True}
_NAMES = ("NDCG", "DCG", "MeanAveragePrecision", "MRR", "Precision", "Recall")
MEASURES = [
    *(f"{name}Metric(topn=<k>)" for name in (*_NAMES, "Hits")),
    *(f"{name}Metric" for name in (*_NAMES, "BPref")),
]


#: lists are brought to one of these lengths, so that little is compiled twice
_LENGTHS = (16, 64, 512)
_METRICS: dict[str, Any] = {}


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw every tenth case with ties, which it breaks at random, and the others without."""
    from dataclasses import replace

    from tests.live import worlds

    few = count // 10
    strict = worlds.cases(seed, count - few, replace(traits, ties=False))
    return [*strict, *worlds.cases(seed + 1, few, traits)]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np

    lists = list(case["run"].items())
    longest = max((len(listed) for _, listed in lists), default=0)
    length = next(length for length in _LENGTHS if length >= longest)
    labels = np.full((len(lists), length), -1.0, np.float32)
    scores = np.zeros((len(lists), length), np.float32)
    for index, (query, listed) in enumerate(lists):
        labels[index, : len(listed)] = [
            case["qrels"].get(query, {}).get(d, 0.0) for d, _ in listed
        ]
        scores[index, : len(listed)] = [score for _, score in listed]
    return {measure: _mean(measure, labels, scores) for measure in measures}


def _mean(measure: str, labels: Any, scores: Any) -> float:
    """Return a Keras metric's result; bpref is none, and is averaged as those are."""
    name, k = re.fullmatch(r"(\w+)(?:\(topn=(\d+)\))?", measure).groups()  # type: ignore[union-attr]
    if name == "BPrefMetric":
        values, weights = (
            _loaded("metrics_impl").BPrefMetric(name, topn=None).compute(labels, scores)
        )
        return float((values * weights).numpy().sum() / weights.numpy().sum())
    if measure not in _METRICS:
        kind = getattr(_loaded("keras.metrics"), name)
        _METRICS[measure] = kind(topn=int(k)) if k else kind()
    metric = _METRICS[measure]
    metric.reset_state()
    metric.update_state(labels, scores)
    return float(metric.result())


def _loaded(module: str) -> Any:
    """Return one of its modules; the package around them imports estimators and serving."""
    import importlib
    import importlib.util
    import os
    import sys
    from pathlib import Path
    from types import ModuleType

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if "tensorflow_ranking" not in sys.modules:
        spec = importlib.util.find_spec("tensorflow_ranking")
        assert spec is not None
        assert spec.origin is not None
        root = Path(spec.origin).parent
        for name in (
            "tensorflow_ranking",
            "tensorflow_ranking.python",
            "tensorflow_ranking.python.keras",
        ):
            package = ModuleType(name)
            package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
            sys.modules[name] = package
    return importlib.import_module(f"tensorflow_ranking.python.{module}")


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of labels below zero, which are padding there, and of ties, where the order matters."""
    if (
        min(
            (grade for docs in case["qrels"].values() for grade in docs.values()),
            default=0,
        )
        < 0
    ):
        return "labels below 0, which mark padding, are refused here"
    if measure in ("PrecisionMetric", "RecallMetric"):
        return None
    for query, listed in case["run"].items():
        labels: dict[float, set[float]] = {}
        for doc, score in listed:
            labels.setdefault(score, set()).add(
                case["qrels"].get(query, {}).get(doc, 0.0)
            )
        if any(len(tied) > 1 for tied in labels.values()):
            return "tied rows of different labels stand in an order drawn at random"
    return None
