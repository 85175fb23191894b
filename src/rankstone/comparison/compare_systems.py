"""The conductor of comparisons: evaluate, bring queries together, ask every pair, say who is better.

What can be chosen about a comparison, with the defaults.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, ValuesView
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

import polars as pl

from rankstone.comparison.comparison_result import Sources
from rankstone.comparison.pairwise_tests import asked
from rankstone.comparison.score_sources import Source
from rankstone.comparison.test_families import ALL_PAIRS
from rankstone.comparison.verdict import relevant_alone, with_judged
from rankstone.conventions.evaluation_by_convention import evaluate_by
from rankstone.diagnostics.score_bounds import bounds as bounded
from rankstone.errors import BadOption, BadRuns, UsageError, blaming, nearest, printable
from rankstone.evaluation.prepared import Given, Prepared
from rankstone.evaluation.request import EvaluationKeywords, name_runs, of_rankings, split_runs
from rankstone.evaluation.scores import Scores
from rankstone.io.attributes import read_attributes
from rankstone.io.columns import with_csv
from rankstone.io.sources import display_name
from rankstone.stats.mean_intervals import METHODS
from rankstone.stats.multiple_testing import CORRECTIONS
from rankstone.stats.paired_tests import PAIRED
from rankstone.stats.random_streams import check_count
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.evaluation.request import MeasuresLike, QrelsLike, RunsLike
    from rankstone.io.input_table import Progress
    from rankstone.measures.core.measure import Measure


__all__ = ["FAMILIES", "TESTS", "ComparisonKeywords", "How", "SettingsKeywords", "compare", "compare_scores"]

#: tests of one pair
TESTS: Final = ("randomisation", *PAIRED)
#: corrections, and procedures that look at all pairs at once
FAMILIES: Final = (*ALL_PAIRS, *CORRECTIONS)
_MOST: Final = 10_000_000
#: numbers drawn at most, unless a count is asked for
_WORK: Final = 10**9
_RESAMPLED: Final = 10**8


class SettingsKeywords(TypedDict, total=False):
    """The fields of :class:`How` as keyword arguments."""

    test: str
    interval: str
    correction: str | None
    confidence: float
    margin: float | None
    power: float
    permutations: int | None
    resamples: int | None
    seed: int


class ComparisonKeywords(SettingsKeywords, EvaluationKeywords, total=False):
    """How systems are compared, and what evaluation takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How systems are compared.

    Parameters
    ----------
    test
        Of one pair: ``randomisation`` (signs of differences flipped; exact up to 20 queries that differ),
        ``t``, ``wilcoxon``, ``sign`` or ``mcnemar`` (for measures that are 0 or 1).
    interval
        ``auto``: limits that hold for few queries, for measures of 0 and 1 and where few queries differ (see
        ``automatic_intervals``); ``worst_case``: those that hold whatever was not seen; ``t``,
        ``bca``, ``percentile``, ``studentised`` or ``poisson``.
    correction
        Of a family: ``holm``, ``bonferroni``, ``holm_sidak``, ``sidak``, ``hochberg``, ``hommel``, ``bh``,
        ``by``, ``none``; for all pairs ``robust_tukey`` (randomised Tukey and the largest t by sign flips,
        where both claim), ``tukey`` (randomised), ``max_t`` (bootstrap), ``hsd`` (Tukey's, by
        the studentised range) or ``nemenyi`` (of mean ranks).  ``None``: ``robust_tukey`` for all pairs of
        more than two systems, ``holm`` otherwise.
    confidence
        Of a family as a whole; 1 less alpha.
    margin
        A difference that does not matter; with it systems can be equivalent.
    power
        With which chance detectable differences and numbers of queries are counted.
    permutations, resamples
        How many are drawn; ``None``: 100,000 and 10,000, fewer where there are very many queries.
    seed
        Makes every p and interval reproducible, bit by bit, on any number of threads.
    """

    test: str = "randomisation"
    interval: str = "auto"
    correction: str | None = None
    confidence: float = 0.95
    margin: float | None = None
    power: float = 0.8
    permutations: int | None = None
    resamples: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no test, interval, correction, chance, margin or count."""
        _known("test", self.test, TESTS)
        _known("interval", self.interval, tuple(METHODS))
        if self.correction is not None:
            _known("correction", self.correction, FAMILIES)
        for name in ("confidence", "power"):
            value, least = getattr(self, name), self.alpha if name == "power" else 0.0
            if not (_is_number(value) and least < value < 1):
                raise BadOption(f"{name}={value!r} is out of range", expected=f"{least:g} < {name} < 1")
        if self.margin is not None and not (_is_number(self.margin) and 0 < self.margin < float("inf")):
            raise BadOption(
                f"margin={self.margin!r} is no margin", expected="a difference above 0 that does not matter"
            )
        for name in ("permutations", "resamples"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), 1, _MOST)
        check_count("seed", self.seed, 0, 2**63 - 1)

    @property
    def alpha(self) -> float:
        """The chance of a false claim in a family."""
        return round(1 - self.confidence, 12)

    def shuffles(self, numbers: int) -> int:
        """Return how many permutations of so many numbers are drawn."""
        if self.permutations is not None:
            return self.permutations
        return min(100_000, max(1_000, _WORK // max(numbers, 1)))

    def draws(self, units: int) -> int:
        """Return how many resamples of so many units are drawn."""
        return self.resamples or min(10_000, max(1_000, _RESAMPLED // max(units, 1)))

    def as_dict(self) -> dict[str, Any]:
        """Return every choice and its value."""
        return asdict(self)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _known(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        close = nearest(str(value), known, n=1)
        raise BadOption(
            f"{name}={printable(repr(value))} is not known",
            expected=", ".join(known),
            fix=f"did you mean {close[0]!r}?" if close else None,
        )


def compare(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike,
    *,
    baseline: str | None = None,
    primary: str | Measure | Sequence[str | Measure] | None = None,
    by: str | Sequence[str] = (),
    cluster: str | None = None,
    bounds: bool = False,
    run_column: str | None = None,
    convention: str | None = None,
    lang: str = "en",
    keep_runs: bool = False,
    on_bad_run: str = "stop",
    progress: Progress | None = None,
    drawing: Progress | None = None,
    **options: Unpack[ComparisonKeywords],
) -> Comparison:
    """Say which of several runs is better, and how sure that is.

    Runs are compared query by query.  Two runs: one question a measure.  With a ``baseline`` every other
    run is held against it; without, every pair is looked at.  What is asked of the primary measures is one
    family, whose chance of a false claim is ``1 - confidence``; every other measure is labelled exploratory
    and is a family of its own.

    Parameters
    ----------
    qrels, measures, run_column, convention, on_bad_run, progress
        As for :func:`rankstone.evaluate`.
    runs
        As for :func:`rankstone.evaluate`.  Runs called ``system/replicate`` are runs of one system (seeds,
        folds): its scores are their mean, and what varies between them is part of the uncertainty.
    baseline
        The run that the others are held against; of two runs the first unless given.
    primary
        The measures the verdict is about; the first one unless given.
    by
        Columns of ``queries``: the same questions for each of their values, a family of their own.
    cluster
        A column of ``queries``, the user or session of each: what is drawn, flipped and counted as
        independent is clusters.
    bounds
        Whether to say, too, how far the unjudged documents could move each difference (of primary measures).
    lang
        Of sentences and headings: ``en`` or ``zh``.
    keep_runs
        Whether runs stay in memory once they are read, for reports and curves, which look at lists again.
    drawing
        Called with 1 for every block of permutations or resamples that is done.
    **options
        How systems are compared (see ``How``): ``test``, ``interval``,
        ``correction``, ``confidence``, ``margin``, ``power``, ``permutations``, ``resamples``, ``seed``;
        and ``queries``, ``columns`` and all else that :func:`rankstone.evaluate` takes.

    Returns
    -------
    Comparison
        A row a pair and measure, the scores they come from, and how they were found.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`; for fewer than two systems; for measures whose queries do not
        become one number by a mean.

    Examples
    --------
    >>> from rankstone import demo
    >>> found = compare(demo.QRELS, demo.RUNS, "nDCG@10 AP", baseline="tfidf")
    >>> found.table.select("measure", "system", "versus", "verdict").row(0)
    ('nDCG@10', 'bm25', 'tfidf', 'inconclusive')
    """
    check_language(lang)
    how, aligned = _split(options)
    queries = aligned.pop("queries", None)
    columns = with_csv(*(aligned.pop(name, None) for name in ("columns", "csv_separator", "decimal")))
    named = name_runs(runs)
    if run_column is not None:
        read = {"format_in": aligned.get("format_in"), "order": aligned.get("order", "score")}
        named = split_runs(named, run_column, columns, **read)
    if len(named) < 2:  # noqa: PLR2004 - two make a pair
        raise UsageError(
            "a comparison needs two runs or more",
            given=", ".join(map(printable, named)),
            fix="name another run",
        )
    given: dict[str, Any] = {"queries": queries, "columns": columns, **aligned}
    sources = Sources(qrels, named, given, convention)
    if keep_runs:
        sources = sources.remembering()
        named = dict(sources.runs)
    alone = False
    if convention is not None:
        read = {"on_bad_run": on_bad_run, "progress": progress}
        scores = evaluate_by(convention, Given(qrels, named), measures, **read, **given)
    else:
        wanted = of_rankings(measures)
        ready = with_judged(Prepared(qrels, wanted, **given), wanted)
        scores = Scores(*ready.score_runs(named, progress=progress, on_bad_run=on_bad_run))
        alone = relevant_alone(ready, wanted)
    _refuse_without(scores, baseline, len(named))
    named = {name: named[name] for name in scores.runs}
    sources = replace(sources, runs=named)
    kept = [m for m in scores.measures if convention is not None or m in wanted]
    about = _about(queries, columns, by, cluster)
    conventions = {**scores.conventions, "measures": [str(measure) for measure in kept]}
    source = replace(Source.of(scores, kept), conventions=conventions, relevant_alone=alone)
    found = asked(source, baseline, primary, _columns(by), cluster, about, how, drawing)
    found = replace(found, lang=lang, sources=sources)
    if bounds:
        found = found.with_bounds(_bounds(found, qrels, named, convention, columns, aligned))
    return found


def compare_scores(
    scores: object,
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    baseline: str | None = None,
    primary: str | Measure | Sequence[str | Measure] | None = None,
    by: str | Sequence[str] = (),
    cluster: str | None = None,
    queries: object = None,
    columns: Mapping[str, str] | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    lang: str = "en",
    drawing: Progress | None = None,
    **options: Unpack[SettingsKeywords],
) -> Comparison:
    """Compare systems whose scores per query are known already.

    Parameters
    ----------
    scores
        What :func:`rankstone.evaluate` returned; its table of scores per query as a file or frame
        (``query_id``, ``measure``, ``value``, and ``run`` for several systems); what ``trec_eval -q``
        printed; ``{system: any of these}`` or a list of files; ``{system: {query: {measure: value}}}``, as
        pytrec_eval returns.
    measures
        Which of them; all that say what is better, unless given.
    baseline, primary, by, cluster, queries, columns, csv_separator, decimal, lang, drawing, **options
        As for :func:`compare`.

    Examples
    --------
    >>> old = {f"q{at}": {"map": 0.3 + at / 100} for at in range(30)}
    >>> new = {f"q{at}": {"map": 0.35 + at / 80} for at in range(30)}
    >>> found = compare_scores({"old": old, "new": new})
    >>> found.table.select("system", "verdict", "wins").row(0)
    ('new', 'better', 30)
    """
    check_language(lang)
    how, unknown = _split(options)
    columns = with_csv(columns, csv_separator, decimal)
    if unknown:
        name = next(iter(unknown))
        raise BadOption(
            f"{printable(name)} is no option of a comparison of scores",
            expected=", ".join(field.name for field in fields(How)),
        )
    if isinstance(scores, Scores):
        wanted = scores.measures if measures is None else of_rankings(measures)
        source = Source.of(scores, [m for m in scores.measures if m in wanted])
    else:
        with blaming(_files(scores)):
            source = Source.saved(scores, measures, columns)
    about = _about(queries, columns, by, cluster)
    with blaming(_files(scores)):
        found = asked(source, baseline, primary, _columns(by), cluster, about, how, drawing)
    return replace(found, lang=lang)


def _split(options: Mapping[str, Any]) -> tuple[How, dict[str, Any]]:
    """Tell what is chosen about the comparison from options of alignment."""
    own = {field.name for field in fields(How)}
    how = How(**{name: value for name, value in options.items() if name in own})
    return how, {name: value for name, value in options.items() if name not in own}


def _refuse_without(scores: Scores, baseline: str | None, total: int) -> None:
    """Refuse a comparison whose baseline is bad, or all its runs but one."""
    bad = scores.audit.bad_runs
    if baseline in bad:
        raise bad[baseline]
    if bad and len(scores.runs) < 2:  # noqa: PLR2004 - two make a pair
        raise BadRuns(bad, total, "a comparison needs two runs or more")


def _files(scores: object) -> str | None:
    """Return the names of the files that scores are read from."""
    several = scores.values() if isinstance(scores, Mapping) else scores
    paths = several if isinstance(several, (list, tuple, ValuesView)) else (several,)
    return ", ".join(display_name(one) for one in paths if isinstance(one, (str, os.PathLike))) or None


def _columns(by: str | Sequence[str]) -> tuple[str, ...]:
    names = (by,) if isinstance(by, str) else by
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise BadOption(f"by={by!r} is no name", expected="the name of a column, or several")
    return tuple(dict.fromkeys(names))


def _about(
    queries: object, columns: Mapping[str, str] | None, by: str | Sequence[str], cluster: str | None
) -> pl.DataFrame | None:
    """Return the columns of the query table that queries are grouped or clustered by."""
    wanted = [*_columns(by), *([] if cluster is None else [cluster])]
    if not wanted:
        return None
    if queries is None:
        raise BadOption(
            f"{' and '.join(map(printable, wanted))} need a table of queries",
            fix="queries={query: {column: value}} or a file, --queries FILE",
        )
    return read_attributes(queries, "query_id", columns).collect(*dict.fromkeys(wanted))


def _bounds(
    found: Comparison,
    qrels: QrelsLike,
    runs: Mapping[str, object],
    convention: str | None,
    columns: Mapping[str, str] | None,
    aligned: Mapping[str, Any],
) -> pl.DataFrame:
    """Return how far unjudged documents could move the differences of primary measures."""
    if convention is not None or any(len(several) > 1 for several in found.replicates.values()):
        raise BadOption("bounds=True is for our own measures of single runs", fix="leave bounds out")
    rows = []
    pairs = found.table.filter(role="primary").select("system", "versus").unique(maintain_order=True)
    for pair in pairs.iter_rows():
        some = {name: runs[name] for name in pair}
        mean = bounded(qrels, some, list(found.primary), difference=pair, columns=columns, **aligned).mean()
        mean = mean.filter(run=" - ".join(pair))
        rows += [
            (measure, *pair, low, high) for measure, low, high in mean.select("measure", "low", "high").rows()
        ]
    schema = {"measure": pl.String, "system": pl.String, "versus": pl.String}
    return pl.DataFrame(rows, {**schema, "lowest": pl.Float64, "highest": pl.Float64}, orient="row")
