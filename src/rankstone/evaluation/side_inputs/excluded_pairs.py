"""Pairs to exclude from lists or judgments."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.evaluation.side_inputs.side_input import SideInput, recorded_source
from rankstone.hits.extras.exclusion import Exclusion, pairs_of, rows_in
from rankstone.io import read_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone._basics import Bools
    from rankstone.evaluation.judged_rows import JudgedRows
    from rankstone.evaluation.side_inputs.side_input import Preparation, SideRequest
    from rankstone.hits.judgments import Judgments
    from rankstone.io.input_table import Table


class ExcludedPairs(Record, SideInput):
    """Removes pairs from lists, from judgments or from both, as ``exclude_from`` says.

    Attributes
    ----------
    table
        The pairs.
    recorded, sources
        The name of their file, and their source.
    """

    table: Table
    recorded: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    turn = 2

    @classmethod
    def of(cls, request: SideRequest) -> Self:
        """Open the pairs."""
        table = read_pairs(request.exclude, request.columns, name="exclude")
        recorded = {"exclude": recorded_source(table.source)}
        return cls(table.whole(), recorded, {"exclude": table.source})

    def prepare(self, rows: JudgedRows, rest: Preparation) -> Judgments:
        """Prepare the judgments of other pairs; the queries of excluded ones stay judged."""
        frame = rows.frame
        pairs = self._pairs(rows, frame.schema)
        exclusion = Exclusion.of_pairs(pairs, frame, rows.options)
        if rows.options.exclude_from == "lists":
            return rest(rows).with_extras(exclusion)

        is_out = rows_in(frame, pairs)
        is_relevant = (frame["relevance"] > 0).to_numpy()
        kept = np.flatnonzero(~is_out)
        judgments = rows.prepared_as(frame[kept], kept, rest)
        judgments = replace(
            judgments,
            declared=len(rows.queries) - frame["query_id"].n_unique(),
            excluded=_count_pairs(frame, is_out),
            excluded_relevant=_count_pairs(frame, is_out & is_relevant),
        )
        return judgments.with_extras(exclusion)

    def _pairs(
        self, rows: JudgedRows, kinds: Mapping[str, pl.DataType]
    ) -> pl.DataFrame:
        """Return the pairs of these queries, each once, with ids of the judgments' types."""
        table = self.table.pairs_in_one_list() if rows.one_group else self.table
        if rows.share is None:
            return pairs_of(table.collect("query_id", "doc_id"), kinds)
        # piece by piece: there may be many
        ids = {name: kinds[name] for name in ("query_id", "doc_id")}
        shares = [pl.DataFrame(schema=ids)]
        for piece in table.tables([pl.col(name) for name in ids]):
            pairs = pairs_of(piece, kinds)
            shares.append(pairs.filter(rows.share))
        return pl.concat(shares).unique(maintain_order=True)


def _count_pairs(frame: pl.DataFrame, chosen: Bools) -> int:
    """Return how many pairs some rows are about; a pair may be in several."""
    return frame.filter(chosen).select("query_id", "doc_id").n_unique()
