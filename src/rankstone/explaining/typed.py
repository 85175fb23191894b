"""Judgments and a run of grades that somebody typed in, to learn from."""

from __future__ import annotations

import re
from collections import Counter

from rankstone.errors import UsageError

__all__ = ["QUERY", "typed_in"]

#: the query of what is typed in
QUERY = "typed"
_UNJUDGED = ("-", "?", "–")


def typed_in(grades: str, judged: str | None = None) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return judgments of one query and its ranked documents.

    Parameters
    ----------
    grades
        Grades of the list in order, ``-`` for a document nobody judged: ``"5,3,2,-,2"``.
    judged
        All judged grades, those of the list among them; ``None`` when nothing else is judged.

    Examples
    --------
    >>> typed_in("2,-,1", "2,1,1")
    ({'typed': {'d1': 2.0, 'd3': 1.0, 'm1': 1.0}}, ['d1', 'd2', 'd3'])
    """
    listed = [_grade(word) for word in _words(grades, "--grades")]
    known = [grade for grade in map(_grade, _words(judged or "", "--judged")) if grade is not None]
    found = {f"d{at}": grade for at, grade in enumerate(listed, 1) if grade is not None}
    if judged is not None:
        rest = Counter(known)
        rest.subtract(Counter(found.values()))
        if short := [grade for grade, count in rest.items() if count < 0]:
            raise UsageError(
                "--judged lacks grades that are in the list",
                given=f"{short[0]:g} stands in the list more often than among the judged",
                fix="--judged holds every judged grade, those of the list among them",
            )
        missed = sorted(rest.elements(), reverse=True)
        found |= {f"m{at}": grade for at, grade in enumerate(missed, 1)}
    return {QUERY: found or {"m0": 0.0}}, [f"d{at}" for at in range(1, len(listed) + 1)]


def _words(text: str, flag: str) -> list[str]:
    words = [word for word in re.split(r"[,\s]+", text.strip()) if word]
    if not words and flag == "--grades":
        raise UsageError("--grades is empty", expected="grades in the order of the list: 3,2,-,0,1")
    return words


def _grade(word: str) -> float | None:
    if word in _UNJUDGED:
        return None
    try:
        return float(word)
    except ValueError:
        raise UsageError(
            f"{word!r} is no grade", expected="numbers with commas, - for an unjudged document: 3,2,-,0,1"
        ) from None
