"""What ``abstain`` promises, under simulation: false thresholds, unbiased held-out utilities, power, coverage.

``python -m tests.stats.abstention_worlds`` draws worlds in which a share of the queries deserves an answer (the
base rate) and top scores are normal, ``shift`` standard deviations higher for these; a shift of 0 is a world
in which scores say nothing.  A table in Markdown has a row for each number of queries, shift and base rate: how
often each verdict is given, the mean error of the held-out utility, which is 0 if it is unbiased, how often
the intervals of the gain and of the AUROC contain the true one; ± is twice the standard error.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from rankstone.diagnostics.abstention_result import verdict_of
from rankstone.stats.proportions import wilson
from rankstone.stats.score_thresholds import HeldOut, best_threshold
from rankstone.stats.separation import separation

__all__ = ["BASE_RATES", "world"]

BASE_RATES: Final = (0.2, 0.35, 0.5, 0.65, 0.8)
#: AUROC 1/2, .6, .7, .8, .9
SHIFTS: Final = (0.0, 0.358, 0.742, 1.19, 1.812)
VERDICTS: Final = ("use", "always", "never", "no_separation", "cannot_tell")


def utility(threshold: float, base_rate: float, shift: float) -> float:
    """Return the expected utility of answering from a threshold on."""
    normal = NormalDist()
    if math.isinf(threshold):
        return 2 * base_rate - 1 if threshold < 0 else 0.0
    right = 1 - normal.cdf(threshold - shift)
    wrong = 1 - normal.cdf(threshold)
    return base_rate * right - (1 - base_rate) * wrong


def world(
    rng: np.random.Generator, n: int, base_rate: float, shift: float
) -> dict[str, Any]:
    """Draw queries, judge them, and return the verdict with what is true."""
    deserving = rng.random(n) < base_rate
    score = rng.normal(size=n) + shift * deserving
    order = np.argsort(score)
    score, deserving = score[order], deserving[order]
    worth = np.where(deserving, 1.0, -1.0)
    held_out = HeldOut.of(score, worth, int(rng.integers(2**31)))
    gain, low, high = held_out.gain(1.0, -1.0)
    kinds = separation(score, deserving)
    auroc: Any
    auroc_low: Any
    auroc_high: Any
    auroc, auroc_low, auroc_high = kinds or (None, None, None)
    threshold = best_threshold(score, worth)
    rights = int(deserving.sum())
    always_low, always_high = (2 * float(end) - 1 for end in wilson(rights, n))
    row = {
        "gain": gain,
        "gain_low": low,
        "gain_high": high,
        "auroc": auroc,
        "auroc_low": auroc_low,
        "auroc_high": auroc_high,
        "threshold": None if math.isinf(threshold) else threshold,
        "always_low": always_low,
        "always_high": always_high,
        "never": 0.0,
    }
    true = float(
        np.mean([utility(each, base_rate, shift) for each in held_out.thresholds])
    )
    true_gain = true - max(2 * base_rate - 1, 0)
    true_auroc = NormalDist().cdf(shift / math.sqrt(2))
    return {
        "verdict": verdict_of(row, 2.0),
        "error": float(held_out.by_split.mean()) - true,
        "gain": true_gain,
        "below": true_gain < low,
        "above": true_gain > high,
        "separated": kinds is None or auroc_low <= true_auroc <= auroc_high,
    }


def row_of(worlds: int, n: int, base_rate: float, shift: float, seed: int) -> str:
    """Return the row of a kind of world."""
    rng = np.random.default_rng([seed, n, round(1000 * base_rate), round(1000 * shift)])
    drawn = [world(rng, n, base_rate, shift) for _ in range(worlds)]
    verdicts = Counter(each["verdict"] for each in drawn)
    shares = [f"{verdicts[name] / worlds:.3f}" for name in VERDICTS]
    errors = np.array([each["error"] for each in drawn])
    reach = 2 * errors.std() / math.sqrt(worlds)
    gain = np.mean([each["gain"] for each in drawn])
    others = [
        f"{np.mean([each[name] for each in drawn]):.3f}"
        for name in ("below", "above", "separated")
    ]
    cells = [f"{n}", f"{shift:g}", f"{base_rate:g}", *shares]
    cells += [f"{errors.mean():+.4f} ± {reach:.4f}", f"{gain:+.3f}", *others]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=500)
    parser.add_argument("--queries", default="50,200")
    parser.add_argument("--shifts", default=",".join(map(str, SHIFTS)))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    head = [
        *("n", "shift", "base rate", *VERDICTS, "held out − true", "true gain"),
        *("gain below interval", "above", "AUROC in interval"),
    ]
    sys.stdout.write(f"| {' | '.join(head)} |\n|{'---:|' * len(head)}\n")
    for n in map(int, options.queries.split(",")):
        for shift in map(float, options.shifts.split(",")):
            for base_rate in BASE_RATES:
                row = row_of(options.worlds, n, base_rate, shift, options.seed)
                sys.stdout.write(f"{row}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
