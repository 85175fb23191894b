"""Orderings without files: ids, dicts of scores, vectors of scores."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from tests.rows import each

import rankstone
from rankstone import InputError, UsageError, similarity
from rankstone.errors import BadOption
from rankstone.rankings.rank_similarity.list_measure import ListMeasure


def test_ids_scores_and_dicts_are_one() -> None:
    """An order of ids, scores that give it, and a dict of them mean the same ranking."""
    by_ids = similarity(["a", "b", "c"], ["b", "a", "c"], "tau_b")
    by_dict = similarity(
        {"a": 3, "b": 2, "c": 1}, {"c": 0.1, "a": 0.2, "b": 0.3}, "tau_b"
    )
    by_scores = similarity([3.0, 2.0, 1.0], [0.2, 0.3, 0.1], "tau_b")

    assert by_ids == by_dict == by_scores == (2 - 1) / 3
    assert (
        similarity(["a", "b", "c"], {"c": 0.1, "a": 0.2, "b": 0.3}, "tau_b")
        == (2 - 1) / 3
    )


@pytest.mark.parametrize("kind", [np.array, pl.Series, tuple])
def test_vectors_of_any_kind(kind: Any) -> None:
    """NumPy arrays, series and tuples of scores are scores of the same things in the same order."""
    assert (
        similarity(kind([1.0, 2.0, 3.0]), kind([1.0, 3.0, 2.0]), "tau_a") == (2 - 1) / 3
    )
    assert (
        similarity(kind([1, 2, 3]), kind([1, 3, 2]), "tau_a", values="scores")
        == (2 - 1) / 3
    )


def test_whole_numbers_must_be_declared() -> None:
    """Whole numbers could be ids in order or scores; the two give different numbers, so neither is guessed."""
    x, y = [1, 3, 2], [2, 3, 1]
    with pytest.raises(InputError, match="could be ids or scores"):
        similarity(x, y)

    assert similarity(x, y, values="ids") == (0 - 3) / 3
    assert similarity(x, y, values="scores") == (2 - 1) / 3


def test_systems_may_differ() -> None:
    """Dicts of systems are compared over the systems of both."""
    assert (
        similarity(
            {"a": 3.0, "b": 2.0, "x": 9.0}, {"a": 1.0, "b": 2.0, "y": 0.0}, "tau_b"
        )
        == -1.0
    )


def test_no_value_is_none() -> None:
    """A constant has no order; nor have rankings without a common document."""
    assert similarity([1.0, 1.0], [1.0, 2.0], "tau_b") is None
    assert similarity(["a", "b"], ["c", "d"], "tau_ap") is None


@each(
    ("x", "y", "message"),
    [
        ([1.0, 2.0], [1.0], "2 scores and y has 1"),
        (["a", "b"], [1.0, 2.0], "different kinds"),
        ("abc", "bac", "is a str"),
        (3, ["a"], "is a int"),
        ([1.0, "b"], [1.0, 2.0], "not a number"),
        ([1.0, float("nan")], [1.0, 2.0], "NaN"),
        (["a", "a"], ["a", "b"], "2 times"),
        ({}, {"a": 1.0}, "empty"),
        ({"a": "high"}, {"a": 1.0}, "not a number"),
    ],
)
def test_what_is_no_ordering(x: object, y: object, message: str) -> None:
    """Each mistake is an input error that says what is wrong."""
    with pytest.raises(InputError, match=message):
        similarity(x, y)


def test_questions_that_have_no_answer() -> None:
    """Measures against judgments, and kinds of values that do not exist."""
    with pytest.raises(UsageError, match="rankstone eval"):
        similarity(["a"], ["a"], "nDCG")
    with pytest.raises(BadOption, match="values="):
        similarity(["a"], ["a"], values="ranks")  # type: ignore[arg-type]


#: a measure for every list measure there is and every rule of ties it knows
OF_ITSELF = [
    *(f"RBO(p=0.9, ties={ties})" for ties in ("a", "b", "w", "broken")),
    *(f"RBO(p=0.9, ties={ties}, score=max)" for ties in ("a", "b", "w", "broken")),
    *(
        "tau_a",
        "tau_b",
        "rho",
        "wtau",
        "wtau(weights=multiplicative)",
        "tau_ap",
        "tau_ap(ties=b)",
    ),
    *("tau_ap(ties=broken)", "tau_ap(reference=both)", "tau_ap(reference=second)"),
    *("Overlap@3", "Jaccard", "footrule", "Fagin_F", "Fagin_K"),
]


@pytest.mark.parametrize("order", ["docid_desc", "docid_asc", "input", "reverse_input"])
@each("text", OF_ITSELF)
def test_a_run_with_ties_against_itself(
    text: str, order: Literal["docid_desc", "input"]
) -> None:
    """It is as like as can be, by every rule of ties, or a note says by which measure it is."""
    run = {"q": {"a": 3.0, "b": 3.0, "c": 2.0, "d": 1.0, "e": 1.0, "f": 1.0, "g": 0.5}}
    measure = rankstone.parse_measure(text)
    assert isinstance(measure, ListMeasure)
    difference = rankstone.diff(run, run, text, ties=order)
    value, best = (
        difference.to_dict()[str(measure)],
        0.0 if measure.card.direction == "lower" else 1.0,
    )

    assert value is not None
    assert bool(difference.notes()) == (abs(value - best) > 1e-12)
    for note in difference.notes():
        corrected = measure.corrected_for_ties
        assert corrected is not None
        assert str(corrected) in note
        whole = rankstone.diff(run, run, corrected, ties=order).to_dict()
        assert whole[str(corrected)] == pytest.approx(1.0, abs=1e-12)


def test_every_list_measure_is_held_against_itself() -> None:
    """No measure of two rankings is missing above."""
    names = {
        name
        for name, kind in rankstone.measures.MEASURES.items()
        if issubclass(kind, ListMeasure)
    }
    assert names == {rankstone.parse_measure(text).name for text in OF_ITSELF}
