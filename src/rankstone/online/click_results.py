"""Judgments made of clicks, as frames.

What was estimated, as frames and as an audit.

What was found in a log of clicks, in numbers: nothing is left out or changed in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._text import InLines, counted, left_out, line, noted, plain, queries, read_as, some
from rankstone.errors import EmptyInput, InputError, printable
from rankstone.io.atomic_files import atomic
from rankstone.online.click_log import REASONS
from rankstone.tables.results import Result, given
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from rankstone.online.click_judgments import Asked
    from rankstone.online.click_log import Log, Survey
    from rankstone.online.examination import Estimates, Weighing
    from rankstone.online.position_based_model import Fit
    from rankstone.online.shown_lists import Lists

#: rows that are shown unless somebody asks for more
_SHOWN: Final = 10
_NAMES: Final = {
    "query_id": "query",
    "doc_id": "document",
    "impressions": "shown",
    "standard_error": "error",
}


@dataclass(frozen=True, eq=False, repr=False)
class Clicks(Result):
    """Judgments made of a log of clicks.

    ``rankstone.evaluate`` takes it, its :attr:`judgments` and the files it writes for judgments.

    Attributes
    ----------
    judgments
        A row a pair: ``query_id``, ``doc_id``, ``relevance`` (the grade), ``impressions``, ``clicks`` (with
        more than 0), ``estimate`` (the grade before thresholds), ``effective`` (how many impressions that
        were looked at it is worth), ``standard_error``, ``low`` and ``high``, the ends of its interval; null
        where nobody can know.  In the order of queries and documents.
    positions
        A row a position: ``position``, ``impressions``, ``clicks``, ``ctr``, and ``propensity``, the chance
        that somebody looks there, where it is known or was fitted; of ``pbm`` ``low`` and ``high``, the ends
        of its interval, and ``moved``, impressions there of documents that were seen elsewhere as often.
        As a table of ``propensities`` it may be handed back.
    audit
        What was found in the log.
    conventions
        Every option the numbers depend on.
    inputs
        Where the log came from.

    Examples
    --------
    >>> from rankstone.online import clicks
    >>> log = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "a"], "clicked": [1, 0, 0]}
    >>> clicks(log).judgments.select("doc_id", "relevance", "impressions", "clicks").rows()
    [('a', 0.5, 2, 1), ('b', 0.0, 1, 0)]
    """

    judgments: pl.DataFrame
    positions: pl.DataFrame
    audit: Audit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, str]

    def table(self, top: int = _SHOWN) -> pl.DataFrame:
        """Return what is shown: the pairs with the most impressions."""
        return self.judgments.sort("impressions", descending=True, maintain_order=True).head(top)

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`judgments`."""
        return self.judgments

    def sheet(self, digits: int = 4, top: int = _SHOWN) -> Sheet:
        """Return the pairs with the most impressions, and the first positions, as a sheet."""
        graded = self.conventions["grades"] is not None
        parts = [_shown(self.table(top).drop(*([] if graded else ["estimate"])), digits)]
        if self.positions.height:
            parts.append(_shown(self.positions.head(top), digits))
        more = [
            f"shown  {top:,} of {frame.height:,} {name}"
            for name, frame in (
                ("pairs, those with the most impressions", self.judgments),
                ("positions", self.positions),
            )
            if frame.height > top
        ]
        return Sheet("", parts=tuple(parts), notes=(*more, *self._notes()))

    def write_qrels(self, path: str | os.PathLike[str]) -> None:
        """Write ``query 0 document grade`` lines as trec_eval reads them, whole or not at all.

        Raises
        ------
        InputError
            When an id holds a blank, or is empty: such a line would be read as another one.
        """
        ids = self.judgments.select(pl.col("query_id", "doc_id").cast(pl.String))
        for name in ids.columns:
            odd = ids.filter(pl.col(name).str.contains(r"\s") | (pl.col(name) == ""))[name]
            if odd.len():
                raise InputError(
                    f"{name} {printable(odd[0])!r} cannot stand in TREC text, which is divided by blanks",
                    where=str(path),
                    fix="write .parquet, .csv or .jsonl instead",
                )
        lines = ids.select("query_id", pl.lit("0"), "doc_id", self.judgments["relevance"])
        with atomic(path) as unfinished:
            lines.write_csv(unfinished, separator=" ", include_header=False, quote_style="never")

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        return given(
            judgments=self.judgments,
            positions=self.positions,
            audit=self.audit,
            conventions=self.conventions,
            inputs=self.inputs,
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the judgments as an Arrow stream, as which anything that takes a table reads them."""
        return self.judgments.__arrow_c_stream__(requested_schema)


def _shown(frame: pl.DataFrame, digits: int) -> Table:
    if "effective" in frame.columns:
        effective = [None if one is None else f"{one:,.1f}" for one in frame["effective"]]
        frame = frame.with_columns(pl.Series("effective", effective))
    return Table.of(frame, digits=digits, names=_NAMES, kinds={"effective": "number"})


@dataclass(frozen=True)
class FoundLists:
    """What was found in lists.

    Attributes
    ----------
    count
        How many there are.
    count_skipping, repeating
        How many skip a position, or have one twice.
    rows
        Impressions in these.
    policy
        Whether they were kept or left out.
    """

    count: int
    count_skipping: int
    repeating: int
    rows: int
    policy: str


@dataclass(frozen=True, repr=False)
class Audit(InLines):
    """What was found in a log.

    Attributes
    ----------
    source
        Where it came from.
    rows, impressions, clicks
        Rows read; those that count; those of them with a click.
    fractions
        Rows that say something and have a fraction of a click, those of lists left out among them.
    queries, pairs
        Queries and pairs with a grade.
    unclicked
        Queries none of whose documents was ever clicked.
    left_out
        {what is wrong: rows left out}.
    outside
        Rows before the start or after the end.
    lists
        What was found in lists; ``None`` where no session tells which rows were shown together.
    rare, rare_impressions
        Pairs that were shown less often than ``min_impressions``, and how often these were.
    unseen
        Pairs left out because nobody looks where they were shown.
    unlinked
        {position: impressions left out}, which nothing links with the first.
    weighing
        What weights did, of ``ips``.
    fit
        How the model was fitted, of ``pbm``.
    warnings
        What deserves a second look.
    read_as
        What was guessed of how its files are written.
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
    lists: FoundLists | None = None
    rare: int = 0
    rare_impressions: int = 0
    unseen: int = 0
    unlinked: Mapping[int, int] = field(default_factory=dict)
    weighing: Weighing | None = None
    fit: Fit | None = None
    warnings: tuple[str, ...] = ()
    read_as: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        found: dict[str, Any] = plain(self)
        return found

    def lines(self) -> list[str]:
        """Return it as a sentence for each part."""
        wrong = {REASONS[name][0]: count for name, count in self.left_out.items()}
        shown = counted(self.impressions, "impression")
        log = line(
            f"{counted(self.rows, 'row')}, {shown}, {counted(self.clicks, 'click')}",
            noted(self.fractions, "click", "a fraction"),
            left_out(wrong | {"before the start or after the end": self.outside}),
            read_as(self.read_as),
        )
        lines = [f"log  {log}", f"lists  {self._lists()}", f"judgments  {self._judgments()}"]
        if self.weighing is not None:
            lines.append(f"weights  {_weights(self.weighing, self.impressions, self.clicks)}")
        if self.fit is not None:
            lines.append(f"model  {_model(self.fit)}")
        return lines + [f"warning  {sentence}" for sentence in self.warnings]

    def _lists(self) -> str:
        if self.lists is None:
            return "not looked at: session and position tell which rows were shown together"
        what = "left out" if self.lists.policy == "drop" else "kept"
        return line(
            counted(self.lists.count, "list"),
            f"{self.lists.skipping:,} that skip a position" if self.lists.skipping else "",
            f"{self.lists.repeating:,} that repeat a position" if self.lists.repeating else "",
            noted(self.lists.rows, "impression", f"in these {what}"),
        )

    def _judgments(self) -> str:
        rare, unlinked = (
            counted(n, "impression") for n in (self.rare_impressions, sum(self.unlinked.values()))
        )
        return line(
            f"{counted(self.pairs, 'pair')} of {queries(self.queries)}",
            noted(self.unclicked, "query", "without a click"),
            noted(self.rare, "pair", f"shown too rarely left out ({rare})"),
            noted(self.unseen, "pair", "left out, shown only where nobody looks"),
            noted(len(self.unlinked), "position", f"not linked left out ({unlinked})"),
        )


def _weights(weighing: Weighing, impressions: int, clicks: int) -> str:
    def effective(total: float, squares: float) -> float:
        return total**2 / squares if squares else 0.0

    of_all = effective(weighing.weights, weighing.squares)
    of_clicks = effective(weighing.click_weights, weighing.click_squares)
    shares = weighing.impressions / max(impressions, 1), weighing.clicks / max(clicks, 1)
    return (
        f"worth {of_all:,.1f} of {counted(impressions, 'impression')}, "
        f"{of_clicks:,.1f} of {counted(clicks, 'click')} · "
        f"clipped {shares[0]:.2%} of impressions, {shares[1]:.2%} of clicks"
    )


def _model(fit: Fit) -> str:
    ended = "converged" if fit.converged else "not converged"
    return (
        f"{ended} after {counted(fit.iterations, 'round')} (last change {fit.change:.1e}) · "
        f"log-likelihood {fit.log_likelihood:,.4f} · positions told apart by {counted(fit.pairs, 'pair')}, "
        f"{counted(fit.impressions, 'impression')} · {'sessions' if fit.clustered else 'rows'} independent"
    )


#: impressions of moved documents that hardly tell a position from others, and the factor of a wide interval
_FEW: Final = 30
_WIDE: Final = 2


@dataclass(frozen=True, eq=False)
class Judged:
    """Pairs, what is known of them, and how it was found.

    Attributes
    ----------
    pairs, estimates
        Pairs, in any order, and what is known of them.
    propensities
        Position → the chance that somebody looks there, where it is known.
    known
        Name → position → how well that chance is known; of ``pbm``: ``low``, ``high``, ``moved``.
    weighing, fit
        What weights did; how the model was fitted.
    unlinked
        {position: impressions left out}.
    """

    pairs: pl.DataFrame
    estimates: Estimates
    propensities: Mapping[int, float] = field(default_factory=dict)
    known: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    weighing: Weighing | None = None
    fit: Fit | None = None
    unlinked: Mapping[int, int] = field(default_factory=dict)

    def frame(self, asked: Asked) -> pl.DataFrame:
        """Return a row a pair, in the order of queries and documents."""
        told = self.estimates
        estimate = pl.Series("estimate", told.value).fill_nan(None)
        relevance = estimate
        if asked.grades is not None:
            grade = np.searchsorted(np.array(asked.grades), told.value, "right")
            relevance = pl.Series(grade, dtype=pl.Int64)
        further = {
            "effective": told.effective,
            "standard_error": told.error,
            "low": told.low,
            "high": told.high,
        }
        return self.pairs.with_columns(
            relevance.alias("relevance"),
            pl.Series("impressions", told.impressions).cast(pl.Int64),
            pl.Series("clicks", told.clicks).cast(pl.Int64),
            estimate,
            *(pl.Series(name, values).fill_nan(None) for name, values in further.items()),
        ).sort("query_id", "doc_id")

    def kept(self, asked: Asked) -> pl.DataFrame:
        """Return the pairs that have a grade."""
        enough = pl.col("impressions") >= asked.min_impressions
        return self.frame(asked).filter(pl.col("estimate").is_not_null() & enough)

    def positions(self, by_position: pl.DataFrame) -> pl.DataFrame:
        """Add to counts by position what is known of it."""
        of = {"propensity": self.propensities, **self.known}
        told = {
            name: pl.Series([values.get(at) for at in by_position["position"]], dtype=pl.Float64)
            for name, values in of.items()
        }
        found = by_position.with_columns(ctr=pl.col("clicks") / pl.col("impressions"), **told)
        whole = pl.selectors.by_name("moved", require_all=False).cast(pl.Int64)
        return found.with_columns(pl.selectors.float().fill_nan(None)).with_columns(whole)


def audited(
    log: Log,
    found: Survey,
    seen: Lists | None,
    policy: str,
    asked: Asked,
    judged: Judged,
    by_position: pl.DataFrame,
) -> Audit:
    """Return what was found, and what was done about it.

    Parameters
    ----------
    log, found
        The log and the first look at it.
    seen, policy
        Its lists, and what became of odd ones.
    asked, judged
        The question and the answer.
    by_position
        Impressions and clicks by position; empty where the log tells none.
    """
    every, kept = judged.frame(asked), judged.kept(asked)
    unseen = every["estimate"].is_null()
    rare = every.filter(~unseen & (every["impressions"] < asked.min_impressions))
    if not kept.height:
        raise EmptyInput(
            "no pair was shown often enough", where=log.events.source, fix="a smaller min_impressions"
        )
    by_query = kept.group_by("query_id").agg(pl.col("clicks").sum())
    impressions, clicks = found.impressions, found.clicks
    if by_position.height:  # without the lists that were left out
        impressions, clicks = (int(by_position[name].sum()) for name in ("impressions", "clicks"))
    return Audit(
        source=log.events.source,
        rows=found.rows,
        impressions=impressions,
        clicks=clicks,
        fractions=found.fractions,
        queries=by_query.height,
        pairs=kept.height,
        unclicked=by_query.filter(clicks=0).height,
        left_out=found.left_out,
        outside=found.outside,
        lists=None
        if seen is None
        else FoundLists(seen.count, seen.skipping, seen.repeating, seen.rows, policy),
        rare=rare.height,
        rare_impressions=int(rare["impressions"].sum()),
        unseen=int(unseen.sum()),
        unlinked=judged.unlinked,
        weighing=judged.weighing,
        fit=judged.fit,
        warnings=tuple(_warnings(found, asked, judged, kept)),
        read_as=log.events.read_as,
    )


def _warnings(found: Survey, asked: Asked, judged: Judged, kept: pl.DataFrame) -> Iterator[str]:
    if judged.fit is not None and not judged.fit.converged:
        rounds = counted(judged.fit.iterations, "round")
        yield f"the fit did not converge in {rounds}: a larger max_iterations, or documents at more positions"
    yield from _doubtful(judged)
    more = [position for position, chance in judged.propensities.items() if chance > 1]
    if more:
        yield f"positions that are looked at more often than the first: {some(more, 8)}"
    if found.fractions and not asked.fractional:
        yield f"method={asked.method} counts fractions as clicks; method=satisfaction takes their mean"
    over = kept.filter(pl.col("estimate") > 1).height
    if over:
        yield f"{over:,} of {kept.height:,} estimates exceed 1, as weighted means of few clicks may"
    if not found.clicks:
        yield "nobody ever clicked"


def _doubtful(judged: Judged) -> Iterator[str]:
    """Warn of positions that hardly anything tells from the first."""
    if judged.fit is None:
        return
    first, *others = judged.propensities
    moved, low, high = (judged.known[name] for name in ("moved", "low", "high"))
    few = [f"{at} ({moved[at]:,.0f})" for at in others if moved[at] < _FEW]
    if few:
        yield (
            f"too few swaps at position {some(few, 8)}: in brackets the impressions of documents that also "
            f"stood elsewhere, where {_FEW} or more are wanted; show results in more orders"
        )
    wide = [at for at in others if not high[at] <= _WIDE * low[at]]
    if wide:
        yield (
            f"how often position {some(wide, 8)} is looked at, relative to position {first}, is not known to "
            f"within a factor of {_WIDE}: relevances hang on it"
        )
