"""Event tables cut in two: nothing is lost, clicks stay with impressions, and what cannot be split is refused."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import binom, hypergeom

from sparsemix import DataError, ParameterError, split_events

KINDS = ["impression", "click", "conversion"]


def draw_table(seed=0, n_pairs=300):
    """Pairs with up to 40 impressions, some clicks, some conversions, and a day for each record."""
    rng = np.random.default_rng(seed)
    pair = rng.permutation(60 * 20)[:n_pairs]
    impressions = rng.integers(1, 40, n_pairs)
    clicks = rng.binomial(impressions, 0.3)
    counts = np.concatenate([impressions, clicks, rng.binomial(clicks, 0.2)])
    table = pd.DataFrame({
        "user": np.tile(pair // 20, 3), "ad": [f"ad{j}" for j in np.tile(pair % 20, 3)],
        "event": np.repeat(KINDS, n_pairs), "count": counts, "time": rng.integers(0, 30, 3 * n_pairs),
    })  # fmt: skip
    return table[table["count"] > 0].reset_index(drop=True)


TABLE = draw_table()


def totals(table):
    """Sums for each user, ad and kind of event."""
    return pd.DataFrame(table).groupby(["user", "ad", "event"])["count"].sum().sort_index()


@pytest.mark.parametrize("by", ["impressions", "pairs", "time"])
def test_nothing_is_lost_or_made(by):
    learnt, held_out = split_events(TABLE, by=by, random_state=0)
    both = pd.concat([pd.DataFrame(learnt), pd.DataFrame(held_out)])
    pd.testing.assert_series_equal(totals(both), totals(TABLE), check_dtype=False)
    share = held_out["count"].sum() / TABLE["count"].sum()
    assert 0.15 < share < 0.25


def test_clicks_stay_with_their_impressions():
    for table in split_events(TABLE, 0.4, random_state=1):
        wide = pd.DataFrame(table).pivot_table(
            index=["user", "ad"], columns="event", values="count", fill_value=0
        )
        assert (wide["click"] <= wide["impression"]).all()
        assert (wide["conversion"] <= wide["click"]).all()


def test_impressions_and_clicks_are_spread_at_random():
    n_shown, n_clicks, n_splits = 8, 3, 4000
    table = {
        "user": np.repeat(np.arange(n_splits), 2), "ad": np.zeros(2 * n_splits, int),
        "event": np.tile(["impression", "click"], n_splits), "count": np.tile([n_shown, n_clicks], n_splits),
    }  # fmt: skip
    aside = pd.DataFrame(split_events(table, 0.3, random_state=0).held_out)
    wide = aside.pivot_table(index="user", columns="event", values="count", fill_value=0)
    shown, clicks = (wide[kind].reindex(range(n_splits), fill_value=0).astype(int) for kind in KINDS[:2])
    found = np.zeros((n_shown + 1, n_clicks + 1))
    np.add.at(found, (shown, clicks), 1.0 / n_splits)
    n, c = np.indices(found.shape)
    wanted = binom.pmf(n, n_shown, 0.3) * hypergeom.pmf(c, n_shown, n_clicks, n)
    assert np.abs(found - wanted).sum() < 0.08  # expected about 0.03


def test_a_pair_is_on_one_side():
    learnt, held_out = (pd.DataFrame(each) for each in split_events(TABLE, by="pairs", random_state=0))
    assert not set(learnt.user + 1j * learnt.ad.str[2:].astype(int)) & set(
        held_out.user + 1j * held_out.ad.str[2:].astype(int)
    )


def test_the_past_is_learnt_and_records_of_one_time_stay_together():
    held_out = pd.DataFrame(split_events(TABLE, 0.3, by="time").held_out)
    late = TABLE[TABLE["time"] >= TABLE["time"].max() - 29 + 21]
    pd.testing.assert_series_equal(totals(held_out), totals(late), check_dtype=False)


@pytest.mark.parametrize("form", ["dates", "polars", "python", "text"])
def test_times_of_any_kind(form):
    days = pd.to_datetime("2026-01-01", utc=True) + pd.to_timedelta(TABLE["time"], "D")
    table = TABLE.assign(time=days)
    if form == "polars":
        table = pl.DataFrame(TABLE.assign(time=days.dt.tz_localize(None)).to_dict("list"))
    if form == "python":
        table["time"] = [datetime(2026, 1, 1 + int(day), tzinfo=UTC) for day in TABLE["time"]]
    if form == "text":
        table["time"] = days.astype(str)
        with pytest.raises(ParameterError, match="Turn text into dates"):
            split_events(table, by="time")
        return
    found, wanted = split_events(table, by="time"), split_events(TABLE, by="time")
    assert_array_equal(found.held_out["count"], wanted.held_out["count"])


def test_the_same_seed_gives_the_same_split():
    first, second, other = (split_events(TABLE, random_state=seed).held_out["count"] for seed in (0, 0, 1))
    assert_array_equal(first, second)
    assert len(first) != len(other) or (first != other).any()


def test_other_names_and_no_counts():
    table = {"who": ["ann", "bob", "ann", "bob"], "what": [1, 1, 2, 2], "kind": ["impression"] * 4}
    names = {"user": "who", "ad": "what", "event": "kind", "count": None}
    learnt, held_out = split_events(table, 0.5, by="pairs", random_state=0, **names)
    assert list(learnt) == ["who", "what", "kind", "count"]
    assert learnt["count"].sum() + held_out["count"].sum() == 4


def test_clicks_alone_count_as_impressions():
    table = {"user": [1] * 2, "ad": [1, 2], "event": ["click"] * 2, "count": [50, 50]}
    for side in split_events(table, 0.5, random_state=0):
        pd.testing.assert_series_equal(
            *(totals(side)[:, :, kind] for kind in KINDS[:2]), check_names=False
        )  # fmt: skip


def test_conversions_without_clicks_are_split_too():
    table = {"user": [1, 1], "ad": [1, 1], "event": ["impression", "conversion"], "count": [90, 100]}
    learnt, held_out = (totals(each)[1, 1] for each in split_events(table, 0.5, random_state=0))
    assert learnt["conversion"] + held_out["conversion"] == 100
    assert min(learnt["conversion"], held_out["conversion"]) > 20


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"held_out": 0.0}, ParameterError, "held_out"),
        ({"held_out": 1.0}, ParameterError, "held_out"),
        ({"by": "users"}, ParameterError, "'impressions', 'pairs', 'time'"),
        ({"by": "time", "time": "day"}, DataError, "the column 'day'"),
        ({"ad": "item"}, DataError, "'item' is missing"),
        ({"random_state": "x"}, ParameterError, "random_state"),
        ({"user": None}, ParameterError, "'user' of split_events must be the name of a column"),
        (
            {"by": "time", "time": ["day"]},
            ParameterError,
            "'time' of split_events must be the name of a column",
        ),
        ({"user": 5}, DataError, "5 is missing"),
    ],
)
def test_wrong_calls(change, error, says):
    with pytest.raises(error, match=says):
        split_events(TABLE, **change)


@pytest.mark.parametrize(
    ("changed", "by", "says"),
    [
        ({"count": 0.5}, "impressions", "whole numbers"),
        ({"count": 0}, "pairs", "nothing is left"),
        ({"time": 3}, "time", "nothing is left"),
        ({"time": np.nan}, "time", "record 0 has none"),
    ],
)
def test_tables_that_cannot_be_split(changed, by, says):
    with pytest.raises(DataError, match=says):
        split_events(TABLE.assign(**changed), by=by, random_state=0)
