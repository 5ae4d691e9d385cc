"""Draw rows from a fitted model."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.models.online_profiles.prediction import View
from sparsemix.models.online_profiles.state import entries_of_component

IntVector = NDArray[np.int64]

CELLS_AT_ONCE = 1 << 22


def draw_rows(view: View, n_rows: int, rng: np.random.Generator) -> tuple[sparse.csr_array, IntVector]:
    """Rows at the mean of the posterior and the ids of their components; O(rows x explicit features)."""
    component = rng.choice(view.component_ids.size, size=n_rows, p=view.weights())
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for k in np.unique(component):
        members = np.flatnonzero(component == k)
        for own in (
            _explicit_cells(view, int(k), members.size, rng),
            _default_cells(view, int(k), members.size, rng),
        ):
            rows.append(members[own[0]])
            columns.append(own[1])
    row, column = np.concatenate(rows), np.concatenate(columns)
    ones = np.ones(row.size, np.float32)
    drawn = sparse.csr_array((ones, (row, column)), shape=(n_rows, view.n_features))
    drawn.sum_duplicates()
    return drawn, view.component_ids[component]


def _explicit_cells(view: View, k: int, n_rows: int, rng: np.random.Generator) -> tuple[IntVector, IntVector]:
    """(row, feature) cells of the features that have a Beta of their own, common ones included."""
    posterior, own = view.posterior, entries_of_component(view.posterior, k)
    feature = np.append(own.feature, posterior.common_feature)
    alpha = np.append(own.alpha, posterior.common_alpha)
    beta = np.append(own.beta, posterior.common_beta)
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    per_chunk = max(1, CELLS_AT_ONCE // max(feature.size, 1))
    for first in range(0, n_rows, per_chunk):
        on = rng.random((min(per_chunk, n_rows - first), feature.size)) < alpha / (alpha + beta)
        row, at = np.nonzero(on)
        rows.append(row + first)
        columns.append(feature[at].astype(np.int64))
    return np.concatenate(rows), np.concatenate(columns)


def _default_cells(view: View, k: int, n_rows: int, rng: np.random.Generator) -> tuple[IntVector, IntVector]:
    """(row, feature) cells of the other features, each with the default's probability."""
    is_default = np.ones(view.n_features, bool)
    is_default[entries_of_component(view.posterior, k).feature] = False
    is_default[view.posterior.common_feature] = False
    others = np.flatnonzero(is_default)
    counts = rng.binomial(others.size, view.default_means()[k], size=n_rows)
    columns = [rng.choice(others.size, size=c, replace=False) for c in counts[counts > 0]]
    return np.repeat(np.arange(n_rows), counts), others[np.concatenate([np.empty(0, np.int64), *columns])]
