"""RankingMetrics beside torchmetrics' own, under its conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankstone.errors import InputError, UsageError
from rankstone.integrations.arrays import evaluate

pytestmark = pytest.mark.arrays

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make arrays")
retrieval = pytest.importorskip(
    "torchmetrics.retrieval", reason="torchmetrics is not installed: make arrays"
)


def batch(seed: int, *, ties: bool = False) -> tuple[Any, Any, Any]:
    draw = np.random.Generator(np.random.Philox(seed))
    sizes = draw.integers(1, 15, 30)
    scores = (
        draw.integers(1, 5, sizes.sum()) / 8
        if ties
        else draw.permutation(sizes.sum()) / sizes.sum() + 0.01
    )
    labels = draw.choice([0, 0, 1], sizes.sum())
    labels[: sizes[0]] = 0  # a query without a relevant document
    indexes = np.repeat(np.arange(30), sizes)
    order = draw.permutation(len(indexes))
    return tuple(torch.from_numpy(part[order]) for part in (scores, labels, indexes))


PEERS = {
    "nDCG@5": lambda how: retrieval.RetrievalNormalizedDCG(top_k=5, **how),
    "nDCG": lambda how: retrieval.RetrievalNormalizedDCG(**how),
    "AP": lambda how: retrieval.RetrievalMAP(**how),
    "RR@5": lambda how: retrieval.RetrievalMRR(top_k=5, **how),
    "P@5": lambda how: retrieval.RetrievalPrecision(top_k=5, **how),
    "R@5": lambda how: retrieval.RetrievalRecall(top_k=5, **how),
    "Success@5": lambda how: retrieval.RetrievalHitRate(top_k=5, **how),
    "Rprec": lambda how: retrieval.RetrievalRPrecision(**how),
}


def ranking_metrics(*args: Any, **how: Any) -> Any:
    from rankstone.integrations.torch import RankingMetrics

    return RankingMetrics(*args, **how)


@pytest.mark.parametrize(
    ("action", "empty"), [("neg", "zero"), ("pos", "one"), ("skip", "drop")]
)
def test_same_numbers(action: str, empty: str) -> None:
    """Every measure has torchmetrics' number, empty queries settled as it settles them."""
    preds, target, indexes = batch(1)
    metric = ranking_metrics(list(PEERS), options={"empty": empty})
    metric.update(preds, target, indexes=indexes)
    for text, value in metric.compute().items():
        peer = PEERS[text]({"empty_target_action": action})
        peer.update(preds.float(), target, indexes=indexes)
        assert float(value) == pytest.approx(float(peer.compute()), abs=1e-6), text


def test_ties_of_ndcg() -> None:
    """Both take the mean over orders of tied documents."""
    preds, target, indexes = batch(2, ties=True)
    metric, peer = ranking_metrics("nDCG"), retrieval.RetrievalNormalizedDCG()
    for each in (metric, peer):
        each.update(preds.float(), target, indexes=indexes)

    assert float(metric.compute()["nDCG"]) == pytest.approx(
        float(peer.compute()), abs=1e-6
    )


def test_updates_and_reset() -> None:
    """Rows of a query may come in several updates; reset forgets them; queries are reported one by one."""
    preds, target, indexes = batch(3)
    metric = ranking_metrics("nDCG@5 AP")
    for part in range(3):
        metric.update(preds[part::3], target[part::3], indexes[part::3])
    order = np.concatenate([np.arange(len(preds))[part::3] for part in range(3)])
    expected = evaluate(
        preds[order], target[order], "nDCG@5 AP", qid=indexes[order].numpy()
    )

    assert {
        text: float(value) for text, value in metric.compute().items()
    } == expected.mean()
    assert sorted(metric.scores().queries.tolist()) == list(range(30))
    metric.reset()
    with pytest.raises(InputError, match="there are no scores"):
        metric.scores()


def test_forward_and_ignored_rows() -> None:
    """Calling the metric gives the batch's values; ignored rows are not there."""
    metric = ranking_metrics("RR", ignore_index=-100)
    now = metric(
        torch.tensor([0.9, 0.5, 0.1]),
        torch.tensor([-100, 0, 1]),
        indexes=torch.tensor([0, 0, 0]),
    )

    assert float(now["RR"]) == 0.5


def test_mistakes() -> None:
    """Measures, shapes and indexes are checked when they come."""
    with pytest.raises(UsageError):
        ranking_metrics("nDGC@5")
    metric = ranking_metrics("RR")
    with pytest.raises(InputError, match="do not fit"):
        metric.update(torch.zeros(2), torch.zeros(3), torch.zeros(2, dtype=torch.int64))
    with pytest.raises(InputError, match="not query numbers"):
        metric.update(torch.zeros(2), torch.zeros(2), torch.zeros(2))
