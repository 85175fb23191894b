"""Weights of pairs against the measure itself after every swap, and under JAX's transformations."""

from __future__ import annotations

import time
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from rankstone import InputError, UsageError
from rankstone.integrations.arrays import (
    approx_mrr,
    approx_ndcg,
    evaluate,
    lambda_loss,
    pair_weights,
)

KINDS = [
    "CG",
    "DCG",
    "DCG(gain=exp2)",
    "DCG(discount=jk)",
    "DCG(discount=geometric, p=0.7)",
    "nDCG",
    "nDCG(gain=exp2)",
    "nDCG(gain=binary)",
    "nDCG(gain=pow2_shift)",
    "nDCG(gain=exp2_offset, rel=2)",
    "nDCG(gain={1: 1, 2: 5, 3: 6})",
    "nDCG(discount=reciprocal, ideal=list)",
    "nDCG(gain=binary, ideal=k_of_R)",
    "nDCG(ideal_depth=all)",
    "nDCG(ideal_depth=min_k_n, pad=shrink)",
    "P",
    "P(rel=2)",
    "P(denom=n)",
    "R",
    "R(rel=2)",
    "Success",
    "AP",
    "AP(rel=2)",
    "AP(denom=min_R_n)",
    "RR",
    "RR(rel=2)",
    "RR(target=best)",
]
CUT = [
    "nDCG(gain=binary, ideal=k_ones)",
    "nDCG(gain=binary, ideal=k_ones, ideal_depth=min_k_n)",
]
CUT += [
    "P(denom=min_R_k)",
    "R(denom=min_R_k)",
    "AP(denom=min_R_k)",
    "AP(denom=min_R_k_n)",
    "AP(denom=k)",
]
EVERY = [f"{kind}{cut}" for kind in KINDS for cut in ("", "@1", "@3", "@20")]
EVERY += [f"{kind}@{k}" for kind in CUT for k in (1, 3, 20)]


def near(result: Any, expected: Any) -> None:
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def batch(seed: int, *, ties: bool) -> tuple[Any, Any, Any]:
    """Draw lists of 1 to 9 places, some without a document, the last without a relevant one."""
    draw = np.random.Generator(np.random.Philox(seed))
    scores = (
        draw.integers(0, 4, (8, 9)) / 4
        if ties
        else draw.permutation(72).reshape(8, 9) / 8
    )
    labels = draw.choice([0.0, 0.0, 1.0, 2.0, 3.0], (8, 9))
    labels[-1] = 0
    mask = draw.random((8, 9)) < 0.8
    mask[:, 0] = True
    return scores, labels, mask


