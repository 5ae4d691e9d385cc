"""The papers whose experiments can be run, and how much of them is wanted."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple

from sparsemix.data import Dataset
from sparsemix.foundation.checks import at_least, one_of
from sparsemix.foundation.errors import parameter_error
from sparsemix.reproduction.results import Result

PAPERS = {
    "ads": "Online Bayesian clustering of ads: Figures 3 and 4, Tables 1 to 4.",
    "fastex": "Hash clustering with exponential families: Table 1, speed, convergence.",
    "gap": "Bayesian factor modelling with count data: Table 1, Figures 1 and 2.",
    "tdpm": "Time-sensitive Dirichlet process mixtures: Figures 4 to 6, variation of information.",
}
"""Name of each paper's module, and what it shows."""

OPTIONS: dict[str, dict[str, int | None]] = {
    "ads": {"clusters": 2, "rows": 100, "data_sets": 1, "table": None},
    "fastex": {"clusters": 2, "rows": 100, "features": 100},
    "gap": {"clusters": 1, "rows": 100, "features": 100, "data_sets": 1},
    "tdpm": {"rows": 100, "data_sets": 1},
}
"""What may be asked of each, and the least value where there is one."""


class Wish(NamedTuple):
    """How large an experiment shall be; None is as the paper's module has it.

    is_quick : sizes for a look, within a minute. clusters : numbers of them, or of factors. n_rows, n_features : of the
    data. n_sets : data sets. ads : real ones with their advertisers, besides those that are made up.
    """

    is_quick: bool = False
    clusters: tuple[int, ...] | None = None
    n_rows: int | None = None
    n_features: int | None = None
    n_sets: int | None = None
    ads: Dataset | None = None


def results_of(paper: str, wish: Wish, tell: Callable[[str], None] = lambda _: None) -> Iterator[Result]:
    """Run the experiments of a paper.

    Parameters
    ----------
    paper : str
        One of `PAPERS`.
    wish : Wish
    tell : callable
        Told what is going on, in words.

    Yields
    ------
    Table, Curves or Panels
        As soon as each is found.

    Raises
    ------
    ParameterError
        When there is no such paper, or a size breaks its rule.

    Examples
    --------
    >>> next(results_of("nature", Wish()))
    Traceback (most recent call last):
    ...
    sparsemix.foundation.errors.ParameterError: 'paper' of reproduce must be one of 'ads', 'fastex', 'gap', 'tdpm', but\
 it is 'nature'.
    """
    one_of("paper", "reproduce", paper, tuple(PAPERS))
    _check(paper, wish)
    yield from import_module(f"sparsemix.reproduction.{paper}").results(wish, tell)


def _check(paper: str, wish: Wish) -> None:
    given = {
        "clusters": min(wish.clusters) if wish.clusters else None,
        "rows": wish.n_rows,
        "features": wish.n_features,
        "data_sets": wish.n_sets,
        "table": wish.ads,
    }
    for name, value in given.items():
        if value is None:
            continue
        if name not in OPTIONS[paper]:
            raise parameter_error(name, "reproduce", f"None for {paper}", value, "Leave it out.")
        if (least := OPTIONS[paper][name]) is not None:
            at_least(name, "reproduce", value, least)
