"""Worked examples of the literature, recomputed: engine = formula, and the source is right or it is not."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest
from tests.golden.worked import calculate, classic, load, rows, with_values, world
from tests.oracle.oracle import align, scores
from tests.oracle.worlds import close
from tests.rows import each

import rankstone

CLASSIC: Final = load("classic.yaml")
EXAMPLES: Final = [*classic(), *load("examples.yaml")]
#: more tied documents have more orders than can be written down
MOST_TIED: Final = 7
ROWS: Final = [(example, row) for example in EXAMPLES for row in rows(example)]
LANGUAGES: Final = ("en", "zh")


def cases(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[Any]:
    """Name every example and measure in the test's id."""
    return [
        pytest.param(*pair, id=f"{pair[0]['id']}: {pair[1]['measure']}")
        for pair in pairs
    ]


STATED: Final = cases([pair for pair in ROWS if "stated" in pair[1]])
BY_HAND: Final = cases(
    [
        (example, row)
        for example, row in ROWS
        if "agg" not in row["measure"]
        and not (example.get("tied") and len(example["grades"]) > MOST_TIED)
    ]
)


@each(("example", "row"), cases(ROWS))
def test_the_engine_has_the_worked_value(
    example: dict[str, Any], row: dict[str, Any]
) -> None:
    """The engine's number is the formula's."""
    qrels, run = world(example)
    evaluation = rankstone.evaluate(
        qrels, run, [row["measure"]], **example.get("options", {})
    )
    assert close(
        calculate(row["value"]), evaluation.to_dict()["run"][row["measure"]], 1e-12
    )


@each(("example", "row"), BY_HAND)
def test_the_oracle_has_the_worked_value(
    example: dict[str, Any], row: dict[str, Any]
) -> None:
    """The slow derivation arrives at the formula's number too, so that it may judge the engine."""
    qrels, run = world(example)
    options = {
        "order": "score" if example.get("tied") else "input",
        **example.get("options", {}),
    }
    judged = [
        (q, doc, grade) for q, docs in qrels.items() for doc, grade in docs.items()
    ]
    retrieved = [(q, doc, 1.0) for q, docs in run.items() for doc in docs]
    possible = align(judged, retrieved, options)
    values = [
        value.value or 0.0
        for value in scores(possible, row["measure"], options).values()
    ]
    total = math.fsum(values) / (1 if row["measure"].startswith("Num") else len(values))
    assert close(calculate(row["value"]), total, 1e-12)


@each(("example", "row"), STATED)
def test_the_verdict_on_the_source_holds(
    example: dict[str, Any], row: dict[str, Any]
) -> None:
    """What the source prints agrees with the formula to its last digit, nearly, or not at all."""
    assert example["source"]
    stated, expected = row["stated"], calculate(row["value"])
    unit = 0.0 if "/" in stated else 10.0 ** -len(stated.partition(".")[2])
    off = abs(calculate(stated) - expected)
    agrees, nearly = off <= unit / 2 + 1e-12, off <= unit
    verdict = row.get("verdict", "right")
    assert verdict in ("right", "cut", "wrong")
    assert agrees == (verdict == "right")
    assert nearly or verdict != "cut"


@each("example", CLASSIC["examples"], ids=lambda example: example["id"])
def test_the_verdict_on_a_classic_example_is_that_on_its_numbers(
    example: dict[str, Any],
) -> None:
    """An example is right when all its numbers are, rounded when one of them is, wrong when one is."""
    values = [row.get("verdict", "right") for row in stated_rows(example)]
    holds = {
        "right": bool(values) and set(values) == {"right"},
        "open": not values,
        "rounded": "cut" in values and "wrong" not in values,
        "wrong": "wrong" in values or (not values and "stated" in example),
        # the number that is stated first is right; what follows it is not
        "wording": values[:1] == ["right"] or (not values and "stated" in example),
    }
    assert holds[example["verdict"]]


def stated_rows(example: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an example that the source has a number for."""
    return [
        row
        for case in example.get("cases", [])
        for row in rows(case)
        if "stated" in row
    ]


@each("example", CLASSIC["examples"], ids=lambda example: example["id"])
def test_classic_examples_are_reported_in_both_languages(
    example: dict[str, Any],
) -> None:
    """Title, claim and reason are there in English and in Chinese, and their formulas calculate."""
    assert set(example["sources"]) <= set(CLASSIC["sources"])
    texts = [example[name] for name in ("title", "stated", "why") if name in example]
    for text in (*texts, *(item["name"] for item in example.get("counted", []))):
        assert set(text) == set(LANGUAGES)
        for lang in LANGUAGES:
            assert text[lang].strip()
            assert "{" not in with_values(text[lang])


def test_every_classic_example_is_there() -> None:
    """They are numbered without a gap."""
    assert [example["id"] for example in CLASSIC["examples"]] == [
        f"W{index}" for index in range(1, 40)
    ]
    assert all(
        remark[lang].strip() for remark in CLASSIC["remarks"] for lang in LANGUAGES
    )


def test_numbers_in_a_text_are_calculated() -> None:
    """A formula in a text is replaced by its value."""
    assert (
        with_values("it is {= 38.5/46.5}, not {= 1/2 +\n 1/4}")
        == "it is 0.827957, not 0.75"
    )


def test_a_range_of_cutoffs_is_a_row_for_each() -> None:
    """``P@1..3`` with three values is three rows."""
    written = {
        "measures": [
            {"measure": "P@1..2", "values": ["1", "1/2"], "stated": ["1", "0.5"]}
        ]
    }
    assert [(row["measure"], row["value"], row["stated"]) for row in rows(written)] == [
        ("P@1", "1", "1"),
        ("P@2", "1/2", "0.5"),
    ]


def test_a_formula_is_arithmetic_and_nothing_else() -> None:
    """Formulas cannot call or name anything but log2."""
    assert calculate("(1/1 + 2/2 + 3/4 + 4/8) / 4") == 13 / 16
    assert calculate("2**3 - log2(8) * 1") == 5
    for forbidden in ("__import__('os')", "x + 1", "pow(2, 3)", "'a'"):
        with pytest.raises(ValueError, match="no part of a formula"):
            calculate(forbidden)


def test_ids_of_examples_are_unique() -> None:
    """Every example can be cited by its id."""
    names = [example["id"] for example in EXAMPLES]
    assert len(names) == len(set(names))
