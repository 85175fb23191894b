"""The conductor: read → align → measure → scores.  The only module that knows all four."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

from rankstone.asked import checked, choices, columns_read, of_rankings
from rankstone.beside import (
    check_queries,
    collapser,
    declared_queries,
    excluded_pairs,
    intents_of,
    query_table,
    refuse_beside_one_group,
    require_columns,
)
from rankstone.errors import BadParameter, EmptyInput
from rankstone.hits.audit import Audit, BesideAudit, JudgmentsAudit, RunAudit
from rankstone.hits.exclusion import Exclusion, pairs_of
from rankstone.hits.grouping import prepared
from rankstone.hits.options import Alignment
from rankstone.io import Progress, Table, ids_of_two_kinds, read_judgments, read_run, with_csv
from rankstone.labelled import walk_labelled
from rankstone.measures.base import ANY_GAIN
from rankstone.naming import RunErrors, name_runs, split_runs
from rankstone.road import Road, Walked
from rankstone.scores import RunScores, Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from rankstone.hits.judgments import Judgments
    from rankstone.measures import Measure

__all__ = [
    "Evaluator",
    "Progress",
    "RunErrors",
    "Walked",
    "evaluate",
    "evaluate_labelled",
    "name_runs",
    "options_for",
    "split_runs",
    "walk_labelled",
]


def evaluate(
    qrels: object,
    runs: object,
    measures: str | Measure | Sequence[str | Measure],
    *,
    columns: Mapping[str, str] | None = None,
    exclude: object = None,
    collapse: object = None,
    queries: object = None,
    intents: object = None,
    one_group: bool = False,
    run_column: str | None = None,
    convention: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    on_bad_run: str = "stop",
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - checked by Alignment
) -> Scores:
    """Score one or more runs against judgments.

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
        ``{query: [doc, …]}`` in ranked order.
    measures
        ``"nDCG@10 AP RR@10"``, a list of texts, or measure values; those of ir_measures, too.
    columns
        ``{their name: our name}`` for tables: ``{"user_id": "query_id", "item_id": "doc_id"}``.
    exclude
        A table with ``query_id`` and ``doc_id`` of pairs that are taken out of every list first:
        seen items, the query's own document; ``exclude_from="both"`` takes them out of the judgments, too.
    collapse
        Passages to documents: a regular expression whose first group is the document's id, or a
        mapping ``{passage: document}``; the best passage stands for its document.
    queries
        What is known of queries: a table with ``query_id`` and any columns, or
        ``{query: {column: value}}``.  ``weight`` serves ``agg=weighted``, ``session`` and ``position``
        session measures; any column may group means (:meth:`Scores.mean`).
    intents
        How much subtopics count: a table with ``query_id``, ``subtopic`` and ``weight``, or
        ``{query: {subtopic: weight}}``; all the same where nothing is said.
    one_group
        All lists are one, so that scores are compared across queries: the AUC over all users at once.
    run_column
        The column of a long table of runs that names the run of each row; such a table is held in memory.
    convention
        The library whose numbers are wanted, ``"xgboost"`` or ``"xgboost-3.2"``: measures are then written
        as it writes them, and it decides the options.
    csv_separator, decimal
        How CSV files are written, ``";"`` and ``","`` say; what is not said is found out file by file, and
        told in the audit.
    on_bad_run
        Of several runs some that cannot be read or scored: ``"stop"`` refuses and names them all, ``"skip"``
        leaves them out, and ``audit.bad_runs`` says what is wrong with each.
    progress
        Called with row counts while reading.
    **options
        The options of alignment, see :class:`~rankstone.hits.options.Alignment`.

    Returns
    -------
    Scores
        Per-query values, means, audit and conventions.

    Raises
    ------
    InputError
        When a file, frame or dict is not what it should be: what, where, and what to do.
    UsageError
        When a measure or option does not exist.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d9": 0.7, "d3": 0.6}}
    >>> evaluate(qrels, run, ["nDCG@10", "RR"]).to_dict()
    {'run': {'nDCG@10': 0.8154648767857288, 'RR': 0.75}}
    """
    columns = with_csv(columns, csv_separator, decimal)
    beside: dict[str, Any] = {"columns": columns, "exclude": exclude, "collapse": collapse}
    beside |= {"queries": queries, "intents": intents, "one_group": one_group, **options}
    named = name_runs(runs)
    if run_column is not None:
        read = {"format_in": options.get("format_in"), "order": options.get("order", "score")}
        named = split_runs(named, run_column, columns, **read)
    if convention is not None:
        from rankstone.by_convention import evaluate_by

        beside |= {"on_bad_run": on_bad_run, "progress": progress}
        return evaluate_by(convention, qrels, named, measures, **beside)
    return Evaluator(qrels, measures, **beside).runs(named, progress=progress, on_bad_run=on_bad_run)


def evaluate_labelled(
    table: object,
    measures: str | Measure | Sequence[str | Measure],
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    queries: object = None,
    one_group: bool = False,
    convention: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - checked by Alignment
) -> Scores:
    """Score one table whose rows carry both score and label: learning to rank, impression logs.

    Parameters
    ----------
    table
        A path or frame with ``query_id``, ``score``, ``relevance`` (or ``label``) and perhaps
        ``doc_id``.  Without ``doc_id``, ties cannot be broken by it and default to ``expected``.
    measures, columns, queries, convention, csv_separator, decimal, progress, **options
        As for :func:`evaluate`.
    name
        What to call the run; the file's name or ``run`` otherwise.
    one_group
        All rows are one list, so that scores are compared across queries: the AUC over all users at
        once.  Neither ``query_id`` nor ``doc_id`` is looked at.

    Examples
    --------
    >>> import polars as pl
    >>> clicks = {"query_id": ["u1", "u1", "u2"], "score": [0.9, 0.5, 0.3], "label": [0, 1, 1]}
    >>> evaluate_labelled(pl.DataFrame(clicks), "RR").to_dict()
    {'run': {'RR': 0.75}}
    >>> evaluate_labelled(pl.DataFrame(clicks), "AUC(negatives=judged)", one_group=True).to_dict()
    {'run': {'AUC(negatives=judged)': 0.0}}
    """
    columns = with_csv(columns, csv_separator, decimal)
    given: dict[str, Any] = {"columns": columns, "format_in": format_in, "queries": queries}
    given |= {"one_group": one_group, "progress": progress, **options}
    if convention is not None:
        from rankstone.by_convention import evaluate_labelled_by

        return evaluate_labelled_by(convention, table, measures, name=name, **given)
    return Scores(*walk_labelled(table, of_rankings(measures), name=name, **given))


class Evaluator:
    """Judgments prepared once, for many runs.

    Parameters are those of :func:`evaluate`.

    Examples
    --------
    >>> ready = Evaluator({"q1": {"d1": 1}}, "RR")
    >>> ready({"q1": ["d2", "d1"]}).to_dict()
    {'run': {'RR': 0.5}}
    """

    def __init__(
        self,
        qrels: object,
        measures: str | Measure | Sequence[str | Measure],
        *,
        columns: Mapping[str, str] | None = None,
        exclude: object = None,
        collapse: object = None,
        queries: object = None,
        intents: object = None,
        one_group: bool = False,
        format_in: str | None = None,
        csv_separator: str | None = None,
        decimal: str | None = None,
        **options: Any,  # noqa: ANN401 - checked by Alignment
    ) -> None:
        self.measures = self._asked(measures)
        self.options = checked(options, self.measures)
        self._columns = with_csv(columns, csv_separator, decimal) or {}
        self._format_in = format_in
        self._further = columns_read(self.measures)
        self._table = read_judgments(qrels, self._columns, format_in, further=self._further)
        self._exclude = excluded_pairs(exclude, self._columns, self.options)
        self._collapse = collapser(collapse)
        self._queries = query_table(queries, self.measures, self._columns)
        self._intents = intents_of(intents, self._columns)
        self._one_group = one_group
        if one_group:
            refuse_beside_one_group(collapse=collapse, queries=queries, intents=intents)
        self._prepared: dict[tuple[str, ...], tuple[Judgments, Exclusion | None]] = {}

    @staticmethod
    def _asked(measures: str | Measure | Sequence[str | Measure]) -> tuple[Measure, ...]:
        return of_rankings(measures)

    def __call__(self, run: object, name: str = "run") -> Scores:
        """Score one run."""
        return self.runs({name: run})

    def runs(
        self, runs: Mapping[str, object], progress: Progress | None = None, on_bad_run: str = "stop"
    ) -> Scores:
        """Score named runs."""
        return Scores(*self._walk(runs, progress, on_bad_run))

    def _walk(
        self, runs: Mapping[str, object], progress: Progress | None, on_bad_run: str | None = None
    ) -> Walked:
        """Take every run along the road."""
        bad = RunErrors(on_bad_run)
        scored: dict[str, RunScores] = {}
        audits: dict[str, RunAudit] = {}
        sources: dict[str, str] = {}
        options = self.options
        for name, run in runs.items():
            with bad.of(name):
                table = self._read(run, name)
                options = options_for(table, self.options)
                self._texts(table)
                with bad.shared():
                    table, prepared = self._matched(table)
                work = Road(prepared[0], options, self.measures, prepared[1], self._collapse, self._queries)
                scored[name], audits[name] = self._along(name, work, table.watched(progress))
                sources[name] = table.source
        bad.settle(len(runs))
        return Walked(
            scored,
            self.measures,
            Audit(self._judgments_audit(), audits, *self._beside(), bad_runs=bad.found),
            choices(options, self.measures, one_group=self._one_group),
            {"judgments": self._table.source, "runs": sources, **self._sources()},
        )

    def _along(self, _name: str, road: Road, table: Table) -> tuple[RunScores, RunAudit]:
        """Take one run along its road."""
        return road.run(table)

    def _read(self, run: object, name: str) -> Table:
        return read_run(run, self._columns, self._format_in, order=self.options.order, name=name, ranks=True)

    def _matched(self, run: Table) -> tuple[Table, tuple[Judgments, Exclusion | None]]:
        """Bring ids of run and judgments to one kind."""
        texts = self._texts(run)
        run = run.with_text_ids(*texts)
        if self._one_group:
            run = run.pairs_in_one_list(self._judged(run) if self.options.extra == "drop" else None)
        return run, self._prepare(texts)

    def _texts(self, run: Table) -> tuple[str, ...]:
        """Return the id columns that are written as texts, for run and judgments to be of one kind."""
        return ids_of_two_kinds(self._table, run, "texts on both sides, or whole numbers on both sides")

    def _judged(self, run: Table) -> pl.Series:
        """Return the judged queries, written as the run writes its own."""
        return self._table.collect("query_id")["query_id"].unique().cast(run.schema["query_id"])

    def _prepare(self, texts: tuple[str, ...]) -> tuple[Judgments, Exclusion | None]:
        """Prepare judgments and exclusions, once for each choice of id columns written as texts."""
        if texts not in self._prepared:
            table = self._table.with_text_ids(*texts)
            table = table.pairs_in_one_list() if self._one_group else table
            frame = table.collect("query_id", "doc_id", "relevance", *self._further)
            if not frame.height:
                raise EmptyInput("there are no judgments", where=table.source)
            declared = declared_queries(table, self._queries)
            pairs = self._excluded(frame.schema)
            judgments = prepared(frame, self.options, table.locate, self._intents, declared, pairs)
            if self._queries is not None:
                check_queries(self._queries, self.measures, judgments.queries.names)
            self._prepared[texts] = judgments, Exclusion.of(pairs, frame, self.options)
        return self._prepared[texts]

    def _excluded(self, kinds: Mapping[str, pl.DataType]) -> pl.DataFrame | None:
        if self._exclude is None:
            return None
        table = self._exclude.pairs_in_one_list() if self._one_group else self._exclude
        return pairs_of(table.collect("query_id", "doc_id"), kinds)

    def judgments(self) -> Judgments:
        """Return the prepared judgments (their ids as they were given)."""
        return self._prepare(())[0]

    def given_grades(self) -> pl.Series:
        """Return the grades as they were given, those among them that the options do away with."""
        return self._table.collect("relevance")["relevance"]

    def asking(self, measures: str | Measure | Sequence[str | Measure]) -> Evaluator:
        """Return an evaluator of other measures over the same judgments, prepared once for both."""
        other = copy(self)
        other.measures = self._asked(measures)
        checked(self.options.as_dict(), other.measures)
        require_columns(self._queries, other.measures)
        if not set(columns_read(other.measures)) <= set(self._further):
            raise BadParameter("these measures need columns of the judgments that were not read")
        return other

    def under(self, options: Alignment, *, one_group: bool = False) -> Evaluator:
        """Return an evaluator of the same judgments under other options.

        What is prepared already serves it, too, unless its options make other judgments of them.
        """
        merges = ("negative", "duplicate_judgments", "exclude_from")
        same = all(getattr(options, name) == getattr(self.options, name) for name in merges)
        kept = self._prepared if same and one_group == self._one_group else {}
        other = copy(self)
        vars(other).update(options=options, _one_group=one_group, _prepared=kept)
        return other

    def of_rows(self) -> Self:
        """Return an evaluator that takes no empty entry for a judged query, as most libraries do."""
        other = copy(self)
        vars(other).update(_table=self._table.without_empty(), _prepared={})
        return other

    def _beside(self) -> tuple[BesideAudit | None, BesideAudit | None]:
        """Return what there is to say about the tables of queries and of intents."""
        judgments = next(iter(self._prepared.values()))[0]
        asked = None
        if self._queries is not None:
            asked = check_queries(self._queries, self.measures, judgments.queries.names)
        meant = None if self._intents is None or judgments.groups is None else self._intents.audit(judgments)
        return asked, meant

    def _sources(self) -> dict[str, str]:
        beside = {"queries": self._queries, "intents": self._intents}
        return {name: table.source for name, table in beside.items() if table is not None}

    def _judgments_audit(self) -> JudgmentsAudit:
        judgments = next(iter(self._prepared.values()))[0]
        relevant = judgments.ideal.relevant_count(ANY_GAIN)
        return JudgmentsAudit(
            source=self._table.source,
            queries=len(judgments.queries),
            judgments=len(judgments.grade),
            negative=judgments.negative,
            duplicates=judgments.duplicates,
            empty=int((relevant == 0).sum()),
            comments=self._table.comments(),
            declared=judgments.declared,
            excluded=judgments.excluded,
            excluded_relevant=judgments.excluded_relevant,
            warnings=judgments.given.doubts(),
            read_as=self._table.read_as(),
        )


def options_for(run: Table, options: Alignment) -> Alignment:
    """Return the options for a run; lists of documents, and ranks without scores, have one order only."""
    order = run.ordered_by(options.order)
    return options if order == options.order else Alignment(**{**options.as_dict(), "order": order})
