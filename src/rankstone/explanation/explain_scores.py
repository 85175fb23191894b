"""Explanations: one query is scored alone while the measure records its terms; grades as typed text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import polars as pl

from rankstone._basics import counted, quoted
from rankstone.errors import BadOption, BadParameter, EmptyInput, UsageError
from rankstone.evaluation.pipeline import Pipeline
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords, choices, name_runs
from rankstone.explanation.explanation_result import Explanation
from rankstone.explanation.explanation_rows import Change, Missed
from rankstone.explanation.footnotes import footnotes
from rankstone.explanation.traced_list import (
    QueryTrace,
    TracedList,
    graded_documents,
    query_number,
    rows_of,
)
from rankstone.hits.alignment_options import takes
from rankstone.hits.extras.abstained_lists import AbstainedLists
from rankstone.hits.extras.list_costs import ListCosts
from rankstone.hits.extras.row_numbers import RowNumbers
from rankstone.hits.extras.unjudged_places import Holes
from rankstone.hits.tie_rules import TIES
from rankstone.io import read_run
from rankstone.measures.core.curve import Curve
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_measure
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankstone.evaluation.request import QrelsLike, RunsLike
    from rankstone.explanation.score_difference import ExplainedDifference
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.matching import Chunk
    from rankstone.hits.tie_rules import Ties
    from rankstone.io.input_table import Table

#: the most changes shown
_SHOWN: Final = 3
#: smaller increases do not count
_NOTHING: Final = 1e-12


@takes(EvaluationKeywords)
def explain(
    qrels: QrelsLike,
    run: RunsLike,
    measure: str | Measure | Curve,
    query_id: object,
    *,
    versus: RunsLike | None = None,
    libraries: bool = False,
    lang: str = "en",
    convention: str | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Explanation | ExplainedDifference:
    """Explain the score of one query: contributions, rules that decided something, possible changes.

    Parameters
    ----------
    qrels, run, **options
        As for :func:`rankstone.evaluate`, the options of alignment included; one run.
    measure
        One measure: ``"nDCG@10"``.
    query_id
        The query.
    versus
        Another run; the difference of the two scores is then explained by document.
    libraries
        True to add what every known library with such a measure would print for this query.
    lang
        ``en`` or ``zh``, for headings and footnotes.
    convention
        The library whose number is explained; the measure is then written as in that library.

    Returns
    -------
    Explanation or ExplainedDifference
        With ``versus``, the difference of two explanations.

    Raises
    ------
    InputError
        When a file or table is not what it should be, or the query is not judged.
    UsageError
        When a measure or option does not exist.

    Examples
    --------
    >>> qrels = {"q": {"a": 2, "b": 1, "c": 1}}
    >>> explanation = explain(qrels, {"q": ["b", "a", "x"]}, "nDCG@3", "q")
    >>> explanation.numerator, explanation.denominator, explanation.value
    (2.261859507142915, 3.1309297535714578, 0.7224242270408039)
    >>> change = explanation.changes[0]
    >>> change.doc_id, change.to, round(change.gain, 4)
    ('c', 3, 0.1597)
    """
    return explain_queries(
        qrels,
        run,
        measure,
        [query_id],
        versus=versus,
        libraries=libraries,
        lang=lang,
        convention=convention,
        **options,
    )[0]


def explain_queries(
    qrels: QrelsLike,
    run: RunsLike,
    measure: str | Measure | Curve,
    query_ids: Sequence[object] = (),
    *,
    worst: int = 0,
    versus: RunsLike | None = None,
    libraries: bool = False,
    lang: str = "en",
    convention: str | None = None,
    **options: Unpack[EvaluationKeywords],
) -> list[Explanation | ExplainedDifference]:
    """Explain the scores of several queries; every file is read once.

    Parameters
    ----------
    qrels, run, measure, versus, libraries, lang, convention, **options
        As for :func:`explain`.
    query_ids
        The queries.
    worst
        The number of further queries: those with the lowest scores, or with ``versus`` the largest losses.

    Examples
    --------
    >>> run = {"q1": ["a", "b"], "q2": ["b", "a"]}
    >>> [explanation] = explain_queries({"q1": {"a": 1}, "q2": {"a": 1}}, run, "RR", worst=1)
    >>> explanation.query_id, explanation.value
    ('q2', 0.5)
    """
    check_language(lang)
    explainer = _explainer(qrels, measure, convention, options)
    named = list(name_runs(run).items()) + (
        [] if versus is None else list(name_runs(versus).items())
    )
    if len(named) != 1 + (versus is not None):
        raise BadOption(
            "one run is explained, or compared with one other",
            given=f"{counted(len(named), 'run')}",
        )
    names = [name for name, _ in named]
    if names[0] == names[-1] and versus is not None:
        names = ["run", "vs"]
    runs = {name: source for name, (_, source) in zip(names, named, strict=True)}
    if worst or len(query_ids) > 1:
        runs = {
            name: explainer.opened(source, name).remembering()
            for name, source in runs.items()
        }
    query_ids = [*query_ids, *(_worst(explainer, runs, worst) if worst else ())]
    explanations = [
        [
            replace(
                explainer.explain(source, query, name, libraries=libraries), lang=lang
            )
            for name, source in runs.items()
        ]
        for query in query_ids
    ]
    return [of[0] if versus is None else of[0].versus(of[1]) for of in explanations]


def _worst(explainer: Explainer, runs: Mapping[str, object], count: int) -> list[str]:
    """Return the queries with the lowest scores, or the largest losses compared with another run."""
    values = explainer.prepared.evaluate(runs).per_query
    if values.is_empty():
        return []
    wide = values.pivot("run", index="query_id", values="value", maintain_order=True)
    first, *other = runs
    loss = wide[first] - wide[other[0]] if other else wide[first]
    ordered = (
        wide.with_columns(loss=loss)
        .drop_nulls("loss")
        .sort("loss", maintain_order=True)
    )
    return ordered.head(count)["query_id"].to_list()


def _explainer(
    qrels: QrelsLike,
    measure: str | Measure | Curve,
    convention: str | None,
    keywords: EvaluationKeywords,
) -> Explainer:
    """Return the explainer of a measure, of a library if a convention is given."""
    if convention is None:
        parsed = parse_measure(measure)
        if isinstance(parsed, Curve):
            return Explainer(
                qrels, parsed.summary(), curve=parsed, ours=str(parsed), **keywords
            )
        if not isinstance(parsed, Measure):
            raise BadParameter(
                f"{parsed} is not a measure of a run against judgments",
                fix=f"use {parsed.computed_by} --explain {quoted(str(parsed))}, with -q ID for the value of "
                "a query or user (in Python the method explain of the results of diff and beyond)",
            )
        return Explainer(qrels, parsed, **keywords)
    from rankstone.conventions.evaluation_by_convention import read_one

    reading, options = read_one(convention, measure, keywords)
    explainer = Explainer(qrels, reading.measure, ours=reading.ours, **options)
    explainer.remarks = reading.entry.remarks
    explainer.prepared = reading.entry.as_read(explainer.prepared, options)
    return explainer


class Explainer:
    """Judgments prepared once to explain the scores of one measure for many queries and runs.

    Parameters are those of :class:`~rankstone.Prepared`, for one measure.

    Examples
    --------
    >>> ready = Explainer({"q1": {"a": 1}, "q2": {"b": 1}}, "RR")
    >>> run = {"q1": ["x", "a"], "q2": ["b"]}
    >>> [ready.explain(run, query).value for query in ("q1", "q2")]
    [0.5, 1.0]
    """

    def __init__(
        self,
        qrels: QrelsLike,
        measure: str | Measure,
        *,
        ours: str | None = None,
        curve: Curve | None = None,
        **keywords: Unpack[EvaluationKeywords],
    ) -> None:
        self.prepared = Prepared(qrels, measure, **keywords)
        measures = self.prepared.measures
        if len(measures) != 1:
            raise BadOption(
                f"{len(measures)} measures are given, and one is explained at a time",
                given=" ".join(map(str, measures)),
            )
        self._ours = ours or str(measures[0])
        #: what a library's measure has to be said of, on a list with these counts
        self.remarks: Callable[[Mapping[str, int]], str] = lambda _counts: ""
        self._curve = curve

    @property
    def measure(self) -> Measure:
        """The measure that is explained."""
        return self.prepared.measures[0]

    def opened(self, run: object, name: str) -> Table:
        """Return a run, opened to be explained several times."""
        return self.prepared.open(run, name)

    def explain(
        self,
        run: object,
        query: object,
        name: str = "run",
        *,
        changes: bool = True,
        libraries: bool = False,
    ) -> Explanation:
        """Explain the score of one query of a run.

        Parameters
        ----------
        run
            As for :func:`rankstone.evaluate`.
        query
            The query's id.
        name
            The name of the run.
        changes
            True to try documents at better ranks.
        libraries
            True to add what other libraries would print.
        """
        prepared = self.prepared
        pipeline, table = prepared.pipeline(prepared.open(run, name))
        judgments = pipeline.judged
        options = pipeline.options
        code = query_number(judgments, query, prepared.judged.source)
        table, rows = _query_rows(table, query)
        empty = table.unanswered is not None and str(query) in table.unanswered.cast(
            pl.String
        )
        rule = "no_results" if empty and options.no_results == "drop" else "missing"
        scored = self._scored(
            _keeping_queries(pipeline), table, judgments.queries.names[code]
        )
        listed = TracedList(
            scored, judgments, code, self._ids(rows), rows, self.measure.budget
        )
        tried = (
            self._changes(listed, options, judgments)
            if changes and listed.budget is None
            else ()
        )
        printed = self._others(listed, rows) if libraries else {}
        return self._explanation(
            listed, name, options, tried, printed, rule, table.failed.get(str(query))
        )

    def ranked_lists(
        self, run: object, name: str, queries: Sequence[str]
    ) -> pl.DataFrame:
        """Return one row for each retrieved document of some queries, aligned as the scores are.

        Columns ``query_id``, ``doc_id``, ``rank``, ``relevance`` (null where the document is not judged).

        >>> ready = Explainer({"q1": {"a": 1}, "q2": {"b": 1}}, "RR")
        >>> ready.ranked_lists({"q1": ["x", "a"], "q2": ["b"]}, "run", ["q1"]).rows()
        [('q1', 'x', 1, None), ('q1', 'a', 2, 1.0)]
        """
        rows = rows_of(self.opened(run, name), queries)
        if not len(rows):
            kinds = {
                "query_id": pl.String,
                "doc_id": pl.String,
                "rank": pl.Int64,
                "relevance": pl.Float64,
            }
            return pl.DataFrame(schema=kinds)
        pipeline, table = self.prepared.pipeline(self.opened(rows, name))
        parts, _ = _keeping_queries(pipeline).align(
            table, graded_documents, frozenset({RowNumbers, Holes})
        )
        ids = self._ids(pl.concat(list(table.tables([pl.col("doc_id")]))))
        every = pl.concat(parts).sort("query_id", "rank", maintain_order=True)
        return every.select(
            "query_id", ids.gather(every["row"]).alias("doc_id"), "rank", "relevance"
        )

    def _scored(self, pipeline: Pipeline, table: Table, query: object) -> QueryTrace:
        """Score one query in the pipeline."""

        def each(chunk: Chunk, hits: Hits) -> QueryTrace | None:
            place = chunk.names.eq(query).arg_true()
            if not len(place):
                return None
            return QueryTrace.of(
                self.measure, chunk, hits, int(place[0]), pipeline.options, self._curve
            )

        scored, _ = pipeline.align(table, each, frozenset({RowNumbers, Holes}))
        return next(trace for trace in scored if trace is not None)

    def _ids(self, rows: pl.DataFrame) -> pl.Series:
        """Return the document of each row of the run."""
        ids = rows["doc_id"].cast(pl.String)
        return self.prepared.unit_ids(ids)

    # -- changes --------------------------------------------------------------------------
    def _changes(
        self, listed: TracedList, options: AlignmentOptions, judgments: Judgments
    ) -> tuple[Change, ...]:
        """Return the changes of single documents that raise the score most."""
        value = listed.scored.value
        by_grades = all(extra.grades_decide for extra in self.measure.requires)
        if (
            value is None
            or options.score_above is not None
            or self.prepared.one_group
            or not by_grades
        ):
            return ()
        plain = replace(
            options, order="input", ties=_input_order(options.ties), unit_score="max"
        )
        prepared = self.prepared
        judgments = replace(judgments, extras=())  # documents are listed by their ids
        pipeline = Pipeline(judgments, plain, prepared.measures, prepared.queries)
        changes = []
        for doc, grade, rank, to in listed.promotions():
            docs = [other for other in listed.docs if other != doc]
            docs.insert(to - 1, doc)
            frame = pl.DataFrame(
                {"query_id": [listed.query] * len(docs), "doc_id": docs}
            )
            own = frame.with_columns(pl.col("doc_id").cast(judgments.pairs.docs.dtype))
            _, table = prepared.pipeline(read_run(own, order="input", name="changed"))
            changed = self._scored(pipeline, table, listed.query).value
            if changed is not None and changed - value > _NOTHING:
                changes.append(Change(doc, grade, rank, to, changed, changed - value))
        return tuple(sorted(changes, key=lambda change: -change.gain)[:_SHOWN])

    def _others(
        self, listed: TracedList, rows: pl.DataFrame
    ) -> dict[str, float | str | None]:
        """Return what every library would print for this query alone."""
        from rankstone.conventions.convention_files import conventions
        from rankstone.conventions.evaluation_by_convention import values_by

        measure = (
            self.measure.name
            if self.measure.k is None
            else f"{self.measure.name}@{self.measure.k}"
        )
        qrels = {str(listed.query): {doc: grade for doc, grade, _ in listed.judged}}
        scores = (
            rows["score"].to_list()
            if "score" in rows.columns
            else list(range(len(rows), 0, -1))
        )
        run = ([str(listed.query)] * len(rows), self._ids(rows).to_list(), scores)
        return dict(values_by(conventions(), qrels, run, [measure])[measure])

    def _explanation(
        self,
        listed: TracedList,
        name: str,
        options: AlignmentOptions,
        changes: tuple[Change, ...],
        others: dict[str, float | str | None],
        rule: str,
        failed: str | None,
    ) -> Explanation:
        ready = self.prepared
        measure = self.measure
        scored = listed.scored
        fine = listed.answered or AbstainedLists in measure.requires
        notes = footnotes(
            listed,
            options,
            k=measure.k,
            budget=measure.budget,
            absent="" if fine else f"{rule}={getattr(options, rule)}",
            empty=getattr(measure, "empty", options.empty),
            failed=failed,
            pooled=measure.agg == "pooled",
        )
        of = measure if self._curve is None else self._curve
        return Explanation(
            measure=str(of),
            of=str(listed.query),
            runs=(name,),
            status=scored.status.name,
            value=scored.value,
            numerator=scored.numerator,
            denominator=scored.denominator,
            tables=(listed.table(),),
            conventions=choices(
                options,
                ready.measures,
                one_group=ready.one_group,
                further=ready.recorded,
            ),
            card={
                part: getattr(of.card, part)
                for part in ("sentence", "formula", "symbols")
            },
            ours=self._ours,
            note=self.remarks(listed.counts),
            ratio=scored.ratio,
            rows=listed.rows,
            missed=scored.part_of_query(scored.parts.missed),
            unjudged=scored.part_of_query(scored.parts.unjudged),
            whole=any(issubclass(kind, ListCosts) for kind in measure.requires),
            not_retrieved=tuple(
                Missed(doc, grade) for doc, grade, rank in listed.judged if rank is None
            ),
            ideal=tuple(listed.ideal_rows()),
            facts=listed.facts(measure),
            footnotes=tuple(notes),
            changes=changes,
            others=others,
            k=measure.k,
            curve=scored.curve,
            intents=tuple(listed.intents()),
            texts=listed.texts(ready.documents),
            sources=listed.sources(ready.documents, measure),
        )


def _keeping_queries(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline without the options that leave out queries without results."""
    options = pipeline.options
    if options.missing == "drop":
        options = replace(options, missing="zero")
    if options.no_results == "drop":
        options = replace(options, no_results="missing")
    return replace(pipeline, options=options)


