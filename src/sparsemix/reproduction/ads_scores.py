"""What is measured of clusters of ads: time, balance, trades, test ads, advertisers."""

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data import Dataset
from sparsemix.data.synthetic import CLUTTER as NO_CLUSTER
from sparsemix.metrics import advertiser_entropy
from sparsemix.reproduction.ads_cuts import HELD_OUT
from sparsemix.reproduction.ads_methods import fitted

IntVector = NDArray[np.int64]


class Found(NamedTuple):
    """What one method made of one set of ads; None is what it cannot have.

    ads : which ads. n_clusters : wanted. seconds : CPU time of training.
    largest : share of all ads in the largest cluster.
    consistent, others : share of ads that are of the main trade of their cluster; the same outside the largest one.
    test_nll : mean negative log likelihood of test ads, nats. entropy : of the advertisers over the clusters, nats;
    discarded : the same without the clutter and its ads.
    """

    ads: str
    n_clusters: int
    method: str
    seconds: float
    largest: float
    consistent: float | None
    others: float | None
    test_nll: float | None
    entropy: float
    discarded: float | None


def measured(method: str, name: str, ads: Dataset, n_clusters: int, seed: int, most: int) -> Found:
    """Train with four fifths of the ads; the advertisers' entropy, the shares and the trades are of all ads."""
    train, test = ads.split(HELD_OUT, seed)
    start = time.process_time()
    model = fitted(method, train, n_clusters, seed, most)
    seconds = time.process_time() - start
    labels, owners = np.asarray(model.predict(ads)), np.asarray(ads.groups)
    consistent, others = (None, None) if ads.labels is None else consistency(labels, ads.labels)
    sizes = np.unique(labels, return_counts=True)[1]
    is_mixture = hasattr(model, "predict_proba")
    shares = model.predict_proba(ads) if is_mixture else labels
    has_clutter = is_mixture and NO_CLUSTER in model.component_ids_
    return Found(
        ads=name,
        n_clusters=n_clusters,
        method=method,
        seconds=seconds,
        largest=float(sizes.max() / sizes.sum()),
        consistent=consistent,
        others=others,
        test_nll=-float(model.score(test)) if is_mixture else None,
        entropy=advertiser_entropy(shares, owners),
        discarded=without_clutter(shares, model.component_ids_, labels, owners) if has_clutter else None,
    )


def consistency(labels: IntVector, trades: IntVector) -> tuple[float | None, float | None]:
    """Share of the ads of known trade (not -1) that are of their cluster's main one: of all, and outside the largest.

    Examples
    --------
    >>> consistency(np.array([0, 0, 0, 1, 1, 1, 1]), np.array([5, 5, 6, 6, 6, 7, -1]))
    (0.6666666666666666, 0.6666666666666666)
    >>> consistency(np.array([0, 0, 0, 1]), np.array([5, 6, 6, 7]))
    (0.75, 1.0)
    """
    known = trades >= 0
    clusters, codes = np.unique(labels[known], return_inverse=True)
    table = np.zeros((clusters.size, int(trades.max(initial=0)) + 1))
    np.add.at(table, (codes, trades[known]), 1.0)
    sizes, main = table.sum(axis=1), table.max(axis=1)
    is_other = np.arange(clusters.size) != sizes.argmax() if clusters.size else np.zeros(0, bool)
    return _share(main, sizes), _share(main[is_other], sizes[is_other])


def without_clutter(shares: Any, components: IntVector, labels: IntVector, groups: Any) -> float | None:
    """Entropy of the advertisers over the other clusters, of the ads whose most probable cluster is not the clutter."""
    kept = labels != NO_CLUSTER
    if not kept.any():
        return None
    others = shares[kept][:, components != NO_CLUSTER]
    return advertiser_entropy(others / others.sum(axis=1, keepdims=True), groups[kept])


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> float | None:
    return float(part.sum() / whole.sum()) if whole.size else None
