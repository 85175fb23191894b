"""RC against every ideal order, written down; and what it is to AUC and Kendall's tau."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.night import part
from tests.oracle.worlds import close, values

import rankstone
from rankstone.measures import ideal_orders
from rankstone.measures.ideal_agreement import RC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: what a place weighs, by its parameters
FAMILIES: Final[dict[str, Any]] = {
    "weight=log2": lambda i: 1 / np.log2(i + 1),
    "weight=hyperbolic": lambda i: 1 / i,
    "weight=sqrt": lambda i: 1 / np.sqrt(i),
    "weight=square": lambda i: 1 / i**2,
    "weight=cube": lambda i: 1 / i**3,
    "weight=geometric, p=0.5": lambda i: 0.5 ** (i - 1),
    "weight=geometric, p=0.9": lambda i: 0.9 ** (i - 1),
}
#: keeping the ranking's order among equal grades is proven best, however long the list
PROVEN: Final = {
    "add": ("weight=log2", "weight=hyperbolic", "weight=sqrt", "weight=square"),
    "multiply": ("weight=log2", "weight=sqrt"),
}
#: … and is not best somewhere among lists of up to seven
REFUTED: Final = {
    "add": ("weight=geometric, p=0.5",),
    "multiply": ("weight=hyperbolic", "weight=cube", "weight=geometric, p=0.5"),
}
CASES: Final = 2000


@cache
def lists() -> list[tuple[list[int], list[int]]]:
    """Make grades and tie blocks of lists of up to seven documents; half of the lists have ties."""
    draw = np.random.default_rng(20090101)
    made = []
    for index in range(CASES):
        n = int(draw.integers(1, 8))
        grades = draw.integers(0, draw.integers(1, 5), n).tolist()
        made.append(
            (grades, np.sort(draw.integers(0, n if index % 2 else 10**6, n)).tolist())
        )
    return made


def table(cases: Iterable[tuple[list[int], list[int]]]) -> pl.DataFrame:
    """Return the lists as a labelled table."""
    rows = [
        (query, -float(block), float(grade))
        for query, (grades, blocks) in enumerate(cases)
        for grade, block in zip(grades, blocks, strict=True)
    ]
    return pl.DataFrame(rows, ["query_id", "score", "relevance"], orient="row")


class Enumerated:
    """All ideal orders of one list, as places; the first keeps equal grades as they are ranked."""

    def __init__(self, grades: list[int], blocks: list[int]) -> None:
        classes = [
            [doc for doc, its in enumerate(grades) if its == grade]
            for grade in sorted(set(grades), reverse=True)
        ]
        orders = [
            [doc for members in arranged for doc in members]
            for arranged in itertools.product(
                *(itertools.permutations(members) for members in classes)
            )
        ]
        self.place = np.argsort(np.array(orders), axis=1) + 1
        self.u, self.v = np.triu_indices(len(grades), 1)
        grade, self.block = np.array(grades), np.array(blocks)
        self.unequal = grade[self.u] != grade[self.v]
        tied = self.block[self.u] == self.block[self.v]
        agrees = (self.place[:, self.u] < self.place[:, self.v]).astype(float)
        self.agrees = np.where(tied, np.where(self.unequal, 0.5, 1.0), agrees)

    def values(self, f: Any, on: str, combine: str, ties: str) -> Floats | None:
        """Return the correlation with every ideal order; None where there is no pair."""
        weight = f(self.place.astype(float))
        if on == "model":
            place = f(np.arange(1.0, len(self.block) + 1))
            of_block = [place[self.block == block].mean() for block in self.block]
            weight = np.tile(of_block, (len(self.place), 1))
        first, other = weight[:, self.u], weight[:, self.v]
        pair = first + other if combine == "add" else first * other
        pair = pair * (self.unequal if ties == "drop" else 1.0)
        whole = pair.sum(axis=1)
        return (
            None
            if not whole.size or not whole[0]
            else (pair * self.agrees).sum(axis=1) / whole
        )


@cache
def enumerated() -> list[Enumerated]:
    """Return the ideal orders of all lists."""
    return [Enumerated(*case) for case in lists()]


PLACES: Final = [
    (on, combine, ties)
    for on, combine in itertools.product(("model", "ideal"), ("add", "multiply"))
    for ties in ("max", "drop")
    if (on, ties) != ("ideal", "drop")
]


#: each weight with half of the places, so that it meets each value of each; at night with all
IN_TURN: Final = [
    (family, *place)
    for turn, place in enumerate(PLACES)
    for family in part(FAMILIES, 2, turn + turn // 2)
]


@pytest.mark.parametrize(("family", "on", "combine", "ties"), IN_TURN)
def test_rc_is_the_best_of_all_ideal_orders(
    family: str, on: str, combine: str, ties: str
) -> None:
    """On 2,000 lists the value is the maximum over all ideal orders, and is known to be."""
    text = str(
        rankstone.parse_measure(
            f"RC({family}, weight_on={on}, combine={combine}, ties={ties})"
        )
    )
    per_query = rankstone.evaluate(
        table=table(lists()), measures=text, ties="input"
    ).per_query
    for index, (value, status) in enumerate(
        per_query.select("value", "status").iter_rows()
    ):
        expected = enumerated()[index].values(FAMILIES[family], on, combine, ties)
        assert (status == "undefined") == (expected is None)
        if expected is not None:
            assert status == "ok"
            assert close(float(expected.max()), value, 1e-12), lists()[index]


@pytest.mark.parametrize("ties", ["max", "drop"])
def test_uniform_weights(ties: str) -> None:
    """So it is when every pair weighs the same."""
    text = "RC" if ties == "max" else "RC(ties=drop)"
    listed = (
        rankstone.evaluate(table=table(lists()), measures=text, ties="input")
        .per_query["value"]
        .to_list()
    )
    for index, value in enumerate(listed):
        expected = enumerated()[index].values(np.ones_like, "model", "multiply", ties)
        assert (value is None) == (expected is None)
        assert expected is None or close(float(expected.max()), value, 1e-12)


@pytest.mark.parametrize(
    ("combine", "family"), [(c, f) for c, names in PROVEN.items() for f in names]
)
def test_the_rankings_order_is_best_where_it_is_proven(
    combine: str, family: str
) -> None:
    """For these weights no exchange ever wins, and no enumerated list contradicts it."""
    places = np.arange(1.0, 100_001.0)
    assert ideal_orders.exchange_never_loses(FAMILIES[family](places), combine).all()
    for item in enumerated():
        numbers = item.values(FAMILIES[family], "ideal", combine, "max")
        assert numbers is None or numbers.max() <= numbers[0] + 1e-12


@pytest.mark.parametrize(
    ("combine", "family"), [(c, f) for c, names in REFUTED.items() for f in names]
)
def test_the_rankings_order_is_not_best_elsewhere(combine: str, family: str) -> None:
    """For these weights the exchange is not promised to win, and some enumerated list has a better order."""
    places = np.arange(1.0, 20.0)
    assert not ideal_orders.exchange_never_loses(
        FAMILIES[family](places), combine
    ).all()
    listed = [
        item.values(FAMILIES[family], "ideal", combine, "max") for item in enumerated()
    ]
    assert any(of is not None and of.max() > of[0] + 1e-9 for of in listed)


@pytest.mark.parametrize("combine", ["add", "multiply"])
def test_what_is_not_proven_is_a_lower_bound(
    combine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the limits of the exact search the value lies between the first order's and the maximum."""
    monkeypatch.setattr(ideal_orders, "_MOST_SUBSETS", 1)
    monkeypatch.setattr(ideal_orders, "_MOST_ORDERS", 1)
    family = "weight=geometric, p=0.5"
    text = str(
        rankstone.parse_measure(f"RC({family}, weight_on=ideal, combine={combine})")
    )
    scored = rankstone.evaluate(table=table(lists()), measures=text, ties="input")
    frame = scored.per_query
    bounded = 0
    for index, (value, status) in enumerate(
        frame.select("value", "status").iter_rows()
    ):
        orders = enumerated()[index].values(FAMILIES[family], "ideal", combine, "max")
        if orders is not None:
            assert orders[0] - 1e-12 <= value <= orders.max() + 1e-12
            bounded += status == "lower_bound"
            assert status == "lower_bound" or close(float(orders.max()), value, 1e-12)
    assert bounded > 0
    assert any(
        f"higher for {bounded:,} queries (status lower_bound)" in line
        for line in scored.audit.lines()
    )


