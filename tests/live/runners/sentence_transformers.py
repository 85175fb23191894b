"""sentence-transformers' own numbers: its two evaluators of lists, with a model that says given scores."""

from __future__ import annotations

from typing import Any

LIBRARY = "sentence-transformers-6.2"
REQUIRES = ["sentence-transformers==6.2.0", "torch==2.13.0+cpu"]
TRAITS = {"grades": [0, 0, 1, 2]}
#: of a similarity, and of positive and negative documents
_RETRIEVED = ("accuracy", "precision", "recall", "mrr", "ndcg", "map")
MEASURES = [
    *(f"cosine_{name}@<k>" for name in _RETRIEVED),
    "map",
    "mrr@<k>",
    "ndcg@<k>",
]

#: rows that PyTorch sorts in a stable way everywhere
LONGEST_STABLE = 16


class Model:
    """Stands for a model: a document's text is its score."""

    def encode_query(self, texts: list[str], **_options: Any) -> Any:
        """Return nothing to speak of."""
        return [None] * len(texts)

    def encode_document(self, texts: list[str], **_options: Any) -> Any:
        """Return the scores."""
        import torch

        return torch.tensor([float(text) for text in texts])


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}."""
    values = {}
    for measure in measures:
        name, _, cutoff = measure.removeprefix("cosine_").partition("@")
        k = int(cutoff or case["k"])
        if measure.startswith("cosine_"):
            values[measure] = float(_retrieval(case, k).pop(f"{name}@k")[k])
        else:
            values[measure] = _reranking(case, k)[name]
    return values


def _retrieval(case: dict[str, Any], k: int) -> dict[str, Any]:
    """Return what is computed of the lists, which a model would have made of a whole corpus."""
    from sentence_transformers.sentence_transformer.evaluation import (
        InformationRetrievalEvaluator,
    )

    relevant = {
        query: {doc for doc, grade in its.items() if grade > 0}
        for query, its in case["qrels"].items()
    }
    queries = {query: query for query in (*case["qrels"], *case["run"])}
    places = ("mrr", "ndcg", "accuracy", "precision_recall", "map")
    ks: dict[str, Any] = {f"{place}_at_k": [k] for place in places}
    evaluator = InformationRetrievalEvaluator(queries, {}, relevant, **ks)
    lists = [case["run"].get(query, []) for query in evaluator.queries_ids]
    result: dict[str, Any] = evaluator.compute_metrics(
        [
            [{"corpus_id": doc, "score": score} for doc, score in listed]
            for listed in lists
        ]
    )
    return result


def _reranking(case: dict[str, Any], k: int) -> dict[str, float]:
    """Return what is computed of samples; documents of no judgment are negative ones."""
    from sentence_transformers.sentence_transformer.evaluation import RerankingEvaluator

    samples = []
    for query, listed in case["run"].items():
        sides: dict[bool, list[str]] = {True: [], False: []}
        for doc, score in listed:
            sides[case["qrels"].get(query, {}).get(doc, 0) > 0].append(str(score))
        samples.append(
            {"query": query, "positive": sides[True], "negative": sides[False]}
        )
    evaluator = RerankingEvaluator(
        samples, at_k=k, similarity_fct=lambda _query, documents: documents
    )
    if not evaluator.samples:
        return dict.fromkeys(("map", "mrr", "ndcg"), float("nan"))
    return {
        name: float(value) for name, value in evaluator.compute_metrics(Model()).items()
    }


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of lists that PyTorch's sort leaves in an order of its own."""
    for query, listed in case["run"].items():
        sides = {
            (score, case["qrels"].get(query, {}).get(doc, 0) > 0)
            for doc, score in listed
        }
        mixed = len({score for score, _ in sides}) < len(sides)
        if measure.startswith("mrr") and mixed and len(listed) > LONGEST_STABLE:
            return "PyTorch's sort brings ties of more than 16 rows into an order that is the processor's"
    return None
