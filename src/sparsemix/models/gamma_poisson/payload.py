"""The exact state of fitted factors as plain arrays, and back, with every size and range checked."""

from typing import Any

import numpy as np

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.checks import LARGEST, SMALLEST
from sparsemix.foundation.errors import ModelFileError, shorten
from sparsemix.models.gamma_poisson.checks import MOST_COMPONENTS, SOLVERS
from sparsemix.models.gamma_poisson.solution import Solution
from sparsemix.models.gamma_poisson.state import Draws, Factors, Prior
from sparsemix.persistence import Payload
from sparsemix.persistence.unpacking import (
    MOST_FEATURES,
    MOST_ROWS,
    ArrayReader,
    check_names,
    finite_number,
    names_of,
    plain_parameters,
    whole_number,
)

METADATA = {"solver", "concentration", "is_converged", "n_users", "n_features", "n_components", "n_draws"}


def pack(kind: str, parameters: dict[str, Any], solution: Solution) -> Payload:
    """Everything that a model is."""
    stored = {name: as_list(value) for name, value in plain_parameters(parameters).items()}
    users, features = solution.factors
    draws, prior = solution.draws, solution.prior
    metadata = {
        "solver": solution.solver,
        "concentration": prior.concentration,
        "is_converged": bool(solution.is_converged),
        "n_users": len(users),
        "n_features": len(features),
        "n_components": int(prior.shape.size),
        "n_draws": 0 if draws is None else len(draws.users),
    }
    arrays = {
        "users": users,
        "features": features,
        "component_counts": solution.component_counts,
        "trace": solution.trace,
        "shape": prior.shape,
        "rate": prior.rate,
    }
    if draws is not None and solution.total_rate is not None:
        arrays |= {
            "user_draws": draws.users,
            "feature_draws": draws.features,
            "total_rate": solution.total_rate,
        }
    return Payload(kind, stored, metadata, arrays, solution.features.names)


def as_list(value: Any) -> Any:
    """Arrays as lists, which JSON can hold; other values as they are."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def unpack(stored: Payload) -> Solution:
    """Build the factors, or raise ModelFileError for whatever does not fit."""
    metadata = stored.metadata
    check_names(metadata, METADATA, "metadata")
    solver, concentration = metadata["solver"], finite_number(metadata, "concentration")
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ModelFileError(f"its solver is {shorten(solver)}")
    if not SMALLEST <= concentration <= LARGEST or not isinstance(metadata["is_converged"], bool):
        raise ModelFileError("it has a pseudo-count that cannot be, or does not say whether it converged")
    n_users, n_features = (
        whole_number(metadata, "n_users"),
        whole_number(metadata, "n_features", MOST_FEATURES),
    )
    n_components = whole_number(metadata, "n_components", MOST_COMPONENTS)
    n_draws = whole_number(metadata, "n_draws", MOST_ROWS)
    if not n_users or not n_features or not n_components or (solver == "gibbs") != (n_draws > 0):
        raise ModelFileError("it holds no factors, or draws that its solver does not have, or lacks them")
    reader = ArrayReader(stored.arrays)
    shape, rate = reader.positive("shape", n_components), reader.positive("rate", n_components, zero=True)
    factors = Factors(
        reader.positive("users", n_users, n_components, zero=True),
        reader.positive("features", n_features, n_components, zero=True),
    )
    counts = reader.positive("component_counts", n_components, zero=True)
    trace = reader.finite("trace", *([None, None] if n_draws else [None]))
    draws = total_rate = None
    if n_draws:
        draws = Draws(
            reader.positive("user_draws", n_draws, n_users, n_components, zero=True),
            reader.positive("feature_draws", n_draws, n_features, n_components, zero=True),
        )
        total_rate = reader.positive("total_rate", *trace.shape, zero=True)
    reader.close()
    if not trace.size or any(np.any(array > LARGEST) for array in (shape, rate, *factors, counts)):
        raise ModelFileError("it holds numbers that cannot be")
    return Solution(
        solver,
        Prior(shape, rate, concentration),
        factors,
        counts,
        trace,
        metadata["is_converged"],
        FeatureNames(n_features, names_of(stored, n_features)),
        draws,
        total_rate,
    )
