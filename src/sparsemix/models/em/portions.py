"""What one portion of the rows adds to EM, where the rows of a table lie in many places.

A portion is a batch of `fit_batches`. These functions take a model that need not be fitted, for its parameters, and
what all portions share; they keep nothing, so that a portion that is lost on the way can be computed again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from scipy import sparse

from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.em import checks, engine, learning, reading, starts
from sparsemix.models.em.engine import Loop
from sparsemix.models.em.packed import with_codes
from sparsemix.models.em.reading import Look, Part
from sparsemix.models.em.state import FloatVector, Parameters, Rows, Statistics, joined

MORE_THAN_WANTED = 2.0  # times the rows of a guess are offered by all portions together


class Lot(NamedTuple):
    """Which rows a guess draws: as `starts.some_rows` would from the whole table.

    seed, restart : of the fit; n_rows : of all portions; n_unlabelled : those without a label.
    """

    seed: int
    restart: int
    n_rows: int
    n_unlabelled: int

    def generator(self, first_row: int) -> np.random.Generator:
        """The generator as it is when so many rows have their tickets."""
        rng = np.random.default_rng([self.seed, self.restart])
        cast(np.random.PCG64, rng.bit_generator).advance(first_row)
        return rng


class Draw(NamedTuple):
    """Rows of a portion that may be among those of a guess, with their tickets."""

    rows: Rows
    tickets: FloatVector


def part_of(model: Any, X: Any, y: Any) -> Part:
    """The rows of a portion, checked, with their labels."""
    settings, table = checks.resolve(model), model._table(X)
    return reading.part_of(table, y, np.ones(table.n_rows), settings.n_components, settings.unlabeled_weight)


def look(model: Any, X: Any, y: Any) -> Look:
    """What must be known of a portion before any is learnt."""
    return reading.look_at(part_of(model, X, y))


def summarize(
    model: Any, X: Any, y: Any, features: FeatureNames, parameters: Parameters, loop: Loop
) -> Statistics:
    """Expected counts of a portion, sparse (`thinned`); O(nnz x n_components)."""
    part, n_components = part_of(model, X, y), parameters.log_weights.size
    blocks = reading.coded_rows([part], features, part.table.n_rows, n_components, type(model).__name__)
    return thinned(engine.summarize(blocks, parameters, is_hard=loop.is_hard, n_threads=loop.n_threads))


def draw(model: Any, X: Any, y: Any, features: FeatureNames, lot: Lot, first_row: int) -> Draw:
    """Rows of a portion for a guess; `first_row` is the number of rows before it."""
    part, rng = part_of(model, X, y), lot.generator(first_row)
    n_components = int(model.n_components)
    highest = MORE_THAN_WANTED * starts.rows_wanted(n_components) / max(lot.n_unlabelled, 1)
    chosen, tickets = [], []
    for rows in reading.read_again([part], features, part.table.n_rows, type(model).__name__):
        ticket = starts.drawn_tickets(rows, rng)
        taken = np.flatnonzero(ticket <= highest)
        chosen.append(rows.taken(taken))
        tickets.append(ticket[taken])
    return Draw(joined(chosen), np.concatenate(tickets))


def guess(draws: Sequence[Draw], lot: Lot, task: learning.Task) -> Statistics:
    """The start that the drawn rows of all portions make, as from the whole table; sparse."""
    n_components = task.settings.n_components
    rows, tickets = [each.rows for each in draws], [each.tickets for each in draws]
    n_wanted = starts.rows_wanted(n_components)
    if lot.n_rows > n_wanted:
        rows, _ = starts.with_lowest_tickets(rows, tickets, n_wanted)
    coded = with_codes(joined(rows), task.n_features, n_components)
    ground = starts.Ground(coded, task.n_features, n_components, task.family, task.prior)
    return thinned(starts.STARTS[task.init](ground, lot.generator(lot.n_rows)))


def thinned(statistics: Statistics) -> Statistics:
    """The same with counts as a sparse matrix: such add too, and what a portion lacks is not sent."""
    return replace(statistics, counts=cast(Any, sparse.csr_array(statistics.counts)))


def filled(statistics: Statistics) -> Statistics:
    """What `thinned` has made, as the engine reads it."""
    return replace(statistics, counts=cast(Any, statistics.counts).toarray())
