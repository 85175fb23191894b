"""Laws of statistics and comparisons, whatever the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankstone import compare_scores
from rankstone.stats import PAIRED, adjusted, randomised_tukey, sign_flips, verdict
from rankstone.stats.sampling_units import Units

#: scores as measures give them: few values, many ties, 0 and 1 among them
VALUES = st.one_of(
    st.sampled_from([0.0, 0.5, 1.0, 1 / 3, 0.1]),
    st.floats(0, 1).map(lambda x: round(x, 4)),
)


@st.composite
def tables(draw: st.DrawFn, systems: int = 2) -> np.ndarray:
    queries = draw(st.integers(2, 30))
    cells = draw(
        st.lists(VALUES, min_size=queries * systems, max_size=queries * systems)
    )
    return np.array(cells).reshape(queries, systems)


@given(tables())
def test_p_is_a_chance_and_has_no_side(table: np.ndarray) -> None:
    """Every p is in (0, 1] or exactly 0 for certainty by t, and the same for a - b and b - a."""
    units = Units.from_scores(table)
    first, other = units.difference(0, 1), units.difference(1, 0)
    flips = [sign_flips(side.total, flips=200)[0].p for side in (first, other)]

    assert 0 < flips[0] == flips[1] <= 1
    for name, test in PAIRED.items():
        if name != "mcnemar":
            assert 0 <= test(first) == test(other) <= 1


@given(tables(4))
def test_the_order_of_systems_plays_no_part(table: np.ndarray) -> None:
    """Systems in another order: the same gaps, and p between 0 and 1."""
    order = np.array([2, 0, 3, 1])
    p_values = randomised_tukey(table[:, :, None], shuffles=99)
    turned = randomised_tukey(table[:, order, None], shuffles=99)

    assert np.allclose(p_values.gap[np.ix_(order, order)], turned.gap, atol=1e-12)
    assert ((p_values.p > 0) & (p_values.p <= 1)).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_only_raise(p: list[float]) -> None:
    """No correction lowers a p, all keep their order, and Holm is never above Bonferroni."""
    for correction in ("holm", "bonferroni", "hochberg", "bh", "by"):
        adjusted_p = adjusted(p, correction)
        order = np.argsort(p, kind="stable")
        assert (adjusted_p >= np.array(p) - 1e-15).all()
        assert (np.diff(adjusted_p[order]) >= -1e-15).all()
    assert (adjusted(p, "holm") <= adjusted(p, "bonferroni") + 1e-15).all()
    assert (adjusted(p, "hochberg") <= adjusted(p, "holm") + 1e-15).all()


@given(tables(), st.sampled_from(["t", "bca", "percentile", "studentised"]))
def test_turned_round(table: np.ndarray, interval: str) -> None:
    """Who is held against whom only turns things round: differences, verdicts, wins and losses."""
    queries = [f"q{index}" for index in range(len(table))]
    data = {
        name: {
            q: {"m": float(v)} for q, v in zip(queries, table[:, index], strict=True)
        }
        for index, name in enumerate(("a", "b"))
    }
    options: dict[str, Any] = {
        "interval": interval,
        "resamples": 100,
        "permutations": 99,
    }
    item = compare_scores(data, baseline="a", **options).table.row(0, named=True)
    other = compare_scores(data, baseline="b", **options).table.row(0, named=True)
    opposite = {"better": "worse", "worse": "better"}

    assert item["difference"] == -other["difference"]
    assert (item["wins"], item["ties"]) == (other["losses"], other["ties"])
    assert item["p"] == other["p"]
    if interval == "t":
        assert opposite.get(item["verdict"], item["verdict"]) == other["verdict"]
    for row in (item, other):
        if row["low"] is not None:
            word = verdict((row["low"], row["high"]), "higher", None)
            same = word == "inconclusive" and row["ties"] == row["n"]
            assert row["verdict"] == ("identical" if same else word)
