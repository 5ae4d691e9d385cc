"""What the clusters answer about features: what stands for a cluster, what goes with a row, new rows."""

from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.answers import ComponentSummary, Suggestion, clusters, summaries
from sparsemix.foundation import checks
from sparsemix.foundation.errors import parameter_error
from sparsemix.models.hashed_gibbs import real_answers
from sparsemix.models.hashed_gibbs.real_solution import RealSolution
from sparsemix.models.hashed_gibbs.solution import AnySolution, Solution, betas, log_weights
from sparsemix.models.hashed_gibbs.state import FAMILIES, FloatVector, IntVector


def top_features(solution: AnySolution, n: int, by: str, level: float) -> list[ComponentSummary]:
    """Summaries of all clusters, from the features that they hold; O(entries of the counts)."""
    if isinstance(solution, RealSolution):
        summaries.check_request(n, by, level)
        return real_answers.top_features(solution, np.exp(log_weights(solution)), n, by, level)
    return clusters.top_features(_clusters(solution), n, by, level)


def suggest(
    solution: AnySolution, accepted: Any, reject: Any, n: int, level: float | None
) -> list[Suggestion]:
    """The `n` most probable features that are neither accepted nor rejected."""
    if isinstance(solution, RealSolution):
        rule = f"{', '.join(map(repr, FAMILIES))}, whose rows may lack features"
        raise parameter_error(
            "family", "suggest", rule, solution.hyper.family, "Ask predict about whole rows."
        )
    return clusters.suggest(_clusters(solution), accepted, reject, n, level)


def _clusters(solution: Solution) -> clusters.Clusters:
    counts, _, total = betas(solution)
    n_draws = 1.0 if solution.hyper.family == "bernoulli" else _row_length(solution)
    weights = log_weights(solution)
    return clusters.Clusters(
        solution.features, solution.sizes, counts, solution.hyper.a, total, weights, n_draws
    )


def _row_length(solution: Solution) -> float:
    return float(solution.counts.sum() / solution.sizes.sum())


def sample(solution: AnySolution, n_rows: int, rng: np.random.Generator) -> tuple[Any, IntVector]:
    """Rows at the posterior means, and their clusters; O(n_rows x features of a row + clusters drawn x n_features)."""
    if isinstance(solution, RealSolution):
        checks.draws(n_rows, solution.features.n_features)
        return real_answers.sample(solution, np.exp(log_weights(solution)), n_rows, rng)
    hyper, n_features = solution.hyper, solution.features.n_features
    weights, lengths = np.exp(log_weights(solution)), _expected_lengths(solution)
    weights /= weights.sum()
    checks.draws(n_rows, float(weights @ lengths))
    components = rng.choice(weights.size, n_rows, p=weights)
    checks.draws(n_rows, float(lengths[components].sum()) / max(n_rows, 1))
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    _, _, total = betas(solution)
    for k in np.unique(components):
        members = np.flatnonzero(components == k)
        own = np.full(n_features, hyper.a)
        part = slice(solution.counts.indptr[k], solution.counts.indptr[k + 1])
        own[solution.counts.indices[part]] += solution.counts.data[part]
        if hyper.family == "bernoulli":
            times = rng.binomial(members.size, own / total[k])
            for feature in np.flatnonzero(times):
                rows.append(rng.choice(members, times[feature], replace=False))
            columns.append(np.repeat(np.arange(n_features), times))
            continue
        rate = lengths[k] if hyper.family == "multinomial" else own.sum() / (hyper.b + solution.sizes[k])
        of_tokens = np.repeat(members, rng.poisson(rate, members.size))
        rows.append(of_tokens)
        cumulative = np.cumsum(own)
        drawn = np.searchsorted(cumulative, rng.random(of_tokens.size) * cumulative[-1], side="right")
        columns.append(np.minimum(drawn, n_features - 1))
    places = (np.concatenate(rows), np.concatenate(columns))
    drawn_rows = sparse.coo_array((np.ones(places[0].size), places), shape=(n_rows, n_features))
    return sparse.csr_array(drawn_rows), components


def _expected_lengths(solution: Solution) -> FloatVector:
    """Mean sum of a new row of each cluster, (K,)."""
    hyper, sizes = solution.hyper, solution.sizes
    if hyper.family == "multinomial":
        return np.full(sizes.size, _row_length(solution))
    held = np.asarray(solution.counts.sum(axis=1), np.float64) + hyper.a * solution.features.n_features
    return np.asarray(held / (sizes + hyper.b + (hyper.a if hyper.family == "bernoulli" else 0.0)))
