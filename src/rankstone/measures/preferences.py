"""Preferences: how many of the pairs of documents of unequal grade a list has in the right order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.errors import BadParameter, BadValue
from rankstone.hits.extras.pool_members import JudgmentGroups, PoolMembers
from rankstone.hits.list_arrays import ragged_range, sums
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, Measure

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.hits import Hits

#: a rank below every list, for documents that were not retrieved
_NOWHERE: Final = np.iinfo(np.int64).max
_SYMBOLS: Final = (
    "g: judgment group; p_g: its preferences a ≻ b; f_g: those with a retrieved, and above b or b not; "
    "J: number of groups"
)
_NEEDS: Final = (
    "judgments with a column `subtopic` (the second one in TREC qrels) that names the judgment group; "
    "with within=subgroup also `subgroup`"
)


class GroupJudgments(Record):
    """The documents of each judgment group, retrieved ones first, in rank order, then by their ids.

    Attributes
    ----------
    group, doc
        int64 ``[judgments]``: group, counted through all queries, and place in the pool.
    relevant
        bool ``[judgments]``: whether the group gave it a grade above 0.
    several
        bool ``[groups]``: whether the group has several subgroups.
    """

    group: Ints
    doc: Ints
    relevant: Bools
    several: Bools

    @cached_property
    def place_among_nonrelevant(self) -> Ints:
        """How many documents of grade 0 the group has before each judgment, int64 ``[judgments]``."""
        through = np.cumsum(~self.relevant)
        heads = np.flatnonzero(np.diff(self.group, prepend=-1))
        before = np.concatenate(([0], through))[heads]
        earlier: Ints = through - ~self.relevant
        place: Ints = earlier - np.repeat(
            before, np.diff(heads, append=len(self.group))
        )
        return place


class Preferences(Record):
    """The preferences of judgment groups for one document over another.

    Attributes
    ----------
    group
        int64 ``[preferences]``: the judgment group, counted through all queries.
    winner, loser
        int64 ``[preferences]``: the documents, by their place in the pool.
    query
        int64 ``[groups]``: the query of each group.
    place
        int64 ``[pool]``: the rank of each judged document, or one below every list.
    shown
        bool ``[pool]``: whether it was retrieved.
    judged
        The judgments of each group.
    """

    group: Ints
    winner: Ints
    loser: Ints
    query: Ints
    place: Ints
    shown: Bools
    judged: GroupJudgments

    @cached_property
    def fulfilled(self) -> Bools:
        """True for pairs whose better document was retrieved, and above the other if both were."""
        return self.shown[self.winner] & (
            self.place[self.winner] < self.place[self.loser]
        )

    def counted(self, when: str) -> Bools:
        """Return which preferences count: all (``any``), or those with one or ``both`` retrieved."""
        winner_shown = self.shown[self.winner]
        loser_shown = self.shown[self.loser]
        return {
            "any": np.ones(len(winner_shown), bool),
            "one": winner_shown | loser_shown,
            "both": winner_shown & loser_shown,
        }[when]


def judged_preferences(hits: Hits, *, within_subgroups: bool) -> Preferences:
    """Return the preferences that the judgments express.

    Within a group (or subgroup) every document is preferred to all of a lower grade.  The preferences of the
    subgroups of a group are combined: from a over b and b over c follows a over c.
    """
    members = hits.added(PoolMembers)
    pool = members.pool
    member = members.member
    groups = members.groups
    query = np.repeat(np.arange(hits.queries), np.diff(groups.starts))
    entries = pool.entries
    order = np.lexsort((-entries.grade, entries.group))
    doc = entries.doc[order]
    group = entries.group[order]
    grade = entries.grade[order]
    place = np.full(len(pool.grade), _NOWHERE)
    known = np.flatnonzero(member >= 0)
    place[member[known]] = hits.rank[known]
    ends = np.cumsum(np.bincount(group, minlength=len(query)))
    fresh = np.ones(len(doc), bool)
    fresh[1:] = (group[1:] != group[:-1]) | (grade[1:] != grade[:-1])
    begins = np.flatnonzero(fresh)
    lower = np.append(begins[1:], len(doc))[np.cumsum(fresh) - 1]
    counts = ends[group] - lower
    winner = np.repeat(doc, counts)
    loser = doc[ragged_range(lower, counts)]
    of = np.repeat(group, counts)
    several = np.zeros(len(query), bool)
    if within_subgroups and groups.parent is not None:
        packed = (query << 32) | groups.parent
        parents, whole, parts = np.unique(
            packed, return_inverse=True, return_counts=True
        )
        of, winner, loser = _transitive_closure(
            whole[of], winner, loser, len(pool.grade)
        )
        group = whole[group]
        query = parents >> 32
        several = parts > 1
    # a document in several subgroups of a group counts once
    order = np.lexsort((-grade, pool.id_order[doc], place[doc], group))
    group = group[order]
    doc = doc[order]
    grade = grade[order]
    once = np.ones(len(doc), bool)
    once[1:] = (group[1:] != group[:-1]) | (doc[1:] != doc[:-1])
    judged = GroupJudgments(group[once], doc[once], grade[once] > 0, several)
    return Preferences(of, winner, loser, query, place, place < _NOWHERE, judged)


def _transitive_closure(
    group: Ints, winner: Ints, loser: Ints, docs: int
) -> tuple[Ints, Ints, Ints]:
    """Add the preferences that follow from two others of a group, until there are no more."""
    known = np.unique((group * docs + winner) * docs + loser)
    while True:
        head, loser = np.divmod(known, docs)
        tails = (head // docs) * docs + loser
        first = np.searchsorted(head, tails)
        counts = np.searchsorted(head, tails, side="right") - first
        follows = np.repeat(head, counts) * docs + loser[ragged_range(first, counts)]
        more = np.union1d(known, follows)
        if len(more) == len(known):
            break
        known = more
    group, winner = np.divmod(head, docs)
    if (winner == loser).any():
        raise BadValue(
            "preferences of one judgment group contradict each other",
            expected="preferences without circles",
            fix="give assessors who disagree separate judgment groups",
        )
    return group, winner, loser


class GradeZeroLimits(Record):
    """Limits under which each group has as many documents of grade 0 as relevant ones.

    Attributes
    ----------
    limit
        Documents of grade 0 that count, int64 ``[groups]``.
    virtual
        Preferences of each retrieved relevant document over missing documents of grade 0.
    possible
        Possible preferences in addition to those between judged documents.
    slipped
        Pairs of documents of grade 0 that trec_eval counts as fulfilled preferences.
    """

    limit: Ints
    virtual: Ints
    possible: Ints
    slipped: Ints

    @classmethod
    def of(
        cls, pairs: Preferences, when: str, *, as_trec_eval: bool
    ) -> GradeZeroLimits:
        """Count the documents of each group (the retrieved ones, if both documents must be retrieved)."""
        judged = pairs.judged
        groups = len(pairs.query)

        def count(mask: Bools) -> Ints:
            return np.bincount(judged.group, mask, groups).astype(np.int64)

        shown = pairs.shown[judged.doc]
        every = count(judged.relevant)
        counted = shown if when == "both" else np.ones(len(shown), bool)
        relevant = count(judged.relevant & counted)
        others = count(~judged.relevant & counted)
        virtual = np.maximum(relevant - others, 0)
        if not as_trec_eval:
            return cls(
                relevant, virtual, relevant * virtual, np.zeros(groups, np.int64)
            )
        slips = ~judged.several & (relevant < others)
        reached = np.minimum(relevant, count(~judged.relevant & shown))
        above = (
            reached * (reached - 1) // 2 + np.maximum(relevant - reached, 0) * reached
        )
        return cls(
            limit=np.where(judged.several, every, relevant),
            virtual=virtual,
            possible=every * virtual + np.where(slips, relevant * others, 0),
            slipped=np.where(slips, above, 0),
        )

    def dropped(self, pairs: Preferences) -> Bools:
        """Return which preferences are over a document of grade 0 beyond the limit."""
        judged = pairs.judged
        docs = len(pairs.place)
        beyond = ~judged.relevant & (
            judged.place_among_nonrelevant >= self.limit[judged.group]
        )
        out = np.sort(judged.group[beyond] * docs + judged.doc[beyond])
        return np.isin(pairs.group * docs + pairs.loser, out)


@dataclass(frozen=True, kw_only=True)
class PreferenceMeasure(Measure, family="preferences"):
    """A measure of which of two documents comes first."""

    requires = frozenset({PoolMembers, JudgmentGroups})
    needs_relevant = False

    within: str = parameter(
        "group", "documents are compared within", "group", "subgroup"
    )

    def __post_init__(self) -> None:
        """Declare the column of subgroups if they are used."""
        super().__post_init__()
        if self.within == "subgroup":
            object.__setattr__(self, "judgment_columns", ("subgroup",))

    def relevant_count(self, hits: Hits) -> Ints | None:  # noqa: ARG002 - the base's signature
        """Return None, since only differences of grades count."""
        return None

    #: groups may disagree on which document is better; tied documents have no order
    claims = Claims(
        closed_under_ties=False, extremal_under_ties=False, promotion_helps=False
    )

    def pairs(self, hits: Hits) -> Preferences:
        """Return the preferences of all groups."""
        subgroups = self.within == "subgroup"
        return hits.remember(
            ("preferences", subgroups),
            lambda: judged_preferences(hits, within_subgroups=subgroups),
        )

    def earned(self, hits: Hits, pairs: Preferences, share: Floats) -> Floats:
        """Return the shares of fulfilled preferences by the hit that wins them, float64 ``[hits]``."""
        won = np.where(pairs.fulfilled, share, 0.0)
        return self._by_hit(hits, sums(pairs.winner, won, len(pairs.place)))

    def _by_hit(self, hits: Hits, values: Floats) -> Floats:
        """Return the values of judged documents by hit."""
        return hits.added(PoolMembers).by_hit(values)


@dataclass(frozen=True, kw_only=True)
class Prefs(PreferenceMeasure):
    """Preferences fulfilled, as a share of those possible.

    >>> print(Prefs(over="groups", when="both"))
    Prefs(over=groups, when=both)
    """

    examples = ("Prefs", "Prefs(over=pairs)", "Prefs(over=groups, when=both)")
    card = Card(
        sentence="Of all pairs in which one document is preferred, how many are in the right order?",
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
        "all",
        "what the mean is over: all preferences, document pairs, groups",
        "all",
        "pairs",
        "groups",
    )
    when: str = parameter(
        "any",
        "which preferences count: any, with one document retrieved, with both",
        "any",
        "one",
        "both",
    )
    nonrel: str = parameter(
        "all",
        "documents of grade 0 that count: all, the first R of a group, or as in trec_eval",
        "all",
        "R",
        "trec",
    )

    def __post_init__(self) -> None:
        """Refuse a limit on documents of grade 0 where it has no effect."""
        super().__post_init__()
        when = "any" if self.when == "one" else self.when
        if self.nonrel != "all" and (self.over != "groups" or self.when == "one"):
            raise BadParameter(
                f"Prefs(nonrel={self.nonrel}) goes with over=groups, and with when=any or both",
                fix=f"write {replace(self, over='groups', when=when)}",
            )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit the preferences it wins; divide by those possible."""
        pairs = self.pairs(hits)
        counts = pairs.counted(self.when)
        query = pairs.query[pairs.group]
        if self.over == "groups":
            return self._by_group(hits, pairs, counts)
        if self.over == "all":
            return Contributions(
                self.earned(hits, pairs, counts.astype(np.float64)),
                sums(query, counts.astype(np.float64), hits.queries),
            )
        low = np.minimum(pairs.winner, pairs.loser)
        high = np.maximum(pairs.winner, pairs.loser)
        _, pair, groups = np.unique(
            low * len(pairs.place) + high, return_inverse=True, return_counts=True
        )
        first = np.zeros(len(pair), bool)
        first[np.unique(pair, return_index=True)[1]] = True
        return Contributions(
            self.earned(hits, pairs, counts / groups[pair]),
            sums(query, (counts & first).astype(np.float64), hits.queries),
        )

    def _by_group(self, hits: Hits, pairs: Preferences, counts: Bools) -> Contributions:
        """Divide a total of 1 for each group equally among the preferences that count in it."""
        judged = pairs.judged
        groups = len(pairs.query)
        limits = GradeZeroLimits.of(
            pairs, self.when, as_trec_eval=self.nonrel == "trec"
        )
        if self.nonrel != "all":
            counts = counts & ~limits.dropped(pairs)
        possible = np.bincount(pairs.group, counts, groups)
        if self.nonrel != "all":
            possible += limits.possible
        share: Floats = np.divide(
            1.0, possible, out=np.zeros(groups), where=possible > 0
        )
        earned = self.earned(hits, pairs, np.where(counts, share[pairs.group], 0.0))
        missed = np.zeros(hits.queries)
        if self.nonrel != "all":
            virtual = (
                limits.virtual[judged.group] * share[judged.group] * judged.relevant
            )
            earned += self._by_hit(hits, sums(judged.doc, virtual, len(pairs.place)))
            missed = sums(pairs.query, limits.slipped * share, hits.queries)
        norm = np.bincount(pairs.query, minlength=hits.queries).astype(np.float64)
        # in trec_eval a group without preferences makes the query 0
        if self.nonrel == "trec":
            has_empty_group = np.bincount(pairs.query, possible == 0, hits.queries) > 0
            earned = np.where(hits.spread(has_empty_group), 0.0, earned)
            missed = np.where(has_empty_group, 0.0, missed)
        return Contributions(earned, norm, missed=missed)


@dataclass(frozen=True, kw_only=True)
class NumPrefs(PreferenceMeasure):
    """How many preferences there are, or are fulfilled; queries are added up.

    >>> print(NumPrefs(what="fulfilled"))
    NumPrefs(what=fulfilled)
    """

    card = Card(
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
        use="to see the numerator and denominator of Prefs",
        citation="Buckley, trec_eval 9, 2008",
    )

    what: str = parameter(
        "possible", "which are counted", "possible", "fulfilled", "both"
    )
    agg: str = parameter(
        "sum",
        "how queries become one number",
        "mean",
        "sum",
        "median",
        "gmean",
        "pooled",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count the preferences that each hit wins, and for the query those that are not fulfilled."""
        pairs = self.pairs(hits)
        counts = pairs.counted("both" if self.what == "both" else "any").astype(
            np.float64
        )
        earned = self.earned(hits, pairs, counts)
        missed = None
        if self.what == "possible":
            missed = sums(
                pairs.query[pairs.group],
                (~pairs.fulfilled).astype(np.float64),
                hits.queries,
            )
        return Contributions(earned, np.ones(hits.queries), missed=missed)
