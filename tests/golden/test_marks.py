"""Worked examples of forbidden documents: engine = slow derivation = formula."""

from __future__ import annotations

from typing import Any, Final

import polars as pl
import pytest
from tests.golden.worked import calculate, load
from tests.oracle import diversity
from tests.oracle.oracle import FORMULAS, Facts, Slot, read_measure
from tests.oracle.worlds import close
from tests.rows import each

import rankstone

ROWS: Final = [
    pytest.param(example, row, id=f"{example['id']}: {row['measure']}")
    for example in load("marks.yaml")
    for row in example["measures"]
]


def known(example: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what is known of each document."""
    every = [*example["shown"], *example.get("missed", [])]
    return {f"d{number}": about for number, about in enumerate(every)}


def names(example: dict[str, Any]) -> list[str]:
    """Return the ranked list."""
    return [f"d{number}" for number in range(len(example["shown"]))]


@each(("example", "row"), ROWS)
def test_the_engine_has_the_worked_value(
    example: dict[str, Any], row: dict[str, Any]
) -> None:
    """The engine's number is the formula's."""
    about = known(example)
    judged = [
        ("q", name, float(item["grade"]), str(item.get("forbidden", "")))
        for name, item in about.items()
        if "grade" in item
    ]
    columns = ["query_id", "doc_id", "relevance", "forbidden"]
    scores = rankstone.evaluate(
        pl.DataFrame(judged, columns, orient="row"),
        {"q": names(example)},
        [row["measure"]],
    )
    value = scores.to_dict()["run"][row["measure"]]
    assert close(calculate(row["value"]), value, 1e-12)


@pytest.mark.parametrize(("example", "row"), ROWS)
def test_the_oracle_has_the_worked_value(
    example: dict[str, Any], row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow derivation arrives at the formula's number too, so that it may judge the engine."""
    about = known(example)
    spec = read_measure(row["measure"])
    monkeypatch.setattr(
        diversity, "is_forbidden", lambda doc, _: about[doc].get("forbidden", False)
    )
    pool = {
        name: float(item["grade"]) for name, item in about.items() if "grade" in item
    }
    slots = [
        Slot(pool.get(name), judged=name in pool, doc=name) for name in names(example)
    ]
    facts = Facts(
        slots=tuple(slots),
        n=len(slots),
        ideal=tuple(sorted(pool.values(), reverse=True)),
        lowest=0.0,
        retrieved=True,
        pool=tuple(pool.items()),
    )
    value = FORMULAS[spec.name](facts, spec)
    assert close(calculate(row["value"]), value, 1e-12)
