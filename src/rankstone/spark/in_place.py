"""Lists scored where they lie, with no row moved: what a partition holds, and what its ends may be halves of.

Nearly all files hold the rows of a query together.  So the judgments come to the lists, and every list of a
partition is scored as it streams by; the first and the last, whose other halves may be in other partitions,
are handed on as rows, too.  A partition tells which judged queries it met.  Whether every list was whole is
found by looking at all that is told (:class:`Told`), and never assumed.
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
from rankstone.spark.executor_task import Travelling, as_spark_reads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankstone.spark.executor_task import Task
    from rankstone.spark.spark_evaluation import Beside

#: rows that are scored at a time
_ROWS: Final = 1 << 20


@dataclass(frozen=True, eq=False)
class InPlace(Travelling):
    """Scores the lists of a partition as they stream by.

    Attributes
    ----------
    task
        What is done for rows of whole lists.
    beside
        Spark's broadcast of what lists are held against.
    rows
        How many are scored at a time.
    """

    task: Task
    beside: Any
    rows: int = _ROWS

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Turn Arrow batches of a partition's rows into Arrow batches of scores."""
        met, told = _Met(self.beside.value), Trailer()
        query_id = None
        try:
            for lists, end in lists_in_place(_tables(batches, self.rows)):
                query_id = lists.schema["query_id"]
                names = lists["query_id"].rle().struct.field("value")
                if not met.admit(names, end=end):
                    break
                scores, trailer = self.task.scored(*self._rows(lists, names))
                if met.ended(names, lists, trailer, end=end, keep=self._keeps):
                    scores = scores.with_columns(rows=pl.lit(_packed(lists)))
                else:
                    told.merge(trailer)
                yield from as_spark_reads(scores, query_id)
                if trailer.extra and not self._keeps:
                    yield from as_spark_reads(met.strangers(names), query_id)
        except RankstoneError as error:
            told = Trailer.of_error(error)
        if query_id is not None:
            last = json.dumps({"told": told.to_json(), **met.told()})
            yield from as_spark_reads(pl.DataFrame({"trailer": [last]}), query_id)

    @property
    def _keeps(self) -> bool:
        return self.task.options.extra == "keep"

    def _rows(
        self, lists: pl.DataFrame, names: pl.Series
    ) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame | None]:
        judged, excluded = self.beside.value.of(names.unique(maintain_order=True))
        return judged, lists, excluded


