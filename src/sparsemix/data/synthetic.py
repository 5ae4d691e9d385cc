"""Made-up binary tables with known clusters: the paper's set and tables that look like ads x keywords."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.sparse import csr_array

from sparsemix.foundation.errors import parameter_error

CLUTTER = -1
_ROWS_PER_CHUNK = 50_000

Seed: TypeAlias = int | np.random.Generator | None
FloatVector: TypeAlias = NDArray[np.float64]


def make_bernoulli_mixture(
    n_rows: int = 10_000,
    n_features: int = 100,
    n_components: int = 10,
    *,
    sparse: bool = False,
    random_state: Seed = None,
) -> tuple[NDArray[np.bool_] | csr_array, NDArray[np.int32]]:
    """Draw rows from a mixture of Bernoulli profiles with uniform probabilities.

    Every probability is uniform in [0, 1) and the mixing weights are one uniform draw from the simplex; with
    the default sizes this is the synthetic set on which the online Bernoulli mixture was published.

    Parameters
    ----------
    n_rows, n_features, n_components : int
        Sizes, each >= 1.
    sparse : bool, default False
        Return CSR (float32 ones) instead of a dense boolean matrix.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same rows, dense or sparse.

    Returns
    -------
    rows : ndarray of bool or csr_array of float32, shape (n_rows, n_features)
    assignments : ndarray of int32, shape (n_rows,)
        The component that each row was drawn from.

    Raises
    ------
    ParameterError
        If a size is below 1.

    Examples
    --------
    >>> rows, assignments = make_bernoulli_mixture(6, 4, 2, random_state=0)
    >>> rows.shape, rows.dtype, assignments.shape
    ((6, 4), dtype('bool'), (6,))
    """
    _check_sizes("make_bernoulli_mixture", n_rows=n_rows, n_features=n_features, n_components=n_components)
    rng = np.random.default_rng(random_state)
    means = rng.random((n_components, n_features))
    weights = rng.dirichlet(np.ones(n_components))
    assignments = rng.choice(n_components, size=n_rows, p=weights).astype(np.int32)
    rows = np.empty((n_rows, n_features), dtype=np.bool_)
    for start, stop in _chunks(n_rows):
        chunk = assignments[start:stop]
        rows[start:stop] = rng.random((len(chunk), n_features)) < means[chunk]
    return (csr_array(rows, dtype=np.float32) if sparse else rows), assignments


def make_ads(
    n_ads: int,
    n_keywords: int,
    n_clusters: int,
    *,
    keywords_per_ad: float = 27.0,
    characteristic: int = 60,
    low: float = 0.05,
    high: float = 0.5,
    clutter_share: float = 0.05,
    random_state: Seed = None,
) -> tuple[csr_array, NDArray[np.int32]]:
    """Draw a table of ads and keywords with known clusters and a share of clutter.

    - Keyword popularity follows Zipf's law, ``1 / rank``; ranks are dealt to the columns at random.
    - Each cluster has `characteristic` keywords, drawn from all keywords with equal chance and without
      replacement (clusters may share some); an ad of the cluster holds each of them independently, with a
      probability that is fixed for cluster and keyword and uniform in [`low`, `high`].
    - Further keywords come from the popularity: keyword d is added with probability ``1 - exp(-rate p_d)``,
      the chance that Poisson many draws hit it. The rate of each cluster is solved for, so that an ad holds
      `keywords_per_ad` distinct keywords on average.
    - Clutter ads draw all their keywords from the popularity.
    - Cluster weights are one draw from a symmetric Dirichlet with parameter 2: moderately uneven.

    Every ad is thus a draw from a mixture of ``n_clusters + 1`` Bernoulli profiles, in random order.

    Parameters
    ----------
    n_ads, n_keywords, n_clusters : int
        Sizes, each >= 1.
    keywords_per_ad : float, default 27
        Mean number of distinct keywords of an ad.
    characteristic : int, default 60
        Characteristic keywords of a cluster, at most `n_keywords`.
    low, high : float
        Range of the probabilities of characteristic keywords, inside [0, 1].
    clutter_share : float, default 0.05
        Probability that an ad is clutter, in [0, 1].
    random_state : int, numpy.random.Generator or None
        Seed.

    Returns
    -------
    rows : csr_array of float32, shape (n_ads, n_keywords)
        Ones, with sorted int32 column indices.
    assignments : ndarray of int32, shape (n_ads,)
        Cluster of each ad, -1 for clutter.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or `keywords_per_ad` is more than half of the keywords or less than
        what the characteristic keywords bring on average.

    Examples
    --------
    >>> ads, clusters = make_ads(1000, 500, 5, random_state=0)
    >>> ads.shape, round(ads.nnz / 1000)
    ((1000, 500), 27)
    >>> bool(0.02 < (clusters == -1).mean() < 0.09)
    True
    """
    _check_ads(
        n_ads=n_ads,
        n_keywords=n_keywords,
        n_clusters=n_clusters,
        keywords_per_ad=keywords_per_ad,
        characteristic=characteristic,
        low=low,
        high=high,
        clutter_share=clutter_share,
    )
    rng = np.random.default_rng(random_state)
    world = _AdWorld.draw(
        rng, n_keywords, n_clusters, characteristic, low=low, high=high, size=keywords_per_ad
    )
    assignments = rng.choice(n_clusters, size=n_ads, p=world.weights).astype(np.int32)
    assignments[rng.random(n_ads) < clutter_share] = CLUTTER
    counts, columns = [np.zeros(1, dtype=np.int64)], []
    for start, stop in _chunks(n_ads):
        chunk_counts, chunk_columns = world.draw_ads(rng, assignments[start:stop])
        counts.append(chunk_counts)
        columns.append(chunk_columns)
    indptr, indices = np.concatenate(counts).cumsum(), np.concatenate(columns)
    ones = np.ones(len(indices), dtype=np.float32)
    if len(indices) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    rows = csr_array((ones, indices, indptr), shape=(n_ads, n_keywords))
    rows.has_canonical_format = True
    return rows, assignments


@dataclass(frozen=True, eq=False)
class _AdWorld:
    """What is fixed before the first ad is drawn.

    cumulative : (n_keywords,) popularity, summed up
    weights : (n_clusters,) probability of each cluster
    columns, probabilities : (n_clusters + 1, characteristic) keywords of each cluster; the last row is
        clutter (row -1), with probability zero everywhere
    rates : (n_clusters + 1,) mean number of draws from the popularity
    """

    cumulative: FloatVector
    weights: FloatVector
    columns: NDArray[np.int32]
    probabilities: NDArray[np.float64]
    rates: FloatVector

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        n_keywords: int,
        n_clusters: int,
        characteristic: int,
        *,
        low: float,
        high: float,
        size: float,
    ) -> "_AdWorld":
        popularity = 1.0 / rng.permutation(np.arange(1.0, n_keywords + 1.0))
        popularity /= popularity.sum()
        columns = np.zeros((n_clusters + 1, characteristic), dtype=np.int32)
        probabilities = np.zeros((n_clusters + 1, characteristic))
        for k in range(n_clusters):
            columns[k] = rng.choice(n_keywords, size=characteristic, replace=False)
            probabilities[k] = rng.uniform(low, high, size=characteristic)
        rates = [
            _solve_rate(popularity, *profile, size) for profile in zip(columns, probabilities, strict=True)
        ]
        weights = rng.dirichlet(np.full(n_clusters, 2.0))
        return cls(popularity.cumsum(), weights, columns, probabilities, np.array(rates))

    def draw_ads(
        self, rng: np.random.Generator, assignments: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the number of keywords of each ad and all their columns, sorted inside an ad."""
        n_ads, n_keywords = len(assignments), len(self.cumulative)
        taken = rng.random((n_ads, self.columns.shape[1])) < self.probabilities[assignments]
        own_rows, positions = np.nonzero(taken)
        own_columns = self.columns[assignments[own_rows], positions]
        n_draws = rng.poisson(self.rates[assignments])
        drawn = np.searchsorted(self.cumulative, rng.random(n_draws.sum()), side="right")
        drawn_rows = np.repeat(np.arange(n_ads), n_draws)
        rows = np.concatenate([own_rows, drawn_rows])
        columns = np.concatenate([own_columns, np.minimum(drawn, n_keywords - 1)])
        cells = np.unique(rows * np.int64(n_keywords) + columns)
        counts = np.bincount(cells // n_keywords, minlength=n_ads)
        return counts, (cells % n_keywords).astype(np.int32)


def _solve_rate(
    popularity: FloatVector, columns: NDArray[np.int32], probabilities: FloatVector, size: float
) -> float:
    """Return the rate at which an ad holds `size` distinct keywords on average, at least zero."""
    not_own = np.ones(len(popularity))
    not_own[columns] = 1.0 - probabilities

    def excess(rate: float) -> float:
        return float((1.0 - not_own * np.exp(-rate * popularity)).sum() - size)

    if excess(0.0) >= 0.0:
        return 0.0
    upper = size
    while excess(upper) < 0.0:
        upper *= 2.0
    return float(brentq(excess, 0.0, upper, xtol=1e-9))


def _chunks(n_rows: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n_rows, _ROWS_PER_CHUNK):
        yield start, min(start + _ROWS_PER_CHUNK, n_rows)


def _check_ads(
    *,
    n_ads: int,
    n_keywords: int,
    n_clusters: int,
    keywords_per_ad: float,
    characteristic: int,
    low: float,
    high: float,
    clutter_share: float,
) -> None:
    owner = "make_ads"
    _check_sizes(
        owner, n_ads=n_ads, n_keywords=n_keywords, n_clusters=n_clusters, characteristic=characteristic
    )
    if characteristic > n_keywords:
        raise parameter_error("characteristic", owner, f"at most n_keywords={n_keywords}", characteristic)
    if not 0.0 <= low <= high <= 1.0:
        raise parameter_error("low, high", owner, "a range inside [0, 1] with low <= high", (low, high))
    if not 0.0 <= clutter_share <= 1.0:
        raise parameter_error("clutter_share", owner, "a number in [0, 1]", clutter_share)
    least, most = characteristic * (low + high) / 2, n_keywords / 2
    if not least <= keywords_per_ad <= most:
        rule = f"between {least:g} (the characteristic keywords of an ad) and {most:g} (half of all)"
        remedy = "Change 'characteristic', 'high' or 'n_keywords' to move these limits."
        raise parameter_error("keywords_per_ad", owner, rule, keywords_per_ad, remedy)


def _check_sizes(owner: str, **sizes: int) -> None:
    for name, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise parameter_error(name, owner, "an integer >= 1", value)
