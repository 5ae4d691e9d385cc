"""The exact state of Bayesian NMF as plain arrays, and back, with every size and range checked."""

from typing import Any

import numpy as np

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.checks import LARGEST
from sparsemix.foundation.errors import ModelFileError
from sparsemix.models.gamma_poisson import payload
from sparsemix.models.gamma_poisson.sampling import Trace
from sparsemix.persistence import Payload
from sparsemix.persistence.unpacking import ArrayReader, check_names, names_of, plain_parameters


def pack(kind: str, parameters: dict[str, Any], trace: Trace, features: FeatureNames) -> Payload:
    """Everything that a model is."""
    arrays = {
        "users": trace.mean.users,
        "features": trace.mean.features,
        "user_draws": trace.draws.users,
        "feature_draws": trace.draws.features,
        "log_likelihood": trace.log_likelihood,
        "noise_variance": trace.total_rate,
    }
    metadata = payload.sizes_of(trace.mean, trace.draws)
    return Payload(kind, plain_parameters(parameters), metadata, arrays, features.names)


def unpack(stored: Payload) -> tuple[Trace, FeatureNames]:
    """Build the draws and the names of the features, or raise ModelFileError for whatever does not fit."""
    check_names(stored.metadata, payload.SIZES, "metadata")
    sizes = payload.sizes_in(stored.metadata)
    if not sizes.n_draws:
        raise ModelFileError("it holds no draws")
    reader = ArrayReader(stored.arrays)
    mean = payload.factors_in(reader, sizes)
    draws = payload.draws_in(reader, sizes)
    log_likelihood = reader.finite("log_likelihood", None, None)
    noise = reader.positive("noise_variance", *log_likelihood.shape)
    reader.close()
    if not log_likelihood.size or any(np.any(array > LARGEST) for array in (*mean, noise)):
        raise ModelFileError("it holds numbers that cannot be")
    names = FeatureNames(sizes.n_features, names_of(stored, sizes.n_features))
    return Trace(mean, np.zeros(sizes.n_components), draws, log_likelihood, noise), names
