"""The exact state of an estimator as plain arrays, and back, with every size and range checked."""

from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.feature_names import FeatureNames
from sparsemix.data.inputs import RowBlock
from sparsemix.foundation.errors import ModelFileError
from sparsemix.models.online_profiles import kernels
from sparsemix.models.online_profiles.engine import LineageEvent, Settings, Stream
from sparsemix.models.online_profiles.learner import Learner
from sparsemix.models.online_profiles.state import (
    Entries,
    Posterior,
    ScoreIndex,
    entries_of,
    packed,
)
from sparsemix.persistence import Payload
from sparsemix.probability.beta_bernoulli import BetaPrior

Arrays = dict[str, NDArray[Any]]

FLOAT, INT, SMALL = np.dtype("<f8"), np.dtype("<i8"), np.dtype("<i4")
COUNTERS = ("n_features", "n_rows", "next_index", "next_cull")


def pack(kind: str, parameters: dict[str, Any], learner: Learner) -> Payload:
    """Everything that a model needs to go on as if it had never stopped."""
    if not isinstance(parameters["random_state"], int | np.integer | None):
        parameters = {**parameters, "random_state": None}
    metadata: dict[str, Any] = {
        "settings": asdict(learner.settings),
        "n_features": learner.features.n_features,
    }
    if learner.stream is None:
        arrays = _held_arrays(learner)
    else:
        arrays = _stream_arrays(learner.stream)
        metadata |= {name: int(getattr(learner.stream, name)) for name in COUNTERS}
        metadata |= {
            "prior": list(learner.stream.prior),
            "log_evidence": learner.stream.log_evidence,
            "lineage": [list(event) for event in learner.stream.lineage],
        }
    parameters = {name: _plain(value) for name, value in parameters.items()}
    return Payload(kind, parameters, metadata, arrays, learner.features.names)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _held_arrays(learner: Learner) -> Arrays:
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(b.indptr) for b in learner.held_back)])
    return {
        "held_indptr": np.append(0, np.cumsum(lengths)).astype(np.int64),
        "held_columns": np.concatenate([np.empty(0, np.int32), *(b.columns for b in learner.held_back)]),
        "held_labels": np.concatenate([np.empty(0, np.int64), *learner.held_labels]),
    }


def _stream_arrays(stream: Stream) -> Arrays:
    posterior, index = stream.posterior, stream.index
    entries = entries_of(posterior)
    arrays: Arrays = {
        "component_ids": stream.component_ids,
        "weight_concentration": posterior.weight_concentration,
        "default_alpha": posterior.default_alpha,
        "default_beta": posterior.default_beta,
        "size": posterior.size,
        "feature": entries.feature,
        "alpha": entries.alpha,
        "beta": entries.beta,
        "certain": posterior.certain,
        "common_feature": posterior.common_feature,
        "common_alpha": posterior.common_alpha,
        "common_beta": posterior.common_beta,
        "common_on": posterior.common_on,
        "common_rows": posterior.common_rows,
    }
    return arrays | {f"index_{name}": column for name, column in index._asdict().items()}


def unpack(stored: Payload, owner: str) -> Learner:
    """Build the learner, or raise ModelFileError for whatever does not fit."""
    settings = _settings(stored)
    n_features = _whole(stored.metadata, "n_features")
    names = stored.feature_names
    if names is not None and names.size != n_features:
        raise ModelFileError(f"it names {names.size} features, but says that it has {n_features}")
    learner = Learner(settings, FeatureNames(n_features, names), owner)
    reader = _Reader(stored.arrays)
    if "held_indptr" in stored.arrays:
        block, labels = _read_held(reader, n_features, settings)
        learner.held_back, learner.held_labels = [block], [labels]
    else:
        learner.stream = _read_stream(reader, stored.metadata, n_features)
    return learner


def parameters_of(stored: Payload, expected: set[str]) -> dict[str, Any]:
    """The constructor's arguments; ModelFileError if they are not the `expected` ones."""
    if set(stored.parameters) != expected:
        odd = sorted(set(stored.parameters) ^ expected)
        raise ModelFileError(f"its parameters do not fit the model: {', '.join(odd)}")
    return stored.parameters


