"""The guards of a release gate: what makes two runs not comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.comparison.gate_rules import ROUNDING, Check, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.gate_config import Guards
    from rankstone.comparison.gate_rules import Sentence


def guard_checks(guards: Guards, comparison: Comparison) -> Iterator[Check]:
    """Yield what each guard finds."""
    if guards.qrels_sha256 is not None:
        own = comparison.hashes().get("judgments")
        same = own == guards.qrels_sha256.lower()
        sentence = say("unknown_judgments")
        if own is not None:
            sentence = say("other_judgments", sha256=own)
        if same:
            sentence = say("same_judgments")
        yield _guard(say("title", measure="qrels_sha256"), sentence, passed=same)
    if guards.queries is not None:
        fewest = min(len(matrix) for matrix in comparison.matrices.values())
        sentence = say("queries", n=f"{fewest:,}", limit=f"{guards.queries:,}")
        enough = fewest >= guards.queries
        yield _guard(say("title", measure="queries"), sentence, passed=enough)
    if guards.judged is not None:
        yield from _judged(guards.judged, comparison)


def _judged(least: float, comparison: Comparison) -> Iterator[Check]:
    means = comparison.mean()
    judged = "Judged" if comparison.judged is None else comparison.judged[0]
    for system in comparison.systems:
        title = say("judged_of", judged=judged, system=system)
        share = means.filter(system=system)["judged"].to_list()[0]
        if share is None:
            yield _guard(title, say("judged_unknown"), passed=False)
            continue
        sentence = say("minimum", mean=f"{share:.4f}", limit=f"{least:g}")
        yield _guard(title, sentence, passed=share >= least - ROUNDING)


def _guard(title: Sentence, sentence: Sentence, *, passed: bool) -> Check:
    verdict = "pass" if passed else "not comparable"
    return Check(title, verdict, (sentence,), {}, "guard")
