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
from rankstone.hits.alignment_options import takes
from rankstone.io.attributes import open_table
from rankstone.io.columns import columns_in
from rankstone.io.unreadable_files import reading
from rankstone.rankings.rank_similarity.list_ordering import (
    OPTIONS,
    options_for,
    ordering_options,
)
from rankstone.rankings.rank_similarity.ranked_lists import load_run
from rankstone.stats.automatic_intervals import difference_estimate, mean_estimates
from rankstone.stats.order_agreement import order_agreement
from rankstone.stats.random_streams import check_count
from rankstone.stats.randomised_tukey_hsd import randomised_tukey
from rankstone.stats.sampling_units import Units
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Columns, Floats, Progress
    from rankstone.evaluation.request import MeasuresLike, QrelsLike, RunsLike
    from rankstone.evaluation.scores import RunScores, Scores
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
        prepared = Prepared(judged or self.judged, self.measures, **self.options)
        return prepared.evaluate(self.runs)

    def matrices(self, scores: Scores) -> dict[str, Matrix]:
        """Return the scores of each measure: rows of queries that have them all, columns of runs.

        Raises
        ------
        NotComparable
            When a measure has no query with a value for every run.
        """
        runs = [scores.runs[run] for run in self.runs]
        matrices = {}
        for measure in scores.measures:
            columns = [_value_by_query(run, measure) for run in runs]
            complete = set(columns[0]).intersection(*columns)
            if not complete:
                raise NotComparable(
                    f"no query has a value of {measure} for every run",
                    given=some(self.runs),
                )
            queries = runs[0].queries.to_list()
            shared = [query for query in queries if query in complete]
            values = [[column[query] for query in shared] for column in columns]
            matrices[str(measure)] = Matrix(
                measure=str(measure),
                direction=measure.card.direction,
                systems=tuple(self.runs),
                queries=pl.Series("query_id", shared),
                values=np.stack(values, axis=1),
                weight=np.ones(len(shared)),
                left_out=len(queries) - len(shared),
                declared=measure.span,
            )
        return matrices

    def pool(self, depth: int) -> pl.DataFrame:
        """Return the first documents of each run: ``query_id``, ``doc_id`` as texts, ``run``, ``group``."""
        ordering = ordering_options(
            {name: value for name, value in self.options.items() if name in OPTIONS}
        )
        parts = []
        for run, table in self.runs.items():
            loaded = load_run(table, options_for(table, ordering))
            first = loaded.to_frame().filter(pl.col("rank") <= depth)
            pairs = first.select(_PAIR).cast(pl.String)
            group = self.groups[run]
            named = pairs.with_columns(run=pl.lit(run), group=pl.lit(group))
            parts.append(named)
        return pl.concat(parts)


def _value_by_query(scored: RunScores, measure: Measure) -> dict[object, float]:
    """Return the values of one run, of the queries that have one."""
    values = scored.by_measure[measure].value.tolist()
    pairs = zip(scored.queries.to_list(), values, strict=True)
    return {query: value for query, value in pairs if math.isfinite(value)}


@takes(EvaluationKeywords)
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
    task = _shared_task(qrels, name_runs(runs), requested, groups, options)

    scores = task.scores()
    matrices = task.matrices(scores)
    first = next(iter(matrices.values()))
    graded = _graded_pairs(task.judged)
    pooled = task.pool(pool_depth)
    pool = pooled.join(graded, on="query_id", how="semi")
    owners = _owners(pool, graded)
    contributions = _contributions(pool, owners)

    level = {"confidence": confidence, "seed": seed}
    leaders, pairs = _leaderboard(task, matrices, contributions, level)
    reusability = _without_groups(task, matrices, owners, level, progress)
    return Collection(
        measures=tuple(matrices),
        depth=pool_depth,
        pool=_size(owners, graded),
        leaderboard=leaders,
        pairs=pairs,
        topics=_topics(first, graded),
        reusability=reusability,
        correlations=_correlations(matrices, level),
        confidence=confidence,
        seed=seed,
        lang=lang,
        audit=scores.audit,
        conventions=scores.conventions,
        inputs=scores.inputs,
        left_out=max(matrix.left_out for matrix in matrices.values()),
    )


def _shared_task(
    qrels: QrelsLike,
    runs: Mapping[str, Any],
    measures: tuple[Measure, ...],
    groups: object,
    options: EvaluationKeywords,
) -> SharedTask:
    """Read judgments, runs and groups into memory.

    Raises
    ------
    UsageError, BadOption, NotComparable
        For a measure that is not a mean over queries, an option that changes lists, fewer than two runs.
    """
    for measure in measures:
        if measure.agg != "mean" or measure.unit is not None:
            raise UsageError(
                f"{measure} is not a mean over queries", fix="measures with agg=mean"
            )
    settings: dict[str, Any] = dict(options)
    for name in _OTHER_LISTS:
        if settings.get(name) is not None:
            raise BadOption(
                f"{name} changes lists, and a pool is made of them as they are",
                fix=f"remove {name}",
            )
    columns = columns_in(settings)
    if len(runs) < 2:  # noqa: PLR2004 - nothing to compare
        raise NotComparable(
            "a collection is studied with several runs",
            given=some(runs),
            fix="name more runs",
        )
    prepared = Prepared(qrels, measures, columns=columns, **settings)
    judged = prepared.judged.in_memory()
    tables = {}
    for name, run in runs.items():
        tables[name] = prepared.open(run, name).in_memory()
    group_by_run = groups_of(groups, tuple(runs), columns)
    return SharedTask(judged, tables, group_by_run, measures, settings)


