"""MLflow's own numbers: its retriever metrics over columns of retrieved and of relevant ids."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "mlflow-3.18"
#: what its import asks for; a server, a store of experiments and plots play no part in these measures
REQUIRES = [
    "--no-deps",
    "mlflow==3.18.*",
    *(
        "numpy==2.*",
        "pandas",
        "scikit-learn==1.9.*",
        "scipy",
        "joblib",
        "threadpoolctl",
        "narwhals",
    ),
    *("python-dateutil", "pytz", "tzdata", "six"),
    *(
        "cachetools",
        "click",
        "cloudpickle",
        "databricks-sdk",
        "google-auth",
        "fastapi",
        "starlette",
    ),
    *(
        "annotated-doc",
        "anyio",
        "idna",
        "gitpython",
        "gitdb",
        "smmap",
        "importlib-metadata<9",
        "zipp",
    ),
    *(
        "opentelemetry-api",
        "opentelemetry-sdk",
        "opentelemetry-proto",
        "opentelemetry-semantic-conventions",
    ),
    *(
        "packaging",
        "protobuf",
        "pydantic",
        "pydantic-core",
        "annotated-types",
        "typing-inspection",
        "typing-extensions",
    ),
    *(
        "python-dotenv",
        "pyyaml",
        "requests",
        "certifi",
        "charset-normalizer",
        "urllib3",
        "sqlparse",
        "typing-extensions",
    ),
]
#: the libraries compute in float64, like rankstone
WITHIN = 1e-9
TRAITS = {"grades": [0, 0.5, 1, 2, 3], "duplicates": True}
MEASURES = ["ndcg_at_k(<k>)", "precision_at_k(<k>)", "recall_at_k(<k>)"]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}."""
    import pandas as pd
    from mlflow import metrics as theirs

    warnings.simplefilter("ignore")
    shown = pd.Series([[d for d, _ in listed] for listed in case["run"].values()])
    judged = [case["qrels"].get(q, {}) for q in case["run"]]
    relevant = pd.Series(
        [[d for d, grade in docs.items() if grade > 0] for docs in judged]
    )
    values = {}
    for measure in measures:
        name, k = re.fullmatch(r"(\w+)\((\d+)\)", measure).groups()  # type: ignore[union-attr]
        answer = getattr(theirs, name)(int(k)).eval_fn(shown, relevant)
        values[measure] = float(answer.aggregate_results["mean"])
    return values


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of rows without retrieved and without relevant ids, which count 1 in nDCG and recall."""
    qrels = case["qrels"]
    bare = any(
        not listed and max(qrels.get(q, {}).values(), default=0) <= 0
        for q, listed in case["run"].items()
    )
    if bare and not measure.startswith("precision"):
        return "nothing retrieved where nothing is relevant counts 1"
    return None
