"""The clusters as plain arrays, and back, with every size and range checked."""

from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.checks import LARGEST, SMALLEST
from sparsemix.foundation.errors import ModelFileError, shorten
from sparsemix.models.hashed_gibbs import real_payload
from sparsemix.models.hashed_gibbs.checks import MOST_COMPONENTS
from sparsemix.models.hashed_gibbs.reading import MOST
from sparsemix.models.hashed_gibbs.real_solution import RealSolution
from sparsemix.models.hashed_gibbs.real_state import REAL_FAMILIES
from sparsemix.models.hashed_gibbs.solution import AnySolution, Hyperparameters, Solution
from sparsemix.models.hashed_gibbs.state import PROCESSES
from sparsemix.persistence import Payload, unpacking
from sparsemix.persistence.unpacking import (
    INT,
    MOST_FEATURES,
    MOST_ROWS,
    ArrayReader,
    check_names,
    finite_number,
    names_of,
    plain_parameters,
    whole_number,
)

METADATA = {"n_features", "n_clusters", *Hyperparameters._fields}


def pack(kind: str, parameters: dict[str, Any], solution: AnySolution) -> Payload:
    """Everything that a model needs to answer."""
    stored = plain_parameters(parameters)
    metadata = {
        "n_features": solution.features.n_features,
        "n_clusters": int(solution.sizes.size),
        **{name: getattr(solution.hyper, name) for name in Hyperparameters._fields},
    }
    arrays = real_payload.arrays_of(solution) if isinstance(solution, RealSolution) else _arrays_of(solution)
    return Payload(kind, stored, metadata, arrays, solution.features.names)


def _arrays_of(solution: Solution) -> dict[str, Any]:
    by_feature = solution.counts.tocsc()
    return {
        "sizes": solution.sizes.astype(np.int64),
        "indptr": by_feature.indptr.astype(np.int64),
        "clusters": by_feature.indices.astype(np.int64),
        "counts": by_feature.data.astype(np.int64),
    }


def parameters_of(stored: Payload, model_class: Any) -> dict[str, Any]:
    """The constructor's arguments; ModelFileError if they are not those of the class."""
    return dict(unpacking.parameters_of(stored, model_class))


def unpack(stored: Payload, families: tuple[str, ...]) -> AnySolution:
    """Build the clusters, of one of some families, or raise ModelFileError for whatever does not fit."""
    metadata = stored.metadata
    check_names(metadata, METADATA, "metadata")
    n_features = whole_number(metadata, "n_features", MOST_FEATURES)
    n_clusters = whole_number(metadata, "n_clusters", MOST_COMPONENTS)
    hyper = _hyperparameters(metadata, families)
    if not n_clusters or not n_features:
        raise ModelFileError("it holds no clusters")
    features = FeatureNames(n_features, names_of(stored, n_features))
    if hyper.family in REAL_FAMILIES:
        return real_payload.solution_of(hyper._asdict(), stored.arrays, n_clusters, features)
    return _unpacked(hyper, stored.arrays, n_clusters, features)


def _unpacked(
    hyper: Hyperparameters, arrays: dict[str, Any], n_clusters: int, features: FeatureNames
) -> Solution:
    reader, n_features = ArrayReader(arrays), features.n_features
    sizes = reader.inside("sizes", INT, 1, MOST_ROWS, n_clusters)
    indptr = reader.pointers("indptr", n_features + 1)
    owners = reader.inside("clusters", INT, 0, n_clusters, int(indptr[-1]))
    counts = reader.inside("counts", INT, 1, MOST + 1, int(indptr[-1]))
    reader.close()
    matrix = sparse.csc_array((counts, owners, indptr), shape=(n_clusters, n_features))
    if not matrix.has_canonical_format:
        raise ModelFileError("it holds features that stand twice in a cluster")
    if matrix.sum(axis=0).max(initial=0) > MOST:
        raise ModelFileError("it holds counts that cannot be")
    if hyper.family == "bernoulli" and np.any(counts > sizes[owners]):
        raise ModelFileError("it holds a feature more often than a cluster has rows")
    return Solution(hyper, sizes, sparse.csr_array(matrix), features)


def _hyperparameters(metadata: dict[str, Any], families: tuple[str, ...]) -> Hyperparameters:
    family, process = metadata["family"], metadata["process"]
    if not isinstance(family, str) or family not in families:
        raise ModelFileError(f"its family is {shorten(family)}")
    if not isinstance(process, str) or process not in PROCESSES:
        raise ModelFileError(f"its process is {shorten(process)}")
    concentration, discount, a, b = (
        finite_number(metadata, name) for name in ("concentration", "discount", "a", "b")
    )
    if not all(SMALLEST <= each <= LARGEST for each in (concentration, a, b)) or not 0.0 <= discount < 1.0:
        raise ModelFileError("it has pseudo-counts that cannot be")
    return Hyperparameters(family, process, concentration, discount, a, b)
