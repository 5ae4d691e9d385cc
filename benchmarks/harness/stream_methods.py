"""Ways to cluster a stream, how near they come to its gold threads, and what time could tell about these."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from harness import machine
from harness.stream_settings import Settings
from harness.streams import Stream
from sparsemix import MultinomialMixture, StreamingTimeSensitiveMixture, TimeSensitiveMixture
from sparsemix.metrics import normalized_mutual_information, pair_rates, variation_of_information
from sparsemix.models.time_sensitive import building, chain_kernels, learning
from sparsemix.models.time_sensitive.state import Chains, Timing
from sparsemix.models.time_sensitive.time_kernels import TimeKernel

WINDOW = 100
SWEEPS = {"n_sweeps": 25, "burn_in": 10, "split_merge": 0.05}

Way = Callable[[Stream, int], np.ndarray]


class Score(NamedTuple):
    """Agreement with the gold threads, clusters found and gold ones, and CPU seconds."""

    nmi: float
    variation: float
    pair_f1: float
    n_clusters: float
    n_threads: float
    seconds: float


def ways(timed: Settings, untimed: Settings) -> dict[str, tuple[Way, bool]]:
    """Return the ways to cluster that every set has, and whether their answer depends on the seed."""
    return {
        "Gibbs, exponential": (gibbs(timed), True),
        "Gibbs, step": (gibbs(untimed), True),
        "Gibbs, exponential, learnt": (gibbs(timed, learn=True), True),
        "one pass, exponential": (one_pass(timed), False),
        "one pass, step": (one_pass(untimed), False),
        f"one pass, window of {WINDOW}, exponential": (one_pass(timed, window=WINDOW), True),
        "multinomial, right K": (_with_right_number, True),
        "slices of time, right K": (lambda stream, _: slices(stream), False),
    }


def by_subject(stream: Stream, _seed: int) -> np.ndarray:
    """One cluster for each subject line."""
    assert stream.subjects is not None
    return stream.subjects


def slices(stream: Stream) -> np.ndarray:
    """As many clusters as there are threads, by time alone: each has the same number of rows."""
    n_rows = stream.times.size
    return np.arange(n_rows) * np.unique(stream.threads).size // n_rows


def gibbs(settings: Settings, **options: object) -> Way:
    """Sample with these settings and options of the estimator."""

    def fit(stream: Stream, seed: int) -> np.ndarray:
        model = TimeSensitiveMixture(**settings.parameters, **SWEEPS, **options, random_state=seed)
        return model.fit(stream.rows, times=stream.times).labels_

    return fit


def one_pass(settings: Settings, **options: object) -> Way:
    """Cluster in one pass with these settings and options of the estimator."""

    def fit(stream: Stream, seed: int) -> np.ndarray:
        model = StreamingTimeSensitiveMixture(**settings.parameters, **options, random_state=seed)
        return model.fit(stream.rows, times=stream.times).labels_

    return fit


def _with_right_number(stream: Stream, seed: int) -> np.ndarray:
    n_threads = np.unique(stream.threads).size
    return MultinomialMixture(n_threads, random_state=seed).fit(stream.rows).labels_


def score(streams: Sequence[Stream], way: Way, seed: int) -> Score:
    """Cluster each stream by itself; means over streams, but seconds in all."""
    each, watch = [], machine.Stopwatch()
    found = [way(stream, seed) for stream in streams]
    seconds = watch.read()[1]
    for stream, labels in zip(streams, found, strict=True):
        sizes = (np.unique(labels).size, np.unique(stream.threads).size)
        each.append([*agreement(stream.threads[stream.is_scored], labels[stream.is_scored]), *sizes])
    return Score(*np.mean(each, axis=0), seconds)


def agreement(threads: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
    """Return NMI, variation of information (nats) and pair F1."""
    nmi = normalized_mutual_information(threads, labels)
    return nmi, variation_of_information(threads, labels), pair_f1(threads, labels)


def pair_f1(threads: np.ndarray, labels: np.ndarray) -> float:
    """Return the harmonic mean of precision and recall over pairs of rows; NaN where no thread has two rows."""
    together, found = _n_pairs(threads), _n_pairs(labels)
    return 2.0 * pair_rates(threads, labels).true_positive * together / (together + found)


def _n_pairs(labels: np.ndarray) -> int:
    sizes = np.unique(labels, return_counts=True)[1]
    return int(np.sum(sizes * (sizes - 1) // 2))


class Told(NamedTuple):
    """Of the gold threads: the best half-life (s), both best concentrations, and the gain by time, nats a row."""

    half_life: float
    concentration: float
    step_concentration: float
    gain: float


def told_by_time(stream: Stream) -> Told:
    """Compare the prior probability of the gold threads under the best exponential and the best step kernel."""
    begun = TimeKernel.exponential(20.0 / stream.times[-1])
    timing = building.timing_of(begun, stream.times, 1.0)
    chains = building.no_clusters(stream.times.size)
    building.fill(chains, timing, stream.threads)
    concentration, rate = learning.most_probable(timing, chains, 1.0)
    untimed = building.timing_of(TimeKernel.step(), stream.times, 1.0)
    step_concentration = learning.most_probable(untimed, chains, 1.0)[0]
    gain = _log_prior(timing, chains, concentration, rate) - _log_prior(
        timing, chains, step_concentration, 0.0
    )
    return Told(math.log(2.0) / rate, concentration, step_concentration, gain / stream.times.size)


def _log_prior(timing: Timing, chains: Chains, concentration: float, rate: float) -> float:
    found = np.empty(3)
    chain_kernels.log_prior_by_rate(timing.times, chains, concentration, rate, found)
    return float(found[0])
