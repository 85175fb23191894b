"""The board of systems on many data sets: means, ranks with their intervals, and what the order rests on."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import counted, some
from rankstone.boards.board_result import Board
from rankstone.boards.board_scores import BoardScores, read_board
from rankstone.boards.cells import ESTIMATES, MISSING, Estimated, ScoringRule
from rankstone.boards.prediction_scale import PredictionScale
from rankstone.boards.scored_collections import score_collections
from rankstone.comparison.named_measures import fact_of
from rankstone.errors import (
    BadOption,
    InputError,
    NotComparable,
    UsageError,
    between_0_and_1,
    did_you_mean,
    one_of,
    printable,
)
from rankstone.stats.posterior_means import posterior_means
from rankstone.stats.random_streams import check_count, draws, normal
from rankstone.stats.rank_intervals import DrawnErrors, rank_intervals
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankstone._basics import Bools, Columns, Floats, Progress, StrPath
    from rankstone.stats.rank_intervals import MeanErrors


#: what is resampled, which is what the doubt is about
RESAMPLED: Final = ("datasets", "queries", "both")
#: numbers in a block of resampled tables
_BLOCK: Final = 1 << 22
#: names the stream of random numbers of seeds
_SEEDS: Final = 0x73656564


def board(
    scores: object = None,
    *,
    collections: Mapping[str, Mapping[str, Any]] | StrPath | None = None,
    measure: str | None = None,
    estimate: str | None = None,
    missing: str = "error",
    weights: Mapping[str, float] | None = None,
    resample: str | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    systems: Iterable[str] | None = None,
    only: Mapping[str, str] | None = None,
    direction: str | None = None,
    columns: Columns | None = None,
    format_in: str | None = None,
    lang: str = "en",
    progress: Progress | None = None,
) -> Board:
    """Rank systems by their scores on many data sets, and say how sure the ranks are.

    Parameters
    ----------
    scores
        A long table with ``system``, ``dataset`` and ``value``, and if known ``query_id``, ``seed``,
        ``weight`` of the data set and ``cluster`` of the query; a wide table, with a row for each system and
        a column for each data set; a folder of results of MTEB or BEIR; scores per query as
        :meth:`Scores.write` writes them, one table for each data set in a list or ``{data set: table}``.
    collections
        Instead of scores: ``{data set: {"qrels": …, "runs": …}}``, or a TOML file of such tables; runs are
        scored as :func:`rankstone.evaluate` does.
    measure
        Which measure, where tables hold several; of collections by default nDCG@10.
    estimate
        How the scores of a system become one number: ``macro``, ``micro``, ``weighted``, ``mean_rank``,
        ``borda``, ``win_rate`` or ``geometric_mean``; by default ``weighted`` if there are weights, otherwise
        ``macro``.
    missing
        What stands for missing scores: ``error`` refuses them, ``skip`` leaves them out of the mean,
        ``worst`` takes the lowest score of the data set, ``model`` what system and data set predict.
    weights
        Data set → its weight, above 0.
    resample
        What the doubt is about.  ``datasets``: the board is about data sets like these, which are a sample.
        ``queries``: it is about these data sets, and their queries are a sample (needs scores per query).
        ``both``: queries are drawn within the drawn data sets, too.  That errs on the safe side, since how
        data sets differ holds the noise of their queries already.  By default ``datasets``, if there are
        several.
    confidence
        Confidence of all intervals of ranks together, between 0 and 1.
    resamples
        Samples of the bootstrap, from 1,000 on.
    seed
        Makes the result reproducible, bit by bit.
    systems
        Only these; by default all.
    only
        Column → the value of the rows to read: ``{"split": "test"}``.
    direction
        ``higher`` or ``lower``, which is better; by default what the measure says, or higher.
    columns
        {their name: our name}.
    format_in
        Format of files; ``None`` decides by content and suffix.
    lang
        Language of sentences: ``en`` or ``zh``.
    progress
        Called with 1 whenever a part of the draws is done.

    Returns
    -------
    Board

    Raises
    ------
    InputError
        Where scores are missing and ``missing`` is ``error``, or tables do not hold a board.
    BadOption
        For a value that an option does not have.

    Examples
    --------
    >>> scores = {"bm25": {"nq": 0.33, "fiqa": 0.24, "scidocs": 0.15},
    ...           "dense": {"nq": 0.52, "fiqa": 0.38, "scidocs": 0.16}}
    >>> leaderboard = board(scores)
    >>> leaderboard.table["system"].to_list(), leaderboard.table["rank"].to_list()
    (['dense', 'bm25'], [1, 2])
    """
    check_language(lang)
    between_0_and_1("confidence", confidence)
    one_of("missing", missing, MISSING)
    check_count("resamples", resamples, 1000, 10**6)
    if (scores is None) == (collections is None):
        raise UsageError(
            "give either scores or collections",
            expected="board(scores), board(collections=…)",
        )
    if collections is not None:
        scores, measure = score_collections(collections, measure)
    read = _some(
        read_board(scores, measure, only=only, columns=columns, format_in=format_in),
        systems,
    )
    if direction is not None:
        one_of("direction", direction, ("higher", "lower"))
        read = replace(read, direction=direction)
    rule = _rule(read, estimate, missing, weights)
    _check(read, rule)
    level = _level(read, resample)
    if np.isnan(read.values).any():
        span = fact_of(read.measure, "span", (None, None))
        rule = replace(rule, scale=PredictionScale.chosen(read.values, span))
    estimated = rule.estimated(read.values)
    errors = _errors(read, estimated, level, resamples, seed)
    ranks = rank_intervals(
        estimated.means, errors, alpha=1 - confidence, progress=progress
    )
    drawn = posterior_means(
        estimated.means, errors.covariance, seed=seed, count=resamples
    )
    return Board(
        read, estimated, level, confidence, errors, ranks, drawn, seed, resamples, lang
    )


def _some(read: BoardScores, systems: Iterable[str] | None) -> BoardScores:
    """Return the scores of some systems, on the data sets that any of them has."""
    if systems is None:
        return read
    wanted = list(dict.fromkeys(systems))
    for name in wanted:
        if name not in read.systems:
            raise BadOption(
                f"there is no system {printable(name)}",
                fix=did_you_mean(name, read.systems),
            )
    return read.of_systems([read.systems.index(name) for name in wanted])


def _rule(
    read: BoardScores,
    estimate: str | None,
    missing: str,
    weights: Mapping[str, float] | None,
) -> ScoringRule:
    """Return how scores become one number."""
    by_dataset = (
        dict(read.weights)
        if weights is None
        else {str(k): float(v) for k, v in weights.items()}
    )
    estimate = estimate or ("weighted" if by_dataset else "macro")
    one_of("estimate", estimate, ESTIMATES)
    sizes = {name: float(len(scores)) for name, scores in read.queries.items()}
    known = {"micro": sizes or by_dataset, "weighted": by_dataset}.get(
        estimate, dict.fromkeys(read.datasets, 1.0)
    )
    if lacking := [name for name in read.datasets if not known.get(name, 0) > 0]:
        what = "weight" if estimate == "weighted" or sizes else "number of queries"
        raise InputError(
            f"estimate={estimate!r} needs the {what} of every data set",
            where=", ".join(read.sources.values()),
            given=f"none above 0 for {some(map(printable, lacking))}",
            fix=f"--weights {lacking[0]}=… (in Python weights={{{lacking[0]!r}: …}}), or a column weight",
        )
    shares = np.array([known[name] for name in read.datasets])
    sign = -1 if read.direction == "lower" else 1
    return ScoringRule(estimate, missing, shares, sign)


def _check(read: BoardScores, rule: ScoringRule) -> None:
    """Refuse boards that a rule cannot make: a single system, missing scores, logarithms of 0."""
    if len(read.systems) < 2:  # noqa: PLR2004 - there is nothing to rank
        raise NotComparable(
            "a board needs two systems or more",
            given=", ".join(map(printable, read.systems)),
        )
    lost = np.isnan(read.values)
    if rule.missing == "error" and lost.any():
        names = {
            name: int(count)
            for name, count in zip(read.datasets, lost.sum(axis=1), strict=True)
            if count
        }
        incomplete = int(lost.any(axis=0).sum())
        worst = sorted(names, key=lambda name: -names[name])
        raise InputError(
            f"{lost.sum():,} of {counted(lost.size, 'score')} {'is' if lost.sum() == 1 else 'are'} missing, "
            f"of {counted(incomplete, 'system')}",
            where=", ".join(read.sources.values()),
            given=some(f"{printable(name)} lacks {names[name]}" for name in worst),
            expected="a score for every system on every data set; or missing='skip', 'worst' or 'model'",
            # no model joins parts without a common score
            fix=f"missing={'model' if len(_parts(~lost)) == 1 else 'worst'!r}",
        )
    if rule.estimate == "geometric_mean" and (read.values <= 0).any():
        cell = np.argwhere(read.values <= 0)[0]
        system = printable(read.systems[cell[1]])
        dataset = printable(read.datasets[cell[0]])
        raise InputError(
            "a geometric mean needs scores above 0",
            where=", ".join(read.sources.values()),
            given=f"{system} has {read.values[tuple(cell)]:g} on {dataset}",
            fix="estimate='macro', or 'mean_rank'",
        )
    if rule.missing == "model" and len(parts := _parts(~lost)) > 1:
        raise NotComparable(
            "systems and data sets fall into parts without a common score, so no model joins them",
            given=" | ".join(
                some(printable(read.systems[system]) for system in part)
                for part in parts[:3]
            ),
            fix="make a board of each part",
        )


def _parts(has: Bools) -> list[list[int]]:
    """Return systems that are joined by common data sets, one list for each part."""
    left = set(range(has.shape[1]))
    parts = []
    while left:
        joined = np.zeros(has.shape[1], bool)
        joined[min(left)] = True
        while True:
            more = has[has[:, joined].any(axis=1)].any(axis=0) | joined
            if (more == joined).all():
                break
            joined = more
        parts.append(np.flatnonzero(joined).tolist())
        left -= set(parts[-1])
    return parts


def _level(read: BoardScores, resample: str | None) -> str:
    """Return what is resampled."""
    if resample is None:
        if len(read.datasets) == 1 and read.queries:
            return "queries"
        return "datasets"
    one_of("resample", resample, RESAMPLED)
    if resample != "datasets" and set(read.queries) != set(read.datasets):
        raise InputError(
            f"resample={resample!r} needs scores per query of every data set",
            given=f"per query: {len(read.queries)} of {counted(len(read.datasets), 'data set')}",
            fix="rankstone eval QRELS RUN --per-query NAME.parquet "
            "(in Python rankstone.evaluate(…).per_query()), one table for each data set",
        )
    return resample


def _errors(
    read: BoardScores, estimated: Estimated, level: str, resamples: int, seed: int
) -> MeanErrors | DrawnErrors:
    """Return the errors of means."""
    if level == "queries":
        return DrawnErrors(_of_queries(read, estimated, resamples, seed))
    if not estimated.fit.counts.max() > 1:
        raise NotComparable(
            "no system has scores on two data sets, so nothing shows how data sets differ",
            given=counted(len(read.datasets), "data set"),
            expected="two data sets or more, or scores per query and resample='queries'",
            fix="resample='queries'"
            if read.queries
            else "add a column query_id, with a row for each query",
        )
    errors = estimated.errors(seed)
    if level == "datasets":
        return errors
    of_queries = _of_queries(read, estimated, resamples, seed)
    both = min(len(errors.drawn), resamples)
    return DrawnErrors(errors.drawn[:both] + of_queries[:both])


def _of_queries(
    read: BoardScores, estimated: Estimated, resamples: int, seed: int
) -> Floats:
    """Return means of data sets with resampled queries, less those observed."""
    tables = np.empty((resamples, len(read.datasets), len(read.systems)))
    for index, name in enumerate(read.datasets):
        scores = read.queries[name]
        group = read.clusters.get(name, np.arange(len(scores)))
        size = np.bincount(group)
        total = np.zeros((len(size), scores.shape[1]))
        np.add.at(total, group, scores)
        step = max(1, _BLOCK // len(size))
        for begin in range(0, resamples, step):
            end = min(begin + step, resamples)
            counts = draws(len(size), seed + index, range(begin, end))
            sizes = counts @ size
            tables[begin:end, index] = counts @ total / sizes[:, None]
    if read.seeds:
        tables += _drawn_seeds(read, tables.shape, seed)
    rule = estimated.rule
    parts = map(rule.parts, tables)
    means = np.stack([rule.means(part) for part in parts])
    return estimated.unknown * (means - estimated.means)


def _drawn_seeds(read: BoardScores, shape: tuple[int, ...], seed: int) -> Floats:
    """Return errors of scores as other seeds would give them: normal, by the spread between seeds."""
    numbers = normal(seed, _SEEDS, size=math.prod(shape)).reshape(shape)
    return numbers * np.sqrt(read.seed_variance)
