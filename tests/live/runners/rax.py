"""Rax's own numbers: its metrics, mapped over lists of one length with a mask."""

from __future__ import annotations

from typing import Any

LIBRARY = "rax-0.4"
REQUIRES = ["rax==0.4.*", "jax", "jaxlib"]
TRAITS = {"grades": [0, 0, 1, 1, 2, 3, 4, 0.5, -1], "duplicates": True}
MEASURES = [
    *(f"{name}_metric(topn=<k>)" for name in ("ndcg", "dcg", "ap", "mrr", "precision", "recall")),
    *(f"{name}_metric" for name in ("ndcg", "dcg", "ap", "mrr", "precision", "recall", "opa")),
]
#: lists are brought to this length, so that nothing is compiled twice
_LENGTH = 16
_COMPILED: dict[tuple[str, int | None, int], Any] = {}


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np

    lists = case["run"].items()
    scores, labels = np.zeros((2, len(lists), _LENGTH), np.float32)
    mask = np.zeros((len(lists), _LENGTH), bool)
    for at, (query, listed) in enumerate(lists):
        scores[at, : len(listed)] = [score for _, score in listed]
        labels[at, : len(listed)] = [case["qrels"].get(query, {}).get(doc, 0.0) for doc, _ in listed]
        mask[at, : len(listed)] = True
    return {measure: float(_metric(measure, len(lists))(scores, labels, mask)) for measure in measures}


def _metric(measure: str, lists: int) -> Any:
    import jax
    import rax

    name, _, settings = measure.partition("(")
    topn = int(settings.partition("=")[2].rstrip(")")) if settings else None
    if (name, topn, lists) not in _COMPILED:
        found, more = getattr(rax, name), {} if topn is None else {"topn": topn}
        _COMPILED[name, topn, lists] = jax.jit(lambda s, y, w: found(s, y, where=w, **more))
    return _COMPILED[name, topn, lists]
