"""The exact state of fitted factors as plain arrays, and back, with every size and range checked."""

from typing import Any, NamedTuple

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

SIZES = {"n_users", "n_features", "n_components", "n_draws"}
METADATA = {"solver", "concentration", "is_converged", *SIZES}


class Sizes(NamedTuple):
    """How large factors are; no draws without sampling."""

    n_users: int
    n_features: int
    n_components: int
    n_draws: int


def pack(kind: str, parameters: dict[str, Any], solution: Solution) -> Payload:
    """Everything that a model is."""
    stored = {name: as_list(value) for name, value in plain_parameters(parameters).items()}
    users, features = solution.factors
    draws, prior = solution.draws, solution.prior
    metadata = {
        "solver": solution.solver,
        "concentration": prior.concentration,
        "is_converged": bool(solution.is_converged),
        **sizes_of(solution.factors, draws),
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


def sizes_of(factors: Factors, draws: Draws | None) -> dict[str, int]:
    """The metadata `SIZES`."""
    users, features = factors
    n_draws = 0 if draws is None else len(draws.users)
    sizes = Sizes(len(users), len(features), users.shape[1], n_draws)
    return sizes._asdict()


def sizes_in(metadata: dict[str, Any]) -> Sizes:
    """The sizes that `sizes_of` stored; ModelFileError unless there can be factors of these."""
    most = {"n_features": MOST_FEATURES, "n_components": MOST_COMPONENTS}
    sizes = Sizes(*(whole_number(metadata, name, most.get(name, MOST_ROWS)) for name in Sizes._fields))
    if not min(sizes[:3]):
        raise ModelFileError("it holds no factors")
    return sizes


def factors_in(reader: ArrayReader, sizes: Sizes, prefix: str = "") -> Factors:
    """The arrays "users" and "features"."""
    return Factors(
        reader.positive(f"{prefix}users", sizes.n_users, sizes.n_components, zero=True),
        reader.positive(f"{prefix}features", sizes.n_features, sizes.n_components, zero=True),
    )


def draws_in(reader: ArrayReader, sizes: Sizes) -> Draws:
    """The arrays "user_draws" and "feature_draws"."""
    return Draws(
        reader.positive("user_draws", sizes.n_draws, sizes.n_users, sizes.n_components, zero=True),
        reader.positive("feature_draws", sizes.n_draws, sizes.n_features, sizes.n_components, zero=True),
    )


def unpack(stored: Payload) -> Solution:
    """Build the factors, or raise ModelFileError for whatever does not fit."""
    metadata = stored.metadata
    check_names(metadata, METADATA, "metadata")
    solver, concentration = metadata["solver"], finite_number(metadata, "concentration")
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ModelFileError(f"its solver is {shorten(solver)}")
    if not SMALLEST <= concentration <= LARGEST or not isinstance(metadata["is_converged"], bool):
        raise ModelFileError("it has a pseudo-count that cannot be, or does not say whether it converged")
    sizes = sizes_in(metadata)
    if (solver == "gibbs") != (sizes.n_draws > 0):
        raise ModelFileError("it holds draws that its solver does not have, or lacks them")
    reader = ArrayReader(stored.arrays)
    shape, rate = (
        reader.positive("shape", sizes.n_components),
        reader.positive("rate", sizes.n_components, zero=True),
    )
    factors = factors_in(reader, sizes)
    counts = reader.positive("component_counts", sizes.n_components, zero=True)
    trace = reader.finite("trace", *([None, None] if sizes.n_draws else [None]))
    draws = total_rate = None
    if sizes.n_draws:
        draws = draws_in(reader, sizes)
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
        FeatureNames(sizes.n_features, names_of(stored, sizes.n_features)),
        draws,
        total_rate,
    )
