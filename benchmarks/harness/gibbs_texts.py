"""Made-up texts with very many clusters, for `hashed_gibbs.py`."""

import numpy as np
from scipy.sparse import csr_array

N_OWN = 60  # characteristic words of a cluster
OWN_SHARE = 0.5  # of a text's words


def topic_texts(
    n_texts: int, n_words: int, n_clusters: int, seed: int, length: int = 100, own_share: float = OWN_SHARE
) -> tuple[csr_array, np.ndarray]:
    """Return texts of `length` words, and the cluster of each.

    `1 - own_share` of the words are those of any text, the more common the lower their number (Zipf's law). The
    others are characteristic of the cluster: 60 words, not among the most common hundredth, in proportions drawn for
    each cluster.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_clusters, n_texts)
    common = np.cumsum(1.0 / np.arange(1, n_words + 1))
    own = rng.integers(n_words // 100, n_words, (n_clusters, N_OWN))
    ends = np.cumsum(rng.dirichlet(np.ones(N_OWN), n_clusters), axis=1)
    owner = np.repeat(truth, length)
    words = np.searchsorted(common, rng.random(owner.size) * common[-1])
    is_own = rng.random(owner.size) < own_share
    # One sorted table for all clusters: cluster k's proportions lie between k and k + 1.
    stacked = (ends + np.arange(n_clusters)[:, None]).ravel()
    drawn = np.searchsorted(stacked, owner[is_own] + rng.random(int(is_own.sum())))
    words[is_own] = own.ravel()[np.minimum(drawn, N_OWN * (owner[is_own] + 1) - 1)]
    ones, texts = np.ones(words.size, np.int64), np.repeat(np.arange(n_texts), length)
    rows = csr_array((ones, (texts, np.minimum(words, n_words - 1))), shape=(n_texts, n_words))
    rows.sum_duplicates()
    return rows, truth
