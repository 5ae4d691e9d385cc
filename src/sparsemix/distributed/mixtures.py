"""EM over rows on workers: they look at batches, draw rows to start from, and add up expected counts.

All three are functions of `models.em.portions`; what they give is added in a tree of fixed form over the batches in
their order, so that timing, the number of workers and lost workers leave the same bits.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsemix.data.feature_names import FeatureNames
from sparsemix.data.report import ReadReport
from sparsemix.distributed.batches import (
    check_labels,
    label_names,
    numbered,
    opened,
    other_batches,
    report,
    together,
)
from sparsemix.distributed.cluster import Cluster
from sparsemix.distributed.run import Join, Run, Stopwatch
from sparsemix.distributed.wire import call, n_bytes
from sparsemix.models.em import portions
from sparsemix.models.em.engine import Elsewhere, Loop
from sparsemix.models.em.reading import Look, union
from sparsemix.models.em.state import Parameters, Statistics

SUMS_PER_STEP = 8  # added by one task of the tree


class Summed(NamedTuple):
    """Sparse statistics of some batches, and the bytes that were sent for them so far."""

    statistics: Statistics
    n_bytes: int


class RowsOnWorkers(Elsewhere):
    """Rows in batches that workers load.

    Parameters
    ----------
    cluster : Cluster
    batches : list of delayed batches
    model : estimator
        Whose parameters say how rows are read.
    run : Run
        Gets the names of labels.
    n_rows : int, optional
        That a checkpoint has learnt, which the fit goes on from.

    Attributes
    ----------
    last_join : Join
        Of the last sum over all rows.
    """

    last_join: Join

    def __init__(
        self, cluster: Cluster, batches: list[Any], model: Any, run: Run, n_rows: int | None = None
    ) -> None:
        self._cluster, self._batches, self._run, self._n_rows = cluster, batches, run, n_rows
        self._model = type(model)(**model.get_params())
        self._looks: list[Look] = []
        self._features: FeatureNames | None = None

    def survey(self, features: FeatureNames | None) -> FeatureNames:
        """See `Elsewhere`; also what files say of labels, in the order of their appearance, and of their reading."""
        found = list(self._cluster.in_order(call(look, batch, self._model) for batch in self._batches))
        self._run.report = sum((read for _, _, read in found), start=ReadReport())
        names = [own for _, own, _ in found if own is not None]
        if names:
            self._run.label_names = together([], [each for own in names for each in own])
            check_labels(self._run.label_names, self._model.n_components)
            self._batches = [call(numbered, batch, self._run.label_names) for batch in self._batches]
        looks = [each for each, _, _ in found]
        self._features, _ = union(looks, type(self._model).__name__, features)
        if self._n_rows is not None:
            self._check_same(looks, features)
        some = [(batch, each) for batch, each in zip(self._batches, looks, strict=True) if each.n_rows]
        self._batches, self._looks = [batch for batch, _ in some], [each for _, each in some]
        return self._features

    def _check_same(self, looks: list[Look], features: FeatureNames | None) -> None:
        n_rows, found = sum(each.n_rows for each in looks), self._features
        if (
            n_rows != self._n_rows
            or found is None
            or features is None
            or found.n_features != features.n_features
        ):
            raise other_batches(self._n_rows or 0)

    def summarize(self, parameters: Parameters, loop: Loop) -> Statistics:
        """See `Elsewhere`; one join."""
        watch, model = Stopwatch(), self._shared(parameters)
        sums = [call(summarize, batch, model, loop) for batch in self._batches]
        total = self._cluster.result(_tree(sums))
        self.last_join = Join(
            number=len(self._run.joins) + 1,
            n_messages=len(self._batches),
            n_rows=total.statistics.n_rows,
            n_bytes=total.n_bytes + n_bytes(total.statistics),
            n_bytes_of_model=n_bytes(parameters),
            seconds=watch.read(),
        )
        return portions.filled(total.statistics)

    def guess(self, task: Any, restart: int) -> Statistics:
        """See `Elsewhere`; rows are drawn on workers and brought together on one of them."""
        n_rows = sum(each.n_rows for each in self._looks)
        n_unlabelled = n_rows - sum(each.n_labelled for each in self._looks)
        lot = portions.Lot(task.settings.seed, restart, n_rows, n_unlabelled)
        firsts = np.cumsum([0, *(each.n_rows for each in self._looks)]).tolist()
        model = self._shared(None)
        draws = [
            call(draw, batch, model, lot, first) for batch, first in zip(self._batches, firsts, strict=False)
        ]
        return portions.filled(
            self._cluster.result(call(portions.guess, draws, lot, task._replace(blocks=None)))
        )

    def _shared(self, parameters: Parameters | None) -> Any:
        """What all batches need, as one task, so that it goes to each worker once."""
        return call(shared, self._model, self._features, parameters)


class Shared(NamedTuple):
    """What all batches of an epoch need."""

    model: Any
    features: FeatureNames
    parameters: Parameters | None


def shared(model: Any, features: FeatureNames, parameters: Parameters | None) -> Shared:
    """All that as one object; runs on a worker."""
    return Shared(model, features, parameters)


def look(batch: Any, model: Any) -> tuple[Look, list[str] | None, ReadReport]:
    """Features and rows of a batch, and of a file names of labels and what reading did; runs on a worker."""
    names = label_names(batch)
    check_labels(names or [], model.n_components)
    return portions.look(model, *opened(batch)), names, report(batch)


def draw(batch: Any, common: Shared, lot: portions.Lot, first_row: int) -> portions.Draw:
    """Rows of a batch to start from; runs on a worker."""
    return portions.draw(common.model, *opened(batch), common.features, lot, first_row)


def summarize(batch: Any, common: Shared, loop: Loop) -> Summed:
    """Expected counts of a batch; runs on a worker."""
    parameters: Any = common.parameters
    return Summed(portions.summarize(common.model, *opened(batch), common.features, parameters, loop), 0)


def add(parts: Sequence[Summed]) -> Summed:
    """The sum of sums, in their order; runs on a worker."""
    total = parts[0].statistics
    for part in parts[1:]:
        total = total + part.statistics
    return Summed(total, sum(part.n_bytes + n_bytes(part.statistics) for part in parts))


def _tree(sums: list[Any]) -> Any:
    """The sum of all, added in steps; its form depends on their number alone."""
    while len(sums) > 1:
        groups = [sums[first : first + SUMS_PER_STEP] for first in range(0, len(sums), SUMS_PER_STEP)]
        sums = [group[0] if len(group) == 1 else call(add, group) for group in groups]
    return sums[0]
