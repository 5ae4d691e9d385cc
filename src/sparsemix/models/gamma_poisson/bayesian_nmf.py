"""The public class of Bayesian non-negative matrix factorisation, a baseline beside the Gamma-Poisson factors."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparsemix.chains import effective_sample_size, r_hat
from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.checks import LARGEST, at_least, inside, is_word, pseudo_count
from sparsemix.foundation.errors import DataError
from sparsemix.models.gamma_poisson import answers, checks, nmf_payload, reading, sampling
from sparsemix.models.gamma_poisson.checks import MOST_COMPONENTS
from sparsemix.models.gamma_poisson.fitted import Diagnostics, shown
from sparsemix.models.gamma_poisson.nmf_sampling import NMFChain, NMFPrior, sample_nmf
from sparsemix.models.gamma_poisson.state import Factors, FloatMatrix, FloatVector
from sparsemix.numeric.seeds import seed_of
from sparsemix.persistence import Payload, unpacking


class BayesianNMF(BaseEstimator):  # type: ignore[misc]  # scikit-learn's base classes have no types
    """Bayesian NMF: normal noise about a product of positive factors, by Gibbs sampling (Schmidt and others, 2009).

    A count is normal with mean ``user_factors @ feature_factors``, factors have exponential priors, the variance of the
    noise an inverse gamma prior. Made to be compared with: `GammaPoissonFactors` fits counts better.

    Parameters
    ----------
    n_components : int, default=10
    user_rate, feature_rate : "empirical" or float > 0, default="empirical"
        Rates of the exponential priors. "empirical" makes the prior mean of a cell that of the table.
    noise_shape, noise_scale : float >= 0, default=0.0
        Of the inverse gamma prior of the variance; zeros are the improper flat prior of its logarithm.
    n_sweeps, burn_in, thin, n_chains : int, default=200, 100, 10, 1
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    user_factors_, feature_factors_ : (n_users, n_components) and (n_components, n_features) ndarray
        Posterior means.
    user_draws_, feature_draws_ : (n_draws, n_users, n_components) and (n_draws, n_components, n_features) ndarray
    noise_variance_ : float
        Posterior mean.
    log_likelihood_ : (n_chains, n_sweeps) ndarray
        Of all cells, after each sweep, nats.
    diagnostics_ : dict of str to Diagnostics
        Of "log_likelihood" and "noise_variance", after the burn-in.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    A sweep costs O(nnz x n_components + (n_users + n_features) x n_components^2); zeros count, but are never stored.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemix as sm
    >>> counts = np.array([[4, 3, 0, 0], [2, 3, 0, 0], [0, 0, 5, 1], [0, 0, 6, 2]])
    >>> model = sm.BayesianNMF(n_components=2, random_state=0).fit(counts)
    >>> bool(model.rates([0], [0])[0] > 1.0 > model.rates([0], [3])[0])
    True
    """

    model_kind: ClassVar[str] = "bayesian-nmf"
    takes_counts: ClassVar[bool] = True
    _trace: sampling.Trace
    _features: FeatureNames

    def __init__(
        self,
        n_components: int = 10,
        *,
        user_rate: str | float = "empirical",
        feature_rate: str | float = "empirical",
        noise_shape: float = 0.0,
        noise_scale: float = 0.0,
        n_sweeps: int = 200,
        burn_in: int = 100,
        thin: int = 10,
        n_chains: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.user_rate = user_rate
        self.feature_rate = feature_rate
        self.noise_shape = noise_shape
        self.noise_scale = noise_scale
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        """Sample the factors of all users and features.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_users, n_features)
            Numbers >= 0.
        y : ignored

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If `X` has no rows, nothing but zeros, or values that are no counts.
        """
        owner = type(self).__name__
        plan, seed = self._new_settings()
        rows, features = reading.read_new(X, owner)
        shape = (rows.indptr.size - 1, features.n_features)
        checks.draws_fit(
            plan.n_draws * int(self.n_chains), sum(shape) * int(self.n_components), plan.thin, owner
        )
        if not rows.values.size:
            raise DataError(f"'X' of {owner} must hold a count above zero. Add rows that have some.")
        matrix = sparse.csr_array((rows.values, rows.columns, rows.indptr), shape=shape)
        level = float(np.sqrt(rows.values.sum() / shape[0] / shape[1] / self.n_components))
        traces = []
        for chain in range(self.n_chains):
            rng = np.random.default_rng([seed, chain])
            start = Factors(*(rng.exponential(level, (n, self.n_components)) for n in shape))
            traces.append(sample_nmf(NMFChain(matrix, start, self._prior(level), rng), plan))
        self._adopt(sampling.pooled(traces), features)
        return self

    def rates(self, users: ArrayLike, features: ArrayLike) -> FloatVector:
        """Expected counts of pairs of a user and a feature, by number, the mean over all draws; (n_pairs,).

        DataError if a number is out of range, or the two differ in length.
        """
        check_is_fitted(self)
        row = answers.numbers_below(users, "users", len(self.user_factors_), "rates")
        column = answers.numbers_below(features, "features", self.n_features_in_, "rates")
        if row.size != column.size:
            raise DataError(f"'features' of rates must be as many as 'users', {row.size}, not {column.size}.")
        return np.asarray(answers.rate_draws(self._trace.draws, row, column).mean(axis=0))

    def to_payload(self) -> Payload:
        """The exact state for a model file, with all draws."""
        check_is_fitted(self)
        return nmf_payload.pack(self.model_kind, self.get_params(), self._trace, self._features)

    @classmethod
    def from_payload(cls, stored: Payload) -> Self:
        """The model that `to_payload` packed; ModelFileError if anything does not fit."""
        model = cls(**unpacking.parameters_of(stored, cls))
        checks.plan_of(model, cls.__name__, 1)  # diagnostics are of the sweeps after its burn-in
        model._adopt(*nmf_payload.unpack(stored))
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_trace")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    @property
    def user_draws_(self) -> FloatMatrix:
        """Kept draws of the user factors."""
        return shown(self._trace.draws.users)

    @property
    def feature_draws_(self) -> FloatMatrix:
        """Kept draws of the feature factors."""
        return shown(self._trace.draws.features.transpose(0, 2, 1))

    def _new_settings(self) -> tuple[sampling.Plan, int]:
        """Check all parameters that do not need the data; return how much is sampled, and a seed."""
        owner = type(self).__name__
        at_least("n_components", owner, self.n_components, 1, most=MOST_COMPONENTS)
        plan, seed = checks.plan_of(self, owner, 1), seed_of(self.random_state, owner)
        for name in ("user_rate", "feature_rate"):
            if not is_word(getattr(self, name), "empirical"):
                pseudo_count(name, owner, getattr(self, name), "'empirical' or ")
        for name in ("noise_shape", "noise_scale"):
            inside(name, owner, getattr(self, name), "a number >= 0", 0.0, LARGEST)
        return plan, seed

    def _prior(self, level: float) -> NMFPrior:
        of_users, of_features = (
            1.0 / level if isinstance(each, str) else float(each)
            for each in (self.user_rate, self.feature_rate)
        )
        return NMFPrior(of_users, of_features, float(self.noise_shape), float(self.noise_scale))

    def _adopt(self, trace: sampling.Trace, features: FeatureNames) -> None:
        self._trace, self._features = trace, features
        features.show_on(self)
        self.user_factors_, self.feature_factors_ = shown(trace.mean.users), shown(trace.mean.features.T)
        self.log_likelihood_ = shown(trace.log_likelihood)
        burn_in = min(int(self.burn_in), trace.log_likelihood.shape[1] - 1)
        kept = {
            "log_likelihood": trace.log_likelihood[:, burn_in:],
            "noise_variance": trace.total_rate[:, burn_in:],
        }
        self.noise_variance_ = float(kept["noise_variance"].mean())
        self.diagnostics_ = {
            name: Diagnostics(r_hat(each), effective_sample_size(each)) for name, each in kept.items()
        }
