"""What a threshold on grades decides."""

from __future__ import annotations

import numpy as np
import pytest

import rankstone
from rankstone import thresholds
from rankstone.errors import BadParameter

#: seven judged documents in the order shown, with the grades 4, 3, 2, 1, 3, 1, 2
SEVEN = {"q": {"a": 4, "b": 3, "c": 2, "d": 1, "e": 3, "f": 1, "g": 2}}
SHOWN = {"q": list("abcdefg")}


def test_every_grade_is_a_threshold() -> None:
    """AP at rel 1, 2, 3, 4, by hand."""
    study = thresholds(SEVEN, SHOWN, "AP")

    two = (1 / 1 + 2 / 2 + 3 / 3 + 4 / 5 + 5 / 7) / 5
    three = (1 / 1 + 2 / 2 + 3 / 5) / 3
    assert study.values["rel"].to_list() == [1.0, 2.0, 3.0, 4.0]
    assert study.values["value"].to_list() == pytest.approx(
        [1.0, two, three, 1.0], abs=1e-15
    )
    assert study.sensitivity["spread"].item() == pytest.approx(1 - three, abs=1e-15)


def test_a_threshold_wipes_out_preferences() -> None:
    """Of the 18 pairs with different grades, few have a given threshold between them."""
    pairs = thresholds(SEVEN, SHOWN, "AP").pairs

    assert pairs["pairs"].to_list() == [18] * 4
    assert pairs["kept"].to_list() == [7 * 0, 5 * 2, 3 * 4, 1 * 6]
    assert pairs["loss"].to_list() == pytest.approx(
        [1.0, 1 - 10 / 18, 1 - 12 / 18, 1 - 6 / 18], abs=1e-15
    )


def test_pairs_agree_with_counting() -> None:
    """The closed form is the count over all pairs, for several queries."""
    draw = np.random.default_rng(5)
    qrels = {
        f"q{i}": {f"d{j}": int(draw.integers(0, 4)) for j in range(draw.integers(1, 9))}
        for i in range(30)
    }
    study = thresholds(
        qrels, {q: list(docs) for q, docs in qrels.items()}, "P@3", levels=[1, 2.5]
    )
    for level, pairs, kept, _, empty in study.pairs.iter_rows():
        grades = [list(docs.values()) for docs in qrels.values()]
        different = [
            (a, b) for g in grades for i, a in enumerate(g) for b in g[:i] if a != b
        ]
        assert pairs == len(different)
        assert kept == sum((a >= level) != (b >= level) for a, b in different)
        assert empty == sum(max(g) < level for g in grades)


def test_runs_change_places() -> None:
    """One run is better for good documents, the other for any document."""
    qrels = {"q": {"good": 2, "fair": 1, "poor": 0}}
    runs = {"picky": {"q": ["good", "poor", "fair"]}, "broad": {"q": ["fair", "good"]}}
    study = thresholds(qrels, runs, "AP RR")
    ap = study.reversals.filter(measure="AP")

    assert ap["swapped"].to_list() == [[["picky", "broad"]]]
    assert ap["tau_b"].item() == -1.0
    assert ap["reversal"].item() == 2.0
    rr = study.reversals.filter(measure="RR")
    assert rr["tau_b"].item() is None  # RR(rel=1) ties: no order to compare
    assert rr["swapped"].to_list() == [[]]


def test_what_has_no_threshold_is_refused() -> None:
    """Judged@k and RBO look at no grade; grades that are all 0 leave nothing to cut."""
    with pytest.raises(BadParameter, match="Judged@3 has no threshold"):
        thresholds(SEVEN, SHOWN, "Judged@3")
    with pytest.raises(BadParameter, match="has no threshold"):
        thresholds(SEVEN, SHOWN, "RBO(p=0.9)")
    with pytest.raises(BadParameter, match="no grade above 0"):
        thresholds({"q": {"a": 0}}, SHOWN, "AP")


def test_it_agrees_with_evaluate() -> None:
    """Each value is what evaluate says for that threshold."""
    study = thresholds(SEVEN, {"x": SHOWN}, ["AP@5", "R@3"])
    for run, measure, rel, value in study.values.select(
        "run", "measure", "rel", "value"
    ).iter_rows():
        name, _, k = measure.partition("@")
        text = f"{name}(rel={rel:g})@{k}"
        assert rankstone.evaluate(SEVEN, {run: SHOWN}, text).to_dict() == {
            run: {text: value}
        }


