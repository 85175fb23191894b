"""Small training data, and sums over pairs the slow, obvious way."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st


def world(
    seed: int, queries: int = 8, width: int = 4, levels: int | None = 4
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw features, labels (any numbers for ``levels=None``) and query ids; lists of 1 to 12 documents."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(queries), rng.integers(1, 13, queries))
    X = (
        rng.normal(size=(len(qid), width)) * rng.uniform(0.1, 20, width)
        + rng.normal(size=width) * 5
    )
    worth = (X - X.mean(0)) / X.std(0) @ rng.normal(size=width) + rng.normal(
        size=len(qid)
    )
    y = worth - worth.min() if levels is None else np.floor(3 * np.abs(worth)) % levels
    y[:2], qid[:2] = [0, 1], qid[0]  # something to learn, always
    return X, y, qid


def pairs(y: np.ndarray, qid: np.ndarray) -> list[tuple[int, int]]:
    """List the pairs (better, worse) of judged documents of one query."""
    rows = range(len(y))
    return [(i, j) for i in rows for j in rows if qid[i] == qid[j] and y[i] > y[j] >= 0]


def pair_weights(
    y: np.ndarray, qid: np.ndarray, query_weight: str, pair_weight: str
) -> np.ndarray:
    """Return what each pair weighs in the loss; 1 together."""
    listed = pairs(y, qid)
    each = np.array(
        [2.0 ** y[i] - 2.0 ** y[j] if pair_weight == "gain" else 1.0 for i, j in listed]
    )
    if query_weight == "pair":
        return np.asarray(each / each.sum())
    total = {
        q: sum(w for w, (i, _) in zip(each, listed, strict=True) if qid[i] == q)
        for q in set(qid)
    }
    subset = sum(value > 0 for value in total.values())
    return np.array(
        [w / total[qid[i]] / subset for w, (i, _) in zip(each, listed, strict=True)]
    )


def objective(
    w: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    qid: np.ndarray,
    price: float,
    weights: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Return the objective of a rank SVM and its gradient, pair by pair."""
    value, gradient = 0.5 * float(w @ w), w.copy()
    for (i, j), weight in zip(pairs(y, qid), weights, strict=True):
        away = X[i] - X[j]
        short = max(0.0, 1.0 - float(w @ away))
        value += price * weight * short**2
        gradient -= price * weight * 2 * short * away
    return value, gradient


worlds: st.SearchStrategy[Any] = st.builds(
    world,
    st.integers(0, 10**6),
    st.integers(2, 9),
    st.integers(1, 5),
    st.sampled_from([2, 3, 5, None]),
)
