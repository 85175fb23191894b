"""What does 0.46 mean?  Every mean beside what chance, the worst and the best order would reach.

The order that chance gives is one in which all documents tie, and measures know the mean over ties; the best
and the worst are the orders of the same ties that score most and least.  So nothing is derived here: the same
lists take the same road again, with one score for all documents.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, RankstoneError, one_of
from rankstone.evaluation import Evaluator, name_runs
from rankstone.gains import Gain, equivalent, gain
from rankstone.hits.options import Alignment
from rankstone.io import read_run, with_csv
from rankstone.measures.base import ANY_GAIN
from rankstone.random_lists import RandomLists
from rankstone.results import WritesReport, as_pandas, shown_whole
from rankstone.road import Road
from rankstone.scores import RunScores, Scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone.hits.align import Chunk
    from rankstone.hits.audit import RunAudit
    from rankstone.hits.ragged import Hits
    from rankstone.io import Progress, Table
    from rankstone.measures import Measure
    from rankstone.road import Part

__all__ = ["Baseline", "baseline"]

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
    "run": pl.String, "against": pl.String, "measure": pl.String,
    **dict.fromkeys(("before", "after", "difference", "relative", "error_reduction"), pl.Float64),
    **dict.fromkeys(("ranks_before", "ranks_after", "skill"), pl.Float64),
    "scale": pl.String,
}  # fmt: skip


def baseline(
    qrels: object,
    runs: object,
    measures: str | Measure | Sequence[str | Measure],
    *,
    candidates: int | None = None,
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - as for evaluate
) -> Baseline:
    """Score runs, and beside each mean what chance, the worst and the best order of the same documents reach.

    Parameters
    ----------
    qrels, runs, measures, progress, **options
        As for :func:`~rankstone.evaluate`.
    candidates
        How many documents each query could have retrieved: chance then draws lists as long as the run's own
        from all of these, instead of putting the documents that the run retrieved in any order; worst and
        best are the extremes of such lists.

    Returns
    -------
    Baseline
        A row for each run and measure.  ``skill`` is the share of the way from chance to the best that was
        made: 0 is chance, 1 the best, below 0 worse than chance.

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
    >>> found = baseline(qrels, run, "RR P@1")
    >>> found.values.select("measure", pl.col("value", "chance", "worst", "best", "skill").round(4)).row(0)
    ('RR', 0.5, 0.6111, 0.3333, 1.0, -0.2857)
    >>> found.meaning()[0]
    'RR 0.5: as one answer that stands anywhere in the first 4 ranks'

    References
    ----------
    Bestgen (2015), Exact expected average precision of the random baseline; McSherry and Najork (2008),
    Computing information retrieval performance measures efficiently in the presence of tied scores.
    """
    given = options if candidates is None else {**options, "candidates": candidates}
    given["columns"] = with_csv(
        given.get("columns"), given.pop("csv_separator", None), given.pop("decimal", None)
    )
    ready = _Ordering(qrels, measures, **given)
    _refuse_options(ready.options)
    read = (given.get("columns"), given.get("format_in"))
    named = {
        name: read_run(run, *read, order=ready.options.order, name=name)
        for name, run in name_runs(runs).items()
    }
    scores = ready.runs(named, progress)
    if candidates is None:
        others = {word: _reordered(ready, named, word) for word in ("expected", "worst", "best")}
    else:
        others = _of_candidates(ready, scores, named, candidates)
    return Baseline(scores, _beside(scores, others), candidates)


@dataclass(frozen=True, eq=False)
class Baseline(WritesReport):
    """Means beside what chance, the worst and the best order reach.

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
        How many documents chance drew from; ``None`` for those that were retrieved.
    """

    scores: Scores
    values: pl.DataFrame
    candidates: int | None = None

    def meaning(self) -> list[str]:
        """Say in words what some of the values are worth; a sentence for each measure that has one."""
        rows = self.values.select("run", "measure", "value").iter_rows()
        several = len(self.scores.runs) > 1
        found = []
        for run, measure, value in rows:
            kind = next(m for m in self.scores.measures if str(m) == measure)
            if value is not None and (said := _in_words(kind, value)):
                found.append(f"{f'{run}, ' if several else ''}{measure} {value:.4g}: {said}")
        return found

    def gains(self, against: str | None = None) -> pl.DataFrame:
        """Return what the step from one run's mean to another's is worth, in several readings.

        Parameters
        ----------
        against
            The run that the others are held against; the first unless named.

        Returns
        -------
        polars.DataFrame
            ``run``, ``against``, and what :class:`rankstone.gains.Gain` has; ``before`` is the mean of
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
        means = {(row["run"], row["measure"]): row for row in self.values.iter_rows(named=True)}
        rows = []
        for run, measure in product(names, self.scores.measures):
            one, other = means[against, str(measure)], means[run, str(measure)]
            if run != against and one["value"] is not None and other["value"] is not None:
                skill = None if None in (one["skill"], other["skill"]) else other["skill"] - one["skill"]
                step = asdict(gain(measure, one["value"], other["value"]))
                rows.append({"run": run, "against": against, **step, "skill": skill})
        return pl.DataFrame(rows, _GAINS)

    def steps(self, against: str | None = None) -> list[str]:
        """Say :meth:`gains` in words, a sentence for each run and measure."""
        return [
            f"{row['against']} → {row['run']}, {Gain(**{name: row[name] for name in Gain.__slots__}).words()}"
            for row in self.gains(against).iter_rows(named=True)
        ]

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is not imported here
        """Return :attr:`values` as a pandas frame (needs pandas)."""
        return as_pandas(self.values)

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        return {
            "values": self.values.to_dicts(),
            "meaning": self.meaning(),
            "gains": self.gains().to_dicts(),
            "candidates": self.candidates,
            "audit": self.scores.audit.to_dict(),
            "conventions": dict(self.scores.conventions),
            "inputs": dict(self.scores.inputs),
        }

    def __repr__(self) -> str:
        with shown_whole():
            return "\n".join([str(self.values), *self.meaning(), *self.steps(), *self.scores.audit.lines()])


