"""C/W/L: what a user who walks down the list and may stop gains, spends and sees, for any model.

Users with a goal or a budget: SDCG, INSQ, INST and the Bejeweled Player Model.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.alignment import every_rank
from rankstone.measures.core.definition import Card, Named, parameter
from rankstone.measures.core.graded_measure import UnitGain
from rankstone.measures.core.measure import Contributions
from rankstone.measures.user_walks import WeightedWalk
from rankstone.measures.walk_models import MODELS, WALKS, walk_of

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Floats
    from rankstone.measures.core.claims import Claims
    from rankstone.measures.core.definition import Span
    from rankstone.measures.user_walks import Walk


#: sentences that cards of user models share: the formula, its symbols, and the tools that have such measures
EU: Final = "EU = Σ V(i) g_i / Σ V(i),  V(i) = Π_{j < i} C(j)"
GAIN: Final = "g_i: gain at rank i, between 0 and 1; V(i): chance that rank i is looked at"
TOOLS: Final = "cwl_eval, ir_measures"

#: nobody looks deeper
DEEPEST: Final = 10**6


@dataclass(frozen=True, kw_only=True)
class UserModel(UnitGain):
    """The gain that a rank looked at brings on average, for a user who walks as the model says."""

    family: ClassVar[str] = "user models"

    def __post_init__(self) -> None:
        """Refuse a walk whose end is not known or too far away."""
        super().__post_init__()
        if self.k is None and (self.kind.stops_at_k or "k" in self._parts()):
            raise BadParameter(f"{self} needs a cutoff: its user looks no further", fix=f"write {self}@10")
        if self.depth > DEEPEST:
            raise BadParameter(f"nobody looks as deep as {self}", expected=f"up to {DEEPEST} ranks")

    @property
    def kind(self) -> type[Walk]:
        """The kind of walk."""
        return walk_of(self.name)

    def _parts(self) -> dict[str, object]:
        """Return the model's parameters, which the measure has under the same names."""
        return {f.name: getattr(self, f.name) for f in fields(self.kind)}

    @property
    def walk(self) -> Walk:
        """The model."""
        return self.kind(**self._parts())

    @property
    def depth(self) -> int:
        """The rank at which the walk ends at the latest."""
        return self.k or 0

    @property
    def known(self) -> int:
        """The rank below which finds do not count."""
        return self.depth if self.k is None or self.claims.looks_deeper else min(self.k, self.depth)

    @property
    def claims(self) -> Claims:
        """What is proven of the walk: a find may move the weights of all ranks below it."""
        by_rank, claims = issubclass(self.kind, WeightedWalk), super().claims
        return replace(
            claims,
            closed_under_ties=by_rank,
            extremal_under_ties=claims.extremal_under_ties and self.kind.ordered,
            promotion_helps=claims.promotion_helps and self.kind.ordered,
            grows_with_k=by_rank and not self.kind.stops_at_k,
            bounds_by="additive" if by_rank else "enumeration",
            deeper_grades_matter=False,
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Weigh each gain by the chance that it is looked at; divide by the ranks looked at."""
        gain = self.gains_of(hits)
        chance, looked = self.walk.looked(hits, gain, self.depth, self.known)
        hits.record_columns(gain=gain, looked_at=chance)
        return Contributions(chance * gain, looked)


#: the lowest and highest value of each output
_SPANS: Final[dict[str, Span]] = {
    "EU": (0.0, 1.0),
    "ETU": (0.0, None),
    "EC": (0.0, None),
    "ETC": (0.0, None),
    "ED": (0.0, None),
    "ResEU": (-1.0, 1.0),
    "ResETU": (None, None),
    "ResED": (None, None),
}


#: parameters that only some models have
_OF_MODELS: Final = ("p", "T", "hb", "hc", "gain_med", "half_life", "L", "cost", "cost_relevant")


@dataclass(frozen=True, kw_only=True)
class OpenWalk(UserModel):
    """A measure whose user may go on for ever; after ``n_max`` ranks nobody looks any more."""

    n_max: float = parameter(1000, "ranks of a walk at most", low=1, high=DEEPEST, whole=True)

    @property
    def depth(self) -> int:
        """The rank at which the walk ends at the latest."""
        return int(self.n_max)


@dataclass(frozen=True, kw_only=True)
class CWL(OpenWalk):
    """C/W/L: any user model, and everything it says: utility, cost, depth, and how sure that is.

    >>> print(CWL(model="INST", T=2.0, max_grade=3, output="ED"))
    CWL(max_grade=3, model=INST, output=ED, T=2)
    """

    needs_relevant: ClassVar[bool] = False
    examples: ClassVar[tuple[str, ...]] = (
        "CWL(max_grade=3, model=INST, T=1)",
        "CWL(gain=binary, model=P, output=ETU)@10",
        "CWL(gain=binary, model=RBP, output=ResEU, p=0.8)",
    )
    card: ClassVar[Card] = Card(
        sentence="What does a user of some model gain, spend and see, per rank and in all?",
        formula="EU = Σ W(i) g_i,  ETU = Σ V(i) g_i,  EC = Σ W(i) c_i,  ETC = Σ V(i) c_i,  ED = Σ V(i);  "
        "V(i) = Π_{j < i} C(j),  W(i) = V(i) / Σ V;  Res…: the value if all unjudged and unseen documents "
        "had the largest gain, less the value",
        symbols="g_i: gain, c_i: cost of rank i (`cost`, `cost_relevant`); C(i): chance to go on from i; "
        "ranks 1 … n_max, or 1 … k where the model stops at the cutoff; G_i = Σ_{j ≤ i} g_j; C(i) by model: "
        + ", ".join(f"{name} {kind.goes_on_by}" for name, kind in WALKS.items()),
        example="model=P, k = 5, relevant at ranks 1 and 3: EU = 2/5, ETU = 2, ED = 5",
        needs="judgments, the top of the grade scale",
        direction="neither",
        undefined="never",
        peers={
            "cwl_eval": "the same, but its ETU and ETC leave out users still looking after rank 1000",
            "cwl_eval AP": "the same as model=AP: it divides by the finds, AP(denom=hits), not by R",
            "cwl_eval TBG, U-measure": "the same as model=TBG, model=U; its U leaves out rank 1000",
        },
        sensitive="ties, unjudged documents (gain 0; the residual says how much), the model",
        use="EU compares systems (more is better), ED and ETC say how far users go, Res… how sure that is",
        citation="Moffat, Thomas and Scholer, CIKM 2013; Moffat, Bailey, Scholer and Thomas, TOIS 2017; "
        "Azzopardi, Thomas and Moffat, SIGIR 2019",
    )

    model: str = parameter(None, "how the user walks", MODELS, needed="write CWL(model=P)@10")
    output: str = parameter("EU", "what to tell", *_SPANS)
    p: float | None = parameter(None, "persistence (RBP, NERR10)", above=0.0, below=1.0)
    T: float | None = parameter(None, "the goal (INST, INSQ, BPM, NERR11)", low=0.5)
    hb: float = parameter(0.0, "how much finds raise the goal (BPM)", low=0.0)
    hc: float = parameter(0.0, "how much finds raise the budget (BPM)", low=0.0)
    gain_med: float = parameter(0.5, "gain that neither raises nor lowers them (BPM)", low=0.0, high=1.0)
    half_life: float | None = parameter(None, "time in which patience halves (TBG)", above=0.0)
    L: float | None = parameter(None, "text after which the user stops (U)", above=0.0)
    cost: float = parameter(1.0, "what looking at a rank costs", above=0.0)
    cost_relevant: float | None = parameter(None, "what looking at one that gains costs", above=0.0)

    def __post_init__(self) -> None:
        """Refuse a model without its parameters, and parameters that play no part."""
        Named.__post_init__(self)
        parts = {f.name: f for f in fields(self.kind)}
        for name, f in parts.items():
            if name != "k" and f.default is MISSING and getattr(self, name) is None:
                raise BadParameter(
                    f"CWL(model={self.model}) needs {name}", fix=f"write …, {name}=<number>, …"
                )
        spending = {"cost", "cost_relevant"} if self.output in ("EC", "ETC") else set()
        idle = set(_OF_MODELS) - set(parts) - spending
        if self.kind.stops_at_k:
            idle.add("n_max")
        for name in self.changed():
            if name in idle:
                raise BadParameter(f"{name} plays no part in {self}", fix=f"leave {name} out")
        super().__post_init__()

    @property
    def kind(self) -> type[Walk]:
        """The kind of walk."""
        return walk_of(self.model)

    @property
    def depth(self) -> int:
        """The rank at which the walk ends at the latest: the cutoff where the model stops there."""
        return (self.k or 0) if self.kind.stops_at_k else max(super().depth, int(self.k or 0))

    @property
    def claims(self) -> Claims:
        """What the walk promises holds for gains; residuals speak of what is judged, not of grades."""
        claims, gained = super().claims, self.output in ("EU", "ETU")
        return replace(
            claims,
            looks_deeper=self.hc > 0,
            deeper_grades_matter=self.hc > 0,
            closed_under_ties=claims.closed_under_ties and (gained or self.output == "ED"),
            extremal_under_ties=claims.extremal_under_ties and self.output == "EU",
            promotion_helps=claims.promotion_helps and self.output == "EU",
            grows_with_k=claims.grows_with_k and gained,
            bounds_by="nothing" if self._uncertain else claims.bounds_by if gained else "enumeration",
        )

    @property
    def span(self) -> Span:
        """Return the range of the output."""
        return _SPANS[self.output]

    @property
    def _uncertain(self) -> bool:
        return self.output.startswith("Res")

    def contributions(self, hits: Hits) -> Contributions:
        """Tell what is asked for: as judged, or how much more it could be."""
        gain = self.gains_of(hits)
        told = self._told(hits, gain, self.known)
        return self._residual(hits, gain, told) if self._uncertain else told

    def _told(self, hits: Hits, gain: Floats, known: int) -> Contributions:
        output = self.output.removeprefix("Res")
        chance, looked = self.walk.looked(hits, gain, self.depth, known)
        hits.record_columns(gain=gain, looked_at=chance)
        each = looked if output in ("EU", "EC") else np.ones(hits.queries)
        if output in ("EU", "ETU"):
            return Contributions(chance * gain, each)
        between = looked - hits.total(chance)
        if output == "ED":
            return Contributions(chance, each, unjudged=between)
        find = self.cost if self.cost_relevant is None else self.cost_relevant
        return Contributions(chance * find, each, unjudged=between * self.cost)

    def _residual(self, hits: Hits, gain: Floats, told: Contributions) -> Contributions:
        """Give every rank that nobody judged the largest gain; return how much more that is."""
        share, rest = _shares(hits, told)
        share, rest = -share, -rest
        for queries, every, old, place in every_rank(hits, self.depth):
            best = np.full(len(every.rank), self.top)
            known = hits.judged[old]
            best[place[known]] = gain[old[known]]
            hoped, elsewhere = _shares(every, self._told(every, best, self.depth))
            share[old] += hoped[place]
            hoped[place] = 0.0
            rest[queries] += elsewhere + every.total(hoped)
        return Contributions(share, np.ones(hits.queries), unjudged=rest)


def _shares(hits: Hits, told: Contributions) -> tuple[Floats, Floats]:
    """Return what hits, and what other ranks, contribute to the ratio itself."""
    rest = np.zeros(hits.queries) if told.unjudged is None else told.unjudged / told.norm
    return told.hits / hits.spread(told.norm), rest


@dataclass(frozen=True, kw_only=True)
class SDCG(UserModel):
    """Scaled DCG: DCG over that of k perfect documents.

    >>> print(SDCG(max_grade=3, k=10))
    SDCG(max_grade=3)@10
    """

    aliases: ClassVar[tuple[str, ...]] = ("ScaledDCG",)
    examples: ClassVar[tuple[str, ...]] = ("SDCG(max_grade=3)@10", "SDCG(gain=binary)@10")
    card: ClassVar[Card] = Card(
        sentence="How much of what k perfect documents would give do the first k results give?",
        formula="SDCG@k = Σ_{i ≤ k} (g_i / log2(i + 1)) / Σ_{i ≤ k} (1 / log2(i + 1))",
        symbols="g_i: gain at rank i, between 0 and 1 (grade / max_grade unless `gain` says otherwise)",
        example="grades 3, 0, 3 of 0 … 3: SDCG@3 = (1 + 1/2) / (1 + 1/log2(3) + 1/2) = 0.7039",
        needs="judgments, the top of the grade scale, a cutoff",
        peers={
            "cwl_eval NDCG-k, ir_measures SDCG(max_rel=m)@k": "the same",
            "nDCG": "divides by the DCG of the documents that exist, not of k perfect ones",
        },
        sensitive="ties, unjudged documents (gain 0), lists shorter than k, queries with few good documents",
        use="to compare queries without an ideal list; 1 is out of reach where fewer than k are perfect",
        citation="Järvelin and Kekäläinen, TOIS 2002; Moffat, Thomas and Scholer, CIKM 2013",
    )


@dataclass(frozen=True, kw_only=True)
class INSQ(OpenWalk):
    """INSQ: a user who wants about T documents and grows more persistent on the way.

    >>> print(INSQ(max_grade=3, T=2.0))
    INSQ(max_grade=3, T=2)
    """

    examples: ClassVar[tuple[str, ...]] = ("INSQ(max_grade=3)", "INSQ(gain=binary)")
    card: ClassVar[Card] = Card(
        sentence="What does a rank bring to a user who came for about T documents?",
        formula=f"{EU},  C(i) = ((i + 2T − 1) / (i + 2T))², so V(i) = (2T / (i + 2T − 1))²",
        symbols=f"{GAIN}; T: useful documents the user hopes for; ranks 1 … n_max",
        example="one perfect document, at rank 1; T = 1, n_max = 2: 1 / (1 + (2/3)²) = 9/13",
        needs="judgments, the top of the grade scale",
        peers={TOOLS: "the same: ΣV is taken over 1000 ranks there too (n_max)"},
        sensitive="ties, unjudged documents (gain 0), T",
        use="searches of known purpose; INST lets the goal recede as documents are found",
        citation="Moffat, Scholer and Thomas, ADCS 2012",
    )

    T: float = parameter(1.0, "useful documents the user hopes for", above=0.0)


@dataclass(frozen=True, kw_only=True)
class INST(OpenWalk):
    """INST: INSQ whose user becomes less persistent with every find.

    >>> print(INST(max_grade=3, T=2.0))
    INST(max_grade=3, T=2)
    """

    examples: ClassVar[tuple[str, ...]] = ("INST(max_grade=3)", "INST(gain=binary)")
    card: ClassVar[Card] = replace(
        INSQ.card,
        sentence="What does a rank bring to a user who came for about T documents and stops when served?",
        formula=f"{EU},  C(i) = ((i + T + T_i − 1) / (i + T + T_i))²,  T_i = T − Σ_{{j ≤ i}} g_j",
        symbols=f"{GAIN}; T: useful documents the user hopes for, T_i: still; ranks 1 … n_max",
        example="one perfect document, at rank 1; T = 1, n_max = 2: C(1) = (1/2)², so 1 / (1 + 1/4) = 4/5",
        use="when you know how many answers users come for; report ED and residuals with it (CWL)",
        citation="Moffat, Bailey, Scholer and Thomas, ADCS 2015; Bailey et al., SIGIR 2015",
    )

    T: float = parameter(1.0, "useful documents the user hopes for", low=0.5)


@dataclass(frozen=True, kw_only=True)
class BPM(UserModel):
    """Bejeweled Player Model: a user who stops when the goal is reached or the budget spent.

    >>> print(BPM(max_grade=3, T=2.0, k=10))
    BPM(max_grade=3, T=2)@10
    """

    examples: ClassVar[tuple[str, ...]] = ("BPM(max_grade=3)@10", "BPM(max_grade=3, T=2, hb=0.5)@10")
    card: ClassVar[Card] = Card(
        sentence="What does a rank bring to a user who looks until a gain of T is found, at k ranks at most?",
        formula="EU = Σ_{i ≤ s} g_i / s,  s: the first rank with G_s ≥ T_s or s ≥ K_s",
        symbols="g_i: gain at rank i, G_i: gain down to rank i; T_i = T + hb (G_{i−1} − (i − 1) gain_med), "
        "K_i = k + hc (G_{i−1} − (i − 1) gain_med); static (hb = hc = 0): T_i = T, K_i = k",
        example="perfect documents at ranks 2 and 3; T = 2, k = 10: s = 3, EU = 2/3; T = 1: s = 2, EU = 1/2",
        needs="judgments, the top of the grade scale, a cutoff (the budget)",
        peers={
            "cwl_eval BPM-Static, ir_measures": "the same, up to sums such as 6 · 1/6, which stay below 1 "
            "there by rounding, so that the goal is missed",
            "cwl_eval BPM-Dynamic": "hc has no effect (its loop changes T instead of K): BPM(hb=…)@K",
        },
        sensitive="ties, unjudged documents (gain 0), T and k",
        use="users with a clear goal and little patience; hb and hc let expectations move with the results",
        citation="Zhang, Liu, Li, Zhang, Xu and Ma, SIGIR 2017",
    )

    T: float = parameter(1.0, "gain the user wants", above=0.0)
    hb: float = parameter(0.0, "how much finds raise the goal", low=0.0)
    hc: float = parameter(0.0, "how much finds raise the budget", low=0.0)
    gain_med: float = parameter(0.5, "gain that neither raises nor lowers them", low=0.0, high=1.0)

    @property
    def depth(self) -> int:
        """The budget; where finds move it, the walk ends after 1000 ranks or so many."""
        return (self.k or 0) if self.hc == 0 else max(self.k or 0, 1000)

    @property
    def claims(self) -> Claims:
        """Finds may move the budget below the cutoff."""
        return replace(super().claims, looks_deeper=self.hc > 0, deeper_grades_matter=self.hc > 0)
