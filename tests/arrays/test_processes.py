"""Several processes that hold a share of the rows each find what one finds of all."""

from __future__ import annotations

import socket
from typing import Any

import pytest

pytestmark = pytest.mark.arrays

MEASURES = "nDCG@5 AP RR"


def rows() -> tuple[Any, Any, Any]:
    """Return scores, labels and queries, the same in every process."""
    import torch

    generator = torch.Generator().manual_seed(3)
    scores = torch.rand(240, generator=generator)
    return (
        scores,
        (torch.rand(240, generator=generator) < 0.3).long(),
        torch.arange(240) // 12,
    )


def share(
    rank: int, port: int, answers: Any, *, alone: bool, twice: bool = False
) -> None:
    """Score a share of the rows, in no query all of them, and say what all processes come to."""
    from datetime import timedelta

    import torch
    from torch import distributed

    from rankstone.integrations.torch import RankingMetrics

    address, patience = f"tcp://127.0.0.1:{port}", timedelta(seconds=30)
    distributed.init_process_group(
        "gloo", init_method=address, rank=rank, world_size=2, timeout=patience
    )
    scores, labels, queries = rows()
    mine = torch.full((240,), rank == 0) if alone else torch.arange(240) % 2 == rank
    metric = RankingMetrics(MEASURES)
    if mine.any():
        metric.update(scores[mine], labels[mine], indexes=queries[mine])
    answers.put({text: float(value) for text, value in metric.compute().items()})
    if twice:  # what was gathered is given back: more rows, and again
        metric.update(scores[mine], labels[mine], indexes=queries[mine] + 100)
        answers.put({text: float(value) for text, value in metric.compute().items()})
    distributed.destroy_process_group()


def answered(*, alone: bool, twice: bool = False) -> list[dict[str, float]]:
    """Return what two processes say, within a minute."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make arrays")
    pytest.importorskip(
        "torchmetrics", reason="torchmetrics is not installed: make arrays"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = torch.multiprocessing.get_context("spawn")
    answers = context.Queue()
    how = {"alone": alone, "twice": twice}
    workers = [
        context.Process(target=share, args=(rank, port, answers), kwargs=how)
        for rank in range(2)
    ]
    for worker in workers:
        worker.start()
    try:
        return [answers.get(timeout=120) for _ in range(4 if twice else 2)]
    finally:
        for worker in workers:
            worker.join(timeout=60)
            worker.terminate()


def of_all_rows() -> dict[str, float]:
    """Return what one process says."""
    from rankstone.integrations.torch import RankingMetrics

    scores, labels, queries = rows()
    metric = RankingMetrics(MEASURES)
    metric.update(scores, labels, indexes=queries)
    return {text: float(value) for text, value in metric.compute().items()}


def test_two_processes() -> None:
    """Both say what one process says of all rows."""
    assert answered(alone=False) == [of_all_rows()] * 2


@pytest.mark.filterwarnings("ignore:The ``compute`` method")
def test_a_process_without_rows() -> None:
    """It takes part all the same, and says what the other says; no process waits for it, now or the next time."""
    assert answered(alone=True, twice=True) == [of_all_rows()] * 4
