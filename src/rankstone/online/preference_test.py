"""Which of two interleaved rankings users prefer: credits of clicks, tests and a verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, noted, some
from rankstone.errors import (
    BadValue,
    DuplicateRows,
    InputError,
    MissingColumn,
    above_0,
    between_0_and_1,
    one_of,
    printable,
)
from rankstone.io.columns import with_csv
from rankstone.online.interleaved_lists import Interleaved
from rankstone.online.log_tables import (
    Log,
    LogAudit,
    OnlineResult,
    check_clicks,
    cluster_of_impressions,
    dense_numbers,
    read_log,
    rows_to_frame,
    with_error_bound,
)
from rankstone.stats.inverted_tests import FlipKeywords, agreeing, inverted
from rankstone.stats.mean_intervals import estimates
from rankstone.stats.paired_tests import sign_test
from rankstone.stats.proportions import clopper_pearson
from rankstone.stats.randomisation_test import sign_flips
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Columns, Floats, Ints, Progress


_LISTS: Final = (
    "query_id",
    "draw",
    "position",
    "doc_id",
    "method",
    "credit",
    "rank_a",
    "rank_b",
)
#: the methods of optimised lists; team draft is the fallback, and both have credits by document
_OPTIMISED_AND_FALLBACK: Final = ["optimised", "team_draft"]
#: differences of credits below this are rounding
_EQUAL: Final = 1e-12
#: what names an impression, where a log has it
_IMPRESSION: Final[tuple[str, ...]] = ("impression_id", "query_id", "draw")
#: the most random signs drawn (units × flips); more units get fewer flips, but never below the minimum
_MAX_SIGNS: Final = 2_000_000_000
_FLIPS, _MIN_FLIPS = 100_000, 1_000
_REMARKS: Final = {
    "looks": "intervals, p-values and the verdict are valid for one look, at a number of impressions fixed "
    "in advance; repeated looks until one is significant find preferences that do not exist too often"
}
_SCHEMA: Final = (
    dict.fromkeys(("impressions", "wins", "ties", "losses"), pl.Int64)
    | dict.fromkeys(
        (
            "win_rate",
            "win_low",
            "win_high",
            "preference",
            "low",
            "high",
            "low_guarded",
            "high_guarded",
            "credit",
            "p_sign",
            "p_randomisation",
        ),
        pl.Float64,
    )
    | {"verdict": pl.String}
)


class ImpressionCredits(Record):
    """The credit of each impression.

    Attributes
    ----------
    difference
        float64 ``[impressions]``: credit of a less that of b.
    cluster
        int64 ``[impressions]``, from 0, or ``None``.
    method
        How the lists were made.
    log
        The clicks.
    clicks, repeated, elsewhere
        Clicked documents, further clicks on the same documents, and clicks on documents not in the list.
    clicked
        Impressions with a click.
    sources
        The names of the clicks and of the lists.
    """

    difference: Floats
    cluster: Ints | None
    method: str
    log: Log
    clicks: int
    repeated: int
    elsewhere: int
    clicked: int
    sources: tuple[str, str]


def impression_credits(
    clicks: object,
    lists: object,
    *,
    cluster: str | None,
    invalid: str,
    unknown: str,
    columns: Columns | None,
    format_in: str | None,
    progress: Progress | None,
) -> ImpressionCredits:
    """Read lists and clicks, and return the credit of each impression."""
    one_of("unknown", unknown, ("error", "drop"))
    lists_frame, source, method = _read_lists(lists)
    log = read_log(
        clicks,
        ["query_id", *([] if cluster is None else [cluster])],
        ("doc_id", "position", "draw", "impression_id", "clicked"),
        columns=columns,
        format_in=format_in,
        invalid=invalid,
        progress=progress,
        name="clicks",
    )
    place = _column_of_clicks(log)
    if log.has("clicked"):
        check_clicks(log)
    if not log.has("draw") and lists_frame["draw"].n_unique() > 1:
        raise MissingColumn(
            "queries have several lists, and no column says which one was shown",
            where=log.source,
            given=log.events.given(),
            expected="a column draw, as in the lists",
        )
    rows = _as_lists(log.frame, log.has("draw"))
    _refuse_without_list(rows, lists_frame, log.source, source)

    key = [name for name in _IMPRESSION if name in rows.columns]
    if cluster is not None and not log.has("impression_id"):
        key.append(cluster)
    impression = dense_numbers(rows, *key)
    rows = rows.with_columns(impression=impression)
    grouping = None
    if cluster is not None:
        grouping = cluster_of_impressions(log, cluster, impression.to_numpy())

    clicked = rows.filter(pl.col("clicked") != 0) if log.has("clicked") else rows
    on = ["query_id", "draw", place]
    matched = clicked.select("impression", *on).join(lists_frame, on=on, how="inner")
    elsewhere = clicked.height - matched.height
    if elsewhere and unknown == "error":
        stray = clicked.join(lists_frame, on=on, how="anti")
        raise _not_in_list(
            stray, place, log.source
        )  # a document that was clicked twice in an impression counts once
    distinct = matched.unique(["impression", "query_id", "draw", "doc_id"])
    distinct = distinct.sort("impression", "position")
    if method == "balanced":
        credit = _balanced_credit(distinct)
    else:
        credit = distinct["credit"].to_numpy()
    return ImpressionCredits(
        _differences(distinct, credit, int(impression.to_numpy().max()) + 1),
        grouping,
        method,
        log,
        distinct.height,
        matched.height - distinct.height,
        elsewhere,
        distinct["impression"].n_unique(),
        (log.source, source),
    )


def _not_in_list(clicked: pl.DataFrame, place: str, source: str) -> BadValue:
    """Return the error for clicks on documents that their list does not hold."""
    query = printable(clicked["query_id"][0], 40)
    document = printable(clicked[place][0], 40)
    return BadValue(
        f"{counted(clicked.height, 'click')} on documents that are not in the list",
        where=source,
        given=f"query_id {query}, {place} {document}",
        fix="unknown=drop leaves them out and counts them",
    )


def _differences(distinct: pl.DataFrame, credit: Floats, impressions: int) -> Floats:
    """Return the credit of each impression, float64 ``[impressions]``; rounding is no preference."""
    numbers = distinct["impression"].to_numpy()
    difference = np.bincount(numbers, credit, impressions).astype(np.float64)
    difference[np.abs(difference) < _EQUAL] = 0.0
    return difference


def _column_of_clicks(log: Log) -> str:
    """Return the column that says what was clicked."""
    for name in ("doc_id", "position"):
        if log.has(name):
            return name
    raise MissingColumn(
        "no column says what was clicked",
        where=log.source,
        given=log.events.given(),
        expected="doc_id, or the position in the list",
    )


def _refuse_without_list(
    rows: pl.DataFrame, lists: pl.DataFrame, log_source: str, lists_source: str
) -> None:
    """Refuse rows of a log whose query, or draw, has no list."""
    shown = lists.select("query_id", "draw").unique()
    unmatched = rows.join(shown, on=["query_id", "draw"], how="anti")
    if not unmatched.height:
        return
    has_unknown_query = unmatched.join(shown, on="query_id", how="anti").height > 0
    name = "query_id" if has_unknown_query else "draw"
    raise InputError(
        f"{counted(unmatched.height, 'row')} of queries, or draws, without a list",
        where=log_source,
        given=f"{name} {some(unmatched[name].unique(maintain_order=True))}",
        expected=f"those of {lists_source}: {some(lists[name].unique(maintain_order=True))}",
    )


def _read_lists(lists: object) -> tuple[pl.DataFrame, str, str]:
    """Return interleaved lists, their source, and their method."""
    read = read_log(
        lists.lists if isinstance(lists, Interleaved) else lists,
        _LISTS,
        blank=("rank_a", "rank_b"),
        name="lists",
    )
    methods = read.frame["method"].unique().sort().to_list()
    if len(methods) > 1 and methods != _OPTIMISED_AND_FALLBACK:
        raise InputError(
            "the lists were made by several methods",
            where=read.source,
            given=some(methods),
        )
    one_of("method", methods[0], ("balanced", "optimised", "team_draft"))
    lists_frame = _as_lists(read.frame, drawn=True)
    for name in ("doc_id", "position"):
        twice = lists_frame.filter(pl.struct("query_id", "draw", name).is_duplicated())
        if twice.height:
            raise DuplicateRows(
                f"a list has a {name} twice",
                where=read.source,
                given=f"query_id {printable(twice['query_id'][0], 40)}, "
                f"{name} {printable(twice[name][0], 40)}",
            )
    return lists_frame, read.source, methods[0]


def _as_lists(frame: pl.DataFrame, drawn: bool) -> pl.DataFrame:  # noqa: FBT001 - of a table
    """Return a frame with ids as strings and a column ``draw``."""
    texts = [
        pl.col(name).cast(pl.String)
        for name in ("query_id", "doc_id")
        if name in frame.columns
    ]
    draw = pl.lit(0, pl.Int64)
    if drawn:
        whole = pl.col("draw").cast(pl.Int64, strict=False)
        # no list has the number 0.5 or 1e30
        draw = pl.when(whole == pl.col("draw")).then(whole)
    return frame.with_columns(*texts, draw=draw)


def _balanced_credit(distinct: pl.DataFrame) -> Floats:
    """Return the credit of each click: to each ranking with the document in its top.

    The top is the least depth at which either ranking contains the lowest clicked document (Joachims 2002, in
    the form of Chapelle, Joachims, Radlinski and Yue, TOIS 2012).
    """
    nearer = pl.min_horizontal("rank_a", "rank_b").fill_null(np.inf)
    top = nearer.sort_by("position").last().over("impression")
    inside = [
        (pl.col(name) <= top).fill_null(value=False).cast(pl.Float64)
        for name in ("rank_a", "rank_b")
    ]
    return distinct.select(inside[0] - inside[1]).to_series().to_numpy()


class Preference(OnlineResult):
    """Result of an interleaving experiment: wins, ties and losses of ranking a, tests, and a verdict."""

    @property
    def preference(self) -> pl.DataFrame:
        """One row.

        ``wins``, ``ties``, ``losses`` of a over ``impressions``; ``win_rate`` of those that are decided, with
        ``win_low`` and ``win_high``; ``preference``, ``(wins + ties / 2) / impressions - 1/2``, with ``low``
        and ``high``; with a margin ``low_guarded`` and ``high_guarded``, which decide whether it is equivalent;
        ``credit``, the mean difference of credits; ``p_sign`` that wins and losses are equally likely, which
        the ``verdict`` on a and the intervals follow; ``p_randomisation`` that credits do not differ.
        """
        return self.tables["preference"]


def interleaving_preference(
    clicks: object,
    lists: object,
    *,
    cluster: str | None = None,
    unknown: str = "error",
    invalid: str = "error",
    margin: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    columns: Columns | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Preference:
    """Test which of two interleaved rankings users prefer.

    Parameters
    ----------
    clicks
        A table with ``query_id`` and ``doc_id`` (or ``position``), one row per click; with a column
        ``clicked``, 0 or 1, one row per document shown, so that impressions without a click count too.
        ``impression_id`` groups the rows of an impression (by default query, draw and cluster do), and
        ``draw`` says which list was shown.
    lists
        The result of :func:`interleave`, or the file it was written to.
    cluster
        A column such as ``user_id``, if impressions of the same value are not independent.
    unknown
        Whether clicks on documents that are not in the list are an ``error``, or left out (``drop``).
    invalid
        The same for rows with a missing or unreadable value.
    margin
        Preferences up to this size do not matter; with it the verdict can be ``equivalent``.
    confidence
        The confidence level of intervals, which are what the test of wins and losses does not reject: Clopper
        and Pearson's of the win rate; with clusters those of the randomisation test.
    seed
        The random seed of randomisation tests.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`; names of columns are those of the clicks.

    Returns
    -------
    Preference
        Wins, ties, losses, preference, tests, verdict.

    Raises
    ------
    InputError
        When clicks and lists do not match, or a table cannot be read.

    Examples
    --------
    >>> from rankstone.online import interleave
    >>> lists = interleave({"q": ["x", "y"]}, {"q": ["y", "x"]}, k=2, draws=2)
    >>> log = {"query_id": ["q", "q"], "draw": [0, 1], "doc_id": ["x", "x"], "impression_id": [1, 2]}
    >>> interleaving_preference(log, lists).preference.select("impressions", "wins", "ties").row(0)
    (2, 2, 0)
    """
    columns = with_csv(columns, csv_separator, decimal)
    between_0_and_1("confidence", confidence)
    above_0("margin", margin)
    credited = impression_credits(
        clicks,
        lists,
        cluster=cluster,
        invalid=invalid,
        unknown=unknown,
        columns=columns,
        format_in=format_in,
        progress=progress,
    )
    row, flips = preference_row(
        credited.difference, credited.cluster, confidence, margin, seed
    )
    return Preference(
        tables={"preference": rows_to_frame([row], _SCHEMA)},
        audit=_make_audit(credited, cluster),
        conventions={
            "method": credited.method,
            "cluster": cluster,
            "unknown": unknown,
            "invalid": invalid,
            "margin": margin,
            "confidence": confidence,
            "flips": flips,
            "seed": seed,
        },
        inputs=dict(zip(("clicks", "lists"), credited.sources, strict=True)),
    )


def preference_row(
    difference: Floats,
    cluster: Ints | None,
    confidence: float,
    margin: float | None,
    seed: int,
    flips: int = _FLIPS,
) -> tuple[dict[str, Any], int]:
    """Return the row of the result, and the number of sign flips in the randomisation test."""
    sign = np.sign(difference)
    wins = int((sign > 0).sum())
    losses = int((sign < 0).sum())
    n = len(sign)
    units = Units.from_scores(sign[:, None], cluster=cluster)
    drawing: FlipKeywords = {"flips": _affordable(flips, units.total), "seed": seed}
    p = sign_test(units)
    if cluster is not None:
        p = sign_flips(units.total, **drawing)[0].p
    rejected = p <= 1 - confidence
    value = math.fsum(sign) / n / 2
    guarded = _guarded(sign, cluster, confidence)
    low, high = _limits(sign, cluster, confidence, drawing)
    low, high = agreeing((low, high), value, rejected=rejected)
    win_low, win_high = _win_rate(sign, cluster, confidence, drawing)
    ends = agreeing((win_low - 0.5, win_high - 0.5), value, rejected=rejected)
    total = Units.from_scores(difference[:, None], cluster=cluster).total
    nonzero = total[total[:, 0] != 0]
    test = sign_flips(nonzero, flips=_affordable(flips, nonzero), seed=seed)[0]
    word = "inconclusive"
    if margin is not None and -margin < guarded[0] and guarded[1] < margin:
        word = "equivalent"
    elif rejected:
        word = "better" if value > 0 else "worse"
    row = {
        "impressions": n,
        "wins": wins,
        "ties": n - wins - losses,
        "losses": losses,
        "win_rate": wins / (wins + losses) if wins + losses else None,
        "win_low": ends[0] + 0.5,
        "win_high": ends[1] + 0.5,
        "preference": value,
        "low": low,
        "high": high,
        "low_guarded": None if margin is None else guarded[0],
        "high_guarded": None if margin is None else guarded[1],
        "credit": math.fsum(difference) / n,
        "p_sign": p,
        "p_randomisation": test.p,
        "verdict": word,
    }
    return row, test.flips


def _affordable(flips: int, units: Floats) -> int:
    return min(flips, max(_MIN_FLIPS, _MAX_SIGNS // max(len(units), 1)))


def _limits(
    sign: Floats, cluster: Ints | None, confidence: float, drawing: FlipKeywords
) -> tuple[float, float]:
    """Return the preferences that flips of signs do not reject."""
    units = Units.from_scores(sign[:, None] / 2, cluster=cluster)
    [ends] = inverted("randomisation", units, 1 - confidence, **drawing)
    low, high = max(ends[0], -0.5), min(ends[1], 0.5)
    # where all are of one mind, or undecided, flips show no spread
    if low < high:
        return (low, high)
    return _guarded(sign, cluster, confidence)


def _win_rate(
    sign: Floats, cluster: Ints | None, confidence: float, drawing: FlipKeywords
) -> tuple[float, float]:
    """Return the interval of the win rate: wins over wins and losses."""
    decided = sign != 0
    if not decided.any():
        return math.nan, math.nan
    if cluster is None:
        low, high = clopper_pearson((sign > 0).sum(), decided.sum(), confidence)
        return float(low), float(high)
    _, kept = np.unique(cluster[decided], return_inverse=True)
    ends = _limits(sign[decided], kept.astype(np.int64), confidence, drawing)
    return ends[0] + 0.5, ends[1] + 0.5


def _guarded(
    sign: Floats, cluster: Ints | None, confidence: float
) -> tuple[float, float]:
    """Return Student's interval of the preference, never a point (Clopper and Pearson 1934)."""
    units = Units.from_scores(sign[:, None] / 2, cluster=cluster)
    estimate = with_error_bound(estimates(units)[0], -0.5, 0.5)
    low, high = estimate.interval(confidence)
    # of one unit they are NaN, and nothing is excluded
    return float(np.fmax(low, -0.5)), float(np.fmin(high, 0.5))


def _make_audit(credited: ImpressionCredits, name: str | None) -> LogAudit:
    n = len(credited.difference)
    log = credited.log
    clusters = None if credited.cluster is None else int(credited.cluster.max()) + 1
    counts = {
        "rows": log.rows,
        "dropped": log.dropped,
        "impressions": n,
        "clicked": credited.clicked,
        "clicks": credited.clicks,
        "repeated": credited.repeated,
        "elsewhere": credited.elsewhere,
        "clusters": clusters,
    }
    parts = (
        counted(log.rows, "row"),
        counted(n, "impression"),
        f"{credited.clicked:,} with a click",
        counted(credited.clicks, "clicked document"),
        noted(clusters, "cluster", f"of {name}"),
        noted(credited.repeated, "click", "on a document clicked before"),
        noted(credited.elsewhere, "click", "on documents not in the list left out"),
        *log.left_out(),
    )
    return LogAudit(log.source, counts, parts, tuple(_warnings(credited)), _REMARKS)


def _warnings(credited: ImpressionCredits) -> Iterator[str]:
    if not credited.log.has("clicked"):
        yield "there is no column clicked: every row counts as a click, others are not counted"
    if not credited.log.has("impression_id"):
        yield "there is no column impression_id: all rows of a query and draw count as one impression"
    if credited.method == "balanced":
        yield "balanced interleaving can prefer a ranking even if clicks are random; team_draft cannot"
