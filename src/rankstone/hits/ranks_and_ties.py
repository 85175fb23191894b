"""Ranks of the rows of a batch: order, ties, duplicates, depth, removals.

Most files are already sorted, without relevant ties or removals: then a rank is a row number minus the first
row of its list, and the steps below that are not needed cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import DuplicateRows, TiedScores, printable
from rankstone.hits.list_arrays import (
    list_numbers,
    next_to_equals,
    offsets_of,
    ragged_range,
    sort_within,
)
from rankstone.hits.list_orders import quicksorted
from rankstone.hits.tie_rules import TiedRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.pair_index import Matches


class TieBlocks(Record):
    """Runs of equal keys in an ordered batch: rows ``start[i] … end[i]``, both included."""

    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.start)

    @property
    def size(self) -> Ints:
        """Rows in each block."""
        return self.end - self.start + 1

    def holding(self, rows: Ints) -> Ints:
        """Return the block of each row, -1 for rows that do not tie."""
        if not len(self):
            return np.full(len(rows), -1, np.int64)
        block = np.minimum(np.searchsorted(self.end, rows), len(self) - 1)
        inside = (self.start[block] <= rows) & (rows <= self.end[block])
        return np.where(inside, block, -1)

    def with_rows(self, rows: Ints) -> TieBlocks:
        """Return the blocks that hold some of the rows."""
        holds = np.zeros(len(self) + 1, bool)
        holds[self.holding(rows)] = True  # the last one stands for rows that do not tie
        return TieBlocks(self.start[holds[:-1]], self.end[holds[:-1]])


class Ranks(Record):
    """The ranks of the matched rows of a batch.

    Attributes
    ----------
    kept
        Which matches are hits (later copies of a document may not be); a slice where all are.
    rank, first, last
        int64 per hit: rank, and first and last rank of its tie block.
    n, length
        int64 per list: documents retrieved, and ranks (more, where removed documents keep theirs).
    others
        The ranks of other requested rows.
    place
        int64 ``[rows]``: each row's place in the final order, ``None`` where no row moves.
    left
        bool ``[rows]``: the rows that are left in the lists, ``None`` where all are.
    """

    kept: Ints | slice
    rank: Ints
    first: Ints
    last: Ints
    n: Ints
    length: Ints
    others: RankedRows | None = None
    place: Ints | None = None
    left: Bools | None = None


class RankedRows(Record):
    """The ranks of some rows that are left in the lists, by place.

    Attributes
    ----------
    selected
        int64: which of the requested rows; a slice where it is all of them, in their order.
    rank, first, last
        int64: rank, and first and last rank of the tie block.
    """

    selected: Ints | slice
    rank: Ints
    first: Ints
    last: Ints


#: the sign bit
_SIGN: Final = -(1 << 63)


def sort_lists(batch: Batch, options: AlignmentOptions) -> Batch:
    """Return the batch with every list sorted by its key, equal keys in input order."""
    if batch.key is None:
        return batch
    key = _comparable(batch.key, options)
    if options.sort_algorithm != "stable":
        times = 2 if options.sort_algorithm == "quicksort_twice" else 1
        return batch.rows_at(
            quicksorted(key, batch.starts, batch.lengths, times), batch.lengths
        )
    rises = key[1:] > key[:-1]
    rises[batch.heads[1:] - 1] = False
    if not rises.any():
        return batch
    return batch.rows_at(_descending(key, batch), batch.lengths)


def _descending(key: NDArray[np.floating], batch: Batch) -> Ints:
    """Return the rows of each list by key descending, equal keys in input order.

    Sorting ``leading bits of the key | place in the list`` does nearly all of it; only rows that agree in
    those bits are compared in full.
    """
    # -0.0 + 0.0 is 0.0: one score, one pattern
    packed = np.add(key, 0.0, dtype=np.float64).view(np.uint64)
    # flip all bits of negative keys and the sign of others, so that bits sort like numbers; invert to descend
    negative = packed.view(np.int64) >> np.int64(63)
    packed ^= (negative | np.int64(_SIGN)).view(np.uint64)
    np.invert(packed, out=packed)

    bits = np.uint64(int(batch.lengths.max() - 1).bit_length())
    places = (np.uint64(1) << bits) - np.uint64(1)
    heads = np.repeat(batch.starts, batch.lengths)
    packed &= ~places
    packed |= (np.arange(len(packed)) - heads).view(np.uint64)
    sort_within(packed, batch.lengths)
    order: Ints = (packed & places).view(np.int64) + heads
    packed >>= bits
    equal = np.zeros(len(packed), bool)
    equal[1:] = packed[1:] == packed[:-1]
    equal[:-1] |= equal[1:]
    tied = np.flatnonzero(equal)
    if len(tied):
        rows = order[tied]
        order[tied] = rows[np.lexsort((rows, -key[rows], batch.list_of_row[rows]))]
    return order


def _comparable(key: Floats, options: AlignmentOptions) -> NDArray[np.floating]:
    narrow = options.score_dtype == "float32" and options.order == "score"
    return as_float32(key) if narrow else key


def as_float32(key: Floats) -> NDArray[np.float32]:
    """Return keys as float32; what is too large becomes infinite, as it does in C."""
    with np.errstate(over="ignore"):
        return key.astype(np.float32)


def near_ties(batch: Batch) -> int:
    """Count neighbours whose keys differ as float64 and are equal as float32."""
    if batch.key is None:
        return 0
    same = np.flatnonzero(next_to_equals(as_float32(batch.key), batch.lengths))
    return int((batch.key[same] != batch.key[same - 1]).sum())


def contradicted(batch: Batch) -> int:
    """Count the lists of a sorted batch in which a better rank has a lower score.

    Equal ranks, equal scores and rows without a rank are ignored.  Nearly always a comparison of neighbours
    is enough; only lists in which these disagree are sorted.
    """
    if batch.key is None or batch.other is None:
        return 0
    rises = ~(batch.other[1:] <= batch.other[:-1])
    rises[batch.heads[1:] - 1] = False
    if not rises.any():
        return 0
    wanted = np.zeros(len(batch.lengths), bool)
    wanted[batch.list_of_row[1:][rises]] = True
    rows = np.flatnonzero(wanted[batch.list_of_row] & ~np.isnan(batch.other))
    lists = batch.list_of_row[rows]
    key = batch.key[rows]
    other = batch.other[rows]
    order = np.lexsort((-other, -key, lists))
    lists = lists[order]
    key = key[order]
    other = other[order]

    same_list = lists[1:] == lists[:-1]
    falls = key[1:] < key[:-1]
    rises = other[1:] > other[:-1]
    apart = same_list & falls & rises
    return len(np.unique(lists[1:][apart]))


def ranked_ties(batch: Batch, options: AlignmentOptions) -> int:
    """Count the rows of a sorted batch whose score is that of the row before, but not their rank."""
    if batch.key is None or batch.other is None or options.order != "score":
        return 0
    same = np.flatnonzero(
        next_to_equals(_comparable(batch.key, options), batch.lengths)
    )
    ranks = batch.other
    apart = ~np.isnan(ranks[same]) & (ranks[same] != ranks[same - 1])
    return int(apart.sum())


def tie_blocks(batch: Batch, options: AlignmentOptions) -> TieBlocks:
    """Return the tie blocks of a sorted batch."""
    if batch.key is None:
        return TieBlocks(np.empty(0, np.int64), np.empty(0, np.int64))
    rows = np.flatnonzero(
        next_to_equals(_comparable(batch.key, options), batch.lengths)
    )
    fresh = np.diff(rows, prepend=-2) > 1
    ends = np.flatnonzero(np.append(fresh[1:], True)) if len(rows) else rows
    return TieBlocks(rows[fresh] - 1, rows[ends])


def rank(
    batch: Batch,
    blocks: TieBlocks,
    copies: Ints,
    matches: Matches,
    grades: Floats,
    options: AlignmentOptions,
    others: Ints | None = None,
    *,
    whole: bool = False,
) -> Ranks:
    """Give every match its rank.

    Parameters
    ----------
    batch
        A sorted batch.
    blocks
        Its tie blocks.
    copies
        Rows whose document is in its list more than once.
    matches, grades
        Its judged rows and their grades.
    options
        ``ties``, ``duplicates``, ``unjudged`` and ``depth`` are applied here.
    others
        Other rows whose ranks are requested, ascending.
    whole
        True if the order of all rows matters, not only that of matches.
    """
    if options.tie_rule.refuses and len(blocks):
        raise _tied(batch, blocks)
    everything = (
        whole or bool(len(copies)) or options.depth is not None or others is not None
    )
    blocks = blocks if everything else blocks.with_rows(matches.row)
    place = _places(batch, blocks, matches, grades, options)
    removed, worthless = _copies(batch, copies, place, options)
    kept: Bools | None = None
    if len(removed):
        kept = np.ones(batch.height, bool)
        kept[removed] = False
    if options.depth is not None:
        within = _rank_of_rows(batch, kept, place) <= options.depth
        kept = within if kept is None else kept & within
    return _number(batch, blocks, kept, place, worthless, matches, options, others)


def _places(
    batch: Batch,
    blocks: TieBlocks,
    matches: Matches,
    grades: Floats,
    options: AlignmentOptions,
) -> Ints | None:
    """Return each row's place in the final order (counted through the batch); ``None``: unchanged."""
    if not len(blocks):
        return None
    if options.tie_rule.closed_form:
        return _places_for_sums(batch, blocks, matches, grades)
    rows = ragged_range(blocks.start, blocks.size)
    order = ordered_ties(
        batch, blocks, options, lambda: _worth(batch, matches, grades, options)[rows]
    )
    if order is None:
        return None
    place = np.arange(batch.height)
    place[order] = rows
    return place


