"""Whether users prefer one of two interleaved rankings.

Clicks on interleaved lists: what each impression says for either ranking.

Which of two interleaved rankings users prefer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._text import counted, noted, some
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
    Found,
    Log,
    Notes,
    cluster_of_impressions,
    floats,
    numbered,
    read_log,
    spread_between,
)
from rankstone.stats.automatic_intervals import verdict
from rankstone.stats.mean_intervals import estimates
from rankstone.stats.paired_tests import sign_flips, sign_test
from rankstone.stats.proportions import wilson
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rankstone.io.input_table import Progress

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_LISTS: Final = ("query_id", "draw", "position", "doc_id", "method", "credit", "rank_a", "rank_b")
#: optimised lists, and the team draft of queries that have none; a click's credit stands beside either
_WITH_FALLBACK: Final = ["optimised", "team_draft"]
#: differences of credits below it are rounding
_EQUAL: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Credited:
    """What impressions say.

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
        Documents that were clicked, clicks beyond the first on one of them, and clicks on documents that the
        list does not hold.
    clicked
        Impressions with a click.
    sources
        Where lists and clicks came from.
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


def credited(
    clicks: object,
    lists: object,
    *,
    cluster: str | None,
    invalid: str,
    unknown: str,
    columns: Mapping[str, str] | None,
    format_in: str | None,
    progress: Progress | None,
) -> Credited:
    """Read lists and clicks, and give every impression its credit."""
    one_of("unknown", unknown, ("error", "drop"))
    made, source, method = _read_lists(lists)
    log = read_log(
        clicks, ["query_id", *([] if cluster is None else [cluster])],
        ("doc_id", "position", "draw", "impression_id", "clicked"),
        columns=columns, format_in=format_in, invalid=invalid, progress=progress, name="clicks",
    )  # fmt: skip
    place = next((name for name in ("doc_id", "position") if log.has(name)), None)
    if place is None:
        raise MissingColumn(
            "nothing says what was clicked", where=log.source, expected="doc_id, or the position in the list"
        )
    if log.has("clicked"):
        neither = ~pl.col("clicked").is_in([0.0, 1.0])
        log.require(neither, "whose click is neither 0 nor 1", "0 or 1", "clicked")
    if not log.has("draw") and made["draw"].n_unique() > 1:
        raise MissingColumn(
            "queries have several lists, and nothing says which one was shown",
            where=log.source,
            expected="draw, as in the lists",
        )
    rows = _as_lists(log.frame, log.has("draw"))
    shown = made.select("query_id", "draw").unique()
    stray = rows.join(shown, on=["query_id", "draw"], how="anti")
    if stray.height:
        name = "query_id" if stray.join(shown, on="query_id", how="anti").height else "draw"
        raise InputError(
            f"{counted(stray.height, 'row')} of queries, or draws, without a list",
            where=log.source,
            given=f"{name} {some(stray[name].unique(maintain_order=True))}",
            expected=f"those of {source}: {some(made[name].unique(maintain_order=True))}",
        )
    key: list[str] = [name for name in ("impression_id", "query_id", "draw") if name in rows.columns]
    key += [] if log.has("impression_id") or cluster is None else [cluster]
    impression = numbered(rows, *key)
    grouping = None if cluster is None else cluster_of_impressions(log, cluster, impression.to_numpy())
    rows = rows.with_columns(impression=impression)
    hits = rows.filter(pl.col("clicked") != 0) if log.has("clicked") else rows
    on = ["query_id", "draw", place]
    found = hits.select("impression", *on).join(made, on=on, how="inner")
    once = found.unique(["impression", "query_id", "draw", "doc_id"]).sort("impression", "position")
    elsewhere = hits.height - found.height
    if elsewhere and unknown == "error":
        first = hits.join(made, on=on, how="anti").row(0, named=True)
        raise BadValue(
            f"{counted(elsewhere, 'click')} on documents that the list does not hold",
            where=log.source,
            given=f"query_id {printable(first['query_id'], 40)}, {place} {printable(first[place], 40)}",
            fix="unknown=drop leaves them out and counts them",
        )
    credit = _balanced(once) if method == "balanced" else once["credit"].to_numpy()
    n = int(impression.to_numpy().max()) + 1
    difference = np.bincount(once["impression"].to_numpy(), credit, n).astype(np.float64)
    difference[np.abs(difference) < _EQUAL] = 0.0
    return Credited(
        difference, grouping, method, log, once.height, found.height - once.height, elsewhere,
        once["impression"].n_unique(), (log.source, source),
    )  # fmt: skip


