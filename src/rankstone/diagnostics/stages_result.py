"""The fates of relevant documents in a pipeline, as tables and in sentences."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, percentage, some
from rankstone.diagnostics.document_fates import LOST, RANK, SHOWN
from rankstone.errors import NotComparable, printable
from rankstone.tables.results import Findings
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone.hits.alignment_audit import Audit
    from rankstone.tables.sheet import Kind

#: a step whose lists have more new documents than this does not rerank those of the step before
_FEW_NEW: Final = 0.05
#: fewer queries say little about others
_FEW_QUERIES: Final = 10
#: examples of each fate that is a loss
_EXAMPLES: Final = 3
_NAME: Final = 40
#: phrases that are other ones where needs are counted
_OF_NEEDS: Final = (
    *("title", "documents", "steps", "misses", "recall"),
    *("shown_of", "near", "recall_now", "fates_method"),
)
#: shares and intervals as texts
_NUMBERS: Final = r"^[\d.]+ %$|^\[[\d.]+, [\d.]+\]$"


class Stages(Findings, Record):
    """What became of every relevant document between the steps of a pipeline.

    Attributes
    ----------
    documents
        A row for each relevant document: ``query_id``, ``doc_id``, ``relevance``, its rank in each step
        (``rank_bm25``; null where the step does not have it), and its ``fate``.  Where needs are counted, a row
        for each need, with the one of its documents that got furthest.
    fates
        ``fate``, ``documents``, ``share``, and both ends of its interval, ``low`` and ``high`` (null for a
        single query).  Shares sum to 1.
    steps
        ``step``; ``retrieved`` and ``shown``, the shares of relevant documents in its lists and in their
        first k; ``new``, the share of its lists that the lists of the step before do not have.
    misses
        How many documents that are not shown have which ``ranks`` in each step (``rank_bm25`` …); the last
        row, null, counts those outside its lists.
    recall
        Recall@k as a mean over queries: ``now``; of the best order of the ``last`` step's and the ``first``
        step's lists; the ``most`` that k documents of the corpus can have; and recall of the ``whole`` lists of
        the first step, which no larger k exceeds.  Of needs it is recall of subtopics, StRecall@k.
    segments
        The same shares by value of columns of the query table, all that is shown as one fate; ``None``
        without ``by``.
    evidence
        A row for each ``cell``, such as ``shown_wrong`` (a relevant document is shown, the answer is wrong):
        ``queries``, ``share``, ``low``, ``high``; ``None`` without answers.
    counted
        What has a fate: ``relevant documents``, or ``needs`` where judgments name alternatives or subtopics.
    room
        How many of them the first k documents of all lists have room for.
    k, rel, confidence, lang, digits
        How many documents are shown; the lowest relevant grade; of the intervals; of the sentences; decimals.
    audit, conventions, inputs
        As of an evaluation.
    """

    documents: pl.DataFrame
    fates: pl.DataFrame
    steps: pl.DataFrame
    misses: pl.DataFrame
    recall: Mapping[str, float]
    segments: pl.DataFrame | None = None
    evidence: pl.DataFrame | None = None
    counted: str = "relevant documents"
    room: int = 0
    k: int = 10
    rel: float | None = None
    confidence: float = 0.95
    lang: str = "en"
    audit: Audit | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    digits: int = 4

    section = "stages"

    @property
    def names(self) -> list[str]:
        """The steps, in their order, as they are shown."""
        return [printable(name, _NAME) for name in self.steps["step"]]

    @property
    def queries(self) -> int:
        """How many queries have a relevant document."""
        return self.documents["query_id"].n_unique()

    @property
    def shown(self) -> float:
        """The share of relevant documents that is shown."""
        is_shown = self.documents["fate"].is_in(SHOWN)
        return int(is_shown.sum()) / self.documents.height

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`fates`."""
        return self.fates

    def of_query(self, query: object) -> pl.DataFrame:
        """Return the relevant documents of a query, with ranks and fates.

        Raises
        ------
        NotComparable
            When the query has no relevant document.
        """
        ids = self.documents["query_id"]
        is_wanted = ids == str(query)
        rows = self.documents.filter(is_wanted)
        if not rows.height:
            raise NotComparable(
                f"query {printable(query, _NAME)} has no relevant document",
                expected=f"ids such as {some(ids)}",
            )
        return rows

    def examples(self, most: int = _EXAMPLES) -> pl.DataFrame:
        """Return lost documents of each fate: the best grades, and of these the best ranks before."""
        ranks = [RANK.format(name) for name in self.steps["step"]]
        best = -pl.col("relevance")
        ordered = self.documents.sort(best, *ranks, nulls_last=True)
        by_fate = [ordered.filter(fate=fate) for fate in LOST]
        return pl.concat([documents.head(most) for documents in by_fate])

    def bars(self) -> pl.DataFrame:
        """Return the fates in words, as bars of a chart."""
        measure = self.say("share")
        return self.fates.select(
            self._words("fate").alias("run"),
            pl.lit(measure).alias("measure"),
            pl.col("share").alias("value"),
            "low",
            "high",
        )

    def of_unit(self, name: str, **parts: object) -> str:
        """Return a phrase, of needs where these are counted and it differs for them."""
        if self.counted == "needs" and name in _OF_NEEDS:
            name = f"{name}_needs"
        return self.say(name, **parts)

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {"warnings": [*self.warnings()], **super().report()}

    def title(self) -> str:
        """Return which steps, and how many documents are shown."""
        limit = ""
        if self.rel is not None:
            rel = f"{self.rel:g}"
            limit = self.say("from_grade", rel=rel)
        steps = " → ".join(self.names)
        title = self.of_unit("title", steps=steps, k=self.k)
        return title + limit

    def sheet(
        self, digits: int | None = None, *, verbose: bool = False, query: object = None
    ) -> Sheet:
        """Return what is shown: what to know first, the fates, and what they say.

        Parameters
        ----------
        digits
            Decimals of recall.
        verbose
            With all tables, examples and the method.
        query
            Show the documents of this query instead.
        """
        notes = (self._notes(),)
        title = self.title()
        if query is not None:
            rows = self.of_query(query)
            table = self._documents(rows, printable(query, _NAME))
            return Sheet(title, parts=(table,), notes=notes)

        parts = super().sheet(digits, verbose=verbose).parts
        warnings = tuple(self.warnings())
        if warnings:
            first = self.say("first")
            parts = ((first, warnings), *parts)
        if verbose:
            return Sheet(title, parts=parts, notes=notes)

        whole = partial(self.sheet, digits, verbose=True)
        without_method = parts[:-1]
        return Sheet(title, parts=without_method, notes=notes, whole=whole)

    # -- tables ------------------------------------------------------------------------------
    def tables(self, digits: int, *, verbose: bool = False) -> Sequence[Table]:
        """Return fates, steps if they are more than two, segments and answers; ``verbose``: everything."""
        tables = [self._shares(self.fates, "fate", "documents")]
        if len(self.names) > 2 or verbose:  # noqa: PLR2004 - both have their fates
            shares = map(_percent, ("retrieved", "shown", "new"))
            rows = self.steps.select("step", *shares)
            table = self._table(rows, "steps")
            tables.append(table)
        if self.segments is not None:
            tables.append(self._segments(self.segments))
        if self.evidence is not None:
            table = self._shares(
                self.evidence, what="cell", count="queries", title="evidence"
            )
            tables.append(table)
        if verbose:
            outside = self.say("no_rank")
            misses = self.misses.with_columns(pl.col("ranks").fill_null(outside))
            tables.append(self._table(misses, "misses"))
            tables.append(self._recall(digits))
            examples = self.say("examples")
            tables.append(self._documents(self.examples(), examples))
        return tables

    def _segments(self, segments: pl.DataFrame) -> Table:
        """Return a row for each value, with a share in each column."""
        fates = self._words("fate")
        shares = segments.with_columns(fates, _percent("share"))
        shares = shares.drop("documents", "low", "high")
        wide = shares.pivot("fate", values="share")
        return self._table(wide, "segments")

    def _recall(self, digits: int) -> Table:
        """Return recall as it is, and what limits it."""
        lists = ("now", "last", "first_lists", "most", "whole")
        recall = pl.DataFrame(
            {"lists": map(self.say, lists), "recall": self.recall.values()}
        )
        return self._table(recall, "ceiling", digits)

    def _words(self, column: str) -> pl.Expr:
        """Return names of fates and the like in words."""
        return pl.col(column).map_elements(self.say, pl.String)

    def _table(self, frame: pl.DataFrame, title: str, digits: int = 4) -> Table:
        """Return a frame with headings in words; ranks are those of a step."""
        names: dict[str, str] = {}
        kinds: dict[str, Kind] = {}
        for column in frame:
            name = column.name
            names[name] = self.of_unit(name, k=self.k)
            if name.startswith("rank_"):
                names[name] = name.removeprefix("rank_")
            texts = column.cast(pl.String)
            if texts.str.contains(_NUMBERS).any():
                kinds[name] = "interval"
        heading = ""
        if title:
            heading = self.of_unit(title)
        return Table.of(frame, heading, digits=digits, names=names, kinds=kinds)

    def _shares(
        self, frame: pl.DataFrame, what: str, count: str, title: str = ""
    ) -> Table:
        """Return counts, shares and their intervals."""
        low = _percent("low", "")
        high = _percent("high", "")
        level = self.say("interval", level=f"{100 * self.confidence:g}")
        rows = frame.select(
            self._words(what),
            count,
            _percent("share"),
            pl.format("[{}, {}]", low, high).alias(level),
        )
        return self._table(rows, title)

    def _documents(self, rows: pl.DataFrame, title: str) -> Table:
        """Return documents with their ranks and fates."""
        fates = self._words("fate")
        table = self._table(rows.with_columns(fates), "", 1)
        return replace(table, title=title)

    # -- sentences ---------------------------------------------------------------------------
    def warnings(self) -> Iterator[str]:
        """Yield what to know before the fates: steps that do not rerank, few queries."""
        for place, new in enumerate(self.steps["new"]):
            if new is not None and new > _FEW_NEW:
                yield self.say(
                    "no_reranker",
                    share=percentage(new),
                    step=self.names[place],
                    before=self.names[place - 1],
                )
        if self.queries < _FEW_QUERIES:
            yield self.say("few_queries", n=self.queries)

    def findings(self, digits: int = 4) -> Iterator[str]:
        """Yield where most is lost, how near misses are, and what a better order could reach."""
        total = self.documents.height
        shown = round(self.shown * total)
        counts = self.fates.filter(pl.col("fate").is_in(LOST))
        largest = counts.sort("documents", descending=True)
        words: dict[str, Any] = {
            "k": f"{self.k:,}",
            "first": self.names[0],
            "last": self.names[-1],
            "shown": f"{shown:,}",
            "total": f"{total:,}",
            "missed": f"{total - shown:,}",
            "n": f"{self.queries:,}",
            "room": f"{self.room:,}",
            "near": f"{self.misses[1, -1]:,}",
            "ranks": self.misses["ranks"][1],
        }
        share = percentage(self.shown)
        yield self.of_unit("shown_of", share=share, **words)
        if shown < total:
            fate, count, *_ = largest.row(0)
            share = percentage(count / (total - shown))
            yield self.say(f"most_{fate}", share=share, **words)
            yield self.of_unit("near", **words)
        recall = {}
        for name, value in self.recall.items():
            recall[f"r_{name}"] = f"{value:.{digits}f}"
        yield self.of_unit("recall_now", **words, **recall)
        if self.evidence is not None:
            cells = self.evidence.select("cell", "queries")
            yield self.say(
                "wrong_answers",
                graded=self.evidence["queries"].sum(),
                **dict(cells.iter_rows()),
                **words,
            )

    def method_lines(self) -> Iterator[str]:
        """Yield what the fates mean."""
        first, *_, last = self.names
        yield self.of_unit("fates_method", first=first, last=last, k=self.k)


def _percent(column: str, unit: str = " %") -> pl.Expr:
    """Return shares in percent with one decimal."""
    percent = 100 * pl.col(column)
    rounded = percent.round(1).cast(pl.String)
    return (rounded + unit).alias(column)
