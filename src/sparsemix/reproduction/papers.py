"""The papers whose experiments can be run, and how much of them is wanted."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple

from sparsemix.foundation.checks import at_least, one_of
from sparsemix.reproduction.results import Result

PAPERS = {"fastex": "Hash clustering with exponential families: Table 1, speed, convergence."}
"""Name of each paper's module, and what it shows."""


class Wish(NamedTuple):
    """How large an experiment shall be; None is as the paper's module has it.

    is_quick : sizes for a look, within a minute. clusters : numbers of them. n_rows, n_features : of the data.
    """

    is_quick: bool = False
    clusters: tuple[int, ...] | None = None
    n_rows: int | None = None
    n_features: int | None = None


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
    Table or Curves
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
    sparsemix.foundation.errors.ParameterError: 'paper' of reproduce must be one of 'fastex', but it is 'nature'.
    """
    one_of("paper", "reproduce", paper, tuple(PAPERS))
    for name, value in (("rows", wish.n_rows), ("features", wish.n_features)):
        if value is not None:
            at_least(name, "reproduce", value, 100)
    for value in wish.clusters or ():
        at_least("clusters", "reproduce", value, 2)
    yield from import_module(f"sparsemix.reproduction.{paper}").results(wish, tell)
