"""Made-up events of users with ads, as the poster on Gamma-Poisson factors had them, and a toy table."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

N_INTERESTS = 5
AD_CONCENTRATION, INTEREST_CONCENTRATION, ACTIVITY = 0.018, 0.03, 0.15
"""Of the ads of an interest, of the interests of a user, and of how much users do. The lower, the more in few cells;
chosen so that 6,052 events of 960 users with 110 ads are in about 2,548 cells."""
HELD_OUT = 0.2


class Split(NamedTuple):
    """A table of which some cells were set aside.

    train : (n_users, n_features), zero where a cell was set aside. users, features, counts : the cells set aside.
    mean : of the counts above zero that are left.
    """

    train: Counts
    users: NDArray[np.int64]
    features: NDArray[np.int64]
    counts: Counts
    mean: float


def ad_events(n_users: int, n_ads: int, n_events: int, seed: int) -> Counts:
    """Return counts of users x ads x (impression, click, conversion), (n_users, 3 n_ads); each user has an event.

    Each event is of one interest of its user, which has few ads, and click and conversion rates of its own.
    """
    rng = np.random.default_rng([seed, 0])
    shares = rng.dirichlet(np.full(n_ads, AD_CONCENTRATION), N_INTERESTS)
    clicks = rng.beta(1.0, 4.0, shares.shape)
    conversions = clicks * rng.beta(1.0, 4.0, shares.shape)
    kinds = np.stack([np.ones_like(clicks), clicks, conversions], axis=-1)
    kinds /= kinds.sum(axis=-1, keepdims=True)
    profiles = (shares[..., None] * kinds).reshape(N_INTERESTS, 3 * n_ads)
    activity = rng.gamma(ACTIVITY, size=n_users)
    n_of_user = 1 + rng.multinomial(n_events - n_users, activity / activity.sum())
    interests = rng.dirichlet(np.full(N_INTERESTS, INTEREST_CONCENTRATION), n_users)
    return rng.multinomial(n_of_user, interests @ profiles)


def split_cells(counts: Counts, seed: int) -> Split:
    """Set a fifth of the cells with events aside."""
    rng = np.random.default_rng([seed, 1])
    users, features = counts.nonzero()
    is_test = rng.random(users.size) < HELD_OUT
    test = (users[is_test], features[is_test])
    train = counts.copy()
    train[test] = 0
    return Split(train, *test, counts[test], float(counts[users[~is_test], features[~is_test]].mean()))


def toy_table(seed: int) -> Counts:
    """Return 40 users x 24 events: four interests with six events each, every third user with two of them."""
    profiles = np.kron(np.eye(4), np.full(6, 1.0 / 6.0))
    likes = np.repeat(np.eye(4), 10, axis=0)
    likes[::3] += np.roll(likes[::3], 1, axis=1)
    return np.random.default_rng([seed, 2]).poisson(12.0 * likes @ profiles + 0.05)
