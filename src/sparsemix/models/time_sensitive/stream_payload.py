"""A stream as plain arrays, and back to the same bits, with every size and range checked."""

from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.checks import LARGEST, SMALLEST
from sparsemix.foundation.errors import ModelFileError
from sparsemix.models.time_sensitive import stream_kernels
from sparsemix.models.time_sensitive.reading import MOST
from sparsemix.models.time_sensitive.state import MULTINOMIAL, FloatVector, IntVector
from sparsemix.models.time_sensitive.stream import Held, Stream, Window, stream_rows
from sparsemix.models.time_sensitive.stream_checks import MOST_WINDOW
from sparsemix.models.time_sensitive.stream_state import (
    MAP,
    SOFT,
    Clusters,
    StreamRules,
    no_live_clusters,
    with_cells,
    with_slots,
)
from sparsemix.persistence import Payload
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

WHOLE_RULES = {"family": 1, "n_features": MOST_FEATURES, "assignment": 1, "is_held": 1}
REAL_RULES = ("concentration", "a", "b", "rate", "log_least")
METADATA = {*StreamRules._fields, "window", "seed", "n_seen", "next_id", "latest"}
OF_CLUSTERS = ("born", "last", "sizes", "totals", "weight", "log_weight", "off", "base", "base_time")
ROUNDING = 1e-6  # relative, of sums of shares


def pack(model_kind: str, parameters: dict[str, Any], stream: Stream, features: FeatureNames) -> Payload:
    """Everything that the next row needs."""
    clusters, held, recent = stream.clusters, stream.held(), stream.recent
    place = np.zeros(clusters.ids.size, np.int64)
    place[stream.active] = np.arange(stream.active.size)
    metadata = {
        **stream.rules._asdict(),
        "window": stream.window,
        "seed": stream.seed,
        "n_seen": stream.n_seen,
        "next_id": int(clusters.numbers[2]),
        "latest": stream.latest,
    }
    arrays = {
        "ids": clusters.ids[stream.active],
        **{name: getattr(clusters, name)[stream.active] for name in OF_CLUSTERS},
        **held._asdict(),
        "recent_indptr": recent.rows.indptr,
        "recent_columns": recent.rows.columns.astype(np.int64),
        "recent_counts": recent.rows.counts.astype(np.int64),
        "recent_times": recent.rows.times,
        "recent_places": place[recent.slots],
    }
    return Payload(model_kind, plain_parameters(parameters), metadata, arrays, features.names)


def unpack(stored: Payload) -> tuple[Stream, FeatureNames]:
    """Build the stream, or raise ModelFileError for whatever does not fit."""
    metadata = stored.metadata
    check_names(metadata, METADATA, "metadata")
    rules = _rules(metadata)
    window, seed = whole_number(metadata, "window", MOST_WINDOW), whole_number(metadata, "seed", 2**32)
    names = names_of(stored, rules.n_features)
    stream = Stream(rules, window, seed)
    stream.n_seen = whole_number(metadata, "n_seen", MOST_ROWS)
    if rules.is_held != (window > 0) or (window and rules.assignment == SOFT):
        raise ModelFileError("its window does not fit how it assigns rows")
    stream.latest = finite_number(metadata, "latest")
    reader = ArrayReader(stored.arrays)
    clusters, places = _clusters(reader, whole_number(metadata, "next_id", MOST_ROWS), stream.latest)
    held = _held(reader, places.size, rules.n_features)
    recent = _recent(reader, rules.n_features, stream, places)
    reader.close()
    stream.clusters, stream.recent = clusters, recent
    _check_sums(stream, held)
    _check_recent(stream, held)
    stream.cells = with_cells(stream.cells, max(held.columns.size, stream.cells.slot.size + 1))
    stream_kernels.fill_cells(rules, clusters, stream.cells, *held)
    _check_off(stream, clusters.off[places].copy())
    return stream, FeatureNames(rules.n_features, names)


def _rules(metadata: dict[str, Any]) -> StreamRules:
    whole = {name: whole_number(metadata, name, most) for name, most in WHOLE_RULES.items()}
    real = {name: finite_number(metadata, name) for name in REAL_RULES}
    if not all(SMALLEST <= real[name] <= LARGEST for name in ("concentration", "a", "b")):
        raise ModelFileError("it has pseudo-counts that cannot be")
    if not 0.0 <= real["rate"] <= LARGEST or whole["n_features"] < 1:
        raise ModelFileError("it has a decay that cannot be, or no features")
    numbers: Any = whole | real
    return StreamRules(**numbers)


def _clusters(reader: ArrayReader, next_id: int, latest: float) -> tuple[Clusters, IntVector]:
    """Live clusters without what they hold, and their slots."""
    ids = reader.inside("ids", INT, 0, next_id, None)
    n_live = ids.size
    if not n_live:
        raise ModelFileError("it holds no clusters")
    times = {name: reader.finite(name, n_live) for name in ("born", "last", "base_time")}
    logs = {name: reader.finite(name, n_live) for name in ("log_weight", "off")}
    sizes = {name: reader.positive(name, n_live) for name in ("sizes", "weight")}
    rest = {name: reader.positive(name, n_live, zero=True) for name in ("totals", "base")}
    is_ordered = np.all(np.diff(ids) > 0) and np.all(times["born"] <= times["last"])
    if not is_ordered or np.any(times["last"] > latest) or np.any(times["base_time"] > latest):
        raise ModelFileError("its clusters are not in the order of their ids and times")
    if np.any(sizes["weight"] > sizes["sizes"] * (1.0 + ROUNDING)) or np.any(rest["base"] > sizes["sizes"]):
        raise ModelFileError("it holds clusters that weigh more than all their rows")
    if not np.allclose(logs["log_weight"], np.log(sizes["weight"]), rtol=ROUNDING, atol=ROUNDING):
        raise ModelFileError("it holds clusters whose weights do not fit")
    clusters = with_slots(no_live_clusters(), max(2 * n_live, 64))
    slots = clusters.free[clusters.numbers[1] - n_live : clusters.numbers[1]][::-1].copy()
    clusters.active[:n_live] = slots
    clusters.numbers[:] = n_live, clusters.numbers[1] - n_live, next_id
    for name, values in {"ids": ids, **times, **sizes, **rest, **logs}.items():
        getattr(clusters, name)[slots] = values
    clusters.own[slots] = -1
    return clusters, slots


