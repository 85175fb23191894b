"""What stands against the relevant documents: which documents are negatives, and where; fallout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadOption
from rankstone.measures.base import Contributions, Status
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.options import Alignment
    from rankstone.hits.ragged import Hits

__all__ = ["AgainstNegatives", "Fallout", "passed_on_average"]

_MEANING: Final = (
    "what counts as a negative: judged and not relevant; whatever the list holds that is not relevant "
    "(candidates); or that and everything in the catalogue that was not retrieved"
)
_SAY: Final = "say which: negatives=judged, negatives=candidates or negatives=catalogue"


@dataclass(frozen=True, kw_only=True)
class AgainstNegatives(BinaryMeasure):
    """A measure that sets relevant documents against negatives."""

    family: ClassVar[str] = "pairs"
    needs_relevant: ClassVar[bool] = False
    zero_norm: ClassVar[Status] = Status.undefined

    negatives: str = parameter(None, _MEANING, "judged", "candidates", "catalogue", needed=_SAY)

    @property
    def reads_nonrelevant(self) -> bool:
        """Hold where they are the negatives."""
        return self.negatives == "judged"

    def check_needs(self, options: Alignment) -> None:
        """Refuse a catalogue of unknown size, and lists in which ranks do not count documents."""
        if self.negatives == "catalogue" and options.candidates is None:
            raise BadOption(
                f"{self} needs to know how many documents a query could have retrieved",
                fix="say it: candidates=20000 (on the command line --candidates 20000)",
            )
        if self.negatives != "judged" and options.unjudged == "condensed_keep_rank":
            raise BadOption(
                f"{self} counts documents by their ranks, and unjudged=condensed_keep_rank leaves gaps",
                fix="use unjudged=condensed, or negatives=judged",
            )

    def returned(self, hits: Hits) -> Ints:
        """Count the negatives in each list, int64 ``[queries]``."""
        relevant = hits.relevant(self.rel)
        if self.negatives == "judged":
            return hits.count(~relevant)
        shown = hits.n if self.k is None or self.looks_deeper else np.minimum(hits.n, self.k)
        return shown - hits.count(relevant)

    def known(self, hits: Hits) -> Ints:
        """Count all negatives of each query, retrieved or not, int64 ``[queries]``."""
        relevant = hits.relevant_count(self.rel)
        if self.negatives == "judged":
            return np.diff(hits.ideal.offsets) - relevant
        if self.negatives == "candidates" or hits.candidates is None:
            return self.returned(hits)
        beside = hits.candidates - relevant
        if (beside < self.returned(hits)).any():
            at = int((beside < self.returned(hits)).argmax())
            raise BadOption(
                f"candidates={hits.candidates[at]}: a query has {relevant[at]} relevant documents and "
                f"{self.returned(hits)[at]} others in its list",
                expected="the number of documents a query could have retrieved",
            )
        return beside

    def above(self, hits: Hits) -> tuple[Ints, Ints]:
        """Count the negatives above each tie block and inside it, int64 ``[blocks]`` both."""
        relevant, blocks = hits.relevant(self.rel), hits.blocks
        if self.negatives == "judged":
            return hits.earlier(~relevant), hits.inside(~relevant)
        return blocks.first - 1 - hits.earlier(relevant), blocks.size - hits.inside(relevant)


def passed_on_average(above: Ints, tied: Ints, cap: Ints) -> Floats:
    """Return how many of the first ``cap`` negatives stand above a document, on average over tie orders.

    Of the ``tied`` negatives in its block, 0, 1, … all of them stand above it with equal chance.

    >>> passed_on_average(np.array([1, 1]), np.array([0, 4]), np.array([3, 3])).tolist()
    [1.0, 2.4]
    """
    rising = np.clip(cap - above, 0, tied + 1)  # so many of these counts lie below the cap
    total = rising * above + rising * (rising - 1) // 2 + (tied + 1 - rising) * cap
    mean: Floats = total / (tied + 1)
    return mean


@dataclass(frozen=True, kw_only=True)
class Fallout(AgainstNegatives):
    """Fallout: the share of all negatives that the first k ranks hold; less is better.

    >>> print(Fallout(negatives="catalogue", k=10))
    Fallout(negatives=catalogue)@10
    """

    name: ClassVar[str] = "Fallout"
    aliases: ClassVar[tuple[str, ...]] = ("fall_out",)
    examples: ClassVar[tuple[str, ...]] = ("Fallout(negatives=candidates)@3", "Fallout(negatives=judged)")
    card: ClassVar[Card] = Card(
        sentence="Of everything that is not relevant, how much do the first k results let through?",
        formula="Fallout@k = (negatives at ranks 1 … k) / N",
        symbols="N: negatives in all",
        example="ranks 1 … 3: relevant, not, not; 8 documents of the catalogue are not relevant: 2/8",
        needs="judgments; negatives=catalogue: how many documents there are (candidates)",
        direction="lower",
        undefined="no negative: no value, counted as undefined",
        peers={
            "torchmetrics retrieval_fall_out": "Fallout(negatives=candidates)@k; 0 without a negative",
            "ROC curve": "its x axis",
        },
        sensitive="which documents are negatives; ties at the cutoff; an empty list lets nothing through",
        use="beside recall, as in signal detection; rarely alone: an empty list is best",
        citation="Salton and McGill, 1983; van Rijsbergen, Information Retrieval, 1979",
    )

    @property
    def looks_deeper(self) -> bool:
        """Hold where the whole list says how many negatives there are."""
        return self.negatives == "candidates"

    @property
    def grows_with_k(self) -> bool:
        """Hold: more ranks let more through."""
        return True

    @property
    def extremal_under_ties(self) -> bool:
        """Hold unless an unjudged document, which best first puts behind judged ones, counts less."""
        return self.negatives != "judged"

    @property
    def promotion_helps(self) -> bool:
        """Hold unless an unjudged document counts less than one judged and not relevant."""
        return self.negatives != "judged"

    def contributions(self, hits: Hits) -> Contributions:
        """Give each negative hit 1, as the unjudged documents between them; divide by all negatives."""
        limit = self.limit(hits)
        inside = hits.at_rank(lambda rank: np.ones(len(rank)), limit)
        between = None
        if self.negatives != "judged":
            between = (hits.n if limit is None else np.minimum(hits.n, limit)) - hits.total(inside)
        negative = np.where(hits.relevant(self.rel), 0.0, inside)
        return Contributions(negative, self.known(hits).astype(np.float64), unjudged=between)
