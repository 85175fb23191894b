"""Baselines: each mean next to what a random, the worst and the best order of the documents would reach.

A random order is a list in which all documents tie, and measures have a closed form for the mean over ties;
the worst and the best order are the extremes of the same ties.  So the same lists are scored again, with one
score for all documents.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

import numpy as np
import polars as pl

from rankstone.diagnostics.expected_by_chance import Gain, equivalent, gain, skill
from rankstone.diagnostics.random_lists import RandomLists
from rankstone.errors import BadOption, BadParameter, RankstoneError, one_of, printable
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords, name_runs
from rankstone.evaluation.scores import RunScores, Scores
from rankstone.hits.alignment_options import takes
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.tables.results import Result, data_notes, given
from rankstone.tables.sheet import Details, Sheet
from rankstone.tables.sheet import Table as Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Progress
    from rankstone.evaluation.pipeline import Pipeline
    from rankstone.evaluation.request import MeasuresLike, QrelsLike, RunsLike
    from rankstone.hits.alignment_audit import RunAudit
    from rankstone.hits.alignment_options import AlignmentOptions, Order
    from rankstone.hits.tie_rules import Ties
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Measures


#: tie rules that give the mean and the extremes over all orders, where all documents tie
_ORDERS: Final[tuple[Ties, ...]] = ("expected", "worst", "best")
_SCHEMA: Final[dict[str, Any]] = {
    "run": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "chance": pl.Float64,
    "worst": pl.Float64,
    "best": pl.Float64,
    "skill": pl.Float64,
    "n": pl.Int64,
}
_GAINS: Final[dict[str, Any]] = {
    "run": pl.String,
    "against": pl.String,
    "measure": pl.String,
    **dict.fromkeys(
        ("before", "after", "difference", "relative", "error_reduction"), pl.Float64
    ),
    **dict.fromkeys(("ranks_before", "ranks_after", "skill"), pl.Float64),
    "scale": pl.String,
}


@takes(EvaluationKeywords)
def baseline(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike,
    *,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Baseline:
    """Score runs, with the scores of a random, the worst and the best order of the same documents.

    Parameters
    ----------
    qrels, runs, measures, progress, **options
        As for :func:`~rankstone.evaluate`.
        With ``candidates``, the number of documents each query could have retrieved, chance draws lists as
        long as the run's from all of these, instead of shuffling the documents that the run retrieved; worst
        and best are the extremes of such lists.

    Returns
    -------
    Baseline
        A row for each run and measure.  ``skill`` is (value − chance) / (best − chance): 0 is chance, 1 the
        best, below 0 worse than chance.

    Raises
    ------
    BadParameter
        When there are fewer candidates than judged documents of a query.
    InputError, UsageError
        As for :func:`~rankstone.evaluate`.

    Examples
    --------
    >>> import polars as pl
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 0}}, {"q": ["b", "a", "c"]}
    >>> compared = baseline(qrels, run, "RR P@1")
    >>> compared.values.select("measure", pl.col("value", "chance", "worst", "best", "skill").round(4)).row(0)
    ('RR', 0.5, 0.6111, 0.3333, 1.0, -0.2857)
    >>> compared.meaning()[0]
    'RR 0.5: like one relevant document placed at random among the first 4 ranks'

    References
    ----------
    Bestgen (2015), Exact expected average precision of the random baseline; McSherry and Najork (2008),
    Computing information retrieval performance measures efficiently in the presence of tied scores.
    """
    candidates = options.get("candidates")
    ready = Prepared(qrels, measures, **options)
    _refuse_options(ready.options)
    for measure in ready.measures:
        of_spans = any(extra.shares_judgments for extra in measure.requires)
        if measure.budget is not None or of_spans:
            raise BadParameter(
                f"{measure}: another order would cost something else at each rank",
                fix=f"use a cutoff by rank: {str(measure).rpartition('@')[0]}@10",
            )
    named = {
        name: ready.open(run, name, ranks=False)
        for name, run in name_runs(runs).items()
    }
    scores = Scores(
        *ready.score_runs(named, _along, progress=progress, on_bad_run="stop")
    )
    if candidates is None:
        others: dict[str, Scores | None] = {
            word: _reordered(ready, named, word) for word in _ORDERS
        }
    else:
        others = _of_candidates(ready, scores, named, candidates)
    return Baseline(scores, _beside(scores, others), candidates)


@dataclass(frozen=True, eq=False)
class Baseline(Result):
    """Means, with those of a random, the worst and the best order.

    Attributes
    ----------
    scores
        The scores behind the values, per query too.
    values
        ``run``, ``measure``, ``value``, ``chance`` (null where a measure has no closed form; the mean over
        lists that have a value, where some have none), ``worst``,
        ``best`` (null where no order is proven to be the extreme), ``skill`` (null where chance is the best),
        ``n`` (queries averaged).
    candidates
        How many documents chance draws from; ``None`` for those that were retrieved.
    """

    scores: Scores
    values: pl.DataFrame
    candidates: int | None = None

    def meaning(self) -> list[str]:
        """Return an interpretation of the values in words, for measures that have one."""
        measures = {str(measure): measure for measure in self.scores.measures}
        rows = self.values.select("run", "measure", "value").iter_rows()
        lines = []
        for run, measure, value in rows:
            if value is None:
                continue
            text = _in_words(measures[measure], value)
            which = measure
            if len(self.scores.runs) > 1:
                which = f"{run}, {measure}"
            if text:
                lines.append(f"{which} {value:.4g}: {text}")
        return lines

    def gains(self, against: str | None = None) -> pl.DataFrame:
        """Return the gain from one run's mean to another's, on several scales.

        Parameters
        ----------
        against
            The run that the others are compared with; the first by default.

        Returns
        -------
        polars.DataFrame
            ``run``, ``against``, and what ``Gain`` has; ``before`` is the mean of
            ``against``, and ``skill`` the difference of skills.  No rows for a single run, or where a mean
            has no value.

        Raises
        ------
        BadOption
            When there is no such run.
        """
        names = list(self.scores.runs)
        against = names[0] if against is None else against
        one_of("against", against, names)
        means = {
            (row["run"], row["measure"]): row
            for row in self.values.iter_rows(named=True)
        }
        names.remove(against)
        rows = []
        for run, measure in product(names, self.scores.measures):
            before = means[against, str(measure)]
            after = means[run, str(measure)]
            if None in (before["value"], after["value"]):
                continue
            step = asdict(gain(measure, before["value"], after["value"]))
            row = {"run": run, "against": against, **step, "skill": None}
            if None not in (before["skill"], after["skill"]):
                row["skill"] = after["skill"] - before["skill"]
            rows.append(row)
        return pl.DataFrame(rows, _GAINS)

    def steps(self, against: str | None = None) -> list[str]:
        """Return :meth:`gains` in words, a sentence for each run and measure."""
        return [
            f"{row['against']} → {row['run']}, {Gain(**{name: row[name] for name in Gain.__slots__}).words()}"
            for row in self.gains(against).iter_rows(named=True)
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`values`."""
        return self.values

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        return given(
            values=self.values,
            meaning=self.meaning(),
            gains=self.gains(),
            candidates=self.candidates,
            audit=self.scores.audit,
            conventions=self.scores.conventions,
            inputs=self.scores.inputs,
        )

    def sheet(self, digits: int = 4) -> Sheet:
        """Return the baselines as people read them; ``digits`` are decimals."""
        drawn = "orders of the retrieved documents"
        if self.candidates is not None:
            drawn = (
                f"lists as long as the run's, drawn from {self.candidates:,} candidates"
            )
        notes: tuple[str | Details, ...] = (
            *map(printable, self.meaning()),
            *map(printable, self.steps()),
            f"chance (the mean), worst and best of all {drawn}; skill = (value - chance) / (best - chance)",
            data_notes(self.scores.audit, self.scores.conventions),
        )
        shown = self.values.drop("n")
        table = Shown.of(shown, digits=digits, kinds={"measure": "id"})
        return Sheet("", parts=(table,), notes=notes)


