"""Opens runs and the tables beside them, whose ids become the same numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import EmptyInput
from rankstone.hits.judgments import Judgments
from rankstone.io import read_interactions, read_judgments, read_run
from rankstone.io.attributes import read_attributes
from rankstone.rankings.rank_similarity.list_ordering import options_for
from rankstone.rankings.recommendation.items import ItemTable, Pairs
from rankstone.rankings.recommendation.list_reading import read_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone._basics import Columns, Progress
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.io.attributes import Attributes
    from rankstone.rankings.recommendation.list_frame import Codes
    from rankstone.rankings.recommendation.list_reading import RunLists
    from rankstone.rankings.recommendation.recommendation_measure import (
        PerListMeasure,
        WholeRunMeasure,
    )
    from rankstone.rankings.recommendation.recommendation_tables import Tables


class Opener:
    """Opens and reads the tables, and keeps their sources.

    Parameters
    ----------
    columns, format_in, progress
        As for :func:`rankstone.beyond`.
    by_ranks
        True if ranks order the lists even beside scores.

    Attributes
    ----------
    sources
        Table → its source, for messages.
    notes
        Table → what was detected about its file.
    """

    def __init__(
        self,
        columns: Columns | None,
        format_in: str | None,
        progress: Progress | None,
        *,
        by_ranks: bool = False,
    ) -> None:
        self._columns = columns
        self._by_ranks = by_ranks
        self._format_in = format_in
        self._progress = progress
        self.sources: dict[str, str] = {}
        self.notes: dict[str, tuple[str, ...]] = {}

    def items(self, source: object, codes: Codes, separator: str) -> ItemTable:
        """Open the table of items and number its items."""
        attributes: Attributes = read_attributes(
            source, "doc_id", self._columns, self._format_in
        )
        self.sources["items"], self.notes["items"] = (
            attributes.source,
            attributes.read_as,
        )
        return ItemTable.of(attributes, codes, separator)

    def history(
        self,
        source: object,
        tables: Tables,
        measures: Sequence[PerListMeasure | WholeRunMeasure],
    ) -> Pairs:
        """Read past interactions, with the number columns that measures read."""
        columns_read = sorted(
            {column for measure in measures for column in measure.history_columns()}
        )
        table = read_interactions(
            source, self._columns, self._format_in, further=columns_read
        )
        self.sources["history"] = table.source
        numbers = [pl.col(name) for name in columns_read]
        ids = [pl.col("query_id"), tables.item_codes.column("doc_id")]
        users = []
        items = []
        weights = []
        for piece in table.whole().watched(self._progress).tables([*ids, *numbers]):
            users.append(tables.user_codes.of_runs(piece["query_id"]))
            items.append(tables.item_codes.of(piece["doc_id"]))
            weights.append(piece.select(columns_read))
        if not users:
            raise EmptyInput("the history is empty", where=table.source)
        self.notes["history"] = table.read_as()
        by_name = {
            name: np.concatenate([part[name].to_numpy() for part in weights])
            for name in columns_read
        }
        return Pairs.of(np.concatenate(users), np.concatenate(items), by_name)

    def judgments(
        self, source: object, tables: Tables, options: AlignmentOptions
    ) -> Pairs:
        """Read judgments by the options of alignment."""
        table = read_judgments(source, self._columns, self._format_in)
        self.sources["judgments"] = table.source
        judged = Judgments.of(
            table.collect("query_id", "doc_id", "relevance"), options, table.locate
        )
        self.notes["judgments"] = table.read_as()
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
    ) -> RunLists:
        """Read a run, down to rank ``k``; ``before`` as for :func:`.read_lists`."""
        table = read_run(
            source,
            self._columns,
            self._format_in,
            order=rules.order,
            name=name,
            ranks=self._by_ranks,
            duplicates=rules.duplicates,
        )
        table = replace(table, ranked=self._by_ranks)
        ruled = options_for(table, rules)
        watched = table.watched(self._progress)
        return read_lists(
            watched, tables.item_codes, tables.user_codes, ruled, k, before
        )
