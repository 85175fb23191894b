"""Smooth measures: near the measure where they are cold, with gradients where they are warm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankstone import InputError, UsageError
from rankstone.integrations.arrays import approx_mrr, approx_ndcg, evaluate, lambda_loss


def batch(seed: int = 1) -> tuple[Any, Any, Any]:
    draw = np.random.Generator(np.random.Philox(seed))
    scores = draw.permutation(60).reshape(6, 10) / 4
    return (
        scores,
        draw.choice([0.0, 0.0, 1.0, 2.0], (6, 10)),
        np.arange(10) < draw.integers(2, 11, 6)[:, None],
    )


def test_cold_is_exact() -> None:
    """Towards temperature 0 they are the measures themselves."""
    scores, labels, mask = batch()
    scores = np.where(mask, scores, np.nan)
    exact = evaluate(scores, labels, "nDCG(gain=exp2) RR", mask=mask).values

    ndcg = approx_ndcg(scores, labels, mask=mask, temperature=1e-3)
    np.testing.assert_allclose(ndcg, exact["nDCG(gain=exp2)"], atol=1e-12)
    np.testing.assert_allclose(
        approx_mrr(scores, labels, mask=mask, temperature=1e-3), exact["RR"], atol=1e-12
    )


@pytest.mark.arrays
@pytest.mark.parametrize("loss", ["ndcg", "mrr", "lambda"])
def test_training_improves_the_measure(loss: str) -> None:
    """A linear model trained on the surrogate ranks better than before, by the measure."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make arrays")
    draw = np.random.Generator(np.random.Philox(3))
    features = torch.from_numpy(draw.normal(size=(20, 12, 4)))
    labels = (
        features[..., 0]
        - features[..., 1]
        + 0.5 * torch.from_numpy(draw.normal(size=(20, 12)))
    ) > 1
    weight = torch.tensor(
        [-0.1, 0.1, 0.1, 0.0], dtype=torch.float64, requires_grad=True
    )
    before = evaluate(features @ weight, labels, "nDCG").mean()["nDCG"]
    steps = torch.optim.Adam([weight], lr=0.1)
    for _ in range(40):
        scores = features @ weight
        if loss == "lambda":
            cost = lambda_loss(scores, labels, "nDCG").mean()
        else:
            cost = -(approx_ndcg if loss == "ndcg" else approx_mrr)(
                scores, labels, temperature=0.5
            ).mean()
        steps.zero_grad()
        cost.backward()
        steps.step()

    assert evaluate(features @ weight, labels, "nDCG").mean()["nDCG"] > before + 0.1


@pytest.mark.arrays
def test_gradients_of_jax() -> None:
    """JAX differentiates what PyTorch does, to the same numbers."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: make arrays")
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make arrays")
    scores, labels, mask = batch(4)
    with jax.enable_x64(True):
        array = jax.numpy.asarray(scores)
        result = jax.grad(
            lambda s: approx_ndcg(s, labels, mask=mask, temperature=2.0).sum()
        )(array)
    tensor = torch.from_numpy(scores).requires_grad_()
    approx_ndcg(tensor, labels, mask=mask, temperature=2.0).sum().backward()

    np.testing.assert_allclose(np.asarray(result), tensor.grad.numpy(), atol=1e-12)
    assert np.abs(tensor.grad.numpy()).max() > 1e-3


def test_mistakes() -> None:
    """Shapes and temperatures are checked."""
    with pytest.raises(InputError, match="do not fit"):
        approx_ndcg(np.ones((1, 2)), [[1]])
    with pytest.raises(UsageError, match="temperature=0"):
        approx_ndcg(np.ones((1, 2)), [[1, 0]], temperature=0)
