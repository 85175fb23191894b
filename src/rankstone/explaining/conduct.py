"""The conductor of explanations: one query goes along the road, and measures tell on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.asked import choices
from rankstone.errors import BadOption, BadParameter, EmptyInput, NotComparable, nearest, printable
from rankstone.evaluation import Evaluator, name_runs, options_for
from rankstone.explaining.derivation import Change, Explanation, Missed
from rankstone.explaining.footnotes import footnotes
from rankstone.explaining.seen import Listed, Seen
from rankstone.hits.options import Alignment
from rankstone.io import read_run
from rankstone.measures import Measure, parse_measure
from rankstone.measures.base import Status
from rankstone.measures.curves import Curve
from rankstone.road import Road
from rankstone.words import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone.explaining.versus import Comparison
    from rankstone.hits.align import Chunk
    from rankstone.hits.exclusion import Exclusion
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.ragged import Hits
    from rankstone.io import Table

__all__ = ["LANGUAGES", "Explainer", "explain"]

LANGUAGES: Final = ("en", "zh")
#: documents told of that would raise the score elsewhere
_TOLD: Final = 3
#: gains smaller than this are none
_NOTHING: Final = 1e-12


def explain(
    qrels: object,
    run: object,
    measure: str | Measure,
    query_id: object,
    *,
    vs: object = None,
    others: bool = False,
    lang: str = "en",
    convention: str | None = None,
    **given: Any,  # noqa: ANN401 - arguments of Evaluator
) -> Explanation | Comparison:
    """Unfold the score of one query: the table whose sum it is, the rules that fired, what would change it.

    Parameters
    ----------
    qrels, run, **given
        As for :func:`rankstone.evaluate`, the options of alignment included; one run.
    measure
        One measure: ``"nDCG@10"``.
    query_id
        The query.
    vs
        Another run: the difference of the two scores is attributed to documents.
    others
        Also ask every library we know of that has such a measure what it would print for this query.
    lang
        ``en`` or ``zh``, for headings and footnotes.
    convention
        The library whose number is explained; the measure is then written as it writes it.

    Returns
    -------
    Explanation or Comparison
        With ``vs``, the comparison of two explanations.

    Raises
    ------
    InputError
        When a file or table is not what it should be, or nobody judged the query.
    UsageError
        When a measure or option does not exist.

    Examples
    --------
    >>> qrels = {"q": {"a": 2, "b": 1, "c": 1}}
    >>> found = explain(qrels, {"q": ["b", "a", "x"]}, "nDCG@3", "q")
    >>> found.numerator, found.denominator, found.value
    (2.261859507142915, 3.1309297535714578, 0.7224242270408039)
    >>> found.changes[0].doc_id, found.changes[0].to, round(found.changes[0].gain, 4)
    ('c', 3, 0.1597)
    """
    if lang not in LANGUAGES:
        raise BadOption(f"lang={lang!r} is no language we speak", expected=", ".join(LANGUAGES))
    ready = _explainer(qrels, measure, convention, given)
    named = list(name_runs(run).items()) + ([] if vs is None else list(name_runs(vs).items()))
    if len(named) != 1 + (vs is not None):
        raise BadOption("one run is explained, or compared with one other", given=f"{len(named)} runs")
    names = [name for name, _ in named]
    if names[0] == names[-1] and vs is not None:
        names = ["run", "vs"]
    found = [
        replace(ready.explain(one, query_id, name, others=others), lang=lang)
        for name, (_, one) in zip(names, named, strict=True)
    ]
    return found[0] if vs is None else found[0].versus(found[1])


def _explainer(qrels: object, measure: str | Measure, convention: str | None, given: Any) -> Explainer:  # noqa: ANN401
    """Return the explainer of a measure, a library's where one is named."""
    if convention is None:
        asked = parse_measure(measure)
        if isinstance(asked, Curve):
            return Explainer(qrels, asked.summary(), curve=asked, ours=str(asked), **given)
        if not isinstance(asked, Measure):
            raise BadParameter(
                f"{asked} looks at lists, and not at a run against judgments",
                fix=f"use {asked.computed_by} --explain {quoted(str(asked))}, with -q ID for the value of "
                "a query or user; in Python the method explain of what rankstone.diff and beyond return",
            )
        return Explainer(qrels, measure, **given)
    from rankstone.by_convention import read_one

    reading, options = read_one(convention, measure, given)
    ready = Explainer(qrels, reading.measure, ours=reading.ours, **options)
    return ready if reading.entry.declared else ready.of_rows()


