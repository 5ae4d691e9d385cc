"""Compiled sums of what the tokens of a row's features say for clusters, in single precision."""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.kernels import FEW, gain
from sparsemix.models.hashed_gibbs.state import BERNOULLI
from sparsemix.numeric.jit import inner_inlined_kernel


@inner_inlined_kernel
def add_tokens(logs, a, count, added, held):
    """Add to `held` what tokens of a feature say for a cluster with `count` of it, beside one without.

    One after another, in single precision: `logs` are those of a + count.
    """
    if count + added <= logs.shape[0]:
        for token in range(added):
            held += logs[np.uint64(count + token)] - logs[np.uint64(token)]
        return held
    for token in range(added):
        held += np.float32(math.log(a + count + token)) - logs[token]
    return held


@inner_inlined_kernel
def has_tokens(prior, added):
    """Whether a feature's tokens are added one after another."""
    return prior.family != BERNOULLI and added <= FEW


@inner_inlined_kernel
def add_own(prior, sizes, own, count, added, held):
    """Add to `held` what a feature says for the row's own cluster, whose count of it holds the row's."""
    if count > added and has_tokens(prior, added):
        return add_tokens(prior.log_single, prior.a, count - added, added, held)
    if count > added:
        return held + gain(prior, sizes[own] - 1, count - added, added)
    return held


@inner_inlined_kernel
def count_in(is_list, keys, counts, first, n_cells, cluster):
    """Count of a cluster in so many cells from `first`, a list or one for each; zero if there is none."""
    if not is_list:
        return np.int64(counts[first + np.uint64(cluster)]) if cluster >= 0 else np.int64(0)
    count = np.int64(0)
    for j in range(n_cells):
        at = first + np.uint64(j)
        count += counts[at] * np.int32(keys[at] == cluster)
    return count
