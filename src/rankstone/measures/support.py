"""Support: how much of what an answer should say, or says, is supported: nuggets, sentences, citations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadOption
from rankstone.hits.extras.hit_scores import HitScores
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, Measure

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits


#: the grade of a vital nugget; okay ones have 1
VITAL: Final = 2.0


@dataclass(frozen=True, kw_only=True)
class Support(Measure, family="support"):
    """The share of nuggets, sentences or citations that are supported, by their score: 1, ½ for partial, 0.

    >>> print(Support(), Support(level="vital", partial=0.5))
    Support Support(level=vital, partial=0.5)
    """

    takes_cutoff = False
    requires = frozenset({HitScores})
    claims = Claims(
        ties_at_once=True,
        extremal_under_ties=False,
        promotion_helps=False,
        bounds_by="nothing",
    )
    card = Card(
        sentence="How much of what an answer should say does it say?",
        formula="Support = Σ w · s / Σ w",
        symbols="w: weight, 1 for vital nuggets (relevance 2), `okay` for okay ones (relevance 1); "
        "s: 1 if supported, `partial` if in part, else 0",
        example="vital: supported, in part, not; okay: supported: Support = 2/4; partial=0.5: 2.5/4",
        needs="nuggets with grade 2 (vital) or 1 (okay), and their support as scores: rankstone answers",
        peers={
            "nuggetizer": "strict_vital_score is Support(level=vital), strict_all_score is Support; "
            "vital_score and all_score have partial=0.5"
        },
        sensitive="how nuggets are cut: many small ones weigh more than one large one",
        use="answers of language models, sentence by sentence or nugget by nugget",
        citation="Pradeep et al., Initial Nugget Evaluation Results for the TREC 2024 RAG Track, 2024",
    )

    level: str = parameter("all", "which nuggets count", "all", "vital", "okay")
    partial: float = parameter(0.0, "what partial support earns", low=0.0, high=1.0)
    okay: float = parameter(
        1.0, "weight of an okay nugget against a vital one", low=0.0, high=1.0
    )

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse lists without scores: these say what is supported."""
        super().check_needs(options)
        if options.order != "score":
            raise BadOption(f"{self} reads support from scores", fix="use order=score")

    def weight(self, grade: Floats) -> Floats:
        """Return the weight of nuggets by their grades."""
        vital = float(self.level != "okay")
        okay = 0.0 if self.level == "vital" else self.okay
        return np.where(grade >= VITAL, vital, np.where(grade > 0, okay, 0.0))

    def contributions(self, hits: Hits) -> Contributions:
        """Weigh supported nuggets; divide by the weight of all."""
        score = hits.added(HitScores).score
        earned = np.where(score >= 1, 1.0, np.where(score > 0, self.partial, 0.0))
        weight = self.weight(hits.grade)
        hits.record_columns(weight=weight, support=earned)
        return Contributions(
            weight * earned, hits.ideal.total(self.weight(hits.ideal.grade))
        )


@dataclass(frozen=True, kw_only=True)
class CitationP(Support):
    """Precision of citations: the share of an answer's citations that support their sentence.

    >>> print(CitationP(), CitationP(partial=0.5))
    CitationP CitationP(partial=0.5)
    """

    aliases = ("CitationPrecision",)
    card = Card(
        sentence="How many of the citations of an answer support what they are cited for?",
        formula="CitationP = Σ s / citations",
        symbols="s: 1 for a citation that supports its sentence, partial if in part, or 0",
        example="5 citations, 3 support their sentences, one does in part: 3/5; partial=0.5: 3.5/5",
        needs="answers with citations, and their support: rankstone answers",
        undefined="never; an answer without citations has 0",
        sensitive="how sentences are split; citations that repeat each other",
        use="read it with CitationR: an answer that cites once, and rightly, has 1",
        citation="Liu, Zhang and Liang, Evaluating Verifiability in Generative Search Engines, EMNLP 2023",
    )

    level: str = parameter("okay", "what counts: citations", "okay")


@dataclass(frozen=True, kw_only=True)
class CitationR(Support):
    """Recall of citations: the share of an answer's sentences that one of their citations supports.

    >>> print(CitationR())
    CitationR
    """

    aliases = ("CitationRecall",)
    card = Card(
        sentence="How many sentences of an answer are supported by what they cite?",
        formula="CitationR = Σ s / sentences",
        symbols="s: 1 for a sentence that one of its citations supports, partial if in part, or 0",
        example="8 sentences, 4 of them supported: 4/8; sentences without citations are not",
        needs="answers with citations, and their support: rankstone answers",
        undefined="never; an answer without sentences has 0",
        sensitive="introductions and summaries, which seldom cite; how sentences are split",
        use="whether an answer can be verified sentence by sentence; read it with CitationP",
        citation="Liu, Zhang and Liang, Evaluating Verifiability in Generative Search Engines, EMNLP 2023",
    )

    level: str = parameter("vital", "what counts: sentences", "vital")