class Explainer(Evaluator):
    """Judgments prepared once, to explain one measure's scores of many queries and runs.

    Parameters are those of :class:`~rankstone.Evaluator`, for one measure.

    Examples
    --------
    >>> ready = Explainer({"q1": {"a": 1}, "q2": {"b": 1}}, "RR")
    >>> run = {"q1": ["x", "a"], "q2": ["b"]}
    >>> [ready.explain(run, query).value for query in ("q1", "q2")]
    [0.5, 1.0]
    """

    def __init__(
        self,
        qrels: object,
        measure: str | Measure,
        *,
        ours: str | None = None,
        curve: Curve | None = None,
        **given: Any,  # noqa: ANN401 - arguments of Evaluator
    ) -> None:
        super().__init__(qrels, measure, **given)
        if len(self.measures) != 1:
            raise BadOption(
                f"{len(self.measures)} measures are asked for, and one is explained at a time",
                given=" ".join(map(str, self.measures)),
            )
        self._ours = ours or str(self.measures[0])
        self._curve = curve

    @property
    def measure(self) -> Measure:
        """The measure that is explained."""
        return self.measures[0]

    def explain(
        self, run: object, query: object, name: str = "run", *, changes: bool = True, others: bool = False
    ) -> Explanation:
        """Unfold the score of one query of a run.

        Parameters
        ----------
        run
            As for :func:`rankstone.evaluate`.
        query
            The query's id.
        name
            What to call the run.
        changes
            Whether to try documents at better ranks.
        others
            Whether to ask what other libraries would print.
        """
        table = self._read(run, name)
        options = options_for(table, self.options)
        table, (judgments, exclude) = self._matched(table)
        code = _judged(judgments, query, self._table.source)
        table, rows = _of_query(table, query)
        empty = table.unanswered is not None and str(query) in table.unanswered.cast(pl.String)
        rule = "no_results" if empty and options.no_results == "drop" else "missing"
        road = self._road(judgments, options, exclude)
        seen = self._seen(road, table, judgments.queries.names[code])
        list_of = Listed(seen, judgments, code, self._ids(rows))
        tried = self._changes(list_of, options, judgments) if changes else ()
        told = self._others(list_of, rows) if others else {}
        return self._explanation(list_of, name, options, tried, told, rule)

    def _road(self, judgments: Judgments, options: Alignment, exclude: Exclusion | None) -> Road:
        # a query that the mean leaves out, because nothing was retrieved for it, is explained all the same
        explained = {"missing": "zero", "no_results": "missing"}
        left_out = {name: value for name, value in explained.items() if getattr(options, name) == "drop"}
        if left_out:
            options = Alignment(**{**options.as_dict(), **left_out})
        return Road(judgments, options, self.measures, exclude, self._collapse, self._queries)

    def _seen(self, road: Road, table: Table, query: object) -> Seen:
        """Take one query along the road."""

        def each(chunk: Chunk, hits: Hits) -> Seen | None:
            place = chunk.names.eq(query).arg_true()
            if not len(place):
                return None
            return Seen.of(self.measure, chunk, hits, int(place[0]), road.options, self._curve)

        found, _ = road.aligned(table, each, frozenset({"rows", "holes"}))
        return next(one for one in found if one is not None)

    def _ids(self, rows: pl.DataFrame) -> pl.Series:
        """Return the document of each row of the run."""
        doc = pl.col("doc_id")
        return rows.select((self._collapse(doc) if self._collapse else doc).cast(pl.String))["doc_id"]

    # -- what would change it --------------------------------------------------------------------------
    def _changes(self, seen: Listed, options: Alignment, judgments: Judgments) -> tuple[Change, ...]:
        """Try the best documents at the ranks where they would belong, and tell what that brings."""
        value = seen.seen.value
        if value is None or options.score_above is not None or self._one_group:
            return ()
        plain = Alignment(**{**options.as_dict(), "order": "input", "ties": _settled(options.ties)})
        road = Road(judgments, plain, self.measures, None, None, self._queries)
        found = []
        for doc, grade, at, to in seen.promotions():
            listed = [one for one in seen.docs if one != doc]
            listed.insert(to - 1, doc)
            frame = {"query_id": [seen.query] * len(listed), "doc_id": listed}
            table, _ = self._matched(read_run(pl.DataFrame(frame), order="input", name="changed"))
            then = self._seen(road, table, seen.query).value
            if then is not None and then - value > _NOTHING:
                found.append(Change(doc, grade, at, to, then, then - value))
        return tuple(sorted(found, key=lambda change: -change.gain)[:_TOLD])

    def _others(self, seen: Listed, rows: pl.DataFrame) -> dict[str, float | str | None]:
        """Ask every library what it would print for this query alone."""
        from rankstone.by_convention import told_by
        from rankstone.conventions import conventions

        measure = self.measure.name if self.measure.k is None else f"{self.measure.name}@{self.measure.k}"
        qrels = {str(seen.query): {doc: grade for doc, grade, _ in seen.judged}}
        scores = rows["score"].to_list() if "score" in rows.columns else list(range(len(rows), 0, -1))
        run = ([str(seen.query)] * len(rows), self._ids(rows).to_list(), scores)
        return dict(told_by(conventions(), qrels, run, [measure])[measure])

    def _explanation(
        self,
        seen: Listed,
        name: str,
        options: Alignment,
        changes: tuple[Change, ...],
        others: dict[str, float | str | None],
        rule: str,
    ) -> Explanation:
        measure, parts = self.measure, seen.seen
        missed, unjudged = seen.pseudo(parts.parts.missed), seen.pseudo(parts.parts.unjudged)
        linked = parts.status in (Status.ok, Status.lower_bound) and parts.value != parts.ratio
        rows = seen.rows
        notes = footnotes(
            rows,
            parts.status,
            options,
            k=measure.k,
            n=seen.retrieved,
            negative=seen.negative,
            duplicates=0 if parts.chunk.tally is None else parts.chunk.tally.duplicates,
            linked=linked,
            absent="" if parts.chunk.tally is not None else f"{rule}={getattr(options, rule)}",
            pooled=(parts.numerator, parts.denominator) if measure.agg == "pooled" else None,
        )
        of = measure if self._curve is None else self._curve
        card = {part: getattr(of.card, part) for part in ("sentence", "formula", "symbols")}
        return Explanation(
            measure=str(of),
            ours=self._ours,
            run=name,
            query_id=str(seen.query),
            status=parts.status.name,
            value=parts.value,
            numerator=parts.numerator,
            denominator=parts.denominator,
            ratio=parts.ratio,
            rows=rows,
            missed=missed,
            unjudged=unjudged,
            not_retrieved=tuple(Missed(doc, grade) for doc, grade, at in seen.judged if at is None),
            ideal=tuple(seen.ideal_rows()),
            facts=seen.facts(measure),
            footnotes=tuple(notes),
            changes=changes,
            others=others,
            conventions=choices(options, self.measures, one_group=self._one_group),
            card=card,
            curve=parts.curve,
            intents=tuple(seen.intents()),
            k=measure.k,
            _told=tuple(parts.notes.of_hits),
        )


