"""Where relevant documents are lost between the steps of a pipeline: corpus, first pool, order, last list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Unpack

import polars as pl

from rankstone._basics import some
from rankstone.diagnostics.document_fates import (
    LOST,
    RANK,
    SHOWN,
    fate_shares,
    furthest_documents,
    list_places,
    miss_ranks,
    needs_with_ranks,
    ranked_documents,
    recall_limits,
    step_rows,
    with_fates,
)
from rankstone.diagnostics.shown_evidence import evidence_table
from rankstone.diagnostics.stage_lists import read_steps
from rankstone.diagnostics.stages_result import Stages
from rankstone.errors import BadOption, NotComparable, UsageError, between_0_and_1
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords, name_runs
from rankstone.evaluation.scores import query_segments
from rankstone.hits.alignment_options import ORDERINGS, OrderingKeywords, takes
from rankstone.io import with_csv
from rankstone.io.corpus import Corpus, in_folder, read_corpus
from rankstone.measures.core.definition import ANY_GAIN, Threshold
from rankstone.measures.full_recall import FullRecall
from rankstone.measures.precision import R
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Progress
    from rankstone.evaluation.pipeline import ScoredRuns
    from rankstone.evaluation.request import QrelsLike, RunLike, RunsLike

#: the options under which every document has one rank in a list, and those that only read
_TAKEN: Final = {
    "documents",
    *OrderingKeywords.__annotations__,
    *("duplicate_judgments", "negative", "missing", "exclude", "exclude_from", "unit"),
    *(
        "unit_score",
        "same_as",
        "queries",
        "split",
        "columns",
        "format_in",
        "csv_separator",
    ),
    "decimal",
}


@takes(EvaluationKeywords)
def stages(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    k: int = 10,
    rel: float | None = None,
    answers: RunLike | None = None,
    right_from: float | None = None,
    by: str | Sequence[str] | None = None,
    confidence: float = 0.95,
    lang: str = "en",
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Stages:
    """Find out at which step of a pipeline relevant documents are lost.

    Every relevant document has one fate between the lists of the first step, the pool, and the first ``k`` of
    the last step, which are shown: it is not in the corpus, not in the pool, in the pool but never shown,
    demoted, kept, rescued, or brought by a later step.  Of judgments by subtopic, and of golden sets with
    alternatives or groups, each need has one: that of its document that got furthest.

    Parameters
    ----------
    qrels, progress, **options
        As for :func:`~rankstone.evaluate`; of the options of alignment those under which every document has
        one rank.  With ``corpus`` documents that are not there are a fate of their own.
    runs
        The lists of two or more steps by name, in the order of the pipeline: ``{"bm25": …, "reranked": …}``.
    k
        How many documents of the last step are shown.
    rel
        The lowest relevant grade; above 0 unless given.
    answers
        A table with ``query_id`` and ``correct`` (true or false, 1 or 0, or a grade): whether the answers that
        were made of the last step are right.
    right_from
        The lowest grade of a right answer, where grades are not 1 and 0.
    by
        Columns of ``queries``, for shares of their values.
    confidence
        Of every interval, each for itself.
    lang
        Language of sentences: ``en`` or ``zh``.

    Returns
    -------
    Stages
        Fates and their shares, ranks of missed documents, what a better order could reach.

    Raises
    ------
    BadOption
        For an option that leaves documents without a rank.
    NotComparable
        When no judged query has a relevant document, or no id is in the corpus.
    InputError, UsageError
        As for :func:`~rankstone.evaluate`.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1, "b": 1, "c": 1, "d": 1}}
    >>> steps = {"bm25": {"q1": ["a", "x", "b", "y"]}, "reranked": {"q1": ["b", "y", "a", "x"]}}
    >>> losses = stages(qrels, steps, k=2, corpus=["a", "b", "c", "x", "y"])
    >>> losses.documents.select("doc_id", "fate").rows()
    [('a', 'demoted'), ('b', 'rescued'), ('c', 'not_in_pool'), ('d', 'not_in_corpus')]
    >>> losses.fates["share"].sum()
    1.0

    References
    ----------
    Intervals: Korn and Graubard (1998), Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data; Rao and Scott (1981), The analysis of categorical data from
    complex sample surveys.
    """
    check_language(lang)
    between_0_and_1("confidence", confidence)
    corpus = options.pop("corpus", None)
    _refuse_options(options)
    relevant = ANY_GAIN if rel is None else Threshold(rel)
    runs_by_name = _several_steps(runs)

    # full recall reads subtopics where the judgments name any
    ready = Prepared(qrels, FullRecall(rel=relevant, k=k), **options)
    ready = ready.for_measures(R(rel=relevant, k=k))
    columns = with_csv(
        options.get("columns"), options.get("csv_separator"), options.get("decimal")
    )
    scored, steps = read_steps(ready, runs_by_name, progress)
    documents = ranked_documents(ready.judgments(), relevant, steps)
    if not documents.height:
        raise NotComparable(
            "no judged query has a relevant document, so none was lost",
            where=ready.judged.source,
            expected=f"grades from {relevant} on",
        )
    inputs = dict(scored.inputs)
    known = None
    fates: Sequence[str] = LOST[1:]
    if corpus is not None:
        fates = LOST
        there = in_folder(read_corpus(corpus, columns), documents["doc_id"])
        inputs["corpus"] = there.source
        known = _in_corpus(there, ready, documents, next(iter(steps.values())))
    every = with_fates(documents, k, known)
    last_ranks = RANK.format([*steps][-1])
    documents = furthest_documents(every, last_ranks)
    needs = needs_with_ranks(every, last_ranks)
    counted = "relevant documents"
    if "need" in every.columns:
        counted = "needs"
    places = needs.group_by("query_id").agg(room=list_places(k))

    evidence = None
    if answers is not None:
        evidence = evidence_table(documents, answers, columns, right_from, confidence)
    return Stages(
        documents=documents,
        fates=fate_shares(documents, [*fates, *SHOWN], confidence),
        steps=step_rows(needs, steps, k),
        misses=miss_ranks(needs, k),
        recall=recall_limits(needs, k),
        counted=counted,
        room=int(places["room"].sum()),
        segments=_segments(documents, scored, by, inputs, fates, confidence),
        evidence=evidence,
        k=k,
        rel=rel,
        confidence=confidence,
        lang=lang,
        audit=scored.audit,
        conventions=scored.conventions,
        inputs=inputs,
    )


def _refuse_options(options: Mapping[str, Any]) -> None:
    """Refuse options under which a document has no rank, or more than one."""
    for name in options.keys() - _TAKEN:
        raise BadOption(
            f"{name} has no meaning for the fates of documents", fix=f"leave out {name}"
        )
    for name in ("ties", "duplicates"):
        values = ORDERINGS[name]
        if options.get(name, values[0]) not in values:
            raise BadOption(
                f"{name}={options[name]} gives a document no rank of its own",
                expected=", ".join(values),
            )
    if options.get("missing") == "drop":
        raise BadOption(
            "missing=drop leaves out queries whose documents a step has lost",
            expected="zero or error",
        )


def _in_corpus(
    corpus: Corpus, ready: Prepared, documents: pl.DataFrame, lists: pl.DataFrame
) -> pl.Series:
    """Return the relevant documents that are in the corpus; refuse ids of another kind."""
    wanted = pl.concat([documents["doc_id"], lists["doc_id"]]).unique()
    ids = ready.unit_ids(corpus.ids) if ready.recorded else corpus.ids
    known = wanted.filter(wanted.is_in(ids.implode()))
    if not len(known):
        raise NotComparable(
            "no relevant or retrieved document is in the corpus: are these the same ids?",
            where=corpus.source,
            given=f"{some(ids, 1)} in the corpus, {some(documents['doc_id'], 1)} in the judgments",
        )
    return known


def _several_steps(runs: RunsLike) -> dict[str, object]:
    """Return the runs by name; a single one has no steps."""
    runs_by_name = name_runs(runs)
    if len(runs_by_name) == 1:
        raise UsageError(
            "stages are two or more steps of one pipeline",
            given=f"one run, {some(runs_by_name)}",
            expected="the lists of the first step, then those of the next: QRELS bm25.run reranked.run",
        )
    return runs_by_name


def _segments(
    documents: pl.DataFrame,
    scored: ScoredRuns,
    by: str | Sequence[str] | None,
    inputs: Mapping[str, Any],
    fates: Sequence[str],
    confidence: float,
) -> pl.DataFrame | None:
    """Return shares of what is lost and shown for each value of some columns of the query table."""
    if not by:
        return None
    run = [*scored.runs.values()][-1]
    columns = (by,) if isinstance(by, str) else tuple(by)
    values, members = query_segments(run, columns, inputs)
    shown = pl.col("fate").is_in(SHOWN)
    ended = pl.when(shown).then(pl.lit("shown")).otherwise("fate")
    documents = documents.with_columns(fate=ended)
    names = run.queries.cast(pl.String)
    frames = []
    for row, places in enumerate(members):
        of_value = names.gather(places).to_frame("query_id")
        inside = documents.join(of_value, on="query_id", how="semi")
        if not inside.height:
            continue
        shares = fate_shares(inside, [*fates, "shown"], confidence)
        queries = pl.lit(inside["query_id"].n_unique()).alias("queries")
        frames.append(values[row].join(shares.select(queries, pl.all()), how="cross"))
    return pl.concat(frames)
