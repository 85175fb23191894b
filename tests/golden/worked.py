"""Worked examples as data: formulas are calculated, and grades become judgments and a run."""

from __future__ import annotations

import ast
import math
import operator
import re
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = [
    "Example",
    "calculate",
    "classic",
    "counted",
    "load",
    "logged",
    "rows",
    "with_values",
    "world",
]

Example = dict[str, Any]

_FIRST: Final = date(2024, 1, 1)
_HERE: Final = Path(__file__).parent
_OPERATORS: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_RANGE: Final = re.compile(r"@(\d+)\.\.(\d+)$")
_FORMULA: Final = re.compile(r"\{=([^}]+)\}")


# -- formulas --------------------------------------------------------------------------------------------
def calculate(formula: str) -> float:
    """Return the value of a formula of + - * / **, brackets and log2."""
    return _value(ast.parse(formula.strip(), mode="eval").body)


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "log2"
    ):
        return math.log2(_value(node.args[0]))
    message = f"{ast.unparse(node)} is no part of a formula"
    raise ValueError(message)


def with_values(text: str) -> str:
    """Put values where a text has formulas: ``{= 3/4}`` becomes 0.75, with six digits at most."""
    return _FORMULA.sub(
        lambda result: f"{calculate(' '.join(result[1].split())):.6g}", text
    )


# -- logs ------------------------------------------------------------------------------------------------
def logged(log: Mapping[int, Sequence[str]]) -> dict[str, list[object]]:
    """Return a log of day → users as a table of events; day 0 is the first of January."""
    rows = [
        (user, _FIRST + timedelta(days=day))
        for day, users in log.items()
        for user in users
    ]
    return {"user_id": [user for user, _ in rows], "time": [day for _, day in rows]}


def counted(log: Mapping[int, Sequence[str]], row: Example) -> float | None:
    """Return what rankstone counts in a log: a column of one row of a frame."""
    from rankstone.online.cohort_retention import retention

    kind = row["of"]
    days = {"period", "cohort"} & kind["where"].keys()
    where = kind["where"] | {
        name: _FIRST + timedelta(days=kind["where"][name]) for name in days
    }
    cohorts = retention(logged(log), row.get("days", "1,3"), **row.get("options", {}))
    value: float | None = (
        getattr(cohorts, kind["frame"]).filter(**where)[kind["column"]].item()
    )
    return value


# -- examples --------------------------------------------------------------------------------------------
def load(name: str) -> Any:
    """Return the data of a file of examples."""
    return yaml.safe_load((_HERE / name).read_text("utf-8"))


def classic() -> list[Example]:
    """Return the cases of the classic examples, each as an example of its own."""
    cases = []
    for example in load("classic.yaml")["examples"]:
        source = ", ".join(f"source {number}" for number in example["sources"])
        for case in example.get("cases", []):
            name = f"{example['id']} {case['id']}" if "id" in case else example["id"]
            cases.append({**case, "id": name, "source": source})
    return cases


def rows(example: Example) -> Iterator[dict[str, Any]]:
    """Yield an example's rows, one a measure; ``P@1..3`` with a list of values is three."""
    for row in example["measures"]:
        if "values" not in row:
            yield row
            continue
        first, last = map(int, _RANGE.findall(row["measure"])[0])
        lists = {name: row[name] for name in ("values", "stated") if name in row}
        for index, k in enumerate(range(first, last + 1)):
            item = {
                name.removesuffix("s"): entries[index]
                for name, entries in lists.items()
            }
            yield {**row, **item, "measure": _RANGE.sub(f"@{k}", row["measure"])}


def world(example: Example) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """Return judgments and run."""
    qrels, run = {}, {}
    for position, item in enumerate(example.get("queries", [example]), start=1):
        qrels[f"q{position}"], ranked = _query(item)
        run[f"q{position}"] = (
            dict.fromkeys(ranked, 1.0) if example.get("tied") else ranked
        )
    return qrels, run


def _query(example: Example) -> tuple[dict[str, float], list[str]]:
    """Return judged grades and the ranked list of one query."""
    if "retrieved" in example:
        return dict.fromkeys(_ids(example["relevant"]), 1.0), _ids(example["retrieved"])
    grades = example["grades"]
    judged = {
        f"d{rank}": grade
        for rank, grade in enumerate(grades, start=1)
        if grade is not None
    }
    missed = {
        f"m{position}": grade
        for position, grade in enumerate(example.get("missed", []), start=1)
    }
    return judged | missed, [f"d{rank}" for rank in range(1, len(grades) + 1)]


def _ids(entries: list[int | str]) -> list[str]:
    """Write ranges such as ``1..5`` out."""
    lines: list[str] = []
    for entry in entries:
        low, _, high = str(entry).partition("..")
        lines += [f"d{number}" for number in range(int(low), int(high or low) + 1)]
    return lines
