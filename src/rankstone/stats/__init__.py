"""Statistics of paired scores: randomisation tests, intervals, corrections, effect sizes, power.

Functions take arrays (a row for each query, user or session, a column for each system) and return p-values,
intervals and sample sizes.  Random numbers depend on the seed alone, to the last bit, on any number of
threads.  SciPy is imported when a distribution is first needed.
"""

from __future__ import annotations

from rankstone.stats.automatic_intervals import (
    FEW_CLUSTERS,
    BoundedDifference,
    BoundedMean,
    difference_estimate,
    mean_estimates,
    verdict,
)
from rankstone.stats.bounded_means import unseen_share
from rankstone.stats.effect_sizes import d_z, hedges
from rankstone.stats.friedman_and_nemenyi import (
    Friedman,
    conover,
    friedman,
    nemenyi,
    nemenyi_reach,
    rank_z,
    ranks,
)
from rankstone.stats.max_t import MaxT, flipped_max_t, resampled_max_t
from rankstone.stats.mean_intervals import METHODS, RESAMPLED, Estimate, estimates
from rankstone.stats.multiple_testing import (
    CORRECTIONS,
    SIMULTANEOUS,
    adjusted,
    family_level,
)
from rankstone.stats.paired_tests import (
    PAIRED,
    mcnemar,
    paired_t,
    sign_test,
    tost,
    wilcoxon,
)
from rankstone.stats.poisson_bootstrap import PoissonBootstrap
from rankstone.stats.proportions import (
    ProportionDifference,
    Shared,
    clopper_pearson,
    proportion_difference,
    quantile_interval,
    wilson,
)
from rankstone.stats.randomisation_test import flip_limits, sign_flips
from rankstone.stats.randomised_tukey_hsd import (
    RandomisedTukey,
    randomised_tukey,
    randomised_tukeys,
)
from rankstone.stats.sample_ratio_test import SampleRatio, sample_ratio
from rankstone.stats.sample_size import detectable, needed, power_of, upper_deviation
from rankstone.stats.sampling_units import Units
from rankstone.stats.sequential import (
    always_valid_interval,
    always_valid_p,
    always_valid_ratio,
)
from rankstone.stats.two_way_anova import Blocked, hsd_reach, tukey_hsd, two_way

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
    "clopper_pearson",
    "conover",
    "d_z",
    "detectable",
    "difference_estimate",
    "estimates",
    "family_level",
    "flip_limits",
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
    "quantile_interval",
    "randomised_tukey",
    "randomised_tukeys",
    "rank_z",
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
