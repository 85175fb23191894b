"""Evaluation with sampled candidates: ranks of relevant documents among sampled ones, and their correction.

Recommenders are often evaluated on lists of one held-out item and a hundred sampled ones.  Measures of such
lists differ from those among all items (Krichene and Rendle, KDD 2020).  Ranks come from the pipeline, the
estimators from :func:`~rankstone.rankings.correct_sampled`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import polars as pl

from rankstone._basics import counted, queries
from rankstone.errors import BadParameter, BadValue, NotComparable, printable
from rankstone.evaluation.pipeline import ScoredPart
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords, name_runs
from rankstone.hits.alignment_options import takes
from rankstone.measures.core.definition import Threshold
from rankstone.rankings.recommendation.sampled_metrics import correct_sampled
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet
from rankstone.tables.sheet import Table as Shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Ints, Progress
    from rankstone.evaluation.pipeline import Pipeline
    from rankstone.evaluation.request import MeasuresLike, QrelsLike, RunsLike
    from rankstone.evaluation.scores import RunScores
    from rankstone.hits.alignment_audit import Audit, RunAudit
    from rankstone.hits.hits import Hits
    from rankstone.hits.matching import Chunk
    from rankstone.io.input_table import Table


@takes(EvaluationKeywords)
def sampled(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike,
    *,
    items: int,
    method: str = "bv",
    gamma: float = 0.1,
    replacement: bool = False,
    rel: float | None = None,
    confidence: float = 0.95,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Sampled:
    """Bound and estimate measures among all items, from lists of relevant and sampled ones.

    Parameters
    ----------
    qrels, runs, progress, **options
        As for :func:`~rankstone.evaluate`.  Every list has the query's relevant documents and sampled
        ones, the same number in every list.
    measures
        Measures of one relevant document: each relevant document is ranked among itself and the sampled
        ones, as if the others were not there.
    items
        The number of items from which the others were sampled, the relevant one included.
    method, gamma, replacement
        How values are corrected, as for ``correct_sampled``.  A list contains a document once, so
        samples are assumed to be drawn without replacement.
    rel
        Relevant from this grade on; above 0 unless given.
    confidence
        Of the bounds, over draws of queries and of sampled documents.

    Returns
    -------
    Sampled
        Bounds and estimates, and the values of the sampled lists.

    Raises
    ------
    NotComparable
        If a relevant document is not in its list, or lists have different numbers of others.

    Examples
    --------
    Each user's one item, ranked first, second, second and fourth among three others of a hundred items:

    >>> import polars as pl
    >>> qrels = {f"u{user}": {"liked": 1} for user in range(4)}
    >>> others = ["a", "b", "c"]
    >>> run = {f"u{user}": [*others[:above], "liked", *others[above:]] for user, above in enumerate((0, 1, 1, 3))}
    >>> corrected = sampled(qrels, run, "R@1 AUC(negatives=candidates)", items=100, method="rank")
    >>> corrected.values.select("measure", pl.col("value", "naive").round(4), "relevant").rows()
    [('R@1', 0.25, 0.25, 4), ('AUC(negatives=candidates)', 0.5833, 0.5833, 4)]
    """
    line = Threshold(0.0, strict=True) if rel is None else Threshold(rel)
    ready = Prepared(qrels, "RR", **options)
    if ready.options.tie_rule.closed_form:
        raise BadParameter(
            f"ties={ready.options.ties} has no ranks to correct",
            fix="use another rule, such as ties=worst",
        )
    ranked: dict[str, tuple[Ints, Ints, int]] = {}

    def score_run(
        name: str, pipeline: Pipeline, table: Table
    ) -> tuple[RunScores, RunAudit]:
        def each(chunk: Chunk, hits: Hits) -> _RankedPart:
            plain = pipeline.measure(chunk, hits)
            return _RankedPart(**vars(plain), among=_candidate_ranks(hits, line))

        parts, audit = pipeline.map_chunks(table, each)
        ranked[name] = _checked(parts, table.source, ready.options.missing)
        return pipeline.assemble(parts), audit

    evaluated = ready.score_runs(name_runs(runs), score_run, progress=progress)
    rows = []
    warnings = dict[str, None]()
    for name, (rank, query, others) in ranked.items():
        fixed = correct_sampled(
            rank,
            measures,
            items=items,
            sampled=others,
            method=method,
            gamma=gamma,
            replacement=replacement,
            users=query,
            confidence=confidence,
        )
        warnings |= dict.fromkeys(fixed.warnings)
        count = len(np.unique(query))
        rows += [
            (name, *row[:-1], others, len(rank), count)
            for row in fixed.values.iter_rows()
        ]
    conventions = {
        **evaluated.conventions,
        "sampled": {
            "items": items,
            "method": method,
            "gamma": gamma if method == "bv" else None,
            "replacement": replacement,
            "confidence": confidence,
            "rel": str(line),
        },
    }
    return Sampled(
        pl.DataFrame(rows, _SCHEMA, orient="row"),
        " ".join(warnings),
        evaluated.audit,
        conventions,
        evaluated.inputs,
    )


_SCHEMA: dict[str, Any] = {
    "run": pl.String,
    "measure": pl.String,
    **dict.fromkeys(("value", "lower", "upper", "naive"), pl.Float64),
    **dict.fromkeys(("sampled", "relevant", "queries"), pl.Int64),
}


@dataclass(frozen=True, eq=False)
class Sampled(Result):
    """Bounds and estimates of measures among all items, made of ranks among sampled ones.

    Attributes
    ----------
    values
        ``run``, ``measure``, ``value`` (the mean over relevant documents), ``lower`` and ``upper`` (the least
        and the most that ranks among all items can give which agree with those in the lists; null where none
        agree), ``naive`` (what the sampled lists have), ``sampled`` (others in a list), ``relevant``
        (documents ranked), ``queries``.
    warning
        What to know before using such numbers.
    audit, conventions, inputs
        As of :class:`~rankstone.evaluation.scores.Scores`.
    """

    values: pl.DataFrame
    warning: str
    audit: Audit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, Any]

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`values`."""
        return self.values

    def sheet(self, digits: int = 4) -> Sheet:
        """Return the estimates as people read them; ``digits`` are decimals."""
        settings = " ".join(
            f"{k}={v}" for k, v in self.conventions["sampled"].items() if v is not None
        )
        table = Shown.of(self.values, digits=digits, kinds={"measure": "id"})
        notes = (f"warning  {self.warning}", f"sampled  {settings}", self._notes())
        return Sheet("", parts=(table,), notes=notes)


