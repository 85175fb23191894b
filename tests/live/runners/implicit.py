"""Implicit's own numbers: ranking_metrics_at_k over a model that recommends given lists."""

from __future__ import annotations

from typing import Any

LIBRARY = "implicit-0.7"
REQUIRES = ["implicit==0.7.3"]
TRAITS = {
    "grades": [0, 0.5, 1, 2, 3],
    "duplicates": True,
    "missing": True,
    "extra": True,
}
MEASURES = ["precision@<k>", "map@<k>", "ndcg@<k>", "auc@<k>"]
#: items of the catalogue: more than anybody likes, since nothing disliked is a division by zero
ITEMS = 1500
OPTIONS = {"candidates": ITEMS}


class ListedItems:
    """A model that recommends given lists, short ones filled up with -1 as the library's own are."""

    def __init__(self, lists: list[list[int]]) -> None:
        self.lists = lists

    def recommend(
        self,
        users: Any,
        _liked: Any,
        N: int = 10,  # noqa: N803
        **_: Any,
    ) -> tuple[Any, Any]:
        """Return item numbers and scores, ``[users, N]`` both."""
        import numpy as np

        ids = np.full((len(users), N), -1, np.int32)
        for row, user in enumerate(users):
            shown = self.lists[user][:N]
            ids[row, : len(shown)] = shown
        return ids, np.zeros(ids.shape, np.float32)


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    judged, listed = case["qrels"].values(), case["run"].values()
    items = [
        *(doc for docs in judged for doc in docs),
        *(doc for docs in listed for doc, _ in docs),
    ]
    number = {doc: index for index, doc in enumerate(dict.fromkeys(items))}
    users = list({**case["qrels"], **case["run"]})
    likes = np.zeros((len(users), ITEMS), np.float32)
    for row, user in enumerate(users):
        for doc, grade in case["qrels"].get(user, {}).items():
            likes[row, number[doc]] = grade
    result = ListedItems(
        [[number[doc] for doc, _ in case["run"].get(user, [])] for user in users]
    )
    try:
        everything = ranking_metrics_at_k(
            result,
            csr_matrix(likes.shape),
            csr_matrix(likes),
            K=case["k"],
            show_progress=False,
        )
    except ZeroDivisionError as error:
        return {measure: {"error": repr(error)} for measure in measures}
    return {
        measure: float(everything[measure.partition("@")[0]]) for measure in measures
    }
