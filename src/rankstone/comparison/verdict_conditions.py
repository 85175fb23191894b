"""What could change a verdict: queries that a run does not answer, and documents never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rankstone.comparison.comparison_rows import comparison_frame
from rankstone.comparison.comparison_words import (
    MAX_SENTENCES,
    names_in,
    p_value,
    short_names,
    signed,
)
from rankstone.comparison.test_families import analyse_families
from rankstone.comparison.verdict import JUDGED, Pair

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from rankstone.comparison.compared_systems import ComparedRuns, ComparedSystems


#: fewer queries have no variance
_FEW: Final = 2


class UnjudgedEffect(NamedTuple):
    """What documents that were never judged do to the verdict of a pair.

    Attributes
    ----------
    fewer, other
        The system of which fewer documents are judged, and the other.
    share, share_other
        Their mean shares of judged documents.
    bounded
        True if bounds of the difference are known.
    stands
        True if the verdict cannot change: the winner is the one of which fewer are judged, or no
        grades of these documents turn the difference.
    """

    fewer: str
    other: str
    share: float
    share_other: float
    bounded: bool
    stands: bool


def judged_shares(comparison: ComparedSystems) -> dict[str, float]:
    """Return the mean share of judged documents of each system; none where it is not known, or is P@k."""
    if comparison.judged is None or comparison.relevant_alone:
        return {}
    board = comparison.board()
    shares = board.rows.select("system", "judged")
    known = shares.drop_nulls()
    return dict(known.rows())


def unjudged_effect(
    comparison: ComparedSystems, row: Mapping[str, Any]
) -> UnjudgedEffect | None:
    """Return what unjudged documents do to the verdict of two systems; ``None`` where they are few."""
    shares = judged_shares(comparison)
    pair = [system for system in (row["system"], row["versus"]) if system in shares]
    if len(pair) < 2:  # noqa: PLR2004 - a pair
        return None
    fewer, other = sorted(pair, key=shares.__getitem__)

    if shares[fewer] >= JUDGED and not comparison.pool_bias:
        return None

    winners = {"better": row["system"], "worse": row["versus"]}
    won = winners.get(row["verdict"])
    low = row.get("lowest")
    high = row.get("highest")
    bounded = low is not None and high is not None
    stands = won == fewer and bool(comparison.pool_bias)
    if low is not None and high is not None:
        reach = 0.0
        if row["low"] is not None:
            reach = (row["high"] - row["low"]) / 2
        stands = won is not None and (low > reach or high < -reach)
    return UnjudgedEffect(fewer, other, shares[fewer], shares[other], bounded, stands)


def unanswered_queries(frame: pl.DataFrame) -> dict[str, frozenset[str]]:
    """Return the queries that each run does not answer and that count 0, of runs that lack any."""
    missing = frame.filter(status="missing", value=0.0)
    rows = missing.select("run", "query_id").unique(maintain_order=True)
    unanswered = {}
    for (run,), part in rows.partition_by("run", as_dict=True).items():
        unanswered[str(run)] = frozenset(part["query_id"])
    return unanswered


def rows_without_unanswered(comparison: ComparedRuns) -> pl.DataFrame | None:
    """Return the rows of primary measures over the queries that every system answers."""
    lost = frozenset[str]().union(*comparison.unanswered.values())
    matrices = {name: comparison.matrices[name] for name in comparison.primary}
    if not lost or any(matrix.replicates for matrix in matrices.values()):
        return None

    correction = comparison.conventions["comparison"]["correction"]
    pairs = []
    for name, matrix in matrices.items():
        answered = ~matrix.queries.is_in(list(lost))
        if answered.sum() < _FEW or answered.all():
            return None
        rest = matrix.some(np.flatnonzero(answered.to_numpy()))
        if correction == "nemenyi":
            rest = rest.ranked()
        rows = comparison.table.filter(role="primary", measure=name)
        for system, versus in rows.select("system", "versus").iter_rows():
            place = matrix.systems.index
            pairs.append(Pair(rest, place(system), place(versus)))
    families = analyse_families(
        {"primary": pairs}, comparison.settings, correction, None
    )
    [(_, rows_without)] = families
    return comparison_frame(rows_without)


def conditions_of(comparison: ComparedSystems, digits: int) -> Iterator[str]:
    """Yield what the verdict depends on: queries that are not answered, and documents never judged."""
    lost = unanswered_counts(comparison)
    if lost:
        yield comparison.say("unanswered", names=lost) + _effect(comparison, digits)
    unjudged = undecided_by_judgments(comparison)
    if unjudged is not None:
        line = comparison.say("unjudged", **_parts_of(comparison, unjudged))
        if not unjudged.bounded:
            line += comparison.say("unjudged_bounds")
        yield line


def undecided_by_judgments(comparison: ComparedSystems) -> UnjudgedEffect | None:
    """Return what unjudged documents do to the verdict of two systems, where it could change."""
    rows = comparison.table.filter(role="primary")
    if len(comparison.systems) > 2:  # noqa: PLR2004 - a pair
        return None
    effect = unjudged_effect(comparison, rows.row(0, named=True))
    if effect is None or effect.stands:
        return None
    return effect


def _parts_of(comparison: ComparedSystems, effect: UnjudgedEffect) -> dict[str, str]:
    short = short_names(comparison)
    judged = "" if comparison.judged is None else comparison.judged[0]
    return {
        "fewer": short[effect.fewer],
        "other": short[effect.other],
        "share": f"{1 - effect.share:.0%}",
        "share_other": f"{1 - effect.share_other:.0%}",
        "k": judged.partition("@")[2],
    }


def unanswered_counts(
    comparison: ComparedSystems, names: Mapping[str, str] | None = None
) -> str:
    """Return how many queries each system does not answer that count 0; empty where there are none."""
    short = {**short_names(comparison), **(names or {})}
    unanswered = getattr(comparison, "unanswered", {})
    counts = []
    for run, queries in unanswered.items():
        name = short.get(run, run)
        counts.append(f"{name} {len(queries):,}")
    return ", ".join(counts)


def flipped_by_unanswered(
    comparison: ComparedSystems,
) -> list[tuple[dict[str, Any], dict[str, Any]]] | None:
    """Return the pairs whose verdict differs over the queries that every system answers.

    Each is the row over all queries, and the one over these.  ``None`` where nothing can be said.
    """
    if len(comparison.systems) > MAX_SENTENCES:
        return None
    rest = getattr(comparison, "without_unanswered", None)
    if rest is None:
        return None

    keys = ["measure", "system", "versus"]
    rows = comparison.table.filter(role="primary")
    same_order = rows.select(keys).join(rest, on=keys, maintain_order="left")
    whole = rows.rows(named=True)
    answered = same_order.rows(named=True)
    both = zip(whole, answered, strict=True)
    flipped = []
    for row, other in both:
        if row["verdict"] != other["verdict"]:
            flipped.append((row, other))
    return flipped


def _effect(comparison: ComparedSystems, digits: int) -> str:
    """Return whether leaving out queries that are not answered changes a verdict."""
    say = comparison.say
    flipped = flipped_by_unanswered(comparison)
    if flipped is None:
        return ""
    if not flipped:
        return say("unanswered_same")
    short = short_names(comparison)
    changes = []
    for row, other in flipped:
        names = names_in(comparison, row, short)
        now = say(f"word_{other['verdict']}")
        difference = signed(other["difference"], digits)
        p = p_value(other["p_adjusted"])
        change = say("unanswered_pair", **names, now=now, difference=difference, p=p)
        changes.append(change)
    return say("unanswered_flips", pairs="; ".join(changes))
