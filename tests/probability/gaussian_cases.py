"""The Gaussian families in plain NumPy and SciPy, dense and obvious, from the rows themselves."""

import numpy as np
from kernel_modes import as_mode
from scipy.special import gammaln, multigammaln
from scipy.stats import multivariate_t, t


def draw_clusters(rng, n_rows=40, n_features=3, n_clusters=3):
    """Rows of clusters that lie apart, and random labels that do not follow them."""
    centres = rng.normal(0.0, 3.0, (n_clusters, n_features))
    rows = centres[rng.integers(n_clusters, size=n_rows)] + rng.normal(0.0, 1.0, (n_rows, n_features))
    return rows * rng.uniform(0.1, 10.0, n_features) + rng.normal(0.0, 30.0, n_features), rng.integers(
        n_clusters, size=n_rows
    )


def scatter_of(rows):
    """Mean, (n_features,), and scatter around it, (n_features, n_features), in two passes; zeros without rows."""
    mean = rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1])
    return mean, (rows - mean).T @ (rows - mean)


def diagonal_posterior(prior, rows):
    """Strength, means, shape and rates after these rows."""
    n, (mean, scatter) = len(rows), scatter_of(rows)
    strength = prior.strength + n
    rates = prior.rate + np.diag(scatter) / 2
    rates = rates + prior.strength * n * (mean - prior.mean) ** 2 / (2 * strength)
    return strength, (prior.strength * prior.mean + n * mean) / strength, prior.shape + n / 2, rates


def diagonal_log_predictive(prior, rows, row):
    strength, means, shape, rates = diagonal_posterior(prior, rows)
    scale = np.sqrt(rates * (strength + 1) / (shape * strength))
    return t.logpdf(row, 2 * shape, means, scale).sum()


def diagonal_log_evidence(prior, rows):
    strength, _, shape, rates = diagonal_posterior(prior, rows)
    gained = prior.shape * np.log(prior.rate) - shape * np.log(rates) + gammaln(shape) - gammaln(prior.shape)
    each = 0.5 * np.log(prior.strength / strength) - 0.5 * len(rows) * np.log(2 * np.pi)
    return (gained + each).sum()


def full_posterior(prior, rows):
    """Strength, mean, degrees of freedom and scale matrix after these rows."""
    n, (mean, scatter) = len(rows), scatter_of(rows)
    strength, apart = prior.strength + n, mean - prior.mean
    scale = prior.scale + scatter + prior.strength * n / strength * np.outer(apart, apart)
    return strength, (prior.strength * prior.mean + n * mean) / strength, prior.degrees + n, scale


def full_log_predictive(prior, rows, row):
    strength, mean, degrees, scale = full_posterior(prior, rows)
    df = degrees - len(prior.mean) + 1
    shape = scale * (strength + 1) / (strength * df)
    return multivariate_t.logpdf(row, mean, shape, df)


def full_log_evidence(prior, rows):
    strength, _, degrees, scale = full_posterior(prior, rows)
    n, d = rows.shape
    found = multigammaln(degrees / 2, d) - multigammaln(prior.degrees / 2, d) - n * d / 2 * np.log(np.pi)
    found += prior.degrees / 2 * np.linalg.slogdet(prior.scale)[1] - degrees / 2 * np.linalg.slogdet(scale)[1]
    return found + d / 2 * np.log(prior.strength / strength)


def move_rows(kernels, mode, state, prior, rows, labels, moves):
    """Take row after row out of its cluster and put it into another one; `moves` are pairs of both. New labels."""
    remove_row, add_row = as_mode(kernels.remove_row, mode), as_mode(kernels.add_row, mode)
    labels = labels.copy()
    for i, cluster in moves:
        remove_row(state, prior, rows[i], labels[i])
        add_row(state, prior, rows[i], cluster)
        labels[i] = cluster
    return labels


def n_moves(kernels, mode):
    """Many where the kernels are compiled, few where they are plain Python."""
    return 100_000 if mode == "compiled" and hasattr(kernels.add_row, "py_func") else 1_000
