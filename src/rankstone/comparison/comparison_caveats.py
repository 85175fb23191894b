"""What a reader of a comparison should know: pools that differ, few clusters, how the numbers were made."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

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
from rankstone.comparison.families import FLIPPED, PROCEDURES
from rankstone.comparison.named_measures import fact_of
from rankstone.comparison.verdict import (
    CLEAR,
    JUDGED,
    disagrees,
    fewest_differing,
    judged_share_counts,
)
from rankstone.comparison.verdict_conditions import undecided_by_judgments
from rankstone.errors import printable
from rankstone.hits.tie_rules import TIES
from rankstone.stats.automatic_intervals import FEW_CLUSTERS, difference_estimate
from rankstone.stats.bounded_means import unseen_share
from rankstone.stats.inverted_tests import OF_MEDIANS
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.comparison.compared_systems import ComparedSystems

#: pairs with different shares of judged documents from which on there is a table of them
_FEW: Final = 3


def judged_share_table(comparison: ComparedSystems) -> Table | None:
    """Return the systems' shares of judged documents, if too many pairs differ for sentences."""
    say = comparison.say
    if comparison.judged is None or len(comparison.pool_bias) <= _FEW:
        return None
    shares = _judged_shares(comparison)
    rows = tuple(
        (printable(system, 300), f"{share:.3f}", f"{more:,}", f"{less:,}")
        for system, share, more, less in judged_share_counts(
            comparison.pool_bias, shares
        )
    )
    judged = comparison.judged[0]
    head = (say("system"), judged, say("more_than"), say("less_than"))
    return Table(judged, head, rows, (False, True, True, True))


def _judged_shares(comparison: ComparedSystems) -> dict[str, float]:
    shares = comparison.mean().select("system", "judged")
    of_systems = shares.unique(maintain_order=True)
    return dict(of_systems.rows())


def _pool_bias(comparison: ComparedSystems, short: dict[str, str]) -> Iterator[str]:
    say = comparison.say
    if comparison.judged is None or comparison.relevant_alone:
        return
    if undecided_by_judgments(comparison) is not None:
        return  # said beside the verdict
    shares = _judged_shares(comparison)
    differing = comparison.pool_bias
    judged = comparison.judged[0]
    names = {"judged": judged, "k": judged.partition("@")[2]}
    if len(differing) > 1:
        systems = set(chain(*differing))
        ascending = sorted(systems, key=shares.__getitem__)
        values = [f"{short[system]} {shares[system]:.3f}" for system in ascending]
        pairs = comparison.table.select("system", "versus").n_unique()
        yield say(
            "pools",
            **names,
            count=f"{len(differing):,}",
            all=f"{pairs:,}",
            names=", ".join(values[:MAX_SENTENCES]),
        )
    elif differing:
        fewer, other = sorted(differing[0], key=shares.__getitem__)
        a = f"{shares[fewer]:.3f}"
        b = f"{shares[other]:.3f}"
        names |= {"fewer": short[fewer], "other": short[other]}
        yield say("pool", **names, a=a, b=b)
    else:
        low = [
            f"{short[system]} {share:.3f}"
            for system, share in shares.items()
            if share is not None and share < JUDGED
        ]
        if low:
            yield say("judged", judged=judged, names=some(low))


def _inputs(comparison: ComparedSystems) -> Iterator[str]:
    """Yield what scores have not in common: runs without scores, and options that differ."""
    say = comparison.say
    audit = getattr(comparison, "audit", None)
    if audit is not None:
        for name, error in audit.bad_runs.items():
            yield say("bad_run", system=printable(name, MAX_NAME), why=error.what)
    options = getattr(comparison, "conventions", {}).get("differing")
    if options:
        yield say("other_options", options=options)


