"""Preferences: how many of the pairs "this document rather than that one" a list fulfils."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.arrays import sums
from rankstone.measures.base import Contributions, Measure, Status
from rankstone.measures.named import Card, parameter
from rankstone.measures.preference_pairs import Limits, Pairs, preferences

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["NumPrefs", "PreferenceMeasure", "Prefs"]

_SYMBOLS: Final = (
    "g: judgment group; p_g: its preferences a ≻ b; f_g: those with a retrieved, and above b or b not; "
    "J: number of groups"
)
_NEEDS: Final = (
    "judgments with a column `subtopic` (the second one in TREC qrels) that names the judgment group; "
    "with within=subgroup also `subgroup`"
)


@dataclass(frozen=True, kw_only=True)
class PreferenceMeasure(Measure):
    """A measure that asks which of two documents comes first."""

    family: ClassVar[str] = "preferences"
    brings: ClassVar[frozenset[str]] = frozenset({"pool", "groups"})
    needs_relevant: ClassVar[bool] = False
    zero_norm: ClassVar[Status] = Status.no_ideal

    within: str = parameter("group", "what documents are compared in", "group", "subgroup")

    def __post_init__(self) -> None:
        """Ask for the column of subgroups where they matter."""
        super().__post_init__()
        if self.within == "subgroup":
            object.__setattr__(self, "judgment_columns", ("subgroup",))

    def relevant_count(self, hits: Hits) -> Ints | None:  # noqa: ARG002 - the base's signature
        """Relevance plays no part, only what is better than what."""
        return None

    @property
    def closed_under_ties(self) -> bool:
        """Fail: tied documents have no order."""
        return False

    @property
    def extremal_under_ties(self) -> bool:
        """Fail: groups may disagree about what is better."""
        return False

    @property
    def promotion_helps(self) -> bool:
        """Fail: groups may disagree about what is better."""
        return False

    def pairs(self, hits: Hits) -> Pairs:
        """Return the preferences of all groups."""
        subgroups = self.within == "subgroup"
        return hits.remember(
            ("preferences", subgroups), lambda: preferences(hits, within_subgroups=subgroups)
        )

    def earned(self, hits: Hits, pairs: Pairs, share: Floats) -> Floats:
        """Give what preferences are worth to the hits that win them, float64 ``[hits]``."""
        won = np.where(pairs.fulfilled, share, 0.0)
        return self._of_docs(hits, sums(pairs.winner, won, len(pairs.place)))

    def _of_docs(self, hits: Hits, values: Floats) -> Floats:
        """Give hits the values of the judged documents they are."""
        assert hits.member is not None  # noqa: S101 - alignment brings it to measures that ask
        known = hits.member >= 0
        return np.where(known, values[hits.member], 0.0) if len(values) else np.zeros(len(hits.rank))


@dataclass(frozen=True, kw_only=True)
class Prefs(PreferenceMeasure):
    """Preferences fulfilled, as a share of those possible.

    >>> print(Prefs(over="groups", when="both"))
    Prefs(over=groups, when=both)
    """

    name: ClassVar[str] = "Prefs"
    examples: ClassVar[tuple[str, ...]] = ("Prefs", "Prefs(over=pairs)", "Prefs(over=groups, when=both)")
    card: ClassVar[Card] = Card(
        sentence="Of all pairs where somebody found one document better, how many has the list right?",
        formula="Prefs = Σ_g f_g / Σ_g p_g;  over=groups: (1/J) Σ_g f_g / p_g;  over=pairs: the mean over "
        "pairs of the share of groups agreed with",
        symbols=_SYMBOLS,
        example="a ≻ b, a ≻ c, b ≻ c and the list b, a: f = 2 (a ≻ c, b ≻ c) of p = 3: 2/3",
        needs=_NEEDS,
        undefined="no preference counts: 0",
        peers={
            "trec_eval prefs_simp, prefs_pair, prefs_avgjg": "Prefs, Prefs(over=pairs), Prefs(over=groups)",
            "trec_eval …_imp, …_ret": "when=one, when=both",
            "trec_eval prefs_avgjg_Rnonrel": "Prefs(over=groups, nonrel=trec); as its text says: nonrel=R",
            "trec_eval -R prefs": "within=subgroup; ties there go by ascending document id (ties=docid_asc)",
        },
        sensitive="ties; how many documents a group judged; how deep the list goes",
        use="judgments that compare; several users who may disagree (over=groups lets each count the same)",
        citation="Carterette, Bennett, Chickering and Dumais, ECIR 2008; Buckley, trec_eval 9, 2008",
    )

    over: str = parameter(
        "all", "what the mean is over: all preferences, document pairs, groups", "all", "pairs", "groups"
    )
    when: str = parameter(
        "any", "which preferences count: any, with one document retrieved, with both", "any", "one", "both"
    )
    nonrel: str = parameter(
        "all",
        "documents of grade 0 that count: all, the first R of a group, as trec_eval does it",
        "all",
        "R",
        "trec",
    )

    def __post_init__(self) -> None:
        """Refuse a limit on documents of grade 0 where it has no meaning."""
        super().__post_init__()
        if self.nonrel != "all" and (self.over != "groups" or self.when == "one"):
            raise BadParameter(
                f"Prefs(nonrel={self.nonrel}) goes with over=groups, and with when=any or both",
                fix=f"write Prefs(over=groups, nonrel={self.nonrel})",
            )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit the preferences it wins; divide by those possible."""
        pairs = self.pairs(hits)
        counts = pairs.judged_by(self.when)
        query = pairs.query[pairs.group]
        if self.over == "groups":
            return self._by_group(hits, pairs, counts)
        if self.over == "all":
            return Contributions(
                self.earned(hits, pairs, counts.astype(np.float64)),
                sums(query, counts.astype(np.float64), hits.queries),
            )
        low, high = np.minimum(pairs.winner, pairs.loser), np.maximum(pairs.winner, pairs.loser)
        _, pair, said = np.unique(low * len(pairs.place) + high, return_inverse=True, return_counts=True)
        first = np.zeros(len(pair), bool)
        first[np.unique(pair, return_index=True)[1]] = True
        return Contributions(
            self.earned(hits, pairs, counts / said[pair]),
            sums(query, (counts & first).astype(np.float64), hits.queries),
        )

    def _by_group(self, hits: Hits, pairs: Pairs, counts: Bools) -> Contributions:
        """Share each group's 1 among the preferences that count in it."""
        judged, groups = pairs.judged, len(pairs.query)
        limits = Limits.of(pairs, self.when, as_trec_eval=self.nonrel == "trec")
        if self.nonrel != "all":
            counts = counts & ~limits.dropped(pairs)
        possible = np.bincount(pairs.group, counts, groups)
        if self.nonrel != "all":
            possible += limits.possible
        share: Floats = np.divide(1.0, possible, out=np.zeros(groups), where=possible > 0)
        earned = self.earned(hits, pairs, np.where(counts, share[pairs.group], 0.0))
        missed = np.zeros(hits.queries)
        if self.nonrel != "all":
            virtual = limits.virtual[judged.group] * share[judged.group] * judged.relevant
            earned += self._of_docs(hits, sums(judged.doc, virtual, len(pairs.place)))
            missed = sums(pairs.query, limits.slipped * share, hits.queries)
        norm = np.bincount(pairs.query, minlength=hits.queries).astype(np.float64)
        if self.nonrel == "trec":  # there a group without preferences makes the whole query 0
            hollow = np.bincount(pairs.query, possible == 0, hits.queries) > 0
            earned, missed = np.where(hits.spread(hollow), 0.0, earned), np.where(hollow, 0.0, missed)
        return Contributions(earned, norm, missed=missed)


