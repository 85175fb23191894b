"""Optuna: values of queries for ``WilcoxonPruner``, which ends a hopeless trial after some of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.errors import BadOption, BadValue, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence


__all__ = ["mean_or_prune"]


def mean_or_prune(
    trial: Any,  # noqa: ANN401 - optuna.Trial
    queries: Sequence[Hashable],
    score: Callable[[list[Any]], Mapping[Any, float | None]],
    *,
    chunk: int = 1,
) -> float:
    """Score queries some at a time, report each, and stop once the trial is worse than the best by the test.

    ``WilcoxonPruner`` compares trials query by query, so every query must be the same step in all trials:
    its place in ``queries``.  Each trial takes them in a different order (seeded by its number, so that a
    study can be repeated); otherwise tuning would fit the first queries.

    Parameters
    ----------
    trial
        The trial, of a study with ``pruner=optuna.pruners.WilcoxonPruner()``.
    queries
        The ids of all queries, the same list in every trial.
    score
        Takes a list of ids, and returns ``{id: value}``; ``None`` or NaN for no value, which
        must not depend on the trial.
    chunk
        The number of queries scored at a time.

    Returns
    -------
    float
        The mean over all queries; of a stopped trial, the mean so far, which Optuna
        recommends to return for the sampler.

    Examples
    --------
    >>> class Trial:  # what Optuna passes
    ...     number = 0
    ...     report = lambda self, value, step: print(step, value)
    ...     should_prune = lambda self: False
    >>> mean_or_prune(Trial(), ["a", "b"], lambda queries: {"a": 0.5, "b": 1.0}, chunk=2)
    0 0.5
    1 1.0
    0.75
    """
    steps = {query: step for step, query in enumerate(queries)}
    if len(steps) < len(queries):
        raise BadValue("a query is in the list more than once", expected="each once")
    if chunk < 1:
        raise BadOption(
            "chunk is too small", given=f"chunk={chunk}", expected="1 or more"
        )

    generator = np.random.Generator(np.random.Philox(trial.number))
    order = generator.permutation(len(queries))
    values: list[float] = []
    for begin in range(0, len(order), chunk):
        part = [queries[place] for place in order[begin : begin + chunk]]
        scores = score(part)
        for query in part:
            if query not in scores:
                raise BadValue(
                    "score returned no value for a query",
                    where=f"query {printable(query)}",
                )
            value = scores[query]
            # the pruner gives up at a NaN
            if value is not None and not math.isnan(value):
                trial.report(float(value), steps[query])
                values.append(float(value))
        if trial.should_prune():
            break
    if not values:
        raise BadValue("no query has a value, so there is no mean")
    return math.fsum(values) / len(values)
