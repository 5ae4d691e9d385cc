"""Batch EM for a Bernoulli mixture in plain NumPy and SciPy: the maximum-likelihood baseline."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.cluster import kmeans_plusplus
from sklearn.preprocessing import normalize

SEEDING_ROWS = 20_000
SCATTER = 0.3
CHUNK_CELLS = 10_000_000


@dataclass(frozen=True, eq=False)
class EmFit:
    """What EM ends with.

    weights : (n_components,)
    profiles : (n_components, n_features)
    assignments : (n_rows,) most probable component
    responsibilities : (n_rows, n_components) float32, or None when they were not asked for
    log_likelihood : mean over rows, nats
    n_iterations : sweeps done
    """

    weights: np.ndarray
    profiles: np.ndarray
    assignments: np.ndarray
    responsibilities: np.ndarray | None
    log_likelihood: float
    n_iterations: int


def fit_em(
    rows: csr_array,
    n_components: int,
    *,
    seed: int,
    n_init: int = 1,
    max_iter: int = 100,
    tol: float = 1e-4,
    smoothing: float = 1.0,
    keep_responsibilities: bool = False,
) -> EmFit:
    """Run EM `n_init` times until the mean log likelihood rises by less than `tol`; keep the best fit.

    Starts take turns: profiles scattered about the average, then profiles of k-means++ seeds among the rows.
    Neither is better everywhere, and the likelihood tells which did well.

    A mean is ``(count + smoothing * overall mean) / (mass + smoothing)``: without any smoothing a keyword
    that a component has not met would rule that component out.
    """
    best = None
    for run in range(n_init):
        fit = _fit_once(
            rows,
            n_components,
            np.random.default_rng([seed, run]),
            from_rows=run % 2 == 1,
            max_iter=max_iter,
            tol=tol,
            smoothing=smoothing,
            keep_responsibilities=keep_responsibilities,
        )
        if best is None or fit.log_likelihood > best.log_likelihood:
            best = fit
    return best


def log_joint(rows: csr_array, weights: np.ndarray, profiles: np.ndarray) -> np.ndarray:
    """Return log p(component) + log p(row | component), (n_rows, n_components)."""
    log_odds = np.log(profiles) - np.log1p(-profiles)
    all_off = np.log1p(-profiles).sum(axis=1)
    return rows @ log_odds.T + (all_off + np.log(weights))


def _fit_once(
    rows, n_components, rng, *, from_rows, max_iter, tol, smoothing, keep_responsibilities
) -> EmFit:
    overall = np.asarray(rows.mean(axis=0)).ravel()
    chunks = _row_chunks(rows, n_components)
    if from_rows:
        weights, profiles = _start_from_rows(rows, overall, n_components, smoothing, rng)
    else:
        weights, profiles = _start_near_average(overall, n_components, rng)
    assignments = np.empty(rows.shape[0], dtype=np.int32)
    kept = np.empty((rows.shape[0], n_components), dtype=np.float32) if keep_responsibilities else None
    previous, n_iterations = -np.inf, 0
    while True:
        n_iterations += 1
        mass, counts, total, start = np.zeros(n_components), np.zeros_like(profiles), 0.0, 0
        for chunk in chunks:
            responsibilities, normalisers = _expect(log_joint(chunk, weights, profiles))
            part = slice(start, start + chunk.shape[0])
            assignments[part] = responsibilities.argmax(axis=1)
            if kept is not None:
                kept[part] = responsibilities
            mass += responsibilities.sum(axis=0)
            counts += (chunk.T @ responsibilities).T
            total += normalisers.sum()
            start = part.stop
        likelihood = total / rows.shape[0]
        if likelihood - previous < tol or n_iterations == max_iter:
            return EmFit(weights, profiles, assignments, kept, likelihood, n_iterations)
        previous = likelihood
        weights, profiles = _maximize(mass, counts, overall, smoothing)


def _expect(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn the log joint into responsibilities in place; also return the log normaliser of each row."""
    top = joint.max(axis=1)
    joint -= top[:, None]
    np.exp(joint, out=joint)
    normalisers = joint.sum(axis=1)
    joint /= normalisers[:, None]
    return joint, top + np.log(normalisers)


def _maximize(mass, counts, overall, smoothing) -> tuple[np.ndarray, np.ndarray]:
    weights = (mass + 1e-3) / (mass + 1e-3).sum()
    profiles = (counts + smoothing * overall) / (mass[:, None] + smoothing)
    return weights, np.clip(profiles, 1e-12, 1 - 1e-9)


def _start_near_average(overall, n_components, rng) -> tuple[np.ndarray, np.ndarray]:
    """Equal weights, and profiles scattered about the average one, by `SCATTER` in log odds."""
    average = np.clip(overall, 1e-9, 1 - 1e-9)
    log_odds = np.log(average) - np.log1p(-average)
    scattered = log_odds + SCATTER * rng.standard_normal((n_components, len(average)))
    return np.full(n_components, 1 / n_components), np.clip(expit(scattered), 1e-12, 1 - 1e-9)


def _start_from_rows(rows, overall, n_components, smoothing, rng) -> tuple[np.ndarray, np.ndarray]:
    """Profiles of the rows that lie nearest to each k-means++ seed, by angle, in a part of the rows."""
    picked = np.sort(rng.permutation(rows.shape[0])[:SEEDING_ROWS])
    part = rows[picked]
    unit = normalize(part)
    _, chosen = kmeans_plusplus(unit, n_components, random_state=int(rng.integers(2**31)))
    nearest = np.asarray((unit @ unit[chosen].T).todense()).argmax(axis=1)
    members = csr_array(
        (np.ones(len(nearest)), (nearest, np.arange(len(nearest)))), shape=(n_components, len(nearest))
    )
    return _maximize(np.asarray(members.sum(axis=1)).ravel(), (members @ part).toarray(), overall, smoothing)


def _row_chunks(rows: csr_array, n_components: int) -> list[csr_array]:
    """Cut the rows so that a chunk's log joint stays small; the pieces share the memory of `rows`."""
    step = max(1, CHUNK_CELLS // n_components)
    chunks = []
    for start in range(0, rows.shape[0], step):
        indptr = rows.indptr[start : start + step + 1]
        cells = slice(indptr[0], indptr[-1])
        parts = (rows.data[cells], rows.indices[cells], indptr - indptr[0])
        chunks.append(csr_array(parts, shape=(len(indptr) - 1, rows.shape[1])))
    return chunks
