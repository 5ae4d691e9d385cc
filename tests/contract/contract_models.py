"""Every model of the registry, small enough to be learnt often, and how it is asked."""

import copy
import functools
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sparsemix.persistence import state_hash
from sparsemix.registry import model_class

N_ROWS = 60
LETTERS = tuple("abcdefghi")
ABOUT_ROWS = (
    "predict",
    "predict_proba",
    "score_samples",
    "transform",
    "new_cluster_probability",
    "unknown_rows",
)
FEW_SWEEPS = {"n_sweeps": 6, "burn_in": 2, "thin": 2}
PROCESS = {"concentration": 0.5, "decay_rate": 0.01}


class Subject(NamedTuple):
    """One kind of model under test; `rows` are what it learns, `has_times` whether its rows have times."""

    kind: str
    parameters: dict[str, Any]
    rows: Any
    has_times: bool = False

    def new(self, **changes: Any) -> Any:
        """An unfitted model."""
        return model_class(self.kind)(**self.parameters | changes)

    def learn(self, rows: Any = None, model: Any = None, **options: Any) -> Any:
        """A model, new unless given, that has learnt rows; all rows by default."""
        rows = self.rows if rows is None else rows
        model = self.new() if model is None else model
        times = {"times": np.arange(n_rows_of(rows), dtype=float)} if self.has_times else {}
        return model.fit(rows, **times | options)

    def learn_more(self, model: Any, rows: Any = None) -> Any:
        """Teach a fitted model more rows, or all of them anew where it cannot go on."""
        if not hasattr(model, "partial_fit"):
            return self.learn(rows, model=model)
        rows = self.rows if rows is None else rows
        later = (
            {"times": model.n_rows_seen_ + np.arange(n_rows_of(rows), dtype=float)} if self.has_times else {}
        )
        return model.partial_fit(rows, **later)

    def fitted(self) -> Any:
        """A copy of the model that has learnt all rows; it may be spoiled."""
        return copy.deepcopy(_learnt(self.kind))

    def named(self) -> Any:
        """The same with named features."""
        return copy.deepcopy(_learnt(self.kind, LETTERS))

    def ask(self, model: Any, question: str, rows: Any) -> Any:
        """What a model answers about each row; rows with times are asked about at one time, after all others."""
        times = (
            {"times": np.full(n_rows_of(rows), 99.0)} if self.has_times and question != "unknown_rows" else {}
        )
        return getattr(model, question)(rows, **times)

    def answers(self, model: Any, rows: Any = None) -> dict[str, Any]:
        """All that a model says about rows, and about pairs where it is asked for pairs."""
        rows = self.rows if rows is None else rows
        found = {each: self.ask(model, each, rows) for each in self.questions if each != "rates"}
        if "rates" in self.questions:
            users, features = np.indices((n_rows_of(rows), model.n_features_in_)).reshape(2, -1)
            found["rates"] = model.rates(users, features)
        return found

    @property
    def questions(self) -> list[str]:
        """The names of the methods that answer row by row."""
        known = [each for each in ABOUT_ROWS if hasattr(model_class(self.kind), each)]
        return known or ["rates"]


class ClickRates(Subject):
    """Click rates learn tables of events and are asked for pairs of a user and an ad."""

    def answers(self, model: Any, rows: Any = None) -> dict[str, Any]:
        """The rates of the pairs in a table of events."""
        rows = self.rows if rows is None else rows
        return {"predict": model.predict(rows["user"], rows["ad"])}

    def named(self) -> Any:
        """Events always have names."""
        return self.fitted()


def counts_of_topics(n_rows: int = N_ROWS) -> Any:
    """Counts of three topics, (n_rows, 9); topic t has the features t, t + 3 and t + 6."""
    own = np.arange(9) % 3 == (np.arange(n_rows) % 3)[:, None]
    return np.random.default_rng(0).poisson(np.where(own, 2.0, 0.05))


def events_of_users() -> Any:
    """Twenty users of two groups, each of which clicks on every other ad."""
    user, ad = (each.ravel() for each in np.indices((20, 6)))
    clicks = np.where((user + ad) % 2, 3, 0)
    table = pd.DataFrame({
        "user": np.tile(user, 2), "ad": np.char.add("ad", np.tile(ad, 2).astype(str)),
        "event": np.repeat(["impression", "click"], user.size), "count": np.r_[np.full(user.size, 9), clicks],
    })  # fmt: skip
    return table[table["count"] > 0].reset_index(drop=True)


COUNTS = counts_of_topics()
PRESENCE = np.minimum(COUNTS, 1)
SUBJECTS = {
    each.kind: each
    for each in (
        Subject("online-bernoulli-mixture", {"n_components": 3, "priming_rows": 30}, PRESENCE),
        Subject("multinomial-mixture", {"n_components": 3}, COUNTS),
        Subject("bernoulli-mixture", {"n_components": 3}, PRESENCE),
        Subject("hashed-gibbs-mixture", {"n_components": 8, **FEW_SWEEPS}, COUNTS),
        Subject("uncollapsed-gibbs-mixture", {"n_components": 8, **FEW_SWEEPS}, COUNTS),
        Subject("time-sensitive-mixture", PROCESS | FEW_SWEEPS, COUNTS, has_times=True),
        Subject("streaming-time-sensitive-mixture", PROCESS, COUNTS, has_times=True),
        Subject("gamma-poisson-factors", {"n_components": 3}, COUNTS),
        ClickRates("click-rate-model", {"n_components": 2, "smoothing": 2.0}, events_of_users()),
        Subject("bayesian-nmf", {"n_components": 3, **FEW_SWEEPS}, COUNTS),
    )
}
for _each in SUBJECTS.values():
    _each.parameters["random_state"] = 0


@functools.cache
def _learnt(kind: str, names: tuple[str, ...] | None = None) -> Any:
    subject = SUBJECTS[kind]
    return subject.learn(subject.rows if names is None else pd.DataFrame(subject.rows, columns=list(names)))


def n_rows_of(rows: Any) -> int:
    """How many rows any form of them has."""
    return len(rows) if isinstance(rows, list) else getattr(rows, "matrix", rows).shape[0]


def hash_of(model: Any) -> str:
    """The fingerprint of all that a model knows."""
    return state_hash(model.to_payload())
