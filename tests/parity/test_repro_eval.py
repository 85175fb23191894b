"""Repetitions of experiments against repro_eval: runs of random systems on random judgments."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest

from rankstone.collections import reproduce

pytestmark = pytest.mark.parity
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("repro_eval")
    from repro_eval.measure.document_order import KTU, RBO
    from repro_eval.measure.effectiveness import RMSE, nRMSE
    from repro_eval.measure.overall_effects import DRI, ER
    from repro_eval.measure.statistics import ttest
    from repro_eval.util import evaluate_run
ir_measures = pytest.importorskip("ir_measures")
stats = pytest.importorskip("scipy.stats")

#: fresh data in every run that names a seed
SEED = int(os.environ.get("RANKSTONE_SEED", "24"))
#: experiments of five systems; 100 are 500 pairs of runs
COUNT = int(os.environ.get("RANKSTONE_CASES", "100"))
MEASURES = "AP nDCG@10 P@5"
Runs = dict[str, dict[str, dict[str, float]]]


def experiment(
    rng: np.random.Generator,
) -> tuple[dict[str, dict[str, int]], Runs, Runs]:
    """Return judgments, and runs of several systems twice; lists with ties, of one length for a query."""
    queries = [f"q{index}" for index in range(int(rng.integers(2, 12)))]
    docs = np.array([f"d{position}" for position in rng.permutation(60)])
    qrels = {
        q: dict.fromkeys(rng.choice(docs, 8, replace=False), 1)
        | {docs[0]: 2, docs[1]: 0}
        for q in queries
    }
    sizes = {q: int(rng.integers(2, 30)) for q in queries}

    def run(noise: float) -> dict[str, dict[str, float]]:
        made = {}
        for q in queries:
            about = {doc: qrels[q].get(doc, 0) + noise * rng.normal() for doc in docs}
            best = sorted(about, key=about.__getitem__, reverse=True)[: sizes[q]]
            scores = {
                doc: float(round(about[doc], int(rng.integers(0, 3)))) for doc in best
            }
            made[q] = dict(
                sorted(
                    scores.items(), key=lambda item: (item[1], item[0]), reverse=True
                )
            )
        return made

    systems = [f"s{index}" for index in range(5)]
    return (
        qrels,
        {s: run(rng.uniform(0.5, 3)) for s in systems},
        {s: run(rng.uniform(0.5, 3)) for s in systems},
    )


def scores(qrels: Any, run: Any) -> Any:
    """Return what repro_eval scores a run with."""
    return evaluate_run(
        [ir_measures.parse_measure(name) for name in MEASURES.split()], qrels, run
    )


@pytest.mark.filterwarnings(
    "ignore:Precision loss", "ignore::scipy.stats.ConstantInputWarning"
)
def test_same_collection() -> None:
    """τ and RBO of documents, RMSE, p, effect ratio, ΔRI and the order of systems, on the same queries."""
    for seed in range(COUNT):
        qrels, original, again = experiment(np.random.default_rng([SEED, seed]))
        reproduction = reproduce(original, again, MEASURES, qrels=qrels, baseline="s0")
        first, second = (
            {s: scores(qrels, run) for s, run in runs.items()}
            for runs in (original, again)
        )
        for s in original:
            pair = original[s], again[s]
            theirs = (
                KTU(*(dict(run) for run in pair)),
                RBO(*(dict(run) for run in pair), 0.95, 1000, False, False),
            )
            ours = [
                figure.value
                for figure in reproduction.figures
                if figure.system == s and figure.measure is None
            ]
            assert ours[-2:] == pytest.approx([theirs[1], theirs[0]], abs=1e-9)
            for name, function in (("RMSE", RMSE), ("nRMSE", nRMSE), ("p", ttest)):
                for measure, value in function(first[s], second[s]).items():
                    if not (
                        name == "p" and np.isnan(value)
                    ):  # equal scores, of which ours is 1
                        assert reproduction.figure(
                            s, measure, name
                        ).value == pytest.approx(value, abs=1e-9)
            if s != "s0":
                effects(
                    reproduction, s, (first[s], first["s0"], second[s], second["s0"])
                )
        for measure in MEASURES.split():
            means = [
                [np.mean([q[measure] for q in item.values()]) for item in side.values()]
                for side in (first, second)
            ]
            tau = stats.kendalltau(*np.round(means, 12)).correlation
            assert reproduction.figure(
                None, measure, "tau of systems"
            ).value == pytest.approx(tau, abs=1e-9, nan_ok=True)


def effects(result: Any, system: str, sides: tuple[Any, ...]) -> None:
    """Compare effect ratio and ΔRI; where the original improvement is 0 there is no ratio."""
    a, b, a2, b2 = sides
    with np.errstate(all="ignore"):
        theirs = {"ER": ER(a, b, a2, b2), "ΔRI": DRI(a, b, a2, b2)}
    for name, by_measure in theirs.items():
        for measure, value in by_measure.items():
            ours = result.figure(system, measure, name).value
            if np.isfinite(value) and abs(value) < 1e6:
                assert ours == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.filterwarnings(
    "ignore:Precision loss", "ignore::scipy.stats.ConstantInputWarning"
)
def test_other_collection() -> None:
    """P of two samples, effect ratio and ΔRI, on other queries."""
    for seed in range(-(-COUNT // 3)):
        rng = np.random.default_rng([SEED, 1000 + seed])
        (qrels, original, _), (other, _, again) = experiment(rng), experiment(rng)
        reproduction = reproduce(
            original, again, MEASURES, qrels=qrels, qrels_again=other, baseline="s0"
        )
        first = {s: scores(qrels, run) for s, run in original.items()}
        second = {s: scores(other, run) for s, run in again.items()}
        for s in original:
            for measure, value in ttest(first[s], second[s], rpd=False).items():
                if not np.isnan(value):
                    assert reproduction.figure(s, measure, "p").value == pytest.approx(
                        value, abs=1e-9
                    )
            if s != "s0":
                effects(
                    reproduction, s, (first[s], first["s0"], second[s], second["s0"])
                )
