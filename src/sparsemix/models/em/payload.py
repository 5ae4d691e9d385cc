"""The exact state of a fitted mixture as plain arrays, and back, with every size and range checked."""

from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.checks import LARGEST
from sparsemix.foundation.errors import ModelFileError, shorten
from sparsemix.models.em.checks import MOST_COMPONENTS, word_lists
from sparsemix.models.em.engine import Fit
from sparsemix.models.em.families import Family
from sparsemix.models.em.state import Prior, Statistics
from sparsemix.persistence import Payload, unpacking
from sparsemix.persistence.unpacking import (
    FLOAT,
    INT,
    MOST_FEATURES,
    ArrayReader,
    check_names,
    finite_number,
    names_of,
    plain_parameters,
    whole_number,
)

METADATA = {
    "n_features",
    "n_components",
    "smoothing",
    "class_weight",
    "n_impossible",
    "n_rows",
    "converged",
    "hard",
}
MOST_COUNT = 1e150  # its sums, squares and products with weights are finite


def pack(kind: str, parameters: dict[str, Any], fit: Fit, prior: Prior, features: FeatureNames) -> Payload:
    """Everything that a model needs to answer, and to go on with `warm_start`."""
    n_features, n_components = fit.statistics.counts.shape
    seeds = sparse.coo_array((n_features, n_components) if prior.seeds is None else prior.seeds)
    arrays = {
        "sizes": fit.statistics.sizes,
        "counts": fit.statistics.counts,
        "trace": np.array(fit.trace),
        "log_likelihood": np.array([fit.log_likelihood]),
        "seed_feature": seeds.row.astype(np.int64),
        "seed_component": seeds.col.astype(np.int64),
        "seed_count": seeds.data.astype(np.float64),
    }
    metadata = {
        "n_features": int(n_features),
        "n_components": int(n_components),
        "smoothing": prior.smoothing,
        "class_weight": prior.class_weight,
        "n_impossible": fit.n_impossible,
        "n_rows": fit.n_rows,
        "converged": fit.is_converged,
        "hard": fit.is_hard,
    }
    return Payload(kind, _storable(parameters), metadata, arrays, features.names)


def _storable(parameters: dict[str, Any]) -> dict[str, Any]:
    """Constructor arguments as JSON has them; given responsibilities are not kept."""
    stored = plain_parameters(parameters)
    if not isinstance(stored["init"], str):
        stored["init"] = "repaired"
    words = word_lists(stored["seed_words"], MOST_COMPONENTS, "the model")
    stored["seed_words"] = {str(k): own for k, own in words.items()} or None
    return stored


def parameters_of(stored: Payload, model_class: Any) -> dict[str, Any]:
    """The constructor's arguments; ModelFileError if they are not those of the class."""
    parameters = dict(unpacking.parameters_of(stored, model_class))
    words = parameters["seed_words"]
    if words is not None:
        if not isinstance(words, dict) or not all(str(key).isdecimal() for key in words):
            raise ModelFileError(f"its parameter 'seed_words' is {shorten(words)}, not lists by component")
        parameters["seed_words"] = {int(key): own for key, own in words.items()}
    return parameters


def unpack(stored: Payload, family: Family) -> tuple[Fit, Prior, FeatureNames]:
    """Build the fit, its prior and the features, or raise ModelFileError for whatever does not fit."""
    metadata = stored.metadata
    check_names(metadata, METADATA, "metadata")
    n_features = whole_number(metadata, "n_features", MOST_FEATURES)
    n_components = whole_number(metadata, "n_components", MOST_COMPONENTS)
    reader = ArrayReader(stored.arrays)
    prior = _read_prior(reader, metadata, n_features, n_components)
    sizes = reader.positive("sizes", n_components, zero=True)
    counts = reader.positive("counts", n_features, n_components, zero=True)
    trace, log_likelihood = reader.take("trace", FLOAT, None), reader.take("log_likelihood", FLOAT, 1)
    reader.close()
    if not n_features or not sizes.any() or not trace.size:
        raise ModelFileError("it holds no mixture that has learnt anything")
    is_sound = all(np.all(array <= MOST_COUNT) for array in (sizes, counts, trace, log_likelihood))
    if not is_sound:  # nor if there is a NaN
        raise ModelFileError("it holds numbers that cannot be")
    for name in ("converged", "hard"):
        if not isinstance(metadata[name], bool):
            raise ModelFileError(f"its {name!r} is {shorten(metadata[name])}")
    statistics = Statistics(sizes, counts)
    fit = Fit(
        statistics,
        family.maximize(statistics, prior),
        trace.tolist(),
        float(log_likelihood[0]),
        whole_number(metadata, "n_impossible"),
        whole_number(metadata, "n_rows"),
        metadata["converged"],
        metadata["hard"],
    )
    return fit, prior, FeatureNames(n_features, names_of(stored, n_features))


def _read_prior(reader: ArrayReader, metadata: dict[str, Any], n_features: int, n_components: int) -> Prior:
    smoothing, class_weight = (finite_number(metadata, name) for name in ("smoothing", "class_weight"))
    feature = reader.inside("seed_feature", INT, 0, n_features, None)
    component = reader.inside("seed_component", INT, 0, n_components, feature.size)
    count = reader.positive("seed_count", feature.size)
    if not all(0.0 <= each <= LARGEST for each in (smoothing, class_weight, *count)):
        raise ModelFileError("it has pseudo-counts that cannot be")
    shape = (n_features, n_components)
    seeds = sparse.csr_array((count, (feature, component)), shape=shape) if feature.size else None
    return Prior(smoothing, class_weight, seeds)
