"""The public verbs that choose an engine and a convention: :func:`evaluate` and :func:`beyond`.

Each looks at its arguments and calls one function of another package; nothing is computed here, and nothing
below imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from rankstone.errors import UsageError, one_of
from rankstone.evaluation.labelled_table import Given
from rankstone.evaluation.request import (
    EvaluationKeywords,
    advising,
    name_runs,
    of_rankings,
    split_runs,
)
from rankstone.evaluation.scores import Scores
from rankstone.hits.alignment_options import (
    DuplicateJudgments,
    Negative,
    OrderingKeywords,
    documents_options,
    takes,
)
from rankstone.io.columns import columns_in, with_csv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Progress
    from rankstone.evaluation.request import (
        MeasuresLike,
        QrelsLike,
        RunLike,
        RunsLike,
        TableLike,
    )
    from rankstone.evaluation.stored_scores import StoredScores
    from rankstone.measures.core.definition import Named
    from rankstone.rankings.recommendation.beyond_scores import BeyondScores
    from rankstone.spark.spark_frames import SparkFrame
    from rankstone.spark.spark_scores import SparkScores

    class _EvaluateKeywords(EvaluationKeywords, total=False):
        convention: str | None
        run_column: str | None
        on_bad_run: Literal["stop", "skip"]
        progress: Progress | None


class BeyondKeywords(OrderingKeywords, total=False):
    """What :func:`beyond` takes by keyword besides its own parameters."""

    duplicate_judgments: DuplicateJudgments
    negative: Negative


@overload
def evaluate(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike,
    *,
    engine: Literal["local"] = ...,
    memory: None = ...,
    **options: Unpack[_EvaluateKeywords],
) -> Scores: ...
@overload
def evaluate(
    *,
    table: TableLike,
    measures: MeasuresLike,
    name: str | None = ...,
    **options: Unpack[_EvaluateKeywords],
) -> Scores: ...
@overload
def evaluate(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike,
    *,
    engine: Literal["local"] = ...,
    memory: str | float,
    **options: Unpack[_EvaluateKeywords],
) -> StoredScores: ...
@overload
def evaluate(
    qrels: SparkFrame | str,
    runs: SparkFrame | str | Mapping[str, SparkFrame | str],
    measures: MeasuresLike,
    *,
    engine: Literal["spark"],
    **options: Unpack[EvaluationKeywords],
) -> SparkScores: ...
@takes(EvaluationKeywords)
@documents_options
def evaluate(
    qrels: object = None,
    runs: object = None,
    measures: MeasuresLike = (),
    *,
    table: object = None,
    name: str | None = None,
    engine: str = "local",
    memory: str | float | None = None,
    convention: str | None = None,
    run_column: str | None = None,
    on_bad_run: str = "stop",
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Scores | StoredScores | SparkScores:
    """Score one or more runs against judgments, or one table that holds scores and labels.

    Parameters
    ----------
    qrels
        Judgments: a path (TREC, CSV, TSV, JSON, JSON lines, Parquet, Arrow; ``.gz`` and ``.zst`` too), an
        address of a database (``duckdb:file.db#table``, ``postgresql://host/db?query=SELECT …``), a
        Polars, pandas or PyArrow table, a DuckDB relation, ``{query: {doc: grade}}``, a dict of columns,
        rows (named tuples, as ir_measures and ir_datasets yield, or dicts), or a triple of arrays
        (queries, docs, grades).  An empty entry, ``{query: {}}``, declares a query without relevant
        documents.
    runs
        One run or ``{name: run}``; each like ``qrels`` with scores instead of grades, or
        ``{query: [doc, …]}`` in ranked order; a document may also be an object of LangChain, LlamaIndex or
        Haystack with an id.
    measures
        ``"nDCG@10 AP RR@10"``, a list of texts, or measure values; those of ir_measures, too.
    table, name
        Instead of ``qrels`` and ``runs``, one table whose rows have both score and label, as in learning to
        rank and impression logs: a path or frame with ``query_id``, ``score``, ``relevance`` (or ``label``)
        and perhaps ``doc_id``; without it ties cannot be broken by id and default to ``expected``.  ``name``
        is the name of the run, by default the file's name or ``run``.
    engine
        ``"local"``, or ``"spark"``: judgments and runs are then Spark DataFrames, or paths that Spark opens.
    memory
        The memory to use, ``"4GB"`` for instance: queries are then scored in ranges, and their scores are
        written to files; all numbers stay the same.
    convention
        The library whose numbers to compute, ``"xgboost"`` or ``"xgboost-3.2"``: measures then have its
        names, and it decides the options.
    run_column
        The column of a long table of runs with the name of each row's run; such a table is held in memory.
    on_bad_run
        What to do if some of several runs cannot be read or scored: ``"stop"`` raises one error for all of
        them, ``"skip"`` leaves them out, with their errors in ``audit.bad_runs``.
    progress
        Called with row counts while reading.
    **options
        Side tables, settings of files, and alignment options:

        columns: ``{their name: our name}`` for tables, ``{"user_id": "query_id", "item_id": "doc_id"}``.
        exclude: a table with ``query_id`` and ``doc_id`` of pairs that are removed from every list first,
        such
            as known items or the query's own document; ``exclude_from="both"`` removes their judgments, too.
        unit: what counts as one, if not each id: ``"document"`` (its chunks are ``doc#1``, ``doc#2``, …),
            another separator such as ``"::"``, a regular expression whose first group is the document, a
            column of ``documents``, or ``{chunk: document}``.  The best chunk represents its document
            (``unit_score`` has other rules); of the grades of its chunks the highest counts.
        same_as: equal documents: a table with ``doc_id`` and ``class``, or with ``text``, where texts that
            are equal up to case and white space make a class.  Each class earns once, at its first copy.
        documents: a table with ``doc_id`` and costs (``tokens``, …) for budgets that the run does not have.
        queries: attributes of queries, a table with ``query_id`` and any columns, or
            ``{query: {column: value}}``.  ``weight`` serves ``agg=weighted``, ``session`` and ``position``
            session measures; any column may group means (:meth:`Scores.mean`).
        corpus: the documents that can be retrieved: ids, a file with an id in each line, a table with
            ``doc_id``, or a folder of documents, by default ``documents``. The audit says which relevant
            documents are not there, how many queries cannot be won, and which means can be reached.
        split: only the queries of this split, which a golden set or the column ``split`` of ``queries``
            assigns; lists of other splits' queries are left out.
        intents: the weights of subtopics, a table with ``query_id``, ``subtopic`` and ``weight``, or
            ``{query: {subtopic: weight}}``; equal by default.
        one_group: treat all lists as one, so that scores are compared across queries, as in the AUC over all
            users; of a ``table``, neither ``query_id`` nor ``doc_id`` is then looked at.
        format_in: the format of files whose suffix does not show it.
        csv_separator, decimal: the separators of CSV files, ``";"`` and ``","`` for instance; by default they
            are detected file by file, and noted in the audit.
        all_relevant: every row of judgments without grades is a relevant document, whatever other columns it has:
            interactions, purchases.
        {options}

    Returns
    -------
    Scores
        Per-query values, means, audit and conventions; ``StoredScores`` with ``memory``, ``SparkScores`` with
        ``engine="spark"``, which have the same means and leave the values where they are.

    Raises
    ------
    InputError
        When a file, frame or dict is not valid; the message says where, and how to fix it.
    UsageError
        When a measure or option does not exist, or two cannot be combined.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d9": 0.7, "d3": 0.6}}
    >>> scores = evaluate(qrels, run, ["nDCG@10", "RR"])
    >>> scores["RR"], scores.to_dict()
    (0.75, {'run': {'nDCG@10': 0.8154648767857288, 'RR': 0.75}})
    >>> clicks = {"query_id": ["u1", "u1", "u2"], "score": [0.9, 0.5, 0.3], "label": [0, 1, 1]}
    >>> evaluate(table=clicks, measures="RR").to_dict()
    {'run': {'RR': 0.75}}
    """
    one_of("engine", engine, ("local", "spark"))
    one_group: Any = options.get("one_group") or None
    special = {
        "table": table,
        "convention": convention,
        "run_column": run_column,
        "one_group": one_group,
    }
    if engine == "spark":
        _refuse("engine='spark'", {**special, "memory": memory})
        options.pop("one_group", None)
        return _on_spark(qrels, runs, measures, {**options})
    if memory is not None:
        from rankstone.evaluation.out_of_core import evaluate_out_of_core

        _refuse("memory", special)
        reading: dict[str, Any] = {"on_bad_run": on_bad_run, "progress": progress}
        stored = evaluate_out_of_core(
            qrels,  # type: ignore[arg-type]
            runs,  # type: ignore[arg-type]
            measures,
            memory=memory,
            **reading,
            **options,
        )
        return stored.given_as(runs)
    sources = Given(qrels, runs, table, name)
    columns = columns_in(options)  # type: ignore[arg-type]
    options["columns"] = columns
    if run_column is not None:
        _refuse("run_column", {"table": table})
        named_runs = split_runs(name_runs(runs), run_column, columns, options)
        sources = Given(qrels, named_runs)
    named = sources.runs
    if name:
        named = {name: table}
    with advising(sources.qrels, sources.runs):
        if convention is None:
            scored = sources.score_runs(
                of_rankings(measures),
                progress=progress,
                on_bad_run=on_bad_run,
                **options,
            )
            scores = Scores(*scored)
            return scores.given_as(named)

        from rankstone.conventions.evaluation_by_convention import evaluate_by

        scores = evaluate_by(
            convention,
            sources,
            measures,
            on_bad_run=on_bad_run,
            progress=progress,
            **options,
        )
        return scores.given_as(named)


def _on_spark(
    qrels: object, runs: object, measures: MeasuresLike, options: dict[str, Any]
) -> SparkScores:
    from rankstone.spark.spark_evaluation import evaluate

    return evaluate(qrels, runs, measures, **options).given_as(runs)


@takes(BeyondKeywords)
def beyond(
    runs: RunsLike,
    measures: str | Named | Sequence[str | Named] | None = None,
    *,
    items: TableLike | None = None,
    history: TableLike | None = None,
    qrels: QrelsLike | None = None,
    users: TableLike | None = None,
    baseline: RunLike | None = None,
    catalogue_size: int | None = None,
    separator: str = "|",
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    convention: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[BeyondKeywords],
) -> BeyondScores:
    """Measure runs beyond accuracy: coverage, novelty, diversity, popularity, calibration, fairness.

    Parameters
    ----------
    runs
        One run or ``{name: run}``, as for :func:`rankstone.evaluate`; a query is a user, a document an item.
    measures
        ``"Coverage@10 Gini@10"``, a list of texts, or values; ``None`` for the common ones that the given
        tables allow.  The card of each measure lists what it needs; without that it is refused.
    items
        Attributes of items: a table with ``doc_id`` and any columns (numbers, lists of numbers,
        categories, lists of categories), or ``{item: {column: value}}``.
    history
        Past interactions: a table with ``query_id`` and ``doc_id``, or ``{user: [item, …]}``.
    qrels
        Judgments, as for :func:`rankstone.evaluate`.
    users
        Attributes of users: a table with ``query_id`` and any columns; means by these columns are
        ``result.mean(by="column")``, gaps between groups :func:`rankstone.rankings.group_gaps`.
    baseline
        Another run of expected items, for ``Unexpectedness(against=baseline)``.
    catalogue_size
        The number of items, where there is no table of items.
    separator
        The separator of several categories in one text: ``"Action|Comedy"``.
    columns
        {their name: our name}, for all tables: ``{"user_id": "query_id", "item_id": "doc_id"}``.
    format_in
        The format of files whose suffix does not show it.
    convention
        The library whose numbers to compute, ``"rectools"`` or ``"rectools-0.19"``: measures then have its
        names, and it decides the options.
    csv_separator, decimal
        The separators of CSV files, as for :func:`rankstone.evaluate`.
    progress
        Called with row counts while reading.
    **options
        How lists are ordered: ``order``, ``score_dtype``, ``ties``, ``duplicates``, ``depth``; how
        judgments are read: ``duplicate_judgments``, ``negative``.  All as in
        :class:`~rankstone.hits.alignment_options.AlignmentOptions`.

    Returns
    -------
    BeyondScores
        Values for each run and user, and the audit.

    Raises
    ------
    UsageError
        When a measure or option does not exist, or a measure lacks a table or column it needs.
    InputError
        When a file or table is not valid; the message says where, and how to fix it.

    Examples
    --------
    >>> run = {"u1": ["a", "b"], "u2": ["a", "c"]}
    >>> history = {"u1": ["c"], "u2": ["a", "b"], "u3": ["a"], "u4": ["a"]}
    >>> beyond(run, "Novelty@2 Coverage@2", history=history, catalogue_size=6).to_dict()
    {'run': {'Novelty@2': 1.207518749639422, 'Coverage@2': 0.5}}
    """
    arguments: dict[str, Any] = {
        "items": items,
        "history": history,
        "qrels": qrels,
        "users": users,
    }
    arguments |= {
        "baseline": baseline,
        "catalogue_size": catalogue_size,
        "separator": separator,
    }
    arguments |= {
        "columns": with_csv(columns, csv_separator, decimal),
        "format_in": format_in,
    }
    arguments |= {"progress": progress, **options}
    if convention is not None:
        from rankstone.conventions.evaluation_by_convention import beyond_by

        scores = beyond_by(convention, runs, measures, **arguments)
        return scores.given_as(runs)
    from rankstone.rankings.recommendation.beyond_accuracy import (
        DEFAULT_MEASURES,
        measure_runs,
        parse_beyond,
    )

    if measures is None:
        wanted = parse_beyond(DEFAULT_MEASURES)
    else:
        wanted = parse_beyond(measures)
    scores = measure_runs(runs, wanted, optional=measures is None, **arguments)
    return scores.given_as(runs)


def _refuse(choice: str, others: Mapping[str, object]) -> None:
    """Refuse arguments that cannot be combined with a choice."""
    names = [name for name, value in others.items() if value is not None]
    if names:
        raise UsageError(
            f"{' and '.join(names)} cannot go with {choice}",
            fix="leave one of them out",
        )
