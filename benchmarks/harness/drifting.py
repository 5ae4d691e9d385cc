"""Streams in which clusters appear, move and vanish, and rows in unkind orders."""

import numpy as np
from scipy.sparse import csr_array, vstack

CLUTTER = -1
CHARACTERISTIC = 40
STEPS = 200
BACKGROUND_FEATURES = 8.0


def drifting_clusters(
    n_rows: int, n_features: int, n_clusters: int, seed: int
) -> tuple[csr_array, np.ndarray]:
    """Draw binary rows whose clusters live for a while and change on the way.

    A cluster lives for 30 to 60 % of the stream, from a time that is uniform over it; those that would be born before
    the beginning or end after the end are cut off. It has `CHARACTERISTIC` features with probabilities of 0.1 to 0.5,
    which it gives up one by one for as many others while it lives. All rows share a background by Zipf's law,
    of `BACKGROUND_FEATURES` features on average. A row is of any living cluster with equal chance; `n_clusters` must be
    so many (20, say) that there always is one.

    Returns
    -------
    rows : csr_array of ones, (n_rows, n_features)
    clusters : ndarray of int, (n_rows,)
    """
    rng = np.random.default_rng(seed)
    length = rng.uniform(0.3, 0.6, n_clusters)
    birth = rng.uniform(-0.4, 0.9, n_clusters)
    popularity = rng.permutation(1.0 / np.arange(1, n_features + 1))
    background = np.minimum(BACKGROUND_FEATURES * popularity / popularity.sum(), 0.9)
    own = np.array([rng.permutation(n_features)[: 2 * CHARACTERISTIC] for _ in range(n_clusters)])
    shares = rng.uniform(0.1, 0.5, (n_clusters, CHARACTERISTIC))
    blocks, clusters = [], []
    for first, last in zip(*_steps(n_rows), strict=True):
        age = ((first + last) / (2 * n_rows) - birth) / length
        alive = np.flatnonzero((age >= 0) & (age < 1))
        drawn = rng.choice(alive, last - first)
        probabilities = np.tile(background, (n_clusters, 1))
        for k in alive:
            moved = int(age[k] * CHARACTERISTIC)
            features = np.append(
                own[k, moved:CHARACTERISTIC], own[k, CHARACTERISTIC : CHARACTERISTIC + moved]
            )
            probabilities[k, features] = np.maximum(probabilities[k, features], shares[k])
        blocks.append(csr_array(rng.random((last - first, n_features)) < probabilities[drawn], dtype=float))
        clusters.append(drawn)
    return csr_array(vstack(blocks, format="csr")), np.concatenate(clusters)


def _steps(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    bounds = np.unique(np.linspace(0, n_rows, STEPS + 1).astype(int))
    return bounds[:-1], bounds[1:]


def in_order(kind: str, clusters: np.ndarray, seed: int) -> np.ndarray:
    """Order of rows: as they are ("shuffled"), "sorted" by cluster with clutter anywhere, or "clutter first"."""
    if kind == "shuffled":
        return np.arange(clusters.size)
    key = clusters.astype(float)
    if kind == "sorted":
        is_clutter = clusters == CLUTTER
        key[is_clutter] = np.random.default_rng(seed).uniform(0, clusters.max() + 1, int(is_clutter.sum()))
    return np.argsort(key, kind="stable")
