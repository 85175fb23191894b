"""Users with a goal or a budget: SDCG, INSQ, INST and the Bejeweled Player Model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from rankstone.measures.cwl import EU, GAIN, TOOLS, OpenWalk, UserModel
from rankstone.measures.named import Card, parameter

__all__ = ["BPM", "INSQ", "INST", "SDCG"]


@dataclass(frozen=True, kw_only=True)
class SDCG(UserModel):
    """Scaled DCG: DCG over that of k perfect documents.

    >>> print(SDCG(max_grade=3, k=10))
    SDCG(max_grade=3)@10
    """

    name: ClassVar[str] = "SDCG"
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

    name: ClassVar[str] = "INSQ"
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

    name: ClassVar[str] = "INST"
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

    name: ClassVar[str] = "BPM"
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
    def looks_deeper(self) -> bool:
        """Hold where finds move the budget below the cutoff."""
        return self.hc > 0
