"""What tools for RAG print for a list with copies, by their names, and that their numbers are found again."""

from __future__ import annotations

from math import log2

import pytest
from tests.examples import example
from tests.night import NIGHT

import rankstone

#: expected chunks; what was retrieved, with a copy of a relevant chunk
QRELS = {"q": {"a": 1, "b": 1, "c": 1}}
RUN = {"q": ["a", "x", "a", "b"]}
IDEAL = 1 + 1 / log2(3) + 1 / log2(4)
ONCE, AGAIN = 1 + 1 / log2(5), 1 + 1 / log2(4) + 1 / log2(5)

NUMBERS = [
    ("llama_index", "hit_rate(use_granular_hit_rate=True)", 3 / 3),
    ("llama_index", "mrr(use_granular_mrr=True)", (1 + 1 / 3 + 1 / 4) / 3),
    ("llama_index", "precision", 2 / 3),
    ("llama_index", "recall", 2 / 3),
    ("llama_index", "ap", (1 + 2 / 3 + 3 / 4) / 3),
    ("llama_index", "ndcg", AGAIN / IDEAL),
    ("haystack", "DocumentMAPEvaluator", (1 + 2 / 4) / 3),
    ("haystack", "DocumentRecallEvaluator(mode=multi_hit)", 2 / 3),
    ("haystack", "DocumentNDCGEvaluator", ONCE / IDEAL),
    ("ragas", "context_precision", (1 + 2 / 3 + 3 / 4) / 3),
    ("ragas", "id_based_context_precision", 2 / 3),
    ("ragas", "id_based_context_recall", 2 / 3),
    ("deepeval", "contextual_precision", (1 + 2 / 3 + 3 / 4) / 3),
    ("trulens", "ndcg_at_k(4)", ONCE / IDEAL),
    ("trulens", "precision_at_k(4)", 3 / 4),
    ("trulens", "recall_at_k(4)", 2 / 3),
    ("phoenix", "ndcg(4)", AGAIN / IDEAL),
    ("phoenix", "precision(4)", 3 / 4),
    ("mlflow", "recall_at_k(4)", 2 / 3),
    ("mlflow", "precision_at_k(4)", 3 / 4),
]


@pytest.mark.parametrize(("library", "measure", "number"), NUMBERS)
def test_numbers_of_a_list_with_copies(
    library: str, measure: str, number: float
) -> None:
    scores = rankstone.evaluate(QRELS, RUN, measure, convention=library)
    assert scores.to_dict()["run"] == pytest.approx({measure: number}, abs=1e-12)


@pytest.mark.parametrize(("library", "measure", "number"), NUMBERS)
def test_numbers_name_their_tool(library: str, measure: str, number: float) -> None:
    groups = rankstone.identify(QRELS, RUN, f"{number:.4f}", measure).groups
    assert any(
        name.partition("-")[0] == library
        for group in groups
        for name in group.libraries
    )


COPIES = example("rag/duplicates.py")
#: numbers that were reported: case, library, its name of the metric, number
REPORTED = [
    (0, "trulens-2.13", "recall_at_k(3)", 2.0),
    (1, "trulens-2.13", "recall_at_k(3)", 1.0),
    (2, "llama_index-0.14", "hit_rate(use_granular_hit_rate=True)", 2.0),
    (2, "llama_index-0.14", "ap", 2.0),
    (2, "llama_index-0.14", "ndcg", 1.6309297535714575),
    (3, "haystack-2.31", "DocumentNDCGEvaluator", 1.6309297535714575),
]
#: the lists that are not one of these under other names; continuous integration takes two
DISTINCT = (0, 1, 2, 5, 7) if NIGHT else (1, 7)


@pytest.mark.parametrize(("position", "library", "metric", "number"), REPORTED)
def test_reported_numbers(
    position: int, library: str, metric: str, number: float
) -> None:
    assert COPIES.numbers(library)[metric][position] == pytest.approx(number, abs=1e-12)


@pytest.mark.parametrize(
    ("position", "number"), [(4, 2.0), (5, 3.0), (6, 2.0), (7, 1.5), (8, 2.0)]
)
def test_reported_recalls_of_other_tools(position: int, number: float) -> None:
    """A tool without a convention here counts copies as LlamaIndex does; by itself rankstone refuses to."""
    assert (
        COPIES.numbers("llama_index-0.14")["hit_rate(use_granular_hit_rate=True)"][
            position
        ]
        == number
    )
    qrels, run = COPIES.tables(COPIES.CASES[position])
    with pytest.raises(rankstone.RankstoneError, match="outside its range"):
        rankstone.evaluate(qrels, run, "R", duplicates="keep")
    ours = rankstone.evaluate(qrels, run, "R", duplicates="first_keep_rank").to_dict()[
        "run"
    ]
    assert (ours["R"] or 0) <= 1


@pytest.mark.parametrize("position", DISTINCT)
@pytest.mark.parametrize("tool", COPIES.TOOLS)
def test_numbers_of_reported_lists_name_their_tool(tool: str, position: int) -> None:
    qrels, run = COPIES.tables(COPIES.CASES[position])
    for metric, row in COPIES.numbers(tool).items():
        groups = rankstone.identify(qrels, run, f"{row[position]:.4f}", metric).groups
        assert any(
            name.partition(" ")[0] == tool
            for group in groups
            for name in group.libraries
        ), metric


def test_no_number_is_above_one_by_itself() -> None:
    """A copy of the only expected chunk: recall 2 and nDCG 1.63 by one tool's name, 1 by our own."""
    qrels, run = {"q": {"a": 1}}, {"q": ["a", "a"]}
    theirs = "hit_rate(use_granular_hit_rate=True) ndcg"
    value = rankstone.evaluate(qrels, run, theirs, convention="llama_index").to_dict()[
        "run"
    ]
    assert list(value.values()) == pytest.approx([2, 1 + 1 / log2(3)], abs=1e-12)
    ours = rankstone.evaluate(
        qrels, run, "R nDCG", duplicates="first_keep_rank"
    ).to_dict()["run"]
    assert ours == {"R": 1.0, "nDCG": 1.0}
    with pytest.raises(rankstone.InputError, match=r"twice|2 times"):
        rankstone.evaluate(qrels, run, "R nDCG")
