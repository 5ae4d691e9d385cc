"""Tables of counts with known factors, bare passes over them, and other libraries' factor models on one yardstick."""

import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF

from sparsemix.models.gamma_poisson import engine
from sparsemix.models.gamma_poisson.state import Factors, Prior, Rows
from sparsemix.numeric.jit import reordering_kernel


def make_counts(
    n_users: int, n_features: int, n_components: int, per_user: int, seed: int
) -> sparse.csr_array:
    """Counts of users with a few interests each; some users are far busier than others."""
    rng = np.random.default_rng(seed)
    features = rng.dirichlet(np.full(n_features, 0.05), n_components)
    users = rng.gamma(0.3, size=(n_users, n_components))
    users *= per_user / users.sum(axis=1, keepdims=True) * rng.gamma(1.5, 1 / 1.5, (n_users, 1))
    events = rng.poisson(users)
    rows = np.concatenate([np.repeat(np.arange(n_users), own) for own in events.T])
    columns = [rng.choice(n_features, own.sum(), p=p) for own, p in zip(events.T, features, strict=True)]
    counts = sparse.csr_array(
        (np.ones(rows.size), (rows, np.concatenate(columns))), shape=(n_users, n_features)
    )
    counts.sum_duplicates()
    return counts


def split_events(
    counts: sparse.csr_array, share: float, seed: int
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Give each event to the second table with that probability."""
    rng = np.random.default_rng(seed)
    second = counts.copy()
    second.data = rng.binomial(counts.data.astype(int), share).astype(float)
    first = counts.copy()
    first.data = counts.data - second.data
    for part in (first, second):
        part.eliminate_zeros()
    return first, second


def table_of(counts: sparse.csr_array) -> engine.Table:
    """The counts as the engine reads them."""
    rows = Rows(counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data)
    return engine.Table(rows, counts.shape[1])


def prior_of(solver: str, n_components: int) -> Prior:
    """Flat for "ml", the poster's for "map"."""
    shape, rate = (1.0, 0.0) if solver == "ml" else (1.1, 0.01)
    return Prior(np.full(n_components, shape), np.full(n_components, rate))


@reordering_kernel
def _bare_products(indptr, columns, users, features, products_out):
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint32(columns[e])
            total = 0.0
            for k in range(users.shape[1]):
                total += users[i, k] * features[j, k]
            products_out[e] = total


@reordering_kernel
def _bare_sums(indptr, columns, values, users, sums):
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint32(columns[e])
            for k in range(users.shape[1]):
                sums[j, k] += values[e] * users[i, k]


def cpu_of(function: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def bare_passes(table: engine.Table, factors: Factors) -> Callable[[], None]:
    """Two passes over non-zeros x components: products of factors, and sums by feature."""
    products, sums = np.empty(table.rows.values.size), np.zeros_like(factors.features)

    def run() -> None:
        _bare_products(table.rows.indptr, table.rows.columns, *factors, products)
        _bare_sums(table.rows.indptr, table.rows.columns, products, factors.users, sums)

    return run


def timed_trace(
    table: engine.Table, start: Factors, prior: Prior, algorithm: str, n_sweeps: int
) -> list[tuple]:
    """(CPU seconds, objective) after each sweep."""
    began, found = time.process_time(), []
    engine.run(
        table,
        start,
        prior,
        engine.Loop(algorithm, n_sweeps, -1.0),
        lambda standing: found.append((time.process_time() - began, standing.trace[-1])),
    )
    return found


def scikit_learn_sweep(counts: sparse.csr_array, start: Factors, n_sweeps: int) -> float:
    """CPU seconds of one sweep of scikit-learn's KL-NMF: a run of some sweeps less a run of one."""

    def run(sweeps: int) -> float:
        model = NMF(
            start.users.shape[1],
            init="custom",
            solver="mu",
            beta_loss="kullback-leibler",
            max_iter=sweeps,
            tol=0,
        )
        users = np.maximum(start.users, 1e-9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cpu_of(lambda: model.fit_transform(counts, W=users, H=start.features.T.copy()))

    return (run(1 + n_sweeps) - run(1)) / n_sweeps


def log_likelihood_per_event(counts: sparse.csr_array, users: np.ndarray, features: np.ndarray) -> float:
    """Poisson log likelihood over the number of events, nats, without ln x!; features are (n_features, K).

    The best multiple of all rates is taken, so that methods that shrink lose nothing by it.
    """
    entries = counts.tocoo()
    row, column = entries.coords
    total = np.concatenate(
        [
            np.einsum("ek,ek->e", users[row[i : i + 200_000]], features[column[i : i + 200_000]])
            for i in range(0, row.size, 200_000)
        ]
    )
    all_rates = float(users.sum(axis=0) @ features.sum(axis=0))
    n_events = float(entries.data.sum())
    logs = float(entries.data @ np.log(np.maximum(total * n_events / all_rates, 1e-12)))
    return logs / n_events - 1.0


def is_there(name: str) -> bool:
    """Whether a library is installed."""
    return find_spec(name) is not None


def fit_hpfrec(
    counts: sparse.csr_array, n_components: int, n_sweeps: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Hierarchical Poisson factorisation (variational), `hpfrec`."""
    import pandas as pd
    from hpfrec import HPF

    entries = counts.tocoo()
    table = pd.DataFrame({"UserId": entries.coords[0], "ItemId": entries.coords[1], "Count": entries.data})
    model = HPF(
        k=n_components, reindex=False, stop_crit="maxiter", maxiter=n_sweeps, verbose=False, ncores=1,
        random_seed=seed, keep_data=False, check_every=n_sweeps, allow_inconsistent_math=True,
    )  # fmt: skip
    model.fit(table)
    users, features = np.zeros((counts.shape[0], n_components)), np.zeros((counts.shape[1], n_components))
    users[: len(model.Theta)], features[: len(model.Beta)] = model.Theta, model.Beta
    return users, features


def fit_poismf(counts: sparse.csr_array, n_components: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Poisson factorisation by alternating descents, `poismf` with its defaults, one thread."""
    from poismf import PoisMF

    model = PoisMF(k=n_components, nthreads=1, reindex=False, random_state=seed)
    model.fit(sparse.coo_matrix(counts))
    return np.asarray(model.A, float), np.asarray(model.B, float)
