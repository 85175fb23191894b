"""Statistics of paired scores: randomisation tests, intervals, corrections, effect sizes, power.

Comes in: arrays, a row for each query (user, session), a column for each system.  Goes out: p-values,
intervals, sizes.  Knows no measures, no files and no names.  Whatever is drawn at random comes from a seed,
bit by bit, on any number of threads.  SciPy is imported when a distribution is first asked for.
"""

from __future__ import annotations

from rankstone.stats.anova import Blocked, hsd_reach, tukey_hsd, two_way
from rankstone.stats.automatic import (
    FEW_CLUSTERS,
    BoundedDifference,
    BoundedMean,
    difference_estimate,
    mean_estimates,
)
from rankstone.stats.bounded import unseen_share
from rankstone.stats.corrections import CORRECTIONS, SIMULTANEOUS, adjusted, family_level
from rankstone.stats.effects import d_z, hedges
from rankstone.stats.intervals import METHODS, RESAMPLED, Estimate, estimates
from rankstone.stats.max_t import MaxT, flipped_max_t, resampled_max_t
from rankstone.stats.paired import PAIRED, mcnemar, paired_t, sign_test, tost, wilcoxon
from rankstone.stats.poisson import PoissonBootstrap
from rankstone.stats.power import detectable, needed, power_of, upper_deviation
from rankstone.stats.proportions import ProportionDifference, Shared, proportion_difference, wilson
from rankstone.stats.ranks import Friedman, friedman, nemenyi, nemenyi_reach, ranks
from rankstone.stats.sample_ratio import SampleRatio, sample_ratio
from rankstone.stats.sequential import always_valid_interval, always_valid_p, always_valid_ratio
from rankstone.stats.sign_flips import sign_flips
from rankstone.stats.tukey import RandomisedTukey, randomised_tukey, randomised_tukeys
from rankstone.stats.units import Units
from rankstone.stats.verdicts import verdict

__all__ = [
    "CORRECTIONS",
    "FEW_CLUSTERS",
    "METHODS",
    "PAIRED",
    "RESAMPLED",
    "SIMULTANEOUS",
    "Blocked",
    "BoundedDifference",
    "BoundedMean",
    "Estimate",
    "Friedman",
    "MaxT",
    "PoissonBootstrap",
    "ProportionDifference",
    "RandomisedTukey",
    "SampleRatio",
    "Shared",
    "Units",
    "adjusted",
    "always_valid_interval",
    "always_valid_p",
    "always_valid_ratio",
    "d_z",
    "detectable",
    "difference_estimate",
    "estimates",
    "family_level",
    "flipped_max_t",
    "friedman",
    "hedges",
    "hsd_reach",
    "mcnemar",
    "mean_estimates",
    "needed",
    "nemenyi",
    "nemenyi_reach",
    "paired_t",
    "power_of",
    "proportion_difference",
    "randomised_tukey",
    "randomised_tukeys",
    "ranks",
    "resampled_max_t",
    "sample_ratio",
    "sign_flips",
    "sign_test",
    "tost",
    "tukey_hsd",
    "two_way",
    "unseen_share",
    "upper_deviation",
    "verdict",
    "wilcoxon",
    "wilson",
]
