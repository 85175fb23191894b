"""Session measures: the queries of a session are summed, and later ones count less."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.extras.query_columns import QueryColumns
from rankstone.hits.list_arrays import sums
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, Measure
from rankstone.measures.dcg import DCG, nDCG

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits


_NEEDS: Final = (
    "judgments, and a query table with session and position (queries=…, --queries FILE)"
)
_SYMBOLS: Final = (
    "q: place of the query in its session; DCG_q: DCG of its list; bq: larger for users who mind "
    "reformulating less"
)


@dataclass(frozen=True, kw_only=True)
class SessionMeasure(Measure, family="sessions"):
    """A measure whose units are sessions; a later query is divided by a larger cost."""

    takes_budget = False
    aliases: ClassVar[tuple[str, ...]] = ()
    query_columns = ("position",)
    unit = "session"
    #: True if the norm of a later query counts less, too
    normalized: ClassVar[bool] = False

    bq: float = parameter(
        4.0, "base of the logarithm that later queries are discounted by", above=1.0
    )
    late: str = parameter(
        "plus_one",
        "the divisor of the query at place q: 1 + log_bq q, or log_bq (q + bq − 1)",
        "plus_one",
        "shifted",
    )

    def __post_init__(self) -> None:
        """Refuse aggregations that need weights of queries: the mean is over sessions."""
        super().__post_init__()
        if self.agg in ("pooled", "weighted"):
            raise BadParameter(
                f"{self.name}(agg={self.agg}): sessions have no weights",
                fix="use agg=mean, sum or median",
            )

    def cost(self, hits: Hits) -> Floats:
        """Return the divisor of each query, float64 ``[queries]``."""
        place = hits.added(QueryColumns).column("position")
        if self.late == "plus_one":
            return 1.0 + np.log(place) / math.log(self.bq)
        return np.log(place + self.bq - 1.0) / math.log(self.bq)

    def contributions(self, hits: Hits) -> Contributions:
        """Divide gains, and the norm of a normalised measure, by the cost of the query."""
        parts = super().contributions(hits)
        cost = self.cost(hits)
        return Contributions(
            parts.hits / hits.spread(cost),
            parts.norm / cost if self.normalized else parts.norm,
            unjudged=None if parts.unjudged is None else parts.unjudged / cost,
        )


@dataclass(frozen=True, kw_only=True)
class sDCG(SessionMeasure, DCG):  # noqa: N801 - the name of the field
    """Session DCG: the DCG of a session's queries, added up, later queries counting less.

    >>> print(sDCG(k=10))
    sDCG@10
    """

    card = Card(
        sentence="What does a user gain over a whole session, counting less what took more queries to find?",
        formula="sDCG@k = Σ_q DCG_q@k / (1 + log_bq q); mean over sessions",
        symbols=_SYMBOLS,
        example="two queries with DCG 2 and 3: 2 + 3 / (1 + log_4 2) = 4",
        needs=_NEEDS,
        span=(0.0, None),
        undefined="never",
        peers={
            "Jiang and Allan's ir_metrics": "sDCG(gain=exp2, late=shifted)",
            "evalpir": "the same discount of queries",
        },
        sensitive="ties, unjudged documents (gain 0), depth, the number of queries; repetition counts again",
        use="sessions with known reformulations; the row of a query is its contribution to the session",
        citation="Järvelin, Price, Delcambre and Nielsen, ECIR 2008",
    )

    def unit_values(
        self,
        unit: Ints,
        count: int,
        value: Floats,
        numerator: Floats,  # noqa: ARG002 - the value, as the norm is 1
        denominator: Floats,  # noqa: ARG002 - the same
    ) -> Floats:
        """Return the sum over each session, float64 ``[count]``."""
        return sums(unit, value, count)


@dataclass(frozen=True, kw_only=True)
class nsDCG(SessionMeasure, nDCG):  # noqa: N801 - the name of the field
    """Normalised session DCG: session DCG as a share of what ideal lists would reach.

    >>> print(nsDCG(k=10))
    nsDCG@10
    """

    normalized = True
    card = Card(
        sentence="How much of what a session could have gained did it gain?",
        formula="nsDCG@k = Σ_q DCG_q@k / (1 + log_bq q)  /  Σ_q IDCG_q@k / (1 + log_bq q); "
        "mean over sessions",
        symbols=f"{_SYMBOLS}; IDCG_q: DCG of the judged grades, best first",
        example="two queries with DCG 2 of 4 and 3 of 3: (2 + 3/1.5) / (4 + 3/1.5) = 0.6667",
        needs=_NEEDS,
        peers={
            "Jiang and Allan's ir_metrics": "nsDCG(gain=exp2, late=shifted); a session has one topic there, "
            "so all its queries have one ideal list"
        },
        sensitive="ties, unjudged documents (gain 0), depth; repetition counts again, in the ideal too",
        use="comparing sessions of different length and difficulty",
        citation="Järvelin, Price, Delcambre and Nielsen, ECIR 2008; Kanoulas et al., SIGIR 2011",
    )
