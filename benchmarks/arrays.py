"""Scores and labels in arrays: time and parity, beside torchmetrics, scikit-learn and one sort.

``python benchmarks/arrays.py`` measures on the host; ``--device cuda`` on a device.  What would take
torchmetrics hours is measured on some queries and extrapolated, and the table says so.  ``--loss`` measures
``lambda_loss`` instead.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from rankstone.integrations.arrays import Evaluator, evaluate, lambda_loss

if TYPE_CHECKING:
    from collections.abc import Callable

CUTOFFS = (5, 10, 20)
MEASURES = [
    f"{name}@{k}"
    for name in ("nDCG", "AP(denom=hits)", "RR", "P", "R")
    for k in CUTOFFS
]
#: queries that torchmetrics is asked about; its time grows with their number and nothing else
SOME = 500
SOME_ON_DEVICE = 40


def seconds(work: Callable[[], Any], device: str, runs: int = 5) -> float:
    """Return the median time of a call, the first two aside."""
    taken = []
    for _ in range(runs + 2):
        if device == "cuda":
            torch.cuda.synchronize()
        started = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken[2:])


def drawn(
    queries: int, length: int, dtype: torch.dtype, device: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw scores, and labels of which a fifth are 1."""
    torch.manual_seed(7)
    scores = torch.rand(queries, length, device=device, dtype=dtype)
    return scores, (torch.rand(queries, length, device=device) < 0.2).to(torch.int64)  # noqa: PLR2004


def by_torchmetrics(scores: torch.Tensor, labels: torch.Tensor) -> dict[str, float]:
    """Return torchmetrics' means of the same measures."""
    from torchmetrics import retrieval

    kinds = {
        "nDCG": retrieval.RetrievalNormalizedDCG,
        "AP(denom=hits)": retrieval.RetrievalMAP,
        "RR": retrieval.RetrievalMRR,
        "P": retrieval.RetrievalPrecision,
        "R": retrieval.RetrievalRecall,
    }
    indexes = torch.arange(len(scores), device=scores.device).repeat_interleave(
        scores.shape[1]
    )
    found = {}
    for name, kind in kinds.items():
        for k in CUTOFFS:
            metric = kind(top_k=k).to(scores.device)
            metric.update(scores.reshape(-1), labels.reshape(-1), indexes=indexes)
            found[f"{name}@{k}"] = float(metric.compute())
    return found


def compared(queries: int, length: int, dtype: torch.dtype, device: str) -> None:
    """Print a row of the table."""
    scores, labels = drawn(queries, length, dtype, device)
    ready = Evaluator(labels, MEASURES, ties="input")
    ours = seconds(lambda: ready(scores).mean(), device)
    sort = seconds(lambda: torch.sort(scores, dim=1, descending=True), device)
    host = Evaluator(labels.cpu().numpy(), MEASURES, ties="input")(
        scores.cpu().numpy()
    ).values
    found = ready(scores).values
    apart = max(
        float(np.abs(found[text].cpu().numpy() - host[text]).max()) for text in host
    )
    part = min(SOME if device == "cpu" else SOME_ON_DEVICE, queries)
    started = time.perf_counter()
    theirs = by_torchmetrics(scores[:part], labels[:part])
    peer = (time.perf_counter() - started) * queries / part
    means = evaluate(scores[:part], labels[:part], MEASURES, ties="input").mean()
    differ = {text: abs(means[text] - theirs[text]) for text in theirs}
    worst = max(differ, key=lambda text: differ[text])
    told = (
        f"{queries:>7,} × {length:<5,} {str(dtype)[6:]:8} ours {ours * 1e3:9.2f} ms",
        f"sort {sort * 1e3:8.2f} ms (× {ours / sort:5.2f})",
        f"torchmetrics {peer:8.2f} s{'' if part == queries else '*'} (× {peer / ours:7.0f})",
        f"from NumPy {apart:.1e}",
        f"from torchmetrics {differ[worst]:.1e} ({worst})",
    )
    print("   ".join(told), flush=True)