def swapped(scores: Any, labels: Any, measure: str, mask: Any) -> Any:
    """Return what the measure says has changed after each swap, one by one."""
    count = scores.shape[1]
    pairs = list(combinations(range(count), 2))
    lists = [scores]
    for first, other in pairs:
        after = scores.copy()
        after[:, [first, other]] = scores[:, [other, first]]
        lists.append(after)

    every = len(lists)
    scored = evaluate(
        np.concatenate(lists),
        np.tile(labels, (every, 1)),
        measure,
        mask=np.tile(mask, (every, 1)),
    )
    values = next(iter(scored.values.values())).reshape(every, len(scores))
    now, *then = np.nan_to_num(values)

    weights = np.zeros((*scores.shape, count))
    for (first, other), value in zip(pairs, then, strict=True):
        change = np.where(mask[:, first] & mask[:, other], np.abs(value - now), 0.0)
        weights[:, first, other] = weights[:, other, first] = change
    return weights


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("measure", EVERY)
def test_weights_are_swaps(measure: str, ties: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A weight is what the measure says has changed, whatever cutoff and ties; padding has none."""
    scores, labels, mask = batch(2, ties=ties)
    weights = pair_weights(scores, labels, measure, mask=mask)

    near(weights, swapped(scores, labels, measure, mask))
    assert weights.any() or not measure.startswith(("DCG", "nDCG", "AP", "RR"))


@pytest.mark.parametrize("measure", ["nDCG@3", "P@3", "AP", "RR"])
def test_lists_without_judgments(measure: str) -> None:
    """Documents with labels of NaN or below 0 are worth nothing, and in no pair of the loss."""
    scores, labels, _ = batch(3, ties=False)
    labels[:, 2], labels[:, 5] = np.nan, -1.0
    everywhere = np.ones_like(scores, bool)
    weights = pair_weights(scores, labels, measure)
    near(weights, swapped(scores, labels, measure, everywhere))

    judged = [0, 1, 3, 4, 6, 7, 8]
    apart = scores[:, judged, None] - scores[:, None, judged]
    better = labels[:, judged, None] > labels[:, None, judged]
    inside = weights[:, judged][:, :, judged]
    expected = (inside * better * np.log1p(np.exp(-apart))).sum((1, 2))
    near(lambda_loss(scores, labels, measure), expected)
    assert np.isfinite(approx_ndcg(scores, labels)).all()


def test_parts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many lists are computed with at a time, the numbers are the same."""
    scores, labels, mask = batch(4, ties=True)
    whole = [f(scores, labels, "AP@5", mask=mask) for f in (pair_weights, lambda_loss)]
    monkeypatch.setattr("rankstone.integrations.arrays.array_layout._PAIRS", 1)
    assert (whole[0] == pair_weights(scores, labels, "AP@5", mask=mask)).all()
    assert (whole[1] == lambda_loss(scores, labels, "AP@5", mask=mask)).all()


@pytest.mark.parametrize(
    "measure",
    [
        "ERR(max_grade=3)",
        "RBP(p=0.8)",
        "nDCG(ideal=topk)@3",
        "AP(denom=hits)@3",
        "AP(tied=block)",
        "bpref",
    ],
)
def test_without_a_closed_form(measure: str) -> None:
    """A measure without one is refused, and the message names those that have one."""
    for function in (pair_weights, lambda_loss):
        with pytest.raises(UsageError, match="there is no closed form") as refused:
            function(np.ones((1, 2)), [[1, 0]], measure)
        assert "CG, DCG, nDCG, P, R, Success, AP and RR" in str(refused.value)


def test_mistakes() -> None:
    """A score that is NaN is named by its place, unless there is no document."""
    scores = np.array([[0.5, 0.1], [0.2, np.nan]])
    for function in (
        approx_ndcg,
        approx_mrr,
        lambda s, y, **how: lambda_loss(s, y, "AP", **how),
    ):
        with pytest.raises(InputError, match=r"\[1, 1\]: a score is NaN"):
            function(scores, [[0, 1], [1, 0]])
        assert np.isfinite(
            function(scores, [[0, 1], [1, 0]], mask=[[True, True], [True, False]])
        ).all()
    with pytest.raises(InputError, match="do not fit"):
        lambda_loss(scores, [[0, 1]], "AP")


def test_lists_of_one_document() -> None:
    """There is nothing to swap, and nothing to lose."""
    for measure in ("nDCG", "AP", "RR"):
        assert lambda_loss(np.ones((2, 1)), [[1], [0]], measure).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("measure", ["nDCG", "AP", "RR"])
def test_as_quick_as_arithmetic(measure: str) -> None:
    """64 lists of 200 documents take a fraction of a second: no swapped list is ever scored."""
    draw = np.random.Generator(np.random.Philox(7))
    scores, labels = (
        draw.normal(size=(64, 200)),
        draw.choice([0.0, 0.0, 0.0, 1.0, 2.0], (64, 200)),
    )
    lambda_loss(scores[:1], labels[:1], measure)
    taken = []
    for _ in range(3):
        started = time.process_time()
        lambda_loss(scores, labels, measure)
        taken.append(time.process_time() - started)
    assert (
        min(taken) < 0.5
    )  # 0.05 to 0.07 on a quiet machine; 10 where each swap is scored


@pytest.mark.arrays
@pytest.mark.parametrize(
    "measure", ["nDCG(gain=exp2)@5", "P@3", "AP", "RR@4", "Success@2", "R(rel=2)@5"]
)
def test_weights_of_tensors(measure: str) -> None:
    """PyTorch computes the same, in the type of the scores, and gradients are those of the pairs."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make arrays")
    scores, labels, mask = batch(5, ties=True)
    expected = pair_weights(scores, labels, measure, mask=mask)
    tensor = torch.from_numpy(scores).requires_grad_()
    result = pair_weights(
        tensor, torch.from_numpy(labels), measure, mask=torch.from_numpy(mask)
    )
    near(result.numpy(), expected)
    single = pair_weights(torch.from_numpy(scores).float(), labels, measure, mask=mask)
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single.numpy(), expected, rtol=1e-5, atol=1e-6)

    lambda_loss(tensor, labels, measure, mask=mask, sigma=2.0).sum().backward()
    better = (
        (labels[:, :, None] > labels[:, None, :]) & mask[:, :, None] & mask[:, None, :]
    )
    pull = (
        expected
        * better
        * 2.0
        / (1.0 + np.exp(2.0 * (scores[:, :, None] - scores[:, None, :])))
    )
    near(tensor.grad.numpy(), pull.sum(1) - pull.sum(2))


LOSSES = [
    "approx_ndcg",
    "approx_mrr",
    "nDCG",
    "nDCG(gain=exp2)@3",
    "nDCG(gain=binary, ideal=k_ones)@3",
    "P@3",
    "R@5",
    "AP",
    "AP@4",
    "RR",
    "RR(target=best)@5",
    "Success@3",
]


def loss_of(name: str, scores: Any, labels: Any, mask: Any) -> Any:
    """Return a smooth measure, or the loss of a measure."""
    smooth = {"approx_ndcg": approx_ndcg, "approx_mrr": approx_mrr}
    if name in smooth:
        return smooth[name](scores, labels, mask=mask, temperature=0.7)
    return lambda_loss(scores, labels, name, mask=mask)


@pytest.mark.arrays
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_transformed_by_jax(name: str, masked: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Under jit, vmap and grad, labels and masks handed in too, numbers are those of NumPy to 1e-12."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: make arrays")
    loss: Any = partial(loss_of, name)
    scores, labels, mask = batch(6, ties=True)
    inputs = mask if masked else None
    expected = loss(scores, labels, inputs)
    with jax.enable_x64(True):
        s, y = jax.numpy.asarray(scores), jax.numpy.asarray(labels)
        m = jax.numpy.asarray(mask) if masked else None
        near(loss(s, y, m), expected)
        near(jax.jit(loss)(s, y, m), expected)
        near(jax.jit(lambda s: loss(s, labels, inputs))(s), expected)
        item: Any = lambda s, y, m: loss(  # noqa: E731
            s[None], y[None], None if m is None else m[None]
        )[0]
        axes = (0, 0, 0 if masked else None)
        near(jax.vmap(item, axes)(s, y, m), expected)
        total: Any = lambda s, y, m: loss(s, y, m).sum()  # noqa: E731
        eager, jitted = jax.grad(total)(s, y, m), jax.jit(jax.grad(total))(s, y, m)
        near(jitted, eager)
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make arrays")
    tensor = torch.from_numpy(scores).requires_grad_()
    total(tensor, labels, inputs).backward()
    near(eager, tensor.grad.numpy())


@pytest.mark.arrays
def test_jax_in_single_precision() -> None:
    """As JAX is configured by default, numbers are those of single precision, and nothing warns."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: make arrays")
    scores, labels, mask = batch(6, ties=True)
    expected = lambda_loss(scores, labels, "nDCG(gain=binary)@5", mask=mask)
    result = jax.jit(
        lambda s: lambda_loss(s, labels, "nDCG(gain=binary)@5", mask=mask)
    )(scores)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.arrays
def test_gains_that_cannot_be_traced() -> None:
    """A table of gains works with labels that are known, and is refused where JAX hides them."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: make arrays")
    scores, labels, _ = batch(6, ties=False)
    table = "nDCG(gain={1: 1, 2: 5, 3: 6})@5"
    with jax.enable_x64(True):
        eager = lambda_loss(jax.numpy.asarray(scores), labels, table)
        near(eager, lambda_loss(scores, labels, table))
        with pytest.raises(UsageError, match="labels whose values are known"):
            jax.jit(lambda s, y: lambda_loss(s, y, table))(scores, labels)
