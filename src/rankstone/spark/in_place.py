"""Scoring lists in place, without a shuffle.

Nearly all files keep the rows of a query together.  So the judgments are sent to the lists, and each list of
a partition is scored as it streams by; the first and the last list of a partition, which may continue in
others, are also returned as rows.  Each partition reports the judged queries it found; whether every list was
complete is checked on all reports together (:class:`PartitionReports`), never assumed.
"""

from __future__ import annotations

import io
import json
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import RankstoneError
from rankstone.evaluation.shares import Trailer
from rankstone.hits.batches import head_of, tail_of
from rankstone.spark.executor_task import Shipped, results, to_arrow_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rankstone._basics import NamedValues
    from rankstone.spark.executor_task import Task
    from rankstone.spark.side_rows import SideRows

#: rows that are scored at a time
_ROWS: Final = 1 << 20


def _tables(batches: Iterable[Any], rows: int) -> Iterator[pl.DataFrame]:
    """Yield Arrow batches combined into tables of about so many rows."""
    import pyarrow as pa

    pending: list[Any] = []
    for batch in batches:
        if batch.num_rows:
            pending.append(batch)
        if sum(part.num_rows for part in pending) >= rows:
            yield pl.from_arrow(pa.Table.from_batches(pending))  # type: ignore[misc]
            pending = []
    if pending:
        yield pl.from_arrow(pa.Table.from_batches(pending))  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class InPlace(Shipped):
    """Scores the lists of a partition as they stream by; a function for ``mapInArrow``.

    Attributes
    ----------
    task
        Scores the rows of complete lists.
    side_rows
        Spark's broadcast of judgments and excluded pairs.
    rows
        The number of rows scored at a time.
    read
        Turns Arrow batches into tables of about so many rows.
    """

    task: Task
    side_rows: Any
    rows: int = _ROWS
    read: Callable[[Iterable[Any], int], Iterator[pl.DataFrame]] = _tables

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Turn Arrow batches of a partition's rows into Arrow batches of scores."""
        queries_found = _QueriesFound(self.side_rows.value)
        totals = Trailer()
        query_id = queries_found.dtype
        keeps = self.task.options.extra == "keep"
        try:
            for lists, end in split_at_lists(self.read(batches, self.rows)):
                names = lists["query_id"].rle().struct.field("value")
                if not queries_found.admit(names, end=end):
                    break
                queries = names.unique(maintain_order=True)
                judged, excluded = self.side_rows.value.of(queries)
                scores, trailer = self.task.scored(judged, lists, excluded)
                if queries_found.ended(names, lists, trailer, end=end, keep=keeps):
                    scores = scores.with_columns(rows=pl.lit(_pack(lists)))
                else:
                    totals.merge(trailer)
                yield from to_arrow_batches(scores, query_id)
                if trailer.extra and not keeps:
                    yield from to_arrow_batches(queries_found.unjudged(names), query_id)
        except RankstoneError as error:
            totals = Trailer.of_error(error)
        report = {"trailer": totals.to_json(), **queries_found.to_json()}
        last = json.dumps(report)
        yield from to_arrow_batches(pl.DataFrame({"trailer": [last]}), query_id)


class _QueriesFound:
    """The queries found in a partition."""

    def __init__(self, side_rows: SideRows) -> None:
        self._queries = side_rows.judged.queries
        self.dtype = self._queries.names.dtype
        self._judged = np.zeros(len(self._queries), bool)
        self._ends: list[NamedValues] = []
        self._scattered = False

    def admit(self, names: pl.Series, *, end: bool) -> bool:
        """Record lists; return True if none of their judged queries was found before."""
        codes = self._queries.codes(names)
        codes = codes[codes >= 0]
        is_repeated = len(np.unique(codes)) < len(codes)
        was_found = bool(self._judged[codes].any())
        self._scattered = is_repeated or was_found
        if not end:
            self._judged[codes] = True
        return not self._scattered

    def ended(
        self,
        names: pl.Series,
        lists: pl.DataFrame,
        trailer: Trailer,
        *,
        end: bool,
        keep: bool,
    ) -> bool:
        """Record a list that may continue elsewhere; return True if it is one whose rows are needed."""
        judged = not trailer.extra
        if not end or not (judged or keep):
            return False
        end_list = {
            "query": names[0],
            "rows": lists.height,
            "judged": judged,
            "trailer": trailer.to_json(),
        }
        self._ends.append(end_list)
        return True

    def unjudged(self, names: pl.Series) -> pl.DataFrame:
        """Return the ids of queries without judgments."""
        is_unjudged = self._queries.codes(names) < 0
        ids = names.filter(pl.Series(is_unjudged)).unique()
        return pl.DataFrame({"query_id": ids, "judged": [False] * len(ids)})

    def to_json(self) -> NamedValues:
        """Return the report as JSON data."""
        bits = np.packbits(self._judged).tobytes()
        packed = b64encode(zlib.compress(bits, 1)).decode()
        return {"found": packed, "ends": self._ends, "scattered": self._scattered}


