"""Made-up ads of advertisers that specialise: sparse, readable, and with all that makes real ones hard."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data import Dataset
from sparsemix.reproduction.ad_words import ANYTHING, SEARCHES, goods_of

IntVector = NDArray[np.int64]

ADS_OF_ADVERTISER = 25  # on average
FAITHFUL = 0.9  # share of an advertiser's ads that are of its first trade; the others are of a second one
CHANCES = 0.6 / (1.0 + 0.12 * np.arange(len(SEARCHES)))
"""Probability that an ad holds each keyword of its trade."""

STRAY, GENERAL, RARE = 0.3, 0.6, 0.5
"""Mean number of keywords of another trade, of those that go with all trades, and of rare ones, in an ad."""
LONELY, CLUTTER, OVERLONG = 0.06, 0.05, 0.002
"""Share of ads with one keyword that no other ad has, of ads about nothing, and of ads with most keywords of all."""
CLUTTER_SIZE, OVERLONG_SHARE = 12.0, 0.6


def ad_corpus(n_ads: int, n_trades: int, seed: int) -> Dataset:
    """Draw ads with their advertisers and trades.

    An advertiser has a first trade, to which most of its ads belong, and a second one. An ad holds keywords of its
    trade, the frequent ones more likely, and now and then a keyword of another trade, one that goes with all trades
    or a rare one. Some ads are about nothing, some hold most keywords of all, some have a keyword of their own alone.

    Parameters
    ----------
    n_ads, n_trades, seed : int

    Returns
    -------
    Dataset
        `groups` are the advertisers, `labels` the trades, -1 where an ad has none.
    """
    rng = np.random.default_rng([seed, 3])
    owners, trades = _owners_and_trades(rng, n_ads, n_trades)
    kinds = rng.choice(4, n_ads, p=[1.0 - LONELY - CLUTTER - OVERLONG, LONELY, CLUTTER, OVERLONG])
    trades[kinds > 0] = -1
    names = _names(n_trades, n_rare := n_ads // 2, int((kinds == 1).sum()))
    n_common = len(names) - n_rare - int((kinds == 1).sum())
    ads, keywords = (
        np.concatenate(each) for each in zip(*_cells(rng, trades, kinds, n_common, n_rare), strict=True)
    )
    matrix = sparse.csr_array((np.ones(ads.size), (ads, keywords)), shape=(n_ads, len(names)))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    groups = [f"advertiser {owner + 1}" for owner in owners]
    return Dataset.from_matrix(matrix, feature_names=names, groups=groups, labels=trades)


def _owners_and_trades(rng: np.random.Generator, n_ads: int, n_trades: int) -> tuple[IntVector, IntVector]:
    n_owners = -(-n_ads // ADS_OF_ADVERTISER)
    size = rng.pareto(1.5, n_owners) + 1.0
    owners = rng.choice(n_owners, n_ads, p=size / size.sum())
    popularity = rng.dirichlet(np.full(n_trades, 2.0))
    first, second = rng.choice(n_trades, (2, n_owners), p=popularity)
    return owners, np.where(rng.random(n_ads) < FAITHFUL, first[owners], second[owners])


def _names(n_trades: int, n_rare: int, n_lonely: int) -> list[str]:
    goods = goods_of(n_trades)
    of_trades = [search.format(good) for good in goods for search in SEARCHES]
    rare = [f"{goods[number % n_trades]} article {number}" for number in range(n_rare)]
    return [*of_trades, *ANYTHING, *rare, *(f"brand {number}" for number in range(n_lonely))]


def _cells(
    rng: np.random.Generator, trades: IntVector, kinds: IntVector, n_common: int, n_rare: int
) -> Iterator[tuple[IntVector, IntVector]]:
    """Numbers of ads with numbers of keywords, kind of keyword by kind of keyword; pairs may be repeated."""
    n_own = len(SEARCHES)
    usual, lonely, clutter, overlong = (np.flatnonzero(kinds == kind) for kind in range(4))
    holds = rng.random((usual.size, n_own)) < CHANCES
    holds[~holds.any(axis=1), 0] = True
    ads, ranks = holds.nonzero()
    yield usual[ads], trades[usual[ads]] * n_own + ranks
    yield _drawn(rng, usual, STRAY, 0, n_common - len(ANYTHING))
    yield _drawn(rng, usual, GENERAL, n_common - len(ANYTHING), n_common)
    yield _drawn(rng, usual, RARE, n_common, n_common + n_rare)
    yield lonely, n_common + n_rare + np.arange(lonely.size)
    yield clutter, rng.integers(n_common, size=clutter.size)
    yield _drawn(rng, clutter, CLUTTER_SIZE, 0, n_common)
    ads, keywords = (rng.random((overlong.size, n_common)) < OVERLONG_SHARE).nonzero()
    yield overlong[ads], keywords


def _drawn(
    rng: np.random.Generator, ads: IntVector, mean: float, low: int, high: int
) -> tuple[IntVector, IntVector]:
    """A Poisson number of keywords from `low` to `high` for each ad."""
    rows = np.repeat(ads, rng.poisson(mean, ads.size))
    return rows, rng.integers(low, high, rows.size)
