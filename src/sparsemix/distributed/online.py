"""The online learner on workers (ADS, section 4.2): rounds of children, each with a share of the rows, and joins.

Children start from the same posterior, on workers; what they have learnt comes back as messages and is added in the
order of the rows. Which child learns which rows depends on the batches and the number of children alone, so that
timing, the number of workers and lost workers leave the same bits. A row counts once: it is in one share of one round,
and the posterior refuses messages of another round.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import BinaryRows
from sparsemix.distributed.arrivals import Arrivals, Loaded, Share
from sparsemix.distributed.batches import NamedLabels, other_batches
from sparsemix.distributed.cluster import Cluster
from sparsemix.distributed.run import Join, Run, Stopwatch
from sparsemix.distributed.wire import call, n_bytes, unpacked
from sparsemix.foundation.errors import DataError
from sparsemix.models.online_profiles import deltas
from sparsemix.persistence import Payload

GROWTH = 0.5  # of the rows before a round, the share that it adds at most, or what one child learns alone


class Rounds:
    """Learn rows of batches on workers.

    Parameters
    ----------
    cluster : Cluster
    batches : list of delayed batches
    model : OnlineBernoulliMixture
        New, or in the middle of these rows; changed in place.
    n_children : int
        Of each round.
    run : Run
        Told of each join.
    save : callable
        Called before each join is told.
    """

    def __init__(
        self,
        cluster: Cluster,
        batches: list[Any],
        model: Any,
        *,
        n_children: int,
        run: Run,
        save: Callable[[], None],
    ) -> None:
        reader = type(model)(**model.get_params())
        self._cluster, self._model, self._run, self._save = cluster, model, run, save
        self._arrivals = Arrivals(cluster, batches, reader, cluster.n_threads())
        self._reader, self._n_children = reader, n_children

    def learn(self) -> None:
        """Learn all rows that the model has not learnt yet."""
        if hasattr(self._model, "_learner"):
            self._skip()
        self._learn_first()
        while self._arrivals.has_more():
            self._round()
        self._model.prime()
        self._save()

    def _skip(self) -> None:
        """Leave out the rows that the model has learnt; DataError if they are others."""
        learner = self._model._learner
        shares = self._arrivals.until(learner.n_rows)
        n_rows = sum(share.last - share.first for share in shares)
        ours, theirs = learner.features, self._arrivals.features
        is_same = theirs is not None and ours.n_features == theirs.n_features
        if is_same and theirs is not None and ours.names is not None:
            is_same = theirs.names is not None and list(ours.names) == list(theirs.names)
        if n_rows != learner.n_rows or not is_same:
            raise other_batches(learner.n_rows)
        self._arrivals.features = ours

    def _learn_first(self) -> None:
        """Let one worker learn the first rows, and those that follow while rows stay at hand."""
        while self._arrivals.has_more() and (n_rows := self._rows_until_look()):
            self._learn_alone(n_rows)
        if not hasattr(self._model, "_learner"):
            raise DataError(
                "'source' of fit must have at least one row, but its batches have none. Add rows."
            )

    def _rows_until_look(self) -> int:
        if not hasattr(self._model, "_learner"):
            return int(self._model._new_settings().priming_rows)
        return int(self._model._learner.rows_until_look())

    def _learn_alone(self, n_rows: int) -> None:
        watch = Stopwatch()
        before = self._model.to_payload() if hasattr(self._model, "_learner") else None
        shares = self._arrivals.until(n_rows)
        parts = [(share.batch.loaded, share.first, share.last, share.batch.label_names) for share in shares]
        payload = self._cluster.result(call(learn_alone, self._reader, before, parts))
        self._model._adopt(unpacked(payload)._learner)
        self._arrivals.features = self._model._learner.features
        n_rows = sum(share.last - share.first for share in shares)
        sizes = n_bytes(payload.arrays), 0 if before is None else n_bytes(before.arrays)
        self._save()
        self._told(Join(len(self._run.joins) + 1, 1, n_rows, *sizes, watch.read()))

    def _round(self) -> None:
        """Let children learn shares of the next rows, until nothing of the shares is left."""
        watch, learner = Stopwatch(), self._model._learner
        done = Join(len(self._run.joins) + 1, 0, 0, 0, 0, 0.0)
        left: list[Share] = []
        while left or not done.n_messages:
            start = learner.begin_round(self._n_children)
            shares = left or self._arrivals.shares([self._share_size(start)] * self._n_children)
            messages = self._messages(start, shares)
            done = _with(done, messages, n_bytes(start), learner.join(messages))
            rest = [share.after(message.n_rows) for share, message in zip(shares, messages, strict=True)]
            left = [share for share in rest if share.first < share.last]
        learner.features = self._arrivals.features
        self._model._adopt(learner)
        self._save()
        self._told(done._replace(seconds=watch.read()))

    def _messages(self, start: Any, shares: list[Share]) -> list[deltas.Message]:
        """What children learn from the shares, in their order."""
        common = call(shared, start, self._model._learner.settings)
        most = deltas.rows_until_join(start)
        works = []
        for share in shares:
            batch = share.batch
            known = (batch.columns, batch.label_names, batch.n_features)
            works.append(call(learn, common, batch.loaded, share[1:], *known, most))
        return self._cluster.results(works)

    def _share_size(self, start: Any) -> int:
        """Rows of one child."""
        alone = int(deltas.rows_until_join(start))
        together = max(alone, int(GROWTH * start.n_rows))
        return min(alone, -(-together // self._n_children))

    def _told(self, join: Join) -> None:
        self._run.label_names, self._run.report = self._arrivals.label_names, self._arrivals.report
        self._run.add(join)


def _with(done: Join, messages: Sequence[deltas.Message], of_model: int, n_damped: int) -> Join:
    """A join that does more: further messages of children that began with `of_model` bytes."""
    return done._replace(
        n_messages=done.n_messages + len(messages),
        n_rows=done.n_rows + sum(message.n_rows for message in messages),
        n_bytes=done.n_bytes + sum(message.n_bytes for message in messages),
        n_bytes_of_model=done.n_bytes_of_model + of_model,
        n_damped=done.n_damped + n_damped,
    )


def learn_alone(
    model: Any, before: Payload | None, parts: Sequence[tuple[Loaded, int, int, list[str] | None]]
) -> Payload:
    """A model like the one given that has learnt parts of batches, from `before` on; runs on a worker.

    Each part is a batch, its rows from the first to the one before the last, and the names of labels of all files up
    to it.
    """
    model = type(model)(**model.get_params()) if before is None else unpacked(before)
    for loaded, first, last, names in parts:
        block = loaded.rows.block(first, last)
        rows = BinaryRows(block.to_csr(loaded.rows.n_features), loaded.rows.names)
        if not hasattr(model, "_learner"):
            model._start(model._new_settings(), rows)
        model._learn(rows, _labels(loaded, names)[first:last])
    stored: Payload = model.to_payload()
    return stored


def shared(start: Any, settings: Any) -> tuple[Any, Any]:
    """What all children of a round begin with; runs on a worker."""
    return start, settings


def learn(
    common: tuple[Any, Any],
    loaded: Loaded,
    part: tuple[int, int],
    columns: NDArray[np.int32] | None,
    names: list[str] | None,
    n_features: int,
    most: int,
) -> deltas.Message:
    """What a child learns from a part of a batch; runs on a worker."""
    start, settings = common
    labels = _labels(loaded, names)[slice(*part)]
    return deltas.child(start, loaded.rows.block(*part, columns), labels, n_features, settings, most)


def _labels(loaded: Loaded, names: list[str] | None) -> NDArray[np.int64]:
    if loaded.label_names is None or names is None:
        return loaded.labels
    return NamedLabels(loaded.labels, loaded.label_names).numbered(names)
