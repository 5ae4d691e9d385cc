"""The exact state of an estimator as plain arrays, and back, with every size and range checked."""

from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.feature_names import FeatureNames
from sparsemix.data.inputs import RowBlock
from sparsemix.foundation.errors import ModelFileError, ParameterError, shorten
from sparsemix.models.online_profiles import checks, kernels
from sparsemix.models.online_profiles.background import NO_BACKGROUND, Background
from sparsemix.models.online_profiles.learner import Learner
from sparsemix.models.online_profiles.renewal import TIMES_AT_HAND
from sparsemix.models.online_profiles.reservoir import Reservoir
from sparsemix.models.online_profiles.state import (
    Entries,
    Posterior,
    ScoreIndex,
    entries_of,
    packed,
)
from sparsemix.models.online_profiles.stream import LineageEvent, Settings, Stream
from sparsemix.persistence import Payload
from sparsemix.persistence.unpacking import (
    INT,
    MOST_FEATURES,
    SMALL,
    ArrayReader,
    check_names,
    finite_number,
    names_of,
    plain_parameters,
    whole_number,
)
from sparsemix.probability.beta_bernoulli import BetaPrior

Arrays = dict[str, NDArray[Any]]

LATER_COUNTERS = ("next_id", "n_rows_faded")
COUNTERS = ("n_rows", "next_index", "next_cull", *LATER_COUNTERS, "n_passes")
LATER_SETTINGS = {"reservoir_rows": 0, "half_life_rows": None, "first_components": 1}
"""What files of version 0.1 do not say: in their streams no rows wait and none is forgotten."""
HELD_METADATA = {"settings", "n_features"}
STREAM_METADATA = HELD_METADATA | {*COUNTERS, "overlaps", "prior", "log_evidence", "lineage"}

LEAST_COUNT, MOST_COUNT = 1e-110, 1e60  # the prior's are from 1e-100 to 1e50
MOST_ROWS = 2.0**53  # beyond which one row more is lost in rounding


def pack(kind: str, parameters: dict[str, Any], learner: Learner) -> Payload:
    """Everything that a model needs to go on as if it had never stopped."""
    metadata: dict[str, Any] = {
        "settings": asdict(learner.settings),
        "n_features": learner.features.n_features,
    }
    arrays: Arrays = {}
    if learner.stream is None or learner.held_back:
        arrays = _held_arrays(learner)
    if learner.stream is not None:
        arrays |= _stream_arrays(learner.stream)
        metadata |= {name: int(getattr(learner.stream, name)) for name in COUNTERS}
        metadata |= {
            "overlaps": learner.stream.overlaps,
            "prior": list(learner.stream.prior),
            "log_evidence": learner.stream.log_evidence,
            "lineage": [list(event) for event in learner.stream.lineage],
        }
    return Payload(kind, plain_parameters(parameters), metadata, arrays, learner.features.names)


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
        "named_ids": stream.named_ids,
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
    if stream.waiting.capacity:
        arrays |= {f"background_{name}": column for name, column in stream.background._asdict().items()}
        arrays |= {f"waiting_{name}": column for name, column in stream.waiting.rows._asdict().items()}
    return arrays | {f"index_{name}": column for name, column in index._asdict().items()}


def unpack(stored: Payload, model_class: Any) -> Learner:
    """Build the learner, or raise ModelFileError for whatever does not fit."""
    is_held, is_stream = "held_indptr" in stored.arrays, "component_ids" in stored.arrays
    settings = _settings(stored, model_class)
    metadata = {"n_passes": 1, "overlaps": False} | stored.metadata if is_stream else stored.metadata
    if is_stream and not (settings.reservoir_rows or set(metadata) & set(LATER_COUNTERS)):
        metadata = metadata | {"next_id": settings.n_components, "n_rows_faded": metadata.get("n_rows")}
    check_names(metadata, STREAM_METADATA if is_stream else HELD_METADATA, "metadata")
    n_features = whole_number(stored.metadata, "n_features", MOST_FEATURES)
    if not n_features:
        raise ModelFileError("it has no features")
    learner = Learner(settings, FeatureNames(n_features, names_of(stored, n_features)), model_class.__name__)
    reader = ArrayReader(stored.arrays)
    if is_held or not is_stream:
        block, labels = _read_held(reader, n_features, settings)
        learner.hold(block, labels)
    if is_stream:
        learner.stream = _read_stream(reader, metadata, n_features, settings)
    reader.close()
    _check_held(learner)
    return learner


