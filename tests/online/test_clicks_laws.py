"""What holds of judgments made of clicks whatever the log: against dicts, and against itself."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstone.errors import BadValue
from rankstone.online import click_cells as cells
from rankstone.online import shown_lists as lists
from rankstone.online.click_judgments import clicks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rankstone.online.click_results import Clicks

COLUMNS = ("session", "query_id", "doc_id", "position", "clicked")
#: rows, most of them clicked or not; pairs come again at several positions
ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from("qrs"),
        st.sampled_from(["a", "b", "c d", "Ω"]),
        st.integers(1, 3),
        st.sampled_from([0.0, 0.0, 1.0, 0.5, 0.1]),
    ),
    min_size=1,
    max_size=60,
)
Row = tuple[int, str, str, int, float]
PROPENSITIES = {1: 1.0, 2: 0.5, 3: 0.3}
METHODS = ("ctr", "click", "satisfaction", "ips")


def frame(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, list(COLUMNS), orient="row")


def judged(log: Any, method: str, **options: Any) -> Clicks:
    known = PROPENSITIES if method == "ips" else None
    return clicks(log, method, lists="keep", propensities=known, **options)


def expected(rows: list[Row], method: str) -> Mapping[tuple[str, str], float]:
    """Return grades as one would write them down."""
    numbers: dict[tuple[str, str], list[float]] = {}
    for _, query, doc, position, clicked in rows:
        whole = float(clicked > 0)
        weighted = clicked / PROPENSITIES[position]
        worth = {"satisfaction": clicked, "ips": weighted}.get(method, whole)
        numbers.setdefault((query, doc), []).append(worth)
    if method == "click":
        return {pair: max(values) for pair, values in numbers.items()}
    return {pair: math.fsum(values) / len(values) for pair, values in numbers.items()}


@given(ROWS, st.sampled_from(METHODS))
def test_grades_are_as_written_down(rows: list[Row], method: str) -> None:
    """Every pair has a grade, and it is what the rows of the pair say."""
    judgments = judged(frame(rows), method).judgments
    texts = {
        (query, doc): grade
        for query, doc, grade in judgments.select(judgments.columns[:3]).rows()
    }

    assert texts == pytest.approx(dict(expected(rows, method)), rel=1e-12, abs=1e-15)
    assert judgments["impressions"].sum() == len(rows)
    assert judgments["clicks"].sum() == sum(row[4] > 0 for row in rows)
    assert judgments.select("query_id", "doc_id").rows() == sorted(
        texts, key=lambda pair: [*map(str.encode, pair)]
    )


@given(ROWS, st.sampled_from(METHODS), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(
    rows: list[Row], method: str, dice: random.Random
) -> None:
    """Not a bit, whatever the order."""
    shuffled = list(rows)
    dice.shuffle(shuffled)
    first, other = judged(frame(rows), method), judged(frame(shuffled), method)

    assert first.judgments.equals(other.judgments)
    assert first.positions.equals(other.positions)
    assert first.audit.lines() == other.audit.lines()


@given(ROWS, st.sampled_from(METHODS))
def test_intervals_hold_estimates(rows: list[Row], method: str) -> None:
    """An interval holds its estimate, shares stay shares, and more confidence is a wider one."""
    values = judged(frame(rows), method).judgments.drop_nulls()
    wide = judged(frame(rows), method, confidence=0.99).judgments.drop_nulls()

    assert values.filter(pl.col("low") > pl.col("estimate") + 1e-12).is_empty()
    assert values.filter(pl.col("high") < pl.col("estimate") - 1e-12).is_empty()
    assert (wide["low"] <= values["low"] + 1e-12).all()
    assert (wide["high"] >= values["high"] - 1e-12).all()
    if method != "ips":
        assert values.filter((pl.col("low") < 0) | (pl.col("high") > 1)).is_empty()


@given(ROWS)
def test_propensities_of_one_change_nothing(rows: list[Row]) -> None:
    """Where everybody looks everywhere, weighted clicks are the mean of clicks."""
    weighted = clicks(frame(rows), "ips", propensities="1,1,1", lists="keep").judgments
    plain = clicks(frame(rows), "satisfaction", lists="keep").judgments
    for column in ("relevance", "impressions", "clicks", "effective"):
        assert weighted[column].to_list() == pytest.approx(
            plain[column].to_list(), abs=1e-12
        )


@pytest.mark.parametrize("method", [*METHODS, "pbm"])
def test_files_and_portions_change_nothing(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One frame, parts in several files, and queries taken a few at a time give the same bits."""
    dice = random.Random(4)
    rows = [
        (
            position // 3,
            f"q{dice.randrange(9)}",
            dice.choice("abcd"),
            1 + position % 3,
            float(dice.random() < 0.4),
        )
        for position in range(900)
    ]
    whole = judged(frame(rows), method)
    dice.shuffle(rows)
    for index in range(4):
        frame(rows[index::4]).write_parquet(tmp_path / f"part{index}.parquet")
    parts = judged(str(tmp_path), method)
    assert parts.judgments.equals(whole.judgments)
    assert parts.positions.equals(whole.positions)

    monkeypatch.setattr(cells, "_PAIRS_AT_ONCE", 20)
    monkeypatch.setattr(lists, "_LISTS_AT_ONCE", 100)
    few = judged(frame(rows), method)
    assert few.audit.lists == whole.audit.lists
    if (
        method == "pbm"
    ):  # pairs stand in another order, in which examinations are added up
        assert few.positions["propensity"].to_list() == pytest.approx(
            whole.positions["propensity"].to_list(), rel=1e-6
        )
    else:
        assert few.judgments.equals(whole.judgments)