class PartitionReports:
    """The reports of all partitions together.

    Attributes
    ----------
    whole
        The sums and counts of complete lists.
    cut
        {query: total rows of its pieces} for lists split across partitions.
    missing
        Judged queries that are not in the run.
    scattered
        True if the rows of a judged query are not adjacent; then the other fields are invalid.
    """

    def __init__(self, texts: Iterable[str], queries: pl.Series) -> None:
        self.whole = Trailer()
        self.scattered = False
        size = -(-len(queries) // 8)
        found_once = np.zeros(size, np.uint8)
        pieces: dict[Any, list[NamedValues]] = {}
        for text in texts:
            report = json.loads(text)
            self.whole.merge(Trailer.from_json(report["trailer"]))
            packed = b64decode(report["found"])
            bits = np.frombuffer(zlib.decompress(packed), np.uint8)
            found_twice = bool((found_once & bits).any())
            self.scattered |= report["scattered"] or found_twice
            found_once |= bits
            for end in report["ends"]:
                pieces.setdefault(end["query"], []).append(end)
        self.cut = {
            q: sum(part["rows"] for part in parts)
            for q, parts in pieces.items()
            if len(parts) > 1
        }
        for query, parts in pieces.items():
            if query not in self.cut:
                self.whole.merge(Trailer.from_json(parts[0]["trailer"]))
        judged = [query for query, parts in pieces.items() if parts[0]["judged"]]
        ends = pl.Series(judged, dtype=queries.dtype)
        bits = np.unpackbits(found_once, count=len(queries))
        listed = pl.Series(bits.astype(bool))
        ended = queries.is_in(ends.implode())
        self.scattered |= (listed & ended).any()
        self.missing = queries.filter(~(listed | ended))


@dataclass(frozen=True, eq=False)
class CutLists(Shipped):
    """Scores lists that were split across partitions, and queries that are not in the run.

    Attributes
    ----------
    task, side_rows
        As for :class:`InPlace`.
    cut
        {query: total rows of its pieces}.
    """

    task: Task
    side_rows: Any
    cut: dict[Any, int] = field(default_factory=dict)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Turn Arrow batches of ``query_id`` and ``rows`` into Arrow batches of scores."""
        import pyarrow as pa

        batches_here = list(batches)
        if not batches_here:
            return
        pieces: Any = pl.from_arrow(pa.Table.from_batches(batches_here))
        names = pieces["query_id"].unique(maintain_order=True)
        side_rows = self.side_rows.value
        lists = map(_unpack, pieces["rows"].drop_nulls())
        listed = pl.concat([side_rows.empty_list, *lists], how="diagonal")
        self._check(listed, names)
        judged, excluded = side_rows.of(names)
        yield from results(
            lambda: self.task.scored(judged, listed, excluded), names.dtype
        )

    def _check(self, listed: pl.DataFrame, names: pl.Series) -> None:
        """Check that the pieces have not changed if Spark recomputed a partition."""
        counts = listed["query_id"].value_counts()
        rows_of = dict(counts.iter_rows())
        cut = [name for name in names if name in self.cut]
        if any(self.cut[name] != rows_of.get(name) for name in cut):
            raise RuntimeError(
                "the rows of the run's partitions changed when Spark computed them again"
            )


def split_at_lists(
    tables: Iterable[pl.DataFrame],
) -> Iterator[tuple[pl.DataFrame, bool]]:
    """Split the tables of a partition between lists: the first list, many lists at a time, the last list.

    The second value is True for the first and the last list, which may continue in other partitions.

    >>> rows = pl.DataFrame({"query_id": list("aabbcc")})
    >>> [("".join(part["query_id"]), end) for part, end in split_at_lists([rows[:3], rows[3:]])]
    [('aa', True), ('bb', False), ('cc', True)]
    """
    open_list: list[pl.DataFrame] = []
    first = True
    for table in tables:
        ids = table["query_id"]
        continues = not open_list or ids.head(1).equals(
            open_list[0]["query_id"].head(1)
        )
        head = head_of(ids) if continues else 0
        open_list += [table[:head]] if head else []
        if head == table.height:
            continue
        tail = table.height - tail_of(ids)
        if first:
            yield pl.concat(open_list), True
            open_list = []
            first = False
        inside = [*open_list, *([table[head:tail]] if head < tail else [])]
        if inside:
            yield pl.concat(inside), False
        open_list = [table[tail:]]
    if open_list:
        yield pl.concat(open_list), True


def _pack(lists: pl.DataFrame) -> bytes:
    packed = io.BytesIO()
    lists.write_ipc_stream(packed, compat_level=pl.CompatLevel.oldest())
    return packed.getvalue()


def _unpack(rows: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(rows))