def ndcg_of_short_lists(
    run: pl.DataFrame, judgments: pl.DataFrame, order: str, k: int
) -> dict[str, Any] | None:
    """Return nDCG@k of queries with at most k judged documents and short lists: chance, worst, best and n.

    Of n ≥ 2k documents, k of them judged, a random order has nDCG@k ≤ k/n ≤ 1/2: longer lists are left out.
    ``None`` where there is no such query.
    """
    is_relevant = pl.col("relevance").max() > 0
    has_few = is_relevant & (pl.col("doc_id").n_unique() <= k)
    is_short = pl.len() <= 2 * k
    few = judgments.group_by("query_id").agg(has_few.alias("few"))
    short = run.group_by("query_id").agg(is_short.alias("short"))
    queries = few.filter("few")["query_id"]
    answered = short.filter("short")["query_id"]
    if queries.dtype != answered.dtype:
        queries = queries.cast(pl.String)
        answered = answered.cast(pl.String)
    both = queries.filter(queries.is_in(answered.implode()))
    query = pl.col("query_id").cast(both.dtype)
    those = query.is_in(both.implode())
    run = run.filter(those)
    judgments = judgments.filter(those)
    if run.is_empty():
        return None
    copies: dict[str, Any] = {"duplicates": "first_drop", "duplicate_judgments": "max"}
    result = baseline(
        judgments,
        run,
        f"nDCG@{k}",
        order=cast("Order", order),
        missing="drop",
        **copies,
    )
    return result.values.row(0, named=True)


