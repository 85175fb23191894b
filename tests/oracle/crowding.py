"""Sources of documents by the book: sets and counts of those that are shown."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.oracle.oracle import Spec


def several(shown: Sequence[str], spec: Spec) -> float:
    """Count the different sources of the first k documents."""
    return float(len(set(shown[: spec.k])))


def largest_share(shown: Sequence[str], spec: Spec) -> float | None:
    """Return the share that the commonest source has of the first k documents; None where none is shown."""
    first = shown[: spec.k]
    if not first:
        return None
    return float(Fraction(max(Counter(first).values()), len(first)))


FORMULAS = {"Sources": several, "SourceShare": largest_share}
