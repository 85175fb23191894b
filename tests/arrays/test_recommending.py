"""Recommended items: the first k without all scores at once, and what they are worth."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rankstone import InputError, UsageError, evaluate
from rankstone.integrations.arrays import from_topk, top_k
from rankstone.integrations.arrays import top_k_lists as recommending


def slowly(users: Any, items: Any, k: int, seen: Any) -> list[list[int]]:
    """Rank every item of every user, one by one."""
    rows = []
    for user, row in enumerate(users):
        left = [item for item in range(len(items)) if not seen[user, item]]
        ranked = sorted(left, key=lambda item: (-float(items[item] @ row), item))[:k]
        rows.append(ranked + [-1] * (k - len(ranked)))
    return rows


@pytest.mark.parametrize(
    "library", ["numpy", pytest.param("torch", marks=pytest.mark.arrays)]
)
@pytest.mark.parametrize("at_once", [1, 256 * 4, 1 << 20])
@given(seed=st.integers(0, 1 << 30), k=st.integers(1, 12))
def test_top_k(library: str, at_once: int, seed: int, k: int) -> None:
    """The first k are those of a full ranking, however little is there at once."""
    draw = np.random.Generator(np.random.Philox(seed))
    users, items = (draw.integers(-2, 3, (n, 3)).astype(float) for n in (5, 9))
    seen = draw.random((5, 9)) < 0.4
    given_users, given_items = users, items
    if library == "torch":
        torch = pytest.importorskip(
            "torch", reason="PyTorch is not installed: make arrays"
        )
        given_users, given_items = torch.from_numpy(users), torch.from_numpy(items)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recommending, "_AT_ONCE", at_once)
        patch.setattr(recommending, "_SPARE", k % 3)
        ids, scores = top_k(given_users, given_items, k, seen=csr_array(seen))

    assert ids.tolist() == slowly(users, items, k, seen)
    there = np.asarray(ids) >= 0
    products = np.take_along_axis(
        users @ items.T, np.where(there, np.asarray(ids), 0), 1
    )
    np.testing.assert_array_equal(
        np.asarray(scores), np.where(there, products, -np.inf)
    )


def test_lists_are_scored_as_runs_are() -> None:
    """Lists of ids have the values of the same run in a dict; a matrix holds judgments as well."""
    ids = np.array([[4, 2, 0], [1, -1, -1], [3, 4, 2]])
    grades = csr_array(np.array([[0, 0, 2, 0, 0], [0, 1, 1, 0, 0], [1, 0, 0, 0, 0]]))
    qrels = {"a": {2: 2}, "b": {1: 1, 2: 1}, "c": {0: 1}}
    run = {"a": [4, 2, 0], "b": [1], "c": [3, 4, 2]}

    lists = from_topk(ids, grades, "nDCG@3 R@2", users=["a", "b", "c"])

    assert (
        lists.to_dict()
        == from_topk(ids, qrels, "nDCG@3 R@2", users=["a", "b", "c"]).to_dict()
    )
    assert lists.to_dict() == evaluate(qrels, run, "nDCG@3 R@2").to_dict()


@pytest.mark.arrays
def test_tensors_of_ids() -> None:
    """The ids that top_k returns of tensors are lists."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make arrays")
    users, items = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])

    ids, _ = top_k(users, items, 2)

    assert from_topk(ids, {0: {2: 1}, 1: {2: 1}}, "RR").to_dict() == {
        "run": {"RR": 0.75}
    }


def test_mistakes() -> None:
    """What does not fit is reported with its shape."""
    result = np.ones((2, 3))
    with pytest.raises(InputError, match="ids are not lists"):
        from_topk(result, {0: {1: 1}}, "RR")
    with pytest.raises(InputError, match="users do not fit"):
        from_topk([[1]], {0: {1: 1}}, "RR", users=[1, 2])
    with pytest.raises(InputError, match="the matrix does not fit"):
        from_topk([[1]], csr_array(result), "RR")
    with pytest.raises(InputError, match=r"ids\[0, 1\]: item 3 is beyond the matrix"):
        from_topk([[2, 3], [-1, 9]], csr_array(result), "RR")
    with pytest.raises(UsageError, match="lists come in order"):
        from_topk([[1]], {0: {1: 1}}, "RR", order="score")
    with pytest.raises(InputError, match="users and items have different dimensions"):
        top_k(result, np.ones((2, 4)), 1)
    with pytest.raises(UsageError, match="k=0 is not a count"):
        top_k(result, result, 0)
    with pytest.raises(InputError, match="wrong shape of seen"):
        top_k(result, result, 1, seen=csr_array(result))
    with pytest.raises(InputError, match="there are no users"):
        top_k(result[:0], result, 1)
    with pytest.raises(InputError, match="there are no items"):
        top_k(result, result[:0], 1)
    with pytest.raises(InputError, match="users are not numbers"):
        top_k(np.array([["a"]]), result, 1)


def test_whole_numbers_and_lists() -> None:
    """Factors may be whole numbers, and lists of lists."""
    ids, scores = top_k(
        cast("Any", [[1, 0], [0, 1]]), cast("Any", [[2, 0], [0, 3], [1, 1]]), 2
    )

    assert ids.tolist() == [[0, 2], [1, 2]]
    assert scores.tolist() == [[2.0, 1.0], [3.0, 1.0]]


@given(
    seed=st.integers(0, 1 << 30),
    value=st.sampled_from([np.nan, np.inf, -np.inf, 1e200]),
    side=st.sampled_from(["user", "item"]),
)
def test_no_user_is_lost(seed: int, value: float, side: str) -> None:
    """Each user has a row; a factor that has no order is refused with the row that it is in."""
    draw = np.random.Generator(np.random.Philox(seed))
    users, items = (draw.integers(-2, 3, (n, 3)).astype(float) for n in (5, 9))
    changed = users if side == "user" else items
    row, place = int(draw.integers(len(changed))), int(draw.integers(3))
    changed[row, place] = value

    if not np.isfinite(value):
        with pytest.raises(
            InputError, match=rf"{side}s\[{row}, {place}\]: {side} {row} has a factor"
        ):
            top_k(users, items, 2)
        return
    assert len(top_k(users, items, 2)[0]) == len(users)
    other = items if side == "user" else users
    other[0] = 1e200
    with pytest.raises(InputError, match="is too large for float64"):
        top_k(users, items, 2)
