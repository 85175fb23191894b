"""pyndeval's own numbers, averaged over the queries it answers."""

from __future__ import annotations

from typing import Any

LIBRARY = "pyndeval-0.0"
REQUIRES = ["pyndeval==0.0.8"]
TRAITS = {"grades": [-1, 0, 1, 2, 3]}
#: grades reach it as whole numbers
WHOLE = True
MEASURES = [
    "alpha-DCG@<k>", "alpha-nDCG@<k>", "ERR-IA@<k>", "nERR-IA@<k>", "P-IA@<k>", "strec@<k>", "MAP-IA", "NRBP",
    "nNRBP", "alpha-DCG@<k>[relevance_level=2]", "alpha-nDCG@<k>[relevance_level=2]",
    "nERR-IA@<k>[relevance_level=2]", "P-IA@<k>[relevance_level=3]", "strec@<k>[relevance_level=2]",
    "MAP-IA[relevance_level=2]", "NRBP[relevance_level=2]", "nNRBP[relevance_level=2]",
    "alpha-DCG@<k>[alpha=0.9]", "alpha-nDCG@<k>[alpha=0.25]", "ERR-IA@<k>[alpha=0.8]",
    "nERR-IA@<k>[alpha=1.0]",
    "alpha-DCG@1", "alpha-DCG@1[relevance_level=2]", "ERR-IA@1", "ERR-IA@1[relevance_level=2]",
    "ERR-IA@<k>[relevance_level=2]",
    "NRBP[alpha=0.25]", "NRBP[beta=0.8]", "NRBP[alpha=0.25, beta=0.8]",
    "nNRBP[alpha=0.9]", "nNRBP[beta=0.8]", "nNRBP[alpha=0.9, beta=0.8]",
]  # fmt: skip


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw judgments by subtopic: ``qrels`` is {query: {doc: {subtopic: grade}}}."""
    import numpy as np
    from tests.live import worlds

    rng = np.random.default_rng(seed)
    drawn = worlds.cases(seed, count, traits)
    for case in drawn:
        case["k"] = min(case["k"], 20)  # more it refuses
        for judged in case["qrels"].values():
            worthless = max(judged.values(), default=0) <= 0
            for doc, grade in judged.items():
                served = rng.permutation(5)[: rng.integers(1, 4)].tolist()
                others = rng.choice(traits.grades, len(served)).tolist()
                grades = [grade] * len(served) if worthless else [grade, *others[1:]]
                judged[doc] = {
                    f"s{position}": float(g)
                    for position, g in zip(served, grades, strict=True)
                }
    return drawn


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import pyndeval

    qrels = [
        pyndeval.SubtopicQrel(query, subtopic, doc, int(grade))
        for query, judged in case["qrels"].items()
        for doc, served in judged.items()
        for subtopic, grade in served.items()
    ]
    run = [
        pyndeval.ScoredDoc(q, doc, score)
        for q, listed in case["run"].items()
        for doc, score in listed
    ]
    values: dict[str, Any] = {}
    for measure in measures:
        name, _, settings = measure.rstrip("]").partition("[")
        numbers = dict(
            setting.split("=") for setting in settings.split(", ") if setting
        )
        options = {
            key: int(value) if value.isdigit() else float(value)
            for key, value in numbers.items()
        }
        rows = pyndeval.RelevanceEvaluator(qrels, [name], **options).evaluate(run)
        values[measure] = sum(row[name] for row in rows.values()) / len(rows)
    return values