def beside_scikit_learn() -> None:
    """Print the time of NumPy's arrays, 1.2 million documents, beside scikit-learn's ndcg_score."""
    from sklearn.metrics import ndcg_score

    draw = np.random.Generator(np.random.Philox(7))
    scores, labels = (
        draw.normal(size=(10_000, 120)),
        draw.choice([0.0, 0.0, 0.0, 1.0, 2.0], (10_000, 120)),
    )
    ours = seconds(lambda: evaluate(scores, labels, "nDCG@10 AP RR").mean(), "cpu")
    ready = Evaluator(labels, "nDCG@10 AP RR")
    again = seconds(lambda: ready(scores).mean(), "cpu")
    some, share = np.arange(SOME), len(scores) / SOME
    table = seconds(lambda: ndcg_score(labels[some], scores[some], k=10), "cpu") * share
    # lists of different lengths make no table: scikit-learn is called for each
    each = (
        seconds(
            lambda: [ndcg_score(labels[[q]], scores[[q]], k=10) for q in some],
            "cpu",
            runs=1,
        )
        * share
    )
    print(
        f"1.2 M documents, NumPy: nDCG@10, AP and RR {ours:.3f} s, with labels prepared {again:.3f} s",
        f"ndcg_score of one table {table:.2f} s* (× {table / ours:.1f})",
        f"query by query {each:.1f} s* (× {each / ours:.0f})",
        sep="; ",
    )


def losses() -> None:
    """Print the processor time of lambda_loss, 64 lists of 200 documents in float64, on one thread."""
    import jax

    jax.config.update("jax_enable_x64", True)
    torch.set_num_threads(1)
    draw = np.random.Generator(np.random.Philox(7))
    scores, labels = (
        draw.normal(size=(64, 200)),
        draw.choice([0.0, 0.0, 0.0, 1.0, 2.0], (64, 200)),
    )
    tensor = torch.from_numpy(scores).requires_grad_()
    array, jitted = jax.numpy.asarray(scores), jax.jit(lambda_loss, static_argnums=2)

    def least(
        function: Callable[[Any, Any, str], Any],
        given: Any,  # noqa: ANN401
        measure: str,
    ) -> float:
        taken = []
        for _ in range(8):
            started = time.process_time()
            function(given, labels, measure)
            taken.append(time.process_time() - started)
        return min(taken) * 1e3

    ways = (
        (lambda_loss, scores),
        (lambda_loss, tensor.detach()),
        (lambda *given: lambda_loss(*given).sum().backward(), tensor),
        (lambda *given: jitted(*given).block_until_ready(), array),
    )
    for measure in ("nDCG", "nDCG@10", "P@10", "AP", "RR"):
        told = (f"{least(function, given, measure):.0f} ms" for function, given in ways)
        print(f"| {measure} | {' | '.join(told)} |", flush=True)


def main() -> None:
    """Run what the command line asks for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    options.add_argument(
        "--large", action="store_true", help="100,000 × 1,000, too: takes 10 GB"
    )
    options.add_argument(
        "--loss", action="store_true", help="lambda_loss on 64 lists of 200; needs JAX"
    )
    asked = options.parse_args()
    if asked.loss:
        losses()
        return
    name = (
        torch.cuda.get_device_name()
        if asked.device == "cuda"
        else platform.processor() or platform.machine()
    )
    some = SOME if asked.device == "cpu" else SOME_ON_DEVICE
    print(
        f"{name}; PyTorch {torch.__version__}, NumPy {np.__version__}; * of {some} queries, extrapolated"
    )
    shapes = [(2_000, 120), (10_000, 120), *([(100_000, 1_000)] if asked.large else [])]
    for queries, length in shapes:
        for dtype in (torch.float32, torch.float64):
            compared(queries, length, dtype, asked.device)
    if asked.device == "cpu":
        beside_scikit_learn()


if __name__ == "__main__":
    main()
