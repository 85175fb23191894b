"""Counting and weighing the earlier smaller elements of many lists, against two loops."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstone.hits import list_orders as inversions
from rankstone.hits.list_orders import earlier_smaller, weight_of_earlier_smaller

LISTS = st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=6)


def laid_out(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and values."""
    lengths = [len(item) for item in lists]
    values = np.array([value for item in lists for value in item], np.int64)
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))), values


def by_loops(lists: list[list[int]], weights: list[float]) -> list[float]:
    """Add up the weights of the earlier smaller ones, pair by pair."""
    rows, begin = [], 0
    for item in lists:
        for index, value in enumerate(item):
            rows.append(
                math.fsum(weights[begin + j] for j in range(index) if item[j] < value)
            )
        begin += len(item)
    return rows


@pytest.mark.parametrize("together", [1, 3, 1 << 15])
@given(lists=LISTS)
def test_counts(together: int, lists: list[list[int]]) -> None:
    """However many are counted together, and in pieces of long lists too, the counts are the pairs."""
    offsets, values = laid_out(lists)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inversions, "_TOGETHER", together)
        result = earlier_smaller(offsets, values)
    assert by_loops(lists, [1.0] * len(values)) == result.tolist()


@given(lists=LISTS, data=st.data())
def test_weights(lists: list[list[int]], data: st.DataObject) -> None:
    """Weights add up to what loops add, and a list has the same bits alone."""
    offsets, values = laid_out(lists)
    each = st.floats(0.001, 1.0)
    weights = data.draw(st.lists(each, min_size=len(values), max_size=len(values)))
    result = weight_of_earlier_smaller(offsets, values, np.array(weights))
    assert np.allclose(by_loops(lists, weights), result, rtol=1e-12, atol=0)
    for begin, end in pairwise(offsets.tolist()):
        part = slice(begin, end)
        alone = weight_of_earlier_smaller(
            np.array([0, end - begin]), values[part], np.array(weights[part])
        )
        assert alone.tolist() == result[part].tolist()


def test_a_long_list() -> None:
    """Half a million elements: all pairs of a descending and an ascending list are known."""
    n = 500_000
    assert earlier_smaller(np.array([0, n]), np.arange(n)[::-1].copy()).sum() == 0
    assert earlier_smaller(np.array([0, n]), np.arange(n)).sum() == n * (n - 1) // 2
