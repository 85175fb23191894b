"""What a comparison says of each pair: better, worse or undecided, and which losses are excluded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.comparison.comparison_words import (
    interval_ends,
    names_in,
    percent,
    short_names,
    signed,
)
from rankstone.comparison.named_measures import fact_of
from rankstone.comparison.verdict import fewest_differing
from rankstone.stats.inverted_tests import OF_MEDIANS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.comparison.compared_systems import ComparedSystems


def pair_sentences(comparison: ComparedSystems, digits: int) -> Iterator[str]:
    """Yield a sentence for each comparison of the primary family."""
    say = comparison.say
    short = short_names(comparison)
    for row in comparison.table.filter(role="primary").iter_rows(named=True):
        numbers = say(
            "numbers",
            difference=signed(row["difference"], digits),
            level=percent(row["confidence"]),
            ends=interval_ends(row, digits),
        )
        if comparison.families[0].correction == "nemenyi":
            numbers = say("mean_ranks", numbers=numbers)
        n = f"{row['n']:,}"
        line = say(
            row["verdict"],
            **names_in(comparison, row, short),
            numbers=numbers,
            n=n,
            margin=comparison.settings.margin,
        )
        line += _excluded(row, comparison, digits)
        least = fewest_differing(row, comparison.settings)
        if least is not None:
            few = say(
                "few_differ",
                count=row["wins"] + row["losses"],
                n=n,
                least=least,
                alpha=f"{comparison.settings.alpha:g}",
            )
            line = few + line
        if row["needed"] is not None and row["needed_cautious"] is not None:
            line += say(
                "would_decide",
                n=f"{row['needed']:,}",
                cautious=f"{row['needed_cautious']:,}",
            )
        yield line


def _excluded(row: Mapping[str, Any], comparison: ComparedSystems, digits: int) -> str:
    """Return which loss the interval excludes, and what that assumes; nothing where it says so itself."""
    say = comparison.say
    if comparison.settings.interval != "test" or row["verdict"] == "identical":
        return ""
    guarded = comparison.settings.margin is not None
    if comparison.settings.test in OF_MEDIANS and not guarded:
        return ""
    direction = fact_of(row["measure"], "direction", "higher")
    end = "low"
    towards_loss = -1
    if direction == "lower":
        end = "high"
        towards_loss = 1
    if guarded:
        end += "_guarded"
    if row[end] is None or direction == "neither":
        return ""
    loss = towards_loss * row[end]
    if loss <= 0 or (row["verdict"] != "inconclusive" and not guarded):
        return ""
    return say("excluded_guarded" if guarded else "excluded", loss=f"{loss:.{digits}f}")
