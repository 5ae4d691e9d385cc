"""The ways of clustering that the paper compares, each with the same number of clusters."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from sparsemix.data import Dataset
from sparsemix.data.synthetic import make_bernoulli_mixture
from sparsemix.models.em import BernoulliMixture
from sparsemix.models.online_profiles import OnlineBernoulliMixture

BAYES, CLUTTER, EM, REPAIRED = "Bayes", "Bayes with clutter", "EM", "EM, repaired"
KMEANS, AVERAGE, WARD = "k-means", "average linkage", "Ward linkage"

_LINKAGES: dict[str, Literal["average", "ward"]] = {AVERAGE: "average", WARD: "ward"}
_STARTS = {EM: "random", REPAIRED: "repaired"}
_EPOCHS = 1_000  # at most, so that EM comes to its end
_PRIMING = 100  # rows a cluster that Figure 4 holds back; all others are learnt in the stream


class Means(NamedTuple):
    """Clusters that are no more than their means, (n_clusters, n_features)."""

    means: NDArray[np.float64]

    def predict(self, ads: Dataset) -> NDArray[np.int64]:
        """The nearest mean of each ad, (n_ads,)."""
        return np.asarray(((self.means**2).sum(axis=1) - 2.0 * (ads.matrix @ self.means.T)).argmin(axis=1))


def fitted(method: str, ads: Dataset, n_clusters: int, seed: int, most: int) -> Any:
    """Return a mixture or `Means`.

    Agglomerative clustering, whose cost grows with the square of the ads, gets a random sample of at most `most`.
    """
    if method in {*_STARTS, BAYES, CLUTTER}:
        return _mixture(method, n_clusters, seed).fit(ads)
    if method == KMEANS:
        return Means(_k_means(ads.matrix, n_clusters, seed).cluster_centers_)
    chosen = np.random.default_rng([seed, 4]).permutation(len(ads))[:most]
    sample = ads.matrix[chosen]
    labels = _tree_labels(method, sample, n_clusters)
    members = sparse.csr_array((np.ones(chosen.size), (labels, np.arange(chosen.size))))
    return Means((members @ sample).toarray() / members.sum(axis=1)[:, None])


def memberships(method: str, rows: NDArray[Any], n_clusters: int, seed: int) -> NDArray[Any]:
    """Cluster rows of zeros and ones; return their responsibilities, or labels where there are none."""
    if method in {*_STARTS, BAYES}:
        options = {"priming_rows": _PRIMING * n_clusters} if method == BAYES else {"smoothing": 0.0}
        model = _mixture(method, n_clusters, seed, **options)
        return np.asarray(model.fit(rows).predict_proba(rows))
    if method == KMEANS:
        return np.asarray(_k_means(rows.astype(np.float64), n_clusters, seed).labels_)
    return _tree_labels(method, rows.astype(np.float64), n_clusters)


def compile_all() -> None:
    """Compile what is compiled, for dense rows and for ads, so that times are of the work alone."""
    made, _ = make_bernoulli_mixture(400, 20, 2, random_state=0)
    rows = np.asarray(made)
    for method in (BAYES, EM):
        memberships(method, rows, 2, 0)
    for method in (CLUTTER, EM, REPAIRED):
        fitted(method, Dataset.from_matrix(rows), 2, seed=0, most=0).predict_proba(rows)


def _mixture(method: str, n_clusters: int, seed: int, **options: Any) -> Any:
    if method in _STARTS:
        return BernoulliMixture(
            n_clusters, init=_STARTS[method], max_iter=_EPOCHS, random_state=seed, **options
        )
    return OnlineBernoulliMixture(n_clusters, clutter=method == CLUTTER, random_state=seed, **options)


def _k_means(rows: Any, n_clusters: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=1, random_state=seed).fit(rows)


def _tree_labels(method: str, rows: Any, n_clusters: int) -> NDArray[np.int64]:
    from sklearn.metrics import euclidean_distances

    distances = squareform(euclidean_distances(rows), checks=False)
    tree = linkage(distances, _LINKAGES[method]).astype(np.float64)
    return np.asarray(fcluster(tree, n_clusters, "maxclust") - 1, np.int64)
