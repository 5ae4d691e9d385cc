"""Draws of partitions for the tests, all partitions of a few rows, and kernels compiled or as plain Python."""

import numpy as np
from hypothesis import strategies as st

MODES = ["compiled", "interpreted"]


def as_mode(kernel, mode):
    """The kernel, or the plain function behind it; they are the same where compilation is switched off."""
    return getattr(kernel, "py_func", kernel) if mode == "interpreted" else kernel


def draws_of_partitions(most_rows=7, most_draws=5):
    shapes = st.tuples(st.integers(1, most_draws), st.integers(1, most_rows))
    return shapes.flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(-2, 3), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        ).map(np.array)
    )


def all_partitions(n_rows):
    """Every partition of `n_rows` rows, as labels in order of first appearance."""
    found = [[]]
    for _ in range(n_rows):
        found = [[*labels, new] for labels in found for new in range(max(labels, default=-1) + 2)]
    return np.array(found)


def noisy_draws(rng, n_draws, n_rows, n_clusters=3, noise=0.25):
    truth = rng.integers(0, n_clusters, n_rows)
    others = rng.integers(0, n_clusters, (n_draws, n_rows))
    return np.where(rng.random(others.shape) < noise, others, truth)


def renamed(draws, rng):
    """The same partitions under other labels."""
    names = rng.permutation(np.arange(-50, 50))
    return np.array([names[rng.permutation(20)][draw + 2] for draw in draws])
