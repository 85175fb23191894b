"""What user models have in common with each other and with older measures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.worlds import WHOLE, World, close, options, values, worlds

import rankstone

if TYPE_CHECKING:
    from collections.abc import Sequence

BINARY = (0.0, 0.0, 1.0)


def both(
    world: World, name: str, other: str
) -> list[tuple[float | None, float | None]]:
    """Return the values two measures have for each query."""
    scored = world.evaluate([name, other])
    left, right = values(scored, name), values(scored, other)
    return [(left[query], right[query]) for query in left]


ONE_NUMBER = [
    ("Q(beta=0)", "AP"),
    ("Q(beta=0)@3", "AP@3"),
    ("O_measure(beta=0)", "RR"),
    ("O_measure(beta=0, rel=2)@3", "RR(rel=2)@3"),
    ("CWL(gain=binary, model=P)@3", "P@3"),
    ("CWL(gain=binary, model=P, output=ETU)@3", "NumRelRet@3"),
    ("CWL(gain=binary, model=AP)", "AP(denom=hits)"),
    ("CWL(gain=binary, model=RR)", "RR"),
    ("NERR8(gain=binary)@3", "RR@3"),
    ("CWL(max_grade=3, model=INST, T=2)", "INST(max_grade=3, T=2)"),
    ("CWL(max_grade=3, model=NERR10, p=0.9)", "NERR10(max_grade=3)"),
    ("CWL(max_grade=3, model=BPM, T=1)@3", "BPM(max_grade=3)@3"),
    ("CWL(max_grade=3, model=SDCG)@3", "SDCG(max_grade=3)@3"),
]


@pytest.mark.parametrize(("name", "other"), ONE_NUMBER)
@given(world=worlds(grades=WHOLE, negative=False), chosen=options("ties", "unjudged"))
def test_one_number_under_two_names(
    name: str, other: str, world: World, chosen: dict[str, Any]
) -> None:
    """β = 0 makes Q AP; a walk of k ranks is P@k, one that ends at the first find RR, and so on."""
    for left, right in both(world.under(**chosen), name, other):
        assert close(left, right, 1e-12)


@given(
    world=worlds(grades=BINARY, negative=False),
    ties=st.sampled_from(["docid_desc", "expected"]),
)
def test_graded_average_precision_of_binary_grades_is_ap(
    world: World, ties: str
) -> None:
    """On grades 0 and 1 GAP is AP, to the bit; so is the mean over tied documents."""
    for cut in ("", "@2"):
        assert all(
            left == right
            for left, right in both(world.under(ties=ties), f"GAP{cut}", f"AP{cut}")
        )


@given(
    world=worlds(grades=BINARY, negative=False),
    p=st.sampled_from([0.3, 0.5, 0.8, 0.95]),
)
def test_a_score_and_its_residual_are_a_perfect_rest(world: World, p: float) -> None:
    """RBP + residual is the RBP of the list whose unjudged documents are relevant, and its whole tail."""
    judged = {(query, doc) for query, doc, _ in world.qrels}
    queries = {query for query, _, _ in world.qrels} & {
        query for query, _, _ in world.run
    }
    guessed = [
        (q, doc, 1.0)
        for q, doc, _ in world.run
        if q in queries and (q, doc) not in judged
    ]
    scored = world.evaluate([f"RBP(p={p})", f"RBP_residual(p={p})", "NumRet"])
    score, residual, length = (
        values(scored, text)
        for text in (f"RBP(p={p})", f"RBP_residual(p={p})", "NumRet")
    )
    filled = replace(world, qrels=(*world.qrels, *guessed)).evaluate([f"RBP(p={p})"])
    best = values(filled, f"RBP(p={p})")
    for query in map(str, queries):
        tail = p ** (length[query] or 0.0)
        assert close(
            (score[query] or 0.0) + (residual[query] or 0.0),
            (best[query] or 0.0) + tail,
            1e-12,
        )


@given(
    world=worlds(grades=WHOLE, negative=False),
    ties=st.sampled_from(["docid_desc", "expected"]),
)
def test_totals_are_averages_times_depth(world: World, ties: str) -> None:
    """ETU = EU · ED and ETC = EC · ED, for every model."""
    for model in (
        "model=RBP, {}p=0.8",
        "model=INSQ, {}T=2",
        "model=INST, {}T=2",
        "model=AP, {}",
    ):
        if ties == "expected" and model.startswith(("model=INST", "model=AP")):
            continue
        texts = {
            output: f"CWL(max_grade=3, n_max=30, {model.format(f'output={output}, ')})".replace(
                ", )", ")"
            )
            for output in ("EU", "ETU", "ED")
        }
        scored = world.under(ties=ties).evaluate(texts.values())
        eu, etu, ed = (
            values(scored, str(rankstone.parse_measure(texts[output])))
            for output in ("EU", "ETU", "ED")
        )
        for query in eu:
            assert close((eu[query] or 0.0) * (ed[query] or 0.0), etu[query], 1e-12)


# -- long walks ------------------------------------------------------------------------------------------
def by_rank(gains: Sequence[float], model: str, depth: int) -> float:
    """Return EU by visiting every rank."""
    gained = np.concatenate((gains, np.zeros(depth - len(gains))))
    rank, result = np.arange(1, depth + 1), np.cumsum(gained)
    if model == "INST":
        onward = ((rank + 2 - result - 1) / (rank + 2 - result)) ** 2
    else:
        onward = ((rank + 1) / (rank + 2)) ** 2 * (
            1 - gained if model == "NERR11" else 1
        )
    looked = np.concatenate(([1.0], np.cumprod(onward[:-1])))
    return float((looked * gained).sum() / looked.sum())


@pytest.mark.parametrize("model", ["INST", "INSQ", "NERR11"])
@given(
    ranks=st.sets(st.integers(1, 3000), max_size=8),
    depth=st.sampled_from([3000, 100_000]),
)
def test_closed_forms_of_long_walks(model: str, ranks: set[int], depth: int) -> None:
    """Legs of thousands of ranks are summed as exactly as if every rank was visited."""
    grades = [2 if rank in ranks else 0 for rank in range(1, 3001)]
    judged = {
        f"d{rank}": grade for rank, grade in enumerate(grades, start=1) if grade
    } or {"x": 1}
    run = {"q": [f"d{rank}" for rank in range(1, 3001)]}
    text = f"{model}(max_grade=4, n_max={depth})"
    value = rankstone.evaluate({"q": judged}, run, text).to_dict()["run"]
    expected = by_rank([grade / 4 for grade in grades], model, depth)
    assert close(expected, value[str(rankstone.parse_measure(text))], 1e-12)


def test_memory_of_residuals_is_flat() -> None:
    """Every rank of every query is visited a slice of queries at a time: many queries are no harder."""
    names = [f"q{index}" for index in range(600)]
    qrels = pl.DataFrame(
        {"query_id": names, "doc_id": ["a"] * 600, "relevance": [1.0] * 600}
    )
    run = qrels.select("query_id", "doc_id", score=1.0)
    text = "CWL(gain=binary, model=RBP, output=ResEU, p=0.8)"
    many = rankstone.evaluate(qrels, run, text)
    few = rankstone.evaluate(qrels[:1], run[:1], text)
    assert set(values(many, text).values()) == set(values(few, text).values())


@given(world=worlds(grades=WHOLE, negative=False))
def test_residuals_of_a_judged_list_come_from_behind_it(world: World) -> None:
    """Where the walk ends inside a fully judged list, nothing is open."""
    complete = replace(
        world,
        qrels=(
            *world.qrels,
            *(
                (query, doc, 0.0)
                for query, doc, _ in world.run
                if any(query == judged for judged, _, _ in world.qrels)
                and not any((query, doc) == (q, d) for q, d, _ in world.qrels)
            ),
        ),
    )
    text = "CWL(max_grade=3, model=NERR8, output=ResEU)@1"
    numbers = values(complete.evaluate([text]), text)
    for query in {str(query) for query, _, _ in world.run} & set(numbers):
        assert numbers[query] == 0.0
