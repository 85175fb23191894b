"""Release gates: compare a candidate with a baseline and check rules and guards.

Margins that cannot pass with the number of queries are refused before anything is scored; outcomes can be
written as JUnit XML for continuous integration.
"""

from __future__ import annotations

import math
import os
import re
from ast import literal_eval
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone._basics import counted, is_path
from rankstone.comparison.compare_systems import compare, compare_scores
from rankstone.comparison.gate_config import Config, with_overrides
from rankstone.comparison.gate_result import Gate
from rankstone.comparison.gate_rules import Candidate
from rankstone.comparison.gate_rules.guard_checks import guard_checks
from rankstone.errors import MissingColumn, UsageError, blaming
from rankstone.evaluation.pipeline import judgment_counts
from rankstone.evaluation.prepared import Prepared
from rankstone.hits.alignment_options import ORDERINGS
from rankstone.io.columns import Renames
from rankstone.io.file_formats import stem
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_measure
from rankstone.rankings.rank_similarity.list_ordering import OPTIONS
from rankstone.rankings.rank_similarity.run_similarity import identical
from rankstone.stats.automatic_intervals import difference_estimate
from rankstone.stats.bounded_means import unseen_share
from rankstone.stats.sampling_units import Units
from rankstone.tables.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankstone._basics import Progress, StrPath
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.gate_rules import Check


@dataclass(frozen=True, slots=True)
class Margin:
    """Whether a margin can pass with a number of queries.

    Attributes
    ----------
    measure
        The measure.
    margin
        The allowed loss.
    queries
        The number of queries.
    few
        The smallest margin that an unchanged candidate passes if few queries change.
    many
        The same if every query changes a little; equal to ``few`` for measures of 0 and 1.
    enough
        How many queries the margin needs if few of them change; ``None`` if no number is enough.
    """

    measure: str
    margin: float
    queries: int
    few: float
    many: float
    enough: int | None

    def refuse(self) -> None:
        """Refuse a margin that an unchanged candidate cannot pass; 0 requires an improvement."""
        if not 0 < self.margin < self.many:
            return
        use = ""
        if self.enough is not None:
            use = f"use ≥ {counted(self.enough, 'query')}, or "
        raise UsageError(
            f"{self.measure}: margin = {self.margin:g} cannot pass at n = {self.queries:,}",
            expected=f"{_up(self.many)} or more, or an unchanged candidate cannot pass",
            fix=f"{use}margin = {_up(self.many)}",
        )

    def text(self, lang: str = "en") -> str:
        """Return a sentence about the margin."""
        say = partial(phrase, "gate", lang=lang)
        names = ["planned_margin", "can_pass_if_many_change"]
        if not self.margin:
            names[1] = "can_pass_if_better"
        elif self.margin < self.many:
            names[1] = "cannot_pass"
        elif self.margin >= self.few:
            names[1] = "can_pass"
        if 0 < self.margin < self.few and self.enough is not None:
            names.append("planned_enough")
        # what must be reached is rounded up, what does not pass is rounded down
        rounded = {
            "few": _up(self.few),
            "many": _up(self.many),
            "below": _rounded(self.few, math.floor),
        }
        return "".join(say(name, **{**asdict(self), **rounded}) for name in names)


def _up(margin: float) -> str:
    """Return a margin rounded up to two digits."""
    return _rounded(margin, math.ceil)


def _rounded(margin: float, towards: Callable[[float], int]) -> str:
    """Return a margin rounded up or down to two digits."""
    unit = 10 ** (math.floor(math.log10(margin)) - 1)
    return f"{towards(margin / unit) * unit:.6g}"


def margin_plan(
    measure: Measure, margin: float, n: int, alpha: float, method: str = "auto"
) -> Margin | None:
    """Return whether a margin can pass with n queries; ``None`` without a range or for other intervals.

    Parameters
    ----------
    measure
        The measure.
    margin
        The allowed loss.
    n
        The number of queries that are scored.
    alpha
        One-sided level of the interval.
    method
        Method of the interval.
    """
    low, high = measure.span
    if low is None or high is None or method not in ("auto", "worst_case"):
        return None

    most = high - low
    few = most * unseen_share(n, alpha)
    enough = None
    if 0 < margin < most:
        enough = math.ceil(math.log(alpha) / math.log1p(-margin / most))

    many = few
    if method == "auto" and not _binary(measure):
        # differences that hardly vary, around 0
        little = np.where(np.arange(n) % 2, 1e-9, -1e-9)[:, None]
        estimate = difference_estimate(Units.from_scores(little), (low, high))
        lower, _ = estimate.limits(alpha)
        many = min(few, -lower)
    return Margin(measure.label, margin, n, few, many, enough)


