"""cwl_eval's own numbers: its rankings and metrics, averaged over the lists."""

from __future__ import annotations

from typing import Any

LIBRARY = "cwl_eval-1.0"
REQUIRES = ["cwl-eval==1.0.12"]
#: gains are shares; what is below 0 or above 1 it takes for a gain all the same, and is refused here
TRAITS = {"grades": [0, 0.25, 0.5, 1], "strange": False}
_MODELS = [
    "RBPCWLMetric(0.8)", "RBPCWLMetric(0.99)", "RRCWLMetric()", "INSTCWLMetric(1.0)", "INSTCWLMetric(2.5)",
    "INSQCWLMetric(2.0)", "NERReq10CWLMetric(0.8)", "NERReq11CWLMetric(1.0)", "TBGCWLMetric(22)",
    "UMeasureCWLMetric(20)",
]  # fmt: skip
_STOPPING = [
    "PrecisionCWLMetric(<k>)", "NDCGCWLMetric(<k>)", "APCWLMetric()", "BPMCWLMetric(1.0, <k>)",
    "BPMCWLMetric(2.0, <k>)", "BPMDCWLMetric(2.0, <k>, 0.5, 1.0, 0.5)", "NERReq8CWLMetric(<k>)",
    "NERReq9CWLMetric(<k>)",
]  # fmt: skip
MEASURES = [
    *(
        name + column
        for name in _MODELS
        for column in ("", "[EC]", "[ED]", "[ResEU]", "[ResED]")
    ),
    *(
        name + column
        for name in _STOPPING
        for column in (
            "",
            "[EC]",
            "[ED]",
            "[ETU]",
            "[ETC]",
            "[ResEU]",
            "[ResED]",
            "[ResETU]",
        )
    ),
]
_COLUMNS = {
    "": "expected_utility", "EC": "expected_cost", "ED": "expected_items", "ETU": "expected_total_utility",
    "ETC": "expected_total_cost", "ResEU": "residual_expected_utility",
    "ResED": "residual_expected_items", "ResETU": "residual_expected_total_utility",
}  # fmt: skip


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}."""
    import warnings

    warnings.simplefilter("ignore")  # backslashes in docstrings
    from cwl.cwl_eval import RankingMaker, TrecQrelHandler
    from cwl.ruler import cwl_ruler

    gains = TrecQrelHandler(None)
    for query, judged in case["qrels"].items():
        for doc, grade in judged.items():
            gains.put_value(query, doc, grade)
    rankings = []
    for query, listed in case["run"].items():
        maker = RankingMaker(query, gains)
        for doc, _ in listed:
            maker.add(doc, "_")
        rankings.append(maker.get_ranking())
    values: dict[str, Any] = {}
    by_metric: dict[str, list[str]] = {}
    for measure in measures:
        name, _, column = measure.rstrip("]").partition("[")
        by_metric.setdefault(name, []).append(column)
    for name, columns in by_metric.items():
        kind, _, inside = name.rstrip(")").partition("(")
        inputs = [float(x) if "." in x else int(x) for x in inside.split(", ") if x]
        metric = getattr(cwl_ruler, kind)(*inputs)
        metric.residuals = True
        totals = dict.fromkeys(columns, 0.0)
        options = {
            column: f"{name}[{column}]" if column else name for column in columns
        }
        try:
            for ranking in rankings:
                metric.measure(ranking)
                for column in columns:
                    totals[column] += float(getattr(metric, _COLUMNS[column]))
        except ValueError as error:  # vectors of different lengths, for one
            values |= {measure: {"error": str(error)} for measure in options.values()}
            continue
        values |= {
            options[column]: total / len(rankings) for column, total in totals.items()
        }
    return values


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of totals of users who go on after the last rank, which have no counterpart."""
    if case["k"] > 1000 and measure.endswith(("[ETU]", "[ETC]", "[ResETU]")):
        return "totals leave out users who go on after rank 1000 there, and are refused here"
    return None
