"""C/W/L: what a user who may stop at any rank gains and spends, for any user model; users with a goal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.alignment import every_rank
from rankstone.measures.core.definition import Card, Named, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import UnitGain
from rankstone.measures.user_walks import RankWalk
from rankstone.measures.walk_models import MODELS, RR, WALKS, Satisfiable, walk_of

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.claims import Claims
    from rankstone.measures.core.definition import Span
    from rankstone.measures.user_walks import User, Walk


#: texts that cards of user models share: the formula, its symbols, and the tools that have such measures
EU: Final = "EU = Σ V(i) g_i / Σ V(i),  V(i) = Π_{j < i} C(j)"
GAIN: Final = (
    "g_i: gain at rank i, between 0 and 1; V(i): probability that rank i is examined"
)
TOOLS: Final = "cwl_eval, ir_measures"

#: the largest depth of a walk
DEEPEST: Final = 10**6
#: the lowest and highest value of each output
_SPANS: Final[dict[str, Span]] = {
    "EU": (0.0, 1.0),
    **dict.fromkeys(("ETU", "EC", "ETC", "ED"), (0.0, None)),
    "ResEU": (-1.0, 1.0),
    **dict.fromkeys(("ResETU", "ResED"), (None, None)),
}
#: parameters of models that may be missing although the model reads them
_OPTIONAL: Final = ("k", "cost_relevant")


class UserModel(UnitGain, family="user models"):
    """The mean gain per rank examined, for a user who walks as the model says."""

    def __post_init__(self) -> None:
        """Refuse a walk without an end, and one that is too long."""
        super().__post_init__()
        if self.k is None and (self.walk.stops_at_k or "k" in self.walk.parameters):
            raise BadParameter(
                f"{self} needs a cutoff, where its user stops", fix=f"write {self}@10"
            )
        if self.depth > DEEPEST:
            raise BadParameter(f"{self} is too deep", expected=f"up to {DEEPEST} ranks")

    @property
    def walk(self) -> Walk:
        """The user model; its parameters are the measure's."""
        return walk_of(self.name)

    @property
    def depth(self) -> int:
        """The rank at which the walk ends at the latest."""
        return self.k or 0

    @property
    def last_gain(self) -> int:
        """The rank below which gains do not count."""
        return (
            self.depth
            if self.k is None or self.claims.looks_deeper
            else min(self.k, self.depth)
        )

    @property
    def claims(self) -> Claims:
        """What is proven of the walk: a gain may move the weights of all ranks below it."""
        by_rank = isinstance(self.walk, RankWalk)
        claims = super().claims
        return replace(
            claims,
            closed_under_ties=by_rank,
            extremal_under_ties=claims.extremal_under_ties and self.walk.gains_shorten,
            promotion_helps=claims.promotion_helps and self.walk.gains_shorten,
            grows_with_k=self.ends_at_first_gain
            or (self.walk.gains_shorten and not self.walk.stops_at_k),
            bounds_by="additive" if by_rank else "enumeration",
            deeper_grades_matter=False,
        )

    @property
    def ends_at_first_gain(self) -> bool:
        """True if the first gain ends the walk: then it alone counts, and does so from its rank on."""
        return isinstance(self.walk, RR) or (
            isinstance(self.walk, Satisfiable) and self.gain == "binary"
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Weight each gain with the probability that it is examined; divide by the ranks examined."""
        gain = self.gains_of(hits)
        chance, ranks = self.walk.examination(
            cast("User", self), hits, gain, self.depth, self.last_gain
        )
        hits.record_columns(gain=gain, looked_at=chance)
        return Contributions(chance * gain, ranks)


@dataclass(frozen=True, kw_only=True)
class OpenWalk(UserModel):
    """A measure whose user may go on without end; ``n_max`` ranks are examined at most."""

    n_max: float = parameter(
        1000, "ranks of a walk at most", low=1, high=DEEPEST, whole=True
    )

    @property
    def depth(self) -> int:
        """The rank at which the walk ends at the latest."""
        return int(self.n_max)


@dataclass(frozen=True, kw_only=True)
class CWL(OpenWalk):
    """C/W/L: any user model, and each of its outputs: utility, cost, depth, and their residuals.

    >>> print(CWL(model="INST", T=2.0, max_grade=3, output="ED"))
    CWL(max_grade=3, model=INST, output=ED, T=2)
    """

    needs_relevant = False
    examples = (
        "CWL(max_grade=3, model=INST, T=1)",
        "CWL(gain=binary, model=P, output=ETU)@10",
        "CWL(gain=binary, model=RBP, output=ResEU, p=0.8)",
    )
    card = Card(
        sentence="What does a user of some model gain, spend and examine, per rank and in all?",
        formula="EU = Σ W(i) g_i,  ETU = Σ V(i) g_i,  EC = Σ W(i) c_i,  ETC = Σ V(i) c_i,  ED = Σ V(i);  "
        "V(i) = Π_{j < i} C(j),  W(i) = V(i) / Σ V;  Res…: the value if all unjudged and unretrieved "
        "documents had the largest gain, less the value",
        symbols="g_i: gain, c_i: cost of rank i (`cost`, `cost_relevant`); C(i): chance to go on from i; "
        "ranks 1 … n_max, or 1 … k where the model stops at the cutoff; G_i = Σ_{j ≤ i} g_j; C(i) by model: "
        + ", ".join(
            f"{name} {walk.continuation_formula}" for name, walk in WALKS.items()
        ),
        example="model=P, k = 5, relevant at ranks 1 and 3: EU = 2/5, ETU = 2, ED = 5",
        needs="judgments, the top of the grade scale",
        direction="neither",
        undefined="never",
        peers={
            "cwl_eval": "the same, but its ETU and ETC leave out users who go on after rank 1000",
            "cwl_eval AP": "the same as model=AP: it divides by the relevant hits, AP(denom=hits), not by R",
            "cwl_eval TBG, U-measure": "the same as model=TBG, model=U; its U leaves out rank 1000",
        },
        sensitive="ties, unjudged documents (gain 0; the residual says how much), the model",
        use="EU compares systems (more is better), ED and ETC show how deep users go, Res… the uncertainty",
        citation="Moffat, Thomas and Scholer, CIKM 2013; Moffat, Bailey, Scholer and Thomas, TOIS 2017; "
        "Azzopardi, Thomas and Moffat, SIGIR 2019",
    )

    model: str = parameter(
        None, "how the user walks", MODELS, needed="write CWL(model=P)@10"
    )
    output: str = parameter("EU", "which output", *_SPANS)
    p: float | None = parameter(None, "persistence (RBP, NERR10)", above=0.0, below=1.0)
    T: float | None = parameter(None, "the goal (INST, INSQ, BPM, NERR11)", low=0.5)
    hb: float = parameter(0.0, "how much gains raise the goal (BPM)", low=0.0)
    hc: float = parameter(0.0, "how much gains raise the budget (BPM)", low=0.0)
    gain_med: float = parameter(
        0.5, "gain that neither raises nor lowers them (BPM)", low=0.0, high=1.0
    )
    half_life: float | None = parameter(
        None, "time in which patience halves (TBG)", above=0.0
    )
    L: float | None = parameter(None, "text after which the user stops (U)", above=0.0)
    cost: float = parameter(1.0, "cost of examining a rank", above=0.0)
    cost_relevant: float | None = parameter(
        None, "cost of examining one with a gain", above=0.0
    )

    def __post_init__(self) -> None:
        """Refuse a model without its parameters, and parameters without an effect."""
        Named.__post_init__(self)
        read = set(self.walk.parameters)
        for name in self.walk.parameters:
            if name not in _OPTIONAL and getattr(self, name) is None:
                raise BadParameter(
                    f"CWL(model={self.model}) needs {name}", fix=f"add {name}=<number>"
                )
        if self.output in ("EC", "ETC"):
            read |= {"cost", "cost_relevant"}
        inactive = {name for walk in WALKS.values() for name in walk.parameters} - read
        if self.walk.stops_at_k:
            inactive.add("n_max")
        for name in self.changed():
            if name in inactive:
                raise BadParameter(
                    f"{name} has no effect in {self}", fix=f"leave {name} out"
                )
        super().__post_init__()

    @property
    def walk(self) -> Walk:
        """The user model; its parameters are the measure's."""
        return walk_of(self.model)

    @property
    def depth(self) -> int:
        """The rank at which the walk ends at the latest: the cutoff where the model stops there."""
        return (
            (self.k or 0)
            if self.walk.stops_at_k
            else max(super().depth, int(self.k or 0))
        )

    @property
    def claims(self) -> Claims:
        """The claims of the walk are about gains; residuals depend on what is judged, not on grades.

        A deeper cutoff adds terms to ETU; for model=AP, where ETU is the mean of G_j with weights g_j / j, it
        adds the largest.  It adds ranks to ED if the walk ended at the cutoff, or does not depend on gains.
        ResETU falls where judged documents come into view that counted as unjudged, EU where a cutoff below
        n_max lengthens the walk.
        """
        claims = super().claims
        gained = self.output in ("EU", "ETU")
        slower = self.cost_relevant is None or self.cost_relevant >= self.cost
        by_rank = isinstance(self.walk, RankWalk)
        stops = self.walk.stops_at_k
        constant = by_rank and self.output == "ED"
        ends = self.ends_at_first_gain or (
            self.model == "U" and self.n_max * self.cost >= (self.L or 0)
        )
        grows = {
            "EU": ends,
            "ETU": True,
            "ED": by_rank or stops,
            "ResETU": by_rank and stops,
        }
        return replace(
            claims,
            looks_deeper=self.hc > 0,
            deeper_grades_matter=self.hc > 0,
            closed_under_ties=claims.closed_under_ties
            and (gained or self.output == "ED"),
            extremal_under_ties=claims.extremal_under_ties
            and slower
            and (gained or constant),
            promotion_helps=claims.promotion_helps and slower and gained,
            grows_with_k=grows.get(self.output, False),
            bounds_by="nothing"
            if self._is_residual
            else claims.bounds_by
            if gained
            else "enumeration",
        )

    @property
    def span(self) -> Span:
        """Return the range of the output."""
        return _SPANS[self.output]

    @property
    def _is_residual(self) -> bool:
        return self.output.startswith("Res")

    def contributions(self, hits: Hits) -> Contributions:
        """Return the output as judged, or how much larger it could be."""
        gain = self.gains_of(hits)
        judged = self._output(hits, gain, self.last_gain)
        return self._residual(hits, gain, judged) if self._is_residual else judged

    def _output(self, hits: Hits, gain: Floats, last_gain: int) -> Contributions:
        output = self.output.removeprefix("Res")
        chance, ranks = self.walk.examination(
            cast("User", self), hits, gain, self.depth, last_gain
        )
        hits.record_columns(gain=gain, looked_at=chance)
        norm = ranks if output in ("EU", "EC") else np.ones(hits.queries)
        if output in ("EU", "ETU"):
            return Contributions(chance * gain, norm)
        between = ranks - hits.total(chance)
        if output == "ED":
            return Contributions(chance, norm, unjudged=between)
        with_gain = self.cost if self.cost_relevant is None else self.cost_relevant
        return Contributions(chance * with_gain, norm, unjudged=between * self.cost)

    def _residual(
        self, hits: Hits, gain: Floats, judged: Contributions
    ) -> Contributions:
        """Give every unjudged rank the largest gain; return how much larger the output is then."""
        share, rest = _shares(hits, judged)
        share = -share
        rest = -rest
        for queries, every, old, place in every_rank(hits, self.depth):
            best = np.full(len(every.rank), self.top)
            known = hits.judged[old]
            best[place[known]] = gain[old[known]]
            possible, elsewhere = _shares(every, self._output(every, best, self.depth))
            share[old] += possible[place]
            possible[place] = 0.0
            rest[queries] += elsewhere + every.total(possible)
        return Contributions(share, np.ones(hits.queries), unjudged=rest)


def _shares(hits: Hits, parts: Contributions) -> tuple[Floats, Floats]:
    """Return what each hit, and what the other ranks, contribute to the value itself."""
    rest = (
        np.zeros(hits.queries)
        if parts.unjudged is None
        else parts.unjudged / parts.norm
    )
    return parts.hits / hits.spread(parts.norm), rest


class SDCG(UserModel):
    """Scaled DCG: DCG over that of k perfect documents.

    >>> print(SDCG(max_grade=3, k=10))
    SDCG(max_grade=3)@10
    """

    aliases = ("ScaledDCG",)
    examples = ("SDCG(max_grade=3)@10", "SDCG(gain=binary)@10")
    card = Card(
        sentence="How much of what k perfect documents would give do the first k results give?",
        formula="SDCG@k = Σ_{i ≤ k} (g_i / log2(i + 1)) / Σ_{i ≤ k} (1 / log2(i + 1))",
        symbols="g_i: gain at rank i, between 0 and 1 (grade / max_grade unless `gain` says otherwise)",
        example="grades 3, 0, 3 of 0 … 3: SDCG@3 = (1 + 1/2) / (1 + 1/log2(3) + 1/2) = 0.7039",
        needs="judgments, the top of the grade scale, a cutoff",
        peers={
            "cwl_eval NDCG-k, ir_measures SDCG(max_rel=m)@k": "the same down to rank 1000, "
            "their deepest",
            "nDCG": "divides by the DCG of the documents that exist, not of k perfect ones",
        },
        sensitive="ties, unjudged documents (gain 0), lists shorter than k, queries with few good documents",
        use="to compare queries without an ideal list; 1 is out of reach where fewer than k are perfect",
        citation="Järvelin and Kekäläinen, TOIS 2002; Moffat, Thomas and Scholer, CIKM 2013",
    )


@dataclass(frozen=True, kw_only=True)
class INSQ(OpenWalk):
    """INSQ: a user who wants about T documents and whose persistence grows with the rank.

    >>> print(INSQ(max_grade=3, T=2.0))
    INSQ(max_grade=3, T=2)
    """

    examples = ("INSQ(max_grade=3)", "INSQ(gain=binary)")
    card = Card(
        sentence="What gain per rank has a user who came for about T documents?",
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
    """INST: INSQ whose user becomes less persistent with every gain.

    >>> print(INST(max_grade=3, T=2.0))
    INST(max_grade=3, T=2)
    """

    examples = ("INST(max_grade=3)", "INST(gain=binary)")
    card = replace(
        INSQ.card,
        sentence="What gain per rank has a user who came for about T documents and stops when served?",
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

    examples = ("BPM(max_grade=3)@10", "BPM(max_grade=3, T=2, hb=0.5)@10")
    card = Card(
        sentence="What gain per rank has a user who looks until a gain of T is found, at k ranks at most?",
        formula="EU = Σ_{i ≤ s} g_i / s,  s: the first rank with G_s ≥ T_s or s ≥ K_s",
        symbols="g_i: gain at rank i, G_i: gain down to rank i; T_i = T + hb (G_{i−1} − (i − 1) gain_med), "
        "K_i = k + hc (G_{i−1} − (i − 1) gain_med); static (hb = hc = 0): T_i = T, K_i = k",
        example="perfect documents at ranks 2 and 3; T = 2, k = 10: s = 3, EU = 2/3; T = 1: s = 2, EU = 1/2",
        needs="judgments, the top of the grade scale, a cutoff (the budget)",
        peers={
            "cwl_eval BPM-Static, ir_measures": "the same down to rank 1000, up to sums such as "
            "6 · 1/6, which stay below 1 there by rounding, so that the goal is missed",
            "cwl_eval BPM-Dynamic": "hc has no effect (its loop changes T instead of K): BPM(hb=…)@K",
        },
        sensitive="ties, unjudged documents (gain 0), T and k",
        use="users with a clear goal and little patience; hb and hc let expectations move with the results",
        citation="Zhang, Liu, Li, Zhang, Xu and Ma, SIGIR 2017",
    )

    T: float = parameter(1.0, "gain the user wants", above=0.0)
    hb: float = parameter(0.0, "how much gains raise the goal", low=0.0)
    hc: float = parameter(0.0, "how much gains raise the budget", low=0.0)
    gain_med: float = parameter(
        0.5, "gain that neither raises nor lowers them", low=0.0, high=1.0
    )

    @property
    def depth(self) -> int:
        """The budget; where gains move it, 1000 ranks or the budget, whichever is more."""
        return (self.k or 0) if self.hc == 0 else max(self.k or 0, 1000)

    @property
    def claims(self) -> Claims:
        """Gains may move the budget below the cutoff."""
        return replace(
            super().claims, looks_deeper=self.hc > 0, deeper_grades_matter=self.hc > 0
        )
