"""What a reader of a comparison should know: pools that differ, few clusters, how the numbers were made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rankstone._basics import some
from rankstone.comparison.comparison_words import (
    MAX_NAME,
    MAX_SENTENCES,
    names_in,
    p_value,
    percent,
    short_names,
    signed,
)
from rankstone.comparison.score_sources import fact_of
from rankstone.comparison.test_families import ALL_PAIRS
from rankstone.comparison.verdict import JUDGED, judged_share_counts
from rankstone.errors import printable
from rankstone.stats.automatic_intervals import FEW_CLUSTERS
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.comparison.comparison_result import ComparedSystems
    from rankstone.comparison.comparison_words import Say

#: pairs with different shares of judged documents that get a sentence each; more of them get a table
_FEW: Final = 3


def judged_share_table(comparison: ComparedSystems, say: Say) -> Table | None:
    """Return the systems' shares of judged documents, if too many pairs differ for sentences."""
    if comparison.judged is None or len(comparison.pool_bias) <= _FEW:
        return None
    shares = _judged_shares(comparison)
    rows = tuple(
        (printable(system, 300), f"{share:.3f}", f"{more:,}", f"{less:,}")
        for system, share, more, less in judged_share_counts(
            comparison.pool_bias, shares
        )
    )
    head = (say("system"), comparison.judged[0], say("more_than"), say("less_than"))
    judged = comparison.judged[0]
    return Table(
        say("pools", judged=judged, k=judged.partition("@")[2]),
        head,
        rows,
        (False, True, True, True),
    )


def _judged_shares(comparison: ComparedSystems) -> dict[str, float]:
    return dict(
        comparison.mean().select("system", "judged").unique(maintain_order=True).rows()
    )


def _pool_bias(
    comparison: ComparedSystems, say: Say, short: dict[str, str]
) -> Iterator[str]:
    if comparison.judged is None or comparison.relevant_alone:
        return
    shares, differing = _judged_shares(comparison), comparison.pool_bias
    judged = comparison.judged[0]
    names = {"judged": judged, "k": judged.partition("@")[2]}
    if len(differing) > _FEW:
        if len(comparison.systems) > MAX_SENTENCES:
            yield say("pools", **names)
    elif differing:
        for pair in differing:
            fewer, other = sorted(pair, key=shares.__getitem__)
            a = f"{shares[fewer]:.3f}"
            b = f"{shares[other]:.3f}"
            yield say("pool", **names, fewer=short[fewer], other=short[other], a=a, b=b)
    else:
        low = [
            f"{short[system]} {share:.3f}"
            for system, share in shares.items()
            if share is not None and share < JUDGED
        ]
        if low:
            yield say("judged", judged=judged, names=some(low))


def caveats_of(comparison: ComparedSystems, say: Say, digits: int) -> Iterator[str]:
    """Yield what a reader should know before using the result."""
    short = short_names(comparison)
    audit = getattr(comparison, "audit", None)
    for name, error in () if audit is None else audit.bad_runs.items():
        yield say("bad_run", system=printable(name, MAX_NAME), why=error.what)
    yield from _pool_bias(comparison, say, short)
    for measure, left_out in (
        comparison.table.select("measure", "left_out")
        .unique(maintain_order=True)
        .rows()
    ):
        if left_out:
            yield say("left_out", measure=comparison.label(measure), n=f"{left_out:,}")
    if comparison.table["units"][0] < min(FEW_CLUSTERS, comparison.table["n"][0]):
        yield say(
            "few_clusters",
            units=f"{comparison.table['units'][0]:,}",
            least=FEW_CLUSTERS,
        )
    correction, first = (
        comparison.families[0].correction,
        comparison.table.filter(role="primary"),
    )
    if correction in ALL_PAIRS and first["low"].is_null().all():
        yield say("too_few", units=f"{first['units'][0]:,}", correction=correction)
    for row in comparison.table.iter_rows(named=True):
        includes_0 = row["low"] is None or row["low"] <= 0 <= row["high"]
        if (row["p_adjusted"] <= comparison.settings.alpha) == includes_0:
            yield say(
                "borderline",
                **names_in(comparison, row, short),
                p=p_value(row["p_adjusted"]),
            )
        if row.get("lowest") is not None:
            low = signed(row["lowest"], digits)
            high = signed(row["highest"], digits)
            yield say("flip", **names_in(comparison, row, short), low=low, high=high)


def method_of(comparison: ComparedSystems, say: Say, digits: int) -> Iterator[str]:
    """Yield how the numbers were computed."""
    family = comparison.families[0]
    alpha = f"{comparison.settings.alpha:g}"
    if family.size == 1:
        key = "single_of" if len(comparison.measures) > 1 else "single"
        yield say(key, measure=comparison.label(comparison.primary[0]), alpha=alpha)
    else:
        guarantees = {"none": "family_each", "bh": "family_share", "by": "family_share"}
        correction = say(f"correction_{family.correction}")
        key = guarantees.get(family.correction, "family")
        yield say(key, size=family.size, correction=correction, alpha=alpha)
        if family.correction in ALL_PAIRS:
            yield say(f"assumed_{family.correction}")
    n = f"{family.permutations:,}"
    seed = comparison.settings.seed
    drawn = say("drawn", n=n, seed=seed) if family.permutations else say("exact")
    yield say("test", test=say(f"test_{family.test}", permutations=drawn))
    if (
        family.level == family.level
    ):  # NaN if a procedure for all pairs has its own intervals
        levels = dict.fromkeys(map(percent, comparison.table["confidence"]))
        yield say(
            "interval_method",
            method=say(f"method_{comparison.settings.interval}"),
            levels=", ".join(levels),
        )
    if family.size > 1:
        yield say(family.interval_kind, level=percent(comparison.settings.confidence))
    others = [
        comparison.label(one)
        for one in comparison.measures
        if one not in comparison.primary
    ]
    if others:
        yield say("exploratory", measures=", ".join(others))
    several = [name for name, runs in comparison.replicates.items() if len(runs) > 1]
    if several:
        yield say(
            "runs", systems=", ".join(printable(name, MAX_NAME) for name in several)
        )
    if comparison.table["units"][0] != comparison.table["n"][0]:
        yield say("clusters", units=f"{comparison.table['units'][0]:,}")
    known = (
        comparison.table.filter(role="primary")
        .drop_nulls("detectable")
        .select("measure", "detectable")
    )
    least = [value for measure, value in known.iter_rows() if value < _range(measure)]
    if len(known) and not least:
        yield say("undetectable", power=percent(comparison.settings.power))
    if least:
        low, high = (f"{value:.{digits}f}" for value in (min(least), max(least)))
        yield say(
            "detectable",
            power=percent(comparison.settings.power),
            values=low if low == high else f"{low} – {high}",
        )


def _range(measure: str) -> float:
    """Return the largest difference that two means can have."""
    low, high = fact_of(measure, "span", (None, None))
    return math.inf if low is None or high is None else float(high - low)