def _binary(measure: Measure) -> bool:
    """Return True if every score is 0 or 1."""
    if measure.name == "Forbidden":
        return measure.span == (0.0, 1.0)
    if measure.name in ("P", "RR"):
        return measure.k == 1
    return measure.name in ("Success", "FullRecall")


def gate(
    config: StrPath | Mapping[str, Any] | Config,
    *,
    candidate: object = None,
    baseline: object = None,
    qrels: object = None,
    inconclusive: str | None = None,
    queries: object = None,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    options: Mapping[str, Any] | None = None,
    lang: str = "en",
    progress: Progress | None = None,
    drawing: Progress | None = None,
) -> Gate:
    """Decide whether a candidate may replace the baseline, by rules on confidence intervals.

    A rule with a ``margin`` passes when the whole interval of the difference lies above ``-margin``, fails
    when all of it lies below, and is inconclusive otherwise; a candidate that returns the same lists passes.
    All such rules are one family; their intervals hold at once (Bonferroni, unless ``statistics`` says
    otherwise).  Guards come first: if one fails, the two are not comparable.

    Parameters
    ----------
    config
        ``rankstone.toml``, a ``pyproject.toml`` with ``[tool.rankstone.gate]``, a dict like the table
        ``[gate]``, or a :class:`Config`.
    candidate, baseline, qrels, inconclusive, queries, by, cluster
        Override the configuration; a list of runs are repeated runs (seeds) of one system.
    options
        Options as in ``[gate.options]``, which override those: ``{"columns": {"user": "query_id"}}``.
    lang
        ``en`` or ``zh``, of all sentences.
    progress, drawing
        As for :func:`rankstone.compare`.

    Returns
    -------
    Gate
        Outcomes, verdict, exit code; as text, Markdown, JSON, JUnit XML.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.compare`; for a configuration that is not valid; for a margin that an
        unchanged candidate cannot pass with so few queries.
    """
    overrides = {
        "candidate": candidate,
        "baseline": baseline,
        "qrels": qrels,
        "inconclusive": inconclusive,
        "queries": queries,
        "by": by,
        "cluster": cluster,
        "options": options,
    }
    read = _read(config, overrides)
    with (
        blaming(_file(config)),
        _blaming_renames(read, in_file=is_path(config)) as read,
    ):
        for margin in _margins(read):
            margin.refuse()
        comparison = _comparison(read, lang, progress, drawing)
        _require_present(read)
    checks = (*guard_checks(read.guards, comparison), *_rule_checks(read, comparison))
    return Gate(checks, comparison, inconclusive=read.inconclusive)


def _rule_checks(config: Config, comparison: Comparison) -> Iterator[Check]:
    """Yield what each condition of each rule finds."""
    candidate = Candidate(comparison, partial(_same_lists, config, comparison))
    for rule in config.rules:
        measure = rule.measure
        if measure not in comparison.matrices:
            measure = str(parse_measure(measure))
        measure = comparison.computed_as.get(measure, measure)
        for condition in rule.conditions:
            yield from condition.check(comparison.matrices[measure], candidate)


def plan(
    config: StrPath | Mapping[str, Any] | Config,
    *,
    candidate: object = None,
    baseline: object = None,
    qrels: object = None,
    queries: object = None,
    options: Mapping[str, Any] | None = None,
) -> list[Margin]:
    """Return which margins can pass with the queries that would be scored, without scoring anything.

    Parameters
    ----------
    config, candidate, baseline, qrels, queries, options
        As for :func:`gate`.

    Returns
    -------
    list
        A ``Margin`` for each rule with a margin, of measures with a range.
    """
    overrides = {
        "candidate": candidate,
        "baseline": baseline,
        "qrels": qrels,
        "queries": queries,
        "options": options,
    }
    read = _read(config, overrides)
    with (
        blaming(_file(config)),
        _blaming_renames(read, in_file=is_path(config)) as read,
    ):
        return _margins(read)


def _file(config: object) -> str | None:
    if is_path(config):
        return os.fspath(config)
    return None


def _as_toml(names: re.Match[str]) -> str:
    """Return renamed columns as the file of a gate has them."""
    pairs = literal_eval(names[1]).items()
    shown = ", ".join(f'"{theirs}" = "{ours}"' for theirs, ours in pairs)
    return f"columns = {{{shown}}}"


