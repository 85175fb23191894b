"""allRank's own numbers: its metrics of one padded batch, averaged as its training loop does."""

from __future__ import annotations

from typing import Any

LIBRARY = "allrank-1.4"
#: its metrics need nothing else of what it pins
REQUIRES = [
    "--no-deps",
    "allrank==1.4.*",
    "torch==2.13.0+cpu",
    "numpy",
    *(
        "typing_extensions",
        "sympy",
        "mpmath",
        "networkx",
        "jinja2",
        "markupsafe",
        "filelock",
        "fsspec",
    ),
]
#: its lists are the rows of a query, so none is empty
TRAITS = {"grades": [0, 0, 1, 2, 3, 4, 0.5], "duplicates": True, "hollow": False}
MEASURES = ["ndcg_<k>", "ndcg", "mrr_<k>", "mrr", "dcg_<k>", "dcg"]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import sys
    from types import ModuleType

    import torch

    loading = ModuleType(
        "allrank.data.dataset_loading"
    )  # imports what reads its files; this is all it lends
    loading.PADDED_Y_VALUE = -1  # type: ignore[attr-defined]
    sys.modules.setdefault("allrank.data.dataset_loading", loading)
    from allrank.models import metrics

    lists = list(case["run"].items())
    longest = max(len(listed) for _, listed in lists)
    scores, labels = (
        torch.zeros(len(lists), longest),
        torch.full((len(lists), longest), -1.0),
    )
    for index, (query, listed) in enumerate(lists):
        scores[index, : len(listed)] = torch.tensor([score for _, score in listed])
        labels[index, : len(listed)] = torch.tensor(
            [case["qrels"].get(query, {}).get(d, 0.0) for d, _ in listed]
        )
    numbers: dict[str, Any] = {}
    for measure in measures:
        name, _, k = measure.partition("_")
        values = getattr(metrics, name)(scores, labels, ats=[int(k)] if k else None)
        numbers[measure] = float(values.mean())
    return numbers


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of labels below zero, refused here, of batches whose mrr is 0, and of ties in long lists."""
    if (
        min(
            (grade for docs in case["qrels"].values() for grade in docs.values()),
            default=0,
        )
        < 0
    ):
        return "labels below 0, its mark of padding among them, are refused here"
    lists = [
        [(case["qrels"].get(q, {}).get(d, 0), s) for d, s in listed]
        for q, listed in case["run"].items()
    ]
    if measure.startswith("mrr") and not any(
        grade for listed in lists for grade, _ in listed
    ):
        return "no list of the batch has a relevant row"
    tied = any(len({s for _, s in listed}) < len(set(listed)) for listed in lists)
    if tied and max(map(len, lists)) > 16:
        return "tied rows of different labels in a batch of lists longer than 16 stand in no order of their own"
    return None
