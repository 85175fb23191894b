"""The conductor of comparisons: evaluate, bring queries together, ask every pair, say who is better."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, ValuesView
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.asked import of_rankings
from rankstone.bounding import bounds as bounded
from rankstone.comparing.asking import asked
from rankstone.comparing.how import How
from rankstone.comparing.judged import relevant_alone, with_judged
from rankstone.comparing.result import Sources
from rankstone.comparing.source import Source
from rankstone.comparing.words import Words
from rankstone.errors import BadOption, BadRuns, UsageError, blaming, printable
from rankstone.evaluation import Evaluator, evaluate, name_runs, split_runs
from rankstone.io import read_attributes, shown, with_csv
from rankstone.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.comparing.result import Comparison
    from rankstone.measures import Measure

    Progress = Callable[[int], None]

__all__ = ["compare", "compare_scores"]


def compare(
    qrels: object,
    runs: object,
    measures: str | Measure | Sequence[str | Measure],
    *,
    baseline: str | None = None,
    primary: str | Measure | Sequence[str | Measure] | None = None,
    by: str | Sequence[str] = (),
    cluster: str | None = None,
    queries: object = None,
    bounds: bool = False,
    columns: Mapping[str, str] | None = None,
    run_column: str | None = None,
    convention: str | None = None,
    lang: str = "en",
    keep_runs: bool = False,
    csv_separator: str | None = None,
    decimal: str | None = None,
    on_bad_run: str = "stop",
    progress: Progress | None = None,
    drawing: Progress | None = None,
    **options: Any,  # noqa: ANN401 - checked by How and Alignment
) -> Comparison:
    """Say which of several runs is better, and how sure that is.

    Runs are compared query by query.  Two runs: one question a measure.  With a ``baseline`` every other
    run is held against it; without, every pair is looked at.  What is asked of the primary measures is one
    family, whose chance of a false claim is ``1 - confidence``; every other measure is labelled exploratory
    and is a family of its own.

    Parameters
    ----------
    qrels, measures, queries, columns, run_column, convention
        As for :func:`rankstone.evaluate`.
    on_bad_run, csv_separator, decimal, progress
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
        How systems are compared (see :class:`~rankstone.comparing.how.How`): ``test``, ``interval``,
        ``correction``, ``confidence``, ``margin``, ``power``, ``permutations``, ``resamples``, ``seed``;
        and the options of alignment.

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
    Words(lang)
    how, aligned = _split(options)
    columns = with_csv(columns, csv_separator, decimal)
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
        scores = evaluate(qrels, named, measures, convention=convention, **read, **given)
    else:
        wanted = of_rankings(measures)
        ready = with_judged(Evaluator(qrels, wanted, **given), wanted)
        scores = ready.runs(named, progress=progress, on_bad_run=on_bad_run)
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
    **options: Any,  # noqa: ANN401 - checked by How
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
    Words(lang)
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
    return ", ".join(shown(one) for one in paths if isinstance(one, (str, os.PathLike))) or None


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
    qrels: object,
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
        mean = bounded(qrels, some, list(found.primary), difference=pair, columns=columns, **aligned).mean
        mean = mean.filter(run=" - ".join(pair))
        rows += [
            (measure, *pair, low, high) for measure, low, high in mean.select("measure", "low", "high").rows()
        ]
    schema = {"measure": pl.String, "system": pl.String, "versus": pl.String}
    return pl.DataFrame(rows, {**schema, "lowest": pl.Float64, "highest": pl.Float64}, orient="row")
