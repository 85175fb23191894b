"""Opening the run and the tables beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import EmptyInput
from rankstone.hits.judgments import Judgments
from rankstone.io import read_attributes, read_interactions, read_judgments, read_run
from rankstone.lists.beyond.items import ItemTable
from rankstone.lists.beyond.pairs import Pairs
from rankstone.lists.beyond.reading import read_lists
from rankstone.lists.opening import options_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone.hits.options import Alignment
    from rankstone.io import Attributes, Progress
    from rankstone.lists.beyond.codes import Codes
    from rankstone.lists.beyond.measure import OfLists, OfRun
    from rankstone.lists.beyond.reading import Reading
    from rankstone.lists.beyond.tables import Tables

__all__ = ["Opener"]


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

    def judgments(self, source: object, tables: Tables, options: Alignment) -> Pairs:
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
        rules: Alignment,
        k: int | None,
        before: Callable[[], object] = lambda: None,
    ) -> Reading:
        """Read a run, down to rank ``k``; ``before`` as for :func:`.read_lists`."""
        table = read_run(source, self._columns, self._format_in, order=rules.order, name=name)
        ruled, watched = options_for(table, rules), table.watched(self._progress)
        return read_lists(watched, tables.item_codes, tables.user_codes, ruled, k, before)
