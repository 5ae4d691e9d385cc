"""Factor models of several libraries on tables of counts, each as predictions for users who were learnt."""

import warnings
from collections.abc import Callable

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from harness.factor_cases import fit_hpfrec, fit_poismf, is_there
from harness.factor_scores import Predict
from sparsemix import BayesianNMF, GammaPoissonFactors

Method = Callable[[sparse.csr_array, int, int], Predict]  # counts, factors, seed


def product(users: np.ndarray, features: np.ndarray) -> Predict:
    """Predictions of factors; features are (n_things, K)."""
    return lambda part: users[part] @ features.T


def own(solver: str, **options: object) -> Method:
    """`GammaPoissonFactors`."""

    def fit(counts: sparse.csr_array, n_components: int, seed: int) -> Predict:
        model = GammaPoissonFactors(n_components, solver=solver, random_state=seed, **options).fit(counts)
        if solver != "gibbs":
            return product(model.user_factors_, model.feature_factors_.T)
        return mean_of_draws(model.user_draws_, model.feature_draws_)

    return fit


def mean_of_draws(users: np.ndarray, features: np.ndarray) -> Predict:
    """Mean over draws of the products; features are (n_draws, K, n_things)."""

    def predict(part: slice) -> np.ndarray:
        found = sum(one[part] @ other for one, other in zip(users, features, strict=True))
        return np.asarray(found) / len(users)

    return predict


def bayesian_nmf(counts: sparse.csr_array, n_components: int, seed: int) -> Predict:
    """`BayesianNMF`."""
    model = BayesianNMF(n_components, random_state=seed).fit(counts)
    return mean_of_draws(model.user_draws_, model.feature_draws_)


def scikit_learn(counts: sparse.csr_array, n_components: int, seed: int) -> Predict:
    """KL-NMF of scikit-learn."""
    model = NMF(
        n_components,
        init="random",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=300,
        random_state=seed,
    )
    users = model.fit_transform(counts)
    return product(users, model.components_.T)


def hpfrec(counts: sparse.csr_array, n_components: int, seed: int) -> Predict:
    """Hierarchical Poisson factorisation, hpfrec."""
    return product(*fit_hpfrec(counts, n_components, 60, seed))


def poismf(counts: sparse.csr_array, n_components: int, seed: int) -> Predict:
    """Poisson factorisation, poismf."""
    return product(*fit_poismf(counts, n_components, seed))


def implicit_als(alpha: float, regularization: float) -> Method:
    """Weighted alternating least squares of implicit; a cell weighs one plus alpha times ln(1 + count)."""

    def fit(counts: sparse.csr_array, n_components: int, seed: int) -> Predict:
        from implicit.als import AlternatingLeastSquares

        weighted = sparse.csr_matrix(counts, dtype=np.float32, copy=True)
        weighted.data = np.log1p(weighted.data)
        model = AlternatingLeastSquares(
            n_components, alpha=alpha, regularization=regularization, random_state=seed, num_threads=1
        )
        model.fit(weighted, show_progress=False)
        return product(np.asarray(model.user_factors, float), np.asarray(model.item_factors, float))

    return fit


METHODS: dict[str, list[Method]] = {
    "sparsemix, ml": [own("ml")],
    "sparsemix, map": [own("map")],
    "sparsemix, map, smoothed": [own("map", feature_smoothing=0.3)],
    "sparsemix, map, shape 0.3": [own("map", shape=0.3, rate=0.1)],
    "sparsemix, gibbs": [own("gibbs")],
    "sparsemix, gibbs, sparse": [own("gibbs", shape=0.1, rate=0.1, feature_concentration=0.05)],
    "sparsemix, BayesianNMF": [bayesian_nmf],
    "scikit-learn, KL-NMF": [scikit_learn],
    "hpfrec": [hpfrec],
    "poismf": [poismf],
    "implicit, ALS": [implicit_als(alpha, 1.0) for alpha in (3.0, 20.0)],
}
"""With more than one setting, the best is chosen as the number of factors is."""

LIBRARIES = ("hpfrec", "poismf", "implicit")


def is_installed(name: str) -> bool:
    """Whether the library of a method of that name is there."""
    return all(is_there(library) for library in LIBRARIES if name.startswith(library))


def fitted(method: Method, counts: sparse.csr_array, n_components: int, seed: int) -> Predict:
    """Fit without warnings about sweeps, which every method has a fixed number of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        return method(counts, n_components, seed)
