"""Rules of the estimator's parameters and labels, checked before anything is learnt."""

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np

from sparsemix.foundation.checks import (
    LARGEST_FLOAT,
    SMALLEST,
    at_least,
    inside,
    is_word,
    n_threads,
    pseudo_count,
    threshold,
)
from sparsemix.foundation.errors import parameter_error
from sparsemix.models.online_profiles.stream import Settings

ROWS_PER_COMPONENT, FEWEST_ROWS = 100, 20_000
FEWEST_WAITING, WAITING_PER_COMPONENT = 1_000, 10
MOST_FOUND, FIRST_SEEDS = 1_000, 16  # where the number of components is found by evidence
MOST_COMPONENTS = 1_000_000
EXPLICIT_FROM = 0.1  # responsibility from which a feature that is new to a component gets a Beta of its own


def resolve(model: Any, seed: int) -> Settings:
    """Check all parameters and put numbers in the place of "auto" and "empirical"."""
    _check(model, type(model).__name__)
    n_components, first = _numbers(model.n_components)
    auto_rows = max(FEWEST_ROWS, ROWS_PER_COMPONENT * first)
    return Settings(
        n_components=n_components,
        weight_concentration=float(model.weight_concentration),
        prior_mean=None if isinstance(model.prior_mean, str) else float(model.prior_mean),
        prior_strength=None if isinstance(model.prior_strength, str) else float(model.prior_strength),
        priming_rows=auto_rows if isinstance(model.priming_rows, str) else int(model.priming_rows),
        clutter=bool(model.clutter),
        min_responsibility=float(model.min_responsibility),
        explicit_responsibility=EXPLICIT_FROM,
        cull_threshold=float(model.cull_threshold),
        min_component_share=float(model.min_component_share),
        staleness=float(model.staleness),
        half_life_rows=None if model.half_life_rows is None else float(model.half_life_rows),
        first_components=first,
        reservoir_rows=_reservoir_rows(model, first),
        seed=seed,
    )


def _numbers(n_components: int | str) -> tuple[int, int]:
    """Most components, and how many the priming begins with."""
    if isinstance(n_components, str):
        return MOST_FOUND, FIRST_SEEDS
    return int(n_components), int(n_components)


def _reservoir_rows(model: Any, n_components: int) -> int:
    if not isinstance(model.reservoir_rows, str):
        return int(model.reservoir_rows)
    rows = max(FEWEST_WAITING, WAITING_PER_COMPONENT * n_components)
    return rows if model.half_life_rows is None else min(rows, int(model.half_life_rows / 4) + 1)


def _check(model: Any, owner: str) -> None:
    most = f"'auto' or an integer >= 1, at most {MOST_COMPONENTS:,}"
    if not is_word(model.n_components, "auto"):
        at_least("n_components", owner, model.n_components, 1, most, most=MOST_COMPONENTS)
    pseudo_count("weight_concentration", owner, model.weight_concentration)
    if not is_word(model.prior_mean, "empirical"):
        rule = f"'empirical' or a number in (0, 1), at least {SMALLEST}"
        inside("prior_mean", owner, model.prior_mean, rule, SMALLEST, 1.0)
    if not is_word(model.prior_strength, "auto"):
        pseudo_count("prior_strength", owner, model.prior_strength, "'auto' or ")
    if not is_word(model.priming_rows, "auto"):
        at_least("priming_rows", owner, model.priming_rows, 1, "'auto' or an integer >= 1")
    if not is_word(model.reservoir_rows, "auto"):
        at_least("reservoir_rows", owner, model.reservoir_rows, 0, "'auto' or an integer >= 0")
    at_least("n_passes", owner, model.n_passes, 1, "an integer >= 1")
    if model.half_life_rows is not None:
        rule = f"None or a number >= 1, below {LARGEST_FLOAT:.1e}"
        inside("half_life_rows", owner, model.half_life_rows, rule, 1.0, LARGEST_FLOAT)
    if not isinstance(model.verbose, Integral | np.bool_) or model.verbose < 0:
        raise parameter_error("verbose", owner, "an integer >= 0", model.verbose)
    if not isinstance(model.clutter, bool | np.bool_):
        raise parameter_error("clutter", owner, "True or False", model.clutter)
    threshold(owner, model.binarize)
    n_threads(model.n_jobs, owner)
    inside("min_responsibility", owner, model.min_responsibility, "a number in [0, 1)", 0.0, 1.0)
    inside("min_component_share", owner, model.min_component_share, "a number in [0, 1)", 0.0, 1.0)
    inside("staleness", owner, model.staleness, "a number in [0, 1]", 0.0, np.nextafter(1.0, 2.0))
    rule = f"a number >= 0, below {LARGEST_FLOAT:.1e}"
    inside("cull_threshold", owner, model.cull_threshold, rule, 0.0, LARGEST_FLOAT)


def pairs_of(batches: Any) -> Iterator[tuple[Any, Any]]:
    """The batches of `learn_again`; ParameterError unless they are pairs in an iterable."""
    rule, remedy = "an iterable of pairs (X, y)", "Give [(X, None)] for a whole table without labels."
    if not isinstance(batches, Iterable) or isinstance(batches, str | bytes | np.ndarray):
        raise parameter_error("batches", "learn_again", rule, batches, remedy)

    def pairs() -> Iterator[tuple[Any, Any]]:
        for batch in batches:
            if not isinstance(batch, tuple | list) or len(batch) != 2:
                raise parameter_error("batches", "learn_again", rule, batch, remedy)
            yield batch[0], batch[1]

    return pairs()