@contextmanager
def _blaming_renames(config: Config, *, in_file: bool) -> Iterator[Config]:
    """Name the renamed column that a table lacks, where a column is missing."""
    columns = config.options.get("columns") or {}
    if not isinstance(columns, Renames):
        columns = Renames(columns)
    try:
        yield replace(config, options={**config.options, "columns": columns})
    except MissingColumn as error:
        if error.fix and in_file:
            error.fix = re.sub(r"columns=(\{.*?\})", _as_toml, error.fix)
        for theirs, ours in columns.items():
            if ours in error.missing and theirs not in columns.present:
                raise columns.absent(theirs) from error
        raise


def _require_present(config: Config) -> None:
    """Refuse a rename of a column that none of the tables has."""
    columns = config.options.get("columns")
    if isinstance(columns, Renames):
        columns.require_present()


def _read(config: Any, overrides: Mapping[str, Any]) -> Config:  # noqa: ANN401 - whatever gate takes
    if isinstance(config, Config):
        return with_overrides(config, overrides)
    if isinstance(config, Mapping):
        return Config.of(config, overrides)
    return Config.read(config, overrides)


def _margins(config: Config) -> list[Margin]:
    """Return the margins of the rules; none for saved scores and conventions."""
    rules = [rule for rule in config.rules if rule.margin is not None]
    if config.qrels is None or not rules or "convention" in config.options:
        return []
    measures = [parse_measure(rule.measure) for rule in rules]
    n = _scored_queries(config)
    at_once = len({rule.measure for rule in rules})
    if config.statistics.get("correction") == "none":
        at_once = 1
    alpha = (1 - config.statistics.get("confidence", 0.95)) / at_once / 2
    method = config.statistics.get("interval", "auto")

    margins = []
    for rule, measure in zip(rules, measures, strict=True):
        if not isinstance(measure, Measure) or not n:
            continue
        margin = margin_plan(measure, float(rule.margin or 0), n, alpha, method)
        if margin is not None:
            margins.append(margin)
    return margins


def _scored_queries(config: Config) -> int:
    """Return how many queries have a score: those of the split, without those that have none."""
    options = {"queries": config.queries, **config.options}
    options.pop("run_column", None)
    measures = []
    for name in config.measures:
        measure = parse_measure(name)
        if isinstance(measure, Measure):
            measures.append(measure)
    judgments = Prepared(config.qrels, measures, **options)
    empty = options.get("empty", "zero")
    counts = judgment_counts(judgments.judgments(), empty)
    queries = counts["queries"]
    if empty in ("undefined", "drop"):
        return queries - counts["empty"]
    return queries - counts["unanswerable"]


def _same_lists(config: Config, comparison: Comparison, measure: str) -> bool:
    """Return True if both runs return the same lists, down to the cutoff of a measure."""
    if comparison.sources is None:
        return False
    options = config.options
    own = {
        name: options[name]
        for name in (*OPTIONS, "columns", "format_in")
        if name in options
    }
    if len(comparison.sources.runs) > 2:  # noqa: PLR2004 - repeated runs have several lists
        return False
    if own.get("duplicates", "error") not in ORDERINGS["duplicates"]:
        return False  # such rules need judgments: lists with copies are not compared
    baseline, candidate = comparison.sources.runs.values()
    cutoff = getattr(parse_measure(measure), "k", None)
    deepest = [depth for depth in (cutoff, own.pop("depth", None)) if depth is not None]
    return identical(baseline, candidate, min(deepest, default=None), **own)


def _comparison(
    config: Config, lang: str, progress: Progress | None, drawing: Progress | None
) -> Comparison:
    names = [_name(config.baseline, "baseline"), _name(config.candidate, "candidate")]
    if names[0] == names[1]:
        names = ["baseline", "candidate"]
    both: dict[str, Any] = {}
    for name, runs in zip(names, (config.baseline, config.candidate), strict=True):
        several = runs if isinstance(runs, (list, tuple)) else [runs]
        if len(several) == 1:
            both[name] = several[0]
        else:
            both |= {f"{name}/{number}": run for number, run in enumerate(several, 1)}

    margins = list(
        dict.fromkeys(rule.measure for rule in config.rules if rule.margin is not None)
    )
    arguments: dict[str, Any] = {
        "correction": "bonferroni",
        "interval": "auto",  # a promise about losses is guarded against rare ones
        **config.statistics,
        "baseline": names[0],
    }
    arguments |= {
        "primary": margins or None,
        "queries": config.queries,
        "by": config.by,
        "cluster": config.cluster,
        "lang": lang,
    }
    if config.qrels is None:
        return compare_scores(both, config.measures, drawing=drawing, **arguments)
    arguments |= config.options
    return compare(
        config.qrels,
        both,
        config.measures,
        progress=progress,
        drawing=drawing,
        **arguments,
    )


def _name(run: object, otherwise: str) -> str:
    if is_path(run):
        return stem(run)
    return otherwise