def _settings(stored: Payload) -> Settings:
    kept = stored.metadata.get("settings")
    types = {f.name: f.type for f in fields(Settings)}
    if not isinstance(kept, dict) or set(kept) != set(types):
        raise ModelFileError("its settings are incomplete")
    for name, value in kept.items():
        allowed = {"int": int, "float": int | float, "bool": bool, "float | None": int | float | None}
        wanted = allowed[str(getattr(types[name], "__name__", types[name]))]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise ModelFileError(f"its setting {name!r} is {value!r}")
    return Settings(**kept)


def _whole(metadata: dict[str, Any], name: str) -> int:
    value = metadata.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ModelFileError(f"its {name!r} is {value!r}, not a count")
    return value


class _Reader:
    """Takes arrays out of a payload, each checked once, and knows what is left over."""

    def __init__(self, arrays: Arrays) -> None:
        self._left = dict(arrays)

    def take(self, name: str, dtype: np.dtype[Any], *shape: int | None) -> NDArray[Any]:
        """A writable copy of an array of that type and shape; None is any length."""
        array = self._left.pop(name, None)
        if array is None:
            raise ModelFileError(f"the array {name!r} is missing")
        fits = array.ndim == len(shape) and all(
            s is None or s == n for s, n in zip(shape, array.shape, strict=True)
        )
        if array.dtype != dtype or not fits:
            raise ModelFileError(f"the array {name!r} has type {array.dtype} and shape {array.shape}")
        return np.array(array)

    def positive(self, name: str, *shape: int | None, zero: bool = False) -> NDArray[np.float64]:
        """A float array of finite numbers above zero, or from zero."""
        array = self.take(name, FLOAT, *shape)
        if not (np.all(np.isfinite(array)) and np.all(array >= 0 if zero else array > 0)):
            raise ModelFileError(f"the array {name!r} holds numbers that cannot be")
        return array

    def finite(self, name: str, *shape: int | None) -> NDArray[np.float64]:
        """A float array without NaN and infinity."""
        array = self.take(name, FLOAT, *shape)
        if not np.all(np.isfinite(array)):
            raise ModelFileError(f"the array {name!r} holds numbers that are not finite")
        return array

    def inside(
        self, name: str, dtype: np.dtype[Any], low: int, high: int, *shape: int | None
    ) -> NDArray[Any]:
        """An integer array with values from `low` to ``high - 1``."""
        array = self.take(name, dtype, *shape)
        if array.size and (array.min() < low or array.max() >= high):
            raise ModelFileError(f"the array {name!r} holds numbers outside {low} to {high - 1}")
        return array

    def pointers(self, name: str, length: int | None = None) -> NDArray[np.int64]:
        """A CSR row pointer: starts at 0 and never falls."""
        array = self.take(name, INT, length)
        if not array.size or array[0] != 0 or np.any(np.diff(array) < 0):
            raise ModelFileError(f"the array {name!r} is no row pointer")
        return array

    def close(self) -> None:
        """Complain of arrays that nobody has asked for."""
        if self._left:
            raise ModelFileError(f"it holds arrays that do not belong there: {', '.join(sorted(self._left))}")


def _read_held(reader: _Reader, n_features: int, settings: Settings) -> tuple[RowBlock, NDArray[np.int64]]:
    indptr = reader.pointers("held_indptr")
    columns = reader.inside("held_columns", SMALL, 0, n_features, int(indptr[-1]))
    labels = reader.inside("held_labels", INT, -1, settings.n_components, indptr.size - 1)
    reader.close()
    row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    if np.any((np.diff(columns) <= 0) & (np.diff(row) == 0)):
        raise ModelFileError("the rows that it holds back are not sorted")
    return RowBlock(indptr, columns), labels