def with_little_to_order(
    run: pl.DataFrame, judgments: pl.DataFrame, order: str, k: int
) -> dict[str, Any] | None:
    """Return nDCG@k of queries with at most k judged documents and short lists: chance, worst, best and n.

    Of n ≥ 2k documents, k of them judged, a random order has nDCG@k ≤ k/n ≤ 1/2: longer lists are left out.
    ``None`` where there is no such query.
    """
    judged = judgments.group_by("query_id").agg(pl.col("doc_id").n_unique(), pl.col("relevance").max())
    few = judged.filter(pl.col("doc_id") <= k, pl.col("relevance") > 0)["query_id"]
    short = run.group_by("query_id").len().filter(pl.col("len") <= 2 * k)["query_id"]
    if few.dtype != short.dtype:
        few, short = few.cast(pl.String), short.cast(pl.String)
    those = pl.col("query_id").cast(few.dtype).is_in(short.filter(short.is_in(few.implode())).implode())
    run, judgments = run.filter(those), judgments.filter(those)
    if run.is_empty():
        return None
    copies: dict[str, Any] = {"duplicates": "first_drop", "duplicate_judgments": "max"}
    found = baseline(judgments, run, f"nDCG@{k}", order=order, missing="drop", **copies)
    return found.values.row(0, named=True)


def _refuse_options(options: Alignment) -> None:
    """Refuse what other orders, or other lists, know nothing of."""
    if options.depth is not None:
        raise BadOption(
            f"baseline orders whole lists anew, and depth={options.depth} would cut them first",
            fix="use a measure's cutoff (nDCG@10), or cut the runs",
        )
    changed = options.changed()
    unknown = [name for name in ("unjudged", "pool", "score_above") if name in changed]
    if options.candidates is not None and unknown:
        raise BadOption(
            f"lists drawn from candidates={options.candidates} hold documents without a score or judgment, "
            f"and {unknown[0]}={changed[unknown[0]]} asks for more",
            fix=f"leave out {unknown[0]}; or candidates, for orders of the documents that were retrieved",
        )


class _Ordering(Evaluator):
    """An evaluator whose best and worst lists are orders of documents, none of which tie."""

    def _along(self, name: str, road: Road, table: Table) -> tuple[RunScores, RunAudit]:
        extreme = self.options.ties in ("best", "worst")
        return super()._along(name, _Ordered(**vars(road)) if extreme else road, table)


class _Ordered(Road):
    """A road on which ties, once settled, are forgotten."""

    def measure(self, chunk: Chunk, hits: Hits) -> Part:
        """Score a chunk of hits."""
        return super().measure(chunk, hits.without_ties())


