"""What to know before relying on a comparison: one card for a thing, with its effect on the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rankstone.comparison.comparison_caveats import ties_are_averaged, unguarded_loss
from rankstone.comparison.verdict import JUDGED, disagrees, fewest_differing
from rankstone.comparison.verdict_conditions import (
    flipped_by_unanswered,
    judged_shares,
    unjudged_effect,
)
from rankstone.errors import printable
from rankstone.reports.page_words import about, decimals, p_value, shown
from rankstone.stats.automatic_intervals import FEW_CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.leaderboard import Leaderboard
    from rankstone.reports.page_words import Words

#: fewer queries are few
_FEW: Final = 25
#: characters of names, and of why a run could not be scored
_NAME: Final = 40
_REASON: Final = 200
#: what alignment counts for each run: card, its outcome
_COUNTS: Final = {
    "tied": "not_measured",
    "missing": "mean_is_lower",
    "contradicted": "order_by",
}


class CaveatCard(NamedTuple):
    """A caveat.

    Attributes
    ----------
    head, body
        The fact, and why it matters.
    effect, outcome
        What it does to the verdict: a sentence, and the words that are bold.
    kind
        ``flips`` if the verdict could change, ``warn`` if it stands nevertheless, ``note`` otherwise.
    """

    head: str
    body: str
    effect: str
    outcome: str
    kind: str = "note"

    @classmethod
    def of(
        cls, words: Words, name: str, outcome: str, kind: str = "note", **parts: object
    ) -> CaveatCard:
        """Return the card of a name: its phrases are ``name_head``, ``name_body`` and ``name_effect``."""
        head, body, effect = (
            words(f"{name}_{part}", **parts) for part in ("head", "body", "effect")
        )
        return cls(head, body, effect, words(outcome, **parts), kind)


def cards(
    comparison: Comparison, board: Leaderboard, short: Mapping[str, str], words: Words
) -> list[CaveatCard]:
    """Return the caveats of a comparison, those that could change the verdict first."""
    rows = comparison.table.filter(measure=comparison.primary[0])
    row = rows.row(0, named=True)
    two = rows.height == 1 and len(comparison.systems) == 2  # noqa: PLR2004 - a pair
    every = [
        *_alignment(comparison, short, words),
        *(
            _pair_judged(comparison, row, short, words)
            if two
            else _judged(comparison, board, short, words)
        ),
        *_queries(row, words),
        *(
            _pair(comparison, row, words)
            if two
            else _first_place(comparison, board, short, words)
        ),
    ]
    return sorted(every, key=lambda card: ("flips", "warn", "note").index(card.kind))


def _alignment(
    comparison: Comparison, short: Mapping[str, str], words: Words
) -> Iterator[CaveatCard]:
    """Yield what alignment found: runs without scores, ids that do not match, ties, unanswered queries."""
    differing = comparison.conventions.get("differing")
    if differing:
        yield CaveatCard.of(
            words, "other_options", "verdict_could_change", "flips", options=differing
        )
    if comparison.audit is None:
        return
    bad = [
        f"{printable(name, _NAME)} ({printable(e.what, _REASON)})"
        for name, e in comparison.audit.bad_runs.items()
    ]
    if bad:
        yield CaveatCard.of(
            words, "bad_runs", "left_out_of_all", "warn", names=words.listed(bad)
        )

    runs = {
        short.get(name, printable(name, _NAME)): counts
        for name, counts in comparison.audit.runs.items()
    }
    unknown = [name for name, counts in runs.items() if not counts.judged]
    if unknown:
        yield CaveatCard.of(
            words,
            "nothing_judged",
            "means_nothing",
            "flips",
            names=words.listed(unknown),
        )

    options = comparison.conventions.get("alignment", {})
    rules = {"ties": options.get("ties", "–"), "order": options.get("order", "score")}
    for count, usual in _COUNTS.items():
        names = [
            f"{name} {getattr(counts, count):,}"
            for name, counts in runs.items()
            if getattr(counts, count)
        ]
        kind = "note" if count == "tied" else "warn"
        outcome = usual
        if count == "tied" and ties_are_averaged(options):
            outcome = "no_effect"
        if count == "missing" and flipped_by_unanswered(comparison):
            outcome = "verdict_changes_without"
            kind = "flips"
        if names:
            yield CaveatCard.of(
                words, count, outcome, kind, names=words.listed(names), **rules
            )
    excluded = [
        f"{name} {counts.left_out.rows:,}"
        for name, counts in runs.items()
        if counts.left_out is not None and counts.left_out.rows
    ]
    if excluded:
        yield CaveatCard.of(
            words, "excluded", "not_in_lists", names=words.listed(excluded)
        )


def _pair_judged(
    comparison: Comparison,
    row: Mapping[str, Any],
    short: Mapping[str, str],
    words: Words,
) -> Iterator[CaveatCard]:
    effect = unjudged_effect(comparison, row)
    if effect is None:
        return
    name = "unjudged"
    if effect.bounded:
        name = "unjudged_bounded"
    elif effect.stands:
        name = "unjudged_winner"
    low = row.get("lowest")
    high = row.get("highest")
    digits = decimals([low, high])
    yield CaveatCard.of(
        words,
        name,
        "verdict_stands" if effect.stands else "verdict_could_change",
        "warn" if effect.stands else "flips",
        fewer=short[effect.fewer],
        other=short[effect.other],
        share=words.percent(round(1 - effect.share, 2)),
        share_other=words.percent(round(1 - effect.share_other, 2)),
        k=_cutoff(comparison),
        low=shown(low, digits, sign=True),
        high=shown(high, digits, sign=True),
    )


def _judged(
    comparison: Comparison, board: Leaderboard, short: Mapping[str, str], words: Words
) -> Iterator[CaveatCard]:
    shares = judged_shares(comparison)
    low = sorted(
        (name for name in board.systems if shares.get(name, 1.0) < JUDGED),
        key=shares.__getitem__,
    )
    if low:
        names = words.listed(
            [f"{short[name]} {words.percent(round(shares[name], 2))}" for name in low]
        )
        parts = {
            "count": len(low),
            "n": len(board.systems),
            "names": names,
            "k": _cutoff(comparison),
        }
        yield CaveatCard.of(
            words, "judged_many", "order_could_change", "flips", **parts
        )


def _cutoff(comparison: Comparison) -> str:
    return "" if comparison.judged is None else comparison.judged[0].partition("@")[2]


def _queries(row: Mapping[str, Any], words: Words) -> Iterator[CaveatCard]:
    """Yield what the number of queries means."""
    n = row["n"]
    units = row["units"]
    if n > 1 and units < min(FEW_CLUSTERS, n):
        yield CaveatCard.of(
            words,
            "few_clusters",
            "intervals_rough",
            "warn",
            units=units,
            least=FEW_CLUSTERS,
        )
    elif 1 < units < _FEW:
        yield CaveatCard.of(
            words,
            "few_queries",
            "no_proof_of_equality",
            "warn",
            n=n,
            detectable=shown(row["detectable"]),
        )
    if row["left_out"]:
        yield CaveatCard.of(
            words,
            "left_out",
            "count_for_nobody",
            count=f"{row['left_out']:,}",
            n=f"{n:,}",
        )
    name, outcome, kind = (
        ("one_query", "no_verdict", "flips")
        if n == 1
        else ("collection", "repeat_it", "note")
    )
    yield CaveatCard.of(words, name, outcome, kind, count=f"{n:,}")


def _pair(
    comparison: Comparison, row: Mapping[str, Any], words: Words
) -> Iterator[CaveatCard]:
    """Yield what the scores of two systems show: one query that decides, a test that disagrees."""
    matrix = comparison.matrices[row["measure"]]
    differences = matrix.differences(
        *(matrix.systems.index(row[name]) for name in ("system", "versus"))
    )
    largest = int(np.argmax(differences * np.sign(row["difference"])))
    rest = np.delete(differences, largest)
    decides = False
    if row["low"] is not None and not row["low"] <= 0 <= row["high"]:
        half = (row["high"] - row["low"]) / 2 * np.std(rest) / np.std(differences)
        decides = abs(rest.mean()) < half
    if decides:
        query = printable(str(matrix.queries[largest]), _NAME)
        value = shown(float(differences[largest]), sign=True)
        yield CaveatCard.of(
            words,
            "one_decides",
            "verdict_could_change",
            "flips",
            query=query,
            value=value,
        )
    if (least := fewest_differing(row, comparison.settings)) is not None:
        differing = row["wins"] + row["losses"]
        numbers = {"count": differing, "n": row["n"], "least": least}
        alpha = f"{comparison.settings.alpha:g}"
        yield CaveatCard.of(
            words, "few_differ", "no_proof_of_equality", "warn", alpha=alpha, **numbers
        )
    if rare := unguarded_loss(comparison, row):
        most, share = rare
        yield CaveatCard.of(
            words,
            "rare_losses",
            "verdict_could_change",
            "warn",
            most=f"{most:g}",
            share=words.percent(round(share, 2)),
        )
    if row["n"] > 1 and disagrees(row, comparison.settings):
        yield CaveatCard.of(
            words,
            "borderline",
            "interval_decides",
            "warn",
            p=p_value(row["p_adjusted"]),
        )


def _first_place(
    comparison: Comparison, board: Leaderboard, short: Mapping[str, str], words: Words
) -> Iterator[CaveatCard]:
    """Yield how many queries would tell the first from the second."""
    top = list(board.systems[:2])
    rows = comparison.table.filter(
        measure=comparison.primary[0], verdict="inconclusive"
    )
    for row in rows.drop_nulls("needed").iter_rows(named=True):
        if comparison.baseline is None and sorted(top) == sorted(
            [row["system"], row["versus"]]
        ):
            numbers = {
                "difference": shown(
                    abs(row["difference"]), decimals([row["difference"]])
                ),
                "n": row["n"],
            }
            names = {
                "a": short[top[0]],
                "b": short[top[1]],
                "needed": about(row["needed"]),
            }
            yield CaveatCard.of(
                words, "first_place", "more_queries", **names, **numbers
            )