def ordered_ties(
    batch: Batch,
    blocks: TieBlocks,
    options: AlignmentOptions,
    worth: Callable[[], Floats] | None = None,
) -> Ints | None:
    """Return the rows of tie blocks, one block after the other, in the order of the rule for ties.

    Parameters
    ----------
    batch, blocks
        As for :func:`rank`.
    options
        ``ties`` is applied.
    worth
        Returns the worth of these rows to a measure, for rules that need grades.

    Returns
    -------
    int64 array or None
        ``[tied rows]``; ``None`` if rows stay in the order of the input.
    """
    rule = options.tie_rule
    if rule.key is None:
        return None
    rows = ragged_range(blocks.start, blocks.size)
    ids_of = batch.own_ids if batch.in_classes else batch.ids
    tied = TiedRows(rows, lambda: ids_of(rows).cast(pl.String), worth)
    columns = {"block": list_numbers(blocks.size), "by": rule.key(tied), "row": rows}
    costs = {name: values[rows] for name, values in batch.costs.items()}
    frame = pl.DataFrame(columns | costs)
    downwards = [False, rule.descending, *([False] * len(costs))]
    order = frame.sort("block", "by", *costs, descending=downwards, maintain_order=True)
    return order["row"].to_numpy()


def _places_for_sums(
    batch: Batch, blocks: TieBlocks, matches: Matches, grades: Floats
) -> Ints | None:
    """Return places with tied hits sorted by grade and id, so that no sum depends on the order of rows.

    Sums over a tie block in different orders may differ in the last bit.
    """
    block = blocks.holding(matches.row)
    sizes = np.bincount(block[block >= 0], minlength=len(blocks))
    tied = np.flatnonzero((block >= 0) & (sizes[block] > 1))
    if not len(tied):
        return None
    row = matches.row[tied]
    block = block[tied]
    ids = pl.Series(row) if batch.docs is None else batch.ids(row).cast(pl.String)
    frame = pl.DataFrame({"block": block, "grade": grades[tied], "id": ids, "row": row})
    order = frame.sort(
        "block", "grade", "id", descending=[False, True, False], maintain_order=True
    )["row"]
    place = np.arange(batch.height)
    place[order.to_numpy()] = np.sort(row)
    return place