def _read_lists(lists: object) -> tuple[pl.DataFrame, str, str]:
    """Return interleaved lists, where they came from, and how they were made."""
    read = read_log(
        lists.lists if isinstance(lists, Interleaved) else lists,
        _LISTS,
        blank=("rank_a", "rank_b"),
        name="lists",
    )
    methods = read.frame["method"].unique().sort().to_list()
    if len(methods) > 1 and methods != _WITH_FALLBACK:
        raise InputError("the lists were made in several ways", where=read.source, given=some(methods))
    one_of("method", methods[0], ("balanced", "optimised", "team_draft"))
    made = _as_lists(read.frame, drawn=True)
    for name in ("doc_id", "position"):
        twice = made.filter(pl.struct("query_id", "draw", name).is_duplicated())
        if twice.height:
            raise DuplicateRows(
                f"a list has a {name} twice",
                where=read.source,
                given=f"query_id {printable(twice['query_id'][0], 40)}, "
                f"{name} {printable(twice[name][0], 40)}",
            )
    return made, read.source, methods[0]


def _as_lists(frame: pl.DataFrame, drawn: bool) -> pl.DataFrame:  # noqa: FBT001 - of a table
    """Return a frame with ids as texts, and a draw."""
    texts = [pl.col(name).cast(pl.String) for name in ("query_id", "doc_id") if name in frame.columns]
    draw = pl.col("draw").cast(pl.Int64) if drawn else pl.lit(0, pl.Int64).alias("draw")
    return frame.with_columns(*texts, draw)


def _balanced(once: pl.DataFrame) -> Floats:
    """Return what each click is worth: to either ranking whose top holds the document.

    The top is as deep as it takes either ranking to show the lowest document that was clicked (Joachims
    2002; as Chapelle, Joachims, Radlinski and Yue, TOIS 2012, write it).
    """
    nearer = pl.min_horizontal("rank_a", "rank_b").fill_null(np.inf)
    top = nearer.sort_by("position").last().over("impression")
    inside = [(pl.col(name) <= top).fill_null(value=False).cast(pl.Float64) for name in ("rank_a", "rank_b")]
    return once.select(inside[0] - inside[1]).to_series().to_numpy()


class Preference(Found):
    """Wins, ties and losses of the first ranking, and how sure they are."""

    @property
    def preference(self) -> pl.DataFrame:
        """One row.

        ``wins``, ``ties``, ``losses`` of a over ``impressions``; ``win_rate`` of those that are decided, with
        ``win_low`` and ``win_high``; ``preference``, ``(wins + ties / 2) / impressions - 1/2``, with ``low``
        and ``high``; ``credit``, the mean difference of credits; ``p_sign`` and ``p_randomisation``; and the
        ``verdict`` on a that the interval of the preference gives.
        """
        return self.tables["preference"]


#: signs that are drawn at most, units times flips: beyond it there are fewer flips, never below the least
_SIGNS: Final = 2_000_000_000
_FLIPS, _LEAST = 100_000, 1_000
_REMARKS: Final = {
    "looks": "intervals, p-values and the verdict hold for one look, at a number of impressions fixed "
    "beforehand: who looks again and again until one is small finds preferences that are none far too often"
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
            "credit",
            "p_sign",
            "p_randomisation",
        ),
        pl.Float64,
    )
    | {"verdict": pl.String}
)


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
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Preference:
    """Say which of two interleaved rankings users prefer.

    Parameters
    ----------
    clicks
        A table with ``query_id`` and ``doc_id`` (or ``position``), a row a click; with ``clicked``, 0 or 1, a
        row for whatever was shown, so that impressions without a click are known, too.  ``impression_id``
        says which rows were seen together (else all of a query, a draw and a cluster were), ``draw`` which
        list it was.
    lists
        What :func:`interleave` made, or the file it was written to.
    cluster
        A column such as ``user_id``: impressions of a cluster depend on one another.
    unknown
        Whether clicks on documents that a list does not hold are an ``error``, or ``drop`` leaves them out.
    invalid
        The same for rows with a value that is missing or cannot be read.
    margin
        A preference that does not matter: rankings can be equivalent.
    confidence
        Of intervals, Student's t for the preference, Wilson's for the win rate (a ratio's t with clusters);
        where all impressions say the same, as wide as the rule of three has it.
    seed
        Of the randomisation test.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`; names of columns are those of the clicks.

    Returns
    -------
    Preference
        Wins, ties, losses, preference, tests, verdict.

    Raises
    ------
    InputError
        When clicks and lists do not fit together, and for whatever else is no such table.

    Examples
    --------
    >>> from rankstone.online import interleave
    >>> lists = interleave({"q": ["x", "y"]}, {"q": ["y", "x"]}, k=2, draws=2)
    >>> seen = {"query_id": ["q", "q"], "draw": [0, 1], "doc_id": ["x", "x"], "impression_id": [1, 2]}
    >>> interleaving_preference(seen, lists).preference.select("impressions", "wins", "ties").row(0)
    (2, 2, 0)
    """
    columns = with_csv(columns, csv_separator, decimal)
    between_0_and_1("confidence", confidence)
    above_0("margin", margin)
    found = credited(
        clicks, lists, cluster=cluster, invalid=invalid, unknown=unknown,
        columns=columns, format_in=format_in, progress=progress,
    )  # fmt: skip
    row, flips = _outcome(found.difference, found.cluster, confidence, margin, seed)
    return Preference(
        tables={"preference": floats([row], _SCHEMA)},
        audit=_notes(found, cluster),
        conventions={
            "method": found.method, "cluster": cluster, "unknown": unknown, "invalid": invalid,
            "margin": margin, "confidence": confidence, "flips": flips, "seed": seed,
        },
        inputs=dict(zip(("clicks", "lists"), found.sources, strict=True)),
    )  # fmt: skip