class _Met:
    """The queries that a partition met."""

    def __init__(self, beside: Beside) -> None:
        self._queries = beside.judged.queries
        self._judged = np.zeros(len(self._queries), bool)
        self._ends: list[dict[str, Any]] = []
        self._scattered = False

    def admit(self, names: pl.Series, *, end: bool) -> bool:
        """Take note of lists; say whether no judged query among them was met before."""
        codes = self._queries.codes(names)
        codes = codes[codes >= 0]
        self._scattered = len(np.unique(codes)) < len(codes) or bool(self._judged[codes].any())
        if not end:
            self._judged[codes] = True
        return not self._scattered

    def ended(
        self, names: pl.Series, lists: pl.DataFrame, trailer: Trailer, *, end: bool, keep: bool
    ) -> bool:
        """Take note of a list that may go on elsewhere; say whether it is one, and is wanted."""
        judged = not trailer.extra
        if not end or not (judged or keep):
            return False
        told = {"query": names[0], "rows": lists.height, "judged": judged, "told": trailer.to_json()}
        self._ends.append(told)
        return True

    def strangers(self, names: pl.Series) -> pl.DataFrame:
        """Return the queries that nobody judged, by id alone."""
        ids = names.filter(pl.Series(self._queries.codes(names) < 0)).unique()
        return pl.DataFrame({"query_id": ids, "judged": [False] * len(ids)})

    def told(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        bits = b64encode(zlib.compress(np.packbits(self._judged).tobytes(), 1)).decode()
        return {"met": bits, "ends": self._ends, "scattered": self._scattered}


class Told:
    """What partitions tell together.

    Attributes
    ----------
    whole
        The sums and counts of lists that are whole.
    cut
        Query → rows of its pieces, of lists that partitions cut.
    missing
        Judged queries that nobody answers.
    scattered
        Whether a judged query's rows are in two places that are no two halves: then nothing here holds.
    """

    def __init__(self, texts: Iterable[str], queries: pl.Series) -> None:
        self.whole, self.scattered = Trailer(), False
        once = np.zeros(-(-len(queries) // 8), np.uint8)
        pieces: dict[Any, list[dict[str, Any]]] = {}
        for text in texts:
            told = json.loads(text)
            self.whole.merge(Trailer.from_json(told["told"]))
            bits = np.frombuffer(zlib.decompress(b64decode(told["met"])), np.uint8)
            self.scattered |= told["scattered"] or bool((once & bits).any())
            once |= bits
            for end in told["ends"]:
                pieces.setdefault(end["query"], []).append(end)
        self.cut = {q: sum(part["rows"] for part in parts) for q, parts in pieces.items() if len(parts) > 1}
        for query, parts in pieces.items():
            if query not in self.cut:
                self.whole.merge(Trailer.from_json(parts[0]["told"]))
        ends = pl.Series(
            [query for query, parts in pieces.items() if parts[0]["judged"]], dtype=queries.dtype
        )
        met = pl.Series(np.unpackbits(once, count=len(queries)).astype(bool))
        ended = queries.is_in(ends.implode())
        self.scattered |= (met & ended).any()
        self.missing = queries.filter(~(met | ended))


@dataclass(frozen=True, eq=False)
class CutLists(Travelling):
    """Scores lists that partitions cut, from all their pieces, and queries without a list.

    Attributes
    ----------
    task, beside
        As for :class:`InPlace`.
    cut
        Query → how many rows its pieces have together.
    """

    task: Task
    beside: Any
    cut: dict[Any, int] = field(default_factory=dict)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Turn Arrow batches of ``query_id`` and ``rows`` into Arrow batches of scores."""
        import pyarrow as pa

        given = list(batches)
        if not given:
            return
        pieces: Any = pl.from_arrow(pa.Table.from_batches(given))
        names = pieces["query_id"].unique(maintain_order=True)
        beside = self.beside.value
        listed = pl.concat([beside.empty_list, *map(_unpacked, pieces["rows"].drop_nulls())], how="diagonal")
        self._check(listed, names)
        judged, excluded = beside.of(names)
        try:
            scores, trailer = self.task.scored(judged, listed, excluded)
        except RankstoneError as error:
            scores, trailer = pl.DataFrame({"query_id": names[:0]}), Trailer.of_error(error)
        yield from as_spark_reads(scores, names.dtype)
        last = pl.DataFrame({"trailer": [json.dumps(trailer.to_json())]})
        yield from as_spark_reads(last, names.dtype)

    def _check(self, listed: pl.DataFrame, names: pl.Series) -> None:
        """Make sure that pieces are what they were, should Spark have had to make a partition anew."""
        found = dict(listed["query_id"].value_counts().iter_rows())
        if any(self.cut[name] != found.get(name) for name in names if name in self.cut):
            raise RuntimeError("the run's partitions held other rows when Spark computed them again")


def lists_in_place(tables: Iterable[pl.DataFrame]) -> Iterator[tuple[pl.DataFrame, bool]]:
    """Re-cut the tables of a partition between lists: the first list, many at a time, the last.

    The second value says whether it is the first or the last: their other halves may be elsewhere.

    >>> rows = pl.DataFrame({"query_id": list("aabbcc")})
    >>> [("".join(part["query_id"]), end) for part, end in lists_in_place([rows[:3], rows[3:]])]
    [('aa', True), ('bb', False), ('cc', True)]
    """
    going_on: list[pl.DataFrame] = []
    first = True
    for table in tables:
        ids = table["query_id"]
        goes_on = not going_on or ids.head(1).equals(going_on[0]["query_id"].head(1))
        head = head_of(ids) if goes_on else 0
        going_on += [table[:head]] if head else []
        if head == table.height:
            continue
        tail = table.height - tail_of(ids)
        if first:
            yield pl.concat(going_on), True
            going_on, first = [], False
        inside = [*going_on, *([table[head:tail]] if head < tail else [])]
        if inside:
            yield pl.concat(inside), False
        going_on = [table[tail:]]
    if going_on:
        yield pl.concat(going_on), True


def _tables(batches: Iterable[Any], rows: int) -> Iterator[pl.DataFrame]:
    """Yield Arrow batches together, about so many rows at a time."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
        if sum(one.num_rows for one in held) >= rows:
            yield pl.from_arrow(pa.Table.from_batches(held))  # type: ignore[misc]
            held = []
    if held:
        yield pl.from_arrow(pa.Table.from_batches(held))  # type: ignore[misc]


def _packed(lists: pl.DataFrame) -> bytes:
    packed = io.BytesIO()
    lists.write_ipc_stream(packed, compat_level=pl.CompatLevel.oldest())
    return packed.getvalue()


def _unpacked(rows: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(rows))
