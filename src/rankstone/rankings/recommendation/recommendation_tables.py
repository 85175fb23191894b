"""The tables beside a run: items, the past, judgments, users; each optional, each asked for by name.

Opening the run and the tables beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import polars as pl

from rankstone._text import counted
from rankstone.errors import BadOption, EmptyInput, NotComparable
from rankstone.hits.judgments import Judgments
from rankstone.io import read_interactions, read_judgments, read_run
from rankstone.io.attributes import read_attributes
from rankstone.rankings.rank_similarity.run_similarity import options_for
from rankstone.rankings.recommendation.item_diversity import unit
from rankstone.rankings.recommendation.items import ItemTable, Pairs
from rankstone.rankings.recommendation.list_reading import read_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.list_arrays import Floats, Ints
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Progress
    from rankstone.measures.core.definition import Threshold
    from rankstone.rankings.recommendation.list_frame import Codes, ListFrame, Numbers
    from rankstone.rankings.recommendation.list_reading import Reading
    from rankstone.rankings.recommendation.recommendation_measure import OfLists, OfRun

    Value = TypeVar("Value")

__all__ = ["Catalogue", "Opener", "Tables"]

#: table → what it is, and how it is given
_TABLES: Final = {
    "items": (
        "a table of items",
        "--items FILE (in Python items=…): doc_id and what is known of each item",
    ),
    "history": ("past interactions", "--history FILE (in Python history=…): query_id and doc_id"),
    "qrels": ("judgments", "--qrels FILE (in Python qrels=…): what each user found relevant"),
    "baseline": ("lists to compare with", "--expected RUN (in Python baseline=…), or against=popular"),
    "catalogue": (
        "to know how many items there are",
        "--catalogue-size N or --items FILE (catalogue_size=…, items=…); --history FILE counts items met",
    ),
    "popularity": (
        "the popularity of items",
        "--history FILE, or a number column `popularity` in --items FILE",
    ),
}


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Everything that could have been recommended.

    Attributes
    ----------
    size
        How many items there are.
    code
        Their numbers, uint32; ``None`` where only the count is known.
    """

    size: int
    code: Numbers | None

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what each item of the catalogue has; those nobody met have 0, and may be left out."""
        if self.code is None:
            return values[values > 0]
        found: NDArray[Any] = values[self.code]
        return found

    def codes(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of the items that :meth:`of` speaks of."""
        return np.flatnonzero(values > 0) if self.code is None else self.code


