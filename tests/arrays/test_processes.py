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
    return scores, (torch.rand(240, generator=generator) < 0.3).long(), torch.arange(240) // 12


def share(rank: int, port: int, answers: Any) -> None:
    """Score every other row, in no query all of them, and say what all processes come to."""
    import torch
    from torch import distributed

    from rankstone.torch import RankingMetrics

    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    scores, labels, queries = rows()
    mine = torch.arange(240) % 2 == rank
    metric = RankingMetrics(MEASURES)
    metric.update(scores[mine], labels[mine], indexes=queries[mine])
    answers.put({text: float(value) for text, value in metric.compute().items()})
    distributed.destroy_process_group()


def test_two_processes() -> None:
    """Both say what one process says of all rows."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make arrays")
    pytest.importorskip("torchmetrics", reason="torchmetrics is not installed: make arrays")
    from rankstone.torch import RankingMetrics

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = torch.multiprocessing.get_context("spawn")
    answers = context.Queue()
    workers = [context.Process(target=share, args=(rank, port, answers)) for rank in range(2)]
    for worker in workers:
        worker.start()
    found = [answers.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()

    scores, labels, queries = rows()
    metric = RankingMetrics(MEASURES)
    metric.update(scores, labels, indexes=queries)
    assert found == [{text: float(value) for text, value in metric.compute().items()}] * 2
