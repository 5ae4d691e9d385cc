"""What a row is compared with: one profile for all rows. A row that it explains better fits no component.

The profile stands for a topic that nobody has met. Half of it is the mean of all components, which knows what is
frequent everywhere, half the mean of the prior, which knows nothing: with few components the former alone is too
much like them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import scoring_kernels
from sparsemix.models.online_profiles.state import Posterior
from sparsemix.models.online_profiles.sums import feature_sums
from sparsemix.probability.beta_bernoulli import BetaPrior

FloatVector = NDArray[np.float64]


class Background(NamedTuple):
    """The profile, as scoring reads it.

    log_odds : (n_features,).
    constants : (2,) log probability of a row without features, and of a feature that came later.
    """

    log_odds: FloatVector
    constants: FloatVector

    def rival(self, rows: RowBlock) -> FloatVector:
        """Log density below which a row fits no component, (n_rows,) nats; O(nnz)."""
        density = np.empty(rows.n_rows)
        scoring_kernels.find_rivals(rows.indptr, rows.columns, self, density)
        return density


NO_BACKGROUND = Background(np.empty(0), np.zeros(2))


def background_of(posterior: Posterior, n_features: int, prior: BetaPrior) -> Background:
    """Build the profile from a settled posterior; O(n_features + explicit features)."""
    fresh = prior.alpha / (prior.alpha + prior.beta)
    overall, unseen = _overall_means(posterior, n_features)
    means = (overall + fresh) / 2
    common = posterior.common_alpha / (posterior.common_alpha + posterior.common_beta)
    means[posterior.common_feature] = common
    np.clip(means, 1e-300, 1.0 - 1e-15, out=means)
    log_off = np.log1p(-means)
    constants = np.array([log_off.sum(), np.log((unseen + fresh) / 2)])
    return Background(np.log(means) - log_off, constants)


def _overall_means(posterior: Posterior, n_features: int) -> tuple[FloatVector, float]:
    """Probability of each feature that is not common over all rows, (n_features,), and of one that is new."""
    weights = posterior.weight_concentration / posterior.weight_concentration.sum()
    default = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    seen, _, held = feature_sums(posterior, weights, default, n_features)
    rest = float(weights @ default)
    return np.asarray(seen + np.maximum(rest - held, 0.0)), rest
