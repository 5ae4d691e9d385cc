"""The clusters as plain arrays, and back, with every size and range checked."""

from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.checks import LARGEST, SMALLEST
from sparsemix.foundation.errors import ModelFileError, ParameterError, parameter_error, shorten
from sparsemix.models.time_sensitive import building
from sparsemix.models.time_sensitive.reading import MOST, sums_of_columns
from sparsemix.models.time_sensitive.solution import Hyperparameters, Solution, sums_of
from sparsemix.models.time_sensitive.state import FAMILIES
from sparsemix.models.time_sensitive.time_kernels import KINDS, LEAST_SHARE, MOST_RATES, TimeKernel
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
from sparsemix.probability.entries import row_sums

SHAPE = ("rate", "period", "width", "exponent", "support")
METADATA = {"n_features", "n_rows", "kind", *SHAPE, *Hyperparameters._fields}


def pack(model_kind: str, parameters: dict[str, Any], solution: Solution) -> Payload:
    """Everything that a model needs to answer; ParameterError if its kernel is a function."""
    shape = asdict(solution.kernel)
    rates, shares = shape.pop("rates"), shape.pop("shares")
    if shape.pop("function") is not None:
        rule, remedy = "no function for a model that is saved", "Code is never written to a model file."
        raise parameter_error("time_kernel", "save_model", rule, solution.kernel.kind, remedy)
    parameters = plain_parameters(parameters)
    if isinstance(parameters["time_kernel"], TimeKernel):
        parameters["time_kernel"] = None  # it is in the metadata
    shape["support"] = shape["support"] if np.isfinite(shape["support"]) else LARGEST
    metadata = {
        "n_features": solution.features.n_features,
        "n_rows": int(solution.times.size),
        **shape,
        **solution.hyper._asdict(),
    }
    arrays = {
        "times": solution.times,
        "labels": solution.labels.astype(np.int64),
        "indptr": solution.matrix.indptr.astype(np.int64),
        "columns": solution.matrix.indices.astype(np.int64),
        "counts": solution.matrix.data.astype(np.int64),
    }
    if rates:
        arrays |= {
            "rates": np.array(rates),
            "shares": np.array(shares),
            "rate": solution.rate.astype(np.int64),
        }
    return Payload(model_kind, parameters, metadata, arrays, solution.features.names)


def parameters_of(stored: Payload, model_class: Any) -> dict[str, Any]:
    """The constructor's arguments; ModelFileError if they are not those of the class."""
    parameters = dict(unpacking.parameters_of(stored, model_class))
    if parameters["time_kernel"] is None:
        parameters["time_kernel"] = _kernel(stored.metadata, ArrayReader(stored.arrays))
    return parameters


def unpack(stored: Payload) -> Solution:
    """Build the clusters, or raise ModelFileError for whatever does not fit."""
    older = {"negligible": building.NEGLIGIBLE}  # files were written before it could be set
    metadata = older | stored.metadata
    check_names(metadata, METADATA, "metadata")
    n_features = whole_number(metadata, "n_features", MOST_FEATURES)
    n_rows = whole_number(metadata, "n_rows", MOST)
    reader = ArrayReader(stored.arrays)
    times = reader.finite("times", n_rows)
    labels = reader.inside("labels", INT, 0, n_rows, n_rows)
    indptr = reader.pointers("indptr", n_rows + 1)
    columns = reader.inside("columns", INT, 0, n_features, int(indptr[-1]))
    counts = reader.inside("counts", INT, 1, MOST + 1, int(indptr[-1]))
    kernel = _kernel(metadata, reader)
    rate = np.zeros(n_rows, np.int64)
    if kernel.rates:
        rate = reader.inside("rate", INT, 0, len(kernel.rates), int(labels.max(initial=-1)) + 1)
    reader.close()
    matrix: Any = sparse.csr_array((counts, columns, indptr), shape=(n_rows, n_features))
    hyper = _hyperparameters(metadata)
    _check_rows(times, labels, matrix, hyper)
    timing = building.timing_of(kernel, times, hyper.concentration, **hyper.rules)
    if not building.fill(building.no_clusters(n_rows), timing, labels):
        raise ModelFileError("it holds clusters that its time kernel rules out")
    features = FeatureNames(n_features, names_of(stored, n_features))
    counts = sums_of(matrix, labels)
    return Solution(
        hyper, kernel, times.astype(FLOAT), labels, matrix, counts, features, rate[: counts.shape[0]]
    )


