"""Chains of all samplers on the same texts, and what they cost."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.metrics import variation_of_information
from sparsemix.models.hashed_gibbs.building import prior_of, rows_of
from sparsemix.models.hashed_gibbs.engine import INDEX_BUDGET, Chain, plan_of
from sparsemix.models.hashed_gibbs.signatures import HashForm, signatures_of
from sparsemix.models.hashed_gibbs.state import Prior, Rows
from sparsemix.models.hashed_gibbs.uncollapsed_chain import UncollapsedChain
from sparsemix.reproduction.fastex_kernels import propose_only
from sparsemix.reproduction.texts import clustered_texts

BASELINES = {"uncollapsed": "uncollapsed", "collapsed": "exact"}
SAMPLERS = {**BASELINES, "index": "index", "hash": "hash"}
"""Names in tables to proposals. The baselines look at every cluster for every text."""

SMOOTHING, CONCENTRATION = 0.1, 1.0
SEED, SEED_OF_START = 0, 1  # different, or chains would start at the true clusters


class Texts(NamedTuple):
    """Texts as samplers have them, and the true cluster of each."""

    rows: Rows
    prior: Prior
    truth: NDArray[np.int64]
    n_clusters: int


class Point(NamedTuple):
    """Where a chain stands after so many CPU seconds: its variation of information to the truth, nats."""

    seconds: float
    vi: float


def make_texts(n_texts: int, n_words: int, n_clusters: int, length: int) -> Texts:
    """Texts from a fixed seed."""
    matrix, truth = clustered_texts(n_texts, n_words, n_clusters, length, SEED)
    matrix.sum_duplicates()
    rows = rows_of(matrix.indptr, matrix.indices, matrix.data, n_words)
    prior = prior_of(rows, "multinomial", "finite", CONCENTRATION, 0.0, SMOOTHING, 1.0)
    return Texts(rows, prior, truth, n_clusters)


def cost_of_hashing(texts: Texts, n_bits: int, *, is_raw: bool) -> tuple[float, float, float]:
    """CPU microseconds of a text for the proposal and in all, and the share of proposals that are accepted.

    From the true clusters, which is about where a chain ends up, so that most proposals are to stay, and count as
    accepted. Signatures are made before; times are those of the quickest of three sweeps.
    """
    form, n_texts = HashForm(n_bits, is_raw), texts.truth.size
    chain = _chain(texts, "hash", form)
    chain.start(texts.truth)
    chain.sweep(adapts=True)
    total, done = _quickest(lambda: chain.sweep(adapts=False))
    signatures = signatures_of(texts.rows, texts.prior, chain.clusters, form, np.random.default_rng(SEED))
    uniforms = np.random.default_rng(SEED).random(n_texts)
    state = (texts.rows, texts.prior, chain.clusters, signatures, chain.assigned, uniforms)
    proposals, _ = _quickest(lambda: propose_only(*state))
    accepted = 1.0 - (done.n_proposed - done.n_moved) / n_texts
    return 1e6 * proposals / n_texts, 1e6 * total / n_texts, accepted


def _quickest(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of the quickest of three times, and what the last one returned."""
    seconds = []
    for _ in range(3):
        began = time.process_time()
        found = work()
        seconds.append(time.process_time() - began)
    return min(seconds), found


def convergence(
    name: str, texts: Texts, n_bits: int, most_seconds: float, most_sweeps: int
) -> Iterator[Point]:
    """Yield a point for the start, the same random one for all, and one after each sweep."""
    began = time.process_time()
    chain = _chain(texts, SAMPLERS[name], HashForm(n_bits))
    chain.start(np.random.default_rng(SEED_OF_START).integers(texts.n_clusters, size=texts.truth.size))
    seconds = time.process_time() - began
    yield Point(seconds, variation_of_information(texts.truth, chain.assigned))
    for _ in range(most_sweeps):
        began = time.process_time()
        chain.sweep(adapts=True)
        seconds += time.process_time() - began
        yield Point(seconds, variation_of_information(texts.truth, chain.assigned))
        if seconds > most_seconds:
            return


def seconds_to(vi: float, points: Sequence[Point]) -> float | None:
    """When a chain is first as near to the truth, None if it never is."""
    return next((point.seconds for point in points if point.vi <= vi), None)


def compile_all() -> None:
    """Run everything on a few texts, so that no measurement has the time to compile in it."""
    texts = make_texts(30, 200, 3, 10)
    cost_of_hashing(texts, 8, is_raw=False)
    for name in SAMPLERS:
        list(convergence(name, texts, 8, 0.0, 1))


def _chain(texts: Texts, proposal: str, form: HashForm) -> Any:
    seed = np.random.SeedSequence(SEED)
    if proposal == "uncollapsed":
        return UncollapsedChain(texts.rows, texts.prior, texts.n_clusters, 1, seed)
    plan = plan_of(proposal, texts.n_clusters, form, INDEX_BUDGET)
    return Chain(texts.rows, texts.prior, texts.n_clusters, plan, seed)
