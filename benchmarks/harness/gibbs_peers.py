"""Dense samplers beside which ours are measured: collapsed Gibbs sampling of multinomials that looks at every cluster.

Both draw from the full conditional itself, so that one sweep of either is worth the same.
"""

import math

import numpy as np

from sparsemix.numeric.jit import kernel, reordering_kernel

FLOOR = -40.0  # nats below the best cluster where weights count as nothing


class DenseGibbs:
    """Plain or cached sampler, from random labels if none are given.

    Plain: every cluster by its formula, a logarithm for each word and cluster. Cached: a table of log(a + count) for
    each word and cluster in single precision, word by word, so that a row's scores are sums of contiguous rows; a
    second token of a word is looked up by its count; a move renews two entries for each word of the row.
    """

    def __init__(
        self,
        rows,
        n_clusters: int,
        a: float,
        concentration: float,
        seed: int,
        *,
        is_cached: bool,
        start: np.ndarray | None = None,
    ) -> None:
        self.rows, self.a, self.concentration = rows, a, concentration
        self.is_cached = is_cached
        self.rng = np.random.default_rng(seed)
        anywhere = self.rng.integers(0, n_clusters, rows.shape[0])
        self.assigned = anywhere if start is None else start.astype(np.int64)
        self.lengths = np.asarray(rows.sum(axis=1), np.int64)
        n_words = rows.shape[1]
        self.counts = np.zeros((n_words, n_clusters), np.int32)
        owner = np.repeat(self.assigned, np.diff(rows.indptr))
        np.add.at(self.counts, (rows.indices, owner), rows.data.astype(np.int32))
        self.sizes = np.bincount(self.assigned, minlength=n_clusters)
        self.totals = np.bincount(self.assigned, self.lengths, n_clusters).astype(np.int64)
        most = int(rows.sum(axis=0).max()) + int(rows.data.max()) + 1
        self.logs = np.log(a + np.arange(most + 1)).astype(np.float32)
        self.table = np.empty((0, 0), np.float32)
        if is_cached:
            self.table = np.empty(self.counts.shape, np.float32)
            for first in range(0, n_words, 1000):
                self.table[first : first + 1000] = self.logs[self.counts[first : first + 1000]]

    def sweep(self, n_rows: int | None = None) -> int:
        """Visit all rows, or so many of them, in a new order; returns how many moved."""
        order = self.rng.permutation(self.assigned.size)[:n_rows]
        statistics = (self.counts, self.sizes, self.totals)
        return int(
            _sweep(
                (self.rows.indptr, self.rows.indices, self.rows.data),
                self.lengths,
                self.a,
                self.concentration,
                statistics,
                (self.table, self.logs),
                self.is_cached,
                order,
                self.rng.random(order.size),
                self.assigned,
            )
        )


@kernel
def _sweep(rows, lengths, a, concentration, statistics, caches, is_cached, order, uniforms, assigned):
    counts, sizes, totals = statistics
    n_words, n_clusters = counts.shape
    scores, log_sizes, logs_total = (
        np.empty(n_clusters, np.float32),
        np.empty(n_clusters),
        np.empty(n_clusters),
    )
    inverse_total = np.empty(n_clusters)
    for k in range(n_clusters):
        _renew(k, a * n_words, concentration, sizes, totals, log_sizes, logs_total, inverse_total)
    n_moved = 0
    for i in range(order.shape[0]):
        row = order[i]
        own, length = assigned[row], lengths[row]
        _move(rows, row, own, -1, length, statistics, caches)
        _renew(own, a * n_words, concentration, sizes, totals, log_sizes, logs_total, inverse_total)
        if is_cached:
            _score_cached(rows, row, length, counts, caches, log_sizes, logs_total, inverse_total, scores)
        else:
            _score_plain(rows, row, length, a, concentration, statistics, scores)
        new = _draw(scores, uniforms[i])
        _move(rows, row, new, 1, length, statistics, caches)
        _renew(new, a * n_words, concentration, sizes, totals, log_sizes, logs_total, inverse_total)
        assigned[row] = new
        n_moved += new != own
    return n_moved


@kernel
def _renew(k, prior_total, concentration, sizes, totals, log_sizes, logs_total, inverse_total):
    log_sizes[k] = math.log(sizes[k] + concentration)
    logs_total[k] = math.log(prior_total + totals[k])
    inverse_total[k] = 1.0 / (prior_total + totals[k])


@kernel
def _move(rows, row, k, sign, length, statistics, caches):
    indptr, columns, values = rows
    counts, sizes, totals = statistics
    table, logs = caches
    for at in range(indptr[row], indptr[row + 1]):
        w = columns[at]
        counts[w, k] += sign * values[at]
        if table.shape[0]:
            table[w, k] = logs[counts[w, k]]
    sizes[k] += sign
    totals[k] += sign * length


@kernel
def _score_plain(rows, row, length, a, concentration, statistics, scores_out):
    indptr, columns, values = rows
    counts, sizes, totals = statistics
    prior_total = a * counts.shape[0]
    for k in range(scores_out.shape[0]):
        everything = prior_total + totals[k]
        score = (
            math.log(sizes[k] + concentration) + math.lgamma(everything) - math.lgamma(everything + length)
        )
        for at in range(indptr[row], indptr[row + 1]):
            count = a + counts[columns[at], k]
            for j in range(values[at]):
                score += math.log(count + j)
        scores_out[k] = score


@kernel
def _score_cached(rows, row, length, counts, caches, log_sizes, logs_total, inverse_total, scores_out):
    indptr, columns, values = rows
    table, logs = caches
    pairs, squares = 0.5 * length * (length - 1.0), length * (length - 1.0) * (2.0 * length - 1.0) / 12.0
    for k in range(scores_out.shape[0]):
        per_total = inverse_total[k]
        series = per_total * (
            pairs - squares * per_total
        )  # ratio of Gamma functions, rows much shorter than a D
        scores_out[k] = log_sizes[k] - length * logs_total[k] - series
    for at in range(indptr[row], indptr[row + 1]):
        w = columns[at]
        _add(table[w], scores_out)
        for j in range(1, values[at]):
            _add_looked_up(logs[j:], counts[w], scores_out)


@kernel
def _add(terms, scores_out):
    for k in range(scores_out.shape[0]):
        scores_out[k] += terms[k]


@kernel
def _add_looked_up(logs, counts, scores_out):
    for k in range(scores_out.shape[0]):
        scores_out[k] += logs[counts[k]]


@reordering_kernel
def _draw(scores, uniform):
    top = scores[0]
    for k in range(scores.shape[0]):
        top = max(top, scores[k])
    total = 0.0
    for k in range(scores.shape[0]):
        below = scores[k] - top
        scores[k] = math.exp(below) if below > FLOOR else np.float32(0.0)
        total += scores[k]
    left = uniform * total
    for k in range(scores.shape[0]):
        left -= scores[k]
        if left < 0.0:
            return k
    return scores.shape[0] - 1
