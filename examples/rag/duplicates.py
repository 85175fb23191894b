"""Nine lists with copies, for which scores above 1 were reported, and what tools for RAG print for them.

    python examples/rag/duplicates.py

prints a row for each metric of a tool, by its name there, with a column for each list.
"""

from __future__ import annotations

import rankstone

#: relevant chunks, retrieved chunks, what was reported, and where
CASES = (
    ("A", "A A X", "recall 2.0", "truera/trulens#2746"),
    ("A B", "A A", "recall 1.0, though B is missing", "truera/trulens#2746"),
    (
        "id1",
        "id1 id1",
        "hit rate 2.0, AP 2.0, nDCG 1.63",
        "run-llama/llama_index#22683",
    ),
    ("A", "A A", "nDCG 1.63", "deepset-ai/haystack#11959"),
    ("target", "target target", "recall 2, precision 1", "garrytan/gbrain#4176"),
    ("page", "page page page", "recall 1.75 on average", "garrytan/gbrain#4303"),
    ("g", "g g", "recall 2", "garrytan/gbrain#4607"),
    ("a b", "a a a", "recall 1.5, nDCG 1.30", "garrytan/gbrain#4630"),
    ("a", "a a b", "recall 2.0", "dokimos-dev/dokimos#110"),
)
#: a tool, and its names of metrics
TOOLS = {
    "trulens-2.13": "recall_at_k(3) precision_at_k(3) ndcg_at_k(3)",
    "trulens-2.16": "recall_at_k(3) precision_at_k(3) ndcg_at_k(3)",
    "llama_index-0.14": "hit_rate(use_granular_hit_rate=True) recall precision ap ndcg",
    "haystack-2.31": "DocumentRecallEvaluator(mode=multi_hit) DocumentMAPEvaluator DocumentNDCGEvaluator",
    "haystack-3.4": "DocumentRecallEvaluator(mode=multi_hit) DocumentMAPEvaluator DocumentNDCGEvaluator",
    "ragas-0.4": "id_based_context_recall id_based_context_precision context_precision",
    "deepeval-4.3": "contextual_precision",
    "phoenix-20": "precision(3) ndcg(3)",
    "mlflow-3.18": "recall_at_k(3) precision_at_k(3) ndcg_at_k(3)",
}


def tables(
    case: tuple[str, ...],
) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Return the judgments and the list of a case."""
    relevant, retrieved = case[0].split(), case[1].split()
    return {"q": dict.fromkeys(relevant, 1)}, {"q": retrieved}


def numbers(tool: str) -> dict[str, list[float]]:
    """Return the numbers of a tool's metrics for all cases."""
    found = [
        rankstone.evaluate(*tables(case), TOOLS[tool], convention=tool).to_dict()["run"]
        for case in CASES
    ]
    return {metric: [one[metric] for one in found] for metric in TOOLS[tool].split()}


if __name__ == "__main__":
    for at, case in enumerate(CASES, 1):
        print(f"{at}  relevant {case[0]:7} retrieved {case[1]:15} {case[3]}: {case[2]}")
    print(f"\n{'':57}" + "".join(f"{at:6}" for at in range(1, len(CASES) + 1)))
    for tool in TOOLS:
        for metric, row in numbers(tool).items():
            print(f"{tool:17}{metric:40}" + "".join(f"{one:6.2f}" for one in row))
