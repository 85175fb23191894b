"""Nearly ERR: the four C/W/L measures with ERR's cascade, by the numbers of their equations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from rankstone.measures.cwl import EU, GAIN, TOOLS, OpenWalk, UserModel
from rankstone.measures.named import Card, parameter

__all__ = ["NERR8", "NERR9", "NERR10", "NERR11"]


@dataclass(frozen=True, kw_only=True)
class NERR8(UserModel):
    """Nearly ERR, equation 8: a user whom only finds stop, at k ranks at most.

    >>> print(NERR8(max_grade=3, k=10))
    NERR8(max_grade=3)@10
    """

    name: ClassVar[str] = "NERR8"
    examples: ClassVar[tuple[str, ...]] = ("NERR8(max_grade=3)@10", "NERR8(gain=binary)@10")
    card: ClassVar[Card] = Card(
        sentence="What does a rank bring to a user whom only good documents stop?",
        formula=f"{EU},  C(i) = 1 − g_i for i < k, 0 from there",
        symbols=GAIN,
        example="gains 0.5, 0, 1, k = 10: V = 1, 0.5, 0.5, 0: EU = (0.5 + 0.5) / 2 = 1/2",
        needs="judgments, the top of the grade scale, a cutoff",
        peers={TOOLS: "the same", "ERR": "is no C/W/L measure: 1/i is a gain there, here ranks are"},
        sensitive="ties, unjudged documents (gain 0), the top of the scale",
        use="ERR's cascade with a weight for every rank; binary gains make it reciprocal rank",
        citation="Azzopardi, Mackenzie and Moffat, ICTIR 2021",
    )


@dataclass(frozen=True, kw_only=True)
class NERR9(UserModel):
    """Nearly ERR, equation 9: finds and, less and less, ranks stop the user, at k ranks at most.

    >>> print(NERR9(max_grade=3, k=10))
    NERR9(max_grade=3)@10
    """

    name: ClassVar[str] = "NERR9"
    examples: ClassVar[tuple[str, ...]] = ("NERR9(max_grade=3)@10", "NERR9(gain=binary)@10")
    card: ClassVar[Card] = replace(
        NERR8.card,
        sentence="What does a rank bring to a user whom good documents and depth stop?",
        formula=f"{EU},  C(i) = i / (i + 1) · (1 − g_i) for i < k, 0 from there",
        example="gains 0.5, 0, 1, k = 10: V = 1, 1/4, 1/6, 0: EU = (1/2 + 1/6) / (17/12) = 8/17",
        use="the C/W/L measure nearest to ERR: V has its 1/i",
    )


@dataclass(frozen=True, kw_only=True)
class NERR10(OpenWalk):
    """Nearly ERR, equation 10: RBP whose user good documents stop, too.

    >>> print(NERR10(max_grade=3, p=0.8))
    NERR10(max_grade=3, p=0.8)
    """

    name: ClassVar[str] = "NERR10"
    examples: ClassVar[tuple[str, ...]] = ("NERR10(max_grade=3)", "NERR10(gain=binary, p=0.8)")
    card: ClassVar[Card] = replace(
        NERR8.card,
        sentence="What does a rank bring to a user of persistence p whom good documents stop?",
        formula=f"{EU},  C(i) = p (1 − g_i)",
        symbols=f"{GAIN}; p: persistence; ranks 1 … n_max",
        example="gains 0.5, 1; p = 0.8: V = 1, 0.4, 0: EU = (0.5 + 0.4) / 1.4 = 9/14",
        needs="judgments, the top of the grade scale",
        use="RBP with ERR's cascade",
    )

    p: float = parameter(0.9, "chance to go on where nothing is found", above=0.0, below=1.0)


@dataclass(frozen=True, kw_only=True)
class NERR11(OpenWalk):
    """Nearly ERR, equation 11: INSQ whose user good documents stop, too.

    >>> print(NERR11(max_grade=3))
    NERR11(max_grade=3)
    """

    name: ClassVar[str] = "NERR11"
    examples: ClassVar[tuple[str, ...]] = ("NERR11(max_grade=3)", "NERR11(gain=binary, T=2)")
    card: ClassVar[Card] = replace(
        NERR8.card,
        sentence="What does a rank bring to a user who came for about T documents and whom good ones stop?",
        formula=f"{EU},  C(i) = ((i + 2T − 1) / (i + 2T))² (1 − g_i)",
        symbols=f"{GAIN}; T: useful documents the user hopes for; ranks 1 … n_max",
        example="gains 0.5, 1; T = 1: V = 1, 2/9, 0: EU = (1/2 + 2/9) / (11/9) = 13/22",
        needs="judgments, the top of the grade scale",
        use="INSQ with ERR's cascade",
    )

    T: float = parameter(1.0, "useful documents the user hopes for", above=0.0)
