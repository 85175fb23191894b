"""Worked examples of the literature, recomputed: engine = formula, and the source is right or it is not."""

from __future__ import annotations

import ast
import math
import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml
from tests.oracle.oracle import align, scores
from tests.oracle.worlds import close

import rankstone

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES: Final[list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("examples.yaml").read_text("utf-8")
)
#: more tied documents have more orders than can be written down
MOST_TIED: Final = 7
ROWS: Final = [(example, row) for example in EXAMPLES for row in example["measures"]]


def cases(rows: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[Any]:
    """Name every example and measure in the test's id."""
    return [pytest.param(*pair, id=f"{pair[0]['id']}: {pair[1]['measure']}") for pair in rows]


STATED: Final = cases([pair for pair in ROWS if "stated" in pair[1]])
BY_HAND: Final = cases(
    [
        (example, row)
        for example, row in ROWS
        if "agg" not in row["measure"] and not (example.get("tied") and len(example["grades"]) > MOST_TIED)
    ]
)
OPERATORS: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def calculate(formula: str) -> float:
    """Return the value of a formula of + - * / **, brackets and log2."""
    return _value(ast.parse(formula, mode="eval").body)


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "log2":
        return math.log2(_value(node.args[0]))
    message = f"{ast.unparse(node)} is no part of a formula"
    raise ValueError(message)


def ids(entries: list[int | str]) -> list[int]:
    """Write ranges such as ``1..5`` out."""
    found: list[int] = []
    for entry in entries:
        if isinstance(entry, str):
            low, _, high = entry.partition("..")
            found += range(int(low), int(high) + 1)
        else:
            found.append(entry)
    return found


def query(given: dict[str, Any]) -> tuple[dict[int, float], list[int]]:
    """Return judged grades and the ranked list of one query."""
    if "retrieved" in given:
        return dict.fromkeys(ids(given["relevant"]), 1.0), ids(given["retrieved"])
    grades = given["grades"]
    judged = {rank: grade for rank, grade in enumerate(grades, start=1) if grade is not None}
    missed = {1000 + at: grade for at, grade in enumerate(given.get("missed", []))}
    return judged | missed, list(range(1, len(grades) + 1))


def world(example: dict[str, Any]) -> tuple[dict[str, dict[int, float]], dict[str, Any]]:
    """Return judgments and run."""
    qrels, run = {}, {}
    for at, given in enumerate(example.get("queries", [example]), start=1):
        qrels[f"q{at}"], ranked = query(given)
        run[f"q{at}"] = dict.fromkeys(ranked, 1.0) if example.get("tied") else ranked
    return qrels, run


@pytest.mark.parametrize(("example", "row"), cases(ROWS))
def test_the_engine_has_the_worked_value(example: dict[str, Any], row: dict[str, Any]) -> None:
    """The engine's number is the formula's."""
    qrels, run = world(example)
    found = rankstone.evaluate(qrels, run, [row["measure"]], **example.get("options", {}))
    assert close(calculate(row["value"]), found.to_dict()["run"][row["measure"]], 1e-12)


@pytest.mark.parametrize(("example", "row"), BY_HAND)
def test_the_oracle_has_the_worked_value(example: dict[str, Any], row: dict[str, Any]) -> None:
    """The slow derivation arrives at the formula's number too, so that it may judge the engine."""
    qrels, run = world(example)
    options = {"order": "score" if example.get("tied") else "input", **example.get("options", {})}
    judged = [(q, doc, grade) for q, docs in qrels.items() for doc, grade in docs.items()]
    retrieved = [(q, doc, 1.0) for q, docs in run.items() for doc in docs]
    possible = align(judged, retrieved, options)
    found = [one.value or 0.0 for one in scores(possible, row["measure"], options).values()]
    total = math.fsum(found) / (1 if row["measure"].startswith("Num") else len(found))
    assert close(calculate(row["value"]), total, 1e-12)


@pytest.mark.parametrize(("example", "row"), STATED)
def test_the_verdict_on_the_source_holds(example: dict[str, Any], row: dict[str, Any]) -> None:
    """What the source prints agrees with the formula to its last digit, nearly, or not at all."""
    assert example["source"]
    stated, expected = row["stated"], calculate(row["value"])
    unit = 0.0 if "/" in stated else 10.0 ** -len(stated.partition(".")[2])
    off = abs(calculate(stated) - expected)
    agrees, nearly = off <= unit / 2 + 1e-12, off <= unit
    verdict = row.get("verdict", "right")
    assert verdict in ("right", "cut", "wrong")
    assert agrees == (verdict == "right")
    if verdict == "cut":
        assert nearly
        assert row["note"]


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