def _check_rows(times: Any, labels: Any, matrix: Any, hyper: Hyperparameters) -> None:
    n_rows, n_features = matrix.shape
    if not n_rows or not n_features or not matrix.has_canonical_format:
        raise ModelFileError("it holds no rows, or features that stand twice in one")
    if np.any(np.diff(times) < 0.0) or np.abs(times).max() > LARGEST:
        raise ModelFileError("its times are not in order")
    sizes = np.bincount(labels)
    if np.any(sizes == 0) or np.any(np.diff(sizes) > 0):
        raise ModelFileError("its clusters are not numbered from the largest down")
    of_features = sums_of_columns(matrix.indices, matrix.data)
    if max(row_sums(matrix).max(), of_features.max(initial=0.0)) > MOST:
        raise ModelFileError("it holds counts that cannot be")
    if hyper.family == "bernoulli" and np.any(matrix.data != 1):
        raise ModelFileError("it holds counts where there is only presence")


def _hyperparameters(metadata: dict[str, Any]) -> Hyperparameters:
    family, strict = metadata["family"], metadata["strict"]
    if not isinstance(family, str) or family not in FAMILIES or not isinstance(strict, bool):
        raise ModelFileError(f"its family is {shorten(family)}, and strict {shorten(strict)}")
    names = ("concentration", "a", "b", "negligible")
    concentration, a, b, negligible = (finite_number(metadata, name) for name in names)
    if not all(SMALLEST <= each <= LARGEST for each in (concentration, a, b)):
        raise ModelFileError("it has pseudo-counts that cannot be")
    if not building.LEAST_NEGLIGIBLE <= negligible <= 1.0:
        raise ModelFileError("what it takes for negligible cannot be")
    return Hyperparameters(family, concentration, a, b, strict, negligible)


def _kernel(metadata: dict[str, Any], reader: ArrayReader) -> TimeKernel:
    kind = metadata.get("kind")
    if not isinstance(kind, str) or kind not in KINDS or kind == "function":
        raise ModelFileError(f"its time kernel is {shorten(kind)}")
    rate, period, width, exponent, support = (finite_number(metadata, name) for name in SHAPE)
    if not all(0.0 <= each <= LARGEST for each in (rate, period, width, exponent, support)):
        raise ModelFileError("its time kernel has numbers that cannot be")
    if kind == "periodic" and (period < SMALLEST or width < 0.01):
        raise ModelFileError("its time kernel has no period")
    shape = (kind, rate, period, width, exponent, support if support < LARGEST else np.inf)
    try:
        return TimeKernel(*shape, None, *(_rates(reader) if kind == "each_cluster" else ((), ())))
    except ParameterError as error:
        raise ModelFileError("its time kernel has numbers that cannot be") from error


def _rates(reader: ArrayReader) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Rates that a cluster may have, and their shares."""
    rates, shares = (reader.finite(name, None) for name in ("rates", "shares"))
    if not 2 <= rates.size == shares.size <= MOST_RATES or np.any(np.diff(rates) <= 0.0):
        raise ModelFileError("its clusters have rates that cannot be")
    if (
        not SMALLEST <= rates[0] <= rates[-1] <= LARGEST
        or shares.min() < LEAST_SHARE / 2
        or abs(shares.sum() - 1.0) > 1e-9
    ):
        raise ModelFileError("its clusters have rates that cannot be")
    return tuple(map(float, rates)), tuple(map(float, shares))
