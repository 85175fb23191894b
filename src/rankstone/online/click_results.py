"""Results of estimating judgments from clicks: frames and an audit that counts whatever was left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import (
    InLines,
    Record,
    counted,
    left_out,
    line,
    noted,
    queries,
    read_as,
    some,
)
from rankstone.errors import EmptyInput, InputError, printable
from rankstone.io.atomic_files import atomic
from rankstone.online.click_log import REASONS
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone._basics import StrPath
    from rankstone.online.click_log import ClickLog, ClickSurvey
    from rankstone.online.click_options import ClickOptions
    from rankstone.online.examination import Weighing
    from rankstone.online.judged_pairs import JudgedPairs
    from rankstone.online.position_counts import Fit
    from rankstone.online.shown_lists import ShownLists, ShownListsAudit

#: default number of rows shown
_SHOWN: Final = 10
_NAMES: Final = {
    "query_id": "query",
    "doc_id": "document",
    "impressions": "shown",
    "standard_error": "error",
}
#: too few impressions to estimate a propensity, and the ratio of the ends of a wide interval
_FEW_MOVED: Final = 30
_WIDE_FACTOR: Final = 2


class Clicks(Result, Record):
    """Judgments estimated from a log of clicks.

    ``rankstone.evaluate`` accepts it, its :attr:`judgments`, and the files it writes as judgments.

    Attributes
    ----------
    judgments
        One row per pair: ``query_id``, ``doc_id``, ``relevance`` (the grade), ``impressions``, ``clicks``
        (above 0), ``estimate`` (the grade before thresholds), ``effective`` (the effective number of examined
        impressions), ``standard_error``, ``low`` and ``high`` (the ends of its interval); null if unknown.
        Sorted by query and document.
    positions
        One row per position: ``position``, ``impressions``, ``clicks``, ``ctr``, and ``propensity``, the
        examination probability if given or fitted; for ``pbm`` also ``low`` and ``high`` (the ends of its
        interval) and ``moved``, impressions there of documents that were also shown elsewhere.  It can be
        passed as ``propensities``.
    audit
        Counts of the log, and warnings.
    conventions
        All options the numbers depend on.
    inputs
        The sources of the tables.

    Examples
    --------
    >>> from rankstone.online import clicks
    >>> log = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "a"], "clicked": [1, 0, 0]}
    >>> clicks(log).judgments.select("doc_id", "relevance", "impressions", "clicks").rows()
    [('a', 0.5, 2, 1), ('b', 0.0, 1, 0)]
    """

    judgments: pl.DataFrame
    positions: pl.DataFrame
    audit: ClickAudit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, str]

    def table(self, top: int = _SHOWN) -> pl.DataFrame:
        """Return the pairs with the most impressions."""
        return self.judgments.sort(
            "impressions", descending=True, maintain_order=True
        ).head(top)

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`judgments`."""
        return self.judgments

    def sheet(self, digits: int = 4, top: int = _SHOWN) -> Sheet:
        """Return the pairs with the most impressions and the first positions as a sheet."""
        graded = self.conventions["grades"] is not None
        parts = [
            _as_table(self.table(top).drop(*([] if graded else ["estimate"])), digits)
        ]
        if self.positions.height:
            parts.append(_as_table(self.positions.head(top), digits))
        notes = [
            f"shown  {top:,} of {frame.height:,} {name}"
            for name, frame in (
                ("pairs, those with the most impressions", self.judgments),
                ("positions", self.positions),
            )
            if frame.height > top
        ]
        return Sheet("", parts=tuple(parts), notes=(*notes, self._notes()))

    def write_qrels(self, path: StrPath) -> None:
        """Write ``query 0 document grade`` lines as trec_eval reads them, whole or not at all.

        Raises
        ------
        InputError
            When an id is empty or contains whitespace, as such a line would be misread.
        """
        ids = self.judgments.select(pl.col("query_id", "doc_id").cast(pl.String))
        for name in ids.columns:
            odd = ids.filter(pl.col(name).str.contains(r"\s") | (pl.col(name) == ""))[
                name
            ]
            if odd.len():
                raise InputError(
                    f"{name} {printable(odd[0])!r} cannot be written: TREC text is separated by whitespace",
                    where=str(path),
                    fix="write .parquet, .csv or .jsonl instead",
                )
        lines = ids.select(
            "query_id", pl.lit("0"), "doc_id", self.judgments["relevance"]
        )
        with atomic(path) as unfinished:
            lines.write_csv(
                unfinished, separator=" ", include_header=False, quote_style="never"
            )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the judgments as an Arrow stream, for any library that reads such tables."""
        return self.judgments.__arrow_c_stream__(requested_schema)


def _as_table(frame: pl.DataFrame, digits: int) -> Table:
    if "effective" in frame.columns:
        effective = [
            None if size is None else f"{size:,.1f}" for size in frame["effective"]
        ]
        frame = frame.with_columns(pl.Series("effective", effective))
    return Table.of(frame, digits=digits, names=_NAMES, kinds={"effective": "number"})


@dataclass(frozen=True, repr=False)
class ClickAudit(InLines):
    """Audit of a click log.

    Attributes
    ----------
    source
        The name of the log.
    rows, impressions, clicks
        Rows read; rows used; rows used with a click.
    fractions
        Usable rows with a fraction of a click, including those of lists left out.
    queries, pairs
        Queries and pairs with a grade.
    unclicked
        Queries without any click.
    left_out
        {reason: rows left out}.
    outside
        Rows before the start or after the end.
    lists
        Counts of shown lists; ``None`` if the log has no sessions.
    rare, rare_impressions
        Pairs with fewer impressions than ``min_impressions``, and their impressions.
    unseen
        Pairs left out because their positions are never examined.
    unlinked
        {position: impressions left out} for positions that no document links with the first.
    weighing
        Totals of the weights, for ``ips``.
    fit
        How the fit went, for ``pbm``.
    warnings
        Possible problems.
    read_as
        File format details that were detected.
    """

    source: str
    rows: int
    impressions: int
    clicks: int
    fractions: int
    queries: int
    pairs: int
    unclicked: int
    left_out: Mapping[str, int]
    outside: int
    lists: ShownListsAudit | None = None
    rare: int = 0
    rare_impressions: int = 0
    unseen: int = 0
    unlinked: Mapping[int, int] = field(default_factory=dict)
    weighing: Weighing | None = None
    fit: Fit | None = None
    warnings: tuple[str, ...] = ()
    read_as: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the audit as lines of text."""
        wrong = {REASONS[name][0]: count for name, count in self.left_out.items()}
        shown = counted(self.impressions, "impression")
        log = line(
            f"{counted(self.rows, 'row')}, {shown}, {counted(self.clicks, 'click')}",
            noted(self.fractions, "click", "a fraction"),
            left_out(wrong | {"before the start or after the end": self.outside}),
            read_as(self.read_as),
        )
        lines = [
            f"log  {log}",
            f"lists  {self._lists()}",
            f"judgments  {self._judgments()}",
        ]
        if self.weighing is not None:
            lines.append(
                f"weights  {_weights_line(self.weighing, self.impressions, self.clicks)}"
            )
        if self.fit is not None:
            lines.append(f"model  {_fit_line(self.fit)}")
        return lines + [f"warning  {sentence}" for sentence in self.warnings]

    def _lists(self) -> str:
        if self.lists is None:
            return "not checked: that needs the columns session and position"
        action = "left out" if self.lists.policy == "drop" else "kept"
        return line(
            counted(self.lists.count, "list"),
            f"{self.lists.skipping:,} that skip a position"
            if self.lists.skipping
            else "",
            f"{self.lists.repeating:,} that repeat a position"
            if self.lists.repeating
            else "",
            noted(self.lists.rows, "impression", f"in these {action}"),
        )

    def _judgments(self) -> str:
        rare, unlinked = (
            counted(n, "impression")
            for n in (self.rare_impressions, sum(self.unlinked.values()))
        )
        return line(
            f"{counted(self.pairs, 'pair')} of {queries(self.queries)}",
            noted(self.unclicked, "query", "without a click"),
            noted(self.rare, "pair", f"shown too rarely left out ({rare})"),
            noted(
                self.unseen,
                "pair",
                "left out, shown only at positions that are never examined",
            ),
            noted(len(self.unlinked), "position", f"not linked left out ({unlinked})"),
        )


