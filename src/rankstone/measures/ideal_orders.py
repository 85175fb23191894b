"""The best of all ideal orders where the weight of a pair depends on its places in the ideal order.

Documents of equal grade may be in any order.  The order of the ranking among them is best if exchanging two
neighbours that contradict it never lowers the value.  Where that is not proven, the best order is computed:
for sums of weights grade by grade over all subsets, for products over all orders.  Lists too long for either
are improved by exchanging neighbours, and the value is reported as a lower bound.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.hits.list_arrays import offsets_of

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.measures.order_comparison import OrderComparison

    Classes = list[tuple[int, int]]

#: the most documents of one grade whose subsets are enumerated
_MOST_SUBSETS: Final = 18
#: the most orders that are enumerated
_MOST_ORDERS: Final = 10**6
#: documents of a query between which exchanges are tried, and how many exchanges
_MOST_CLIMBING: Final = 500
_MOST_EXCHANGES: Final = 1000
#: tolerance in comparisons of rounded numbers
_SLACK: Final = 1e-12
_AT_ONCE: Final = 1 << 15


def exchange_never_loses(weight: Floats, combine: str) -> Bools:
    """Return for every two neighbouring places whether the order of the ranking is safe there.

    Let a be before b in the ranking, both of one grade, and b at place i of the ideal order, a at i + 1.
    Exchanging them wins the pair itself; of the documents above, each can cost f_i − f_{i+1} times its own
    weight at most, and those below cost nothing.  For sums f_i + f_j that is safe when
    f_{i+1} / f_i ≥ 1 − 2/i, for products when f_i f_{i+1} ≥ (f_i − f_{i+1}) Σ_{j<i} f_j.

    Parameters
    ----------
    weight
        float64 ``[places]``: f, not rising.
    combine
        ``add`` or ``multiply``.

    Returns
    -------
    bool ``[places - 1]``

    >>> places = np.arange(1.0, 6.0)
    >>> exchange_never_loses(1 / places, "multiply").tolist()
    [True, True, False, False]
    """
    upper = weight[:-1]
    lower = weight[1:]
    i = np.arange(1, len(weight))
    if combine == "add":
        wins = lower * i
        costs = upper * (i - 2)
    else:
        wins = upper * lower
        costs = (upper - lower) * (np.cumsum(weight)[:-1] - upper)
    return wins >= costs * (1 - _SLACK)


def best_ideal(
    comparison: OrderComparison, weight: Floats, combine: str
) -> tuple[Ints | None, Bools]:
    """Find the best ideal order of every query.

    Parameters
    ----------
    comparison
        The comparison with the ideal order that keeps the ranking among equal grades.
    weight
        float64: f of the ideal places, as many as the longest list has.
    combine
        ``add`` or ``multiply``.

    Returns
    -------
    ideal
        int64 ``[hits]``: places in the best order found, in the order of ``comparison``; ``None`` if
        that order is the given one.
    bounded
        bool ``[queries]``: the queries for which a better order may exist.
    """
    bounded = np.zeros(len(comparison.offsets) - 1, bool)
    if not len(weight):
        return None, bounded
    unsafe = offsets_of(~exchange_never_loses(weight, combine))
    last = comparison.first + comparison.same_grade - 1
    unproven = unsafe[last] > unsafe[comparison.first]
    if not unproven.any():
        return None, bounded
    ideal = comparison.ideal.copy()
    agreeing = comparison.right_pairs(drop=True)
    for query in np.unique(comparison.query[unproven]).tolist():
        rows = slice(*comparison.offsets[query : query + 2].tolist())
        by_ideal = rows.start + np.argsort(comparison.ideal[rows])
        classes = _unproven_classes(comparison, unproven, by_ideal)
        block = comparison.block[by_ideal]
        group = comparison.grade[by_ideal]
        f = weight[: len(by_ideal)]
        if combine == "add":
            order, exact = _best_of_sums(f, agreeing[by_ideal], block, group, classes)
        else:
            order, exact = _best_of_products(f, block, group, classes)
        ideal[by_ideal[order]] = np.arange(len(order))
        bounded[query] = not exact
    return ideal, bounded


def _unproven_classes(
    comparison: OrderComparison, unproven: Bools, by_ideal: Ints
) -> Classes:
    """Return the ranges of ideal places whose order is not proven best, of one query."""
    firsts = comparison.first[by_ideal][unproven[by_ideal]]
    ends = firsts + comparison.same_grade[by_ideal][unproven[by_ideal]]
    return sorted(set(zip(firsts.tolist(), ends.tolist(), strict=True)))


def _best_of_sums(
    f: Floats, agreeing: Floats, block: Ints, group: Ints, classes: Classes
) -> tuple[Ints, bool]:
    """Order each grade alone; ``agreeing`` counts right pairs with documents of other grades."""
    order = np.arange(len(f))
    large = [(first, end) for first, end in classes if end - first > _MOST_SUBSETS]
    if large:
        order = _improved(f, block, group, large, "add")
    for first, end in classes:
        if end - first <= _MOST_SUBSETS:
            order[first:end] = first + _over_subsets(
                f[first:end], agreeing[first:end], block[first:end]
            )
    return order, not large


def _over_subsets(f: Floats, agreeing: Floats, block: Ints) -> Ints:
    """Return the order in which documents of one grade are best placed, first place first.

    The best order of a subset in the first places depends on the subset alone, and so does the value of the
    next document after it.
    """
    size = len(f)
    level = _by_size(size)
    bit = 1 << np.arange(size)
    no_later = np.array([bit[(block <= b)].sum() for b in block.tolist()]) - bit
    no_earlier = np.array([bit[(block >= b)].sum() for b in block.tolist()]) - bit
    best = np.full(1 << size, -np.inf)
    last = np.zeros(1 << size, np.int64)
    best[0] = 0.0
    for place in range(size):
        subsets = level[place]
        for doc in range(size):
            without = subsets[subsets & bit[doc] == 0]
            agrees = np.bitwise_count(without & no_later[doc]) + np.bitwise_count(
                ~without & no_earlier[doc]
            )
            value = best[without] + f[place] * (agreeing[doc] + agrees)
            larger = without | bit[doc]
            better = value > best[larger]
            best[larger[better]], last[larger[better]] = value[better], doc
    order = np.empty(size, np.int64)
    left = (1 << size) - 1
    for place in range(size - 1, -1, -1):
        order[place] = last[left]
        left -= 1 << int(last[left])
    return order


@cache
def _by_size(size: int) -> list[Ints]:
    """Return all subsets of so many documents as bits, in one array for each size."""
    subsets = np.arange(1 << size)
    counts = np.bitwise_count(subsets)
    return [subsets[counts == count] for count in range(size + 1)]


def _best_of_products(
    f: Floats, block: Ints, group: Ints, classes: Classes
) -> tuple[Ints, bool]:
    """Enumerate the orders of all grades together, since products depend on all places."""
    if math.prod(math.factorial(end - first) for first, end in classes) > _MOST_ORDERS:
        return _improved(f, block, group, classes, "multiply"), False
    docs = np.concatenate([np.arange(first, end) for first, end in classes])
    fixed = np.setdiff1d(np.arange(len(f)), docs)
    alone = (_agreement(block, group, docs, fixed) * f[fixed]).sum(axis=1)
    best = -math.inf
    order = np.arange(len(f))
    for place in _every_order(classes):
        worth = f[place]
        value = worth @ alone
        for former, latter in combinations(range(len(docs)), 2):
            agrees = _agreement(
                block, group, docs[former : former + 1], docs[latter : latter + 1]
            )[0, 0]
            right: Floats | float = agrees
            if (
                group[docs[former]] == group[docs[latter]]
                and block[docs[former]] != block[docs[latter]]
            ):
                right = (place[:, former] < place[:, latter]) == (
                    block[docs[former]] < block[docs[latter]]
                )
            value += worth[:, former] * worth[:, latter] * right
        row = int(value.argmax())
        if value[row] > best:
            best = value[row]
            order = np.arange(len(f))
            order[place[row]] = docs
    return order, True


def _agreement(block: Ints, group: Ints, docs: Ints, others: Ints) -> Floats:
    """Return the agreement of ranking and grades on pairs of documents; pairs of equal grade agree."""
    ranked = np.sign(block[others][None, :] - block[docs][:, None])
    graded = np.sign(group[others][None, :] - group[docs][:, None])
    return np.where(graded == 0, 1.0, (1 + ranked * graded) / 2)


def _every_order(classes: Classes) -> list[Ints]:
    """Return the places of the documents in all orders of all classes, ``[orders, documents]``, in parts."""
    tables = [first + _permutations(end - first) for first, end in classes]
    total = math.prod(len(table) for table in tables)
    parts = []
    for begin in range(0, total, _AT_ONCE):
        number = np.arange(begin, min(begin + _AT_ONCE, total))
        columns = []
        for table in tables:
            number, which = np.divmod(number, len(table))
            columns.append(table[which])
        parts.append(np.concatenate(columns, axis=1))
    return parts


@cache
def _permutations(size: int) -> Ints:
    return np.array(list(permutations(range(size))), np.int64)


def _improved(
    f: Floats, block: Ints, group: Ints, classes: Classes, combine: str
) -> Ints:
    """Exchange the two neighbours that gain most, until no exchange gains."""
    order = np.arange(len(f))
    if len(f) > _MOST_CLIMBING:
        return order
    exchangeable = np.zeros(len(f) - 1, bool)
    for first, end in classes:
        exchangeable[first : end - 1] = True
    i = np.flatnonzero(exchangeable)
    other = f
    pair = f[i] * f[i + 1]
    if combine == "add":
        other = np.ones(len(f))
        pair = f[i] + f[i + 1]

    for _ in range(_MOST_EXCHANGES):
        right = _agreement(
            block[order], group[order], np.arange(len(f)), np.arange(len(f))
        )
        same = group[order][:, None] == group[order][None, :]
        above = np.triu(np.ones_like(same))
        ranked = (block[order][None, :] - block[order][:, None]) * np.where(
            above, 1, -1
        ) >= 0
        right = np.where(same, ranked, right)
        np.fill_diagonal(right, 0.0)
        whole = right @ other
        now = right[i, i + 1]
        others = (whole[i + 1] - now * other[i]) - (whole[i] - now * other[i + 1])
        open_pair = block[order[i]] != block[order[i + 1]]
        gain = (f[i] - f[i + 1]) * others + np.where(open_pair, 1 - 2 * now, 0.0) * pair
        exchange = int(gain.argmax())
        if gain[exchange] <= _SLACK * f[0]:
            break
        upper = i[exchange]
        lower = upper + 1
        order[[upper, lower]] = order[[lower, upper]]
    return order
