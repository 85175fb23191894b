"""Worked examples of measures over subtopics: engine = slow derivation = formula."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from tests.golden.worked import calculate
from tests.oracle import diversity
from tests.oracle.oracle import FORMULAS, Facts, Slot, read_measure
from tests.oracle.worlds import close
from tests.rows import each

import rankstone

EXAMPLES: Final[list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("diversity.yaml").read_text("utf-8")
)
ROWS: Final = [
    pytest.param(example, row, id=f"{example['id']}: {row['measure']}")
    for example in EXAMPLES
    for row in example["measures"]
]


def named(example: dict[str, Any]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return what each document is about, and the ranked list."""
    every = [*example["ranked"], *example.get("missed", [])]
    about = {
        f"d{index}": subtopics or {"nothing": 0}
        for index, subtopics in enumerate(every)
    }
    again = [f"d{position}" for position in example.get("again", [])]
    return about, [f"d{index}" for index in range(len(example["ranked"]))] + again


@each(("example", "row"), ROWS)
def test_the_engine_has_the_worked_value(
    example: dict[str, Any], row: dict[str, Any]
) -> None:
    """The engine's number is the formula's."""
    about, ranked = named(example)
    intents = {"q": example["intents"]} if "intents" in example else None
    options = example.get("options", {})
    scores = rankstone.evaluate(
        {"q": about}, {"q": ranked}, [row["measure"]], intents=intents, **options
    )
    assert close(
        calculate(row["value"]), scores.to_dict()["run"][row["measure"]], 1e-12
    )


@pytest.mark.parametrize(("example", "row"), ROWS)
def test_the_oracle_has_the_worked_value(
    example: dict[str, Any], row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow derivation arrives at the formula's number too, so that it may judge the engine."""
    about, ranked = named(example)
    monkeypatch.setattr(diversity, "subtopics", lambda doc, _: about[doc])
    monkeypatch.setattr(diversity, "WEIGHTS", example.get("intents", {}))
    grades = {doc: float(max(about[doc].values())) for doc in about}
    facts = Facts(
        slots=tuple(Slot(grades[doc], judged=True, doc=doc) for doc in ranked),
        n=len(ranked),
        ideal=tuple(sorted(grades.values(), reverse=True)),
        lowest=0.0,
        retrieved=True,
        pool=tuple(grades.items()),
        weighted="intents" in example,
    )
    spec = read_measure(row["measure"])
    assert close(calculate(row["value"]), FORMULAS[spec.name](facts, spec), 1e-12)