@given(ROWS)
def test_the_model_is_never_lost(rows: list[Row]) -> None:
    """Whatever the log, the model is fitted or refused; what it leaves out is counted."""
    try:
        estimates = clicks(
            frame(rows), "pbm", lists="keep", unlinked="drop", max_iterations=60
        )
    except BadValue:  # nothing tells positions apart, or no user clicked at the first
        return
    shown = estimates.judgments["impressions"].sum() + sum(
        estimates.audit.unlinked.values()
    )
    assert estimates.judgments["estimate"].is_between(0, 1).all()
    assert estimates.audit.fit is not None
    assert math.isfinite(estimates.audit.fit.log_likelihood)
    assert shown == len(rows) if not estimates.audit.unseen else shown < len(rows)


@given(ROWS)
def test_lists_are_looked_at(rows: list[Row]) -> None:
    """Lists that skip or repeat are those a set would find; left out, the others remain."""
    by: dict[tuple[int, str], list[int]] = {}
    for session, query, _, position, _ in rows:
        by.setdefault((session, query), []).append(position)
    repeats = {key for key, places in by.items() if len(set(places)) < len(places)}
    skips = {key for key, places in by.items() if max(places) > len(set(places))}
    values = judged(frame(rows), "ctr").audit.lists
    assert values is not None
    assert (values.count, values.repeating, values.skipping) == (
        len(by),
        len(repeats),
        len(skips - repeats),
    )
    kept = [row for row in rows if (row[0], row[1]) not in repeats | skips]
    if repeats | skips:
        with pytest.raises(BadValue, match="list"):
            clicks(frame(rows))
    if kept:
        dropped = clicks(frame(rows), lists="drop")
        assert dropped.judgments.equals(clicks(frame(kept)).judgments)
        assert dropped.audit.impressions == len(kept)


@pytest.mark.parametrize(
    "places",
    [[*range(1, 201)], [*range(1, 64), 65], [*range(1, 131), 64], [64, 65], [128]],
)
def test_long_lists_are_looked_at(places: list[int]) -> None:
    """Lists longer than a word of bits: whole, with a gap at its end, and with a position twice."""
    rows = [(1, "q", f"d{index}", place, 0.0) for index, place in enumerate(places)]
    values = clicks(frame(rows), lists="keep").audit.lists
    repeats = len(set(places)) < len(places)
    assert values is not None
    assert (values.repeating, values.skipping) == (
        repeats,
        not repeats and max(places) > len(places),
    )
