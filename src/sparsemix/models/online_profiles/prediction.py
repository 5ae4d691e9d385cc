"""A settled, indexed copy of a stream's posterior: predictions read it and change nothing."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import index_kernels, kernels
from sparsemix.models.online_profiles.row_answers import answers_for, responsibilities_for
from sparsemix.models.online_profiles.state import Posterior, ScoreIndex, build_index, entries_of
from sparsemix.models.online_profiles.stream import Stream

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


def log_not_listed(mean: FloatVector, completeness: float) -> FloatVector:
    """Log probability that a feature is absent or, being present, not listed; finite also for a mean of 1."""
    return np.asarray(np.log1p(-completeness * (1.0 - 1e-15) * mean))


@dataclass(frozen=True)
class View:
    """What predictions need.

    component_ids : (n_live,) ids in the order of the posterior's components.
    prior_concentration : pseudo-count that each component had before any row.
    """

    posterior: Posterior
    index: ScoreIndex
    component_ids: IntVector
    n_features: int
    prior_concentration: float
    _cached: dict[str | float, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, stream: Stream, n_features: int, prior_concentration: float) -> Self:
        """Copy the posterior of a stream as it stands after its last row."""
        posterior = Posterior._make(column.copy() for column in stream.posterior)
        index_kernels.settle(posterior)
        index = build_index(posterior, n_features)
        return cls(posterior, index, stream.component_ids, n_features, prior_concentration)

    def weights(self) -> FloatVector:
        """Expected mixing weights, (n_live,)."""
        return np.asarray(self.posterior.weight_concentration / self.posterior.weight_concentration.sum())

    def sizes(self) -> FloatVector:
        """Rows of each component, as sums of responsibilities, (n_live,)."""
        return np.maximum(self.posterior.weight_concentration - self.prior_concentration, 0.0)

    def responsibilities(self, block: RowBlock, n_threads: int = 1) -> NDArray[np.float64]:
        """Posterior of the components for each row, (n_rows, n_live)."""
        return responsibilities_for(self.index, block, n_threads)

    def log_density(self, block: RowBlock, n_threads: int = 1) -> FloatVector:
        """Log probability of each row, (n_rows,) nats."""
        return answers_for(self.index, block, n_threads).density

    def assignments(self, block: RowBlock, n_threads: int = 1) -> IntVector:
        """Id of the most probable component of each row, (n_rows,)."""
        return self.component_ids[answers_for(self.index, block, n_threads).best]

    def default_means(self) -> FloatVector:
        """Probability of a feature that is not explicit, per component (n_live,)."""
        posterior = self.posterior
        return posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)

    def overall_means(self) -> FloatVector:
        """Probability of each feature over all rows, (n_features,)."""
        weights, posterior = self.weights(), self.posterior
        entries, owner = entries_of(posterior), posterior.owner()
        default = self.default_means()
        above = weights[owner] * (entries.alpha / (entries.alpha + entries.beta) - default[owner])
        overall = weights @ default + np.bincount(entries.feature, weights=above, minlength=self.n_features)
        overall[posterior.common_feature] = posterior.common_alpha / (
            posterior.common_alpha + posterior.common_beta
        )
        return np.asarray(overall)

    def popularity(self) -> FloatVector:
        """Probability of each feature over all rows, relative to the mean of those that are not common."""
        if "popularity" not in self._cached:
            overall = self.overall_means()
            own = np.ones(self.n_features, bool)
            own[self.posterior.common_feature] = False
            self._cached["popularity"] = overall / (overall[own].mean() if own.any() else 1.0)
        return np.asarray(self._cached["popularity"])

    def entries_of_feature(self, feature: int) -> tuple[IntVector, IntVector]:
        """Components in which a feature is explicit, and its slots there."""
        if "by_feature" not in self._cached:
            posterior = self.posterior
            used, owner = posterior.used(), posterior.owner()
            order = np.argsort(posterior.feature[used], kind="stable")
            counts = np.bincount(posterior.feature[used], minlength=self.n_features)
            indptr = np.concatenate([[0], np.cumsum(counts)])
            self._cached["by_feature"] = (indptr, owner[order], used[order])
        indptr, owner, slot = self._cached["by_feature"]
        part = slice(indptr[feature], indptr[feature + 1])
        return owner[part], slot[part]

    def log_odds(self, feature: int) -> FloatVector:
        """Log odds of one feature in every component, (n_live,)."""
        index = self.index
        out = index.default_log_odds.copy()
        if feature >= index.n_features:
            return out
        first, last = index.indptr[feature], index.indptr[feature + 1]
        if first == last:
            return out
        if index.component[first] == kernels.COMMON:
            return np.full(out.size, index.correction[first])
        if index.component[first] == kernels.DENSE:
            return np.asarray(out + index.table[index.slot[first]])
        out[index.component[first:last]] += index.correction[first:last]
        return out

    def log_silence(self, completeness: float) -> FloatVector:
        """Log probability that a row lists nothing, if each of its features is listed with `completeness`; (n_live,).

        Common features are left out: they tell nothing about the component.
        """
        if completeness not in self._cached:
            posterior = self.posterior
            used, owner = posterior.used(), posterior.owner()
            mean = posterior.alpha[used] / (posterior.alpha[used] + posterior.beta[used])
            terms = log_not_listed(mean, completeness)
            explicit = np.bincount(owner, weights=terms, minlength=posterior.n_components)
            n_default = self.n_features - posterior.common_feature.size - posterior.size
            default = log_not_listed(self.default_means(), completeness)
            self._cached[completeness] = explicit + n_default * default
        return np.asarray(self._cached[completeness])