def _reordered(ready: Evaluator, runs: Mapping[str, Table], ties: str) -> Scores | None:
    """Score the same lists in the mean, the worst or the best of all orders."""
    options = Alignment(**{**ready.options.as_dict(), "order": "score", "ties": ties})
    known = [measure for measure in ready.measures if _has(measure, options)]
    if not known:
        return None
    return ready.asking(known).under(options).runs({name: _all_tie(run) for name, run in runs.items()})


def _all_tie(run: Table) -> Table:
    """Return the lists with the same score for all documents."""
    start, names = run.start, [pl.col(column) for column in run.schema]

    def tied(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for piece in start(names):
            yield piece.with_columns(score=pl.lit(0.0)).select(wanted)

    return replace(run, schema={**run.schema, "score": pl.Float64()}, start=tied, listed=False)


def _has(measure: Measure, options: Alignment) -> bool:
    """Say whether the mean of a measure over all orders, or an extreme of it, is known."""
    if options.ties in ("best", "worst"):
        least = options.negative != "keep" or measure.negative_is_least
        return least and options.ties in measure.proven_orders
    if not measure.means_over_orders:
        return False
    try:
        measure.check(options.ties, options.depth, options.negative)
    except RankstoneError:
        return False
    return True


def _of_candidates(
    ready: Evaluator, scores: Scores, runs: Mapping[str, Table], candidates: int
) -> dict[str, Scores | None]:
    """Score lists as deep as the runs' own, drawn from all candidates, and the best and worst of these."""
    judgments, lists = ready.judgments(), {}
    found: dict[str, Scores | None] = {}
    for name, run in ready.asking("NumRet").runs(runs).runs.items():
        codes = judgments.queries.codes(run.queries.cast(judgments.queries.names.dtype))
        (held,) = run.by_measure.values()
        lists[name] = RandomLists.of(judgments, codes, held.numerator.astype(np.int64), candidates)
    for word in ("expected", "worst", "best"):
        options = Alignment(**{**ready.options.as_dict(), "order": "score", "ties": word})
        known = tuple(m for m in ready.measures if m.reads_grades_alone and _has(m, options))
        drawn = {name: _drawn(run, lists[name], known, options) for name, run in scores.runs.items()}
        found[word] = Scores(drawn, known, scores.audit, scores.conventions)
    return found


def _drawn(run: RunScores, lists: RandomLists, measures: Sequence[Measure], options: Alignment) -> RunScores:
    """Score lists drawn for a run's queries, with the weights that these have."""
    by_measure = {}
    for measure in measures:
        scored = lists.score(measure, options.ties, options.empty)
        if scored is not None:
            by_measure[measure] = replace(scored, weight=run.by_measure[measure].weight)
    return replace(run, by_measure=by_measure)


def _beside(scores: Scores, others: Mapping[str, Scores | None]) -> pl.DataFrame:
    """Put the means side by side."""
    told = {word: {} if other is None else other.to_dict() for word, other in others.items()}
    rows = []
    for run, measure, value, n, _ in scores.mean().iter_rows():
        chance, worst, best = (told[word].get(run, {}).get(measure) for word in ("expected", "worst", "best"))
        rows.append((run, measure, value, chance, worst, best, _skill(value, chance, best), n))
    return pl.DataFrame(rows, _SCHEMA, orient="row")


def _skill(value: float | None, chance: float | None, best: float | None) -> float | None:
    if value is None or chance is None or best is None or best == chance:
        return None
    return (value - chance) / (best - chance)


def _in_words(measure: Measure, value: float) -> str | None:
    """Say what a mean of a well-known measure is as good as."""
    if measure.agg != "mean" or not 0 < value < 1 or getattr(measure, "rel", ANY_GAIN) != ANY_GAIN:
        return None
    ranks = equivalent(measure, value)
    if ranks is not None:
        spaced = f"as relevant documents {ranks:.3g} ranks apart"
        anywhere = f"as one answer that stands anywhere in the first {ranks:.0f} ranks"
        return spaced if measure.name == "AP" else anywhere
    if measure.name == "P" and measure.k is not None:
        return f"{value * measure.k:.3g} of the first {measure.k} are relevant"
    if measure.name == "R" and measure.k is not None:
        return f"{value:.1%} of what there is stands in the first {measure.k}"
    return None
