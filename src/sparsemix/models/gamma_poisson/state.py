"""What the next sweep needs: factors, priors and rows."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.count_inputs import CountBlock
from sparsemix.models.gamma_poisson.user_tables import total

FloatMatrix = NDArray[np.float64]
FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]
Rows = CountBlock


class Prior(NamedTuple):
    """Gamma prior of user factors and Dirichlet prior of feature factors.

    shape, rate : (n_components,) of the Gamma; 1 and 0 are maximum likelihood.
    concentration : pseudo-count of every feature in every component, for sampling alone.
    smoothing : the same less one, for the posterior mode alone, whose counts it is added to.
    """

    shape: FloatVector
    rate: FloatVector
    concentration: float = 1.0
    smoothing: float = 0.0

    @property
    def is_flat(self) -> bool:
        """Whether it leaves the users' factors alone."""
        return bool(np.all(self.shape == 1.0) and np.all(self.rate == 0.0))

    def log_density(self, factors: "Factors") -> float:
        """Log density of the positive factors without its constants, nats."""
        of_features = 0.0
        if self.smoothing > 0.0:
            features = factors.features[factors.features > 0.0]
            of_features = self.smoothing * float(np.log(features).sum())
        return of_features + (0.0 if self.is_flat else float(total(self._log_density, factors.users)))

    def _log_density(self, users: FloatMatrix) -> float:
        of_logs = 0.0
        if np.any(self.shape != 1.0):
            logs = np.log(users if users.min() > 0.0 else np.where(users > 0.0, users, 1.0))
            of_logs = float(np.einsum("ik,k->", logs, self.shape - 1.0))
        return of_logs - float(np.einsum("ik,k->", users, self.rate))


class Factors(NamedTuple):
    """Where a fit or a chain stands.

    users : (n_rows, n_components); features : (n_features, n_components), each column sums to one.
    """

    users: FloatMatrix
    features: FloatMatrix


@dataclass(frozen=True)
class Draws:
    """Kept draws of all chains, chain after chain.

    users : (n_draws, n_rows, n_components); features : (n_draws, n_features, n_components).
    """

    users: NDArray[np.float64]
    features: NDArray[np.float64]


def rows_between(rows: Rows, first: int, last: int) -> Rows:
    """Rows `first` to `last` without a copy of what they hold."""
    start, end = rows.indptr[first], rows.indptr[last]
    return Rows(rows.indptr[first : last + 1] - start, rows.columns[start:end], rows.values[start:end])


def normalised(counts: FloatMatrix) -> FloatMatrix:
    """Columns divided by their sums; one without any is spread evenly."""
    totals = counts.sum(axis=0)
    return np.asarray(np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), 1.0 / len(counts)))
