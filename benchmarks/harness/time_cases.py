"""Short documents of threads that come and go, a second apart, and what learning them costs."""

import time
from typing import NamedTuple

import numpy as np
from scipy import sparse

from harness import machine
from sparsemix import StreamingTimeSensitiveMixture, TimeSensitiveMixture
from sparsemix.metrics import normalized_mutual_information

N_WORDS, LENGTH, OWN_WORDS, OWN_SHARE = 20_000, 10, 12, 0.7
HALF_LIFE, LIFE, CONCENTRATION, SMOOTHING, NEGLIGIBLE = 300.0, 3_600, 1.0, 0.001, 1e-6


class Documents(NamedTuple):
    """Rows of counts, their times in seconds, and the thread of each."""

    rows: sparse.csr_array
    times: np.ndarray
    threads: np.ndarray


class Part(NamedTuple):
    """What a part of a stream cost: documents a CPU second, live clusters, megabytes held, and NMI with the threads."""

    speed: float
    n_live: int
    n_ended: int
    megabytes: float
    agreement: float


def make_documents(first: int, n_rows: int, n_threads: int, seed: int = 0, life: float = LIFE) -> Documents:
    """Return documents `first` and following of an endless stream in which `n_threads` are alive at any time.

    A thread lives for `life` seconds. Most words are from twelve of its own, the rest from a common, long-tailed
    distribution.
    """
    rng = np.random.default_rng([seed, first])
    times = np.arange(first, first + n_rows, dtype=np.float64)
    newest = ((times + life) * n_threads / life).astype(np.int64)
    threads = newest - rng.integers(n_threads, size=n_rows)
    which = rng.integers(OWN_WORDS, size=(n_rows, LENGTH))
    own = (threads[:, None] * 7_919 + which * 1_709 + which * which * 31) % N_WORDS
    common = (50 * (N_WORDS / 50 + 1) ** rng.random((n_rows, LENGTH)) - 50).astype(np.int64) % N_WORDS
    words = np.where(rng.random((n_rows, LENGTH)) < OWN_SHARE, own, common)
    counts = (np.ones(words.size, np.int64), (np.repeat(np.arange(n_rows), LENGTH), words.ravel()))
    rows = sparse.csr_array(sparse.coo_array(counts, shape=(n_rows, N_WORDS)))
    return Documents(rows, times, threads)


def stream_parts(n_rows: int, n_parts: int, n_threads: int, batch: int, **options: object) -> list[Part]:
    """Learn a stream in parts, each in batches, and return what each part cost."""
    settings = {"half_life": HALF_LIFE, "smoothing": SMOOTHING, "negligible": NEGLIGIBLE, "random_state": 0}
    model = StreamingTimeSensitiveMixture(CONCENTRATION, **settings | options)
    few = make_documents(0, 2_000, n_threads)
    StreamingTimeSensitiveMixture(CONCENTRATION, **settings | options).fit(
        few.rows, times=few.times
    )  # compiles
    found = []
    for part in range(n_parts):
        seconds, n_ended, labels, threads = 0.0, 0, [], []
        end = (part + 1) * n_rows // n_parts
        for first in range(part * n_rows // n_parts, end, batch):
            documents = make_documents(first, min(batch, end - first), n_threads)
            watch = machine.Stopwatch()
            model.partial_fit(documents.rows, times=documents.times)
            seconds += watch.read()[1]
            n_ended += len(model.lineage_)
            labels.append(model.labels_)
            threads.append(documents.threads)
        agreement = normalized_mutual_information(np.concatenate(threads), np.concatenate(labels))
        n_live, held = model.component_ids_.size, machine.current_bytes() / machine.MEGABYTE
        found.append(Part(n_rows / n_parts / seconds, n_live, n_ended, held, agreement))
        print(found[-1], flush=True)
    return found


def seconds_of_sweeps(n_rows: int, n_threads: int, pace: float) -> list[float]:
    """CPU seconds of the first two sweeps of `TimeSensitiveMixture`; in the first, rows enter one after another.

    Threads live and are forgotten `pace` times as fast as elsewhere.
    """
    settings = {
        "half_life": HALF_LIFE / pace,
        "smoothing": SMOOTHING,
        "random_state": 0,
        "n_sweeps": 2,
        "burn_in": 1,
    }
    few = make_documents(0, 500, n_threads, life=LIFE / pace)
    TimeSensitiveMixture(CONCENTRATION, **settings).fit(few.rows, times=few.times)
    documents, ends = make_documents(0, n_rows, n_threads, life=LIFE / pace), []

    def note(_progress: object) -> None:
        ends.append(time.process_time())

    begun = time.process_time()
    TimeSensitiveMixture(CONCENTRATION, **settings).fit(documents.rows, times=documents.times, on_sweep=note)
    return [ends[0] - begun, ends[1] - ends[0]]
