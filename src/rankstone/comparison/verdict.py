"""The result of one pairwise comparison: effect sizes, interval, verdict, and the queries needed.

Pool bias: systems that retrieve more unjudged documents may be underestimated, so shares of judged documents
(Judged@k) are compared, too.  Where only relevant documents are judged, as in click logs, Judged@k equals
P@k: a difference then says that one system is better, and nothing about bias.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import Record
from rankstone.errors import BadOption, BadParameter
from rankstone.evaluation.scores import Scores
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.measures.counts import Judged
from rankstone.stats.automatic_intervals import verdict
from rankstone.stats.effect_sizes import d_z, hedges
from rankstone.stats.inverted_tests import agreeing
from rankstone.stats.mean_intervals import Estimate, estimates
from rankstone.stats.paired_tests import paired_ts
from rankstone.stats.pilots import Pilots
from rankstone.stats.sample_size import least_signs, upper_deviation
from rankstone.stats.sampling_units import Units
from rankstone.stats.student_t import two_sided_p

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from rankstone._basics import Floats, Ints
    from rankstone.comparison.families import Family
    from rankstone.comparison.score_matrix import Matrix
    from rankstone.comparison.settings import ComparisonSettings
    from rankstone.evaluation.prepared import Prepared
    from rankstone.measures.core.measure import Measure


#: verdicts that systems differ
CLEAR: Final = ("better", "worse", "higher", "lower")
#: verdict → that of the same pair the other way round, where it is another
TURNED: Final = dict(zip(CLEAR, ("worse", "better", "lower", "higher"), strict=True))
#: differences of queries that are worked on at a time
_BLOCK: Final = 1 << 18
#: a smaller share of judged documents is flagged
JUDGED: Final = 0.9


class Pair(Record):
    """Two systems that are compared by one measure.

    Attributes
    ----------
    matrix
        The scores per query.
    one, other
        Columns of the two systems; the difference is ``one - other``.
    segment
        Values of the columns that queries are grouped by; empty for all queries.
    """

    matrix: Matrix
    one: int
    other: int
    segment: tuple[Any, ...] = ()

    @property
    def units(self) -> Units:
        """The differences of independent units."""
        return self.matrix.units.difference(self.one, self.other)


def two_sided(estimate: Estimate) -> float:
    """Return the two-sided p of an estimate by Student's t; 1 where its error is 0 or not known."""
    if not estimate.error > 0:
        return 1.0
    return two_sided_p(estimate.value / estimate.error, estimate.df)


def p_or_one(p: float) -> float:
    """Return p; 1 where a single query gives none."""
    return 1.0 if math.isnan(p) else p


@dataclass(frozen=True)
class PairStatistics:
    """The statistics that a verdict is based on; sums over queries are enough to compute them.

    Attributes
    ----------
    measure, system, versus
        What is compared: ``system`` with ``versus``.
    estimate
        The difference and its standard error.
    p
        The p-value of the test, before correction.
    n, units, left_out
        Numbers of queries, of independent units, and of queries without a value for some system.
    mean, mean_versus
        The means of both systems.
    wins, ties, losses
        Numbers of queries.
    direction
        ``higher`` or ``lower`` is better, or ``neither``.
    p_t
        The p-value of the paired t-test.
    margins
        p-values of two one-sided tests of the margin; ``None`` without a margin.
    guarded
        The estimate that a promise about losses rests on.
    es_hsd
        The difference over the residual standard deviation of a two-way analysis of variance.
    replicated
        True if systems have several runs.
    segment
        Values of the columns that queries are grouped by; empty for all queries.
    """

    measure: str
    system: str
    versus: str
    estimate: Estimate
    p: float
    n: int
    units: int
    left_out: int
    mean: float
    mean_versus: float
    wins: int
    ties: int
    losses: int
    direction: str
    p_t: float
    margins: tuple[float, float] | None
    guarded: Estimate
    es_hsd: float | None = None
    replicated: bool = False
    segment: tuple[Any, ...] = ()


