"""The true means of items behind the observed ones, as they may be.

An observed mean is the true one and an error, so the highest owes its place to both.  True means are taken
as draws from a normal distribution, which moves observed means towards their centre, the more the larger
their errors are.  How much true means spread is integrated over its likelihood (a hierarchical model: Rubin,
Journal of Educational Statistics 6, 1981), with a half-Cauchy prior as wide as a typical error (Polson and
Scott, Bayesian Analysis 7, 2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.stats.random_streams import normal

if TYPE_CHECKING:
    from rankstone._basics import Floats


#: values of the spread that stand for its distribution
_GRID: Final = 64
#: names the stream of random numbers
_MEANS: Final = 0x6D65616E


def posterior_means(
    means: Floats, covariance: Floats, *, seed: int = 0, count: int = 2000
) -> Floats:
    """Draw true means, given those observed and the covariance of their errors.

    Parameters
    ----------
    means
        float64 ``[items]``.
    covariance
        float64 ``[items, items]``.
    seed, count
        Of the draws.

    Returns
    -------
    NDArray
        float64 ``[count, items]``; NaN where there is no error at all: nothing shows how far means may be off.

    Examples
    --------
    >>> true_means = posterior_means(np.array([0.3, 0.5]), np.diag([0.01, 0.01]))
    >>> bool(0.3 < true_means[:, 0].mean() < true_means[:, 1].mean() < 0.5)
    True
    """
    items = len(means)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    variance = np.maximum(eigenvalues, 0.0)
    typical = float(np.median(np.diag(covariance)))
    if not typical > 0:
        return np.full((count, items), np.nan)

    # Cauchy quantiles as wide as what is seen, weighted to be those of the prior.
    distances = np.abs(means - np.median(means))
    seen = typical + float(np.median(distances)) ** 2
    quantiles = (np.arange(_GRID) + 0.5) / _GRID
    spread = seen * np.tan(quantiles * np.pi / 2) ** 2
    prior = np.log((seen + spread) / (typical + spread))

    # In the eigenvectors of the errors all is independent.
    observed = vectors.T @ means
    ones = vectors.sum(axis=0)
    precision = 1 / (variance + spread[:, None])
    information = (precision * ones**2).sum(axis=1)
    centre = (precision * ones * observed).sum(axis=1) / information
    distance = observed - centre[:, None] * ones

    twice_log_likelihood = np.log(precision).sum(axis=1)
    twice_log_likelihood -= np.log(information)
    twice_log_likelihood -= (precision * distance**2).sum(axis=1)
    log_posterior = prior + twice_log_likelihood / 2
    weight = np.cumsum(np.exp(log_posterior - log_posterior.max()))

    # Each draw takes a spread from its posterior, then a centre, then true means.
    share = (np.arange(count) + 0.5) / count
    row = np.searchsorted(weight, share * weight[-1])
    numbers = normal(seed, _MEANS, size=count * (items + 1))
    scores = numbers.reshape(count, -1)

    centre_error = 1 / np.sqrt(information[row])
    drawn_centre = centre[row] + scores[:, items] * centre_error
    kept = (spread[:, None] * precision)[row]
    expected = drawn_centre[:, None] * ones
    expected += kept * (observed - expected)

    # The symmetric root: neither signs nor the order of eigenvectors move a draw.
    errors = scores[:, :items] @ vectors
    errors *= np.sqrt(kept * variance)
    true_means: Floats = (expected + errors) @ vectors.T
    return true_means
