"""Whether chains have met, and how many independent draws they are worth (Vehtari et al. 2021).

A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner: Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16(2), 2021.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

from sparsemix.chains.inputs import FloatMatrix, as_chains

FEWEST_DRAWS = 4
"""Each half of a chain needs two draws for a variance."""


def effective_sample_size(chains: ArrayLike) -> float:
    """Return how many independent draws tell as much about the centre of a quantity: its bulk effective sample size.

    Chains are split into halves and replaced by the normal scores of their ranks, so that heavy tails do no harm
    and a chain that drifts or stays apart counts for little. Autocorrelations are summed by Geyer's initial
    monotone sequence (section 3.2 of the paper).

    Parameters
    ----------
    chains : array_like, (n_chains, n_draws)
        One quantity, such as the log joint, after burn-in. A vector is one chain.

    Returns
    -------
    float
        Number of draws, at most ``n * log10(n)`` of all n draws (more than n if draws alternate about the mean).
        NaN if there are fewer than 4 draws a chain, or if all draws are equal, which says nothing about mixing.
        Chains that stand still at different values count about one draw each.

    Raises
    ------
    DataError
        If the chains differ in length, are empty or hold numbers that are not finite.

    Notes
    -----
    Cost is O(n log n) in the number of draws. Of an odd number of draws the middle one is left out.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(4, 1000))
    >>> 3_000 < effective_sample_size(noise) < 5_000
    True
    >>> effective_sample_size(np.cumsum(noise, axis=1)) < 20
    True
    """
    halves = _halves(as_chains(chains, "effective_sample_size"))
    if _tells_nothing(halves):
        return np.nan
    scores = _normal_scores(halves)
    n_draws = scores.shape[1]
    covariances = _autocovariances(scores)
    within = covariances[0] * n_draws / (n_draws - 1)
    total = covariances[0] + scores.mean(axis=1).var(ddof=1)
    autocorrelations = 1.0 - (within - covariances) / total  # over all chains
    autocorrelations[0] = 1.0
    shortest = 1.0 / np.log10(scores.size)
    return float(scores.size / max(_autocorrelation_time(autocorrelations), shortest))


def r_hat(chains: ArrayLike) -> float:
    """Return how much wider the draws of all chains lie than those within one: 1 if the chains have met.

    The larger of two: of the normal scores of ranks, which sees chains at different places, and of those of the
    distances to the median, which sees chains of different width. Chains are split into halves, so that one chain
    that drifts is seen as well. Above 1.01 the chains should run on.

    Parameters
    ----------
    chains : array_like, (n_chains, n_draws)
        One quantity, such as the log joint, after burn-in. A vector is one chain.

    Returns
    -------
    float
        NaN if there are fewer than 4 draws a chain, or if all draws are equal; infinity if each half of a chain
        stands still, but not all at the same value.

    Raises
    ------
    DataError
        If the chains differ in length, are empty or hold numbers that are not finite.

    Notes
    -----
    Cost is O(n log n) in the number of draws. Of an odd number of draws the middle one is left out.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(4, 1000))
    >>> r_hat(noise) < 1.01
    True
    >>> r_hat(noise + [[0.0], [0.0], [0.0], [1.0]]) > 1.1
    True
    """
    halves = _halves(as_chains(chains, "r_hat"))
    if _tells_nothing(halves):
        return np.nan
    distances = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_normal_scores(values)) for values in (halves, distances))


def _halves(chains: FloatMatrix) -> FloatMatrix:
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, chains.shape[1] - half :]])


def _tells_nothing(halves: FloatMatrix) -> bool:
    return 2 * halves.shape[1] < FEWEST_DRAWS or bool((halves == halves[0, 0]).all())


def _normal_scores(values: FloatMatrix) -> FloatMatrix:
    """Normal quantiles of (rank - 3/8) / (n + 1/4), ranks among the n draws of all chains, equal ones averaged."""
    ranks = rankdata(values).reshape(values.shape)
    scores: FloatMatrix = ndtri((ranks - 0.375) / (values.size + 0.25))
    return scores


def _plain_r_hat(values: FloatMatrix) -> float:
    """Root of the variance over all chains by that within them; 1 if all values are equal."""
    n_draws = values.shape[1]
    between = float(values.mean(axis=1).var(ddof=1))
    if (values == values[:, :1]).all():
        return 1.0 if (values == values[0, 0]).all() else np.inf
    within = float(values.var(axis=1, ddof=1).mean())
    return float(np.sqrt((n_draws - 1) / n_draws + between / within))


def _autocovariances(chains: FloatMatrix) -> FloatMatrix:
    """Mean over chains of the autocovariance at each lag, (n_draws,), each sum divided by n_draws."""
    n_draws = chains.shape[1]
    size = next_fast_len(2 * n_draws, real=True)
    spectrum = rfft(chains - chains.mean(axis=1, keepdims=True), size, axis=1)
    sums: FloatMatrix = irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n_draws]
    means: FloatMatrix = sums.mean(axis=0) / n_draws
    return means


def _autocorrelation_time(autocorrelations: FloatMatrix) -> float:
    """Twice the sum, less 1, of pairs of neighbours as long as they are positive, none larger than those before."""
    n_pairs = autocorrelations.size // 2
    pairs = autocorrelations[: 2 * n_pairs].reshape(n_pairs, 2).sum(axis=1)
    n_kept = int(np.argmax(pairs < 0.0)) if (pairs < 0.0).any() else n_pairs
    kept = np.minimum.accumulate(pairs[:n_kept])
    # The even lag after the last pair is a positive one: without it, alternating draws would seem worth too much.
    rest = max(float(autocorrelations[2 * n_kept]), 0.0) if 2 * n_kept < autocorrelations.size else 0.0
    return float(2.0 * kept.sum() - 1.0 + rest)
