"""The conductor of gates: read what is asked, compare, hold rules and guards against it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankstone.comparing import compare, compare_scores
from rankstone.gating.config import Config, overridden
from rankstone.gating.judging import guarded, ruled
from rankstone.gating.result import Gate
from rankstone.io import stem

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.comparing import Comparison

    Progress = Callable[[int], None]

__all__ = ["gate"]


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
    when all of it lies below, and is open otherwise.  All such rules are one family; their intervals hold at
    once (Bonferroni, unless ``statistics`` says otherwise).  Guards come first: where one does not hold, the
    two are not comparable.

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
        As for :func:`rankstone.compare`; for a configuration that cannot be understood.
    """
    given = {"candidate": candidate, "baseline": baseline, "qrels": qrels, "inconclusive": inconclusive}
    if isinstance(config, Config):
        read = overridden(config, given)
    elif isinstance(config, Mapping):
        read = Config.of(config, given)
    else:
        read = Config.read(config, given)
    found = _compared(read, progress, drawing)
    outcomes = (*guarded(read, found), *ruled(read, found))
    return Gate(outcomes, found, strict=read.inconclusive == "fail")


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
