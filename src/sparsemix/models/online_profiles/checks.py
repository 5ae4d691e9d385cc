"""Rules of the estimator's parameters and labels, checked before anything is learnt."""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemix.foundation.errors import DataError, parameter_error, shorten
from sparsemix.models.online_profiles.engine import Settings

if TYPE_CHECKING:
    from sparsemix.models.online_profiles.estimator import OnlineBernoulliMixture

ROWS_PER_COMPONENT, FEWEST_ROWS = 100, 10_000
MOST_EXACT = 2.0**53  # float labels from here on are no longer all the integers
EXPLICIT_FROM = 0.1  # responsibility from which a feature that is new to a component gets a Beta of its own


def resolve(model: "OnlineBernoulliMixture", seed: int) -> Settings:
    """Check all parameters and put numbers in the place of "auto" and "empirical"."""
    owner = type(model).__name__
    at_least("n_components", owner, model.n_components, 1)
    _positive("weight_concentration", owner, model.weight_concentration)
    if model.prior_mean != "empirical":
        _inside(
            "prior_mean",
            owner,
            model.prior_mean,
            "'empirical' or a number in (0, 1)",
            0.0,
            1.0,
            open_low=True,
        )
    if model.prior_strength != "auto":
        _positive("prior_strength", owner, model.prior_strength, "'auto' or a number > 0")
    if model.priming_rows != "auto":
        at_least("priming_rows", owner, model.priming_rows, 1, "'auto' or an integer >= 1")
    if not isinstance(model.clutter, bool | np.bool_):
        raise parameter_error("clutter", owner, "True or False", model.clutter)
    binarize(model.binarize, owner)
    _inside("min_responsibility", owner, model.min_responsibility, "a number in [0, 1)", 0.0, 1.0)
    _inside("min_component_share", owner, model.min_component_share, "a number in [0, 1)", 0.0, 1.0)
    _inside("staleness", owner, model.staleness, "a number in [0, 1]", 0.0, np.nextafter(1.0, 2.0))
    _inside("cull_threshold", owner, model.cull_threshold, "a number >= 0", 0.0, np.inf)
    auto_rows = max(FEWEST_ROWS, ROWS_PER_COMPONENT * model.n_components)
    return Settings(
        n_components=int(model.n_components),
        weight_concentration=float(model.weight_concentration),
        prior_mean=None if model.prior_mean == "empirical" else float(model.prior_mean),
        prior_strength=None if model.prior_strength == "auto" else float(model.prior_strength),
        priming_rows=auto_rows if model.priming_rows == "auto" else int(model.priming_rows),
        clutter=bool(model.clutter),
        min_responsibility=float(model.min_responsibility),
        explicit_responsibility=EXPLICIT_FROM,
        cull_threshold=float(model.cull_threshold),
        min_component_share=float(model.min_component_share),
        staleness=float(model.staleness),
        seed=seed,
    )


def at_least(name: str, owner: str, value: Any, least: int, rule: str = "") -> None:
    """Raise ParameterError unless `value` is an integer of at least `least`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or int(value) < least:
        raise parameter_error(name, owner, rule or f"an integer >= {least}", value)


def binarize(value: Any, owner: str) -> None:
    """Raise ParameterError unless the threshold keeps zeros absent."""
    if value is not None:
        _inside("binarize", owner, value, "None or a number >= 0", 0.0, np.inf)


def level(value: Any, owner: str) -> None:
    """Raise ParameterError unless `value` can be the mass of an interval."""
    _inside("level", owner, value, "a number in (0, 1)", 0.0, 1.0, open_low=True)


def share(name: str, owner: str, value: Any) -> None:
    """Raise ParameterError unless `value` is in [0, 1]."""
    _inside(name, owner, value, "a number in [0, 1]", 0.0, np.nextafter(1.0, 2.0))


def _positive(name: str, owner: str, value: Any, rule: str = "a number > 0") -> None:
    _inside(name, owner, value, rule, 0.0, np.inf, open_low=True)


def _inside(
    name: str, owner: str, value: Any, rule: str, low: float, high: float, *, open_low: bool = False
) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_number or not (low < value if open_low else low <= value) or not value < high:
        raise parameter_error(name, owner, rule, value)


def known_labels(y: ArrayLike | None, n_rows: int, n_components: int) -> NDArray[np.int64]:
    """Labels as component ids, -1 for unknown.

    Raises
    ------
    DataError
        If there is not one integer in ``-1 .. n_components - 1`` per row.
    """
    if y is None:
        return np.full(n_rows, -1)
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise DataError(f"'y' must hold one label per row, {n_rows}, but its shape is {labels.shape}.")
    is_small = labels.dtype.kind in "iuf" and bool(np.all(np.abs(labels) < MOST_EXACT))
    whole = labels.astype(np.int64) if is_small else None
    if whole is None or np.any(whole != labels):
        raise DataError(
            f"'y' must hold integers, -1 for unknown, but it holds {shorten(labels[:3].tolist())}."
        )
    if n_rows and (whole.min() < -1 or whole.max() >= n_components):
        raise DataError(
            f"'y' must hold labels from -1 (unknown) to {n_components - 1}, but it holds {whole.min()} to "
            f"{whole.max()}. Raise n_components or renumber the labels."
        )
    return whole
