"""Whether users prefer one of two interleaved rankings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.behaviour.alike import spread_between
from rankstone.behaviour.interleaving.clicks import Credited, credited
from rankstone.behaviour.interleaving.outcome import Preference
from rankstone.behaviour.results import Notes, floats
from rankstone.errors import above_0, between_0_and_1
from rankstone.io import with_csv
from rankstone.stats import Units, estimates, sign_flips, sign_test, verdict, wilson
from rankstone.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rankstone.io import Progress

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["interleaving_preference"]

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
    >>> from rankstone.behaviour import interleave
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
    told = [counted(log.rows, "row"), counted(n, "impression"), f"{found.clicked:,} with a click"]
    told.append(counted(found.clicks, "clicked document"))
    if clusters is not None:
        told.append(f"{counted(clusters, 'cluster')} of {name}")
    if found.repeated:
        told.append(f"{counted(found.repeated, 'click')} on a document clicked before")
    if found.elsewhere:
        told.append(f"{counted(found.elsewhere, 'click')} elsewhere left out")
    told += log.left_out()
    return Notes(log.source, counts, tuple(told), tuple(_warnings(found)), _REMARKS)


def _warnings(found: Credited) -> Iterator[str]:
    if not found.log.has("clicked"):
        yield "there is no column clicked: every row is a click, and impressions without one are not known"
    if not found.log.has("impression_id"):
        yield "there is no column impression_id: all rows of a query and draw count as one impression"
    if found.method == "balanced":
        yield "balanced interleaving may prefer a ranking although clicks are random; team_draft does not"
