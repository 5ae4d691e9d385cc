"""What the clusters answer about features: what stands for a cluster, what goes with a row, new rows."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from sparsemix.answers import ComponentSummary, Suggestion, suggestions, summaries
from sparsemix.answers.suggestions import feature_numbers, most_probable, suggestions_of, taking_part
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.hashed_gibbs import real_answers
from sparsemix.models.hashed_gibbs.real_solution import RealSolution
from sparsemix.models.hashed_gibbs.solution import AnySolution, Solution, betas, log_weights
from sparsemix.models.hashed_gibbs.state import FAMILIES, FloatVector, IntVector

MOST_DRAWS = 1e8  # tokens in one call


def mean(scores: FloatVector, owner: str) -> float:
    """Mean of the scores; DataError if there are none."""
    if not scores.size:
        raise DataError(f"'X' of {owner} must have at least one row, but it has none. Add rows.")
    return float(scores.mean())


def top_features(solution: AnySolution, n: int, by: str, level: float) -> list[ComponentSummary]:
    """Summaries of all clusters, from the features that they hold; O(entries of the counts)."""
    summaries.check_request(n, by, level)
    if isinstance(solution, RealSolution):
        return real_answers.top_features(solution, np.exp(log_weights(solution)), n, by, level)
    counts, beta, total = betas(solution)
    a, weights = solution.hyper.a, np.exp(log_weights(solution))
    shares = weights / weights.sum()
    overall = shares @ (a / total) + np.asarray((sparse.diags_array(shares / total) @ counts).sum(axis=0))
    found = []
    for k in range(solution.sizes.size):
        part = slice(counts.indptr[k], counts.indptr[k + 1])
        held, count = counts.indices[part], counts.data[part]
        top = summaries.top_of_component(
            held, a + count, beta[k] - count, overall, solution.features, n, by, level
        )
        found.append(ComponentSummary(k, float(weights[k]), float(solution.sizes[k]), top))
    return found


def suggest(
    solution: AnySolution, accepted: Any, reject: Any, n: int, level: float | None
) -> list[Suggestion]:
    """The `n` most probable features that are neither accepted nor rejected."""
    if isinstance(solution, RealSolution):
        rule = f"{', '.join(map(repr, FAMILIES))}, whose rows may lack features,"
        raise parameter_error(
            "family", "suggest", rule, solution.hyper.family, "Ask predict about whole rows."
        )
    wanted = feature_numbers(solution.features, accepted)
    unwanted = feature_numbers(solution.features, reject, "reject")
    suggestions.check_request(solution.features, wanted, unwanted, n, level)
    counts, beta, total = betas(solution)
    a = solution.hyper.a
    components, share = taking_part(_share(solution, counts, total, wanted, unwanted))
    probability = np.full(solution.features.n_features, float(share @ (a / total[components])))
    probability += (share / total[components]) @ counts[components]
    best = most_probable(probability, n, np.concatenate([wanted, unwanted]))
    held = counts[components][:, best].toarray().T
    return suggestions_of(
        solution.features, best, probability, (a + held, beta[components] - held), share, components, level
    )


def _share(
    solution: Solution, counts: Any, total: FloatVector, wanted: IntVector, unwanted: IntVector
) -> FloatVector:
    """Posterior of the clusters given features that a row holds and lacks, all others unknown; (K,)."""
    a = solution.hyper.a
    n_draws = 1.0 if solution.hyper.family == "bernoulli" else _row_length(solution)
    held = np.log((a + counts[:, wanted].toarray()) / total[:, None]).sum(axis=1)
    chance = np.minimum((a + counts[:, unwanted].toarray()) / total[:, None], np.nextafter(1.0, 0.0))
    lacking = n_draws * np.log1p(-chance).sum(axis=1)
    joint = log_weights(solution) + held + lacking
    return np.asarray(np.exp(joint - logsumexp(joint)))


def _row_length(solution: Solution) -> float:
    return float(solution.counts.sum() / solution.sizes.sum())


def sample(solution: AnySolution, n_rows: int, rng: np.random.Generator) -> tuple[Any, IntVector]:
    """Rows at the posterior means, and their clusters; O(n_rows x features of a row + clusters drawn x n_features)."""
    if isinstance(solution, RealSolution):
        return real_answers.sample(solution, np.exp(log_weights(solution)), n_rows, rng)
    hyper, n_features, length = solution.hyper, solution.features.n_features, _row_length(solution)
    if n_rows * max(length, 1.0) > MOST_DRAWS:
        rule = f"so small that at most {MOST_DRAWS:.0e} tokens are drawn"
        remedy = f"Rows of this model have {length:.3g} on average."
        raise parameter_error("n_rows", "sample", rule, n_rows, remedy)
    weights = np.exp(log_weights(solution))
    components = rng.choice(weights.size, n_rows, p=weights / weights.sum())
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
        rate = length if hyper.family == "multinomial" else own.sum() / (hyper.b + solution.sizes[k])
        of_tokens = np.repeat(members, rng.poisson(rate, members.size))
        rows.append(of_tokens)
        cumulative = np.cumsum(own)
        drawn = np.searchsorted(cumulative, rng.random(of_tokens.size) * cumulative[-1], side="right")
        columns.append(np.minimum(drawn, n_features - 1))
    places = (np.concatenate(rows), np.concatenate(columns))
    drawn_rows = sparse.coo_array((np.ones(places[0].size), places), shape=(n_rows, n_features))
    return sparse.csr_array(drawn_rows), components