def by_matrix(pairs: Sequence[Pair]) -> Iterator[tuple[Matrix, list[int], Ints, Ints]]:
    """Yield pairs of one score matrix, not too many at a time: matrix, positions, both columns."""
    positions: dict[Matrix, list[int]] = {}
    for position, pair in enumerate(pairs):
        positions.setdefault(pair.matrix, []).append(position)
    for matrix, members in positions.items():
        at_once = max(1, _BLOCK // len(matrix))
        for begin in range(0, len(members), at_once):
            block = members[begin : begin + at_once]
            systems = np.array([pairs[position].one for position in block])
            versus = np.array([pairs[position].other for position in block])
            yield matrix, block, systems, versus


def pair_statistics(
    pairs: Sequence[Pair],
    estimates: Sequence[Estimate],
    p: Floats,
    margin: float | None,
    guarded: Sequence[Estimate],
) -> list[PairStatistics]:
    """Compute the statistics of pairs from scores per query, estimates and p-values."""
    statistics: dict[int, PairStatistics] = {}
    for matrix, places, systems, versus in by_matrix(pairs):
        units = matrix.units.difference(systems, versus)
        several = bool(matrix.replicates)
        better = np.sign(matrix.differences(systems, versus)).T * matrix.sign
        wins = (better > 0).sum(axis=1).tolist()
        ties = (better == 0).sum(axis=1).tolist()
        losses = (better < 0).sum(axis=1).tolist()

        if several:
            p_t = [two_sided(estimates[place]) for place in places]
        else:
            p_t = paired_ts(units).tolist()

        mean = matrix.units.mean.tolist()
        for place, a, b, t, won, tied, lost in zip(
            places, systems, versus, p_t, wins, ties, losses, strict=True
        ):
            statistics[place] = PairStatistics(
                matrix.measure,
                matrix.systems[a],
                matrix.systems[b],
                estimates[place],
                float(p[place]),
                len(matrix),
                len(units),
                matrix.left_out,
                mean[a],
                mean[b],
                won,
                tied,
                lost,
                matrix.direction,
                t,
                margins(guarded[place], margin),
                guarded[place],
                _es_hsd(matrix, estimates[place].value),
                several,
                pairs[place].segment,
            )
    return [statistics[place] for place in range(len(pairs))]


#: statistics that are columns of the result
_COLUMNS: Final = (
    "measure",
    "system",
    "versus",
    "n",
    "units",
    "left_out",
    "mean",
    "mean_versus",
    "wins",
    "ties",
    "losses",
    "p",
    "p_t",
    "es_hsd",
)


def result_rows(
    pairs: Sequence[PairStatistics],
    settings: ComparisonSettings,
    ends: Sequence[tuple[float, float]],
    levels: Sequence[float],
    p_adjusted: Floats,
    family: Family,
) -> list[dict[str, Any]]:
    """Return the rows of the comparison's table.

    Parameters
    ----------
    found, settings, family
        Of the pairs, of the comparison, and of the family that the pairs belong to.
    ends
        Both ends of each interval.
    levels
        1 less each interval's confidence.
    p_adjusted
        float64 ``[pairs]``, the corrected p.
    """
    decided = _decided(pairs, settings, ends, p_adjusted, family)
    plans = _planned(pairs, settings, decided.verdicts, levels)
    primary = family.name in ("primary", "segments")
    level = family.alpha if math.isnan(family.level) else family.level
    rows = []
    for number, pair in enumerate(pairs):
        estimate = pair.estimate
        low, high = decided.ends[number]
        low_guarded = None
        high_guarded = None
        if settings.margin is not None:
            low_guarded, high_guarded = decided.losses[number]
        low_alone, high_alone = estimate.interval(settings.confidence)
        worse = 1 if pair.direction == "lower" else 0
        row = {name: getattr(pair, name) for name in _COLUMNS}
        row |= {
            "role": "primary" if primary else "exploratory",
            "difference": estimate.value,
            "low": low,
            "high": high,
            "low_guarded": low_guarded,
            "high_guarded": high_guarded,
            "interval_kind": family.interval_kind,
            "confidence": 1 - level,
            "low_alone": low_alone,
            "high_alone": high_alone,
            "error": estimate.error,
            "spread": estimate.spread,
            "p_adjusted": p_adjusted[number],
            "family": family.size,
            **_effects(pair),
            "p_not_worse": pair.margins and pair.margins[worse],
            "p_equivalent": pair.margins and max(pair.margins),
            "verdict": decided.verdicts[number],
            **plans[number],
        }
        rows.append(row)
    return rows


def _effects(pair: PairStatistics) -> dict[str, float | None]:
    """Return the effect sizes of a pair, where its error is known."""
    deviation = pair.estimate.error * math.sqrt(pair.units)
    if math.isnan(deviation):
        return {"d_z": None, "g": None}
    effect = d_z(pair.estimate.value, deviation)
    if effect is None:
        g = None
    else:
        g = effect * hedges(pair.units)
    return {"d_z": effect, "g": g}


class _Decided(Record):
    """What is said of each pair, and the limits that it agrees with: of the difference, and of losses."""

    verdicts: list[str]
    ends: Sequence[tuple[float, float]]
    losses: Sequence[tuple[float, float]]


def _decided(
    pairs: Sequence[PairStatistics],
    settings: ComparisonSettings,
    ends: Sequence[tuple[float, float]],
    p_adjusted: Floats,
    family: Family,
) -> _Decided:
    """Decide by the interval, or, where it is that of the test, by p."""
    losses = ends
    rejected: list[bool | None] = [None] * len(pairs)
    if settings.interval == "test":
        rejected = [bool(p <= settings.alpha) for p in p_adjusted]
        ends = [
            agreeing(end, pair.estimate.value, rejected=bool(differs))
            for end, pair, differs in zip(ends, pairs, rejected, strict=True)
        ]
        losses = ends
    if settings.interval == "test" and settings.margin is not None:
        # what is promised about losses does not assume that other queries are like these
        level = family.level
        if math.isnan(level):
            level = settings.alpha / family.size
        losses = [pair.guarded.interval(1 - level) for pair in pairs]
    verdicts = [
        _verdict(pair, end, loss, settings.margin, rejected=differs)
        for pair, end, loss, differs in zip(pairs, ends, losses, rejected, strict=True)
    ]
    return _Decided(verdicts, ends, losses)


def _planned(
    pairs: Sequence[PairStatistics],
    settings: ComparisonSettings,
    verdicts: Sequence[str],
    levels: Sequence[float],
) -> list[dict[str, Any]]:
    """Return for each pair what its queries detect, and how many would decide where these do not."""
    units = np.array([pair.units for pair in pairs], np.int64)
    pilots = _pilots(pairs, settings, units)
    level = np.array(levels, np.float64)
    power = settings.power
    known = (pilots.deviation > 0) & (level > 0) & (level < power)
    least = np.full(len(pairs), np.nan)
    least[known] = pilots.of_pairs(known).detectable(units[known], level[known], power)

    distance = np.abs([pair.estimate.value for pair in pairs])
    if settings.margin is not None:
        inside = distance < settings.margin
        distance = np.where(inside, settings.margin - distance, distance)
    open_ = np.flatnonzero(known & (np.array(verdicts) == "inconclusive"))
    open_pilots = pilots.of_pairs(open_)
    differing = np.rint(open_pilots.share * units[open_]).astype(np.int64)
    cautious = np.array([upper_deviation(count - 1) for count in differing.tolist()])
    plans: list[dict[str, Any]] = [
        {
            "detectable": float(least[number]) if known[number] else None,
            "needed": None,
            "needed_cautious": None,
        }
        for number in range(len(pairs))
    ]
    for name, widen in (("needed", 1.0), ("needed_cautious", cautious)):
        counts = open_pilots.needed(distance[open_], level[open_], power, widen)
        for number, count in zip(open_.tolist(), counts, strict=True):
            plans[number][name] = _queries(count, pairs[number])
    return plans


def _pilots(
    pairs: Sequence[PairStatistics], settings: ComparisonSettings, units: Ints
) -> Pilots:
    """Return what pairs say about queries to come, for the test whose verdict is planned for."""
    queries = np.array([pair.n for pair in pairs])
    differing = np.array([pair.n - pair.ties for pair in pairs])
    # whether clusters differ is not counted
    share = np.where(units == queries, differing / np.maximum(queries, 1), 1.0)
    deviation = np.sqrt(units) * [pair.estimate.spread for pair in pairs]
    # more queries would not show how runs of one system vary
    deviation[[pair.replicated for pair in pairs]] = np.nan
    return Pilots.from_differences(
        np.array([pair.estimate.value for pair in pairs]),
        deviation,
        units,
        share,
        flips=settings.interval == "test" and settings.test != "t",
    )


def _verdict(
    pair: PairStatistics,
    ends: tuple[float, float],
    losses: tuple[float, float],
    margin: float | None,
    *,
    rejected: bool | None,
) -> str:
    """Return the verdict: of a test where it is known if it rejects 0, otherwise of the interval."""
    if margin is not None and -margin < losses[0] and losses[1] < margin:
        return "equivalent"
    if rejected:  # a limit may be 0
        ends = (1.0, 1.0) if ends[0] >= 0 else (-1.0, -1.0)
    if rejected is False:
        word = "inconclusive"
    else:
        word = verdict(ends, pair.direction, None)
    same = pair.ties == pair.n and not pair.replicated
    return "identical" if word == "inconclusive" and same else word


def disagrees(row: Mapping[str, Any], settings: ComparisonSettings) -> bool:
    """Return True if the test and the interval of a row, which decides, say different things."""
    if settings.interval == "test":
        return False
    includes_0 = row["low"] is None or row["low"] <= 0 <= row["high"]
    return bool((row["p_adjusted"] <= settings.alpha) == includes_0)


def fewest_differing(
    row: Mapping[str, Any], settings: ComparisonSettings
) -> int | None:
    """Return how many queries have to differ for the test to reject, where too few do; otherwise ``None``.

    Of m differences two of 2^m ways are as extreme as all in one direction.
    """
    least = int(least_signs(settings.alpha))
    differing = row["wins"] + row["losses"]
    open_ = settings.test != "t" and row["verdict"] == "inconclusive"
    return least if open_ and 0 < differing < least else None


def turned(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is shown of a row of differences for the same pair the other way round."""
    low = row["low"]
    high = row["high"]
    return {
        **row,
        "system": row["versus"],
        "versus": row["system"],
        "difference": -row["difference"],
        "low": None if high is None else -high,
        "high": None if low is None else -low,
        "wins": row["losses"],
        "losses": row["wins"],
        "verdict": TURNED.get(row["verdict"], row["verdict"]),
    }


def margins(estimate: Estimate, margin: float | None) -> tuple[float, float] | None:
    """Return the p-values of two one-sided tests of a margin, by the method of the interval; or ``None``.

    The interval at ``1 - 2·alpha`` lies above ``-margin`` where the first is at most alpha, and below
    ``margin`` where the second is.
    """
    if margin is None:
        return None
    return (estimate.p_above(-margin), estimate.p_below(margin))


def _queries(units: int | None, pair: PairStatistics) -> int | None:
    """Return how many queries so many units hold."""
    return units and math.ceil(units * (pair.n / max(pair.units, 1)))


def _es_hsd(matrix: Matrix, difference: float) -> float | None:
    """Return the difference over the residual standard deviation (Sakai 2018)."""
    error = 0.0 if matrix.anova is None else matrix.anova.error
    if error > 0:
        return difference / math.sqrt(error)
    return None


#: the cutoff of Judged@k where no measure has one
_CUTOFF: Final = 10
#: smaller differences of shares of judged documents do not matter, however many queries there are
_NEAR: Final = 0.01
#: fewer queries have no variance
_FEW: Final = 2


def with_judged(ready: Prepared, measures: Sequence[Measure]) -> Prepared:
    """Return the same with Judged@k added, at the cutoff of the first measure that has one."""
    k = next((measure.k for measure in measures if measure.k is not None), _CUTOFF)
    try:
        return ready.for_measures([*measures, Judged(k=k)])
    except (
        BadOption,
        BadParameter,
    ):  # it has no meaning under some options, and for judgments of spans
        return ready


def only_relevant_judged(ready: Prepared, measures: Sequence[Measure]) -> bool:
    """Return True if every judged document is relevant to every measure, so that Judged@k equals P@k."""
    grades = ready.judgments().grade
    marks = {
        ANY_GAIN,
        *(getattr(measure, "rel", None) or ANY_GAIN for measure in measures),
    }
    return bool(len(grades)) and all(bool(mark(grades).all()) for mark in marks)


def judged_share_counts(
    pairs: Sequence[tuple[str, str]], shares: Mapping[str, float]
) -> list[tuple[str, float, int, int]]:
    """Return a row per system: its share of judged documents, and how many systems have less and more.

    >>> judged_share_counts([("a", "b"), ("a", "c")], {"a": 0.5, "b": 0.7, "c": 0.2})
    [('b', 0.7, 1, 0), ('a', 0.5, 1, 1), ('c', 0.2, 0, 1)]
    """
    won = Counter(max(pair, key=shares.__getitem__) for pair in pairs)
    lost = Counter(min(pair, key=shares.__getitem__) for pair in pairs)
    systems = sorted({*won, *lost}, key=lambda system: (-shares[system], system))
    rows = []
    for system in systems:
        row = system, shares[system], won[system], lost[system]
        rows.append(row)
    return rows


def judged_scores(
    scores: Scores | pl.DataFrame,
) -> tuple[str, dict[str, pl.DataFrame]] | None:
    """Return the name of Judged@k and its values for each run; ``None`` where it was not computed."""
    frame = scores.per_query if isinstance(scores, Scores) else scores
    names = [
        name
        for name in frame["measure"].unique(maintain_order=True)
        if name.startswith("Judged@")
    ]
    if not names:
        return None

    rows = frame.filter(measure=names[-1]).select("run", "query_id", "value")
    rows = rows.drop_nulls()
    parts = rows.partition_by(
        "run", as_dict=True, include_key=False, maintain_order=True
    )
    return names[-1], {str(key[0]): part for key, part in parts.items()}


def judged_shares_differ(
    judged: Mapping[str, pl.DataFrame], pairs: Sequence[tuple[str, str]]
) -> list[bool]:
    """Return for pairs of runs if their shares of judged documents differ: surely (95 %), by more than 0.01.

    >>> import polars as pl
    >>> many = pl.DataFrame({"query_id": ["a", "b", "c", "d"], "value": [1.0, 1.0, 0.9, 1.0]})
    >>> judged_shares_differ({"x": many, "y": many.with_columns(value=pl.col("value") / 2)}, [("x", "y")])
    [True]
    """
    known = list(dict.fromkeys(run for pair in pairs for run in pair if run in judged))
    queries = dict.fromkeys(query for run in known for query in judged[run]["query_id"])
    column = {query: number for number, query in enumerate(queries)}
    # the last row is of runs that are not known
    values = np.full((len(known) + 1, len(queries)), np.nan)
    row_of = {}
    for row, run in enumerate(known):
        row_of[run] = row
        columns = [column[query] for query in judged[run]["query_id"]]
        values[row, columns] = judged[run]["value"].to_numpy()
    of_pairs = []
    for pair in pairs:
        places = [row_of.get(run, -1) for run in pair]
        of_pairs.append(places)
    first, second = np.array(of_pairs, np.int64).reshape(-1, 2).T

    both = ~np.isnan(values)
    differ = np.zeros(len(pairs), np.bool_)
    shared: dict[bytes, list[int]] = {}
    for place, (a, b) in enumerate(zip(first, second, strict=True)):
        mask = (both[a] & both[b]).tobytes()
        shared.setdefault(mask, []).append(place)

    for mask, places in shared.items():
        rows = np.frombuffer(mask, np.bool_)
        if rows.sum() >= _FEW:
            scores = Units.from_scores(values[:, rows].T)
            units = scores.difference(first[places], second[places])
            for place, estimate in zip(places, estimates(units), strict=True):
                low, high = estimate.interval()
                excluded = low > 0 or high < 0
                differ[place] = excluded and abs(estimate.value) > _NEAR
    return differ.tolist()