def _settled(ties: str) -> str:
    """Return a rule under which a list in the order of its input stays as it is."""
    return "input" if ties in ("docid_desc", "docid_asc", "reverse_input", "error") else ties


def _judged(judgments: Judgments, query: object, source: str) -> int:
    """Return the number of a judged query."""
    names = judgments.queries.names.cast(pl.String)
    found = names.eq(str(query)).arg_true()
    if len(found):
        return int(found[0])
    close = nearest(str(query), names.head(1000).to_list(), n=2)
    raise NotComparable(
        f"query {printable(query)} is not judged",
        where=source,
        expected=", ".join(map(printable, names[:5])) + (" …" if len(names) > 5 else ""),  # noqa: PLR2004
        fix=f"did you mean {' or '.join(map(printable, close))}?" if close else None,
    )


def _of_query(table: Table, query: object) -> tuple[Table, pl.DataFrame]:
    """Return the rows of one query, as a table and in memory; messages still say where they stand."""
    kept: list[pl.DataFrame] = []
    rows: list[np.ndarray[Any, np.dtype[np.int64]]] = []
    start, seen = pl.col("query_id").cast(pl.String) == str(query), 0
    for piece in table.tables([pl.col(name) for name in table.schema]):
        mine = piece.select(start).to_series().arg_true().to_numpy()
        if len(mine):
            kept.append(piece[mine])
            rows.append(mine.astype(np.int64) + seen)
        seen += piece.height
    if not seen and not (table.unanswered is not None and len(table.unanswered)):
        raise EmptyInput("the run is empty", where=table.source)
    frame = pl.concat(kept) if kept else pl.DataFrame(schema=dict(table.schema))
    numbers: Sequence[int] = np.concatenate(rows).tolist() if rows else []

    def again(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        if frame.height:
            yield frame.select(wanted)

    def where(row: int) -> str:
        return table.where(numbers[row])

    return replace(table, start=again, where=where), frame
