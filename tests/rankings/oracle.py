"""The slow, obvious second derivation: measures of two rankings straight from their definitions.

A ranking is a list of groups of tied documents, best first.  Nothing here is shared with the engine:
correlations walk over all pairs, means over tie orders write every order down, and rank-biased overlap
adds the overlap up depth by depth, far below the ends of the lists.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Ranking = list[list[str]]
Order = list[str]

#: more orders than these are not written down
MOST_ORDERS = 400


def documents(ranking: Ranking) -> Order:
    return [doc for group in ranking for doc in group]


def cut(ranking: Ranking, k: int) -> Ranking:
    """Return the first k documents; inside a group the greater id comes first."""
    kept, left = [], k
    for group in ranking:
        if left > 0:
            kept.append(sorted(group, reverse=True)[:left])
            left -= len(group)
    return kept


def among(ranking: Ranking, wanted: set[str]) -> Ranking:
    groups = [[doc for doc in group if doc in wanted] for group in ranking]
    return [group for group in groups if group]


def common(x: Ranking, y: Ranking) -> tuple[Ranking, Ranking]:
    both = set(documents(x)) & set(documents(y))
    return among(x, both), among(y, both)


def broken(ranking: Ranking) -> Ranking:
    """Return the ranking without ties: the greater id first."""
    return [[doc] for group in ranking for doc in sorted(group, reverse=True)]


def count_orders(ranking: Ranking) -> int:
    return math.prod(math.factorial(len(group)) for group in ranking)


def orders(ranking: Ranking) -> Iterator[Order]:
    """Write down every order that the ties leave open."""
    for parts in itertools.product(
        *(itertools.permutations(group) for group in ranking)
    ):
        yield [doc for part in parts for doc in part]


def block(ranking: Ranking) -> dict[str, int]:
    return {doc: index for index, group in enumerate(ranking) for doc in group}


def middle(ranking: Ranking) -> dict[str, Fraction]:
    """Return middle ranks."""
    values, above = {}, 0
    for group in ranking:
        values.update(dict.fromkeys(group, above + Fraction(len(group) + 1, 2)))
        above += len(group)
    return values


def sign(a: float, b: float) -> int:
    return (a > b) - (a < b)


def pair_signs(x: Ranking, y: Ranking) -> Iterator[tuple[str, str, int, int]]:
    in_x, in_y = block(x), block(y)
    for i, j in itertools.combinations(in_x, 2):
        yield i, j, sign(in_x[i], in_x[j]), sign(in_y[i], in_y[j])


# -- rank correlation ------------------------------------------------------------------------------------
def tau_a(x: Ranking, y: Ranking) -> float | None:
    x, y = common(x, y)
    signs = [a * b for _, _, a, b in pair_signs(x, y)]
    return sum(signs) / len(signs) if signs else None


def tau_b(x: Ranking, y: Ranking) -> float | None:
    x, y = common(x, y)
    pairs = [(a, b) for _, _, a, b in pair_signs(x, y)]
    in_x, in_y = sum(a != 0 for a, _ in pairs), sum(b != 0 for _, b in pairs)
    return (
        sum(a * b for a, b in pairs) / math.sqrt(in_x * in_y) if in_x * in_y else None
    )


def rho(x: Ranking, y: Ranking) -> float | None:
    x, y = common(x, y)
    in_x, in_y = middle(x), middle(y)
    mean = Fraction(len(in_x) + 1, 2)
    over = sum((in_x[d] - mean) * (in_y[d] - mean) for d in in_x)
    squares = sum((r - mean) ** 2 for r in in_x.values()) * sum(
        (r - mean) ** 2 for r in in_y.values()
    )
    return float(over) / math.sqrt(squares) if len(in_x) > 1 and squares else None


def wtau(x: Ranking, y: Ranking, weights: str, ranks: str) -> float | None:
    x, y = common(x, y)
    in_x, in_y = block(x), block(y)
    by = {
        "first": sorted(in_x, key=lambda d: (in_x[d], in_y[d])),
        "second": sorted(in_x, key=lambda d: (in_y[d], in_x[d])),
    }
    values = []
    for source in ("first", "second") if ranks == "mean" else (ranks,):
        place = {
            doc: Fraction(position) for position, doc in enumerate(by[source], start=1)
        }
        inner = {"xy": Fraction(0), "xx": Fraction(0), "yy": Fraction(0)}
        for i, j, a, b in pair_signs(x, y):
            weight = (
                1 / place[i] + 1 / place[j]
                if weights == "additive"
                else 1 / (place[i] * place[j])
            )
            for which, product in (("xy", a * b), ("xx", a * a), ("yy", b * b)):
                inner[which] += product * weight
        if not inner["xx"] * inner["yy"]:
            return None
        values.append(float(inner["xy"]) / math.sqrt(inner["xx"] * inner["yy"]))
    return sum(values) / len(values)


def ap_correlation(reference: Order, estimate: Order) -> float:
    """Return Yilmaz, Aslam and Robertson's coefficient of two orders without ties."""
    place = {doc: index for index, doc in enumerate(reference)}
    shares = [
        sum(place[above] < place[doc] for above in estimate[:index]) / index
        for index, doc in enumerate(estimate)
        if index
    ]
    return 2 * sum(shares) / len(shares) - 1


