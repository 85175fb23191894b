"""sentence-transformers: numbers of its own evaluator, graded judgments, values of queries in a file."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankstone
from rankstone import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.arrays, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("sentence_transformers", reason="it brings PyTorch: make arrays")

WORDS = [f"w{number}" for number in range(25)]


@pytest.fixture(scope="module")
def model() -> Any:
    """Make a model that embeds texts as means of random vectors of their words; nothing is fetched."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(
        WordLevel(
            {word: index for index, word in enumerate(WORDS)} | {"?": 25},
            unk_token="?",  # noqa: S106 - a word
        )
    )
    tokenizer.pre_tokenizer = Whitespace()
    torch.manual_seed(1)
    return SentenceTransformer(
        modules=[StaticEmbedding(tokenizer, embedding_dim=8)], device="cpu"
    )


@pytest.fixture
def world() -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, int]]]:
    """Draw texts, some of them the same, so that documents tie; one query has nothing relevant."""
    draw = random.Random(2)
    corpus = {
        f"d{index:02}": " ".join(draw.choices(WORDS[:6], k=2)) for index in range(60)
    }
    queries = {
        f"q{index}": " ".join(draw.choices(WORDS[:6], k=2)) for index in range(12)
    }
    qrels = {
        query: {doc: draw.randint(0, 3) for doc in draw.sample(sorted(corpus), 9)}
        for query in queries
    }
    qrels["q3"] = dict.fromkeys(qrels["q3"], 0)
    return queries, corpus, qrels


@pytest.mark.parametrize("chunk", [7, 50_000])
def test_its_own_numbers(model: Any, world: Any, chunk: int) -> None:
    """Binary judgments, ties by ascending id, queries without relevant documents left out: the same."""
    from sentence_transformers.evaluation import InformationRetrievalEvaluator

    from rankstone.integrations.sentence_transformers import GradedEvaluator

    queries, corpus, qrels = world
    relevant = {
        query: {doc for doc, grade in docs.items() if grade}
        for query, docs in qrels.items()
    }
    cutoffs: dict[str, Any] = {
        f"{name}_at_k": [3, 10]
        for name in ("mrr", "ndcg", "accuracy", "precision_recall", "map")
    }
    theirs = InformationRetrievalEvaluator(
        queries, corpus, relevant, **cutoffs, write_csv=False
    )(model)
    names = {
        "nDCG@3": "ndcg@3",
        "nDCG@10": "ndcg@10",
        "RR@3": "mrr@3",
        "RR@10": "mrr@10",
        "P@3": "precision@3",
        "R@10": "recall@10",
        "Success@3": "accuracy@3",
        "AP(denom=min_R_k)@10": "map@10",
    }
    binary = {query: dict.fromkeys(docs, 1) for query, docs in relevant.items() if docs}

    ours = GradedEvaluator(
        queries,
        corpus,
        binary,
        list(names),
        chunk=chunk,
        ties="docid_asc",
        empty="drop",
    )(model)

    assert ours == pytest.approx(
        {our: theirs[f"cosine_{their}"] for our, their in names.items()}, abs=1e-9
    )


def test_graded(model: Any, world: Any, tmp_path: Path) -> None:
    """Grades count, every query has a row, and nothing depends on how many are compared at a time."""
    from rankstone.integrations.sentence_transformers import GradedEvaluator, retrieved

    queries, corpus, qrels = world
    text = "nDCG(gain=exp2)@5 RR@10"
    whole = retrieved(model, queries, corpus, depth=len(corpus))
    expected = rankstone.evaluate(qrels, whole, text)
    evaluator = GradedEvaluator(queries, corpus, qrels, text, name="dev", chunk=7)

    means = evaluator(model, str(tmp_path / "eval"), epoch=1, steps=20)

    assert means == expected.to_flat_dict("dev_")
    assert evaluator.primary_metric == "dev_nDCG(gain=exp2)@5"
    written = pl.read_parquet(
        tmp_path / "eval" / "per_query_dev_epoch_1_steps_20.parquet"
    )
    assert written.equals(expected.per_query)
    assert (
        written.filter(pl.col("query_id") == "q3")["status"].to_list()
        == ["no_relevant"] * 2
    )


def test_the_library_knows_it(model: Any, world: Any) -> None:
    """Trainers take it as it is, sequences choose by its primary metric, cards of models show it."""
    from sentence_transformers.evaluation import SentenceEvaluator, SequentialEvaluator

    from rankstone.integrations.sentence_transformers import GradedEvaluator

    evaluator = GradedEvaluator(*world, "RR@10")

    assert isinstance(evaluator, SentenceEvaluator)
    assert evaluator.greater_is_better
    message = SequentialEvaluator([evaluator])(model)
    assert message["sequential_score"] == message["RR@10"]
    assert model.model_card_data.eval_results_dict[evaluator] == {
        "RR@10": message["RR@10"]
    }


def test_mistakes(model: Any, world: Any) -> None:
    """Judged queries without a text, nothing to search, has no direction, NaN: reported in words."""
    from rankstone.integrations.sentence_transformers import GradedEvaluator

    queries, corpus, qrels = world
    with pytest.raises(InputError, match=r"(?s)query qx.*no text"):
        GradedEvaluator(queries, corpus, {"qx": {"d01": 1}})
    with pytest.raises(InputError, match="there is no corpus"):
        GradedEvaluator(queries, {}, qrels)
    with pytest.raises(UsageError, match="has no direction"):
        GradedEvaluator(queries, corpus, qrels, "NumQ")

    class Diverged:
        """A model whose weights are NaN."""

        encode = model.encode

        def similarity(self, result: Any, other: Any) -> Any:
            """Return no numbers."""
            return model.similarity(result, other) * float("nan")

    with pytest.raises(InputError, match="a similarity is NaN"):
        GradedEvaluator(queries, corpus, qrels)(Diverged())


def test_an_evaluator_can_be_pickled() -> None:
    """An evaluator with judgments is a value like any other."""
    import pickle

    from rankstone.integrations.sentence_transformers import GradedEvaluator

    evaluator = GradedEvaluator({"q": "x"}, {"d": "y"}, {"q": {"d": 1}}, "nDCG@10")
    again = pickle.loads(pickle.dumps(evaluator))  # noqa: S301 - our own
    assert again.primary_metric == evaluator.primary_metric
