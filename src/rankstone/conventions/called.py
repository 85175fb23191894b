"""A measure of ours under another library's name."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits
    from rankstone.measures import Measure
    from rankstone.measures.base import Scored
    from rankstone.measures.named import Span

__all__ = ["called"]


class _Called:
    """Comes before a kind of measure: the name it prints, and what a library does with its values."""

    label: ClassVar[str]
    empty: ClassVar[str]
    digits: ClassVar[int | None]
    bounded: ClassVar[bool]
    nobody: ClassVar[str | None]

    def __str__(self) -> str:
        return self.label

    def score(self: Any, hits: Hits, _empty: str = "zero") -> Scored:
        """Score as the measure does, with the library's rule for queries without a relevant document."""
        scored: Scored = super().score(hits, self.empty)  # type: ignore[misc]
        return scored

    def span_of(self: Any, hits: Hits) -> Span:
        """Return the measure's range, or none where a bug is replayed."""
        span: Span = super().span_of(hits) if self.bounded else (None, None)  # type: ignore[misc]
        return span

    def aggregate(self: Any, *parts: Any) -> float:  # noqa: ANN401 - a mixin of measures
        """Aggregate as the measure does, and round where the library rounds."""
        if not len(parts[0]) and self.nobody == "zero":
            return 0.0
        value: float = super().aggregate(*parts)  # type: ignore[misc]
        return value if self.digits is None else round(value, self.digits)


def called(
    measure: Measure,
    label: str,
    *,
    empty: str = "zero",
    digits: int | None = None,
    bounded: bool = True,
    spoils: bool = False,
    nobody: str | None = None,
) -> Measure:
    """Return the measure under a library's name, with the library's ways with its values.

    >>> from rankstone import P
    >>> print(called(P(k=5), "precision@5"))
    precision@5
    """
    kind = type(measure)
    facts = {"label": label, "empty": empty, "digits": digits, "bounded": bounded}
    facts |= {"spoils": spoils, "nobody": nobody}
    named = type(kind.__name__, (_Called, kind), {**facts, "__module__": __name__})
    found: Measure = named(**{f.name: getattr(measure, f.name) for f in fields(measure)})
    return found