def test_a_long_list_is_searched_and_says_so() -> None:
    """Fifty documents of two grades under geometric weights: too many for proof, the status tells."""
    grades = np.random.default_rng(3).integers(0, 2, 50).tolist()
    frame = table([(grades, list(range(50)))])
    for combine in ("add", "multiply"):
        text = (
            f"RC(weight=geometric, p=0.9, weight_on=ideal, combine={combine})".replace(
                ", combine=add", ""
            )
        )
        scored = rankstone.evaluate(table=frame, measures=text, ties="input").per_query
        assert scored["status"].to_list() == ["lower_bound"]


# -- identities ------------------------------------------------------------------------------------------
@given(
    binary=st.lists(st.booleans(), min_size=2, max_size=30),
    scores=st.lists(st.integers(0, 9), min_size=30, max_size=30),
    rule=st.sampled_from(["input", "reverse_input", "expected"]),
)
def test_two_grades(binary: list[bool], scores: list[int], rule: str) -> None:
    """RC = 1 − (1 − AUC) 2 R N / (n (n − 1)) and RC(ties=drop) = AUC, with ties in the ranking too."""
    n, relevant = len(binary), sum(binary)
    rows = {
        "query_id": ["q"] * n,
        "score": scores[:n],
        "relevance": [int(b) for b in binary],
    }
    texts = ["RC", "RC(ties=drop)", "AUC(negatives=judged)"]
    value = rankstone.evaluate(
        table=pl.DataFrame(rows), measures=texts, ties=rule
    ).to_dict()["run"]
    rc, dropped, auc = (value[text] for text in texts)
    assert rc is not None
    if auc is None:
        assert dropped is None
        assert rc == 1.0
        return
    assert close(
        1 - (1 - auc) * 2 * relevant * (n - relevant) / (n * (n - 1)), rc, 1e-12
    )
    assert close(auc, dropped, 1e-12)