def _held(reader: ArrayReader, n_live: int, n_features: int) -> Held:
    indptr = reader.pointers("indptr", n_live + 1)
    columns = reader.inside("columns", INT, 0, n_features, int(indptr[-1]))
    held = Held(indptr, columns, reader.positive("counts", int(indptr[-1])))
    keys = np.repeat(np.arange(n_live), np.diff(indptr)) * n_features + columns
    if np.unique(keys).size != keys.size:
        raise ModelFileError("it holds clusters in which a feature stands twice")
    return held


def _recent(reader: ArrayReader, n_features: int, stream: Stream, slots: IntVector) -> Window:
    places = reader.inside("recent_places", INT, 0, slots.size, None)
    n_rows = places.size
    indptr = reader.pointers("recent_indptr", n_rows + 1)
    columns = reader.inside("recent_columns", INT, 0, n_features, int(indptr[-1]))
    counts = reader.inside("recent_counts", INT, 1, MOST + 1, int(indptr[-1]))
    times = reader.finite("recent_times", n_rows)
    matrix: Any = sparse.csr_array((counts, columns, indptr), shape=(n_rows, n_features))
    expected = min(stream.n_seen, stream.window + stream.n_seen % stream.stride) if stream.window else 0
    is_ordered = np.all(np.diff(times) >= 0.0) and np.all(times <= stream.latest)
    if n_rows != expected or not is_ordered or not matrix.has_canonical_format:
        raise ModelFileError("its last rows are not those of a stream")
    rows = stream_rows(matrix, times)
    return Window(rows, np.arange(stream.n_seen - n_rows, stream.n_seen), slots[places])


def _check_sums(stream: Stream, held: Held) -> None:
    """What clusters hold must be what their rows can bring."""
    clusters, owner = stream.clusters, np.repeat(stream.active, np.diff(held.indptr))
    totals = np.bincount(owner, held.counts, minlength=clusters.ids.size)[stream.active]
    if not np.allclose(totals, clusters.totals[stream.active], rtol=ROUNDING, atol=ROUNDING):
        raise ModelFileError("it holds clusters whose sums do not fit what they hold")
    if stream.rules.family != MULTINOMIAL and np.any(held.counts > clusters.sizes[owner] * (1.0 + ROUNDING)):
        raise ModelFileError("it holds counts where there is only presence")
    if stream.rules.assignment == MAP and not _is_whole(held.counts, clusters.sizes[stream.active]):
        raise ModelFileError("it holds parts of rows where there are only whole ones")
    if clusters.sizes[stream.active].sum() > stream.n_seen * (1.0 + ROUNDING):
        raise ModelFileError("it holds more rows than it has seen")
    clusters.n_held[stream.active] = 0  # counted when the cells are filled


def _check_recent(stream: Stream, held: Held) -> None:
    """Rows that may still move must be in the clusters that they move from."""
    clusters, (rows, _, slots) = stream.clusters, stream.recent
    n_slots = clusters.ids.size
    clusters.in_window[:] = np.bincount(slots, minlength=n_slots)
    if not stream.window:
        return
    active = stream.active
    others = clusters.sizes[active] - clusters.in_window[active]
    base = clusters.base[active]
    if np.any(base > others * (1.0 + ROUNDING)) or np.any((others == 0.0) != (base == 0.0)):
        raise ModelFileError("its last rows do not fit its clusters")
    met, columns = np.unique(np.concatenate([held.columns, rows.columns]), return_inverse=True)
    of_clusters, of_rows = np.split(columns, [held.columns.size])
    whole: Any = sparse.csr_array((held.counts, of_clusters, held.indptr), shape=(active.size, met.size))
    matrix: Any = sparse.csr_array((rows.counts, of_rows, rows.indptr), shape=(slots.size, met.size))
    place = np.zeros(n_slots, np.int64)
    place[active] = np.arange(active.size)
    entries = (np.ones(slots.size), (place[slots], np.arange(slots.size)))
    moving: Any = sparse.csr_array(entries, shape=(active.size, slots.size)) @ matrix
    if (whole - moving).min() < 0.0:
        raise ModelFileError("its last rows hold what their clusters do not")


def _check_off(stream: Stream, off: FloatVector) -> None:
    """The sums of Bernoulli rows must be those that follow from the cells; they are taken to the bit, as they were."""
    slots, found = stream.active, np.zeros(off.size)
    if stream.rules.family != MULTINOMIAL:
        for slot in slots:
            stream_kernels.sum_off(stream.rules, stream.clusters, stream.cells, slot)
        found = stream.clusters.off[slots]
    if not np.allclose(found, off, rtol=ROUNDING, atol=ROUNDING):
        raise ModelFileError("it holds clusters whose sums do not fit what they hold")
    stream.clusters.off[slots] = off


def _is_whole(*vectors: FloatVector) -> bool:
    return all(np.array_equal(vector, np.floor(vector)) for vector in vectors)
