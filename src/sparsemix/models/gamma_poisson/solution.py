"""What a fit leaves to answer with: factors, priors, the features' names, and with sampling draws."""

from typing import NamedTuple

from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.gamma_poisson.state import Draws, Factors, FloatMatrix, FloatVector, Prior


class Solution(NamedTuple):
    """Everything that answers need.

    solver : "ml", "map" or "gibbs".
    factors : of the users and features that were learnt; with "gibbs" their posterior means.
    component_counts : (n_components,) events that each component has made, expected.
    trace : objective of the start and after each sweep (n_iter + 1,); with "gibbs" the log likelihood after each sweep
    of each chain, (n_chains, n_sweeps).
    total_rate : (n_chains, n_sweeps) sum of all user factors, with "gibbs" alone.
    """

    solver: str
    prior: Prior
    factors: Factors
    component_counts: FloatVector
    trace: FloatMatrix
    is_converged: bool
    features: FeatureNames
    draws: Draws | None = None
    total_rate: FloatMatrix | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether chains have made it."""
        return self.solver == "gibbs"