def caveats_of(comparison: ComparedSystems, digits: int) -> Iterator[str]:
    """Yield what a reader should know before using the result."""
    say = comparison.say
    short = short_names(comparison)
    yield from _inputs(comparison)
    yield from _pool_bias(comparison, short)
    left_out_rows = comparison.table.select("measure", "left_out")
    for measure, left_out in left_out_rows.unique(maintain_order=True).rows():
        if left_out:
            yield say("left_out", measure=comparison.label(measure), n=f"{left_out:,}")
    units = comparison.table["units"][0]
    n = comparison.table["n"][0]
    if units < min(FEW_CLUSTERS, n):
        yield say("few_clusters", units=f"{units:,}", least=FEW_CLUSTERS)
    yield from _rare_losses(comparison, short)
    correction = comparison.families[0].correction
    first = comparison.table.filter(role="primary")
    several = correction in PROCEDURES and len(first) > 1
    if several and first["low"].is_null().all():
        yield say("too_few", units=f"{first['units'][0]:,}", correction=correction)
    for row in comparison.table.iter_rows(named=True):
        own = comparison.settings.interval == "test"
        ends = (row["low"], row["high"])
        moved = own and comparison.settings.test not in OF_MEDIANS and 0.0 in ends
        if disagrees(row, comparison.settings) or (moved and row["difference"]):
            yield say(
                "limit_moved" if moved else "borderline",
                **names_in(comparison, row, short),
                p=p_value(row["p_adjusted"]),
            )
        if row.get("lowest") is not None:
            low = signed(row["lowest"], digits)
            high = signed(row["highest"], digits)
            yield say("flip", **names_in(comparison, row, short), low=low, high=high)


def few_differing(comparison: ComparedSystems) -> Iterator[str]:
    """Yield for each primary measure the pairs of which too few queries differ for the test to reject."""
    say = comparison.say
    short = short_names(comparison)
    for measure in comparison.primary:
        pairs = []
        rows = comparison.table.filter(role="primary", measure=measure)
        for row in rows.iter_rows(named=True):
            least = fewest_differing(row, comparison.settings)
            if least is not None:
                system = short[row["system"]]
                versus = short[row["versus"]]
                pairs.append(f"{system} − {versus}")
                needed = least
        if pairs:
            yield say(
                "few_differ_in_pairs",
                pairs=some(pairs),
                measure=printable(comparison.label(measure), MAX_NAME),
                least=needed,
                alpha=f"{comparison.settings.alpha:g}",
            )


def ties_are_averaged(alignment: Mapping[str, Any]) -> bool:
    """Return True if the order of tied documents has no effect: scores are means over all orders."""
    rule = TIES.get(alignment.get("ties", ""))
    return rule is not None and rule.closed_form


def unguarded_loss(
    comparison: ComparedSystems, row: Mapping[str, Any]
) -> tuple[float, float] | None:
    """Return what queries may lose, and how many of them, where only queries like these support a verdict.

    The largest loss of a query, and the largest share of queries that may have it while so many do not show
    one; ``None`` where limits that allow for rare losses exclude 0 as well.
    """
    matrix = getattr(comparison, "matrices", {}).get(row["measure"])
    settings = comparison.settings
    if settings.interval != "test" or row["verdict"] not in CLEAR:
        return None
    if matrix is None or matrix.replicates:
        return None
    system = matrix.systems.index(row["system"])
    versus = matrix.systems.index(row["versus"])
    between = matrix.units.difference(system, versus)
    estimate = difference_estimate(between, matrix.span)
    low, high = estimate.interval(settings.confidence)
    most = matrix.span[1] - matrix.span[0]
    if not low <= 0 <= high or not math.isfinite(most):
        return None
    return most, unseen_share(len(between), settings.alpha / 2)


def _rare_losses(comparison: ComparedSystems, short: dict[str, str]) -> Iterator[str]:
    """Yield for each primary measure which verdicts assume that queries not seen are like these."""
    say = comparison.say
    for measure in comparison.primary:
        rows = comparison.table.filter(role="primary", measure=measure)
        if len(comparison.systems) > MAX_SENTENCES:
            return
        losses = {}
        for row in rows.iter_rows(named=True):
            if loss := unguarded_loss(comparison, row):
                losses[f"{short[row['system']]} − {short[row['versus']]}"] = loss
        if losses:
            most, share = max(losses.values())
            yield say(
                "rare_losses",
                pairs=some(list(losses)),
                measure=printable(comparison.label(measure), MAX_NAME),
                most=f"{most:g}",
                share=percent(round(share, 2)),
            )


