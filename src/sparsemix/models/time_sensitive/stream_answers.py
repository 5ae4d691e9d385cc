"""What the live clusters of a stream answer: about rows, and about features."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sparsemix.answers import ComponentSummary, Suggestion
from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.time_sensitive import answers
from sparsemix.models.time_sensitive.solution import Hyperparameters, Scores
from sparsemix.models.time_sensitive.state import FAMILIES, FloatMatrix, FloatVector, IntVector
from sparsemix.models.time_sensitive.stream import CELLS, Stream, part, stream_rows


class Ending(NamedTuple):
    """A cluster that has ended.

    component : its id. born, last : times of its first row and its last, seconds since 1970 UTC. size : rows, or the
    sum of their shares. reason : "expired" when its history weighed next to nothing, "emptied" when re-sampling had
    moved its last row to another.
    """

    component: int
    born: float
    last: float
    size: float
    reason: str


class Snapshot(NamedTuple):
    """The live clusters in the order of their ids: (K,) ids and sizes, (K, n_features) counts, CSR."""

    hyper: Hyperparameters
    ids: IntVector
    sizes: FloatVector
    counts: Any
    features: FeatureNames


def endings(table: FloatMatrix) -> list[Ending]:
    """Ends of clusters as people read them, from lines of `stream_state.Ended`."""
    return [
        Ending(int(component), born, last, size, "emptied" if reason else "expired")
        for component, born, last, size, reason in table.tolist()
    ]


def snapshot(stream: Stream, features: FeatureNames) -> Snapshot:
    """What the live clusters hold; O(their cells)."""
    rules, held, active = stream.rules, stream.held(), stream.active
    family = next(name for name, number in FAMILIES.items() if number == rules.family)
    counts: Any = sparse.csr_array(
        (held.counts, held.columns, held.indptr), shape=(active.size, rules.n_features)
    )
    counts.sort_indices()
    hyper = Hyperparameters(family, rules.concentration, rules.a, rules.b, False)
    return Snapshot(hyper, stream.clusters.ids[active], stream.clusters.sizes[active], counts, features)


def scores(stream: Stream, matrix: Any, times: FloatVector) -> Iterator[Scores]:
    """Ask about rows part by part; one before the latest row that was learnt is asked about as of that."""
    rows = stream_rows(matrix, np.maximum(times, stream.latest))
    step = max(1, CELLS // (stream.active.size + 1))
    for first in range(0, times.size, step):
        yield Scores(*stream.ask(part(rows, first, min(first + step, times.size))))


def prior_weights(stream: Stream, times: FloatVector) -> Iterator[FloatMatrix]:
    """Log prior weights of the live clusters and of a new one at each time, part by part; (n, n_live + 1)."""
    clusters, active, rules = stream.clusters, stream.active, stream.rules
    step = max(1, CELLS // (active.size + 1))
    for first in range(0, times.size, step):
        now = np.maximum(times[first : first + step], stream.latest)
        own = clusters.log_weight[active] - rules.rate * (now[:, None] - clusters.last[active])
        yield np.column_stack([own, np.full(now.size, np.log(rules.concentration))])


def responsibilities(found: Scores) -> FloatMatrix:
    """Posterior probabilities of the live clusters; rows sum to one."""
    joint = found.log_joint[:, :-1]
    shares = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def top_features(found: Snapshot, n: int, by: str, level: float) -> list[ComponentSummary]:
    """Summaries of the live clusters under their ids."""
    summaries = answers.top_features(found, n, by, level)
    return [each._replace(component=int(found.ids[each.component])) for each in summaries]


def suggest(found: Snapshot, accepted: Any, reject: Any, n: int, level: float | None) -> list[Suggestion]:
    """Suggestions, whose clusters stand under their ids."""
    suggestions = answers.suggest(found, accepted, reject, n, level)
    return [
        each._replace(components=[(int(found.ids[k]), share) for k, share in each.components])
        for each in suggestions
    ]