@dataclass(frozen=True, eq=False)
class Tables:
    """What stands beside the run.

    Attributes
    ----------
    item_codes, user_codes
        The numbers of items and users, shared by all tables and runs.
    items
        What is known of items.
    history
        Past interactions, with number columns.
    judged
        Judgments; the column ``relevance`` holds the grades.
    baseline
        Lists to compare with.
    users
        What is known of users.
    catalogue_size
        How many items there are, when somebody says so.
    """

    item_codes: Codes
    user_codes: Codes
    items: ItemTable | None = None
    history: Pairs | None = None
    judged: Pairs | None = None
    baseline: ListFrame | None = None
    users: Attributes | None = None
    catalogue_size: int | None = None
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def known(self) -> int:
        """How many items have a number so far."""
        return len(self.item_codes)

    def remember(self, key: object, make: Callable[[], Value]) -> Value:
        """Return ``make()``, made once."""
        if key not in self._memo:
            self._memo[key] = make()
        found: Value = self._memo[key]
        return found

    # -- is it there? ------------------------------------------------------------------------------
    def has(self, table: str) -> bool:
        """Say whether a table is there."""
        if table == "catalogue":
            return any(one is not None for one in (self.catalogue_size, self.items, self.history))
        if table == "popularity":
            column = self.items is not None and "popularity" in self.items.attributes.columns
            return self.history is not None or column
        given = {"qrels": self.judged}.get(table, getattr(self, table, None))
        return given is not None

    def require(self, table: str, owner: object) -> None:
        """Refuse a measure whose table is not there, before any work."""
        if not self.has(table):
            what, fix = _TABLES[table]
            raise BadOption(f"{owner} needs {what}", fix=f"add {fix}")

    @property
    def item_table(self) -> ItemTable:
        """The table of items; calling code has made sure that there is one."""
        assert self.items is not None  # noqa: S101 - an internal promise, not user input
        return self.items

    @property
    def past(self) -> Pairs:
        """The past interactions; calling code has made sure that there are any."""
        assert self.history is not None  # noqa: S101 - an internal promise, not user input
        return self.history

    # -- what measures ask -------------------------------------------------------------------------
    def catalogue(self, lists: ListFrame | None = None) -> Catalogue:
        """Return the catalogue: as many items as said, else the table of items, else the past's.

        Parameters
        ----------
        lists
            A run's lists, which must fit into a catalogue of a said size.
        """
        if self.catalogue_size is not None:
            shown = 0 if lists is None else int((lists.counts(self.known) > 0).sum())
            if shown > self.catalogue_size:
                raise NotComparable(
                    f"{counted(shown, 'distinct item')} in the lists, more than there are",
                    given=f"catalogue_size={self.catalogue_size}",
                    expected="the number of all items that could have been recommended",
                )
            return Catalogue(self.catalogue_size, None)
        if self.items is not None:
            return Catalogue(len(self.items), self.items.code)
        return self.items_met()

    def items_met(self) -> Catalogue:
        """Return the items that somebody met in the past."""

        def make() -> Catalogue:
            code = np.flatnonzero(self.past.per_item(self.known)).astype(np.uint32)
            return Catalogue(len(code), code)

        return self.remember("items met", make)

    def relevant(self, rel: Threshold) -> Pairs:
        """Return the pairs judged relevant."""
        assert self.judged is not None  # noqa: S101 - an internal promise, not user input
        judged = self.judged
        return self.remember(("relevant", rel), lambda: judged.where(rel(judged.columns["relevance"])))

    def is_relevant(self, lists: ListFrame, rel: Threshold) -> Floats:
        """Return 1 for every row of the lists that its user found relevant, 0 for others."""
        pairs = self.relevant(rel)
        return (pairs.find(lists) >= 0).astype(np.float64)

    def relevant_count(self, lists: ListFrame, rel: Threshold) -> Ints:
        """Return how many items each list's user found relevant, shown or not, int64 ``[lists]``."""
        return self.relevant(rel).of_users(lists.user)[1]

    def of_their_users(self, lists: ListFrame, pairs: Pairs) -> Floats:
        """Count the pairs of the lists' users by item, float64 ``[known]``."""
        theirs = np.zeros(len(self.user_codes), bool)
        theirs[lists.user] = True
        return pairs.per_item(self.known, theirs[pairs.user].astype(np.float64))

    def popularity(self, of: str) -> Floats:
        """Return how popular each numbered item is, 0 for those nobody met, float64 ``[known]``.

        Parameters
        ----------
        of
            ``users``: distinct users who met it; ``records``: interactions.  Without a past, the
            column ``popularity`` of the table of items.
        """
        return self.remember(("popularity", of, self.known), lambda: self._popularity(of))

    def _popularity(self, of: str) -> Floats:
        if self.history is not None:
            pairs = self.history.once if of == "users" else self.history
            return pairs.per_item(self.known).astype(np.float64)
        table = self.item_table
        values = np.zeros(self.known)
        values[table.code] = np.nan_to_num(table.numbers("popularity"))
        return values

    def popularity_place(self, of: str = "users") -> Ints:
        """Return each item's place by popularity, from 0; equal ones by id, larger first.

        Items that nobody met stand nowhere: their place is beyond any list.

        Parameters
        ----------
        of
            As for :meth:`popularity`.
        """
        return self.remember(("place", of, self.known), lambda: self._popularity_place(of))

    def _popularity_place(self, of: str) -> Ints:
        met = self.popularity(of)
        code = np.flatnonzero(met > 0)
        ids = self.item_codes.ids(code.astype(np.uint32))
        by = pl.DataFrame({"met": met[code], "id": ids, "code": code})
        order = by.sort("met", "id", descending=True)["code"].to_numpy()
        place = np.full(self.known, np.iinfo(np.int64).max)
        place[order] = np.arange(len(order))
        return place

    def by_worth(self, code: Ints, worth: NDArray[Any]) -> Ints:
        """Return items from the least of something to the most, equal ones by id."""
        by = pl.DataFrame({"worth": worth, "id": self.item_codes.ids(code.astype(np.uint32)), "code": code})
        return by.sort("worth", "id")["code"].to_numpy()

    def expected(self, k: int | None) -> Pairs:
        """Return what the baseline shows in its first ``k`` ranks."""
        assert self.baseline is not None  # noqa: S101 - an internal promise, not user input
        lists = self.baseline.down_to(k)
        return self.remember(("expected", k), lambda: Pairs.of(lists.user[lists.list], lists.item))

    def units(self, columns: tuple[str, ...]) -> Floats:
        """Return features as vectors of length one, zero where one is missing."""

        def make() -> Floats:
            vectors = self.item_table.vectors(columns)
            if vectors.known.all():
                return unit(vectors.values)
            return unit(np.where(vectors.known[:, None], vectors.values, 0.0))

        return self.remember(("units", columns), make)

    def centred(self, columns: tuple[str, ...]) -> Floats:
        """Return features moved so that their mean is zero: distances stay, rounding shrinks."""

        def make() -> Floats:
            vectors = self.item_table.vectors(columns)
            if not vectors.known.any():
                return vectors.values
            some = vectors.known[:, None] & np.ones_like(vectors.values, bool)
            centred: Floats = vectors.values - vectors.values.mean(axis=0, where=some)
            return centred

        return self.remember(("centred", columns), make)

    def audience(self) -> Numbers | None:
        """Return the users there are: of the table of users, else judged ones, else those of the past."""
        if self.users is not None:
            users = self.users
            return self.remember("audience", lambda: self.user_codes.of(users.collect()[users.key]))
        for pairs in (self.judged, self.history):
            if pairs is not None:
                return pairs.users
        return None

    def user_count(self) -> int:
        """Return how many users the past has."""
        return len(self.past.users)


