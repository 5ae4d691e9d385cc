"""Between blocks of rows: settle what waits, lay the posterior out anew, and index it for scoring."""

import numpy as np

from sparsemix.numeric.jit import kernel


@kernel
def settle(
    posterior,  # IN/OUT Posterior
):
    """Add the rows that wait in `certain`, `common_on` and `common_rows` to the Betas."""
    for k in range(posterior.size.shape[0]):
        if posterior.certain[k] == 0.0:
            continue
        for e in range(posterior.start[k], posterior.start[k] + posterior.size[k]):
            posterior.beta[e] += posterior.certain[k]
        posterior.certain[k] = 0.0
    for e in range(posterior.common_on.shape[0]):
        posterior.common_alpha[e] += posterior.common_on[e]
        posterior.common_beta[e] += posterior.common_rows[0] - posterior.common_on[e]
        posterior.common_on[e] = 0.0
    posterior.common_rows[0] = 0.0


@kernel
def copy_slots(source, target, first, last):
    """Copy the explicit features of components `first` to ``last - 1`` to a posterior of another layout."""
    for k in range(first, last):
        for e in range(source.size[k]):
            target.feature[target.start[k] + e] = source.feature[source.start[k] + e]
            target.alpha[target.start[k] + e] = source.alpha[source.start[k] + e]
            target.beta[target.start[k] + e] = source.beta[source.start[k] + e]


@kernel
def count_entries(posterior, first, last, counts_out):
    """Count the components from `first` to ``last - 1`` in which each feature is explicit, (n_features,)."""
    counts_out[:] = 0
    for k in range(first, last):
        for e in range(posterior.start[k], posterior.start[k] + posterior.size[k]):
            counts_out[posterior.feature[e]] += 1


@kernel
def lay_out(
    common,  # IN  (n_common,) int32
    least_dense,  # components in which a feature is explicit from which it is a row of the table
    ends,  # IN/OUT (n_parts, n_features) int64: counts, become what `fill_components` wants
    indptr_out,  # OUT (n_features + 1,) int64
    dense_out,  # OUT (n_features,) int32: the dense features first; return how many
):
    """Give each feature its place in the index: parts of the components follow each other; O(n_parts n_features)."""
    for feature in common:
        ends[0, feature] = 1
    n_parts, n_dense, end = ends.shape[0], 0, 0
    indptr_out[0] = 0
    for d in range(ends.shape[1]):
        count = 0
        for part in range(n_parts):
            count += ends[part, d]
        if count >= least_dense:
            ends[:, d] = -1 - n_dense
            dense_out[n_dense] = d
            n_dense += 1
            end += 1
        else:
            for part in range(n_parts):
                own = ends[part, d]
                ends[part, d] = end
                end += own
        indptr_out[d + 1] = end
    return n_dense


@kernel
def fill_common(posterior, index):
    """Add the common features to the index; return the log probability that all are off."""
    log_off = 0.0
    for e in range(posterior.common_feature.shape[0]):
        alpha, beta = posterior.common_alpha[e], posterior.common_beta[e]
        index.correction[index.indptr[posterior.common_feature[e]]] = np.log(alpha / beta)
        log_off += np.log(beta / (alpha + beta))
    return log_off


@kernel
def fill_components(
    posterior,  # IN  Posterior
    first,
    last,  # components `first` to ``last - 1``
    n_own,  # features that are not common
    common_log_off,  # from `fill_common`
    end,  # IN/OUT (n_features,) int64: where each feature's next triple goes; of a dense one -1 minus its row
    index,  # OUT ScoreIndex; `indptr` and the triples of common and dense features are given
):
    """Turn components of the posterior into the index from features to components that scoring reads."""
    for k in range(first, last):
        log_off = fill_component(k, n_own, index, end, posterior)
        index.base[k] = np.log(posterior.weight_concentration[k]) + log_off + common_log_off


@kernel
def fill_component(
    k,
    n_own,  # features that are not common
    index,  # OUT ScoreIndex
    end,  # IN/OUT (n_features,) int64: where each feature's next triple goes; of a dense one -1 minus its row
    posterior,  # IN  Posterior
):
    """Add the explicit features of one component to the index; return its log probability of "all off"."""
    default_alpha, default_beta = posterior.default_alpha[k], posterior.default_beta[k]
    default_log_odds = np.log(default_alpha / default_beta)
    index.default_log_odds[k] = default_log_odds
    size, start = posterior.size[k], posterior.start[k]
    log_off = (n_own - size) * np.log1p(-default_alpha / (default_alpha + default_beta))
    off = 1.0
    for e in range(size):
        alpha, beta = posterior.alpha[start + e], posterior.beta[start + e]
        correction = np.log(alpha / beta) - default_log_odds
        column = posterior.feature[start + e]
        at = end[column]
        if at < 0:
            index.table[-1 - at, k] = correction
        else:
            index.component[at] = k
            index.correction[at] = correction
            end[column] = at + 1
        off *= beta / (alpha + beta)
        if off < 1e-200:
            log_off += np.log(off)
            off = 1.0
    return log_off + np.log(off)
