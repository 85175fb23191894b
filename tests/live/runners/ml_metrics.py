"""Kaggle's mapk, from the package as it was released."""

from __future__ import annotations

from typing import Any

LIBRARY = "ml_metrics-0.1"
PACKAGE = "ml_metrics"
#: what can still build the package, which ``score`` then installs
REQUIRES = ["setuptools==57.5.0", "wheel==0.45.1", "numpy", "pandas"]
TRAITS = {"grades": [-1, 0, 0.5, 1, 2, 3], "duplicates": True, "ties": True}
MEASURES = ["mapk@<k>", "apk@<k>", "mapk"]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}: relevant is what has a grade above 0."""
    mapk = _loaded()
    judged = [case["qrels"].get(query, {}) for query in case["run"]]
    actual = [[doc for doc, grade in its.items() if grade > 0] for its in judged]
    predicted = [[doc for doc, _ in listed] for listed in case["run"].values()]
    values: dict[str, Any] = {}
    for measure in measures:
        cutoff = measure.partition("@")[2]
        options = {"k": int(cutoff)} if cutoff else {}
        values[measure] = float(mapk(actual, predicted, **options))
    return values


def _loaded() -> Any:
    """Return mapk; its setup needs the setuptools of this environment, so it is installed from here."""
    import importlib
    import subprocess
    import sys

    try:
        module = importlib.import_module("ml_metrics.average_precision")
    except ModuleNotFoundError:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-build-isolation",
            "--no-deps",
        ]
        subprocess.run([*pip, "ml_metrics==0.1.4"], check=True, stdout=sys.stderr)
        importlib.invalidate_caches()
        module = importlib.import_module("ml_metrics.average_precision")
    return module.mapk
