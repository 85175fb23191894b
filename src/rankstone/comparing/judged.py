"""Whether systems are judged alike: who retrieves more unjudged documents loses to the judgments.

Where only relevant documents are judged, as in logs of clicks, Judged@k is P@k: to say that a better
system has more of it would be to say twice that it is better.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from rankstone.errors import BadOption
from rankstone.measures.judged import Judged
from rankstone.measures.threshold import ANY_GAIN
from rankstone.scores import Scores
from rankstone.stats import Units, estimates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from rankstone.evaluation import Evaluator
    from rankstone.measures import Measure

__all__ = ["held_by_system", "judged_among", "judged_apart", "relevant_alone", "with_judged"]

#: the cutoff where the measures have none
_CUTOFF: Final = 10
#: shares of judged documents that are so near do not matter, however many queries there are
_NEAR: Final = 0.01
#: queries that say something about spread
_FEW: Final = 2


def with_judged(ready: Evaluator, measures: Sequence[Measure]) -> Evaluator:
    """Return an evaluator that measures Judged@k, too, at the cutoff of the first measure that has one."""
    k = next((measure.k for measure in measures if measure.k is not None), _CUTOFF)
    try:
        return ready.asking([*measures, Judged(k=k)])
    except BadOption:  # some options of alignment leave it without a meaning
        return ready


def relevant_alone(ready: Evaluator, measures: Sequence[Measure]) -> bool:
    """Return whether every judged document is relevant to every measure, so that Judged@k is P@k."""
    grades = ready.judgments().grade
    marks = {ANY_GAIN, *(getattr(measure, "rel", None) or ANY_GAIN for measure in measures)}
    return bool(len(grades)) and all(bool(mark(grades).all()) for mark in marks)


def held_by_system(
    pairs: Sequence[tuple[str, str]], shares: Mapping[str, float]
) -> list[tuple[str, float, int, int]]:
    """Return each system of pairs whose shares differ, with its share: of how many it has more, and less.

    >>> held_by_system([("a", "b"), ("a", "c")], {"a": 0.5, "b": 0.7, "c": 0.2})
    [('b', 0.7, 1, 0), ('a', 0.5, 1, 1), ('c', 0.2, 0, 1)]
    """
    won = Counter(max(pair, key=shares.__getitem__) for pair in pairs)
    lost = Counter(min(pair, key=shares.__getitem__) for pair in pairs)
    systems = sorted({*won, *lost}, key=lambda system: (-shares[system], system))
    return [(system, shares[system], won[system], lost[system]) for system in systems]


def judged_among(scores: Scores | pl.DataFrame) -> tuple[str, dict[str, pl.DataFrame]] | None:
    """Return the name of Judged@k, and its values of each run; ``None`` where it was not measured."""
    frame = scores.per_query if isinstance(scores, Scores) else scores
    names = [name for name in frame["measure"].unique(maintain_order=True) if name.startswith("Judged@")]
    if not names:
        return None
    rows = frame.filter(measure=names[-1]).select("run", "query_id", "value").drop_nulls()
    parts = rows.partition_by("run", as_dict=True, include_key=False, maintain_order=True)
    return names[-1], {str(key[0]): part for key, part in parts.items()}


def judged_apart(judged: Mapping[str, pl.DataFrame], one: str, other: str) -> bool:
    """Say whether two runs' shares of judged documents differ: surely (95 %), and by more than 0.01.

    >>> import polars as pl
    >>> many = pl.DataFrame({"query_id": ["a", "b", "c", "d"], "value": [1.0, 1.0, 0.9, 1.0]})
    >>> judged_apart({"x": many, "y": many.with_columns(value=pl.col("value") / 2)}, "x", "y")
    True
    """
    if one not in judged or other not in judged:
        return False
    both = judged[one].join(judged[other], on="query_id")
    if both.height < _FEW:
        return False
    found = estimates(Units.of((both["value"] - both["value_right"]).to_numpy()[:, None]))[0]
    low, high = found.interval()
    return abs(found.value) > _NEAR and (low > 0 or high < 0)