def tau_ap_a(reference: Ranking, estimate: Ranking) -> float | None:
    """Return the mean over every order of either ranking."""
    reference, estimate = common(reference, estimate)
    if len(documents(reference)) < 2:
        return None
    values = [ap_correlation(r, e) for r in orders(reference) for e in orders(estimate)]
    return math.fsum(values) / len(values)


def tau_ap_b(x: Ranking, y: Ranking) -> float | None:
    """Return the mean of either way of holding documents against the groups above their own."""
    x, y = common(x, y)
    if len(documents(x)) < 2 or len(x) < 2 or len(y) < 2:
        return None
    ways = []
    for reference, estimate in ((x, y), (y, x)):
        place, shares, above = block(reference), [], list[str]()
        for group in estimate:
            below = group if above else []
            shares += [
                sum(place[other] < place[doc] for other in above) / len(above)
                for doc in below
            ]
            above += group
        ways.append(2 * sum(shares) / len(shares) - 1)
    return sum(ways) / 2


# -- distances -------------------------------------------------------------------------------------------
def footrule(x: Ranking, y: Ranking) -> float | None:
    x, y = common(x, y)
    in_x, in_y, n = middle(x), middle(y), len(documents(x))
    return (
        float(sum(abs(in_x[d] - in_y[d]) for d in in_x) / (n * n // 2))
        if n > 1
        else None
    )


def fagin_f(x: Ranking, y: Ranking, location: float | None = None) -> float:
    in_x, in_y = (
        {doc: float(rank) for doc, rank in middle(ranking).items()}
        for ranking in (x, y)
    )
    below = max(len(in_x), len(in_y)) + 1 if location is None else location
    moved = math.fsum(
        abs(in_x.get(d, below) - in_y.get(d, below)) for d in {**in_x, **in_y}
    )
    most = math.fsum(
        abs(below - i) for n in (len(in_x), len(in_y)) for i in range(1, n + 1)
    )
    return moved / most


def fagin_k(x: Ranking, y: Ranking, p: float) -> float:
    """Return K^(p), pair by pair; a document that a list lacks stands in a group below all it has."""
    in_x, in_y = block(x), block(y)
    penalty = 0.0
    for i, j in itertools.combinations({**in_x, **in_y}, 2):
        a, b = (
            sign(position.get(i, 10**9), position.get(j, 10**9))
            for position in (in_x, in_y)
        )
        penalty += 1 if a * b < 0 else p if (a == 0) != (b == 0) else 0
    m, n = len(in_x), len(in_y)
    return penalty / (m * n + p * (m * (m - 1) + n * (n - 1)) / 2)


def four_cases(x: Order, y: Order, p: float) -> float:
    """Return the raw K^(p) of two lists without ties, by the four cases of Fagin, Kumar and Sivakumar."""
    total = 0.0
    for i, j in itertools.combinations([*x, *(d for d in y if d not in x)], 2):
        if {i, j} <= set(x) & set(y):
            total += (x.index(i) < x.index(j)) != (y.index(i) < y.index(j))
        elif {i, j} <= set(x) or {i, j} <= set(y):
            whole, other = (x, y) if {i, j} <= set(x) else (y, x)
            if i not in other and j not in other:
                total += p
            else:  # the one that the other list has is ahead there
                there, gone = (i, j) if i in other else (j, i)
                total += whole.index(gone) < whole.index(there)
        else:
            total += 1
    return total


# -- overlap ---------------------------------------------------------------------------------------------
def jaccard(x: Ranking, y: Ranking) -> float:
    a, b = set(documents(x)), set(documents(y))
    return len(a & b) / len(a | b)


def overlap(x: Ranking, y: Ranking) -> float:
    a, b = set(documents(x)), set(documents(y))
    return len(a & b) / max(len(a), len(b))


def rbo(x: Order, y: Order, p: float, score: str) -> float:
    """Return rank-biased overlap of lists without ties, by adding depths up to where p^d vanishes.

    Below the ends of the lists stand documents that the score speaks of: none in common (min), all
    that are still possible (max), or as many as agreement so far lets expect (ext).
    """
    short, long = sorted((x, y), key=len)
    s, n = len(short), len(long)
    deepest = n + s + math.ceil(math.log(1e-18) / math.log(p))

    def shared(a: Order, b: Order, depth: int) -> int:
        return len(set(a[:depth]) & set(b[:depth]))

    def agreement(depth: int) -> float:
        if score == "min":
            return shared(short, long, depth) / depth
        if score == "max":
            return shared(*filled, depth) / depth
        if depth <= s:
            return shared(short, long, depth) / depth
        at_s = shared(short, long, s) / s
        return (shared(short, long, min(depth, n)) + at_s * (min(depth, n) - s)) / min(
            depth, n
        )

    missing = [d for d in long if d not in short]
    both_ends = [d for d in short if d not in long]
    unknown = [f"unknown {i}" for i in range(deepest)]
    filled = ([*short, *missing, *unknown], [*long, *both_ends, *unknown])
    return (1 - p) * math.fsum(
        p ** (d - 1) * agreement(d) for d in range(1, deepest + 1)
    )


def part(ranking: Ranking, depth: int, ties: str) -> dict[str, Fraction]:
    """Return how much of each document stands at or above a depth."""
    values, above = {}, 0
    for group in ranking:
        taken = Fraction(min(max(depth - above, 0), len(group)), len(group))
        values.update(
            dict.fromkeys(group, Fraction(taken > 0) if ties == "w" else taken)
        )
        above += len(group)
    return {doc: taken for doc, taken in values.items() if taken}


def tied_rbo(x: Ranking, y: Ranking, p: float, ties: str, score: str) -> float:
    """Return rank-biased overlap with ties by Corsi and Urbano's definitions, document by document."""
    short, long = sorted((x, y), key=lambda ranking: len(documents(ranking)))
    s, n = len(documents(short)), len(documents(long))
    own = [doc for doc in documents(long) if doc not in documents(short)]

    def agreement(depth: int, unseen: Fraction) -> float:
        a, b = part(short, depth, ties), part(long, depth, ties)
        total = sum((a[doc] * b[doc] for doc in a if doc in b), Fraction(0)) + unseen
        extra = max(depth - s, 0)
        if ties == "w":
            return float(2 * total / (sum(a.values()) + extra + sum(b.values())))
        if ties == "a":
            return float(total / depth)
        squares = (sum(v * v for v in a.values()) + extra) * sum(
            v * v for v in b.values()
        )
        return float(total) / math.sqrt(squares)

    def unseen(depth: int) -> Fraction:
        extra, there = max(depth - s, 0), part(long, depth, ties)
        parts = [there[doc] for doc in own if doc in there]
        if not extra or score == "min":
            return Fraction(0)
        if score == "max":
            return sum(sorted(parts, reverse=True)[:extra], Fraction(0))
        return extra * Fraction(at_s) * sum(parts, Fraction(0)) / len(parts)

    at_s = agreement(s, Fraction(0))
    seen = [p ** (d - 1) * agreement(d, unseen(d)) for d in range(1, n + 1)]
    shared = len(set(documents(x)) & set(documents(y)))

    def beyond(depth: int) -> float:
        if score == "min":
            return shared / depth
        if score == "max":
            return min(2 * depth - n - s + shared, depth) / depth
        return (shared + at_s * (n - s)) / n

    far = n + s + math.ceil(math.log(1e-18) / math.log(p))
    rest = [p ** (d - 1) * beyond(d) for d in range(n + 1, far + 1)]
    return (1 - p) * math.fsum([*seen, *rest])


def mean_over_orders(
    x: Ranking, y: Ranking, value: Callable[[Order, Order], float]
) -> float:
    values = [value(a, b) for a in orders(x) for b in orders(y)]
    return math.fsum(values) / len(values)
