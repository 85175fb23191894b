"""The tables of items, interactions, judgments and users, all optional, and their reader."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import BadOption, NotComparable
from rankstone.hits.remembering import Remembering
from rankstone.rankings.recommendation.items import ItemTable, Pairs
from rankstone.rankings.recommendation.list_distances import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints
    from rankstone.io.attributes import Attributes
    from rankstone.measures.core.definition import Threshold
    from rankstone.rankings.recommendation.list_frame import Codes, ListFrame, Numbers

#: table → its description, and the option for it
_TABLES: Final = {
    "items": (
        "a table of items",
        "--items FILE (in Python items=…): doc_id and columns of attributes",
    ),
    "history": (
        "past interactions",
        "--history FILE (in Python history=…): query_id and doc_id",
    ),
    "qrels": (
        "judgments",
        "--qrels FILE (in Python qrels=…): the relevant items of each user",
    ),
    "baseline": (
        "lists to compare with",
        "--expected RUN (in Python baseline=…), or against=popular",
    ),
    "catalogue": (
        "to know how many items there are",
        "--catalogue-size N (in Python catalogue_size=…), --items FILE or --history FILE",
    ),
    "popularity": (
        "the popularity of items",
        "--history FILE, or a column `popularity` in --items FILE",
    ),
}


class Catalogue(Record):
    """Everything that could have been recommended.

    Attributes
    ----------
    size
        The number of items.
    code
        The numbers of items, uint32; ``None`` where only the size is known.
    """

    size: int
    code: Numbers | None

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values of the items of the catalogue; those with 0 may be left out."""
        if self.code is None:
            return values[values > 0]
        return values[self.code]

    def codes(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of the items whose values :meth:`of` returns."""
        if self.code is None:
            return np.flatnonzero(values > 0)
        return self.code


class Tables(Remembering, Record):
    """The tables of a call.

    Attributes
    ----------
    item_codes, user_codes
        The numbers of items and users, shared by all tables and runs.
    items
        The table of items.
    history
        Past interactions, with number columns.
    judged
        Judgments; the column ``relevance`` holds the grades.
    baseline
        Lists to compare with.
    users
        The table of users.
    catalogue_size
        The number of items, if it is given.
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
        """The number of items with a number."""
        return len(self.item_codes)

    # -- availability ------------------------------------------------------------------------------
    def has(self, table: str) -> bool:
        """Return True if a table is given."""
        if table == "catalogue":
            return any(
                source is not None
                for source in (self.catalogue_size, self.items, self.history)
            )
        if table == "popularity":
            column = (
                self.items is not None and "popularity" in self.items.attributes.columns
            )
            return self.history is not None or column
        value = {"qrels": self.judged}.get(table, getattr(self, table, None))
        return value is not None

    def require(self, table: str, owner: object) -> None:
        """Refuse a measure whose table is missing."""
        if not self.has(table):
            what, fix = _TABLES[table]
            raise BadOption(f"{owner} needs {what}", fix=f"add {fix}")

    @property
    def item_table(self) -> ItemTable:
        """The table of items, which the measure has required."""
        assert self.items is not None  # noqa: S101 - required by the measure
        return self.items

    @property
    def past(self) -> Pairs:
        """The past interactions, which the measure has required."""
        assert self.history is not None  # noqa: S101 - required by the measure
        return self.history

    # -- what measures read -------------------------------------------------------------------------
    def catalogue(self, lists: ListFrame | None = None) -> Catalogue:
        """Return the catalogue: of the given size, or the table of items, or the items of the history.

        Parameters
        ----------
        lists
            The lists of a run, which must fit into a catalogue of a given size.
        """
        if self.catalogue_size is not None:
            shown = 0 if lists is None else int((lists.counts(self.known) > 0).sum())
            if shown > self.catalogue_size:
                raise NotComparable(
                    f"{counted(shown, 'distinct item')} in the lists, more than the catalogue has",
                    given=f"catalogue_size={self.catalogue_size}",
                    expected="the number of all items that could have been recommended",
                )
            return Catalogue(self.catalogue_size, None)
        if self.items is not None:
            return Catalogue(len(self.items), self.items.code)
        return self.items_met()

    def items_met(self) -> Catalogue:
        """Return the items of the history."""

        def make() -> Catalogue:
            code = np.flatnonzero(self.past.per_item(self.known)).astype(np.uint32)
            return Catalogue(len(code), code)

        return self.remember("items met", make)

    def relevant(self, rel: Threshold) -> Pairs:
        """Return the pairs judged relevant."""
        assert self.judged is not None  # noqa: S101 - required by the measure
        judged = self.judged
        return self.remember(
            ("relevant", rel), lambda: judged.where(rel(judged.columns["relevance"]))
        )

    def is_relevant(self, lists: ListFrame, rel: Threshold) -> Floats:
        """Return 1 for every row of the lists that is relevant to its user, 0 for others."""
        return self.relevant(rel).has(lists)

    def relevant_count(self, lists: ListFrame, rel: Threshold) -> Ints:
        """Return the number of items relevant to the user of each list, int64 ``[lists]``."""
        return self.relevant(rel).of_users(lists.user)[1]

    def count_by_item(self, lists: ListFrame, pairs: Pairs) -> Floats:
        """Count the pairs of the lists' users by item, float64 ``[known]``."""
        has_list = np.zeros(len(self.user_codes), bool)
        has_list[lists.user] = True
        return pairs.per_item(self.known, has_list[pairs.user].astype(np.float64))

    def popularity(self, of: str) -> Floats:
        """Return the popularity of each item, 0 without interactions, float64 ``[known]``.

        Parameters
        ----------
        of
            ``users``: distinct users of it; ``records``: interactions.  Without a history, the
            column ``popularity`` of the table of items.
        """
        return self.remember(
            ("popularity", of, self.known), lambda: self._popularity(of)
        )

    def _popularity(self, of: str) -> Floats:
        if self.history is not None:
            pairs = self.history.once if of == "users" else self.history
            return pairs.per_item(self.known).astype(np.float64)
        table = self.item_table
        values = np.zeros(self.known)
        values[table.code] = np.nan_to_num(table.numbers("popularity"))
        return values

    def popularity_place(self, of: str = "users") -> Ints:
        """Return the place of each item by popularity, from 0; equal ones by id, larger first.

        Items without interactions have a place beyond any list.

        Parameters
        ----------
        of
            As for :meth:`popularity`.
        """
        return self.remember(
            ("place", of, self.known), lambda: self._popularity_place(of)
        )

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
        """Return items sorted by some values, ascending, equal ones by id."""
        by = pl.DataFrame(
            {
                "worth": worth,
                "id": self.item_codes.ids(code.astype(np.uint32)),
                "code": code,
            }
        )
        return by.sort("worth", "id")["code"].to_numpy()

    def expected(self, k: int | None) -> Pairs:
        """Return the users and items of the first ``k`` ranks of the baseline."""
        assert self.baseline is not None  # noqa: S101 - required by the measure
        lists = self.baseline.down_to(k)
        return self.remember(
            ("expected", k), lambda: Pairs.of(lists.user[lists.query], lists.item)
        )

    def units(self, columns: tuple[str, ...]) -> Floats:
        """Return features as vectors of length one; zero vectors where a feature is missing."""

        def make() -> Floats:
            vectors = self.item_table.vectors(columns)
            if vectors.known.all():
                return unit(vectors.values)
            return unit(np.where(vectors.known[:, None], vectors.values, 0.0))

        return self.remember(("units", columns), make)

    def centred(self, columns: tuple[str, ...]) -> Floats:
        """Return features with mean zero, which leaves distances and reduces rounding."""

        def make() -> Floats:
            vectors = self.item_table.vectors(columns)
            if not vectors.known.any():
                return vectors.values
            known = vectors.known[:, None] & np.ones_like(vectors.values, bool)
            centred: Floats = vectors.values - vectors.values.mean(axis=0, where=known)
            return centred

        return self.remember(("centred", columns), make)

    def audience(self) -> Numbers | None:
        """Return the known users: of the table of users, or of the judgments, or of the history."""
        if self.users is not None:
            users = self.users
            return self.remember(
                "audience", lambda: self.user_codes.of(users.collect()[users.key])
            )
        for pairs in (self.judged, self.history):
            if pairs is not None:
                return pairs.users
        return None

    def user_count(self) -> int:
        """Return the number of users of the history."""
        return len(self.past.users)
