"""Rank-biased overlap: the overlap of two lists at every depth, weighted by a user who may stop at any."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.hits.list_arrays import sums
from rankstone.measures.core.definition import Card, parameter
from rankstone.rankings.rank_similarity.list_measure import ListMeasure

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.rankings.rank_similarity.paired_lists import Depths, PairedLists


@dataclass(frozen=True, kw_only=True)
class RBO(ListMeasure, family="overlap of rankings"):
    """Rank-biased overlap, of lists of any lengths, with ties.

    >>> print(RBO(p=0.9, ties="w"))
    RBO(p=0.9, ties=w)
    """

    conjoint = False
    aliases = ("rank_biased_overlap",)
    examples = ("RBO(p=0.9)", "RBO(p=0.9, score=min)", "RBO(p=0.9, ties=b)")
    card = Card(
        sentence="How much do two lists agree for a user who examines one more rank with probability p?",
        formula="RBO = (1 - p) · sum over d ≥ 1 of p^(d-1) A_d, A_d = X_d / d; below the lists: "
        "ext goes on with the last agreement, min with no further shared document, max with as many as "
        "possible, res = max - min; normalized stops at rank k, with no further shared document, and divides "
        "by the weight down to there, 1 - p^k",
        symbols="X_d: documents in both lists down to depth d (with ties, the sum of products of the parts "
        "of them at these ranks); ext of lists of lengths s ≤ l: A_d = (X_d + A_s (d - s)) / d for "
        "s < d ≤ l, A_l from there on",
        example="ab against ba, p = 0.9: A_1 = 0, A_2 = 1 and so on: ext = 0.1 · 0.9 + 0.81 = 0.9",
        needs="two rankings, of any lengths and documents",
        undefined="never: a query of both runs has documents",
        peers={
            "Corsi and Urbano's reference code": "the same, for all scores and kinds of ties",
            "rbo (PyPI) rbo_ext": "the same, without ties",
            "rbo (PyPI) rbo": "stops at the shorter list without extrapolating: below our ext",
            "LensKit rank_biased_overlap": "score=normalized, where lists reach n",
            "repro_eval RBO": "RBO(p=0.95, score=normalized, ties=broken)@1000",
        },
        sensitive="ties: breaking them by document id overestimates similarity; ties=a is "
        "the mean over their orders for lists of one length, and for min; where ties of the longer list "
        "reach below the end of the shorter one, ext and max are as Corsi and Urbano define them, not "
        "that mean; depth: res is the part of the value that is not observed",
        use="for result lists: top-weighted, lists may be short and have different documents; ties=a when "
        "ties are undecided (default), b the same but 1 for a list against itself, w when tied documents "
        "are equals at one rank (sports)",
        citation="Webber, Moffat and Zobel, A Similarity Measure for Indefinite Rankings, TOIS 2010; "
        "Corsi and Urbano, The Treatment of Ties in Rank-Biased Overlap, SIGIR 2024",
    )

    p: float | None = parameter(
        None,
        "probability of examining the next rank; the first 1 / (1 - p) ranks have about 86 % of the weight",
        above=0,
        below=1,
        needed="0.9 examines about 10 ranks, 0.98 about 50: RBO(p=0.9)",
    )
    ties: str = parameter(
        "a",
        "a: ties are undecided, all orders count equally; b: the same, but 1 for a list against "
        "itself; w: tied documents share a rank; broken: in the order of the alignment's rule",
        *("a", "b", "w", "broken"),
    )
    score: str = parameter(
        "ext",
        "what is below the lists: ext extrapolates, min and max are bounds, res their difference; normalized "
        "ignores what is below rank k",
        *("ext", "min", "max", "res", "normalized"),
        needs_k=("normalized",),
    )

    @property
    def corrected_for_ties(self) -> RBO | None:
        """ties=b; the mean over orders of ties compares different orders of one list, too."""
        if self.ties == "a" and self.score in ("ext", "max"):
            return replace(self, ties="b")
        return None

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Sum the weighted agreement at every depth; the weights sum to 1."""
        assert self.p is not None  # noqa: S101 - checked when the measure was made
        paired = paired.without_ties() if self.ties == "broken" else paired
        agreement = _WeightedAgreement(
            paired,
            paired.depths,
            "a" if self.ties == "broken" else self.ties,
            self.p,
            self.k or 0,
        )
        weight = 1.0 - self.p**self.k if self.score == "normalized" and self.k else 1.0
        return getattr(agreement, self.score)(), np.full(paired.queries, weight)