def _check_held(learner: Learner) -> None:
    """Raise ModelFileError for more rows than are held back, or for others than the stream has seen."""
    n_held, first = sum(block.n_rows for block in learner.held_back), learner.settings.priming_rows
    if n_held >= (first if learner.stream is None else TIMES_AT_HAND * first):
        raise ModelFileError("it holds back more rows than it may")
    if learner.stream is not None and learner.held_back and n_held != learner.stream.n_rows:
        raise ModelFileError("the rows that it holds back are not those of its stream")


def _settings(stored: Payload, model_class: Any) -> Settings:
    kept = stored.metadata.get("settings")
    if isinstance(kept, dict) and not set(kept) & set(LATER_SETTINGS):
        kept = kept | LATER_SETTINGS | {"first_components": kept.get("n_components")}
    types = {f.name: f.type for f in fields(Settings)}
    if not isinstance(kept, dict) or set(kept) != set(types):
        raise ModelFileError("its settings are incomplete")
    for name, value in kept.items():
        allowed = {"int": int, "float": int | float, "bool": bool, "float | None": int | float | None}
        wanted = allowed[str(getattr(types[name], "__name__", types[name]))]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise ModelFileError(f"its setting {name!r} is {shorten(value)}")
    settings = Settings(**kept)
    _check_ranges(settings, model_class)
    numbers = {name for name, kind in types.items() if "float" in str(getattr(kind, "__name__", kind))}
    plain: dict[str, Any] = {name: float(kept[name]) for name in numbers if kept[name] is not None}
    return Settings(**(kept | plain))


def _check_ranges(settings: Settings, model_class: Any) -> None:
    """Raise ModelFileError for settings that no parameters resolve to."""
    given = {name: value for name, value in asdict(settings).items() if name in model_class().get_params()}
    given |= {"prior_mean": "empirical"} if settings.prior_mean is None else {}
    given |= {"prior_strength": "auto"} if settings.prior_strength is None else {}
    if not 1 <= settings.first_components <= settings.n_components:
        raise ModelFileError("its settings are impossible: there are no components to begin with")
    try:
        checks.resolve(model_class(**given), settings.seed)
    except (ParameterError, OverflowError) as error:
        raise ModelFileError(f"its settings are impossible: {error}") from error
    if not 0 <= settings.seed < MOST_FEATURES or not 0.0 <= settings.explicit_responsibility <= 1.0:
        raise ModelFileError("its settings are impossible")


def _read_held(
    reader: ArrayReader, n_features: int, settings: Settings
) -> tuple[RowBlock, NDArray[np.int64]]:
    indptr = reader.pointers("held_indptr")
    columns = reader.inside("held_columns", SMALL, 0, n_features, int(indptr[-1]))
    labels = reader.inside("held_labels", INT, -1, settings.n_components, indptr.size - 1)
    return _sorted_rows(indptr, columns), labels


def _sorted_rows(indptr: NDArray[np.int64], columns: NDArray[np.int32]) -> RowBlock:
    row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    if np.any((np.diff(columns) <= 0) & (np.diff(row) == 0)):
        raise ModelFileError("the rows that it holds back are not sorted")
    return RowBlock(indptr, columns)


def _read_stream(
    reader: ArrayReader, metadata: dict[str, Any], n_features: int, settings: Settings
) -> Stream:
    counters = {name: whole_number(metadata, name) for name in COUNTERS}
    if not isinstance(metadata["overlaps"], bool):
        raise ModelFileError(f"its 'overlaps' is {shorten(metadata['overlaps'])}")
    if counters["n_rows"] < max(1, counters["n_rows_faded"]):
        raise ModelFileError("it is in the middle of a stream without rows")
    lowest = kernels.CLUTTER_ID if settings.clutter else 0
    ids = reader.inside("component_ids", INT, lowest, counters["next_id"], None)
    if not ids.size or np.unique(ids).size != ids.size:
        raise ModelFileError("its component ids are not distinct")
    index = _read_index(reader, ids.size, n_features)
    background, waiting = _read_waiting(reader, n_features, index.n_features, settings)
    return Stream(
        prior=_prior(metadata),
        posterior=_read_posterior(reader, ids.size, n_features),
        index=index,
        background=background,
        waiting=waiting,
        component_ids=ids,
        named_ids=reader.inside("named_ids", INT, 0, settings.n_components, None),
        log_evidence=finite_number(metadata, "log_evidence"),
        n_features=n_features,
        lineage=_lineage(metadata["lineage"]),
        overlaps=metadata["overlaps"],
        **counters,
    )