def _outcome(
    difference: Floats,
    cluster: Ints | None,
    confidence: float,
    margin: float | None,
    seed: int,
    flips: int = _FLIPS,
) -> tuple[dict[str, Any], int]:
    """Return the row of the result, and how many flips the randomisation test looked at."""
    sign = np.sign(difference)
    wins, losses, n = int((sign > 0).sum()), int((sign < 0).sum()), len(sign)
    preferred = spread_between(estimates(Units.of(sign[:, None] / 2, cluster=cluster))[0], -0.5, 0.5)
    low, high = preferred.interval(confidence)
    win_low, win_high = _win_rate(sign, cluster, confidence)
    total = Units.of(difference[:, None], cluster=cluster).total
    moved = total[total[:, 0] != 0]
    flips = min(flips, max(_LEAST, _SIGNS // max(len(moved), 1)))
    test = sign_flips(moved, flips=flips, seed=seed)[0]
    row = {
        "impressions": n,
        "wins": wins,
        "ties": n - wins - losses,
        "losses": losses,
        "win_rate": wins / (wins + losses) if wins + losses else None,
        "win_low": win_low,
        "win_high": win_high,
        "preference": preferred.value,
        "low": low,
        "high": high,
        "credit": math.fsum(difference) / n,
        "p_sign": sign_test(Units.of(sign[:, None], cluster=cluster)),
        "p_randomisation": test.p,
        "verdict": verdict((low, high), "higher", margin),
    }
    return row, test.flips


def _win_rate(sign: Floats, cluster: Ints | None, confidence: float) -> tuple[float, float]:
    """Return both ends of the interval of wins over wins and losses."""
    decided = sign != 0
    if not decided.any():
        return math.nan, math.nan
    if cluster is None:
        low, high = wilson((sign > 0).sum(), decided.sum(), confidence)
        return float(low), float(high)
    kept = np.unique(cluster[decided], return_inverse=True)[1].astype(np.int64)
    wins = (sign[decided] > 0).astype(np.float64)
    return spread_between(estimates(Units.of(wins[:, None], cluster=kept))[0], 0, 1).interval(confidence)


def _notes(found: Credited, name: str | None) -> Notes:
    n, log = len(found.difference), found.log
    clusters = None if found.cluster is None else int(found.cluster.max()) + 1
    counts = {
        "rows": log.rows, "dropped": log.dropped, "impressions": n, "clicked": found.clicked,
        "clicks": found.clicks, "repeated": found.repeated, "elsewhere": found.elsewhere,
        "clusters": clusters,
    }  # fmt: skip
    parts = (
        counted(log.rows, "row"),
        counted(n, "impression"),
        f"{found.clicked:,} with a click",
        counted(found.clicks, "clicked document"),
        noted(clusters, "cluster", f"of {name}"),
        noted(found.repeated, "click", "on a document clicked before"),
        noted(found.elsewhere, "click", "elsewhere left out"),
        *log.left_out(),
    )
    return Notes(log.source, counts, parts, tuple(_warnings(found)), _REMARKS)


def _warnings(found: Credited) -> Iterator[str]:
    if not found.log.has("clicked"):
        yield "there is no column clicked: every row is a click, and impressions without one are not known"
    if not found.log.has("impression_id"):
        yield "there is no column impression_id: all rows of a query and draw count as one impression"
    if found.method == "balanced":
        yield "balanced interleaving may prefer a ranking although clicks are random; team_draft does not"
