"""The conductor of gates: read what is asked, compare, hold rules and guards against it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rankstone.comparing import compare, compare_scores
from rankstone.errors import MissingColumn, blaming
from rankstone.gating.config import Config, overridden
from rankstone.gating.judging import guarded, ruled
from rankstone.gating.margins import Margin, planned
from rankstone.gating.result import Gate
from rankstone.io import Renames, read_judgments, stem
from rankstone.lists.comparison import identical
from rankstone.lists.opening import OPTIONS
from rankstone.measures import Measure, parse_measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone.comparing import Comparison

    Progress = Callable[[int], None]

__all__ = ["gate", "plan"]


def gate(
    config: str | os.PathLike[str] | Mapping[str, Any] | Config,
    *,
    candidate: object = None,
    baseline: object = None,
    qrels: object = None,
    inconclusive: str | None = None,
    progress: Progress | None = None,
    drawing: Progress | None = None,
) -> Gate:
    """Say whether a candidate may replace the baseline, by rules with margins on intervals.

    A rule with a ``margin`` passes when the whole interval of the difference lies above ``-margin``, fails
    when all of it lies below, and is inconclusive otherwise; a candidate that returns the same lists passes.
    All such rules are one family; their intervals hold at once (Bonferroni, unless ``statistics`` says
    otherwise).  Guards come first: where one does not hold, the two are not comparable.

    Parameters
    ----------
    config
        ``rankstone.toml``, a ``pyproject.toml`` with ``[tool.rankstone.gate]``, a dict like the table
        ``[gate]``, or a :class:`Config`.
    candidate, baseline, qrels, inconclusive
        Take the place of what the configuration says.
    progress, drawing
        As for :func:`rankstone.compare`.

    Returns
    -------
    Gate
        Outcomes, verdict, exit code; as text, Markdown, JSON, JUnit XML.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.compare`; for a configuration that cannot be understood; for a margin that no
        candidate of unchanged quality can pass with so many queries.
    """
    given = {"candidate": candidate, "baseline": baseline, "qrels": qrels, "inconclusive": inconclusive}
    read = _read(config, given)
    with blaming(_file(config)), _looked_for(read) as read:
        for margin in _margins(read):
            margin.refuse()
        found = _compared(read, progress, drawing)
        _require_present(read)
    outcomes = (*guarded(read, found), *ruled(read, found, partial(_same_lists, read, found)))
    return Gate(outcomes, found, inconclusive=read.inconclusive)


def plan(
    config: str | os.PathLike[str] | Mapping[str, Any] | Config,
    *,
    candidate: object = None,
    baseline: object = None,
    qrels: object = None,
) -> list[Margin]:
    """Say which margins the judged queries can pass, without scoring anything.

    Parameters
    ----------
    config, candidate, baseline, qrels
        As for :func:`gate`.

    Returns
    -------
    list
        A :class:`~rankstone.gating.margins.Margin` for each rule with a margin, of measures with a range.
    """
    read = _read(config, {"candidate": candidate, "baseline": baseline, "qrels": qrels})
    with blaming(_file(config)), _looked_for(read) as read:
        return _margins(read)


def _file(config: object) -> str | None:
    return os.fspath(config) if isinstance(config, (str, os.PathLike)) else None


@contextmanager
def _looked_for(config: Config) -> Iterator[Config]:
    """Blame a rename of a column that a table lacks for what is missing then."""
    columns = Renames(config.options.get("columns") or {})
    try:
        yield replace(config, options={**config.options, "columns": columns}) if columns else config
    except MissingColumn as error:
        for theirs, ours in columns.items():
            if ours in error.missing and theirs not in columns.present:
                raise columns.absent(theirs) from error
        raise


def _require_present(config: Config) -> None:
    """Refuse a rename of a column that none of the tables has."""
    columns = config.options.get("columns")
    if isinstance(columns, Renames):
        columns.require_present()


def _read(config: Any, given: Mapping[str, Any]) -> Config:  # noqa: ANN401 - whatever gate takes
    if isinstance(config, Config):
        return overridden(config, given)
    return Config.of(config, given) if isinstance(config, Mapping) else Config.read(config, given)


def _margins(config: Config) -> list[Margin]:
    """Return what the rules' margins ask of the judged queries; nothing for saved scores and conventions."""
    rules = [rule for rule in config.rules if rule.margin is not None]
    if config.qrels is None or not rules or "convention" in config.options:
        return []
    options = config.options
    judged = read_judgments(config.qrels, options.get("columns"), options.get("format_in"))
    n = judged.collect()["query_id"].n_unique()
    at_once = 1 if config.statistics.get("correction") == "none" else len({rule.measure for rule in rules})
    alpha = (1 - config.statistics.get("confidence", 0.95)) / at_once / 2
    method = config.statistics.get("interval", "auto")
    measures = [(parse_measure(rule.measure), float(rule.margin or 0)) for rule in rules]
    found = [planned(one, margin, n, alpha, method) for one, margin in measures if isinstance(one, Measure)]
    return [margin for margin in found if margin is not None]


def _same_lists(config: Config, found: Comparison, measure: str) -> bool:
    """Say whether both runs return the same lists, down to the cutoff of a measure."""
    if found.sources is None:
        return False
    options = config.options
    own = {name: options[name] for name in (*OPTIONS, "columns", "format_in") if name in options}
    baseline, candidate = found.sources.runs.values()
    cutoff = getattr(parse_measure(measure), "k", None)
    deepest = [depth for depth in (cutoff, own.pop("depth", None)) if depth is not None]
    return identical(baseline, candidate, min(deepest, default=None), **own)


def _compared(config: Config, progress: Progress | None, drawing: Progress | None) -> Comparison:
    names = [_name(config.baseline, "baseline"), _name(config.candidate, "candidate")]
    if names[0] == names[1]:
        names = ["baseline", "candidate"]
    both = dict(zip(names, (config.baseline, config.candidate), strict=True))
    margins = list(dict.fromkeys(rule.measure for rule in config.rules if rule.margin is not None))
    told: dict[str, Any] = {"correction": "bonferroni", **config.statistics, "baseline": names[0]}
    told |= {
        "primary": margins or None,
        "queries": config.queries,
        "by": config.by,
        "cluster": config.cluster,
    }
    if config.qrels is None:
        return compare_scores(both, config.measures, drawing=drawing, **told)
    told |= config.options
    return compare(config.qrels, both, config.measures, progress=progress, drawing=drawing, **told)


def _name(run: object, otherwise: str) -> str:
    return stem(run) if isinstance(run, (str, os.PathLike)) else otherwise