def _read_stream(reader: _Reader, metadata: dict[str, Any], n_features: int) -> Stream:
    ids = reader.take("component_ids", INT, None)
    if not ids.size or np.unique(ids).size != ids.size or ids.min() < kernels.CLUTTER_ID:
        raise ModelFileError("its component ids are not distinct")
    counters = {name: _whole(metadata, name) for name in COUNTERS}
    stream = Stream(
        prior=_prior(metadata),
        posterior=_read_posterior(reader, ids.size, n_features),
        index=_read_index(reader, ids.size, n_features),
        component_ids=ids,
        log_evidence=_finite_number(metadata, "log_evidence"),
        lineage=[_event(event) for event in metadata.get("lineage", [])],
        **counters,
    )
    reader.close()
    return stream


def _read_posterior(reader: _Reader, n_components: int, n_features: int) -> Posterior:
    weights = reader.positive("weight_concentration", n_components)
    defaults = (reader.positive("default_alpha", n_components), reader.positive("default_beta", n_components))
    size = reader.inside("size", INT, 0, n_features + 1, n_components)
    n_entries = int(size.sum())
    feature = reader.inside("feature", SMALL, 0, n_features, n_entries)
    alpha, beta = reader.positive("alpha", n_entries), reader.finite("beta", n_entries)
    certain = reader.positive("certain", n_components, zero=True)
    owner = np.repeat(np.arange(n_components), size)
    if np.any(beta + certain[owner] <= 0) or np.unique(owner * n_features + feature).size != n_entries:
        raise ModelFileError("its explicit features do not fit together")
    common_feature = reader.inside("common_feature", SMALL, 0, n_features, None)
    n_common = common_feature.size
    if np.unique(common_feature).size != n_common or np.isin(feature, common_feature).any():
        raise ModelFileError("its common features do not fit together")
    common = Entries(
        common_feature, reader.positive("common_alpha", n_common), reader.positive("common_beta", n_common)
    )
    posterior = packed(weights, defaults, size, Entries(feature, alpha, beta), common)
    rows = reader.positive("common_rows", 1, zero=True)
    on = reader.positive("common_on", n_common, zero=True)
    return posterior._replace(certain=certain, common_on=on, common_rows=rows)


def _read_index(reader: _Reader, n_components: int, n_features: int) -> ScoreIndex:
    indptr = reader.pointers("index_indptr")
    n_entries = int(indptr[-1])
    table = reader.finite("index_table", None, n_components)
    if indptr.size - 1 > n_features:
        raise ModelFileError("its index knows more features than the model")
    component = reader.inside("index_component", SMALL, kernels.DENSE, n_components, n_entries)
    slot = reader.inside("index_slot", SMALL, 0, 2**31 - 1, n_entries)
    if np.any(slot[component == kernels.DENSE] >= table.shape[0]):
        raise ModelFileError("its index points outside its table")
    return ScoreIndex(
        base=reader.finite("index_base", n_components),
        default_log_odds=reader.finite("index_default_log_odds", n_components),
        log_total=reader.finite("index_log_total", 1),
        indptr=indptr,
        component=component,
        slot=slot,
        correction=reader.finite("index_correction", n_entries),
        table=table,
    )


def _prior(metadata: dict[str, Any]) -> BetaPrior:
    values = metadata.get("prior")
    if (
        not isinstance(values, list)
        or len(values) != 2
        or not all(isinstance(v, float) and v > 0 for v in values)
    ):
        raise ModelFileError(f"its prior is {values!r}")
    return BetaPrior(*values)


def _finite_number(metadata: dict[str, Any], name: str) -> float:
    value = metadata.get(name)
    if not isinstance(value, float) or not np.isfinite(value):
        raise ModelFileError(f"its {name!r} is {value!r}")
    return value


def _event(event: Any) -> LineageEvent:
    kinds = (int, str, int, str)
    if not isinstance(event, list) or len(event) != 4 or not all(map(isinstance, event, kinds)):
        raise ModelFileError(f"its lineage holds {event!r}")
    return LineageEvent(*event)
