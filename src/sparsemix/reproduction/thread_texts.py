"""Made-up texts of clusters that come and go, as the paper on time-sensitive mixtures made them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

N_WORDS = 3
CONCENTRATION, DECAY_RATE = 0.2, 0.5


class Threads(NamedTuple):
    """Texts in time.

    times : (n_texts,) seconds. truth : (n_texts,) cluster of each, in the order of their first texts.
    words : (n_clusters, N_WORDS) probabilities of the words in each cluster. counts : (n_texts, N_WORDS).
    """

    times: NDArray[np.float64]
    truth: NDArray[np.int64]
    words: NDArray[np.float64]
    counts: NDArray[np.int64]


def threads(n_texts: int, length: int, seed: int) -> Threads:
    """Return texts of `length` words each, a second apart on average; times and clusters do not depend on the length.

    A text joins a cluster with a weight that is the sum of exp(-0.5 age) over its texts, and begins one with weight
    0.2. Each cluster has its own word probabilities, drawn uniformly.
    """
    rng = np.random.default_rng([seed, 0])
    times = np.cumsum(rng.exponential(1.0, n_texts))
    truth = np.zeros(n_texts, np.int64)
    for i in range(n_texts):
        weights = np.bincount(truth[:i], np.exp(-DECAY_RATE * (times[i] - times[:i])))
        weights = np.append(weights, CONCENTRATION)
        truth[i] = rng.choice(weights.size, p=weights / weights.sum())
    words = rng.dirichlet(np.ones(N_WORDS), int(truth.max()) + 1)
    counts = np.random.default_rng([seed, length]).multinomial(length, words[truth])
    return Threads(times, truth, words, counts)
