"""Every bound against everything written out: grades added to the judgments, and plain evaluate.

`RANKSTONE_CASES` says how many random lists each test draws (2000 and more for a thorough check).
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from tests.diagnostics.possibilities import (
    Case,
    Interval,
    draw,
    judgments,
    possible,
    run,
)
from tests.laws.table import FAMILIES, TABLES
from tests.night import part

import rankstone
from rankstone import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

CASES: Final = int(os.environ.get("RANKSTONE_CASES", "2"))
#: another draws other lists
SEED: Final = int(os.environ.get("RANKSTONE_SEED", "0"))
ALL: Final = {**FAMILIES, "tables": TABLES}
#: small enough that all families' measures know the grades
SCALES: Final = {
    "binary": (0.0, 1.0),
    "graded": (0.0, 1.0, 2.0),
    "uneven": (0.0, 0.5, 1.0, 3.0),
    "all": (1.0, 2.0),
}
WITHIN: Final = 1e-12
#: families and scales; tables of gains name whole grades only
DRAWN: Final = [(f, s) for f in ALL for s in SCALES if f != "tables" or s != "uneven"]
#: each family on two of the scales in turn, at night on all
IN_TURN: Final = [
    (family, scale)
    for turn, family in enumerate(ALL)
    for scale in part(SCALES, 2, turn)
    if (family, scale) in DRAWN
]
#: each family with both limits and both rules for ties, at night in every combination
OUTER: Final = [
    (family, *which)
    for turn, family in enumerate(ALL)
    for which in part(
        [(1, "docid_desc"), (1, "expected"), (20, "expected"), (20, "docid_desc")],
        2,
        turn,
    )
]
#: families without bounds: more is known of a document than a grade, or ties have no closed form
UNBOUNDED: Final = ("judgment groups", "novelty", "intents", "sessions", "marked")
NOT_CLOSED: Final = ("log odds", "interpolated", "shortfalls", "cascades", "navigation")


@cache
def bounded(family: str, **options: Any) -> tuple[str, ...]:
    """Return the measures of a family that have bounds under some options."""
    rows = []
    for text in ALL[family]:
        try:
            rankstone.bounds({"q": {"a": 1, "b": 0}}, {"q": ["a"]}, text, **options)
        except (UsageError, InputError):
            continue
        rows.append(text)
    return tuple(rows)


def differences(
    cases: list[Case],
    measures: Sequence[str],
    which: tuple[int, ...],
    bounds: rankstone.Bounds,
    **options: Any,
) -> list[str]:
    """Return a line for every interval that is not what trying everything gives."""
    name = " - ".join(f"r{position}" for position in which)
    rows = {
        (row["query_id"], row["measure"]): row
        for row in bounds.per_query.filter(run=name).iter_rows(named=True)
    }
    lines = []
    for key, interval in possible(cases, measures, which, **options).items():
        row = rows.get(key)
        if row is None or row["value"] is None:
            continue
        if np.isnan(interval[0]):  # no assignment has a value
            assert row["certificate"] == "outer" or row["low"] is row["high"] is None
            continue
        low, high = row["low"], row["high"]
        ours = (-np.inf if low is None else low, np.inf if high is None else high)
        if not fits(ours, interval, tight=row["certificate"] != "outer"):
            lines.append(
                f"{key} {name}: {row['certificate']} {ours}, true {interval}: {cases[int(key[0][1:])]}"
            )
    return lines


def fits(ours: Interval, true: Interval, *, tight: bool) -> bool:
    """Tell whether an interval is the true one, or holds it where it does not claim more."""
    if not tight:
        return ours[0] <= true[0] + WITHIN and ours[1] >= true[1] - WITHIN
    return all(
        abs(a - b) <= WITHIN * max(1.0, abs(b)) for a, b in zip(ours, true, strict=True)
    )


def together(
    rng: np.random.Generator, scale: tuple[float, ...], *, runs: int, ties: bool
) -> list[Case]:
    """Draw cases among which the lowest grade is judged, and every run answers something."""
    while True:
        cases = [draw(rng, scale, runs=runs, ties=ties) for _ in range(CASES)]
        bottom = any(scale[0] in case.judged.values() for case in cases)
        if bottom and all(
            any(case.lists[index] for case in cases) for index in range(runs)
        ):
            return cases


def check(
    family: str,
    scale: str,
    seed: int,
    *,
    runs: int = 1,
    limit: int = 4096,
    **options: Any,
) -> None:
    """Draw lists, bound them, and try everything."""
    ties = options.get("ties") == "expected"
    measures = bounded(family, **options)
    assert bool(measures) != (family in UNBOUNDED or (ties and family in NOT_CLOSED))
    if not measures:
        return
    rng = np.random.default_rng([SEED + seed, *family.encode(), *scale.encode()])
    cases = together(rng, SCALES[scale], runs=runs, ties=ties)
    bounds = rankstone.bounds(
        judgments(cases),
        {f"r{index}": run(cases, index) for index in range(runs)},
        list(measures),
        grades=SCALES[scale],
        difference=("r0", "r1") if runs > 1 else None,
        limit=limit,
        **options,
    )
    requested = [(index,) for index in range(runs)] + ([(0, 1)] if runs > 1 else [])
    lines = [
        line
        for which in requested
        for line in differences(cases, measures, which, bounds, **options)
    ]
    assert not lines, "\n".join([f"{len(lines)} wrong", *lines[:8]])


@pytest.mark.parametrize(("family", "scale"), DRAWN)
def test_one_run(family: str, scale: str) -> None:
    """What is called proven or enumerated is the lowest and the highest value there is."""
    check(family, scale, 1)


@pytest.mark.parametrize(("family", "scale"), IN_TURN)
def test_tied_documents(family: str, scale: str) -> None:
    """The same where the value is the mean over the orders of tied documents."""
    check(family, scale, 2, ties="expected")


@pytest.mark.parametrize(("family", "scale"), IN_TURN)
def test_two_runs(family: str, scale: str) -> None:
    """A difference is bounded by the grades of both lists' documents, shared ones having one grade."""
    check(family, scale, 3, runs=2)


@pytest.mark.parametrize(("family", "limit", "ties"), OUTER)
def test_outer_intervals(family: str, limit: int, ties: str) -> None:
    """Where not everything may be tried, the interval holds every possibility."""
    check(family, "graded", 4, runs=2, limit=limit, ties=ties)


@pytest.mark.parametrize(
    "options", [{"depth": 3}, {"missing": "drop"}, {"empty": "undefined"}], ids=str
)
@pytest.mark.parametrize(
    "family", ["binary", "average precision", "reciprocal rank", "ndcg"]
)
def test_options(family: str, options: dict[str, Any]) -> None:
    """Options of alignment decide which documents of which queries are retrieved and open."""
    check(family, "graded", 5, runs=2 if "empty" not in options else 1, **options)