class _RankedPart(ScoredPart):
    """A part of a run: its scores, and the ranks of relevant documents among the others."""

    among: _CandidateRanks


class _CandidateRanks(NamedTuple):
    """Ranks of relevant documents, the lists they are in, and numbers of relevant and other documents."""

    rank: Ints
    lists: Ints
    relevant: Ints
    others: Ints


def _checked(
    parts: Sequence[_RankedPart], source: str, missing: str
) -> tuple[Ints, Ints, int]:
    """Join the parts; refuse lists that are not relevant documents among sampled ones."""
    names = pl.concat([part.names for part in parts])
    relevant = np.concatenate([part.among.relevant for part in parts])
    others = np.concatenate([part.among.others for part in parts])
    ranks = np.concatenate([part.among.rank for part in parts])
    starts = np.cumsum([0, *(len(part.names) for part in parts)])
    lists = np.concatenate(
        [part.among.lists + start for part, start in zip(parts, starts, strict=False)]
    )
    answered = np.concatenate(
        [np.full(len(part.names), part.tally is not None) for part in parts]
    )
    if missing == "drop":
        relevant = np.where(answered, relevant, 0)
    lost = np.flatnonzero(np.bincount(lists, minlength=len(names)) < relevant)
    if len(lost):
        raise NotComparable(
            f"{queries(len(lost))} with a relevant document that is not in the list: it has no rank",
            where=source,
            given=f"query {printable(names[int(lost[0])], 40)}",
            expected="the relevant documents of a query, and the sampled ones, all in its list",
            fix=None
            if answered[lost].all()
            else "missing=drop leaves out queries without a list",
        )
    counted_in = np.flatnonzero(relevant > 0)
    if not len(counted_in):
        raise BadValue("there is no relevant document to rank", where=source)
    fewest = int(others[counted_in].min())
    most = int(others[counted_in].max())
    if fewest != most or not most:
        raise NotComparable(
            "lists have different numbers of sampled documents"
            if most
            else "lists have no sampled documents",
            where=source,
            given=f"{fewest:,} to {counted(most, 'document')} in addition to the relevant ones",
            expected="the same number of sampled documents in every list",
        )
    return ranks, np.unique(lists, return_inverse=True)[1].astype(np.int64), most


def _candidate_ranks(hits: Hits, line: Threshold) -> _CandidateRanks:
    """Return the rank of each relevant document among the others, as if it were the only relevant one."""
    is_relevant = hits.relevant(line)
    above = hits.running_count(is_relevant) - 1
    return _CandidateRanks(
        rank=(hits.rank - above)[is_relevant],
        lists=hits.query[is_relevant],
        relevant=hits.ideal.relevant_count(line),
        others=hits.n - hits.count(is_relevant),
    )
