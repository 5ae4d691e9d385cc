"""The public class of Gamma-Poisson factors."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sparsemix.answers.clusters import mean_score
from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.foundation.checks import LARGEST, at_least, callable_or_none, inside, truth_value
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.gamma_poisson import (
    answers,
    checks,
    folding,
    incremental,
    learning,
    payload,
    reading,
    run_payload,
)
from sparsemix.models.gamma_poisson.engine import Table
from sparsemix.models.gamma_poisson.fitted import Fitted
from sparsemix.models.gamma_poisson.learning import Progress
from sparsemix.models.gamma_poisson.solution import Solution
from sparsemix.models.gamma_poisson.state import Factors, FloatMatrix, FloatVector, Rows
from sparsemix.persistence import Payload, unpacking
from sparsemix.persistence.unfinished import without_run


class GammaPoissonFactors(Fitted, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Factor model of counts, users x events: a count is Poisson with mean ``user_factors @ feature_factors``.

    Parameters
    ----------
    n_components : int, default=10
        Factors.
    solver : {"ml", "map", "gibbs"}, default="map"
        Maximum likelihood (which is NMF with the Kullback-Leibler divergence), the posterior mode with Gamma priors of
        the user factors (GaP), or draws from the posterior with Dirichlet priors of the feature factors as well.
    shape, rate : float or (n_components,) sequence, default=1.1, 0.01
        Of the Gamma priors, with mean shape / rate; not for "ml". 1 and 0 make "map" the same as "ml". A shape below 1
        sets small user factors to zero, and then the objective has no bound.
    feature_concentration : float, default=0.1
        Dirichlet pseudo-count of every feature in every component, for "gibbs".
    algorithm : {"accelerated", "em", "multiplicative"}, default="accelerated"
        How "ml" and "map" climb: EM in leaps (SQUAREM), plain EM, or the poster's updates in turn (Lee and Seung). All
        climb the same objective; they may end on different tops.
    n_init : int, default=1
        Random starts of "ml" and "map"; the one with the highest objective stays.
    max_iter : int, default=200
        Most sweeps of a start.
    tol : float, default=1e-5
        A start ends when a sweep raises the objective by less, nats an event.
    n_sweeps, burn_in, thin, n_chains : int, default=200, 100, 10, 1
        "gibbs": sweeps of each chain, how many of them are left out at first, how many make one draw, chains.
    random_state : int, RandomState or None, default=None
        Seed of starts and chains.
    n_jobs : int or None, default=None
        Threads of a sweep; the answer does not depend on it.
    verbose : int, default=0
        Print a line a sweep.
    warm_start : bool, default=False
        Go on with a `fit` that was interrupted, to the same bits as without; X and parameters must be the same, but for
        `max_iter` and `n_jobs`.
    users_on_disk : bool, default=False
        "ml" and "map": keep the users' factors in unnamed files among the temporary ones, and pass over them block by
        block, so that memory need not hold them. The answer is the same; `user_factors_` is then a `numpy.memmap`.
    feature_smoothing : float, default=0.0
        "map": count that is added to every feature in every component (a Dirichlet prior with that plus one). Without
        it a feature that a component has not made is impossible there; 0.1 to 0.3 predict new features far better.

    Attributes
    ----------
    user_factors_ : (n_users, n_components) ndarray
        Events that each user is expected to have of each component; posterior means with "gibbs".
    feature_factors_ : (n_components, n_features) ndarray
        Which events a component makes; rows sum to one.
    trace_ : ndarray
        Log likelihood, with "map" plus the log prior up to a constant, nats: of the start and after each sweep
        (n_iter_ + 1,). It never falls by more than rounding, unless a shape is below 1. With "gibbs" the log likelihood
        after each sweep, (n_chains, n_sweeps).
    n_iter_, converged_ : int, bool
        Sweeps of the best start, and whether the last one gained less than `tol` an event.
    is_complete_ : bool
        False after an interrupted `fit`, whose factors are then those of the best start, or of the chains that have
        ended, or else of the one that has begun.
    n_rows_seen_ : int
        Users that were learnt.
    user_draws_, feature_draws_ : (n_draws, n_users, n_components) and (n_draws, n_components, n_features) ndarray
        With "gibbs": kept draws, chain after chain; components of all chains in the order that fits the first.
    diagnostics_ : dict of str to Diagnostics
        With "gibbs": `r_hat` and `effective_sample_size` of "log_likelihood" and "total_rate".
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    A sweep costs O(nnz x n_components) and never makes the product of the factors. With "gibbs" it costs
    O(nnz x n_components + events), large counts being split by binomials. Memory beyond the rows: some copies of the
    factors (with `users_on_disk` of those of the features alone), and the draws. Counts need not be whole, except for
    "gibbs". Rows without events are users without history: zero with "ml", (shape - 1) / (1 + rate) with "map",
    shape / (1 + rate) with "gibbs".

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemix as sm
    >>> clicks = np.array([[4, 3, 0, 0], [2, 3, 0, 0], [0, 0, 5, 1], [0, 0, 6, 2]])
    >>> model = sm.GammaPoissonFactors(n_components=2, random_state=0).fit(clicks)
    >>> model.transform([[3, 3, 0, 0]]).round().max()
    np.float64(6.0)
    >>> [[feature for feature, _ in row] for row in model.recommend([[1, 0, 0, 0]], n=1)]
    [[1]]
    """

    model_kind: ClassVar[str] = "gamma-poisson-factors"
    takes_counts: ClassVar[bool] = True
    _new_settings = checks.settings_of

    def __init__(
        self,
        n_components: int = 10,
        *,
        solver: str = "map",
        shape: float | Sequence[float] = 1.1,
        rate: float | Sequence[float] = 0.01,
        feature_concentration: float = 0.1,
        algorithm: str = "accelerated",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        n_sweeps: int = 200,
        burn_in: int = 100,
        thin: int = 10,
        n_chains: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        users_on_disk: bool = False,
        feature_smoothing: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.shape = shape
        self.rate = rate
        self.feature_concentration = feature_concentration
        self.algorithm = algorithm
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.users_on_disk = users_on_disk
        self.feature_smoothing = feature_smoothing

    def fit(self, X: Any, y: object = None, *, on_sweep: Callable[[Progress], None] | None = None) -> Self:  # noqa: ARG002
        """Learn the factors of all users and features.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_users, n_features)
            Counts >= 0; whole numbers for "gibbs".
        y : ignored
        on_sweep : callable, optional
            Told a `Progress` after each sweep; what it raises ends the fit. An interrupted fit keeps what it has
            so far, see `is_complete_`.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If `X` has no rows or holds values that are no counts, or if a warm start is given other rows than the fit
            that was interrupted.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` sweeps were not enough.
        """
        callable_or_none("on_sweep", self._owner, on_sweep)
        settings = checks.settings_of(self)
        rows, features = reading.read_new(X, self._owner)
        table = Table(rows, features.n_features)
        checks.fits_memory(settings, table, self._owner)

        def follow(progress: Progress) -> None:
            if self.verbose:
                where = f"start {progress.start + 1}, sweep {progress.sweep}"
                print(f"[{self._owner}] {where}: {progress.objective:.6g} nats")
            if on_sweep is not None:
                on_sweep(progress)

        run = checks.run_of(self, self._run, settings, table)
        try:
            self._adopt(learning.learn(table, features, run, follow))
        except BaseException:
            if run.has_begun():
                self._adopt(learning.solution_of(table, features, run), run)
            raise
        return self

    def fit_transform(self, X: Any, y: object = None, **options: Any) -> FloatMatrix:
        """`fit`, which takes the `options` too, and then the users' factors, as `transform` finds them."""
        return self.fit(X, y, **options).transform(X)

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Add new users; the first call is `fit`.

        Their factors are found with the features as they are and put behind those of the users before; then the
        features learn from the new users' events, with all events before for a prior. What the earlier users' factors
        are stays. Features that the model does not know are left out, with a warning if a row holds nothing else.

        Raises
        ------
        ParameterError
            Also with "gibbs", whose draws belong to the users of `fit`: `transform` folds new users in.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y)
        checks.settings_of(self)
        if self._solution.is_sampled:
            rule, remedy = "'ml' or 'map' for partial_fit", "Use transform for new users, or fit all anew."
            raise parameter_error("solver", self._owner, rule, "gibbs", remedy)
        self._adopt(incremental.with_users(self._solution, self._known(X)))
        return self

    def transform(self, X: Any) -> FloatMatrix:
        """Factors of users, new or not, with the features as they are, (n_rows, n_components).

        The mode of the likelihood ("ml") or posterior ("map"), or an approximate posterior mean ("gibbs", by
        variational Bayes given the mean feature factors). O(nnz x n_components) a step, at most 1000 steps a row. A
        row's factors do not depend on the other rows.
        """
        solution = self._asked()
        return self._folded(solution, self._known(X))

    def inverse_transform(self, X: ArrayLike) -> FloatMatrix:
        """Expected counts of users with these factors, (n_rows, n_features): a dense table, so give few rows."""
        solution = self._asked()
        users = answers.user_factors(X, solution.prior.shape.size)
        return np.asarray(users @ solution.factors.features.T)

    def fold_in_features(self, X: Any) -> FloatMatrix:
        """Factors of new features (a new ad, say), without a change of the model.

        Parameters
        ----------
        X : (n_users, n_new) counts
            A row for each user that was learnt, in the same order.

        Returns
        -------
        (n_components, n_new) ndarray
            To be put beside `feature_factors_`: ``user_factors_ @ them`` are the expected counts. Most likely values;
            with "gibbs" smoothed by `feature_concentration`.

        Raises
        ------
        DataError
            If there is not a row for each user.
        """
        solution = self._asked()
        users = solution.factors.users
        columns = reading.read_columns(X, len(users), "fold_in_features")
        concentration = solution.prior.concentration if solution.is_sampled else 0.0
        found = folding.fold_in_features(columns, users, concentration, solution.features.n_features)
        return np.asarray(found.T)

    def rates(self, users: ArrayLike, features: ArrayLike, *, X: Any = None) -> FloatVector:
        """Expected counts of pairs of a user and a feature, (n_pairs,).

        Parameters
        ----------
        users, features : (n_pairs,) array of int
            Numbers of rows and columns; of `feature_names_in_` where the features have names.
        X : as in `transform`, optional
            The users are its rows; without it they are those that were learnt, with "gibbs" with the mean over draws.

        Raises
        ------
        DataError
            If a number is out of range, or the two differ in length.
        """
        solution = self._asked()
        factors = solution.factors if X is None else self._factors_of(solution, self._known(X))
        row = answers.numbers_below(users, "users", len(factors.users), "rates")
        column = answers.numbers_below(features, "features", solution.features.n_features, "rates")
        if row.size != column.size:
            raise DataError(f"'features' of rates must be as many as 'users', {row.size}, not {column.size}.")
        if X is None:
            return answers.learnt_rates(solution, row, column)
        return answers.pair_rates(factors, row, column)

    def recommend(
        self, X: Any, n: int = 10, *, exclude_seen: bool = True, among: Iterable[Any] | None = None
    ) -> list[list[tuple[Any, float]]]:
        """For each row the features with the highest expected counts.

        Parameters
        ----------
        X : as in `transform`
        n : int, default=10
        exclude_seen : bool, default=True
            Leave out features that the row holds.
        among : iterable of features, optional
            Only these (names, or numbers where there are no names), such as the clicks.

        Returns
        -------
        list of lists of (feature, rate)
            Best first, equals in the order of the features; fewer than `n` where there are no more. Rows without
            history are recommended what the average user likes, on the scale of that user.

        Raises
        ------
        ParameterError
            If a feature in `among` is not known, or another argument breaks its rule.
        """
        solution = self._asked()
        at_least("n", "recommend", n, 1)
        truth_value("exclude_seen", "recommend", exclude_seen)
        wanted = answers.known_features(solution, among)
        rows = self._known(X)
        users = self._folded(solution, rows)
        users[np.diff(rows.indptr) == 0] = solution.factors.users.mean(axis=0)
        factors = Factors(users, solution.factors.features)
        found = answers.top_features(rows, factors, int(n), wanted, bool(exclude_seen))
        name_of = solution.features.name_of
        return [[(name_of(int(j)), float(rate)) for j, rate in zip(*row, strict=True)] for row in found]

    def score_samples(self, X: Any, *, observed: Any = None, exposure: float = 1.0) -> FloatVector:
        """Log probability of each row, nats, (n_rows,).

        Parameters
        ----------
        X : as in `transform`
        observed : as `X`, optional
            What the factors of the same users are found from; without it from `X` itself, which flatters.
        exposure : float, default=1.0
            How long `X` was watched, in units of the time of `observed`: 0.25 for a fifth of the events held out.
        """
        solution = self._asked()
        inside("exposure", "score", exposure, f"a number > 0, below {LARGEST}", 0.0, LARGEST, open_low=True)
        rows = self._known(X)
        known = rows if observed is None else self._known(observed)
        if known.indptr.size != rows.indptr.size:
            raise DataError("'observed' of score must have the same rows as 'X'.")
        return answers.log_probabilities(rows, self._factors_of(solution, known), float(exposure))

    def score(self, X: Any, y: object = None, *, observed: Any = None, exposure: float = 1.0) -> float:  # noqa: ARG002
        """Mean log probability of the rows (`score_samples`), nats; of held-out events if `observed` is given."""
        return mean_score(self.score_samples(X, observed=observed, exposure=exposure), "score")

    def unknown_rows(self, X: Any) -> NDArray[np.bool_]:
        """Which rows hold features, but none that the model knows; (n_rows,)."""
        return reading.read_known(X, self._asked().features, self._owner).is_unknown

    def to_payload(self) -> Payload:
        """The exact state for a model file, with the users' factors and all draws, and an interrupted fit."""
        stored = payload.pack(self.model_kind, self.get_params(), self._asked())
        return stored if self._run is None else run_payload.added(stored, self._run)

    @classmethod
    def from_payload(cls, stored: Payload) -> Self:
        """The model that `to_payload` packed; ModelFileError if anything does not fit."""
        parameters = unpacking.parameters_of(stored, cls)
        settings = checks.settings_of(cls(**parameters | {"random_state": 0}))  # a run has a seed of its own
        model, solution = cls(**parameters), payload.unpack(without_run(stored))
        model._adopt(solution, run_payload.unpack(stored, settings, solution))
        return model

    def _known(self, X: Any) -> Rows:
        rows, is_unknown = reading.read_known(X, self._asked().features, self._owner)
        if is_unknown.any():
            warn_of_unknown_rows(int(is_unknown.sum()), is_unknown.size)
        return rows

    def _folded(self, solution: Solution, rows: Rows) -> FloatMatrix:
        where = (rows, solution.factors.features, solution.prior)
        return folding.fold_in_users(*where, is_sampled=solution.is_sampled)

    def _factors_of(self, solution: Solution, rows: Rows) -> Factors:
        return Factors(self._folded(solution, rows), solution.factors.features)
