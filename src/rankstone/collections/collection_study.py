"""``collection``: what an organiser prints after a shared task, and whether the judgments can be used again.

Pools and leave-one-group-out follow Zobel (How Reliable are the Results of Large-Scale Information Retrieval
Experiments?, SIGIR 1998) and Buckley and others (Bias and the Limits of Pooling, Information Retrieval 2007).
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import polars as pl

from rankstone._basics import Record, some
from rankstone.collections.collection_result import Collection
from rankstone.comparison.score_matrix import ROUNDING, Matrix
from rankstone.errors import (
    BadOption,
    DuplicateRows,
    MissingColumn,
    NotComparable,
    UsageError,
    between_0_and_1,
    did_you_mean,
    printable,
)
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords, name_runs, of_rankings
from rankstone.io.attributes import open_table
from rankstone.io.columns import columns_in
from rankstone.rankings.rank_similarity.list_ordering import (
    OPTIONS,
    options_for,
    ordering_options,
)
from rankstone.rankings.rank_similarity.list_pairs import load_run
from rankstone.stats.automatic_intervals import difference_estimate, mean_estimates
from rankstone.stats.order_agreement import order_agreement
from rankstone.stats.random_streams import check_count
from rankstone.stats.randomised_tukey_hsd import randomised_tukey
from rankstone.stats.sampling_units import Units
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Floats, Progress
    from rankstone.evaluation.request import MeasuresLike, QrelsLike, RunsLike
    from rankstone.evaluation.scores import Scores
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure


#: what a table of groups calls runs and groups, the commonest first
_RUNS: Final = ("run", "system", "run_id", "runtag", "tag", "name")
_GROUPS: Final = ("group", "team", "participant", "organisation", "organization")
_PAIR: Final = ["query_id", "doc_id"]
_NONE: Final = (math.nan, math.nan)
#: options under which a list is not the run's own
_OTHER_LISTS: Final = ("unit", "same_as", "exclude")
#: shuffles of the test of all pairs, and values that are shuffled in all
_FEWEST = 1000
_MOST = 10_000
_SHUFFLED = 1 << 28


class SharedTask(Record):
    """Judgments, runs and measures, held in memory to be scored several times.

    Attributes
    ----------
    judged
        The judgments.
    runs
        Run → its table.
    groups
        Run → its group.
    measures, options
        What is scored, and how.
    """

    judged: Table
    runs: Mapping[str, Table]
    groups: Mapping[str, str]
    measures: tuple[Measure, ...]
    options: Mapping[str, Any]

    def scores(self, judged: Table | None = None) -> Scores:
        """Score all runs against these judgments, or against others."""
        return Prepared(judged or self.judged, self.measures, **self.options).evaluate(
            self.runs
        )

    def matrices(self, scores: Scores) -> dict[str, Matrix]:
        """Return the scores of each measure: rows of queries that have them all, columns of runs."""
        found = {}
        for measure in scores.measures:
            scored = {run: scores.runs[run] for run in self.runs}
            every = [
                dict(
                    zip(
                        one.queries.to_list(),
                        one.by_measure[measure].value.tolist(),
                        strict=True,
                    )
                )
                for one in scored.values()
            ]
            shared = [
                query
                for query in every[0]
                if all(math.isfinite(one.get(query, math.nan)) for one in every)
            ]
            if not shared:
                raise NotComparable(
                    f"no query has a value of {measure} for every run",
                    given=some(self.runs),
                )
            found[str(measure)] = Matrix(
                measure=str(measure),
                direction=measure.card.direction,
                systems=tuple(self.runs),
                queries=pl.Series("query_id", shared),
                values=np.array([[one[query] for one in every] for query in shared]),
                weight=np.ones(len(shared)),
                left_out=len(every[0]) - len(shared),
                declared=measure.span,
            )
        return found

    def pool(self, depth: int) -> pl.DataFrame:
        """Return the first documents of each run: ``query_id``, ``doc_id`` as texts, ``run``, ``group``."""
        ordering = ordering_options(
            {name: one for name, one in self.options.items() if name in OPTIONS}
        )
        parts = []
        for run, table in self.runs.items():
            loaded = load_run(table, options_for(table, ordering))
            lists = {
                "query_id": loaded.names.gather(loaded.ranked.query),
                "doc_id": loaded.docs,
            }
            part = (
                pl.DataFrame(lists)
                .filter(pl.Series(loaded.ranked.rank <= depth))
                .cast(pl.String)
            )
            parts.append(
                part.with_columns(run=pl.lit(run), group=pl.lit(self.groups[run]))
            )
        return pl.concat(parts)


def collection(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike = "nDCG@10 AP",
    *,
    groups: object = None,
    pool_depth: int = 100,
    confidence: float = 0.95,
    seed: int = 0,
    lang: str = "en",
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Collection:
    """Study a test collection with the runs of a shared task: leaderboard, pool, topics, reusability.

    Parameters
    ----------
    qrels
        Judgments.
    runs
        Two runs or more.
    measures
        Measures that are averaged over queries; runs are sorted by the first.
    groups
        The group of each run: a mapping, or a table with ``run`` and ``group``; by default every run is a
        group of its own.
    pool_depth
        Down to which rank the runs' documents are called pooled.
    confidence, seed, lang
        Of the intervals; of resamples; of sentences.
    progress
        Called with 1 for every group that is left out.
    **options
        As for :func:`rankstone.evaluate`.

    Returns
    -------
    Collection

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`; when there are fewer than two runs, or a run has no group.

    Examples
    --------
    >>> from rankstone import demo
    >>> found = collection(demo.QRELS, demo.RUNS, "nDCG@10 AP", pool_depth=10)
    >>> found.leaderboard.select("rank", "run", "unique_relevant").rows()
    [(1, 'bm25', 8), (2, 'tfidf', 2)]
    """
    check_language(lang)
    between_0_and_1("confidence", confidence)
    check_count("pool_depth", pool_depth, 1, 10**9)
    check_count("seed", seed, 0, 2**63 - 1)
    requested = of_rankings(measures)
    for measure in requested:
        if measure.agg != "mean" or measure.unit is not None:
            raise UsageError(
                f"{measure} is not a mean over queries", fix="measures with agg=mean"
            )
    given: dict[str, Any] = dict(options)
    if changed := [name for name in _OTHER_LISTS if given.get(name) is not None]:
        raise BadOption(
            f"{changed[0]} changes lists, and a pool is made of them as they are",
            fix=f"remove {changed[0]}",
        )
    columns = columns_in(given)
    named = name_runs(runs)
    if len(named) < 2:  # noqa: PLR2004 - nothing to compare
        raise NotComparable(
            "a collection is studied with several runs",
            given=some(named),
            fix="name more runs",
        )
    prepared = Prepared(qrels, requested, columns=columns, **given)
    judged = prepared.judged.in_memory()
    held = {name: prepared.open(run, name).in_memory() for name, run in named.items()}
    task = SharedTask(
        judged, held, groups_of(groups, tuple(named), columns), requested, given
    )
    scores = task.scores()
    matrices = task.matrices(scores)
    graded = judged.collect(*_PAIR, "relevance").cast(dict.fromkeys(_PAIR, pl.String))
    graded = (
        graded.filter(pl.col("relevance") >= 0)
        .group_by(_PAIR)
        .agg(pl.col("relevance").max())
    )
    pool = task.pool(pool_depth).filter(
        pl.col("query_id").is_in(graded["query_id"].unique().implode())
    )
    counts = {"runs": pl.len(), "groups": pl.col("group").n_unique()}
    owners = pool.group_by(_PAIR).agg(pl.col("run", "group").first(), **counts)
    owners = owners.join(graded, on=_PAIR, how="left")
    level = {"confidence": confidence, "seed": seed}
    leaders, pairs = _leaderboard(task, matrices, _contributions(pool, owners), level)
    topics = _topics(next(iter(matrices.values())), graded)
    reusability = _without_groups(task, matrices, owners, level, progress)
    size = _size(owners, graded)
    about = (scores.audit, scores.conventions, scores.inputs)
    tables = leaders, pairs, topics, reusability, _correlations(matrices, level)
    left_out = max(one.left_out for one in matrices.values())
    return Collection(
        tuple(matrices),
        pool_depth,
        size,
        *tables,
        confidence,
        seed,
        lang,
        *about,
        left_out,
    )


def groups_of(
    groups: object, runs: Sequence[str], columns: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the group of each run."""
    if groups is None:
        return {run: run for run in runs}
    name, lazy, _ = open_table(groups, "run", columns)
    frame = lazy.collect()
    found = [
        next((one for one in names if one in frame.columns), None)
        for names in (_RUNS, _GROUPS)
    ]
    for column, names in zip(found, (_RUNS, _GROUPS), strict=True):
        if column is None:
            raise MissingColumn.of(
                f"there is no column {names[0]}", names[0], frame.columns, name
            )
    pairs = frame.select(pl.col(str(one)).cast(pl.String) for one in found).unique(
        maintain_order=True
    )
    known = dict(pairs.iter_rows())
    if len(known) < pairs.height:
        twice = pairs.filter(pairs[str(found[0])].is_duplicated()).item(0, 0)
        raise DuplicateRows(
            f"{printable(twice)} has two groups",
            where=name,
            expected="one group for each run",
        )
    if lost := [run for run in runs if not known.get(run)]:
        raise UsageError(
            f"a run without a group: {printable(lost[0])}",
            where=name,
            expected="a row for each run",
            fix=did_you_mean(lost[0], [*map(str, known)]),
        )
    return {run: known[run] for run in runs}


def _contributions(pool: pl.DataFrame, owners: pl.DataFrame) -> pl.DataFrame:
    """Return for each run its pooled documents, those judged and relevant, and those of no other run."""
    judged = pl.col("relevance").is_not_null()
    relevant = pl.col("relevance") > 0
    alone = pl.col("runs") == 1
    counts = {
        "pooled": pl.len(),
        "judged": judged.sum(),
        "relevant": relevant.sum(),
        "unique": alone.sum(),
    }
    found = pool.join(owners.drop("run", "group"), on=_PAIR).group_by("run")
    return found.agg(**counts, unique_relevant=(alone & relevant).sum())


def _size(owners: pl.DataFrame, graded: pl.DataFrame) -> dict[str, int]:
    """Count the documents of the pool, and of the judgments."""
    known = pl.col("relevance").count()
    relevant = (pl.col("relevance") > 0).sum()
    of_pool = owners.select(
        pooled=pl.len(), pooled_judged=known, pooled_relevant=relevant
    )
    return {
        **of_pool.row(0, named=True),
        **graded.select(judged=known, relevant=relevant).row(0, named=True),
    }


def _leaderboard(
    task: SharedTask,
    matrices: Mapping[str, Matrix],
    contributions: pl.DataFrame,
    level: Mapping[str, Any],
) -> tuple[pl.DataFrame, tuple[int, int]]:
    """Return a row for each run, the best first, and how many pairs of runs differ clearly, of how many."""
    first = next(iter(matrices.values()))
    means = mean_estimates(first.units, [first.span] * len(task.runs))
    low, high = zip(*(one.interval(level["confidence"]) for one in means), strict=True)
    shuffles = min(max(_SHUFFLED // first.values.size, _FEWEST), _MOST)
    tukey = randomised_tukey(
        first.values[:, :, None], shuffles=shuffles, seed=level["seed"]
    )
    better = (first.sign * tukey.gap[:, :, 0] > 0) & (
        tukey.p[:, :, 0] <= 1 - level["confidence"]
    )
    table = pl.DataFrame(
        {
            "rank": _places(first),
            "run": list(task.runs),
            "group": [task.groups[run] for run in task.runs],
            **{name: matrix.units.mean for name, matrix in matrices.items()},
            "rank_low": 1 + better.sum(axis=0),
            "rank_high": len(task.runs) - better.sum(axis=1),
            "low": low,
            "high": high,
        }
    )
    table = table.join(contributions, on="run", how="left").sort(
        "rank", maintain_order=True
    )
    return table, (int(better.sum()), len(task.runs) * (len(task.runs) - 1) // 2)


def _places(matrix: Matrix) -> list[int]:
    """Return the rank of each run, the best of equal ones."""
    means = matrix.sign * matrix.units.mean
    rounding = ROUNDING * float(np.abs(means).max(initial=0.0))
    return [1 + int((means > one + rounding).sum()) for one in means]


def _topics(matrix: Matrix, graded: pl.DataFrame) -> pl.DataFrame:
    """Return the best, median and worst score of each topic, the hardest first."""
    values = matrix.sign * matrix.values
    names = np.array(matrix.systems)
    best = values.argmax(axis=1)
    worst = values.argmin(axis=1)
    rows = np.arange(len(values))
    table = pl.DataFrame(
        {
            "query_id": matrix.queries.cast(pl.String),
            "best": matrix.values[rows, best],
            "best_run": names[best],
            "median": np.median(matrix.values, axis=1),
            "mean": matrix.values.mean(axis=1),
            "worst": matrix.values[rows, worst],
            "worst_run": names[worst],
        }
    )
    relevant = graded.group_by("query_id").agg(
        relevant=(pl.col("relevance") > 0).sum(), judged=pl.len()
    )
    table = table.join(relevant, on="query_id", how="left", maintain_order="left")
    return table.sort("median", "best", descending=matrix.sign < 0, maintain_order=True)


def _without_groups(
    task: SharedTask,
    matrices: Mapping[str, Matrix],
    owners: pl.DataFrame,
    level: Mapping[str, Any],
    progress: Progress | None,
) -> pl.DataFrame:
    """Return for each group and measure what its runs lose if its unique documents had not been judged."""
    members: dict[str, list[int]] = {}
    for at, run in enumerate(task.runs):
        members.setdefault(task.groups[run], []).append(at)
    rows = []
    names = tuple(task.runs)
    for group, some_runs in members.items():
        own = owners.filter(group=group, groups=1).filter(
            pl.col("relevance").is_not_null()
        )
        after = (
            task.matrices(task.scores(_without(task.judged, own)))
            if own.height
            else matrices
        )
        for name, matrix in matrices.items():
            left = after[name]
            lost = matrix.sign * (matrix.units.mean - left.units.mean)[some_runs]
            most = some_runs[int(lost.argmax())]
            both = _same_queries(matrix, left)
            found = order_agreement(*(matrix.sign * one for one in both), **level)
            gaps = Units.from_scores((matrix.sign * (both[0] - both[1]))[:, most, None])
            ends = (
                difference_estimate(gaps, matrix.span).interval(level["confidence"])
                if own.height
                else _NONE
            )
            places = [_places(one)[most] for one in (matrix, left)]
            means = [float(one.units.mean[most]) for one in (matrix, left)]
            counts = len(some_runs), own.height, int((own["relevance"] > 0).sum())
            rows.append(
                (
                    group,
                    *counts,
                    name,
                    names[most],
                    *means,
                    float(lost.max()),
                    *ends,
                    *places,
                    found.tau,
                    found.low,
                    found.high,
                    len(left),
                )
            )
        if progress is not None:
            progress(1)
    columns = [
        "group",
        "runs",
        "unique_judged",
        "unique_relevant",
        "measure",
        "run",
        "before",
        "after",
    ]
    columns += ["loss", "loss_low", "loss_high", "rank_before", "rank_after"]
    columns += ["tau", "tau_low", "tau_high", "queries"]
    table = pl.DataFrame(rows, columns, orient="row").with_columns(
        pl.col("loss_low", "loss_high", "tau", "tau_low", "tau_high").fill_nan(None)
    )
    first = pl.col("measure").cast(pl.Enum([*matrices]))
    return table.sort(first, "loss", descending=[False, True], maintain_order=True)


def _without(judged: Table, own: pl.DataFrame) -> Table:
    """Return the judgments without some pairs."""
    pairs = own.select(query=pl.col("query_id"), doc=pl.col("doc_id"))

    def kept(piece: pl.DataFrame) -> pl.DataFrame:
        keys = [pl.col(name).cast(pl.String) for name in _PAIR]
        return piece.join(
            pairs,
            left_on=keys,
            right_on=["query", "doc"],
            how="anti",
            maintain_order="left",
        )

    return judged.mapped(kept)


def _same_queries(one: Matrix, other: Matrix) -> tuple[Floats, Floats]:
    """Return the scores of the queries that both have, in one order."""
    _, first, second = np.intersect1d(
        one.queries.to_list(), other.queries.to_list(), return_indices=True
    )
    return one.values[first], other.values[second]


def _correlations(
    matrices: Mapping[str, Matrix], level: Mapping[str, Any]
) -> pl.DataFrame:
    """Return how alike each pair of measures orders the runs."""
    rows = []
    for (name, one), (other, two) in combinations(matrices.items(), 2):
        values = _same_queries(one, two)
        found = order_agreement(one.sign * values[0], two.sign * values[1], **level)
        rows.append((name, other, found.tau, found.low, found.high, found.n))
    numbers = dict.fromkeys(("tau", "low", "high"), pl.Float64)
    schema = {"measure": pl.String, "other": pl.String, **numbers, "n": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row").with_columns(
        pl.col(*numbers).fill_nan(None)
    )
