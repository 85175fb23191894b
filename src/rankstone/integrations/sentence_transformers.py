"""sentence-transformers: an evaluator with graded judgments, every measure, and a value for each query."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, BadValue, EmptyInput, MissingExtra, printable
from rankstone.evaluation.prepared import Prepared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone._basics import NamedValues

    GradedEvaluator: type

__all__ = ["GradedEvaluator"]

#: documents kept of each query, where no measure has a cutoff
_DEPTH: Final = 1000


class _GradedEvaluator:
    """Retrieve with a model, and score by measures of rankstone.

    Parameters
    ----------
    queries, corpus
        ``{id: text}``.
    qrels
        ``{query: {document: grade}}``.  Queries without a relevant document count, as ``empty`` says.
    measures
        ``"nDCG@10 RR@10"``; the first decides which model is best, as ``primary_metric``.
    name
        A prefix of the names of measures: ``dev_nDCG@10``.
    depth
        Documents kept for each query; by default the largest cutoff, 1000 if a measure
        has none.  Documents that tie with the last are kept, too.
    batch_size, chunk
        Texts that are encoded at a time, and documents that are compared at a time.
    **options
        Options of alignment, as for :func:`rankstone.evaluate`.  ``ties="docid_asc", empty="drop"``
        count as the library's own ``InformationRetrievalEvaluator`` does.

    Attributes
    ----------
    scores
        The last :class:`~rankstone.Scores`, with ``per_query``.
    """

    #: of the library's class
    store_metrics_in_model_card_data: Any

    def __init__(
        self,
        queries: Mapping[str, str],
        corpus: Mapping[str, str],
        qrels: Mapping[str, Mapping[str, float]],
        measures: Any = "nDCG@10",  # noqa: ANN401 - texts or values
        *,
        name: str = "",
        depth: int | None = None,
        batch_size: int = 32,
        chunk: int = 50_000,
        **options: Any,  # noqa: ANN401 - checked by AlignmentOptions
    ) -> None:
        super().__init__()
        if not queries or not corpus:
            raise EmptyInput("there are no queries" if corpus else "there is no corpus")
        for query in qrels.keys() - queries.keys():
            raise BadValue(
                "a judged query has no text", where=f"query {printable(query)}"
            )
        self.queries = dict(queries)
        self.corpus = dict(corpus)
        self.name = name
        self.batch_size = batch_size
        self.chunk = chunk
        self._ready = Prepared(qrels, measures, **options)
        cutoffs = [measure.k for measure in self._ready.measures]
        self.depth = depth or max(k or _DEPTH for k in cutoffs)
        first = self._ready.measures[0]
        if first.card.direction == "neither":
            raise BadOption(
                f"{first} has no better and no worse", fix="name another measure first"
            )
        self.greater_is_better = first.card.direction == "higher"
        self.primary_metric = f"{name}_{first}" if name else str(first)
        self.scores: Any = None

    def __call__(
        self,
        model: Any,  # noqa: ANN401 - a SentenceTransformer
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
    ) -> dict[str, float]:
        """Return the means, and write values of queries to ``output_path``: ``per_query_….parquet``."""
        how = {"batch_size": self.batch_size, "chunk": self.chunk}
        self.scores = self._ready.evaluate(
            retrieved(model, self.queries, self.corpus, self.depth, **how)
        )
        if output_path is not None:
            Path(output_path).mkdir(parents=True, exist_ok=True)
            when = "".join(
                f"_{what}_{n}"
                for what, n in (("epoch", epoch), ("steps", steps))
                if n != -1
            )
            name = f"_{self.name}" if self.name else ""
            self.scores.write(Path(output_path) / f"per_query{name}{when}.parquet")
        means: dict[str, float] = self.scores.to_flat_dict(
            f"{self.name}_" if self.name else ""
        )
        if self.primary_metric not in means:
            raise BadValue(f"{self.primary_metric} has no value: no query counts")
        if hasattr(model, "model_card_data"):
            self.store_metrics_in_model_card_data(model, means, epoch, steps)
        return means

    def get_config_dict(self) -> NamedValues:
        """Return what the numbers depend on, for the card of the model."""
        return {
            "depth": self.depth,
            "measures": " ".join(str(m) for m in self._ready.measures),
        }


@cache
def _graded_evaluator() -> type:
    """Return :class:`_GradedEvaluator` as a class of the library."""
    names = {"__module__": __name__, "__doc__": _GradedEvaluator.__doc__}
    return type("GradedEvaluator", (_GradedEvaluator, _base()), names)


def retrieved(
    model: Any,  # noqa: ANN401 - a SentenceTransformer
    queries: Mapping[str, str],
    corpus: Mapping[str, str],
    depth: int,
    batch_size: int = 32,
    chunk: int = 50_000,
) -> pl.DataFrame:
    """Return the documents most like each query: ``query_id``, ``doc_id``, ``score``.

    Documents that tie with the last of ``depth`` are among them, so nothing depends on ``chunk``.
    """
    how = {
        "batch_size": batch_size,
        "convert_to_tensor": True,
        "show_progress_bar": False,
    }
    encode_query = getattr(model, "encode_query", model.encode)  # since version 5
    encode_document = getattr(model, "encode_document", model.encode)
    texts = encode_query(list(queries.values()), **how)
    ids = pl.Series(list(corpus))
    names = pl.Series(list(queries))
    hits = pl.DataFrame(
        schema={"query": pl.Int64, "document": pl.Int64, "score": pl.Float32}
    )

    for begin in range(0, len(ids), chunk):
        part = list(corpus.values())[begin : begin + chunk]
        likeness = model.similarity(texts, encode_document(part, **how))
        if bool(likeness.isnan().any()):
            raise BadValue("a similarity is NaN", fix="has the model diverged?")
        best = likeness.topk(min(depth, len(part)), dim=1)
        least = best.values[:, -1:]

        query, document = (likeness >= least).nonzero(as_tuple=True)
        score = likeness[query, document].float().cpu().numpy()
        columns = {
            "query": query.cpu().numpy(),
            "document": document.cpu().numpy() + begin,
        }
        more = pl.DataFrame({**columns, "score": score.astype(np.float32)})
        score_column = pl.col("score")
        least_of_query = score_column.top_k(depth).min().over("query")
        hits = pl.concat([hits, more]).filter(score_column >= least_of_query)
    hits = hits.sort("query", maintain_order=True)
    return pl.DataFrame(
        {
            "query_id": names.gather(hits["query"]),
            "doc_id": ids.gather(hits["document"]),
            "score": hits["score"],
        }
    )


def _base() -> Any:  # noqa: ANN401 - a class
    """Return the class that trainers know evaluators by; it has moved in version 6."""
    for module in ("sentence_transformer.evaluation", "evaluation"):
        try:
            return import_module(f"sentence_transformers.{module}").SentenceEvaluator
        except ImportError:
            continue
    raise MissingExtra(
        "sentence-transformers is not installed",
        fix="pip install sentence-transformers",
    )


def __getattr__(name: str) -> type:
    """Make :class:`GradedEvaluator` when it is first used: its base is the library's."""
    if name != "GradedEvaluator":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return _graded_evaluator()
