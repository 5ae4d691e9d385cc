"""Bayesian factor modelling for interest-based advertising: how well factors predict counts that were set aside.

Table 1 and Figure 2 of the poster have the root mean squared error (RMSE) of cells that were set aside, against the
number of factors; Figure 1 shows what solvers make of a toy table. Data are made up, several sets of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsemix.models.gamma_poisson import BayesianNMF, GammaPoissonFactors
from sparsemix.reproduction.ad_events import Split, ad_events, split_cells, toy_table
from sparsemix.reproduction.gap_tables import (
    GIBBS,
    GIBBS_NMF,
    MEAN,
    NMF,
    Errors,
    data_table,
    error_table,
    order_table,
)
from sparsemix.reproduction.papers import Wish
from sparsemix.reproduction.results import Curves, Panels, Result
from sparsemix.reproduction.spread import spread_of

EM = "EM GaP"
SOLVERS = {GIBBS: "gibbs", NMF: "ml", EM: "map"}
MODELS = (GIBBS, GIBBS_NMF, NMF, EM)
"""In the order of the poster's table. Maximum likelihood is NMF, the posterior mode is by EM."""

TOY_COMPONENTS = 4


class Sizes(NamedTuple):
    """How large the experiments are.

    n_users, n_ads, n_events : of a data set. components : numbers of factors. n_sets : data sets.
    n_sweeps : of a chain, of which half are left out.
    """

    n_users: int
    n_ads: int
    n_events: int
    components: tuple[int, ...]
    n_sets: int
    n_sweeps: int


FULL = Sizes(960, 110, 6_052, (1, 3, 5, 10, 20, 50), 20, 200)
QUICK = FULL._replace(components=(1, 5, 20), n_sets=3, n_sweeps=100)


def results(wish: Wish, tell: Callable[[str], None]) -> Iterator[Result]:
    """Yield Figure 1, what the data are like, Table 1, Figure 2, and whether the poster's order is seen."""
    sizes = QUICK if wish.is_quick else FULL
    n_users = wish.n_rows or sizes.n_users
    wanted = sizes._replace(
        n_users=n_users,
        n_ads=wish.n_features // 3 if wish.n_features else sizes.n_ads,
        n_events=round(sizes.n_events * n_users / sizes.n_users),
        components=wish.clusters or sizes.components,
        n_sets=wish.n_sets or sizes.n_sets,
    )
    yield from run(wanted, tell)


def run(sizes: Sizes, tell: Callable[[str], None]) -> Iterator[Result]:
    """The same for sizes of any kind."""
    tell("Figure 1: a toy table.")
    yield _figure_1(sizes.n_sweeps)
    sets, errors = [], []
    for seed in range(sizes.n_sets):
        tell(f"Data set {seed + 1} of {sizes.n_sets}.")
        counts = ad_events(sizes.n_users, sizes.n_ads, sizes.n_events, seed)
        sets.append(counts)
        errors.append(_errors_of(split_cells(counts, seed), sizes, seed))
    yield data_table(sets)
    yield error_table(errors)
    yield _figure_2(errors)
    yield order_table(errors)


def fitted(name: str, counts: Any, n_components: int, n_sweeps: int, seed: int) -> Any:
    """Return a model of one of the names in `MODELS`, fitted to counts."""
    common: dict[str, Any] = {"n_sweeps": n_sweeps, "burn_in": n_sweeps // 2, "thin": 2, "random_state": seed}
    if name == GIBBS_NMF:
        return BayesianNMF(n_components, **common).fit(counts)
    return GammaPoissonFactors(n_components, solver=SOLVERS[name], max_iter=1_000, **common).fit(counts)


def _errors_of(split: Split, sizes: Sizes, seed: int) -> Errors:
    """RMSE of every model and number of factors on one data set; that of the mean is the same for all numbers."""

    def rmse(predicted: Any) -> float:
        return float(np.sqrt(np.mean((split.counts - predicted) ** 2)))

    found = {(MEAN, n): rmse(split.mean) for n in sizes.components}
    for n_components in sizes.components:
        for name in MODELS:
            model = fitted(name, split.train, n_components, sizes.n_sweeps, seed)
            found[name, n_components] = rmse(model.rates(split.users, split.features))
    return found


def _figure_1(n_sweeps: int) -> Panels:
    counts = toy_table(seed=0)
    users, features = (each.ravel() for each in np.indices(counts.shape))
    tables = {"data": counts.ravel()}
    for name in (NMF, EM, GIBBS):
        tables[name] = fitted(name, counts, TOY_COMPONENTS, n_sweeps, 0).rates(users, features)
    rows = [
        (name, int(feature), int(user), float(value))
        for name, values in tables.items()
        for feature, user, value in zip(features, users, values, strict=True)
    ]
    title = f"Figure 1: a toy table, and its rates by {TOY_COMPONENTS} factors"
    heads = ("table", "event", "user", "count")
    return Panels("figure_1", title, heads, rows, dict.fromkeys(tables, "picture"), len(tables))


def _figure_2(errors: Sequence[Errors]) -> Curves:
    rows = [
        (name, n_components, spread_of(each[name, n_components] for each in errors).mean)
        for name, n_components in sorted(errors[0], key=lambda key: ((*MODELS, MEAN).index(key[0]), key[1]))
    ]
    return Curves("figure_2", "Figure 2: RMSE of the cells set aside", ("model", "factors", "RMSE"), rows)
