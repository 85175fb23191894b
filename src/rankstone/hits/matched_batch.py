"""A batch of lists on its way to hits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from rankstone.hits.remembering import Remembering

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.judgments import Judgments, SelfLabelled
    from rankstone.hits.list_arrays import Ideal
    from rankstone.hits.pair_index import Matches
    from rankstone.hits.ranks_and_ties import Ranks, TieBlocks


@dataclass(eq=False)
class MatchedBatch(Remembering):
    """A batch on its way to hits; every step adds what it finds out.

    Attributes
    ----------
    judgments, options, batch
        What is aligned.  Steps replace the options and the batch.
    failed
        bool ``[lists]``: True for queries whose retrieval failed.
    kept
        What extras keep of one step for another, by their class.
    copies
        Rows whose document is in its list more than once, int64.
    matches, grade, judged
        The rows with a grade: the matches, the grades, and which of these were judged.
    ideal
        The judged grades of each list, best first.
    blocks
        Its tie blocks.
    others
        The ungraded rows whose ranks are needed, ascending.
    ranks
        The ranks of rows with a grade, and of the others.
    """

    judgments: Judgments | SelfLabelled
    options: AlignmentOptions
    batch: Batch
    failed: Bools | Literal[False] = False
    kept: dict[type, Any] = field(default_factory=dict)
    others: Ints | None = None
    _memo: dict[Any, Any] = field(default_factory=dict)
    copies: Ints = field(init=False)
    matches: Matches = field(init=False)
    grade: Floats = field(init=False)
    judged: Bools = field(init=False)
    ideal: Ideal = field(init=False)
    blocks: TieBlocks = field(init=False)
    ranks: Ranks = field(init=False)

    @cached_property
    def hit_rows(self) -> Ints:
        """The row of each hit, int64 ``[hits]``."""
        return self.matches.row[self.ranks.kept]

    @cached_property
    def hit_lists(self) -> Ints:
        """The list of each hit, int64 ``[hits]``."""
        return self.matches.list[self.ranks.kept]

    @cached_property
    def hit_pairs(self) -> Ints:
        """The judgment of each hit, int64 ``[hits]``, -1 where its grade was imputed."""
        return self.matches.pair[self.ranks.kept]
