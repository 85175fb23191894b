"""The guards of a release gate: what makes two runs not comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.comparison.gate_rules import ROUNDING, Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.gate_config import Guards


def guard_checks(guards: Guards, comparison: Comparison) -> Iterator[Check]:
    """Yield what each guard finds."""
    if guards.qrels_sha256 is not None:
        own = comparison.hashes().get("judgments")
        same = own == guards.qrels_sha256.lower()
        sentence = "unknown_judgments"
        if own is not None:
            sentence = "same_judgments" if same else "other_judgments"
        yield _guard(sentence, passed=same, measure="qrels_sha256", sha256=own)
    if guards.queries is not None:
        fewest = min(len(matrix) for matrix in comparison.matrices.values())
        yield _guard(
            "queries",
            passed=fewest >= guards.queries,
            measure="queries",
            n=fewest,
            limit=guards.queries,
        )
    if guards.not_in_corpus is not None:
        yield _corpus(guards.not_in_corpus, comparison)
    if guards.judged is not None:
        yield from _judged(guards.judged, comparison)


def _corpus(most: int, comparison: Comparison) -> Check:
    judgments = getattr(comparison.audit, "judgments", None)
    # a document that is gone spoils the set, in whichever split its query is
    absent = getattr(judgments, "absent_of_all", None)
    sentence = "not_in_corpus_of_all"
    if absent is None:
        absent = getattr(judgments, "absent", None)
        sentence = "corpus_unknown" if absent is None else "not_in_corpus"
    return _guard(
        sentence,
        passed=absent is not None and absent <= most,
        measure="not_in_corpus",
        n=absent,
        limit=most,
    )


def _judged(least: float, comparison: Comparison) -> Iterator[Check]:
    means = comparison.mean()
    judged = "Judged" if comparison.judged is None else comparison.judged[0]
    for system in comparison.systems:
        share = means.filter(system=system)["judged"].to_list()[0]
        yield _guard(
            "judged_unknown" if share is None else "floor",
            passed=share is not None and share >= least - ROUNDING,
            title="judged_of",
            judged=judged,
            system=system,
            mean=share,
            floor=least,
        )


def _guard(
    sentence: str, *, passed: bool, title: str = "title", **parts: object
) -> Check:
    verdict = "pass" if passed else "not comparable"
    return Check(verdict, (sentence,), {}, parts, title, "guard")
