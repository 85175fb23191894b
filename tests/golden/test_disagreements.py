"""What libraries print for the same input, reproduced by naming the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import yaml
from tests.rows import each

import rankstone
from rankstone import RankstoneError

CASES = yaml.safe_load(
    Path(__file__).with_name("disagreements.yaml").read_text(encoding="utf-8")
)
#: libraries that print four or five decimals
WITHIN = 1.5e-4


def our_number(case: dict[str, Any], answer: dict[str, Any]) -> float | str | None:
    """Return our number under the library's name, ``None`` for no value, ``refuses`` for an error."""
    try:
        scores = (
            of_lists(case, answer) if "history" in case else of_judgments(case, answer)
        )
    except RankstoneError:
        return "refuses"
    return scores.to_dict()["r"][answer["measure"]]


def of_lists(case: dict[str, Any], answer: dict[str, Any]) -> rankstone.BeyondScores:
    """Measure whole lists beside a past and a catalogue."""
    tables: dict[str, Any] = {
        "history": case["history"],
        "items": pl.DataFrame({"doc_id": case["items"]}),
    }
    return rankstone.beyond(
        {"r": case["run"]}, answer["measure"], convention=answer["library"], **tables
    )


def of_judgments(case: dict[str, Any], answer: dict[str, Any]) -> rankstone.Scores:
    """Score lists against judgments."""
    over, judged = answer.get("grades_over", 1), answer.get("qrels", case["qrels"])
    qrels = {
        query: {doc: grade / over for doc, grade in docs.items()}
        for query, docs in judged.items()
    }
    run: Any = {query: dict(docs) for query, docs in case["run"].items()}
    if any(
        len(run[query]) < len(docs) for query, docs in case["run"].items()
    ):  # a document twice
        rows = [
            (query, doc, score)
            for query, docs in case["run"].items()
            for doc, score in docs
        ]
        run = tuple(map(list, zip(*rows, strict=True)))
    words, options = [answer["measure"]], answer.get("options", {})
    return rankstone.evaluate(
        qrels, {"r": run}, words, convention=answer["library"], **options
    )


def same(item: float | str | None, other: float | str | None) -> bool:
    """Tell whether two answers are the same."""
    if isinstance(item, (str, type(None))) or isinstance(other, (str, type(None))):
        return item == other
    return abs(item - other) <= WITHIN


@each(
    ("case", "answer"),
    [(case, answer) for case in CASES for answer in case["reads"]],
    ids=lambda part: (
        f"{part['library']} {part['measure']}" if "library" in part else part["id"]
    ),
)
def test_naming_the_library_gives_its_number(
    case: dict[str, Any], answer: dict[str, Any]
) -> None:
    """The number, no value, or a refusal."""
    assert same(our_number(case, answer), answer["value"])
