"""Abstention: whether a system should answer nothing where its top score is low, and from which score.

Lists, ranks and judgments come from the pipeline; the thresholds from
:mod:`rankstone.stats.score_thresholds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import polars as pl

from rankstone._basics import queries, some
from rankstone.diagnostics.abstention_result import (
    FEWEST,
    NULLABLE,
    Abstention,
    verdict_of,
)
from rankstone.errors import BadParameter, NotComparable, between_0_and_1
from rankstone.evaluation.pipeline import ScoredPart, query_order
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords, name_runs, of_rankings
from rankstone.hits.alignment_options import takes
from rankstone.hits.extras.list_scores import ListScores, ScoresOfLists
from rankstone.hits.extras.unanswerable_queries import UnanswerableQueries
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.stats.proportions import wilson
from rankstone.stats.random_streams import check_count
from rankstone.stats.score_thresholds import HeldOut, best_threshold
from rankstone.stats.separation import nauc, separation
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Progress
    from rankstone.evaluation.pipeline import Pipeline
    from rankstone.evaluation.request import QrelsLike, RunsLike
    from rankstone.evaluation.scores import RunScores
    from rankstone.hits.alignment_audit import RunAudit
    from rankstone.hits.hits import Hits
    from rankstone.hits.matching import Chunk
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure


_UTILITY: Final = {"right": 1.0, "wrong": -1.0, "abstain": 0.0}
#: a second scale: scores up to 1, and above it, spread so many times as far, in so many of the lists
_TIMES: Final = 10.0
_SHARE: Final = 0.05


@takes(EvaluationKeywords)
def abstain(
    qrels: QrelsLike,
    runs: RunsLike,
    measure: str | Measure = "nDCG@10",
    *,
    k: int = 1,
    rel: float = 1,
    utility: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    lang: str = "en",
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Abstention:
    """Find out whether a run should answer nothing where its top score is low, and from which score.

    A query deserves an answer if it is declared ``answerable`` (a column of judgments or of ``queries``); where
    no query is declared, if a relevant document is among the first ``k``.  An answer to any other query is
    wrong.

    Parameters
    ----------
    qrels, progress, **options
        As for :func:`~rankstone.evaluate`.
    runs
        One run or ``{name: run}``, with scores, higher is better.  Each has a threshold of its own.
    measure
        A measure whose nAUC of abstention is computed, as MTEB does it.
    k
        The first so many documents are the answer.
    rel
        Relevant from this grade on.
    utility
        What a ``right`` answer, a ``wrong`` one and none (``abstain``) are worth; 1, -1 and 0 unless given.
    confidence
        Of all intervals.
    seed
        Of the random halves on which thresholds are chosen.
    lang
        Language of sentences: ``en`` or ``zh``.

    Returns
    -------
    Abstention
        A row for each run: its verdict, how well scores separate, utilities of rules.

    Raises
    ------
    NotComparable
        When a run has no scores, or scores that cannot be compared between queries.
    InputError, UsageError
        As for :func:`~rankstone.evaluate`.

    Examples
    --------
    Of forty queries those with scores from 20 on deserve an answer:

    >>> qrels = {f"q{n}": {"d": int(n >= 20), "e": 0} for n in range(40)}
    >>> run = {f"q{n}": {"d": n + 0.5, "e": 0.1} for n in range(40)}
    >>> study = abstain(qrels, run)
    >>> study.rows.select("run", "verdict", "threshold", "auroc").row(0)
    ('run', 'use', 20.0, 1.0)
    """
    worth = _checked(utility or {})
    check_count("seed", seed, 0, 2**63 - 1)
    between_0_and_1("confidence", confidence)
    check_language(lang)
    first = of_rankings(f"Success(rel={rel})@{k}")
    measured = of_rankings(measure)[:1]
    ready = Prepared(qrels, [*first, *measured], **options)
    if ready.options.tie_rule.closed_form:
        raise BadParameter(
            f"ties={ready.options.ties} has no first documents",
            fix="use another rule, such as ties=worst",
        )
    lists: dict[str, pl.DataFrame] = {}

    def score_run(
        name: str, pipeline: Pipeline, table: Table
    ) -> tuple[RunScores, RunAudit]:
        order = pipeline.options.order
        if order != "score":
            raise NotComparable(
                "no score says when to answer nothing",
                where=table.source,
                given=f"lists in order of {order}",
                expected="order=score, and a score for each document, higher is better",
            )
        parts, audit = pipeline.map_chunks(
            table, _part_of(pipeline), frozenset({ListScores})
        )
        scores = pipeline.assemble(parts)
        lists[name] = _about_lists(parts, scores, first[0], measured[0])
        _check(_with_scores(lists[name]), table.source)
        return scores, audit

    scored = ready.score_runs(name_runs(runs), score_run, progress=progress)
    settings = {
        "k": k,
        "rel": rel,
        "utility": worth,
        "confidence": confidence,
        "seed": seed,
        "measure": str(measured[0]),
    }
    judged = [_judged(name, of_run, settings) for name, of_run in lists.items()]
    rows, curves = zip(*judged, strict=True)
    nullable = dict.fromkeys(NULLABLE, pl.Float64)
    return Abstention(
        pl.DataFrame(rows, schema_overrides=nullable),
        pl.concat(curves),
        settings,
        lang=lang,
        audit=scored.audit,
        conventions={**scored.conventions, "abstain": settings},
        inputs=scored.inputs,
    )


def _checked(utilities: Mapping[str, float]) -> dict[str, float]:
    """Return all three utilities; refuse those under which nothing is to be decided."""
    utility = _UTILITY | {name: float(value) for name, value in utilities.items()}
    is_ordered = utility["wrong"] < utility["abstain"] < utility["right"]
    if len(utility) > len(_UTILITY) or not is_ordered:
        raise BadParameter(
            "with these utilities there is nothing to decide",
            given=", ".join(f"{name}={value:g}" for name, value in utility.items()),
            expected="right above abstain, and abstain above wrong",
        )
    return utility


class _ListPart(ScoredPart):
    """A part of a run: its scores of measures, and what its lists look like."""

    lists: ScoresOfLists


def _part_of(pipeline: Pipeline) -> Any:  # noqa: ANN401 - a function of chunks
    """Return the function that measures a chunk, and keeps the scores and the codes of its queries."""

    def each(chunk: Chunk, hits: Hits) -> _ListPart:
        columns = {**vars(hits.added(ListScores)), "code": chunk.codes}
        known = hits.extras.get(UnanswerableQueries)
        if pipeline.options.empty == "unanswerable":
            columns["declared"] = hits.ideal.relevant_count(ANY_GAIN) > 0
        elif known is not None:
            columns["declared"] = ~known.declared
        measured = vars(pipeline.measure(chunk, hits))
        return _ListPart(**measured, lists=ScoresOfLists(**columns))

    return each


def _about_lists(
    parts: Sequence[_ListPart], scores: RunScores, first: Measure, measure: Measure
) -> pl.DataFrame:
    """Return a row a list: its scores, whether the first documents hold an answer, and its value."""
    columns = ScoresOfLists.joined([part.lists for part in parts])
    about = pl.DataFrame(vars(columns))[query_order(parts)]
    success = pl.Series(scores.by_measure[first].value)
    value = pl.Series(scores.by_measure[measure].value)
    about = about.with_columns(
        success=success.fill_nan(0.0) > 0, value=value.fill_nan(None)
    )
    return about.filter(pl.col("code") >= 0)


def _with_scores(lists: pl.DataFrame) -> pl.DataFrame:
    """Return the lists that have a document."""
    return lists.filter(pl.col("top").is_not_nan())


def _check(lists: pl.DataFrame, source: str) -> None:
    """Refuse scores that cannot be compared between queries: all tops are one, or lists are on two scales."""
    n = lists.height
    top = lists["top"]
    is_constant = n > 1 and top.n_unique() == 1
    if not n or is_constant or top.is_infinite().any():
        raise NotComparable(
            "the top scores cannot say which queries to answer: "
            "all are the same, one is infinite, or there is none",
            where=source,
            given=f"{queries(n)} with documents, top scores {some(top)}",
            expected="scores as the system computes them, "
            "not normalised query by query or made of ranks",
        )
    is_small = (pl.col("bottom") >= -1) & (pl.col("top") <= 1)
    small = lists.filter(is_small)
    large = lists.filter(pl.col("bottom") > 1)
    is_split = small.height + large.height == n
    has_both = min(small.height, large.height) >= max(2, _SHARE * n)
    if not (is_split and has_both):
        return
    spread = np.median(small["std"])
    if np.median(large["std"]) > _TIMES * spread:
        raise NotComparable(
            "the lists have scores on two scales, which no threshold can serve",
            where=source,
            given=f"{queries(small.height)} with scores within -1 and 1, "
            f"{queries(large.height)} above",
            expected="a run of one system",
            fix="evaluate the queries of each system as a run of its own",
        )


def _judged(
    name: str, judged: pl.DataFrame, settings: Mapping[str, Any]
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return the row of a run, and its curve."""
    lists = _with_scores(judged).sort("top", maintain_order=True)
    is_declared = "declared" in lists.columns
    right = lists["declared" if is_declared else "success"]
    deserving = right.to_numpy()
    rights = int(deserving.sum())
    score = lists["top"].to_numpy()
    n = len(score)
    utility = settings["utility"]
    none = utility["abstain"]
    right_gain = utility["right"] - none
    wrong_gain = utility["wrong"] - none
    stakes = right_gain, wrong_gain
    worth = np.where(deserving, *stakes)
    span = right_gain - wrong_gain
    threshold = best_threshold(score, worth)
    earned = np.where(score >= threshold, worth, 0.0)
    confidence = settings["confidence"]
    ends = np.array(wilson(rights, n, confidence))
    low, high = utility["wrong"] + span * ends
    counted = lists.drop_nulls("value")
    value = counted["value"].to_numpy()
    row: dict[str, Any] = {
        "run": name,
        "verdict": None,
        **dict.fromkeys(NULLABLE),
        "declared": is_declared,
        "n": n,
        "deserving": rights,
        "always": none + worth.mean(),
        "always_low": low,
        "always_high": high,
        "never": none,
        "in_sample": none + earned.mean(),
        "without_list": judged.height - n,
        "answerable_missed": (right & ~lists["success"]).sum(),
    }
    if np.isfinite(threshold):
        row["threshold"] = threshold
    for figure in ("top", "std", "diff1"):
        column = counted[figure].to_numpy()
        row[f"nauc_{figure}"] = nauc(column, value)
    kinds = separation(score, deserving, confidence)
    if kinds is not None:
        row["auroc"], row["auroc_low"], row["auroc_high"] = kinds
    if n >= FEWEST:
        held_out = HeldOut.of(score, worth, settings["seed"])
        row["held_out"] = none + held_out.by_split.mean()
        gain = held_out.gain(*stakes, confidence)
        row["gain"], row["gain_low"], row["gain_high"] = gain
    row["verdict"] = verdict_of(row, span)

    answers = pl.DataFrame({"threshold": score, "right": right, "utility": worth})
    by_score = answers.group_by("threshold").agg(
        answered=pl.len(), right=pl.sum("right"), utility=pl.sum("utility") / n
    )
    from_here = pl.exclude("threshold").cum_sum(reverse=True)
    curve = by_score.sort("threshold").with_columns(from_here)
    utilities = pl.col("utility") + none
    run = pl.lit(name).alias("run")
    return row, curve.select(run, pl.exclude("utility"), utilities)
