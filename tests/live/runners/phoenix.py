"""Phoenix' own numbers: metrics of the evaluations of retrieved documents, averaged over queries."""

from __future__ import annotations

import re
import sys
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

LIBRARY = "phoenix-20"
PACKAGE = "arize-phoenix"
#: a server and its database play no part in these metrics
REQUIRES = [
    *("--no-deps", "arize-phoenix==20.*"),
    *("numpy==2.*", "pandas==2.*", "python-dateutil", "pytz", "tzdata", "six"),
]
#: the libraries compute in float64, like rankstone
WITHIN = 1e-9
TRAITS = {"duplicates": True, "strange": False}
MEASURES = [
    "ndcg(<k>)",
    "ndcg",
    "precision(<k>)",
    "precision",
    "reciprocal_rank",
    "hit",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the mean of the library's numbers}, over queries with judgments and a list."""
    metrics = _module()
    evaluated = [
        metrics.RetrievalMetrics(
            [case["qrels"][query].get(doc, 0.0) for doc, _ in listed]
        )
        for query, listed in case["run"].items()
        if case["qrels"].get(query)
    ]
    numbers: dict[str, Any] = {}
    for measure in measures:
        name, k = re.fullmatch(r"(\w+)(?:\((\d+)\))?", measure).groups()  # type: ignore[union-attr]
        values = [getattr(item, name)(*([int(k)] if k else ())) for item in evaluated]
        numbers[measure] = float(sum(values) / len(values)) if values else None
    return numbers


def _module() -> Any:
    """Return the module of the metrics; the package around it imports a server."""
    path = str(
        distribution(PACKAGE).locate_file("phoenix/metrics/retrieval_metrics.py")
    )
    spec = spec_from_file_location("retrieval_metrics", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(
        spec
    )  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module