def _refuse_options(options: AlignmentOptions) -> None:
    """Refuse options that have no meaning for other orders or lists."""
    if options.depth is not None:
        raise BadOption(
            f"baseline shuffles whole lists, and depth={options.depth} would cut them first",
            fix="use a measure's cutoff (nDCG@10), or cut the runs",
        )
    changed = options.changed()
    unknown = [name for name in ("unjudged", "pool", "score_above") if name in changed]
    if options.candidates is not None and unknown:
        raise BadOption(
            f"lists drawn from candidates={options.candidates} have documents without a score or judgment, "
            f"which {unknown[0]}={changed[unknown[0]]} needs",
            fix=f"leave out {unknown[0]}, or candidates (for orders of the retrieved documents)",
        )


def _along(_name: str, pipeline: Pipeline, table: Table) -> tuple[RunScores, RunAudit]:
    """Score a run; in the best and worst order no documents tie."""
    if not pipeline.options.tie_rule.extremal:
        return pipeline.run(table)
    return pipeline.run(
        table, lambda chunk, hits: pipeline.measure(chunk, hits.without_ties())
    )


def _reordered(ready: Prepared, runs: Mapping[str, Table], ties: Ties) -> Scores | None:
    """Score the same lists as the mean, the worst or the best of all orders."""
    options = replace(ready.options, order="score", ties=ties)
    defined = [
        measure for measure in ready.measures if _has_closed_form(measure, options)
    ]
    if not defined:
        return None
    tied = {name: _all_tie(run) for name, run in runs.items()}
    reordered = ready.for_measures(defined).under(options)
    return Scores(*reordered.score_runs(tied, _along, on_bad_run="stop"))