@dataclass(frozen=True, kw_only=True)
class NumPrefs(PreferenceMeasure):
    """How many preferences there are, or are fulfilled; queries are added up.

    >>> print(NumPrefs(what="fulfilled"))
    NumPrefs(what=fulfilled)
    """

    name: ClassVar[str] = "NumPrefs"
    card: ClassVar[Card] = Card(
        sentence="How many preferences do the judgments express, and how many does the list fulfil?",
        formula="NumPrefs = Σ_g p_g;  what=fulfilled: Σ_g f_g;  what=both: those of f_g with both retrieved",
        symbols=_SYMBOLS,
        example="a ≻ b, a ≻ c, b ≻ c and the list b, a: possible 3, fulfilled 2, both 0",
        needs=_NEEDS,
        span=(0.0, None),
        undefined="never",
        peers={
            "trec_eval prefs_num_prefs_poss": "NumPrefs",
            "trec_eval prefs_num_prefs_ful, …_ful_ret": "NumPrefs(what=fulfilled), NumPrefs(what=both)",
        },
        sensitive="ties; how many documents a group judged",
        use="to see what a share of preferences is made of",
        citation="Buckley, trec_eval 9, 2008",
    )

    what: str = parameter("possible", "which are counted", "possible", "fulfilled", "both")
    agg: str = parameter("sum", "how queries become one number", "mean", "sum", "median", "gmean", "pooled")

    def contributions(self, hits: Hits) -> Contributions:
        """Count for each hit the preferences it wins, and for the query those nobody won."""
        pairs = self.pairs(hits)
        counts = pairs.judged_by("both" if self.what == "both" else "any").astype(np.float64)
        earned = self.earned(hits, pairs, counts)
        missed = None
        if self.what == "possible":
            missed = sums(pairs.query[pairs.group], (~pairs.fulfilled).astype(np.float64), hits.queries)
        return Contributions(earned, np.ones(hits.queries), missed=missed)
