"""Made-up texts with very many clusters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

N_OWN = 60  # characteristic words of a cluster
OWN_SHARE = 0.5  # of a text's words


def clustered_texts(
    n_texts: int, n_words: int, n_clusters: int, length: int, seed: int, own_share: float = OWN_SHARE
) -> tuple[Any, NDArray[np.int64]]:
    """Return texts of `length` words each, (n_texts, n_words) CSR, and the cluster of each.

    A share of the words, `own_share`, is among 60 that are characteristic of the cluster, in proportions drawn for each
    cluster; the others are those of any text, the more common the lower their number (Zipf's law).
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_clusters, size=n_texts)
    own = rng.integers(n_words // 100, n_words, (n_clusters, N_OWN))
    ends = np.cumsum(rng.dirichlet(np.ones(N_OWN), n_clusters), axis=1)
    common = np.cumsum(1.0 / np.arange(1, n_words + 1))
    cluster = np.repeat(truth, length)
    words = np.searchsorted(common, rng.random(cluster.size) * common[-1])
    is_own = rng.random(cluster.size) < own_share
    owner = cluster[is_own]
    stacked = (
        ends + np.arange(n_clusters)[:, None]
    ).ravel()  # proportions of cluster k lie between k and k + 1
    drawn = np.searchsorted(stacked, owner + rng.random(owner.size))
    words[is_own] = own.ravel()[drawn.clip(N_OWN * owner, N_OWN * owner + N_OWN - 1)]
    entries = (
        np.ones(words.size, np.int64),
        (np.repeat(np.arange(n_texts), length), words.clip(max=n_words - 1)),
    )
    return sparse.csr_array(entries, shape=(n_texts, n_words)), truth