@given(
    grades=st.permutations(range(9)),
    scores=st.lists(st.integers(0, 20), min_size=9, max_size=9),
)
def test_distinct_grades(grades: list[int], scores: list[int]) -> None:
    """Where all grades differ, RC = (1 + tau_a) / 2, tau_a = (agreeing − disagreeing pairs) / all pairs."""
    rows = pl.DataFrame({"query_id": ["q"] * 9, "score": scores, "relevance": grades})
    value = rankstone.evaluate(table=rows, measures="RC").to_dict()["run"]["RC"]
    signs = [
        np.sign(scores[u] - scores[v]) * np.sign(grades[u] - grades[v])
        for u, v in itertools.combinations(range(9), 2)
    ]
    assert close((1 + sum(signs) / math.comb(9, 2)) / 2, value, 1e-12)


@given(st.data())
def test_unjudged_documents_take_no_part(data: st.DataObject) -> None:
    """Unjudged documents between the others change nothing, whatever weighs."""
    judged = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
    places = data.draw(st.lists(st.integers(0, len(judged)), max_size=4))
    docs = [f"d{position}" for position in range(len(judged))]
    shown = list(docs)
    for index, place in enumerate(places):
        shown.insert(place, f"unjudged {index}")
    qrels = {"q": dict(zip(docs, judged, strict=True))}
    texts = ["RC", "RC(weight=hyperbolic)", "RC(weight=hyperbolic, weight_on=ideal)"]
    with_them, without = (
        [
            values(rankstone.evaluate(qrels, {"q": run}, texts), text)["q"]
            for text in texts
        ]
        for run in (shown, docs)
    )
    assert with_them == without


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RC@5", "takes no cutoff"),
        ("RC(weight=geometric)", "p go together"),
        ("RC(p=0.5)", "p go together"),
        ("RC(weight=geometric, p=1.5)", "less than 1"),
        ("RC(weight_on=ideal)", "need weights of places"),
        ("RC(combine=multiply)", "need weights of places"),
        (
            "RC(weight=log2, weight_on=ideal, ties=drop)",
            "needs the pairs of equal grade",
        ),
    ],
)
def test_parameters_that_do_not_go_together(text: str, message: str) -> None:
    """RC refuses what makes no sense, and says what would."""
    with pytest.raises(rankstone.UsageError, match=message):
        rankstone.parse_measure(text)
    assert isinstance(rankstone.parse_measure("RC"), RC)