def _weights_line(weighing: Weighing, impressions: int, clicks: int) -> str:
    def effective(total: float, squares: float) -> float:
        if squares:
            return total**2 / squares
        return 0.0

    of_all = effective(weighing.weights, weighing.squares)
    of_clicks = effective(weighing.click_weights, weighing.click_squares)
    shares = (
        weighing.impressions / max(impressions, 1),
        weighing.clicks / max(clicks, 1),
    )
    return (
        f"effective sample size {of_all:,.1f} of {counted(impressions, 'impression')}, "
        f"{of_clicks:,.1f} of {counted(clicks, 'click')} · "
        f"clipped {shares[0]:.2%} of impressions, {shares[1]:.2%} of clicks"
    )


def _fit_line(fit: Fit) -> str:
    ended = "converged" if fit.converged else "not converged"
    return (
        f"{ended} after {counted(fit.iterations, 'iteration')} (last change {fit.change:.1e}) · "
        f"log-likelihood {fit.log_likelihood:,.4f} · fitted to {counted(fit.pairs, 'pair')}, "
        f"{counted(fit.impressions, 'impression')} · {'sessions' if fit.clustered else 'rows'} independent"
    )


def make_audit(
    log: ClickLog,
    survey: ClickSurvey,
    lists: ShownLists | None,
    options: ClickOptions,
    judged: JudgedPairs,
    by_position: pl.DataFrame,
) -> ClickAudit:
    """Return the audit of a click log.

    Parameters
    ----------
    log, survey
        The log and its counts.
    lists
        Its lists; ``None`` if it has no sessions.
    options, judged
        The options and the estimates.
    by_position
        Impressions and clicks by position; empty if the log has no positions.
    """
    all_pairs = judged.frame(options)
    kept = judged.kept(options)
    unexamined = all_pairs["estimate"].is_null()
    rare = all_pairs.filter(
        ~unexamined & (all_pairs["impressions"] < options.min_impressions)
    )
    if not kept.height:
        raise EmptyInput(
            "no pair has enough impressions",
            where=log.events.source,
            fix="use a smaller min_impressions",
        )
    by_query = kept.group_by("query_id").agg(pl.col("clicks").sum())
    impressions = survey.impressions
    clicks = survey.clicks
    if by_position.height:  # without the lists that were left out
        impressions, clicks = (
            int(by_position[name].sum()) for name in ("impressions", "clicks")
        )
    return ClickAudit(
        source=log.events.source,
        rows=survey.rows,
        impressions=impressions,
        clicks=clicks,
        fractions=survey.fractions,
        queries=by_query.height,
        pairs=kept.height,
        unclicked=by_query.filter(clicks=0).height,
        left_out=survey.left_out,
        outside=survey.outside,
        lists=None if lists is None else lists.audit,
        rare=rare.height,
        rare_impressions=int(rare["impressions"].sum()),
        unseen=int(unexamined.sum()),
        unlinked=judged.unlinked,
        weighing=judged.weighing,
        fit=judged.fit,
        warnings=tuple(_warnings(survey, options, judged, kept)),
        read_as=log.events.read_as,
    )