def method_of(comparison: ComparedSystems, digits: int) -> Iterator[str]:
    """Yield how the numbers were computed."""
    say = comparison.say
    family = comparison.families[0]
    yield from _family_methods(comparison)
    yield say("test", test=test_of(comparison))
    yield from _interval_methods(comparison)
    if family.size > 1:
        yield say(family.interval_kind, level=percent(comparison.settings.confidence))
    others = [
        comparison.label(measure)
        for measure in comparison.measures
        if measure not in comparison.primary
    ]
    if others:
        yield say("exploratory", measures=", ".join(others))
    several = []
    for name, runs in comparison.replicates.items():
        if len(runs) > 1:
            several.append(name)
    if several:
        systems = ", ".join(printable(name, MAX_NAME) for name in several)
        yield say("runs", systems=systems)
    if comparison.table["units"][0] != comparison.table["n"][0]:
        yield say("clusters", units=f"{comparison.table['units'][0]:,}")
    yield from _detectable(comparison, digits, repeated=bool(several))


def test_of(comparison: ComparedSystems) -> str:
    """Return the test of the primary family; of one by permutations how many were drawn."""
    say = comparison.say
    family = comparison.families[0]
    drawn = say("exact")
    if family.permutations:
        n = f"{family.permutations:,}"
        drawn = say("drawn", n=n, seed=comparison.settings.seed)
    return say(f"test_{family.test}", permutations=drawn)


def _family_methods(comparison: ComparedSystems) -> Iterator[str]:
    """Yield how many comparisons are a family, and what its correction assumes."""
    say = comparison.say
    family = comparison.families[0]
    alpha = f"{comparison.settings.alpha:g}"
    if family.size == 1:
        key = "single"
        if len(comparison.measures) > 1:
            key = "single_of"
        yield say(key, measure=comparison.label(comparison.primary[0]), alpha=alpha)
    else:
        guarantees = {"none": "family_each", "bh": "family_share", "by": "family_share"}
        correction = say(f"correction_{family.correction}")
        key = guarantees.get(family.correction, "family")
        yield say(key, size=family.size, correction=correction, alpha=alpha)
        if family.correction in PROCEDURES:
            yield say(f"assumed_{family.correction}")
        if family.correction == FLIPPED and not comparison.baselines:
            yield say("skewed")


def _detectable(
    comparison: ComparedSystems, digits: int, *, repeated: bool
) -> Iterator[str]:
    """Yield the smallest difference that the test detects; with repeated runs it is not known."""
    say = comparison.say
    primary = comparison.table.filter(role="primary")
    known = primary.drop_nulls("detectable").select("measure", "detectable")
    least = [value for measure, value in known.iter_rows() if value < _range(measure)]
    # a test by signs of fewer queries than it takes detects nothing
    differ = (primary["wins"] + primary["losses"]).sum() > 0
    signs = differ and not repeated and comparison.settings.interval == "test"
    if (len(known) or signs) and not least:
        yield say("undetectable", power=percent(comparison.settings.power))
    if least:
        values = f"{min(least):.{digits}f}"
        high = f"{max(least):.{digits}f}"
        if high != values:
            values = f"{values} – {high}"
        yield say("detectable", power=percent(comparison.settings.power), values=values)


def _interval_methods(comparison: ComparedSystems) -> Iterator[str]:
    """Yield how intervals were computed; a procedure for all pairs has its own."""
    say = comparison.say
    settings = comparison.settings
    own = settings.interval == "test"
    if not math.isnan(comparison.families[0].level):
        shares = dict.fromkeys(map(percent, comparison.table["confidence"]))
        levels = ", ".join(shares)
        if own:
            of_medians = settings.test in OF_MEDIANS
            name = "interval_of_medians" if of_medians else "interval_test"
            yield say(name, levels=levels)
        else:
            method = say(f"method_{settings.interval}")
            yield say("interval_method", method=method, levels=levels)
    if own and settings.margin is not None:
        yield say("interval_guarded", method=say("method_auto"))


def _range(measure: str) -> float:
    """Return the largest difference that two means can have."""
    low, high = fact_of(measure, "span", (None, None))
    if low is None or high is None:
        return math.inf
    return float(high - low)
