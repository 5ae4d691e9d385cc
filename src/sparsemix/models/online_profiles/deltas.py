"""Learning in parallel (ADS, section 4.2): children learn shares of the rows, their differences add up at the join.

All children begin with the same posterior `theta_0`, and the new one has, for every alpha, beta and gamma,

    theta = theta_0 + sum_c (theta_c - theta_0)

A feature that a posterior does not keep explicitly has its component's default there. Moment matching can lose
pseudo-counts, more in sum than there are: such an entry stays at its floor, a tenth of the prior's or, if less, of
theta_0. Components come and go only between two rounds.

A message holds what has changed, as values; the differences are taken at the join, where the first child's values
are taken as they are. So one child gives the serial posterior to the bit.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import RowBlock
from sparsemix.foundation.errors import DataError
from sparsemix.models.online_profiles import delta_kernels, engine, index_kernels, kernels
from sparsemix.models.online_profiles.merging import LEAST_SHARE
from sparsemix.models.online_profiles.reservoir import Reservoir, joined_rows
from sparsemix.models.online_profiles.state import Posterior, copied, entries_of, with_room
from sparsemix.models.online_profiles.steps import learn_rows
from sparsemix.models.online_profiles.stream import Settings, Stream
from sparsemix.probability.beta_bernoulli import BetaPrior

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

SUMS = ("weight_concentration", "default_alpha", "default_beta", "certain", "common_on", "common_rows")


class Message(NamedTuple):
    """What a child has learnt.

    began : rows that the stream had seen when the child began; n_rows : rows of its share that it has learnt.
    n_features : features known by now; named_ids : components that labels have named so far.
    log_evidence : of the stream with the child's rows, nats.
    waiting_indptr, waiting_columns : rows that fit no component.
    weight_concentration ... common_rows : as in `Posterior`.
    size, n_changed : (n_components,) explicit features, and those that are new or have changed.
    feature, alpha, beta : (n_entries,) these, by component and then by age, `beta` without `certain`.
    """

    began: int
    n_rows: int
    n_features: int
    log_evidence: float
    named_ids: IntVector
    waiting_indptr: IntVector
    waiting_columns: NDArray[np.int32]
    weight_concentration: FloatVector
    default_alpha: FloatVector
    default_beta: FloatVector
    certain: FloatVector
    common_on: FloatVector
    common_rows: FloatVector
    size: IntVector
    n_changed: IntVector
    feature: NDArray[np.int32]
    alpha: FloatVector
    beta: FloatVector

    @property
    def n_bytes(self) -> int:
        """Bytes of all numbers."""
        return sum(np.asarray(part).nbytes for part in self)


def start_of(stream: Stream, n_children: int, settings: Settings) -> Stream:
    """What each child of a round begins with, after the index and the culling that are due; O(explicit features).

    It holds no rows. A child lets its share of the rows wait that may still wait.
    """
    engine.keep_house(stream, settings)
    waiting = stream.waiting
    room = max(1, waiting.room // n_children) if waiting.capacity else 0
    return replace(
        stream, posterior=copied(stream.posterior), waiting=Reservoir(room), lineage=[], n_threads=1
    )


def rows_until_join(stream: Stream) -> int:
    """Rows that all children together may learn before the stream is to be indexed anew."""
    return stream.next_index - stream.n_rows


def child(
    start: Stream,
    rows: RowBlock,
    labels: IntVector,
    n_features: int,
    settings: Settings,
    most: int | None = None,
) -> Message:
    """Learn a share of the rows, as the stream itself would between two indices.

    Parameters
    ----------
    start : Stream
        From `start_of`; not changed.
    rows : RowBlock
    labels : (n_rows,)
        Component id known for a row, or -1.
    n_features : int
        Features known by now.
    settings : Settings
    most : int, optional
        Rows that are learnt at most.

    Returns
    -------
    Message
        ``n_rows`` says how many rows were learnt: fewer where as many wait as may. The others are for the next round.
    """
    twin = replace(
        start,
        posterior=copied(start.posterior),
        waiting=Reservoir(start.waiting.capacity),
        n_features=max(start.n_features, n_features),
    )
    last = rows.n_rows if most is None else min(most, rows.n_rows)
    log_evidence = np.empty(last)
    n_rows = learn_rows(twin, rows.slice(0, last), labels[:last], settings, log_evidence)
    posterior, waiting = twin.posterior, twin.waiting.rows
    entries, changed = entries_of(posterior), _changed(start.posterior, posterior)
    changed_entries = entries.taken(changed)
    return Message(
        began=start.n_rows,
        n_rows=n_rows,
        n_features=twin.n_features,
        log_evidence=engine.summed(start.log_evidence, log_evidence[:n_rows]),
        named_ids=twin.named_ids,
        waiting_indptr=waiting.indptr,
        waiting_columns=waiting.columns,
        **{name: getattr(posterior, name) for name in SUMS},
        size=posterior.size,
        n_changed=np.bincount(posterior.owner()[changed], minlength=posterior.n_components),
        feature=changed_entries.feature,
        alpha=changed_entries.alpha,
        beta=changed_entries.beta,
    )


def join(stream: Stream, messages: Sequence[Message], settings: Settings) -> int:
    """Add what children have learnt, in the order of `messages`; then cluster the rows that wait if they are enough.

    Parameters
    ----------
    stream : Stream
        As it was after `start_of`; changed.
    messages : sequence of Message
        Of all children of the round, each once.
    settings : Settings

    Returns
    -------
    int
        Pseudo-counts that had to be damped.

    Raises
    ------
    DataError
        If a message is of another round.
    """
    if any(message.began != stream.n_rows for message in messages):
        raise DataError("A message to join is of another round. Start children anew after each join.")
    base, n_damped = stream.posterior, 0
    stream.n_features = max(stream.n_features, *(message.n_features for message in messages))
    stream.posterior = _total(base, messages, stream.n_features)
    if len(messages) > 1:
        n_damped = _damp(base, stream.posterior, stream.prior)
    before = stream.log_evidence
    stream.log_evidence = messages[0].log_evidence
    for message in messages:
        stream.n_rows += message.n_rows
        stream.log_evidence += message.log_evidence - before if message is not messages[0] else 0.0
        stream.named_ids = np.union1d(stream.named_ids, message.named_ids)
        waiting = RowBlock(message.waiting_indptr, message.waiting_columns)
        stream.waiting.rows = joined_rows(stream.waiting.rows, waiting)
    if stream.waiting.is_full:
        engine.settle_waiting(stream, settings)
    return n_damped


def _total(base: Posterior, messages: Sequence[Message], n_features: int) -> Posterior:
    """The posterior with the differences of all children."""
    room = sum(message.size - base.size for message in messages)
    total = with_room(base, np.asarray(room))
    total = total._replace(**{name: getattr(base, name).copy() for name in SUMS})
    slot_of = np.full(n_features, kernels.NOT_EXPLICIT, np.int32)
    for place, message in enumerate(messages):
        for name in SUMS:
            ours, theirs = getattr(total, name), getattr(message, name)
            ours[:] = theirs if place == 0 else ours + (theirs - getattr(base, name))
        delta_kernels.add_entries(base, message, place == 0, slot_of, total)
    return total


def _changed(base: Posterior, posterior: Posterior) -> NDArray[np.bool_]:
    """Which explicit features, (n_entries,), are new or have another Beta."""
    known, alpha, beta = _before(base, posterior)
    entries = entries_of(posterior)
    return np.asarray(~known | (entries.alpha != alpha) | (entries.beta != beta))


def _before(base: Posterior, posterior: Posterior) -> tuple[NDArray[np.bool_], FloatVector, FloatVector]:
    """Of each explicit feature of a later posterior: whether it was so before, and its alpha and beta then."""
    owner = posterior.owner()
    age = posterior.used() - posterior.start[owner]
    known = age < base.size[owner]
    slot = (base.start[owner] + age)[known]
    alpha, beta = base.default_alpha[owner], (base.default_beta - base.certain)[owner]
    alpha[known], beta[known] = base.alpha[slot], base.beta[slot]
    return known, alpha, beta


def _damp(base: Posterior, total: Posterior, prior: BetaPrior) -> int:
    """Settle the sum, and raise the pseudo-counts that are below their floor; return how many."""
    _, alpha, beta = _before(base, total)
    beta += base.certain[total.owner()]
    index_kernels.settle(total)
    used, n_damped = total.used(), 0
    ours = (total.alpha[used], total.beta[used], total.default_alpha, total.default_beta)
    theirs = (alpha, beta, base.default_alpha, base.default_beta)
    for sums, starts, least in zip(ours, theirs, (*prior, *prior), strict=True):
        floor = LEAST_SHARE * np.minimum(starts, least)
        n_damped += int((sums < floor).sum())
        np.maximum(sums, floor, out=sums)
    total.alpha[used], total.beta[used] = ours[:2]
    return n_damped