class _WeightedAgreement(Record):
    """The scores of RBO from the agreement at all depths; every method returns float64 ``[queries]``."""

    paired: PairedLists
    depths: Depths
    ties: str
    p: float
    k: int

    def ext(self) -> Floats:
        """Extrapolate with the agreement at the end of the shorter list, then of the longer."""
        depths = self.depths
        last_shared = self._at_end_of_shorter()
        listed = self._listed_part(
            depths.spread(last_shared) * depths.unseen(self.ties), ""
        )
        at_end = (
            depths.overlap_at_end + last_shared * (depths.longer - depths.shorter)
        ) / depths.longer
        tail: Floats = at_end * self.p ** depths.longer.astype(np.float64)
        self.paired.record_steps(agreement_at_end=at_end, beyond_lists=tail)
        return listed + tail

    def min(self) -> Floats:
        """Assume that no further document is shared."""
        listed = self._listed_part(0.0, "least")
        beyond = (1.0 - self.p) / self.p * self._harmonic(self.depths.longer)
        tail: Floats = self.depths.overlap_at_end * beyond
        self.paired.record_steps(beyond_lists=tail, bound=listed + tail)
        return listed + tail

    def max(self) -> Floats:
        """Assume that every further document is in the other list, until none are left."""
        depths = self.depths
        listed = self._listed_part(depths.most_unseen(self.ties), "most")
        # from there on all are shared
        full = depths.longer + depths.shorter - depths.overlap_at_end
        end = full.astype(np.float64)
        p = self.p
        # beyond the longer list A_d = 2 - full/d, and 1 from the depth `full` on
        down_to_full = 2.0 * (p ** depths.longer.astype(np.float64) - p**end)
        harmonic = self._harmonic(depths.longer) - self._harmonic(full)
        tail: Floats = down_to_full - (1.0 - p) / p * full * harmonic + p**end
        self.paired.record_steps(beyond_lists=tail, bound=listed + tail)
        return listed + tail

    def res(self) -> Floats:
        """Return the difference of the bounds, the part of the value that is not observed."""
        return self.max() - self.min()

    def normalized(self) -> Floats:
        """Stop at rank k, and divide by the weight down to there."""
        listed = self._listed_part(0.0, "least")
        below = self._harmonic(self.depths.longer) - self._harmonic(
            np.full(self.paired.queries, self.k)
        )
        tail: Floats = self.depths.overlap_at_end * (1.0 - self.p) / self.p * below
        self.paired.record_steps(beyond_lists=tail, bound=listed + tail)
        return listed + tail

    def _listed_part(self, unseen: Floats | float, title: str) -> Floats:
        """Sum the weighted agreement of the lists; ``unseen`` documents below the shorter one are added."""
        depths = self.depths
        agreement = self._agreement(unseen)
        weight = (self.p ** np.arange(int(depths.longer.max(initial=0))))[
            depths.depth - 1
        ]
        summed = sums(depths.query, weight * agreement, len(depths.longer))
        listed: Floats = (1.0 - self.p) * summed
        self.paired.record(
            "depth",
            depths.depth,
            title=title,
            total=summed,
            overlap=lambda: depths.overlap(self.ties) + unseen,
            size=self._size,
            agreement=agreement,
            weight=weight,
            contribution=lambda: weight * agreement,
        )
        self.paired.record_steps(seen=listed)
        return listed

    def _agreement(self, unseen: Floats | float) -> Floats:
        """Return A_d with ``unseen`` documents below the shorter list."""
        return (self.depths.overlap(self.ties) + unseen) / self._size()

    def _size(self) -> Floats:
        """Return the divisor of the overlap at every depth."""
        depths = self.depths
        if self.ties == "b":
            return np.sqrt(depths.a.squares * depths.b.squares)
        if self.ties == "w":
            return (depths.a.last + depths.b.last) / 2.0
        return depths.depth.astype(np.float64)

    def _at_end_of_shorter(self) -> Floats:
        """Return the agreement at the end of the shorter list."""
        depths = self.depths
        at_end: Floats = self._agreement(0.0)[depths.offsets[:-1] + depths.shorter - 1]
        return at_end

    def _harmonic(self, depth: Ints) -> Floats:
        """Return the sum of p^i / i over all i beyond each depth."""
        table = _tails(self.p, _reach(self.p, int(depth.max(initial=0))))
        return table[np.minimum(depth, len(table) - 1)]


#: the longest table, unless lists are longer
_LONGEST: Final = 1 << 20
#: the part of the sum that may be left out
_TOLERANCE: Final = 1e-20


def _reach(p: float, depth: int) -> int:
    """Return the depth down to which p^d counts, from p alone so that queries do not depend on others."""
    reach = min(math.ceil(math.log(_TOLERANCE * (1.0 - p)) / math.log(p)), _LONGEST)
    if reach == _LONGEST < depth:
        return depth
    return reach


@lru_cache(maxsize=8)
def _tails(p: float, reach: int) -> Floats:
    """Return the sum of p^i / i over i > d for d = 0 … reach, summed from the end."""
    terms = p ** np.arange(1, reach + 1) / np.arange(1, reach + 1)
    beyond = max(-math.log1p(-p) - math.fsum(terms.tolist()), 0.0)
    return np.cumsum(np.concatenate(([beyond], terms[::-1])))[::-1]