class Opener:
    """Opens and reads the tables, and remembers where they came from.

    Parameters
    ----------
    columns, format_in, progress
        As for :func:`rankstone.beyond`.

    Attributes
    ----------
    sources
        Table → what to call it in messages.
    """

    def __init__(
        self, columns: Mapping[str, str] | None, format_in: str | None, progress: Progress | None
    ) -> None:
        self._columns = columns
        self._format_in = format_in
        self._progress = progress
        self.sources: dict[str, str] = {}

    def items(self, source: object, codes: Codes, separator: str) -> ItemTable:
        """Open the table of items and number its items."""
        attributes: Attributes = read_attributes(source, "doc_id", self._columns, self._format_in)
        self.sources["items"] = attributes.source
        return ItemTable.of(attributes, codes, separator)

    def history(self, source: object, tables: Tables, measures: Sequence[OfLists | OfRun]) -> Pairs:
        """Read past interactions, with the number columns that measures want."""
        further = sorted({column for measure in measures for column in measure.history_columns()})
        table = read_interactions(source, self._columns, self._format_in, further=further)
        self.sources["history"] = table.source
        numbers = [pl.col(name) for name in further]
        ids = [pl.col("query_id"), tables.item_codes.column("doc_id")]
        users, items, weights = [], [], []
        for piece in table.whole().watched(self._progress).tables([*ids, *numbers]):
            users.append(tables.user_codes.of_runs(piece["query_id"]))
            items.append(tables.item_codes.of(piece["doc_id"]))
            weights.append(piece.select(further))
        if not users:
            raise EmptyInput("the history is empty", where=table.source)
        by_name = {name: np.concatenate([part[name].to_numpy() for part in weights]) for name in further}
        return Pairs.of(np.concatenate(users), np.concatenate(items), by_name)

    def judgments(self, source: object, tables: Tables, options: AlignmentOptions) -> Pairs:
        """Read judgments by the rules of an evaluation."""
        table = read_judgments(source, self._columns, self._format_in)
        self.sources["judgments"] = table.source
        judged = Judgments.of(table.collect("query_id", "doc_id", "relevance"), options, table.locate)
        user = tables.user_codes.of(judged.queries.names)[judged.pairs.query]
        item = tables.item_codes.of(judged.pairs.docs)
        return Pairs.of(user, item, {"relevance": judged.grade})

    def run(
        self,
        source: object,
        name: str,
        tables: Tables,
        rules: AlignmentOptions,
        k: int | None,
        before: Callable[[], object] = lambda: None,
    ) -> Reading:
        """Read a run, down to rank ``k``; ``before`` as for :func:`.read_lists`."""
        table = read_run(source, self._columns, self._format_in, order=rules.order, name=name)
        ruled, watched = options_for(table, rules), table.watched(self._progress)
        return read_lists(watched, tables.item_codes, tables.user_codes, ruled, k, before)
