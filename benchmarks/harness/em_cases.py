"""Generated tables for measuring EM: documents of many words, and dense answers to yes-or-no questions."""

import numpy as np
from scipy.sparse import coo_array, csr_array

SPREAD_OF_WORDS = 1.5  # of the logarithm of a word's preference in a cluster
MEAN_LENGTH, SHAPE_OF_LENGTHS = 90.0, 4.0


def make_documents(
    n_documents: int, n_words: int, n_clusters: int, seed: int
) -> tuple[csr_array, np.ndarray]:
    """Return counts of words and the cluster of each document.

    A word's probability is Zipf's law times a preference of the cluster; about 65 distinct words a document.
    """
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, n_clusters, n_documents)
    lengths = 1 + rng.poisson(rng.gamma(SHAPE_OF_LENGTHS, MEAN_LENGTH / SHAPE_OF_LENGTHS, n_documents))
    owners, words = [], []
    for cluster in range(n_clusters):
        preference = np.exp(SPREAD_OF_WORDS * rng.standard_normal(n_words))
        cumulative = np.cumsum(preference / np.arange(1, n_words + 1))
        members = np.flatnonzero(clusters == cluster)
        owner = np.repeat(members, lengths[members])
        drawn = np.searchsorted(cumulative, rng.random(owner.size) * cumulative[-1], side="right")
        owners.append(owner)
        words.append(np.minimum(drawn, n_words - 1))
    places = (np.concatenate(owners), np.concatenate(words))
    counts = coo_array((np.ones(places[0].size), places), shape=(n_documents, n_words))
    return csr_array(counts), clusters


def make_answers(n_rows: int, n_questions: int, n_classes: int, contrast: float, seed: int) -> np.ndarray:
    """Return dense zeros and ones, about half of them ones.

    Log odds of a class are those of the question plus normal noise of standard deviation `contrast`.
    """
    rng = np.random.default_rng(seed)
    classes = rng.choice(n_classes, n_rows, p=rng.dirichlet(np.full(n_classes, 5.0)))
    own = contrast * rng.standard_normal((n_classes, n_questions))
    log_odds = own + 0.5 * rng.standard_normal(n_questions)
    return (rng.random((n_rows, n_questions)) < 1.0 / (1.0 + np.exp(-log_odds[classes]))).astype(np.float64)
