"""Real tables of counts, users x things, and what of them is set aside."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from pyarrow import parquet
from scipy import sparse

from harness.factor_cases import split_events
from harness.realdata import folder


@dataclass(frozen=True, eq=False)
class CountSet:
    """Counts of users x things.

    by : "cells" if whole cells are set aside, so that a user's hidden things are new to the user, or "events" if each
        event is, for tables in which almost every cell holds some.
    """

    name: str
    counts: sparse.csr_array
    by: str = "cells"

    @property
    def is_binary(self) -> bool:
        """Whether a cell holds one or nothing."""
        return bool(np.all(self.counts.data == 1.0))


@dataclass(frozen=True, eq=False)
class Halves:
    """What is learnt and what is set aside; `hides_cells` as `CountSet.by` says."""

    learnt: sparse.csr_array
    aside: sparse.csr_array
    hides_cells: bool


def hide(data: CountSet, counts: sparse.csr_array, share: float, seed: int) -> Halves:
    """Set a share of the cells, or of the events, aside."""
    if data.by == "events":
        return Halves(*split_events(counts, share, seed), hides_cells=False)
    is_aside = np.random.default_rng(seed).random(counts.nnz) < share
    parts = []
    for chosen in (~is_aside, is_aside):
        part = counts.copy()
        part.data = np.where(chosen, counts.data, 0.0)
        part.eliminate_zeros()
        parts.append(part)
    return Halves(*parts, hides_cells=True)


def table_of_pairs(users: object, things: object, counts: object = None) -> sparse.csr_array:
    """Sums over records of the same user and thing."""
    rows, row = np.unique(np.asarray(users), return_inverse=True)
    columns, column = np.unique(np.asarray(things), return_inverse=True)
    values = np.ones(row.size) if counts is None else np.asarray(counts, float)
    table = sparse.csr_array((values, (row, column)), shape=(rows.size, columns.size))
    table.sum_duplicates()
    return table


def plays() -> CountSet:
    """Listeners x artists: the logarithm of the plays to the base 2, rounded; some have 352,698 of one artist."""
    table = parquet.read_table(folder() / "hetrec_lastfm" / "user_artists.parquet")
    counts = table_of_pairs(table["user"], table["artist_id"], table["plays"])
    counts.data = np.round(np.log2(1.0 + counts.data))
    return CountSet("hetrec_lastfm", counts)


def libraries() -> CountSet:
    """Readers x articles in their libraries, zeros and ones; articles that two of them hold."""
    lines = (folder() / "citeulike_a" / "users.dat").read_text(encoding="utf-8").splitlines()
    held = [np.unique(np.array(line.split()[1:], int)) for line in lines]
    users, articles = np.repeat(np.arange(len(held)), [own.size for own in held]), np.concatenate(held)
    is_shared = (np.bincount(articles) >= 2)[articles]
    return CountSet("citeulike", table_of_pairs(users[is_shared], articles[is_shared]))


def advertisers() -> CountSet:
    """Advertisers x keywords: how many of the ads target each."""
    table = parquet.read_table(folder() / "snapchat_ads_2020" / "ads_keywords.parquet")
    return CountSet(
        "snapchat_ads", table_of_pairs(table["advertiser"].to_pylist(), table["keyword"].to_pylist())
    )


def searches() -> CountSet:
    """Advertisers x keywords of searches: how many of their ads were shown with each; five keywords or more.

    Its searchers x ads are no table for factors: 171 of 30,113 searchers have seen two ads or more.
    """
    table = parquet.read_table(folder() / "kddcup12_clicks" / "ads_keywords.parquet").to_pandas()
    table = table[table.groupby("keyword_id")["advertiser_id"].transform("nunique") >= 2]
    table = table[table.groupby("advertiser_id")["keyword_id"].transform("nunique") >= 5]
    return CountSet("kddcup12", table_of_pairs(table["advertiser_id"], table["keyword_id"]))


def shop() -> CountSet:
    """Profiles of visitors x items that they were shown."""
    table = parquet.read_table(folder() / "open_bandit" / "events.parquet").to_pandas()
    shown = table[table["event"] == "impression"]
    items = shown["campaign"].astype(str) + " " + shown["item"].astype(str)
    return CountSet(
        "open_bandit", table_of_pairs(shown["profile"].astype(str), items, shown["count"]), "events"
    )


SETS: dict[str, Callable[[], CountSet]] = {
    "snapchat_ads": advertisers,
    "kddcup12": searches,
    "open_bandit": shop,
    "hetrec_lastfm": plays,
    "citeulike": libraries,
}