#: an unjudged document is worth less than one judged 0, and more than one judged below
_UNJUDGED = np.nextafter(0.0, -1.0)


def _worth(
    batch: Batch, matches: Matches, grades: Floats, options: AlignmentOptions
) -> Floats:
    """Return the worth of each row to a measure, for the best and the worst order of ties."""
    worth = np.full(batch.height, _UNJUDGED)
    worth[matches.row] = grades
    if options.duplicates == "first_keep_rank" and batch.docs is not None:
        key = None if options.tie_rule.descending else batch.key
        # by id: rows with an imputed grade have no pair
        copies = pl.DataFrame(
            {"list": matches.list, "doc": batch.ids(matches.row)}
        ).with_row_index("at")
        earlier = copies.select(pl.col("at").first().over("list", "doc"))[
            "at"
        ].to_numpy()
        later = earlier < np.arange(len(earlier))
        if key is not None:  # of copies that tie, any may come first
            later &= key[matches.row] < key[matches.row[earlier]]
        worth[matches.row[later]] = _UNJUDGED
    return worth


def _copies(
    batch: Batch, copies: Ints, place: Ints | None, options: AlignmentOptions
) -> tuple[Ints, Ints]:
    """Return the duplicate rows that are removed from the lists, and those that stay but earn nothing."""
    none = np.empty(0, np.int64)
    if not len(copies) or options.duplicates in ("keep", "keep_judged"):
        return none, none
    if options.duplicates == "error":
        raise duplicate(batch, copies)
    copies = copies if place is None else copies[np.argsort(place[copies])]
    pairs = pl.DataFrame(
        {"list": batch.list_of_row[copies], "doc": batch.ids(copies)}
    ).to_struct()
    last = options.duplicates == "last_drop"
    survivor = pairs.is_last_distinct() if last else pairs.is_first_distinct()
    later = copies[~survivor.to_numpy()]
    return (none, later) if options.duplicates == "first_keep_rank" else (later, none)


def _rank_of_rows(batch: Batch, kept: Bools | None, place: Ints | None) -> Ints:
    """Return the rank of every row, counting only kept rows."""
    places = np.arange(batch.height) if place is None else place
    return _Counter(batch, kept, place).through(places, batch.list_of_row)


