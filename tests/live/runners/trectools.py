"""trectools' own numbers: the methods of TrecEval, over a run that it reads and a frame of judgments."""

from __future__ import annotations

import re
import warnings
from io import StringIO
from typing import Any

LIBRARY = "trectools-0.0"
REQUIRES = ["trectools==0.0.50", "pandas==2.*", "numpy==2.*"]
#: grades reach it as whole numbers
WHOLE = True
#: an empty list is no line of a file, and pandas reads some ids as nothing
TRAITS = {"grades": [-1, 0, 1, 2, 3], "hollow": False, "names": False}
MEASURES = [
    "MAP@<k>", "MAP@<k>[trec_eval=False]", "NDCG@<k>", "NDCG@<k>[trec_eval=False]", "P@<k>",
    "P@<k>[trec_eval=False]", "R@<k>", "R@<k>[trec_eval=False]", "recip_rank@<k>",
    "recip_rank@<k>[trec_eval=False]", "RPrec@1000",
]  # fmt: skip
_CALLS = {
    "MAP": "get_map",
    "NDCG": "get_ndcg",
    "P": "get_precision",
    "R": "get_recall",
    "recip_rank": "get_reciprocal_rank",
    "RPrec": "get_rprec",
}


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import pandas as pd
    from trectools import TrecEval, TrecQrel, TrecRun

    warnings.simplefilter("ignore")
    lines = [
        f"{query} Q0 {doc} {rank} {score!r} run"
        for query, listed in case["run"].items()
        for rank, (doc, score) in enumerate(listed, 1)
    ]
    judged = [
        (q, "0", doc, int(grade))
        for q, docs in case["qrels"].items()
        for doc, grade in docs.items()
    ]
    run, qrels = TrecRun(), TrecQrel()
    run.read_run(StringIO("\n".join(lines)))
    qrels.qrels_data = pd.DataFrame(judged, columns=["query", "q0", "docid", "rel"])
    evaluation = TrecEval(run, qrels)
    values: dict[str, Any] = {}
    for measure in measures:
        name, k, settings = re.fullmatch(r"(\w+)@(\d+)(.*)", measure).groups()  # type: ignore[union-attr]
        try:
            values[measure] = float(
                getattr(evaluation, _CALLS[name])(depth=int(k), trec_eval=not settings)
            )
        except KeyError as error:
            values[measure] = {"error": repr(error)}
    return values
