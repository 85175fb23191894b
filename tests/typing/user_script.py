"""What a user writes, from options to results; type checkers accept every line, and no type is ``Any``."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

import polars as pl

import rankstone
from rankstone import (
    AP,
    AlignmentOptions,
    Measure,
    P,
    Prepared,
    QrelsLike,
    RunLike,
    Scores,
)

if TYPE_CHECKING:
    from rankstone.hits.alignment_options import AlignmentKeywords

qrels: QrelsLike = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
bm25: RunLike = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d9": 0.7, "d3": 0.6}}
dense = {"q1": ["d2", "d1"], "q2": ["d3", "d9"]}

# measures are values; their parameters are checked, too
strict: Measure = AP(rel=2)  # type: ignore[arg-type]
head: Measure = P(rel=2) @ 5  # type: ignore[arg-type]

# options: by keyword, or prepared in a dict of the right names and values
options: AlignmentKeywords = {"ties": "expected", "missing": "drop", "depth": None}
assert_type(AlignmentOptions(**options).depth, int | None)

# one run, several runs, many ways to hand them over
scores = rankstone.evaluate(qrels, bm25, [strict, head, "nDCG@10"])
assert_type(scores, Scores)
several = rankstone.evaluate(
    qrels, {"bm25": bm25, "dense": dense}, "nDCG@10", ties="docid_asc", extra="drop"
)
frame = pl.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0]})
framed = rankstone.evaluate(
    "qrels.txt", frame, "AP", columns={"user": "query_id"}, on_bad_run="skip"
)
labelled = rankstone.evaluate(table=frame, measures="RR", one_group=True)
stored = rankstone.evaluate(qrels, bm25, "AP", memory="1GB", unjudged=0.5)
assert_type(stored, rankstone.StoredScores)
assert_type(labelled, Scores)

# results
per_query: pl.DataFrame = several.per_query
means: pl.DataFrame = several.mean(by=())
value: float | None = scores.to_dict()["run"]["nDCG@10"]
rows: pl.LazyFrame = stored.lazy()

# judgments made ready once
ready = Prepared(qrels, "nDCG@10 AP", negative="zero", candidates=1000)
assert_type(ready.evaluate(bm25), Scores)
ranks = ready.hits(bm25, "q1").rank
assert_type(ready.options, AlignmentOptions)
again: Scores = ready.for_measures(strict).evaluate({"a": bm25, "b": dense})

# comparisons, explanations, curves, bounds
compared = rankstone.compare(
    qrels, {"bm25": bm25, "dense": dense}, "AP", test="t", seed=7, empty="drop"
)
table: pl.DataFrame = compared.table
explained = rankstone.explain(qrels, bm25, "nDCG@10", "q1", versus=dense, pool="judged")
curve: rankstone.Curves = rankstone.curve(
    qrels, bm25, "PR R@1..10", resamples=100, order="score"
)
bounds: pl.DataFrame = rankstone.bounds(
    qrels, bm25, head, grades=[0, 1, 2], duplicates="error"
).mean()
chance: pl.DataFrame = rankstone.baseline(qrels, bm25, "AP", candidates=1000).values
who = rankstone.identify(
    qrels, bm25, "0.83", "nDCG@10", digits=2, score_dtype="float32"
)
beyond: rankstone.BeyondScores = rankstone.beyond(
    dense, "Coverage@2", catalogue_size=10, ties="input"
)
