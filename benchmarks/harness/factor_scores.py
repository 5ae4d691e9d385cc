"""How well predicted counts fit cells or events that were set aside: likelihood, squared error and recall."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from harness.count_sets import Halves

Predict = Callable[[slice], np.ndarray]  # (n_users in the slice, n_things), any scale
USERS = 256
BACKING = 0.01
N_BEST = 10


class Scores(NamedTuple):
    """Nats an event that was set aside (NaN if predictions are below zero), RMSE, recall among the ten best or NaN."""

    log_likelihood: float
    rmse: float
    recall: float


def blocks(halves: Halves, predict: Predict) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield predictions, those of popularity, what was set aside, and which cells were learnt; some users at a time."""
    n_users, common = halves.learnt.shape[0], popularity(halves.learnt)
    for first in range(0, n_users, USERS):
        part = slice(first, min(first + USERS, n_users))
        yield predict(part), common(part), halves.aside[part].toarray(), halves.learnt[part].toarray() > 0.0


def evaluate(halves: Halves, predict: Predict) -> Scores:
    """Score predictions.

    Where whole cells were set aside, those that were learnt are left out of everything. Likelihood and squared error
    are taken at the multiple of all predictions that is best for each, so that no method loses by its scale. For the
    likelihood a hundredth of what popularity says is mixed in, so that none loses all by one cell that it rules out.
    """
    total = squares = product = aside_squares = 0.0
    n_cells, is_negative, found, hits = 0, False, [], []
    for predicted, backing, aside, is_learnt in blocks(halves, predict):
        is_asked = ~is_learnt if halves.hides_cells else np.ones_like(is_learnt)
        own, common, wanted = (np.where(is_asked, each, 0.0) for each in (predicted, backing, aside))
        is_negative |= bool(own.min() < -1e-9)
        held = wanted > 0.0
        total, backed = total + own.sum(), common.sum()
        squares += float((own**2).sum())
        product += float((own * wanted).sum())
        aside_squares += float((wanted**2).sum())
        n_cells += int(is_asked.sum())
        found.append((wanted[held], own[held], common[held], backed))
        hits.extend(_recalls(np.where(is_asked, predicted, -np.inf), held) if halves.hides_cells else [])
    error = aside_squares - (product**2 / squares if squares > 0.0 else 0.0)
    log_likelihood = np.nan if is_negative else _log_likelihood(found, total)
    return Scores(log_likelihood, float(np.sqrt(error / n_cells)), float(np.mean(hits)) if hits else np.nan)


def _log_likelihood(found: list, total: float) -> float:
    """Nats an event, without ln x!, of rates that add up to the number of events."""
    counts, own, common = (np.concatenate([part[i] for part in found]) for i in range(3))
    shares = (1.0 - BACKING) * own / total + BACKING * common / sum(part[3] for part in found)
    return float(counts @ np.log(shares * counts.sum()) / counts.sum()) - 1.0


def popularity(learnt: sparse.csr_array) -> Predict:
    """A user's events times a thing's share of all events, one more for each user and thing."""
    users = learnt.sum(axis=1) + 1.0
    things = learnt.sum(axis=0) + 1.0
    return lambda part: np.outer(users[part], things / things.sum())


def _recalls(predicted: np.ndarray, held: np.ndarray) -> list[float]:
    """Share of a user's hidden things among the ten best, of ten at most; for users who have some hidden."""
    found = []
    best = np.argpartition(-predicted, min(N_BEST, predicted.shape[1] - 1), axis=1)[:, :N_BEST]
    for own, hidden in zip(best, held, strict=True):
        if hidden.any():
            found.append(float(hidden[own].sum()) / min(N_BEST, int(hidden.sum())))
    return found