def _number(
    batch: Batch,
    blocks: TieBlocks,
    kept: Bools | None,
    place: Ints | None,
    worthless: Ints,
    matches: Matches,
    options: AlignmentOptions,
    others: Ints | None,
) -> Ranks:
    """Return ranks counted over the rows that are left."""
    n: Ints | None = None
    if options.unjudged in ("condensed", "condensed_keep_rank"):
        judged = np.zeros(batch.height, bool)
        judged[matches.row] = True
        judged = judged if kept is None else kept & judged
        n = _per_list(batch, judged)
        kept = judged if options.unjudged == "condensed" else kept
    counter = _Counter(batch, kept, place)
    left = _remaining(matches.row, kept, worthless)
    hits = _ranked(matches.row, matches.list, left, blocks, place, counter)
    rest = None
    if others is not None:
        left = _remaining(others, kept, worthless)
        rest = _ranked(others, batch.list_of_row[others], left, blocks, place, counter)
    length = batch.lengths if kept is None else _per_list(batch, kept)
    n = length if n is None else n
    return Ranks(
        hits.selected, hits.rank, hits.first, hits.last, n, length, rest, place, kept
    )


def _ranked(
    rows: Ints,
    lists: Ints,
    left: Ints | slice,
    blocks: TieBlocks,
    place: Ints | None,
    counter: _Counter,
) -> RankedRows:
    """Rank the rows that are left, and sort them by place."""
    row = rows[left]
    end = row
    if place is not None:
        order = np.argsort(place[row])
        left = order if isinstance(left, slice) else left[order]
        row = row[order]
        end = place[row]
    lists = lists[left]
    ranks = counter.through(end, lists)
    first = ranks
    last = ranks
    block = blocks.holding(row)
    tied = np.flatnonzero(block >= 0)
    if len(tied):
        first = ranks.copy()
        last = ranks.copy()
        first[tied] = counter.through(blocks.start[block[tied]] - 1, lists[tied]) + 1
        last[tied] = counter.through(blocks.end[block[tied]], lists[tied])
    return RankedRows(left, ranks, first, last)


def _remaining(row: Ints, kept: Bools | None, worthless: Ints) -> Ints | slice:
    """Return the matches whose rows are left in the lists and earn something."""
    if kept is None and not len(worthless):
        return slice(None)
    remains = np.ones(len(row), bool) if kept is None else kept[row]
    if len(worthless):
        remains &= ~np.isin(row, worthless)
    return np.flatnonzero(remains)


class _Counter:
    """Counts the kept rows of a list from its top down to a place."""

    def __init__(self, batch: Batch, kept: Bools | None, place: Ints | None) -> None:
        self._batch = batch
        self._running: Ints | None = None
        if kept is not None:
            kept_places = kept
            if place is not None:
                kept_places = np.empty(len(kept), bool)
                kept_places[place] = kept
            self._running = offsets_of(kept_places)

    def through(self, place: Ints, lists: Ints) -> Ints:
        """Count the kept rows of each list down to and including ``place``."""
        start = self._batch.starts[lists]
        if self._running is None:
            counted: Ints = np.subtract(place, start, out=start)
            counted += 1
            return counted
        return self._running[place + 1] - self._running[start]


def _per_list(batch: Batch, counted: Bools) -> Ints:
    running = offsets_of(counted)
    counts: Ints = running[batch.starts + batch.lengths] - running[batch.starts]
    return counts


def _list_name(batch: Batch, row: int) -> str:
    return printable(batch.names[int(batch.list_of_row[row])])


def _tied(batch: Batch, blocks: TieBlocks) -> TiedScores:
    rows = np.arange(blocks.start[0], blocks.end[0] + 1)
    shown = ""
    if batch.docs is not None:
        shown = ", ".join(map(printable, batch.ids(rows[:3])))
    key = ""
    if batch.key is not None:
        key = f" at {batch.key[rows[0]]:g}"
    return TiedScores(
        f"{len(rows)} documents tie{key}",
        given=f"query {_list_name(batch, int(rows[0]))}: {shown}{' …' if len(rows) > 3 else ''}",  # noqa: PLR2004
        fix='choose their order: ties="docid_desc", "input", "expected", …',
    )


def duplicate(batch: Batch, copies: Ints) -> DuplicateRows:
    """Return the error for a document that is retrieved more than once."""
    row = int(copies[0])
    doc = batch.ids(copies[:1])[0]
    same = copies[batch.list_of_row[copies] == batch.list_of_row[row]]
    copies = same[(batch.ids(same) == doc).to_numpy()]
    error = DuplicateRows(
        f"document {printable(doc)} is retrieved {len(copies)} times for query {_list_name(batch, row)}",
        expected="each document once in a list",
        fix="choose what to do with duplicates=first_keep_rank (copies keep their rank and earn nothing), "
        "first_drop, last_drop or keep",
    )
    error.rows = tuple(batch.table_rows(copies).tolist())
    return error
