"""Every two values of two options meet in some world, and the engine is the slow, obvious derivation there."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Final

import pytest
from allpairspy import AllPairs
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.test_oracle import COPIES_STAY_IN_RANGE, agree, allowed
from tests.oracle.oracle import IMPUTED
from tests.oracle.worlds import CHOICES, World, worlds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: all options of alignment and their values; ``None`` is the default, and nothing that it is about
OPTIONS: Final[dict[str, tuple[Any, ...]]] = {
    **CHOICES,
    "ties": (*CHOICES["ties"], "expected", "best", "worst"),
    "depth": (None, 1, 3),
    "duplicates": (
        None,
        "first_keep_rank",
        "first_drop",
        "last_drop",
        "keep",
        "keep_judged",
    ),
    "duplicate_judgments": (None, "max", "sum", "mean", "majority", "first", "last"),
    "no_results": ("missing", "zero", "undefined", "drop"),
    "pool": ("judged", "list"),
    "exclude_from": (None, "lists", "judgments", "both"),
    "identical_ids": ("keep", "drop"),
    "score_above": (None, 0.0, 1.0),
}
MEASURES: Final = (
    "P@3", "P(denom=n)@4", "R@2", "F@3", "Success@1", "Rprec", "AP", "AP(denom=min_R_k)@2",
    "AP(denom=hits)@3", "RR", "RR(target=best)", "CG@3", "DCG(gain=exp2)",
    "nDCG", "nDCG@3", "nDCG(gain=exp2)@3", "nDCG(ideal=list)@3", "nDCG(gain=exp2, ideal=topk)@3",
    "nDCG(gain=binary, ideal=k_of_R)@2", "nDCG(ideal_depth=min_k_n)@4", "Judged@3", "NumRet",
    "NumRelRet(rel=2)@3", "ERR(max_grade=3)@3", "RBP(p=0.8)",
)  # fmt: skip


def possible(chosen: Mapping[str, Any]) -> bool:
    """Tell whether options stand together at all; what they mean together is open in a few cases."""
    unjudged = chosen.get("unjudged", "nonrelevant")
    imputes = unjudged in IMPUTED or not isinstance(unjudged, str)
    open_ties = chosen.get("ties") in ("expected", "best", "worst")
    without_scores = chosen.get("order", "score") != "score"
    return not (
        # refused: what the option needs is not there
        (chosen.get("ties") == "expected" and chosen.get("depth"))
        or (without_scores and chosen.get("score_above") is not None)
        # whether a copy's imputed grade is ideal twice is open
        or (imputes and chosen.get("duplicates") in ("keep", "keep_judged"))
        # a copy that ties with its document: its rank is not uniform in the block, as the engine has it
        or (
            chosen.get("ties") == "expected"
            and chosen.get("duplicates") == "first_keep_rank"
        )
        # the ideal list depends on the order of tied documents
        or (
            open_ties
            and chosen.get("depth")
            and (chosen.get("pool") == "list" or imputes)
        )
    )


Pair = tuple[tuple[str, Any], tuple[str, Any]]

PAIRS: Final[list[Pair]] = [
    ((first, one), (second, other))
    for first, second in combinations(OPTIONS, 2)
    for one, other in product(OPTIONS[first], OPTIONS[second])
    if possible({first: one, second: other})
]


def missed(rows: Iterable[Mapping[str, Any]]) -> list[Pair]:
    """Return the pairs that are in no row."""
    met = {pair for row in rows for pair in combinations(row.items(), 2)}
    return [pair for pair in PAIRS if pair not in met]


def rows_of_all_pairs() -> list[dict[str, Any]]:
    """Return rows in which all pairs meet: those of the library that can be, completed one by one."""
    drawn = [
        dict(zip(OPTIONS, row, strict=True))
        for row in AllPairs(list(map(list, OPTIONS.values())))
    ]
    rows = [row for row in drawn if possible(row)]
    while left := missed(rows):
        row = dict(left[0])
        for name in [name for name in OPTIONS if name not in row]:
            trials = [{**row, name: value} for value in OPTIONS[name]]
            row = max(
                filter(possible, trials),
                key=lambda trial: sum(set(pair) <= trial.items() for pair in left),
            )
        rows.append({name: row[name] for name in OPTIONS})
    return rows


ROWS: Final = rows_of_all_pairs()


def test_every_two_values_meet() -> None:
    """All pairs that can stand together are in some row, and every row can be."""
    assert not missed(ROWS)
    assert all(map(possible, ROWS))


@pytest.mark.parametrize(
    "chosen", ROWS, ids=lambda row: "-".join(map(str, row.values()))
)
@given(data=st.data())
def test_every_two_options(chosen: dict[str, Any], data: st.DataObject) -> None:
    """Copies, judgments given twice, excluded pairs and empty lists are in a world whose options are about them."""
    chosen = {name: value for name, value in chosen.items() if value is not None}
    world = data.draw(worlds(longest=3))
    qrels, run = list(world.qrels), list(world.run)
    if data.draw(st.booleans()):
        run = [(query, doc, 1.0) for query, doc, _ in run]
    if "duplicates" in chosen:
        copies = st.lists(st.sampled_from(run), min_size=1, max_size=2)
        other = st.sampled_from([0.0, 0.0, 2.0, 3.0])
        again = [
            (query, doc, own + data.draw(other))
            for query, doc, own in data.draw(copies)
        ]
        run = data.draw(st.permutations([*run, *again]))
    if "duplicate_judgments" in chosen:
        judged = st.lists(st.sampled_from(qrels), min_size=1, max_size=3)
        grades = st.sampled_from([0.0, 1.0, 2.0, -1.0])
        again = [(query, doc, data.draw(grades)) for query, doc, _ in data.draw(judged)]
        qrels = data.draw(st.permutations([*qrels, *again]))
    pairs = sorted({(query, doc) for query, doc, _ in (*qrels, *run)}, key=str)
    some = st.lists(st.sampled_from(pairs), min_size=1, max_size=4, unique=True)
    exclude = tuple(data.draw(some)) if "exclude_from" in chosen else ()
    answered = {query for query, _, _ in run}
    hollow = tuple(
        dict.fromkeys(query for query, _, _ in qrels if query not in answered)
    )
    family: tuple[str, ...] = MEASURES
    if chosen.get("duplicates") == "keep":
        family = COPIES_STAY_IN_RANGE
    agree(
        World(tuple(qrels), tuple(run), chosen, exclude, hollow),
        allowed(family, chosen["ties"]),
    )
