"""Budgets: cutoffs by cost instead of rank, such as 2,000 tokens, 0.01 dollars or three calls.

The cost of a document is a column of the run.  Costs are added down the list; what fits into the budget is
all that a measure sees.  A threshold of scores is such a cutoff, too: the list ends at the first score that
is not above it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, Literal, Self, get_args

from rankstone._basics import exact
from rankstone.errors import BadParameter, one_of, printable

Crossing = Literal["drop", "include", "skip", "fraction"]

#: columns of agents' runs, whose values are steps one after another; their budgets are counts
STEPS: Final = ("turn", "call")
#: columns of offsets into a document, of which the second is behind the last character or token
OFFSETS: Final = ("start", "end")
#: before the name of a column whose values are repeated in the rows of a call or query, and never added
REPEATED: Final = "="
#: columns of any run
_NO_COSTS: Final = ("query_id", "doc_id", "relevance", "rank")
_TEXT: Final = r"(?P<cost>[^\W\d]\w*)\(\s*(?P<limit>[^\s,()]+)\s*(?:,\s*crossing\s*=\s*(?P<crossing>\w+)\s*)?\)"


@dataclass(frozen=True)
class Budget:
    """A cutoff by cost: a list ends where the costs of its documents exceed a limit.

    Parameters
    ----------
    cost
        The column of the run to add up: ``tokens``, ``characters``, ``cost`` in dollars, ``ms``, …; or
        ``calls`` and ``turns``, the steps of an agent, by the columns ``call`` and ``turn``; or ``score``.
    limit
        The largest sum, above 0, in the unit of the column; for steps their number; for scores the threshold,
        which they have to exceed.
    crossing
        What happens to the document that crosses the limit: the list ends before it (``drop``) or behind it
        (``include``), it is left out and the list goes on (``skip``), or it counts by the ``fraction`` of its
        cost that fits.

    Examples
    --------
    >>> from rankstone import R
    >>> print(R @ Budget("tokens", 2000), R @ "cost(0.01, crossing=include)")
    R@tokens(2000) R@cost(0.01, crossing=include)
    """

    cost: str
    limit: float
    crossing: Crossing = "drop"

    def __post_init__(self) -> None:
        """Refuse a limit that is not a positive number, and an unknown rule."""
        one_of("crossing", self.crossing, get_args(Crossing))
        if self.cost in _NO_COSTS:
            raise BadParameter(
                f"{self.cost} is no cost",
                expected="a column such as tokens, cost or ms",
            )
        limit = self.limit
        lowest = -math.inf if self.cost == "score" else 0
        if (
            isinstance(limit, bool)
            or not isinstance(limit, (int, float))
            or not lowest < limit < math.inf
        ):
            raise BadParameter(
                f"a budget of {printable(repr(limit), 40)} {printable(self.cost)}",
                expected="a number above 0",
                fix="write nDCG@tokens(2000)",
            )
        object.__setattr__(self, "limit", float(limit))
        if self.cost == "score" and self.crossing != "drop":
            raise BadParameter(
                f"{self}: scores are not added, so none crosses",
                fix=f"write score({limit:g})",
            )
        if self.counts_steps and (limit % 1 or self.crossing != "drop"):
            raise BadParameter(
                f"{self} is not a number of {self.cost}",
                fix=f"write {self.cost}({max(1, int(limit))})",
            )

    @classmethod
    def of(cls, cutoff: Self | str) -> Self:
        """Return a budget, or the one that a text means."""
        budget = cls.parse(cutoff) if isinstance(cutoff, str) else cutoff
        if budget is None:
            raise BadParameter(
                f"{printable(repr(cutoff), 60)} is no budget",
                expected='a text such as "tokens(2000)"',
            )
        return budget

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the budget that a text means, ``None`` if it is none.

        >>> Budget.parse("tokens(2000, crossing=skip)")
        Budget(cost='tokens', limit=2000.0, crossing='skip')
        """
        shape = re.fullmatch(_TEXT, text.strip()) if "(" in text else None
        if shape is None:
            return None
        try:
            limit = float(shape["limit"])
        except ValueError:
            raise BadParameter(
                f"the budget {printable(text)} is not a number",
                expected="tokens(2000), cost(0.01), calls(3)",
            ) from None
        return cls(shape["cost"], limit, shape["crossing"] or "drop")  # type: ignore[arg-type] # checked

    def __str__(self) -> str:
        crossing = "" if self.crossing == "drop" else f", crossing={self.crossing}"
        return f"{self.cost}({exact(self.limit)}{crossing})"

    @property
    def counts_steps(self) -> bool:
        """True if steps of an agent are counted, instead of costs added."""
        return self.cost in ("calls", "turns")

    @property
    def adds(self) -> bool:
        """True if costs are added, instead of steps counted or scores compared."""
        return not self.counts_steps and self.cost != "score"

    @property
    def column(self) -> str:
        """The column of the run that it reads."""
        return self.cost[:-1] if self.counts_steps else self.cost
