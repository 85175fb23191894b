"""Judgments, options and side tables prepared once, to score any number of runs."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

import polars as pl

from rankstone.errors import BadParameter, DuplicateRows, EmptyInput
from rankstone.evaluation.judged_rows import JudgedRows
from rankstone.evaluation.pipeline import Pipeline, ScoredRuns, judgment_counts
from rankstone.evaluation.query_splits import QuerySplit
from rankstone.evaluation.request import (
    RunErrors,
    check_queries,
    checked,
    choices,
    columns_read,
    declared_queries,
    name_runs,
    of_rankings,
    open_intents,
    query_table,
    refuse_with_one_group,
    refuse_without_pairs,
    require_columns,
    run_columns_read,
    unanswerable_queries,
)
from rankstone.evaluation.requested_side_inputs import (
    advise_on_duplicates,
    for_measure,
    judgment_columns,
    prepare_judgments,
    recorded_options,
    requested_side_inputs,
)
from rankstone.evaluation.scores import RunScores, Scores
from rankstone.hits.alignment_audit import Audit, JudgmentsAudit, RunAudit
from rankstone.hits.judgments import judged_queries
from rankstone.hits.requested_extras import OF_COLUMNS
from rankstone.io import read_attributes, read_judgments, read_run
from rankstone.io.columns import Renames, with_csv
from rankstone.io.input_table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankstone._basics import Columns, NamedValues, Names, Progress
    from rankstone.evaluation.request import (
        EvaluationKeywords,
        MeasuresLike,
        QrelsLike,
        RunLike,
        RunsLike,
    )
    from rankstone.evaluation.side_inputs.side_input import SideInput
    from rankstone.hits.alignment_options import AlignmentOptions, Order
    from rankstone.hits.hits import Hits
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.side_table_audit import SideTableAudit
    from rankstone.io.attributes import Attributes
    from rankstone.measures.core.measure import Measure, Measures

    #: scores a run, given its name, its pipeline and its table
    ScoreRun = Callable[[str, Pipeline, Table], tuple[RunScores, RunAudit]]


def _without_grades(columns: Columns) -> Columns:
    """Return renames of tables whose every pair is relevant, whatever else stands in its row."""
    if isinstance(columns, str):
        return columns
    names = Renames(columns, columns)
    names.all_relevant = True
    return names


class Prepared:
    """Judgments, options and side tables prepared once, for any number of runs.

    Parameters
    ----------
    qrels, measures, **options
        As for :func:`rankstone.evaluate`.

    Attributes
    ----------
    measures
        The measures, in the order they were given.
    options
        The alignment options.
    one_group
        True if all lists are treated as one.
    queries
        The query table; ``None`` where there is none.
    documents
        The table of documents, if there is one.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`.

    Examples
    --------
    >>> ready = Prepared({"q1": {"d1": 1}}, "RR")
    >>> ready.evaluate({"q1": ["d2", "d1"]}).to_dict()
    {'run': {'RR': 0.5}}
    >>> ready.hits({"q1": ["d2", "d1"]}, "q1").rank
    array([2])
    """

    def __init__(
        self,
        qrels: QrelsLike,
        measures: MeasuresLike,
        **options: Unpack[EvaluationKeywords],
    ) -> None:
        self._read(qrels, of_rankings(measures), **options)

    @classmethod
    def of(
        cls,
        qrels: QrelsLike,
        measures: tuple[Measure, ...],
        **options: Unpack[EvaluationKeywords],
    ) -> Self:
        """Prepare judgments for parsed measures, curves among them."""
        made = cls.__new__(cls)
        made._read(qrels, measures, **options)  # noqa: SLF001 - its own
        return made

    def _read(  # the arguments named in EvaluationKeywords
        self,
        qrels: object,
        measures: tuple[Measure, ...],
        *,
        columns: Columns | None = None,
        exclude: object = None,
        unit: object = None,
        same_as: object = None,
        documents: object = None,
        corpus: object = None,
        queries: object = None,
        split: str | None = None,
        intents: object = None,
        one_group: bool = False,
        format_in: str | None = None,
        csv_separator: str | None = None,
        decimal: str | None = None,
        all_relevant: bool = False,
        **options: Any,  # noqa: ANN401 - checked by AlignmentOptions
    ) -> None:
        self.options = checked(options, measures)
        self._columns = with_csv(columns, csv_separator, decimal) or {}
        if all_relevant:
            self._columns = _without_grades(self._columns)
        self._format_in = format_in
        self.documents = _documents(documents, self._columns)
        refuse_without_pairs(exclude, self.options)
        self._side_inputs = requested_side_inputs(
            measures,
            {
                "exclude": exclude,
                "unit": unit,
                "same_as": same_as,
                "corpus": self.documents if corpus is None else corpus,
            },
            options=self.options,
            columns=self._columns,
            documents=self.documents,
        )
        self._run_columns = run_columns_read(measures)

        self._further = columns_read(measures)
        side_columns = judgment_columns(self._side_inputs) - {*self._further}
        self.judged = read_judgments(
            qrels,
            self._columns,
            format_in,
            further=self._further,
            costs=(*sorted(side_columns), "answerable"),
            corpus=self.documents if corpus is None else corpus,
        )
        for side_input in self._side_inputs:
            self.judged = side_input.extended(self.judged)
        self.measures = self.as_computed(measures)
        self._further += (*sorted(side_columns & {*self.judged.columns}),)

        about = self.judged if queries is None else queries
        if split is not None and about is self.judged and self.judged.about is None:
            # a table of judgments may have a column of splits
            about = qrels
        self.queries = query_table(about, measures, self._columns)
        self._intents = open_intents(intents, self._columns)
        self.one_group = one_group
        if one_group:
            refuse_with_one_group(
                unit=unit, same_as=same_as, queries=queries, intents=intents
            )
        self._share: pl.Expr | None = None
        self._ranked = False
        self._all_judged = self.judged
        self._take_split(split)
        self._lowest: float | None = None
        self._kept: dict[Names, Judgments] = {}

    def _take_split(self, name: str | None) -> None:
        """Keep the judgments and queries of a split, where one is named."""
        self.split: QuerySplit | None = None
        if name is not None:
            self.split = QuerySplit.of(name, self.queries)
            self._share = self.split.is_in
            if self.queries is not None:
                self.queries = self.split.of_table(self.queries)
            self.judged = self.judged.only(self._share)

    # -- runs in, scores or hits out -------------------------------------------------------------------

    def evaluate(
        self,
        runs: RunsLike,
        *,
        progress: Progress | None = None,
        on_bad_run: str = "stop",
    ) -> Scores:
        """Score one run, or several by name; parameters as for :func:`rankstone.evaluate`."""
        scored = self.score_runs(
            name_runs(runs), progress=progress, on_bad_run=on_bad_run
        )
        return Scores(*scored).given_as(runs)

    def hits(self, run: RunLike, query: object = None) -> Hits:
        """Return the hits of a run: the ranks and grades of its judged documents.

        Parameters
        ----------
        run
            As for :func:`rankstone.evaluate`; one run.
        query
            The id of one query; by default all queries, in the order of the judgments.

        Raises
        ------
        NotComparable
            When the query has no judgments.
        """
        pipeline, table = self.pipeline(self.open(run))
        return pipeline.hits(table, query)

    def score_runs(
        self,
        runs: Mapping[str, object],
        score_run: ScoreRun | None = None,
        *,
        progress: Progress | None = None,
        on_bad_run: str | None = None,
    ) -> ScoredRuns:
        """Score every run with its pipeline.

        Parameters
        ----------
        runs
            Run name → run.
        score_run
            Replaces the scoring of each run.
        progress
            Called with row counts while reading.
        on_bad_run
            As for :func:`rankstone.evaluate`; ``None`` stops where this is not an option.
        """
        bad = RunErrors(on_bad_run)
        scored: dict[str, RunScores] = {}
        audits: dict[str, RunAudit] = {}
        sources: dict[str, str] = {}
        options = self.options
        for name, run in runs.items():
            with bad.of(name):
                table = self.open(run, name)
                options = options_for(table, self.options)
                self.texts(table)
                with bad.shared():
                    pipeline, table = self.pipeline(table)
                table = table.watched(progress)
                if score_run is None:
                    result = pipeline.run(table)
                else:
                    result = score_run(name, pipeline, table)
                scored[name], audits[name] = result
                sources[name] = table.source
        bad.settle(len(runs))
        return ScoredRuns(
            scored,
            self.measures,
            Audit(
                self.judgments_audit(),
                audits,
                *self._side_table_audits(),
                bad_runs=bad.by_run,
            ),
            choices(
                options, self.measures, one_group=self.one_group, further=self.recorded
            ),
            {"judgments": self.judged.source, "runs": sources, **self.sources},
        )

    # -- one run ---------------------------------------------------------------------------------------
    def open(self, run: object, name: str = "run", *, ranks: bool = True) -> Table:
        """Open a run without reading it, with the ``ranks`` of TREC text for the audit."""
        table = read_run(
            run,
            self._columns,
            self._format_in,
            order=self.options.order,
            name=name,
            ranks=ranks,
            duplicates=self.options.duplicates,
            further=(*OF_COLUMNS, *self._run_columns, "error"),
        )
        if self.judged.about is not None:
            from rankstone.evaluation.query_texts import named_by_ids

            table = named_by_ids(table, self.judged.about)
        table = replace(table, ranked=self._ranked)
        for side_input in self._side_inputs:
            table = side_input.extended(table)
            if not isinstance(run, Table):
                table = side_input.of_run(table)
        if self.split is not None:
            table = self.split.of_run(table)
        for side_input in self._side_inputs:
            side_input.check_run(table, self.measures)
        return table

    def pipeline(self, run: Table, *, regroups: bool = True) -> tuple[Pipeline, Table]:
        """Return the pipeline of an opened run, and the run with ids of the same type as the judgments."""
        texts = self.texts(run)
        options = options_for(run, self.options)
        run = run.with_text_ids(*texts)
        if self.one_group:
            kept = None
            if self.options.extra == "drop":
                kept = self._judged_in(run)
            run = run.pairs_in_one_list(kept)
        judgments = self._prepare(texts)
        pipeline = Pipeline(
            judgments,
            options,
            self.measures,
            self.queries,
            regroups,
            about=self.judged.about,
        )
        return pipeline, run

    def texts(self, run: Table) -> Names:
        """Return the id columns to write as text, so that run and judgments have the same type."""
        return self.judged.text_ids_for(
            run, "texts on both sides, or whole numbers on both sides"
        )

    def _judged_in(self, run: Table) -> pl.Series:
        """Return the judged queries, with the type of the run's ids."""
        return (
            self.judged.collect("query_id")["query_id"]
            .unique()
            .cast(run.schema["query_id"])
        )

    def _prepare(self, texts: Names) -> Judgments:
        """Prepare judgments with their extras, once for each choice of id columns written as text."""
        if texts not in self._kept:
            table = self.judged.with_text_ids(*texts)
            table = table.pairs_in_one_list() if self.one_group else table
            self._kept[texts] = self._prepared(table)
        return self._kept[texts]

    def _prepared(self, table: Table) -> Judgments:
        """Prepare the judgments of a table; those of a share may be none, and know its lowest grade."""
        frame = table.collect("query_id", "doc_id", "relevance", *self._further)
        is_whole = self._share is None
        if is_whole and not frame.height:
            why = ": ".join(["there are no judgments", *table.doubts[:1]])
            raise EmptyInput(why, where=table.source)
        declared = declared_queries(table, self.queries)
        if declared is not None and self._share is not None:
            # the query table is not limited to the share
            declared = declared.to_frame("query_id").filter(self._share).to_series()

        rows = JudgedRows(
            frame,
            judged_queries(frame, declared),
            self.options,
            table.locate,
            unanswerable_queries(table, self.queries),
            self._share,
            self.one_group,
        )
        try:
            judgments = prepare_judgments(rows, self._side_inputs, self._intents)
        except DuplicateRows as error:
            advise_on_duplicates(error, self.judged)
            raise

        if self._lowest is not None:
            judgments = replace(judgments, lowest_grade=self._lowest)
        if is_whole and self.queries is not None:
            check_queries(self.queries, self.measures, judgments.queries.names)
        return judgments

    # -- the judgments, and the same under other choices -----------------------------------------------
    def judgments(self) -> Judgments:
        """Return the prepared judgments, with ids as they were given."""
        return self._prepare(())

    def relevant_rows(self, *, all_splits: bool = False) -> pl.DataFrame:
        """Return the judgments above zero: ids as texts, ``relevance``, and ``subtopic`` where it is read.

        With ``all_splits`` these are all judgments of the file, whatever the split.
        """
        judged = self._all_judged if all_splits else self.judged
        names = ["query_id", "doc_id", "relevance"]
        if "subtopic" in self._further:
            names.append("subtopic")
        rows = judged.collect(*names).filter(pl.col("relevance") > 0)
        return rows.with_columns(pl.col("query_id", "doc_id").cast(pl.String))

    def given_grades(self) -> pl.Series:
        """Return the grades as they were given, before the options change or drop any."""
        return self.judged.collect("relevance")["relevance"]

    def as_computed(self, measures: Measures) -> tuple[Measure, ...]:
        """Return measures as these judgments have them computed; two may become one."""
        computed = tuple(measures)
        for side_input in self._side_inputs:
            computed = tuple(
                for_measure(side_input, measure, self.judged) for measure in computed
            )
        return tuple(dict.fromkeys(computed))

    def for_measures(self, measures: MeasuresLike) -> Self:
        """Return the same for other measures; judgments are prepared once for both."""
        other = self._with(measures=self.as_computed(of_rankings(measures)))
        checked(self.options.as_dict(), other.measures)
        require_columns(self.queries, other.measures)
        if not (
            self.reads(other.measures)
            and {*run_columns_read(other.measures)} <= {*self._run_columns}
        ):
            raise BadParameter(
                "these measures need columns of the judgments or of runs that were not read"
            )
        return other

    def reads(self, measures: Measures) -> bool:
        """Return True if all columns of the judgments that measures need were read."""
        return set(columns_read(measures)) <= set(self._further)

    @property
    def recorded(self) -> dict[str, str]:
        """The options of side inputs, as results record them."""
        options = recorded_options(self._side_inputs)
        if self.split is not None:
            options["split"] = self.split.name
        return options

    def unit_ids(self, ids: pl.Series) -> pl.Series:
        """Return the ids of hits, given those of rows of a run."""
        for side_input in self._side_inputs:
            ids = side_input.unit_ids(ids)
        return ids

    def means_without(
        self, side_input: SideInput, run: pl.DataFrame, measures: Measures
    ) -> pl.DataFrame:
        """Return the means of a run without one of the side inputs."""
        others = tuple(side for side in self._side_inputs if side is not side_input)
        alone = self._with(_side_inputs=others).for_measures(measures)
        return alone.evaluate(run).mean()

    def under(self, options: AlignmentOptions, *, one_group: bool = False) -> Self:
        """Return the same judgments under other options.

        Prepared judgments are reused, unless the options change them.
        """
        merges = ("negative", "duplicate_judgments", "exclude_from")
        same = all(
            getattr(options, name) == getattr(self.options, name) for name in merges
        )
        kept = self._kept if same and one_group == self.one_group else {}
        return self._with(options=options, one_group=one_group, _kept=kept)

    def without_empty_entries(self) -> Self:
        """Return the same without judged queries from empty entries, as in most libraries."""
        return self._with(judged=self.judged.without_empty(), _kept={})

    def by_ranks(self) -> Self:
        """Return the same for runs whose ranks order the lists even beside scores, as in some libraries."""
        return self._with(_ranked=True)

    def in_memory(self) -> Self:
        """Return the same with the judgments' table held in memory."""
        return self._with(judged=self.judged.in_memory())

    def as_texts(self, columns: Names) -> Self:
        """Return the same with some id columns of the judgments written as text."""
        if not columns:
            return self
        judged = self.judged.with_text_ids(*columns)
        return self._with(judged=judged, _kept={})

    def only(self, keep: pl.Expr | None, lowest_grade: float | None = None) -> Self:
        """Return the same for a share of the queries, perhaps an empty one.

        Parameters
        ----------
        keep
            Which rows belong to these queries; ``None`` for all.
        lowest_grade
            The bottom of the grade scale of all queries, where a measure reads it.
        """
        judged = self.judged
        if keep is None:
            keep = pl.lit(True)
        else:
            judged = judged.only(keep)
        if self._share is not None:
            keep = keep & self._share
        return self._with(judged=judged, _share=keep, _lowest=lowest_grade, _kept={})

    def _with(self, **changed: object) -> Self:
        other = copy(self)
        vars(other).update(changed)
        return other

    # -- audits ----------------------------------------------------------------------------------------
    def _side_table_audits(self) -> tuple[SideTableAudit | None, SideTableAudit | None]:
        """Return the audits of the query table and of the intents."""
        judgments = next(iter(self._kept.values()))
        about = None
        if self.queries is not None:
            about = check_queries(self.queries, self.measures, judgments.queries.names)
        intents = None
        if self._intents is not None and judgments.groups is not None:
            intents = self._intents.audit(judgments)
        return about, intents

    @property
    def sources(self) -> dict[str, str]:
        """The sources of the tables beside judgments and runs."""
        tables = {
            "queries": self.queries,
            "intents": self._intents,
            "documents": self.documents,
        }
        sources = {
            name: table.source for name, table in tables.items() if table is not None
        }
        for side_input in self._side_inputs:
            sources |= side_input.sources
        return sources

    def side_findings(self) -> NamedValues:
        """Return what side inputs add to the audit of the judgments."""
        further: NamedValues = {}
        for side_input in self._side_inputs:
            further |= side_input.judgments_audit(self)
        return further

    def judgments_audit(self) -> JudgmentsAudit:
        """Return the audit of the judgments."""
        judgments = next(iter(self._kept.values()))
        warnings = judgments.grade_counts.doubts()
        further = self.side_findings()
        return JudgmentsAudit(
            source=self.judged.source,
            **judgment_counts(judgments, self.options.empty),
            comments=self.judged.comments(),
            warnings=(*self.judged.doubts, *further.pop("warnings", ()), *warnings),
            read_as=self.judged.read_as(),
            **further,
        )


def _documents(source: object, columns: Columns) -> Attributes | None:
    """Open the table of documents, if there is one."""
    if source is None:
        return None
    return read_attributes(source, "doc_id", columns)


def options_for(run: Table, options: AlignmentOptions) -> AlignmentOptions:
    """Return the options for a run: lists of documents, and ranks without scores, have only one order."""
    order = run.ordered_by(options.order)
    if order == options.order:
        return options
    return replace(options, order=cast("Order", order))
