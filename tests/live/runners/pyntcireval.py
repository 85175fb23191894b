"""pyNTCIREVAL's own numbers: labelled lists, gains 1, 2 and 3, averaged."""

from __future__ import annotations

import re
from typing import Any

LIBRARY = "pyntcireval-0.0"
REQUIRES = ["pyNTCIREVAL==0.0.3", "numpy"]
TRAITS = {"grades": [0, 1, 2, 3]}
#: grades reach it as whole numbers
WHOLE = True
MEASURES = [
    "RR", "OMeasure", "OMeasure[beta=10]", "PMeasure", "PMeasure[beta=0.5]", "PPlusMeasure",
    "PPlusMeasure[beta=10]", "QMeasure", "QMeasure[beta=10]", "QMeasure@<k>", "QMeasure@<k>[beta=0.5]", "AP",
    "AP@<k>", "ERR[gains=1:3]", "nERR@<k>[gains=1:3]", "RBP[gains=1:3, p=0.95]", "nDCG@<k>[logb=2]",
    "nDCG@<k>[logb=3]", "nDCG@<k>[logb=10]", "MSnDCG@<k>", "Precision@<k>", "Hit@<k>",
]  # fmt: skip


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw half of the cases without queries and lists that nothing is relevant to."""
    from dataclasses import replace

    from tests.live import worlds

    rich = replace(traits, empty=False, extra=False)
    return worlds.cases(seed, count - count // 2, traits) + worlds.cases(
        seed + 1, count // 2, rich
    )


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    numbers: dict[str, Any] = {}
    for measure in measures:
        try:
            values = [
                _metric(measure, case["qrels"].get(query, {})).compute(
                    _labelled(case["qrels"].get(query, {}), listed)
                )
                for query, listed in case["run"].items()
            ]
            numbers[measure] = float(sum(values) / len(values))
        except (ValueError, ZeroDivisionError) as error:
            numbers[measure] = {"error": type(error).__name__}
    return numbers


def differs(case: dict[str, Any], measure: str) -> str | None:  # noqa: ARG001 - as for every library
    """Tell of grades below zero, which are refused here."""
    if any(grade < 0 for judged in case["qrels"].values() for grade in judged.values()):
        return "a grade below zero is a place from the end of its list of levels"
    return None


def _labelled(
    judged: dict[str, float], listed: list[list[Any]]
) -> list[tuple[str, int | None]]:
    from pyNTCIREVAL import Labeler

    return Labeler({doc: int(grade) for doc, grade in judged.items()}).label(
        [doc for doc, _ in listed]
    )  # type: ignore[no-any-return]


def _metric(measure: str, judged: dict[str, float]) -> Any:
    """Build the metric of one topic."""
    from pyNTCIREVAL import Labeler, metrics

    name, cutoff, settings = re.fullmatch(
        r"(\w+)(?:@(\d+))?(?:\[(.*)\])?", measure
    ).groups()  # type: ignore[union-attr]
    values = dict(
        setting.split("=") for setting in (settings or "").split(", ") if setting
    )
    counts = Labeler(
        {doc: int(grade) for doc, grade in judged.items()}
    ).compute_per_level_doc_num(4)
    inputs: list[Any] = (
        [] if name in ("RR", "Precision", "Hit") else [counts, [1, 2, 3]]
    )
    if name.endswith("Measure"):
        inputs.append(float(values.get("beta", 1)))
    if name == "RBP":
        inputs.append(float(values["p"]))
    if name == "nDCG":
        inputs.append(float(values["logb"]))
    if cutoff:
        inputs.append(int(cutoff))
    return getattr(metrics, name)(*inputs)