def _warnings(
    survey: ClickSurvey, options: ClickOptions, judged: JudgedPairs, kept: pl.DataFrame
) -> Iterator[str]:
    if judged.fit is not None and not judged.fit.converged:
        iterations = counted(judged.fit.iterations, "iteration")
        yield f"the fit did not converge in {iterations}: use a larger max_iterations"
    yield from _examination_warnings(judged)
    above_first = [
        position for position, chance in judged.propensities.items() if chance > 1
    ]
    if above_first:
        yield f"positions examined more often than the first: {some(above_first, 8)}"
    if survey.fractions and not options.fractional:
        yield f"method={options.method} counts fractions as clicks; method=satisfaction takes their mean"
    over = kept.filter(pl.col("estimate") > 1).height
    if over:
        exceed = "exceeds" if over == 1 else "exceed"
        yield f"{over:,} of {counted(kept.height, 'estimate')} {exceed} 1, as weighted means of few clicks may"
    if not survey.clicks:
        yield "the log has no click"


def _examination_warnings(judged: JudgedPairs) -> Iterator[str]:
    """Yield warnings on positions whose examination probability is poorly known."""
    if judged.fit is None:
        return
    first, *others = judged.propensities
    moved, low, high = (judged.known[name] for name in ("moved", "low", "high"))
    few = [
        f"{position} ({moved[position]:,.0f})"
        for position in others
        if moved[position] < _FEW_MOVED
    ]
    if few:
        yield (
            f"too few swaps at position {some(few, 8)}: fewer than {_FEW_MOVED} impressions (in brackets) of "
            "documents that were also shown elsewhere; show results in more orders"
        )
    wide = [
        position
        for position in others
        if not high[position] <= _WIDE_FACTOR * low[position]
    ]
    if wide:
        yield (
            f"the propensity of position {some(wide, 8)}, relative to position {first}, is not known within "
            f"a factor of {_WIDE_FACTOR}, and relevances depend on it"
        )
