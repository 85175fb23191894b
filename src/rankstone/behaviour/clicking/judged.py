"""What was estimated, as frames and as an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.behaviour.clicking.audit import Audit, FoundLists
from rankstone.errors import EmptyInput
from rankstone.words import counted, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.behaviour.clicking.asked import Asked
    from rankstone.behaviour.clicking.estimates import Estimates, Weighing
    from rankstone.behaviour.clicking.lists import Lists
    from rankstone.behaviour.clicking.log import Log, Survey
    from rankstone.behaviour.clicking.position_based import Fit

__all__ = ["Judged", "audited"]

#: impressions of moved documents that hardly tell a position from others, and the factor of a wide interval
_FEW: Final = 30
_WIDE: Final = 2


@dataclass(frozen=True, eq=False)
class Judged:
    """Pairs, what is known of them, and how it was found.

    Attributes
    ----------
    pairs, estimates
        Pairs, in any order, and what is known of them.
    propensities
        Position → the chance that somebody looks there, where it is known.
    known
        Name → position → how well that chance is known; of ``pbm``: ``low``, ``high``, ``moved``.
    weighing, fit
        What weights did; how the model was fitted.
    unlinked
        {position: impressions left out}.
    """

    pairs: pl.DataFrame
    estimates: Estimates
    propensities: Mapping[int, float] = field(default_factory=dict)
    known: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    weighing: Weighing | None = None
    fit: Fit | None = None
    unlinked: Mapping[int, int] = field(default_factory=dict)

    def frame(self, asked: Asked) -> pl.DataFrame:
        """Return a row a pair, in the order of queries and documents."""
        told = self.estimates
        estimate = pl.Series("estimate", told.value).fill_nan(None)
        relevance = estimate
        if asked.grades is not None:
            grade = np.searchsorted(np.array(asked.grades), told.value, "right")
            relevance = pl.Series(grade, dtype=pl.Int64)
        further = {
            "effective": told.effective,
            "standard_error": told.error,
            "low": told.low,
            "high": told.high,
        }
        return self.pairs.with_columns(
            relevance.alias("relevance"),
            pl.Series("impressions", told.impressions).cast(pl.Int64),
            pl.Series("clicks", told.clicks).cast(pl.Int64),
            estimate,
            *(pl.Series(name, values).fill_nan(None) for name, values in further.items()),
        ).sort("query_id", "doc_id")

    def kept(self, asked: Asked) -> pl.DataFrame:
        """Return the pairs that have a grade."""
        enough = pl.col("impressions") >= asked.min_impressions
        return self.frame(asked).filter(pl.col("estimate").is_not_null() & enough)

    def positions(self, by_position: pl.DataFrame) -> pl.DataFrame:
        """Add to counts by position what is known of it."""
        of = {"propensity": self.propensities, **self.known}
        told = {
            name: pl.Series([values.get(at) for at in by_position["position"]], dtype=pl.Float64)
            for name, values in of.items()
        }
        found = by_position.with_columns(ctr=pl.col("clicks") / pl.col("impressions"), **told)
        whole = pl.selectors.by_name("moved", require_all=False).cast(pl.Int64)
        return found.with_columns(pl.selectors.float().fill_nan(None)).with_columns(whole)


def audited(
    log: Log,
    found: Survey,
    seen: Lists | None,
    policy: str,
    asked: Asked,
    judged: Judged,
    by_position: pl.DataFrame,
) -> Audit:
    """Return what was found, and what was done about it.

    Parameters
    ----------
    log, found
        The log and the first look at it.
    seen, policy
        Its lists, and what became of odd ones.
    asked, judged
        The question and the answer.
    by_position
        Impressions and clicks by position; empty where the log tells none.
    """
    every, kept = judged.frame(asked), judged.kept(asked)
    unseen = every["estimate"].is_null()
    rare = every.filter(~unseen & (every["impressions"] < asked.min_impressions))
    if not kept.height:
        raise EmptyInput(
            "no pair was shown often enough", where=log.events.source, fix="a smaller min_impressions"
        )
    by_query = kept.group_by("query_id").agg(pl.col("clicks").sum())
    impressions, clicks = found.impressions, found.clicks
    if by_position.height:  # without the lists that were left out
        impressions, clicks = (int(by_position[name].sum()) for name in ("impressions", "clicks"))
    return Audit(
        source=log.events.source,
        rows=found.rows,
        impressions=impressions,
        clicks=clicks,
        fractions=found.fractions,
        queries=by_query.height,
        pairs=kept.height,
        unclicked=by_query.filter(clicks=0).height,
        left_out=found.left_out,
        outside=found.outside,
        lists=None
        if seen is None
        else FoundLists(seen.count, seen.skipping, seen.repeating, seen.rows, policy),
        rare=rare.height,
        rare_impressions=int(rare["impressions"].sum()),
        unseen=int(unseen.sum()),
        unlinked=judged.unlinked,
        weighing=judged.weighing,
        fit=judged.fit,
        warnings=tuple(_warnings(found, asked, judged, kept)),
        read_as=log.events.read_as,
    )


def _warnings(found: Survey, asked: Asked, judged: Judged, kept: pl.DataFrame) -> Iterator[str]:
    if judged.fit is not None and not judged.fit.converged:
        rounds = counted(judged.fit.iterations, "round")
        yield f"the fit did not converge in {rounds}: a larger max_iterations, or documents at more positions"
    yield from _doubtful(judged)
    more = [position for position, chance in judged.propensities.items() if chance > 1]
    if more:
        yield f"positions that are looked at more often than the first: {some(more, 8)}"
    if found.fractions and not asked.fractional:
        yield f"method={asked.method} counts fractions as clicks; method=satisfaction takes their mean"
    over = kept.filter(pl.col("estimate") > 1).height
    if over:
        yield f"{over:,} of {kept.height:,} estimates exceed 1, as weighted means of few clicks may"
    if not found.clicks:
        yield "nobody ever clicked"


def _doubtful(judged: Judged) -> Iterator[str]:
    """Warn of positions that hardly anything tells from the first."""
    if judged.fit is None:
        return
    first, *others = judged.propensities
    moved, low, high = (judged.known[name] for name in ("moved", "low", "high"))
    few = [f"{at} ({moved[at]:,.0f})" for at in others if moved[at] < _FEW]
    if few:
        yield (
            f"too few swaps at position {some(few, 8)}: in brackets the impressions of documents that also "
            f"stood elsewhere, where {_FEW} or more are wanted; show results in more orders"
        )
    wide = [at for at in others if not high[at] <= _WIDE * low[at]]
    if wide:
        yield (
            f"how often position {some(wide, 8)} is looked at, relative to position {first}, is not known to "
            f"within a factor of {_WIDE}: relevances hang on it"
        )
