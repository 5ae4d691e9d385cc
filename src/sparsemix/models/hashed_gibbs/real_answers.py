"""What clusters of real rows answer about features: where their means lie, and new rows."""

import numpy as np
from scipy.special import stdtrit

from sparsemix.answers import ComponentSummary, FeatureSummary
from sparsemix.models.hashed_gibbs.real_solution import RealSolution
from sparsemix.models.hashed_gibbs.real_state import FloatMatrix, FloatVector, IntVector


def top_features(
    solution: RealSolution, weights: FloatVector, n: int, by: str, level: float
) -> list[ComponentSummary]:
    """Summaries of all clusters; O(K n_features log n_features)."""
    means, (scales, freedom) = solution.means, solution.mean_spread
    shares = weights / weights.sum()
    overall = shares @ means
    variances = solution.covariances
    inside = variances if variances.ndim == 2 else np.diagonal(variances, axis1=1, axis2=2)
    spread = np.sqrt(shares @ (inside + (means - overall) ** 2))
    half = scales * stdtrit(freedom, 0.5 * (1.0 + level))[:, None]
    away = means - overall
    evidence, lift = np.abs(away) / scales, away / spread
    cautious = np.maximum(np.abs(away) - half, 0.0) / spread
    keys = {"evidence": evidence, "mean": means, "lift": cautious}[by]
    found = []
    for k in range(weights.size):
        best = np.argsort(-keys[k], kind="stable")[:n]
        columns = (means[k], means[k] - half[k], means[k] + half[k], evidence[k], lift[k])
        rows = zip(*(column[best].tolist() for column in columns), strict=True)
        names = [solution.features.name_of(int(feature)) for feature in best]
        top = [FeatureSummary(name, *numbers) for name, numbers in zip(names, rows, strict=True)]
        found.append(ComponentSummary(k, float(weights[k]), float(solution.sizes[k]), top))
    return found


def sample(
    solution: RealSolution, weights: FloatVector, n_rows: int, rng: np.random.Generator
) -> tuple[FloatMatrix, IntVector]:
    """Rows at the posterior means, and their clusters."""
    components = rng.choice(weights.size, n_rows, p=weights / weights.sum())
    means, covariances = solution.means, solution.covariances
    drawn = rng.standard_normal((n_rows, means.shape[1]))
    for k in np.unique(components):
        own = components == k
        if covariances.ndim == 2:
            drawn[own] *= np.sqrt(covariances[k])
        else:
            drawn[own] = drawn[own] @ np.linalg.cholesky(covariances[k]).T
    return drawn + means[components], components
