"""The state behind the estimator: attributes that follow from it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sparsemix.chains import effective_sample_size, r_hat
from sparsemix.models.gamma_poisson.runs import Run
from sparsemix.models.gamma_poisson.solution import Solution
from sparsemix.models.gamma_poisson.state import FloatMatrix


class Diagnostics(NamedTuple):
    """How well the chains have mixed, by one quantity (`sparsemix.chains`)."""

    r_hat: float
    effective_sample_size: float


def shown(array: NDArray[Any]) -> NDArray[Any]:
    """The array as it is, but for reading alone: whoever writes into an attribute must not change the model."""
    view = array.view()
    view.flags.writeable = False
    return view


class Resumable:
    """Base of models whose `fit` may be interrupted and go on."""

    _run: Any = None  # that was interrupted

    def _opened(self) -> Any:
        raise NotImplementedError

    @property
    def is_complete_(self) -> bool:
        """Whether `fit` came to its end; if not, the same `fit` with `warm_start=True` goes on, to the same bits."""
        self._opened()
        return self._run is None

    @property
    def n_sweeps_done_(self) -> int:
        """Sweeps, of all starts or chains, of a `fit` that was interrupted; AttributeError after others."""
        self._opened()
        if self._run is None:
            raise AttributeError("no fit was interrupted, so that there are no sweeps to go on from")
        return int(self._run.n_sweeps())


class Fitted(Resumable):
    """Base of the estimator; before `fit` the attributes are missing."""

    _solution: Solution
    _run: Run | None = None

    @property
    def n_rows_seen_(self) -> int:
        """Users that were learnt."""
        return len(self._opened().factors.users)

    @property
    def user_factors_(self) -> FloatMatrix:
        """Factors of the users that were learnt, (n_users, n_components): events expected of each component."""
        return shown(self._opened().factors.users)

    @property
    def feature_factors_(self) -> FloatMatrix:
        """Factors of the features, (n_components, n_features); each row sums to one."""
        return shown(self._opened().factors.features.T)

    @property
    def trace_(self) -> NDArray[np.float64]:
        """Objective of the start and after each sweep, nats, (n_iter_ + 1,).

        With "gibbs" the log likelihood after each sweep of each chain, (n_chains, n_sweeps).
        """
        return shown(self._opened().trace)

    @property
    def n_iter_(self) -> int:
        """Sweeps of the best start; of each chain with "gibbs"."""
        solution = self._opened()
        return int(solution.trace.shape[1] if solution.is_sampled else solution.trace.size - 1)

    @property
    def converged_(self) -> bool:
        """Whether the last sweep gained less than `tol` an event; True with "gibbs", see `diagnostics_`."""
        return self._opened().is_converged

    @property
    def user_draws_(self) -> FloatMatrix:
        """Kept draws of the user factors, (n_draws, n_users, n_components), with "gibbs" alone."""
        return shown(self._drawn("users"))

    @property
    def feature_draws_(self) -> FloatMatrix:
        """Kept draws of the feature factors, (n_draws, n_components, n_features), with "gibbs" alone."""
        return shown(self._drawn("features").transpose(0, 2, 1))

    @property
    def diagnostics_(self) -> dict[str, Diagnostics]:
        """R-hat and effective sample size of the log likelihood and of the sum of all rates, after the burn-in."""
        solution = self._opened()
        if solution.total_rate is None:
            raise AttributeError("diagnostics_ are of chains, and there are none without solver='gibbs'")
        burn_in = min(int(getattr(self, "burn_in", 0)), solution.trace.shape[1] - 1)
        kept = {"log_likelihood": solution.trace[:, burn_in:], "total_rate": solution.total_rate[:, burn_in:]}
        return {name: Diagnostics(r_hat(each), effective_sample_size(each)) for name, each in kept.items()}

    @property
    def _n_features_out(self) -> int:
        return int(self._opened().prior.shape.size)

    @property
    def _owner(self) -> str:
        return type(self).__name__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the estimator that this is a base of
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_solution")

    def _drawn(self, which: str) -> Any:
        draws = self._opened().draws
        if draws is None:
            raise AttributeError("there are draws only with solver='gibbs'")
        return getattr(draws, which)

    def _opened(self) -> Solution:
        """The solution; AttributeError, as Python has it for missing attributes, before there is one."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has not learnt any rows yet: call fit")
        return self._solution

    def _asked(self) -> Solution:
        check_is_fitted(self)
        return self._solution

    def _adopt(self, solution: Solution, run: Run | None = None) -> None:
        self._solution, self._run = solution, run
        solution.features.show_on(self)
