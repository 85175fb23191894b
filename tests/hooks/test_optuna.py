"""Optuna: hopeless trials end early, by what WilcoxonPruner sees query by query."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from rankstone import InputError, UsageError
from rankstone.integrations.optuna import mean_or_prune

pytestmark = pytest.mark.hooks


class Trial:
    """What a trial reports."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.reported: dict[int, float] = {}

    def report(self, value: float, step: int) -> None:
        """Keep it."""
        self.reported[step] = value

    def should_prune(self) -> bool:
        """Never."""
        return False


def test_a_study() -> None:
    """A trial that is worse in every query is stopped after some; the best is reported whole."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pruner = optuna.pruners.WilcoxonPruner(p_threshold=0.05)
    study = optuna.create_study(
        direction="maximize", pruner=pruner, sampler=optuna.samplers.RandomSampler(1)
    )
    ease = np.random.Generator(np.random.Philox(1)).random(60) / 2
    queries = [f"q{number}" for number in range(60)]
    values: list[int] = []

    def objective(trial: Any) -> float:
        weight = trial.suggest_categorical("weight", [0.5, 0.1])
        values.append(0)

        def score(chunk: list[str]) -> dict[str, float]:
            values[-1] += len(chunk)
            return {query: weight + ease[int(query[1:])] for query in chunk}

        return mean_or_prune(trial, queries, score, chunk=2)

    study.enqueue_trial({"weight": 0.5})
    study.enqueue_trial({"weight": 0.1})
    study.optimize(objective, n_trials=2)

    assert values[0] == 60
    assert values[1] <= 10
    best, worse = study.trials
    assert study.best_trial.number == 0
    assert best.value == math.fsum(0.5 + ease) / 60
    assert best.intermediate_values == pytest.approx(dict(enumerate(0.5 + ease)))
    for (
        step,
        value,
    ) in worse.intermediate_values.items():  # the same query is the same step
        assert value == pytest.approx(0.1 + ease[step])


def test_steps_are_queries() -> None:
    """Each trial takes queries in an order of its own; a query without a value is no step."""
    queries = ["a", "b", "c", "d"]
    orders = []
    for number in range(4):
        seen: list[str] = []
        trial = Trial(number)

        def score(chunk: list[str], seen: list[str] = seen) -> dict[str, float | None]:
            seen += chunk
            return {"a": 0.0, "b": 1.0, "c": None, "d": math.nan}

        assert mean_or_prune(trial, queries, score) == 0.5
        assert trial.reported == {0: 0.0, 1: 1.0}
        orders.append(tuple(seen))
    assert len(set(orders)) > 1


def test_mistakes() -> None:
    """Queries that stand twice or get no value, nothing at a time: reported in words."""
    with pytest.raises(InputError, match="more than once"):
        mean_or_prune(Trial(0), ["a", "a"], dict)
    with pytest.raises(InputError, match=r"(?s)query a.*no value"):
        mean_or_prune(Trial(0), ["a"], lambda _: {})
    with pytest.raises(InputError, match="no query has a value"):
        mean_or_prune(Trial(0), ["a"], lambda _: {"a": None})
    with pytest.raises(UsageError, match="chunk=0"):
        mean_or_prune(Trial(0), ["a"], dict, chunk=0)