def _read_waiting(
    reader: ArrayReader, n_features: int, n_indexed: int, settings: Settings
) -> tuple[Background, Reservoir]:
    waiting = Reservoir(settings.reservoir_rows)
    if not waiting.capacity:
        return NO_BACKGROUND, waiting
    indptr = reader.pointers("waiting_indptr")
    columns = reader.inside("waiting_columns", SMALL, 0, n_features, int(indptr[-1]))
    waiting.rows = _sorted_rows(indptr, columns)
    background = Background(
        reader.finite("background_log_odds", n_indexed), reader.finite("background_constants", 2)
    )
    if waiting.room < 0:
        raise ModelFileError("the rows that wait do not fit the model")
    return background, waiting


def _read_posterior(reader: ArrayReader, n_components: int, n_features: int) -> Posterior:
    weights = reader.positive("weight_concentration", n_components)
    defaults = (
        _pseudo_counts(reader, "default_alpha", n_components),
        _pseudo_counts(reader, "default_beta", n_components),
    )
    if np.any(defaults[0] / (defaults[0] + defaults[1]) == 1.0):
        raise ModelFileError("a feature that is not explicit is certain to be on")
    size = reader.inside("size", INT, 0, n_features + 1, n_components)
    n_entries = int(size.sum())
    feature = reader.inside("feature", SMALL, 0, n_features, n_entries)
    alpha, beta = _pseudo_counts(reader, "alpha", n_entries), reader.finite("beta", n_entries)
    certain = _rows_waiting(reader, "certain", n_components)
    owner = np.repeat(np.arange(n_components), size)
    total = beta + certain[owner]
    if (
        np.any((total <= 0) | (total > MOST_COUNT))
        or np.unique(owner * n_features + feature).size != n_entries
    ):
        raise ModelFileError("its explicit features do not fit together")
    common_feature = reader.inside("common_feature", SMALL, 0, n_features, None)
    n_common = common_feature.size
    if np.unique(common_feature).size != n_common or np.isin(feature, common_feature).any():
        raise ModelFileError("its common features do not fit together")
    common = Entries(
        common_feature,
        _pseudo_counts(reader, "common_alpha", n_common),
        _pseudo_counts(reader, "common_beta", n_common),
    )
    posterior = packed(weights, defaults, size, Entries(feature, alpha, beta), common)
    rows, on = _rows_waiting(reader, "common_rows", 1), _rows_waiting(reader, "common_on", n_common)
    return posterior._replace(certain=certain, common_on=on, common_rows=rows)


def _rows_waiting(reader: ArrayReader, name: str, length: int) -> NDArray[np.float64]:
    """Rows that are still to be added to pseudo-counts."""
    rows = reader.positive(name, length, zero=True)
    if np.any(rows > MOST_ROWS):
        raise ModelFileError(f"the array {name!r} holds numbers above {MOST_ROWS:.0f}")
    return rows


def _pseudo_counts(reader: ArrayReader, name: str, length: int) -> NDArray[np.float64]:
    """Pseudo-counts that parameters and rows can lead to, and whose products do not overflow."""
    counts = reader.positive(name, length)
    if np.any((counts < LEAST_COUNT) | (counts > MOST_COUNT)):
        raise ModelFileError(f"the array {name!r} holds numbers outside {LEAST_COUNT} to {MOST_COUNT}")
    return counts


def _read_index(reader: ArrayReader, n_components: int, n_features: int) -> ScoreIndex:
    indptr = reader.pointers("index_indptr")
    n_entries = int(indptr[-1])
    table = reader.finite("index_table", None, n_components)
    if indptr.size - 1 > n_features:
        raise ModelFileError("its index knows more features than the model")
    component = reader.inside("index_component", SMALL, kernels.DENSE, n_components, n_entries)
    slot = reader.inside("index_slot", SMALL, 0, 2**31 - 1, n_entries)
    in_table = slot[component == kernels.DENSE]
    if in_table.size != table.shape[0] or np.any(in_table >= table.shape[0]):
        raise ModelFileError("its index does not fit its table")
    per_feature = np.diff(indptr)
    if np.any((component < 0) & (np.repeat(per_feature, per_feature) > 1)):
        raise ModelFileError("its index has several entries for a feature with one")
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
        or not all(isinstance(v, float) and 0 < v < np.inf for v in values)
    ):
        raise ModelFileError(f"its prior is {shorten(values)}")
    return BetaPrior(*values)


def _lineage(events: Any) -> list[LineageEvent]:
    kinds = (int, str, int, str)
    if not isinstance(events, list):
        raise ModelFileError(f"its lineage is {shorten(events)}")
    for event in events:
        if not isinstance(event, list) or len(event) != 4 or not all(map(isinstance, event, kinds)):
            raise ModelFileError(f"its lineage holds {shorten(event)}")
    return [LineageEvent(*event) for event in events]