def test_thresholds_that_print_alike_are_distinguished() -> None:
    """Grades that differ in the seventh digit are different thresholds."""
    qrels = {"q": {"a": 1_000_001, "b": 1_000_002, "c": 1_000_003}}
    values = thresholds(qrels, {"q": ["a", "b", "c"]}, "AP").values

    assert values["rel"].to_list() == [1_000_001, 1_000_002, 1_000_003]
    assert values["value"].to_list() == pytest.approx(
        [1, (1 / 2 + 2 / 3) / 2, 1 / 3], abs=1e-15
    )


def test_above_a_grade_instead_of_from_it_on() -> None:
    """Strictly above 0, 1, 2, 3 is from 1, 2, 3, 4 on; above 2.5 is from 3 on."""
    ours, strict = (
        thresholds(SEVEN, SHOWN, "AP"),
        thresholds(SEVEN, SHOWN, "AP", strict=True),
    )

    assert strict.values["rel"].to_list() == [0.0, 1.0, 2.0, 3.0]
    assert strict.values["value"].to_list() == ours.values["value"].to_list()
    assert strict.pairs["kept"].to_list() == ours.pairs["kept"].to_list()
    half = thresholds(SEVEN, SHOWN, "AP", levels=[2.5], strict=True)
    assert half.values["value"].item() == ours.values["value"].to_list()[2]
    assert half.report()["strict"] is True


def test_values_have_intervals() -> None:
    """The same that intervals finds for the measure with that threshold; wide where there is one query."""
    draw = np.random.default_rng(7)
    qrels = {
        f"q{i}": {f"d{j}": int(draw.integers(0, 4)) for j in range(6)}
        for i in range(30)
    }
    run = {q: sorted(docs) for q, docs in qrels.items()}
    study = thresholds(qrels, {"a": run}, "RR", confidence=0.9, seed=3)
    alone = rankstone.intervals(
        rankstone.evaluate(qrels, {"a": run}, "RR(rel=2)"), confidence=0.9, seed=3
    )

    assert study.values.filter(rel=2).select("low", "high").row(0) == alone.select(
        "low", "high"
    ).row(0)
    assert (study.values["low"] < study.values["value"]).all()
    values = thresholds(SEVEN, SHOWN, "AP").values
    assert (values["high"] - values["low"] > 0.9).all()
    assert study.report()["intervals"] == {
        "interval": "auto",
        "confidence": 0.9,
        "seed": 3,
    }


def test_where_runs_change_places() -> None:
    """Between neighbouring thresholds; back again is a crossing of its own."""
    qrels = {"q": {"a": 3, "b": 2, "c": 1}}
    runs = {"x": {"q": ["a", "z", "z2", "c", "b"]}, "y": {"q": ["b", "c", "z", "a"]}}
    study = thresholds(qrels, runs, "AP")

    assert study.values.pivot("run", index="rel", values="value").rows() == [
        (
            1.0,
            pytest.approx((1 / 1 + 2 / 4 + 3 / 5) / 3),
            pytest.approx((1 / 1 + 2 / 2 + 3 / 4) / 3),
        ),
        (2.0, pytest.approx((1 / 1 + 2 / 5) / 2), pytest.approx((1 / 1 + 2 / 4) / 2)),
        (3.0, 1.0, 1 / 4),
    ]
    assert study.crossings.rows() == [("AP", 2.0, 3.0, "x", "y")]


def test_a_measure_with_a_threshold_has_none_to_vary() -> None:
    """What was requested is not silently replaced, and NaN is no threshold."""
    with pytest.raises(BadParameter, match=r"AP\(rel=2\) already has a threshold"):
        thresholds(SEVEN, SHOWN, "AP(rel=2)")
    with pytest.raises(BadParameter, match="rel=nan is not a threshold"):
        thresholds(SEVEN, SHOWN, "AP", levels=[float("nan")])


def test_one_run_swaps_places_with_none() -> None:
    """The order of runs needs two and more."""
    judged = {"q": {"a": 2, "b": 1}, "p": {"a": 1}}
    runs = {"r": {"q": ["a", "b"], "p": ["a"]}, "s": {"q": ["b", "a"], "p": ["a"]}}
    assert "swap places" in rankstone.thresholds(judged, runs, "RR").text()
    alone = rankstone.thresholds(judged, {"r": runs["r"]}, "RR")
    assert "swap places" not in alone.text()
