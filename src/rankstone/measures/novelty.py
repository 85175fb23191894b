"""What measures over subtopics share: intents and their weights, and gains that fade when repeated."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.hits.arrays import before, sums
from rankstone.hits.by_group import by_group
from rankstone.hits.greedy import greedy
from rankstone.measures.base import ANY_GAIN, Contributions, Measure, Threshold
from rankstone.measures.named import parameter
from rankstone.measures.parts import divisors

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.pool import Pool
    from rankstone.hits.ragged import Hits
    from rankstone.measures.named import Span

__all__ = ["GREEDY", "Novelty", "OfSubtopics", "RelevantSubtopics", "Renewed"]

#: a greedy choice of k documents reaches at least 1 − (1 − 1/k)^k of the best one: never less than 1 − 1/e
GREEDY: Final = math.e / (math.e - 1)


def intent_weights(pool: Pool, rel: Threshold) -> Floats:
    """Return what each subtopic weighs, float64 ``[groups]``: 0 where no document is relevant to it."""
    assert pool.groups is not None  # noqa: S101 - alignment brings them to measures that ask
    return np.where(pool.group_ideal.relevant_count(rel) > 0, pool.groups.weight, 0.0)


@dataclass(frozen=True, kw_only=True)
class OfSubtopics(Measure):
    """A measure of which subtopics of a query a ranking serves.

    Subtopics without a relevant document do not exist for it; the others weigh what the table of
    intents says, the same where there is none.
    """

    family: ClassVar[str] = "diversity"
    brings: ClassVar[frozenset[str]] = frozenset({"groups"})

    @property
    def extremal_under_ties(self) -> bool:
        """Fail: what is best for one subtopic is not for another."""
        return False

    @property
    def promotion_helps(self) -> bool:
        """Fail: the better graded document may serve subtopics that count less."""
        return False

    def intents(self, hits: Hits) -> Floats:
        """Return what each subtopic weighs, float64 ``[groups]``; 0 where there is nothing to find."""
        raise NotImplementedError

    def per_query(self, hits: Hits, values: Floats) -> Floats:
        """Sum values of subtopics, float64 ``[queries]``."""
        assert hits.pool is not None  # noqa: S101 - alignment brings it to measures that ask
        assert hits.pool.groups is not None  # noqa: S101 - the same
        return sums(hits.pool.groups.query, values, hits.queries)

    def relevant_count(self, hits: Hits) -> Ints | None:
        """Return the number of subtopics there are to serve, int64 ``[queries]``."""
        return self.per_query(hits, (self.intents(hits) > 0).astype(np.float64)).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class RelevantSubtopics(OfSubtopics):
    """A measure that only asks whether a document is relevant to a subtopic."""

    rel: Threshold = parameter(
        ANY_GAIN, 'relevant to a subtopic means grade ≥ rel; ">2" for strictly greater'
    )

    def intents(self, hits: Hits) -> Floats:
        """Return what each subtopic weighs, float64 ``[groups]``; 0 where nothing is relevant."""
        assert hits.pool is not None  # noqa: S101 - alignment brings it to measures that ask
        return intent_weights(hits.pool, self.rel)


@dataclass(frozen=True, kw_only=True)
class Novelty(RelevantSubtopics):
    """A measure in which a subtopic gains less each time it is served: 1, 1 − α, (1 − α)² and so on."""

    #: what ranks cost
    discount: ClassVar[str] = "log2"

    alpha: float = parameter(
        0.5, "how much of its worth a subtopic loses each time it is served", low=0.0, high=1.0
    )

    @property
    def closed_under_ties(self) -> bool:
        """Fail: a gain depends on every document above."""
        return False

    def divisor(self, rank: Ints) -> Floats:
        """Return what a gain at each rank is divided by."""
        return divisors(self.discount, rank)

    def gains(self, hits: Hits) -> Floats:
        """Return what is new in each hit: Σ_s P(s) b_s (1 − α)^(times s was served above)."""
        return hits.remember(("novelty", self.alpha, self.rel), lambda: self._gains(hits))

    def _gains(self, hits: Hits) -> Floats:
        part = by_group(hits)
        serves = part.hits.relevant(self.rel)
        keep = np.where(serves, 1.0 - self.alpha, 1.0)
        fresh = before(np.multiply, keep, np.diff(part.hits.offsets), 1.0)
        weight = self.intents(hits)[part.hits.query]
        return sums(part.of_hit, weight * (fresh * serves), len(hits.rank))

    def contributions(self, hits: Hits) -> Contributions:
        """Discount what is new at each rank; divide by what could be."""
        return Contributions(hits.discounted(self.gains(hits), self.divisor, self.k), self.norm(hits))

    def norm(self, hits: Hits) -> Floats:
        """Return the most that endlessly many documents could gain, each relevant to every subtopic."""
        return self.per_query(hits, self.intents(hits)) * self.endless()

    def endless(self) -> float:
        """Return Σ_i (1 − α)^(i−1) / D(i): what documents relevant to everything gain a subtopic."""
        assert self.k is not None  # noqa: S101 - measures without a closed form refuse whole lists
        rank = np.arange(1, self.k + 1)
        return float(np.cumsum(np.power(1.0 - self.alpha, rank - 1.0) / self.divisor(rank))[-1])


@dataclass(frozen=True, kw_only=True)
class Renewed(Novelty):
    """A novelty measure divided by what the judged documents reach in a greedy order."""

    @property
    def span(self) -> Span:
        """Lowest and highest value: a better order than the greedy one may exist from rank 2 on."""
        top = GREEDY if self.k is None else 1.0 / (1.0 - (1.0 - 1.0 / self.k) ** self.k)
        return 0.0, top

    def norm(self, hits: Hits) -> Floats:
        """Return what the greedy order reaches; computed once for all runs."""
        assert hits.pool is not None  # noqa: S101 - alignment brings it to measures that ask
        return hits.pool.once(replace(self, agg="mean"), self._reached)

    def _reached(self, pool: Pool) -> Floats:
        serves = self.rel(pool.entries.grade)
        keep = np.where(serves, 1.0 - self.alpha, 1.0)
        steps = greedy(pool, serves.astype(np.float64), keep, intent_weights(pool, self.rel))
        reached = np.zeros(pool.queries)
        for rank, gain in enumerate(islice(steps, self.k), start=1):
            reached += gain / self.divisor(np.array([rank]))
        return reached
