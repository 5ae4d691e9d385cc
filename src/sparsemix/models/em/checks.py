"""Rules of the estimators' parameters, checked before anything is learnt."""

import warnings
from collections.abc import Collection, Mapping, Set
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.checks import (
    LARGEST,
    at_least,
    inside,
    is_number,
    is_word,
    n_threads,
    share,
    threshold,
    truth_value,
)
from sparsemix.foundation.errors import DataError, UnknownFeaturesWarning, parameter_error, shorten
from sparsemix.models.em.engine import Loop
from sparsemix.models.em.state import FloatVector
from sparsemix.numeric.seeds import seed_of

MOST_COMPONENTS = 1_000_000
INITS = ("repaired", "k-means++", "random")


class Settings(NamedTuple):
    """Checked parameters.

    seed : of the starts; loop : how EM runs.
    """

    n_components: int
    n_init: int
    loop: Loop
    smoothing: float
    class_weight_prior: float
    unlabeled_weight: float
    seed: int


def resolve(model: Any) -> Settings:
    """Check all parameters that do not need the data."""
    owner = type(model).__name__
    at_least("n_components", owner, model.n_components, 1, most=MOST_COMPONENTS)
    if not is_word(model.algorithm, "soft") and not is_word(model.algorithm, "hard"):
        raise parameter_error("algorithm", owner, "'soft' or 'hard'", model.algorithm)
    if isinstance(model.init, str) and model.init not in INITS:
        words = ", ".join(map(repr, INITS))
        raise parameter_error("init", owner, f"{words} or an array of responsibilities", model.init)
    at_least("n_init", owner, model.n_init, 1)
    at_least("max_iter", owner, model.max_iter, 1)
    if not isinstance(model.verbose, Integral | np.bool_) or model.verbose < 0:
        raise parameter_error("verbose", owner, "an integer >= 0", model.verbose)
    for name in ("tol", "smoothing", "class_weight_prior", "seed_weight"):
        inside(name, owner, getattr(model, name), f"a number >= 0, below {LARGEST}", 0.0, LARGEST)
    for name in ("accelerate", "warm_start"):
        truth_value(name, owner, getattr(model, name))
    share("unlabeled_weight", owner, model.unlabeled_weight)
    threshold(owner, model.binarize)
    word_lists(model.seed_words, int(model.n_components), owner)
    return Settings(
        int(model.n_components),
        int(model.n_init),
        Loop(
            is_hard=model.algorithm == "hard",
            max_iter=int(model.max_iter),
            tol=float(model.tol),
            n_threads=n_threads(model.n_jobs, owner),
            leaps=bool(model.accelerate) and model.algorithm == "soft",
        ),
        float(model.smoothing),
        float(model.class_weight_prior),
        float(model.unlabeled_weight),
        seed_of(model.random_state, owner),
    )


def row_weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatVector:
    """Weights of rows, all one by default; DataError unless they are numbers from 0 to `LARGEST`, some positive."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind not in "biuf":  # of which only some need be odd
            given = np.asarray(sample_weight, dtype=object)
    except ValueError as error:
        raise DataError(f"'sample_weight' must hold one number for each of {n_rows} rows.") from error
    weights = _as_floats(given)
    if weights.shape == ():
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise DataError(
            f"'sample_weight' must hold one number for each of {n_rows} rows, but its shape is {weights.shape}."
        )
    wrong = ~((weights >= 0.0) & (weights <= LARGEST))
    if wrong.any():
        at = int(wrong.argmax())
        found = shorten(np.broadcast_to(given, (n_rows,))[at : at + 1].tolist()[0])
        raise DataError(
            f"'sample_weight' must hold numbers from 0 to {LARGEST}, but that of row {at} is {found}."
        )
    if n_rows and not weights.any():
        raise DataError("'sample_weight' must be positive for some row, but all weights are zero.")
    return weights


def _as_floats(values: NDArray[Any]) -> FloatVector:
    """The values, NaN for what is no number."""
    if values.dtype.kind != "O":
        return values.astype(np.float64)
    return np.fromiter(map(_as_float, values.flat), float, values.size).reshape(values.shape)


def _as_float(value: Any) -> float:
    try:
        return float(value) if is_number(value) else np.nan
    except OverflowError:
        return np.inf


def word_lists(words: Any, n_components: int, owner: str) -> dict[int, list[Any]]:
    """Seed words as plain numbers of components and lists of names or numbers of features.

    Raises
    ------
    ParameterError
        If `words` does not map components to sequences of features.
    """
    rule = f"a mapping from components, 0 to {n_components - 1}, to lists of features"
    if words is not None and not isinstance(words, Mapping):
        raise parameter_error("seed_words", owner, rule, words)
    lists = {}
    for component, own in (words or {}).items():
        plain = (
            [word.item() if isinstance(word, np.generic) else word for word in own]
            if _is_list(own)
            else [own]
        )
        is_good = _is_component(component, n_components) and _is_list(own)
        if not is_good or not all(isinstance(word, str | int) for word in plain):
            raise parameter_error("seed_words", owner, rule, {component: own})
        lists[int(component)] = sorted(plain, key=str) if isinstance(own, Set) else plain
    return lists


def init_is_a_word(model: Any) -> None:
    """Raise ParameterError for responsibilities, which go with the order of rows that are here."""
    if not isinstance(model.init, str):
        remedy = "Responsibilities of all rows are for fit and fit_batches."
        raise parameter_error(
            "init", type(model).__name__, "a word where rows are elsewhere", model.init, remedy
        )


def seeds(words: Any, weight: float, n_components: int, features: FeatureNames, owner: str) -> Any:
    """Pseudo-counts of seed words, (n_features, n_components) CSR, or None; words that are absent are skipped."""
    position = features.positions()
    given = [(word, k) for k, own in word_lists(words, n_components, owner).items() for word in own]
    absent = [word for word, _ in given if word not in position]
    if absent:
        warnings.warn(
            f"{len(absent)} seed words are not among the features and were skipped: "
            f"{', '.join(map(str, absent[:5]))}",
            UnknownFeaturesWarning,
            stacklevel=5,
        )
    entries = sorted({(position[word], k) for word, k in given if word in position})
    if not entries or not weight:
        return None
    shape = (features.n_features, n_components)
    return sparse.csr_array((np.full(len(entries), float(weight)), tuple(np.array(entries).T)), shape=shape)


def _is_component(value: Any, n_components: int) -> bool:
    return is_number(value) and isinstance(value, Integral) and 0 <= int(value) < n_components


def _is_list(value: Any) -> bool:
    """Whether it can be read again and again, and is no text."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
