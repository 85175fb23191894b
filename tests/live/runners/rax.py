"""Rax's own numbers: its metrics, mapped over lists of one length with a mask."""

from __future__ import annotations

from typing import Any

LIBRARY = "rax-0.4"
REQUIRES = ["rax==0.4.*", "jax", "jaxlib"]
TRAITS = {"grades": [0, 0, 1, 1, 2, 3, 4, 0.5, -1], "duplicates": True}
MEASURES = [
    *(
        f"{name}_metric(topn=<k>)"
        for name in ("ndcg", "dcg", "ap", "mrr", "precision", "recall")
    ),
    *(
        f"{name}_metric"
        for name in ("ndcg", "dcg", "ap", "mrr", "precision", "recall", "opa")
    ),
]
#: lists are brought to one of these lengths, so that little is compiled twice
_LENGTHS = (16, 64, 512)
_COMPILED: dict[tuple[str, int | None], Any] = {}


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np

    lists = case["run"].items()
    longest = max((len(listed) for _, listed in lists), default=0)
    length = next(length for length in _LENGTHS if length >= longest)
    scores, labels = np.zeros((2, len(lists), length), np.float32)
    mask = np.zeros((len(lists), length), bool)
    for index, (query, listed) in enumerate(lists):
        scores[index, : len(listed)] = [score for _, score in listed]
        labels[index, : len(listed)] = [
            case["qrels"].get(query, {}).get(doc, 0.0) for doc, _ in listed
        ]
        mask[index, : len(listed)] = True
    return {
        measure: float(_metric(measure)(scores, labels, mask)) for measure in measures
    }


def _metric(measure: str) -> Any:
    import jax
    import rax

    name, _, settings = measure.partition("(")
    topn = int(settings.partition("=")[2].rstrip(")")) if settings else None
    if (name, topn) not in _COMPILED:
        result, more = getattr(rax, name), {} if topn is None else {"topn": topn}
        _COMPILED[name, topn] = jax.jit(lambda s, y, w: result(s, y, where=w, **more))
    return _COMPILED[name, topn]
