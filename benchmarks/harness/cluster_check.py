"""A round of the online learner played on one machine, to check what its parts were foreseen to cost."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from distributed.protocol import serialize_bytelist
from scipy import sparse

from harness.cluster_costs import Round, n_copies
from harness.throttled_link import seconds_to_carry
from sparsemix.data.inputs import as_binary_rows
from sparsemix.models.online_profiles import deltas


class Played(NamedTuple):
    """A round that was played.

    start : what children began with; messages : what they learnt; seconds : of the processor, for each child;
    round : its parts, where children learn side by side and bytes pass a link; bytes_on_wire : of all messages as Dask
    sends them.
    """

    start: Any
    messages: list[deltas.Message]
    seconds: list[float]
    round: Round
    bytes_on_wire: int


def play(learner: Any, shares: Sequence[sparse.csr_array], link: float | None = None) -> Played:
    """Let a child learn each share, one after the other, and join them; without a link nothing is sent."""
    start = learner.begin_round(len(shares))
    found = [_child(learner, start, share) for share in shares]
    messages = [message for message, _ in found]
    frames = [frame for message in messages for frame in serialize_bytelist(message)]
    posterior = sent = 0.0
    if link is not None:
        posterior = n_copies(len(shares)) * seconds_to_carry(serialize_bytelist(start), link)
        sent = seconds_to_carry(frames, link)
    began = time.process_time()
    learner.join(messages)
    adding = time.process_time() - began
    seconds = [taken for _, taken in found]
    whole = Round(posterior, max(seconds), sent, adding)
    return Played(start, messages, seconds, whole, sum(memoryview(frame).nbytes for frame in frames))


def _child(learner: Any, start: Any, share: sparse.csr_array) -> tuple[deltas.Message, float]:
    block = as_binary_rows(share).block(0, share.shape[0])
    labels = np.full(share.shape[0], -1)
    began = time.process_time()
    message = deltas.child(start, block, labels, share.shape[1], learner.settings)
    return message, time.process_time() - began
