"""The lists of every step of a pipeline, aligned as scores are: the rank of each retrieved document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankstone.evaluation.pipeline import ScoredPart
from rankstone.explanation.traced_list import graded_documents
from rankstone.hits.extras.row_numbers import RowNumbers
from rankstone.hits.extras.unjudged_places import Holes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone._basics import Progress
    from rankstone.evaluation.pipeline import Pipeline, ScoredRuns
    from rankstone.evaluation.prepared import Prepared
    from rankstone.evaluation.scores import RunScores
    from rankstone.hits.alignment_audit import RunAudit
    from rankstone.hits.hits import Hits
    from rankstone.hits.matching import Chunk
    from rankstone.io.input_table import Table


class _ListedPart(ScoredPart):
    """A part of a run: its scores, and the documents of its lists."""

    listed: pl.DataFrame


def read_steps(
    ready: Prepared, runs: Mapping[str, object], progress: Progress | None
) -> tuple[ScoredRuns, dict[str, pl.DataFrame]]:
    """Read the lists of judged queries of each step, with scores and audits.

    Lists have columns ``query_id``, ``doc_id`` and ``rank``.
    """
    steps: dict[str, pl.DataFrame] = {}

    def score_run(
        name: str, pipeline: Pipeline, table: Table
    ) -> tuple[RunScores, RunAudit]:
        def each(chunk: Chunk, hits: Hits) -> _ListedPart:
            scored = pipeline.measure(chunk, hits)
            listed = graded_documents(chunk, hits)
            return _ListedPart(**vars(scored), listed=listed)

        table = table.in_memory()
        parts, audit = pipeline.map_chunks(table, each, frozenset({RowNumbers, Holes}))
        listed = pl.concat([part.listed for part in parts])
        rows = table.collect("doc_id")["doc_id"]
        ids = ready.unit_ids(rows.cast(pl.String))
        documents = ids.gather(listed["row"]).alias("doc_id")
        lists = listed.select("query_id", documents, "rank")
        # of copies that keep their ranks, the first is the document
        by_rank = lists.sort("rank")
        steps[name] = by_rank.unique(
            ["query_id", "doc_id"], keep="first", maintain_order=True
        )
        return pipeline.assemble(parts, last=True), audit

    return ready.score_runs(runs, score_run, progress=progress), steps
