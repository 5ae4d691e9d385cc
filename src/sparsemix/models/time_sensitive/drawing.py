"""Draw new rows from clusters in time, each as if it alone came next: its cluster by the time, its features by that."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.foundation import checks
from sparsemix.models.time_sensitive.solution import Profiles, Solution, scores
from sparsemix.models.time_sensitive.state import FloatMatrix, FloatVector, IntVector

NEW = -1  # cluster of a row that begins one


def prior_weights(solution: Solution, times: FloatVector) -> Iterator[FloatMatrix]:
    """Log prior weights of the clusters and of a new one at each time, part by part; (n, K + 1)."""
    # Of multinomial rows one without any words has the predictive one.
    wordless = solution._replace(hyper=solution.hyper._replace(family="multinomial"))
    rows: Any = sparse.csr_array((times.size, solution.features.n_features), dtype=np.int64)
    for part in scores(wordless, rows, times):
        yield part.log_joint


def draw_components(log_weights: FloatMatrix, rng: np.random.Generator) -> IntVector:
    """A cluster for each line of log weights, (n,); `NEW` for the last column."""
    shares = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    reached = np.cumsum(shares, axis=1)
    beyond = reached > rng.random((len(reached), 1)) * reached[:, -1:]
    components = beyond.argmax(axis=1)
    return np.where(components == log_weights.shape[1] - 1, NEW, components)


def check_draws(found: Profiles, n_rows: int) -> None:
    """Raise ParameterError if rows of the mean length would fit no memory."""
    checks.draws(n_rows, _mean_length(found))


def draw_rows(found: Profiles, components: IntVector, rng: np.random.Generator) -> Any:
    """Rows from the predictives of their clusters, (n, n_features) CSR.

    Multinomial rows have Poisson lengths with the mean that was learnt. Cost O(features drawn + clusters drawn x
    n_features).
    """
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    draw = _words if found.hyper.family == "multinomial" else _presence
    for component in np.unique(components):
        members = np.flatnonzero(components == component)
        counts, size = np.zeros(found.features.n_features), 0.0
        if component != NEW:
            held = slice(found.counts.indptr[component], found.counts.indptr[component + 1])
            counts[found.counts.indices[held]] = found.counts.data[held]
            size = float(found.sizes[component])
        row, column = draw(found, counts, size, members, rng)
        rows.append(row)
        columns.append(column)
    places = (np.concatenate(rows), np.concatenate(columns))
    shape = (components.size, found.features.n_features)
    return sparse.csr_array(sparse.coo_array((np.ones(places[0].size), places), shape=shape))


def _mean_length(found: Profiles) -> float:
    return float(found.counts.sum() / found.sizes.sum())


def _words(
    found: Profiles, counts: FloatVector, _size: float, members: IntVector, rng: np.random.Generator
) -> tuple[IntVector, IntVector]:
    """(row, feature) of each word: Polya's urn, in which a word also comes again for having come before."""
    own = counts + found.hyper.a
    lengths = rng.poisson(_mean_length(found), members.size)
    start, cumulative = np.cumsum(lengths) - lengths, np.cumsum(own)
    n_words = int(lengths.sum())
    drawn = np.searchsorted(cumulative, rng.random(n_words) * cumulative[-1], side="right")
    words = np.minimum(drawn, own.size - 1)
    for place in range(1, int(lengths.max(initial=0))):
        at = start[lengths > place]
        again = at[rng.random(at.size) * (cumulative[-1] + place) >= cumulative[-1]]
        words[again + place] = words[again + rng.integers(place, size=again.size)]
    return np.repeat(members, lengths), words


def _presence(
    found: Profiles, counts: FloatVector, size: float, members: IntVector, rng: np.random.Generator
) -> tuple[IntVector, IntVector]:
    """(row, feature) of what is on; features are independent given the cluster."""
    hyper = found.hyper
    times_on = rng.binomial(members.size, (hyper.a + counts) / (hyper.a + hyper.b + size))
    rows = [rng.choice(members, times_on[w], replace=False) for w in np.flatnonzero(times_on)]
    return np.concatenate([np.empty(0, np.int64), *rows]), np.repeat(np.arange(counts.size), times_on)