def _input_order(ties: Ties) -> Ties:
    """Return the rule for ties that keeps a list in its input order."""
    return ties if TIES[ties].needs_grades else "input"


def _query_rows(table: Table, query: object) -> tuple[Table, pl.DataFrame]:
    """Return the rows of one query as a table and as a frame; messages still name the place in the file."""
    kept: list[pl.DataFrame] = []
    rows: list[np.ndarray[Any, np.dtype[np.int64]]] = []
    is_of_query = pl.col("query_id").cast(pl.String) == str(query)
    read = 0
    for piece in table.tables([pl.col(name) for name in table.schema]):
        mine = piece.select(is_of_query).to_series().arg_true().to_numpy()
        if len(mine):
            kept.append(piece[mine])
            rows.append(mine.astype(np.int64) + read)
        read += piece.height
    if not read and not (table.unanswered is not None and len(table.unanswered)):
        raise EmptyInput("the run is empty", where=table.source)
    frame = pl.concat(kept) if kept else pl.DataFrame(schema=dict(table.schema))
    numbers: Sequence[int] = np.concatenate(rows).tolist() if rows else []

    def again(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        if frame.height:
            yield frame.select(columns)

    def where(row: int) -> str:
        return table.where(numbers[row])

    return replace(table, start=again, where=where), frame


#: the id of the query of typed grades
QUERY = "typed"


def typed_in(
    grades: str, judged: str | None = None
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return judgments and a run of one query from grades as text.

    Parameters
    ----------
    grades
        Grades of the list in order, ``-`` for an unjudged document: ``"5,3,2,-,2"``.
    judged
        All judged grades, those of the list included; ``None`` if nothing else is judged.

    Examples
    --------
    >>> typed_in("2,-,1", "2,1,1")
    ({'typed': {'d1': 2.0, 'd3': 1.0, 'm1': 1.0}}, ['d1', 'd2', 'd3'])
    """
    listed = [_grade(word) for word in _split_grades(grades, "--grades")]
    judged_grades = map(_grade, _split_grades(judged or "", "--judged"))
    known = [grade for grade in judged_grades if grade is not None]
    grade_of = {
        f"d{rank}": grade for rank, grade in enumerate(listed, 1) if grade is not None
    }
    if judged is not None:
        rest = Counter(known)
        rest.subtract(Counter(grade_of.values()))
        if short := [grade for grade, count in rest.items() if count < 0]:
            raise UsageError(
                "--judged lacks grades that are in the list",
                given=f"{short[0]:g} is in the list more often than in --judged",
                fix="name every judged grade, those of the list included",
            )
        missed = sorted(rest.elements(), reverse=True)
        grade_of |= {f"m{number}": grade for number, grade in enumerate(missed, 1)}

    docs = [f"d{rank}" for rank in range(1, len(listed) + 1)]
    return {QUERY: grade_of or {"m0": 0.0}}, docs


def _split_grades(text: str, flag: str) -> list[str]:
    words = [word for word in re.split(r"[,\s]+", text.strip()) if word]
    if not words and flag == "--grades":
        raise UsageError(
            "--grades is empty", expected="grades in the order of the list: 3,2,-,0,1"
        )
    return words


def _grade(word: str) -> float | None:
    if word in ("-", "?", "–"):
        return None
    try:
        return float(word)
    except ValueError:
        raise UsageError(
            f"{word!r} is not a grade",
            expected="numbers with commas, - for an unjudged document: 3,2,-,0,1",
        ) from None
