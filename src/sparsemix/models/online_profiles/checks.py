"""Rules of the estimator's parameters and labels, checked before anything is learnt."""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from sparsemix.foundation.errors import DataError, parameter_error, shorten
from sparsemix.models.online_profiles.engine import Settings

if TYPE_CHECKING:
    from sparsemix.models.online_profiles.estimator import OnlineBernoulliMixture

ROWS_PER_COMPONENT, FEWEST_ROWS = 100, 10_000
MOST_EXACT = 2.0**53  # float labels from here on are no longer all the integers
MOST_COMPONENTS = 1_000_000
SMALLEST, LARGEST = (
    1e-100,
    1e100,
)  # pseudo-counts between them neither vanish nor overflow, added or multiplied
EXPLICIT_FROM = 0.1  # responsibility from which a feature that is new to a component gets a Beta of its own


def resolve(model: "OnlineBernoulliMixture", seed: int) -> Settings:
    """Check all parameters and put numbers in the place of "auto" and "empirical"."""
    _check(model, type(model).__name__)
    n_components = int(model.n_components)
    auto_rows = max(FEWEST_ROWS, ROWS_PER_COMPONENT * n_components)
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
        seed=seed,
    )


def _check(model: "OnlineBernoulliMixture", owner: str) -> None:
    most = f"an integer >= 1, at most {MOST_COMPONENTS:,}"
    at_least("n_components", owner, model.n_components, 1, most, most=MOST_COMPONENTS)
    _pseudo_count("weight_concentration", owner, model.weight_concentration)
    if not _is_word(model.prior_mean, "empirical"):
        rule = f"'empirical' or a number in (0, 1), at least {SMALLEST}"
        _inside("prior_mean", owner, model.prior_mean, rule, SMALLEST, 1.0)
    if not _is_word(model.prior_strength, "auto"):
        _pseudo_count("prior_strength", owner, model.prior_strength, "'auto' or ")
    if not _is_word(model.priming_rows, "auto"):
        at_least("priming_rows", owner, model.priming_rows, 1, "'auto' or an integer >= 1")
    if not isinstance(model.verbose, Integral | np.bool_) or model.verbose < 0:
        raise parameter_error("verbose", owner, "an integer >= 0", model.verbose)
    if not isinstance(model.clutter, bool | np.bool_):
        raise parameter_error("clutter", owner, "True or False", model.clutter)
    binarize(model.binarize, owner)
    _inside("min_responsibility", owner, model.min_responsibility, "a number in [0, 1)", 0.0, 1.0)
    _inside("min_component_share", owner, model.min_component_share, "a number in [0, 1)", 0.0, 1.0)
    _inside("staleness", owner, model.staleness, "a number in [0, 1]", 0.0, np.nextafter(1.0, 2.0))
    _inside("cull_threshold", owner, model.cull_threshold, "a number >= 0", 0.0, np.inf)


def seed_of(value: Any, owner: str) -> int:
    """A seed drawn from what scikit-learn takes for `random_state`; a generator goes on."""
    try:
        return int(check_random_state(value).randint(2**31 - 1))
    except ValueError as error:
        rule = "an integer from 0 to 2**32 - 1, a numpy.random.RandomState or None"
        raise parameter_error("random_state", owner, rule, value) from error


def generator(value: Any, owner: str) -> np.random.Generator:
    """NumPy's generator for a seed, or itself."""
    try:
        return np.random.default_rng(value)
    except (TypeError, ValueError) as error:
        rule = "an integer >= 0, a numpy.random.Generator or None"
        raise parameter_error("random_state", owner, rule, value) from error


def at_least(name: str, owner: str, value: Any, least: int, rule: str = "", most: float = np.inf) -> None:
    """Raise ParameterError unless `value` is an integer from `least` to `most`."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not is_integer or not least <= int(value) <= most:
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


def _is_word(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def _pseudo_count(name: str, owner: str, value: Any, other: str = "") -> None:
    rule = f"{other}a number > 0, from {SMALLEST} to {LARGEST}"
    _inside(name, owner, value, rule, SMALLEST, np.nextafter(LARGEST, np.inf))


def _inside(
    name: str, owner: str, value: Any, rule: str, low: float, high: float, *, open_low: bool = False
) -> None:
    if not _is_number(value) or not (low < value if open_low else low <= value) or not value < high:
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
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise DataError(
            f"'y' must hold one label per row, {n_rows}, but its parts differ in length."
        ) from error
    if labels.shape != (n_rows,):
        raise DataError(f"'y' must hold one label per row, {n_rows}, but its shape is {labels.shape}.")
    numbers = _whole_numbers(labels)
    wrong = np.isnan(numbers)
    if wrong.any():
        row = int(wrong.argmax())
        found = f"it holds {shorten(labels[row : row + 1].tolist()[0])} for row {row}"
        raise DataError(f"'y' must hold integers, -1 for unknown, but {found}.")
    whole = numbers.astype(np.int64)
    if n_rows and (whole.min() < -1 or whole.max() >= n_components):
        raise DataError(
            f"'y' must hold labels from -1 (unknown) to {n_components - 1}, but it holds {whole.min()} to "
            f"{whole.max()}. Raise n_components or renumber the labels."
        )
    return whole


def _whole_numbers(labels: NDArray[Any]) -> NDArray[np.float64]:
    """The labels as floats, NaN for what is no integer; (n_rows,)."""
    if labels.dtype.kind == "O":
        numbers = np.array(
            [one if _is_number(one) and abs(one) < MOST_EXACT else np.nan for one in labels], float
        )
    elif labels.dtype.kind in "iuf":
        numbers = labels.astype(np.float64)
    else:
        return np.full(labels.size, np.nan)
    return np.where((np.abs(numbers) < MOST_EXACT) & (numbers == np.floor(numbers)), numbers, np.nan)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)