def _graded_pairs(judged: Table) -> pl.DataFrame:
    """Return the judged pairs, each once: ``query_id`` and ``doc_id`` as texts, the highest grade."""
    grade = pl.col("relevance")
    pairs = judged.collect(*_PAIR, "relevance")
    texts = pairs.cast(dict.fromkeys(_PAIR, pl.String))
    graded = texts.filter(grade >= 0)
    return graded.group_by(_PAIR).agg(grade.max())


def _owners(pool: pl.DataFrame, graded: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each pooled pair: how many runs and groups found it, one of each, and its grade."""
    counts = {"runs": pl.len(), "groups": pl.col("group").n_unique()}
    finders = pl.col("run", "group").first()
    owners = pool.group_by(_PAIR).agg(finders, **counts)
    return owners.join(graded, on=_PAIR, how="left")


def groups_of(
    groups: object, runs: Sequence[str], columns: Columns | None = None
) -> dict[str, str]:
    """Return the group of each run, of a mapping or a table; without groups each run is one.

    Raises
    ------
    MissingColumn, DuplicateRows, UsageError
        For a table without a column of runs or groups, a run with two groups, a run without one.
    """
    if groups is None:
        return {run: run for run in runs}
    source, table, _ = open_table(groups, "run", columns)
    with reading(source):
        frame = table.collect()
    chosen = []
    for names in (_RUNS, _GROUPS):
        column = next((name for name in names if name in frame.columns), None)
        if column is None:
            raise MissingColumn.of(
                f"there is no column {names[0]}", names[0], frame.columns, source
            )
        chosen.append(pl.col(column).cast(pl.String))
    pairs = frame.select(chosen).unique(maintain_order=True)

    group_by_run = dict(pairs.iter_rows())
    if len(group_by_run) < pairs.height:
        is_twice = pairs.to_series().is_duplicated()
        twice = pairs.filter(is_twice).item(0, 0)
        raise DuplicateRows(
            f"{printable(twice)} has two groups",
            where=source,
            expected="one group for each run",
        )
    for run in runs:
        if not group_by_run.get(run):
            raise UsageError(
                f"a run without a group: {printable(run)}",
                where=source,
                expected="a row for each run",
                fix=did_you_mean(run, [*map(str, group_by_run)]),
            )
    return {run: group_by_run[run] for run in runs}


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
    facts = owners.drop("run", "group")
    unique_relevant = (alone & relevant).sum()
    by_run = pool.join(facts, on=_PAIR).group_by("run")
    return by_run.agg(**counts, unique_relevant=unique_relevant)


def _size(owners: pl.DataFrame, graded: pl.DataFrame) -> dict[str, int]:
    """Count the documents of the pool, and of the judgments."""
    judged = pl.col("relevance").count()
    relevant = (pl.col("relevance") > 0).sum()
    of_pool = owners.select(
        pooled=pl.len(), pooled_judged=judged, pooled_relevant=relevant
    )
    of_judgments = graded.select(judged=judged, relevant=relevant)
    sizes = pl.concat([of_pool, of_judgments], how="horizontal")
    return sizes.row(0, named=True)


def _leaderboard(
    task: SharedTask,
    matrices: Mapping[str, Matrix],
    contributions: pl.DataFrame,
    level: Mapping[str, Any],
) -> tuple[pl.DataFrame, tuple[int, int]]:
    """Return a row for each run, the best first, and how many pairs of runs differ clearly, of how many."""
    first = next(iter(matrices.values()))
    runs = len(task.runs)
    confidence = level["confidence"]
    means = mean_estimates(first.units, [first.span] * runs)
    intervals = [mean.interval(confidence) for mean in means]
    low, high = zip(*intervals, strict=True)

    affordable = _SHUFFLED // first.values.size
    tukey = randomised_tukey(
        first.values[:, :, None],
        shuffles=min(max(affordable, _FEWEST), _MOST),
        seed=level["seed"],
    )
    is_clear = tukey.p[:, :, 0] <= 1 - confidence
    is_above = first.sign * tukey.gap[:, :, 0] > 0
    better = is_clear & is_above

    leaders = pl.DataFrame(
        {
            "rank": _places(first),
            "run": list(task.runs),
            "group": [task.groups[run] for run in task.runs],
            **{name: matrix.units.mean for name, matrix in matrices.items()},
            "rank_low": 1 + better.sum(axis=0),
            "rank_high": runs - better.sum(axis=1),
            "low": low,
            "high": high,
        }
    )
    leaders = leaders.join(contributions, on="run", how="left")
    every_pair = runs * (runs - 1) // 2
    pairs = int(better.sum()), every_pair
    return leaders.sort("rank", maintain_order=True), pairs


def _places(matrix: Matrix) -> list[int]:
    """Return the rank of each run, the best of equal ones."""
    means = matrix.sign * matrix.units.mean
    largest = float(np.abs(means).max(initial=0.0))
    rounding = ROUNDING * largest
    places = []
    for mean in means:
        better = means > mean + rounding
        places.append(1 + int(better.sum()))
    return places


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
    is_relevant = pl.col("relevance") > 0
    counts = graded.group_by("query_id").agg(
        relevant=is_relevant.sum(), judged=pl.len()
    )
    topics = table.join(counts, on="query_id", how="left", maintain_order="left")
    return topics.sort(
        "median", "best", descending=matrix.sign < 0, maintain_order=True
    )


def _without_groups(
    task: SharedTask,
    matrices: Mapping[str, Matrix],
    owners: pl.DataFrame,
    level: Mapping[str, Any],
    progress: Progress | None,
) -> pl.DataFrame:
    """Return for each group and measure what its runs lose if its unique documents had not been judged."""
    members: dict[str, list[int]] = {}
    for column, run in enumerate(task.runs):
        group = task.groups[run]
        members.setdefault(group, []).append(column)

    is_judged = pl.col("relevance").is_not_null()
    rows = []
    for group, columns in members.items():
        own = owners.filter(is_judged, group=group, groups=1)
        after = matrices
        if own.height:
            others = task.scores(_without(task.judged, own))
            after = task.matrices(others)
        counts = {
            "group": group,
            "runs": len(columns),
            "unique_judged": own.height,
            "unique_relevant": int((own["relevance"] > 0).sum()),
        }
        for name, matrix in matrices.items():
            loss = _loss(matrix, after[name], columns, level)
            rows.append(counts | {"measure": name} | loss)
        if progress is not None:
            progress(1)

    by_measure = pl.col("measure").cast(pl.Enum([*matrices]))
    may_be_missing = pl.col("loss_low", "loss_high", "tau", "tau_low", "tau_high")
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.with_columns(may_be_missing.fill_nan(None)).sort(
        by_measure, "loss", descending=[False, True], maintain_order=True
    )


def _loss(
    before: Matrix, after: Matrix, columns: Sequence[int], level: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the run of a group loses that loses most, and how alike all runs are ordered.

    Parameters
    ----------
    before, after
        Scores by one measure with and without the group's unique documents; the same object if there are
        none, and the loss has no limits then.
    columns
        The group's runs.
    level
        ``confidence`` and ``seed``.
    """
    means = before.units.mean, after.units.mean
    lost = before.sign * (means[0] - means[1])[columns]
    most = columns[int(lost.argmax())]
    with_own, without = _same_queries(before, after)
    order = order_agreement(with_own, without, **level)

    limits = _NONE
    if after is not before:
        gaps = with_own[:, most] - without[:, most]
        units = Units.from_scores(gaps[:, None])
        loss = difference_estimate(units, before.span)
        limits = loss.interval(level["confidence"])
    return {
        "run": before.systems[most],
        "before": float(means[0][most]),
        "after": float(means[1][most]),
        "loss": float(lost.max()),
        "loss_low": limits[0],
        "loss_high": limits[1],
        "rank_before": _places(before)[most],
        "rank_after": _places(after)[most],
        "tau": order.tau,
        "tau_low": order.low,
        "tau_high": order.high,
        "queries": len(after),
    }


def _without(judged: Table, own: pl.DataFrame) -> Table:
    """Return the judgments without the pairs of a frame."""
    keys = [pl.col(name).cast(pl.String) for name in _PAIR]

    def kept(piece: pl.DataFrame) -> pl.DataFrame:
        return piece.join(
            own, left_on=keys, right_on=_PAIR, how="anti", maintain_order="left"
        )

    return judged.mapped(kept)


def _same_queries(left: Matrix, right: Matrix) -> tuple[Floats, Floats]:
    """Return the scores of the queries that both have, in one order; higher ones are better."""
    _, left_rows, right_rows = np.intersect1d(
        left.queries.to_list(), right.queries.to_list(), return_indices=True
    )
    left_scores = left.sign * left.values[left_rows]
    right_scores = right.sign * right.values[right_rows]
    return left_scores, right_scores


def _correlations(
    matrices: Mapping[str, Matrix], level: Mapping[str, Any]
) -> pl.DataFrame:
    """Return how alike each pair of measures orders the runs."""
    rows = []
    for left, right in combinations(matrices.values(), 2):
        order = order_agreement(*_same_queries(left, right), **level)
        taus = order.tau, order.low, order.high
        rows.append((left.measure, right.measure, *taus, order.n))
    names = dict.fromkeys(("measure", "other"), pl.String)
    numbers = dict.fromkeys(("tau", "low", "high"), pl.Float64)
    schema = {**names, **numbers, "n": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row").with_columns(
        pl.col(*numbers).fill_nan(None)
    )
