"""Batches on their way to the online learner: loaded by workers a few ahead of their turn, and cut into shares."""

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.feature_names import FeatureNames, Names
from sparsemix.data.inputs import BinaryRows
from sparsemix.data.labels import known_labels
from sparsemix.data.report import ReadReport
from sparsemix.distributed.batches import check_labels, label_names, opened, report, together
from sparsemix.distributed.cluster import Cluster
from sparsemix.distributed.wire import call


class Loaded(NamedTuple):
    """A batch on a worker; `labels`, (n_rows,), are -1 where unknown, `label_names` those of a file, or None."""

    rows: BinaryRows
    labels: NDArray[np.int64]
    label_names: list[str] | None
    report: ReadReport


class Look(NamedTuple):
    """What is to be known of a batch."""

    n_rows: int
    n_features: int
    names: Names | None
    label_names: list[str] | None
    report: ReadReport


class Batch(NamedTuple):
    """A batch whose turn has come.

    loaded : future of `Loaded`; columns : the model's numbers of its columns, or None where they are the same;
    label_names : of all files so far; n_features : of the model by now.
    """

    loaded: Any
    n_rows: int
    columns: NDArray[np.int32] | None
    label_names: list[str] | None
    n_features: int


class Share(NamedTuple):
    """Rows `first` to `last` of a batch."""

    batch: Batch
    first: int
    last: int

    def after(self, n_rows: int) -> "Share":
        """What is left when so many rows are learnt."""
        return self._replace(first=self.first + n_rows)


class Arrivals:
    """Rows of all batches, in order.

    Parameters
    ----------
    cluster : Cluster
    batches : list of delayed batches
    model : OnlineBernoulliMixture
        Whose parameters say how rows are read.
    n_ahead : int
        Batches that are loaded before their turn.

    Attributes
    ----------
    features : FeatureNames or None
        Of the batches whose turn has come.
    label_names : list of str or None
        Likewise.
    report : ReadReport
        Likewise, of reading them.
    """

    def __init__(self, cluster: Cluster, batches: list[Any], model: Any, n_ahead: int) -> None:
        self.features: FeatureNames | None = None
        self.label_names: list[str] | None = None
        self.report = ReadReport()
        self._cluster, self._model, self._owner = cluster, model, type(model).__name__
        self._waiting, self._n_ahead = deque(batches), n_ahead
        self._loading: deque[tuple[Any, Any]] = deque()
        self._now: Share | None = None

    def shares(self, sizes: list[int]) -> list[Share]:
        """The next shares, one for each size; they end where their batch does, and there are none after the last."""
        found = []
        for size in sizes:
            share = self._next(size)
            if share is None:
                break
            found.append(share)
        return found

    def until(self, n_rows: int) -> list[Share]:
        """Shares with the next so many rows, or all that there are."""
        found: list[Share] = []
        while n_rows and (share := self._next(n_rows)) is not None:
            found.append(share)
            n_rows -= share.last - share.first
        return found

    def has_more(self) -> bool:
        """Whether there are rows left."""
        while self._now is None or self._now.first == self._now.last:
            if not self._waiting and not self._loading:
                return False
            self._now = self._turn()
        return True

    def _next(self, size: int) -> Share | None:
        if not self.has_more() or self._now is None:
            return None
        share = self._now._replace(last=min(self._now.last, self._now.first + size))
        self._now = self._now.after(share.last - share.first)
        return share

    def _turn(self) -> Share:
        """The next batch, whole; its features and labels are known from now on."""
        while self._waiting and len(self._loading) <= self._n_ahead:
            loaded = self._cluster.start(call(load, self._waiting.popleft(), self._model))
            self._loading.append((loaded, self._cluster.start(call(look_at, loaded))))
        loaded, look = self._loading.popleft()
        found = self._cluster.wait(look)
        columns = self._columns(found)
        self.report += found.report
        if found.label_names is not None:
            self.label_names = together(self.label_names or [], found.label_names)
            check_labels(self.label_names, _most_components(self._model))
        assert self.features is not None
        batch = Batch(loaded, found.n_rows, columns, self.label_names, self.features.n_features)
        return Share(batch, 0, found.n_rows)

    def _columns(self, look: Look) -> NDArray[np.int32] | None:
        if self.features is None:
            self.features = FeatureNames(look.n_features, look.names)
            return None
        columns = self.features.columns_of(look.n_features, look.names, owner=self._owner)
        self.features = self.features.extended(columns, look.names)
        return columns


def load(batch: Any, model: Any) -> Loaded:
    """The rows of a batch as the model reads them; runs on a worker."""
    X, y = opened(batch)
    names, most = label_names(batch), _most_components(model)
    check_labels(names or [], most)
    rows = model._rows(X)
    return Loaded(rows, known_labels(y, rows.n_rows, most), names, report(batch))


def look_at(loaded: Loaded) -> Look:
    """What is to be known of a batch; runs on a worker."""
    rows = loaded.rows
    return Look(rows.n_rows, rows.n_features, rows.names, loaded.label_names, loaded.report)


def _most_components(model: Any) -> int:
    return int(model._new_settings().n_components)
