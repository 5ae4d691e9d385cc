"""Real tables of ad events, made-up ones, and what predicts clicks on the part that was set aside."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from pyarrow import parquet

from harness.realdata import folder
from sparsemix import ClickRateModel
from sparsemix.models.gamma_poisson import EventSplit
from sparsemix.models.gamma_poisson.calibration import RateReport

Table = dict[str, np.ndarray]


class EventSet(NamedTuple):
    """Events with a time where there is one, and the ways to split them."""

    name: str
    events: Table
    ways: tuple[str, ...]


def searches() -> EventSet:
    """Searchers x ads (kddcup12), without searchers who are not known; clicked records are oversampled in it."""
    table = parquet.read_table(folder() / "kddcup12_clicks" / "user_events.parquet").to_pandas()
    return EventSet("kddcup12", _columns(table, "ad"), ("impressions", "pairs"))


def shop(policy: str) -> Callable[[], EventSet]:
    """Profiles of visitors x items of a shop (open_bandit), shown at random or by a bandit."""

    def read() -> EventSet:
        table = parquet.read_table(folder() / "open_bandit" / "events.parquet").to_pandas()
        table = table[table["policy"] == policy]
        table["ad"] = table["campaign"].astype(str) + " " + table["item"].astype(str)
        table["user"] = table["profile"].astype(str)
        return EventSet(f"open_bandit, {policy}", _columns(table, "ad", "hour"), ("impressions", "time"))

    return read


def made_up() -> EventSet:
    """Users of four interests, each with its own rates, some 50 impressions a user: where factors must help."""
    rng = np.random.default_rng(0)
    n_users, n_ads = 2_000, 100
    interest = rng.integers(4, size=n_users)
    user, ad = (each.ravel() for each in np.indices((n_users, n_ads)))
    impressions = rng.poisson(rng.gamma(0.5, 1.2, (4, n_ads))[interest[user], ad])
    clicks = rng.binomial(impressions, rng.beta(0.5, 6.0, (4, n_ads))[interest[user], ad])
    events = {
        "user": np.tile(user, 2),
        "ad": np.tile(ad, 2),
        "event": np.repeat(["impression", "click"], user.size),
        "count": np.concatenate([impressions, clicks]),
    }
    return EventSet(
        "made up", {name: column[events["count"] > 0] for name, column in events.items()}, ("impressions",)
    )


def _columns(table: object, ad: str, time: str = "") -> Table:
    found = {
        "user": table["user"],
        "ad": table[ad],
        "event": table["event"].astype(str),
        "count": table["count"],
    }
    if time:
        found["time"] = table[time]
    return {name: column.to_numpy() for name, column in found.items()}


SETS: dict[str, Callable[[], EventSet]] = {
    "kddcup12": searches,
    "random": shop("random"),
    "bts": shop("bts"),
    "made-up": made_up,
}
MODELS: dict[str, dict[str, object]] = {
    "map, K = 1": {"n_components": 1},
    "map, K = 5": {"n_components": 5},
    "map, K = 20": {"n_components": 20},
    "ml, K = 5": {"n_components": 5, "solver": "ml"},
    "gibbs, K = 5": {"n_components": 5, "solver": "gibbs"},
    "gibbs, K = 20": {"n_components": 20, "solver": "gibbs"},
    "map, K = 5, the ad counts for 10": {"n_components": 5, "smoothing": 10.0},
}


class Found(NamedTuple):
    """A model's report, the impressions that it lets the ad count for, and the log loss of one rate for all."""

    report: RateReport
    smoothing: float
    global_log_loss: float


def judge(split: EventSplit, options: dict[str, object], seed: int) -> Found:
    """Fit a model to one part and ask the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ClickRateModel(**options, random_state=seed).fit(split.learnt)
    report = model.evaluate(split.held_out)
    shown, clicked = (_total(split.learnt, kind) for kind in ("impression", "click"))
    return Found(report, model.smoothing_, _loss_of_one_rate(clicked / shown, report))


def _total(table: Table, kind: str) -> float:
    return float(table["count"][table["event"] == kind].sum())


def _loss_of_one_rate(rate: float, report: RateReport) -> float:
    share = report.n_clicks / report.n_impressions
    return float(-(share * np.log(rate) + (1.0 - share) * np.log1p(-rate)))
