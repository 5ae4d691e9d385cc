"""Slow twins of the diagnostics: plain loops over single draws, after Vehtari et al. 2021."""

from math import log10, sqrt
from statistics import NormalDist, mean, median, variance


def halves_of(chains):
    half = len(chains[0]) // 2
    return [chain[:half] for chain in chains] + [chain[-half:] for chain in chains]


def normal_scores(chains):
    pooled = [x for chain in chains for x in chain]
    score = {}
    for x in pooled:
        rank = sum(other < x for other in pooled) + (sum(other == x for other in pooled) + 1) / 2
        score[x] = NormalDist().inv_cdf((rank - 3 / 8) / (len(pooled) + 1 / 4))
    return [[score[x] for x in chain] for chain in chains]


def variance_within_and_over_all(chains):
    n_draws = len(chains[0])
    within = mean(variance(chain) for chain in chains)
    return within, (n_draws - 1) / n_draws * within + variance([mean(chain) for chain in chains])


def r_hat(chains):
    halves = halves_of(chains)
    middle = median(x for half in halves for x in half)
    found = []
    for values in (halves, [[abs(x - middle) for x in half] for half in halves]):
        within, over_all = variance_within_and_over_all(normal_scores(values))
        found.append(sqrt(over_all / within))
    return max(found)


def effective_sample_size(chains):
    chains = normal_scores(halves_of(chains))
    n_draws = len(chains[0])
    within, over_all = variance_within_and_over_all(chains)

    def autocorrelation(lag):
        if lag == 0:
            return 1.0
        covariances = [
            sum((chain[t] - mean(chain)) * (chain[t + lag] - mean(chain)) for t in range(n_draws - lag))
            / n_draws
            for chain in chains
        ]
        return 1.0 - (within - mean(covariances)) / over_all

    time, lag, smallest = -1.0, 0, float("inf")
    while lag + 1 < n_draws:
        pair = autocorrelation(lag) + autocorrelation(lag + 1)
        if pair < 0.0:
            break
        smallest = min(smallest, pair)
        time += 2.0 * smallest
        lag += 2
    if lag < n_draws:
        time += max(autocorrelation(lag), 0.0)
    n_all = n_draws * len(chains)
    return min(n_all / time if time > 0.0 else float("inf"), n_all * log10(n_all))