def _all_tie(run: Table) -> Table:
    """Return the lists with the same score for all documents."""
    start = run.start
    names = [pl.col(column) for column in run.schema]

    def tied(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for piece in start(names):
            equal = piece.with_columns(score=pl.lit(0.0))
            yield equal.select(wanted)

    schema = {**run.schema, "score": pl.Float64()}
    return replace(run, schema=schema, start=tied, listed=False)


def _has_closed_form(measure: Measure, options: AlignmentOptions) -> bool:
    """Return True if its mean over all orders of tied documents, or its extreme over them, is computed exactly."""
    if options.tie_rule.extremal:
        least = options.negative != "keep" or measure.claims.negative_is_least
        return least and options.ties in measure.claims.proven_orders
    if not measure.claims.means_over_orders:
        return False
    try:
        measure.check(options.ties, options.depth, options.negative)
    except RankstoneError:
        return False
    return True


def _of_candidates(
    ready: Prepared, scores: Scores, runs: Mapping[str, Table], candidates: int
) -> dict[str, Scores | None]:
    """Score random lists of all candidates, as long as the runs' own, and the best and worst of these."""
    judgments = ready.judgments()
    queries = judgments.queries
    lists = {}
    lengths = ready.for_measures("NumRet").score_runs(runs)
    for name, run in lengths.runs.items():
        codes = queries.codes(run.queries.cast(queries.names.dtype))
        (retrieved,) = run.by_measure.values()
        length = retrieved.numerator.astype(np.int64)
        lists[name] = RandomLists.of(judgments, codes, length, candidates)

    by_order: dict[str, Scores | None] = {}
    for word in _ORDERS:
        options = replace(ready.options, order="score", ties=word)
        defined = tuple(
            measure
            for measure in ready.measures
            if measure.reads_grades_alone and _has_closed_form(measure, options)
        )
        drawn = {}
        for name, run in scores.runs.items():
            drawn[name] = _drawn(run, lists[name], defined, options)
        by_order[word] = Scores(drawn, defined, scores.audit, scores.conventions)
    return by_order


def _drawn(
    run: RunScores, lists: RandomLists, measures: Measures, options: AlignmentOptions
) -> RunScores:
    """Score random lists for a run's queries, with the weights of these."""
    by_measure = {}
    for measure in measures:
        scored = lists.score(measure, options.ties, options.empty)
        if scored is not None:
            weight = run.by_measure[measure].weight
            by_measure[measure] = replace(scored, weight=weight)
    return replace(run, by_measure=by_measure)


def _beside(scores: Scores, others: Mapping[str, Scores | None]) -> pl.DataFrame:
    """Return a row for each run and measure: its value, chance, worst, best and skill."""
    means = {}
    for word, other in others.items():
        means[word] = {} if other is None else other.to_dict()

    rows = []
    for run, measure, value, n, _ in scores.mean().iter_rows():
        of = {word: means[word].get(run, {}) for word in means}
        chance = of["expected"].get(measure)
        best = of["best"].get(measure)
        row = {
            "run": run,
            "measure": measure,
            "value": value,
            "chance": chance,
            "worst": of["worst"].get(measure),
            "best": best,
            "skill": _skill(value, chance, best),
            "n": n,
        }
        rows.append(row)
    return pl.DataFrame(rows, _SCHEMA)


def _skill(
    value: float | None, chance: float | None, best: float | None
) -> float | None:
    if value is None or chance is None or best is None or best == chance:
        return None
    return skill(value, chance, best)


def _in_words(measure: Measure, value: float) -> str | None:
    """Return what the mean of a well-known measure corresponds to."""
    if (
        measure.agg != "mean"
        or not 0 < value < 1
        or getattr(measure, "rel", ANY_GAIN) != ANY_GAIN
    ):
        return None
    ranks = equivalent(measure, value)
    if ranks is not None:
        spaced = f"like relevant documents {ranks:.3g} ranks apart"
        anywhere = f"like one relevant document placed at random among the first {ranks:.0f} ranks"
        return spaced if measure.name == "AP" else anywhere
    if measure.name == "P" and measure.k is not None:
        return f"{value * measure.k:.3g} of the first {measure.k} are relevant"
    if measure.name == "R" and measure.k is not None:
        return f"{value:.1%} of the relevant documents are in the first {measure.k}"
    return None
