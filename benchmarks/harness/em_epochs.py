"""Epochs of EM beside the two sparse-dense products that are their bare cost, and the memory of whole fits."""

import time
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import sparsemix
from harness import jobs, machine
from harness.em_cases import make_documents


class Products:
    """``rows @ (n_features, n_components)`` and ``rows.T @ (n_rows, n_components)`` in SciPy, float64.

    They are what an E and an M step come down to where all responsibilities are positive.
    """

    def __init__(self, rows: csr_array, n_components: int) -> None:
        rng = np.random.default_rng(0)
        self._rows, self._transposed = rows, rows.T
        self._of_features = rng.random((rows.shape[1], n_components))
        self._of_rows = rng.random((rows.shape[0], n_components))

    def cpu_seconds(self) -> float:
        """Multiply once; return the CPU seconds of this thread."""
        start = time.thread_time()
        _ = self._rows @ self._of_features
        _ = self._transposed @ self._of_rows
        return time.thread_time() - start


def fit(
    rows: csr_array, n_components: int, init: object, max_iter: int, n_jobs: int = 1, on_epoch=None
) -> None:
    """Run exactly `max_iter` epochs of soft EM from `init`."""
    model = sparsemix.MultinomialMixture(
        n_components, init=init, max_iter=max_iter, tol=0.0, n_jobs=n_jobs, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, on_epoch=on_epoch)


def epochs_beside_products(
    rows: csr_array, n_components: int, init: object, n_pairs: int
) -> list[tuple[float, float]]:
    """Return pairs of CPU seconds, of an epoch and of the products right after it.

    The first epoch also makes the start, and is left out.
    """
    products, pairs, last = Products(rows, n_components), [], 0.0

    def take_turns(_: object) -> None:
        nonlocal last
        taken = time.thread_time() - last
        pairs.append((taken, products.cpu_seconds()))
        print(f"CPU: epoch {taken:.2f} s, products {pairs[-1][1]:.2f} s", flush=True)
        last = time.thread_time()

    last = time.thread_time()
    fit(rows, n_components, init, n_pairs + 1, on_epoch=take_turns)
    return pairs[1:]


def wall_seconds_of_epochs(
    rows: csr_array, n_components: int, init: object, n_epochs: int, n_jobs: int
) -> list[float]:
    """Return seconds by the clock of each epoch but the first."""
    ends = []
    fit(rows, n_components, init, n_epochs + 1, n_jobs, lambda _: ends.append(time.perf_counter()))
    return np.diff(ends).tolist()


def store_documents(folder: Path, n_documents: int, n_words: int, n_clusters: int) -> None:
    """Generate documents and store them in `folder`."""
    jobs.save_rows(folder, *make_documents(n_documents, n_words, n_clusters, seed=0))


def memory_of_fit(folder: Path, n_components: int, share: float) -> tuple[int, int, int]:
    """Fit the first `share` of the stored rows; return their number, their bytes and the peak above them, bytes."""
    rows = jobs.load_rows(folder)[0]
    rows = rows[: round(share * rows.shape[0])].copy()
    fit(rows[:100], 2, "k-means++", 2)
    machine.reset_peak()
    before = machine.current_bytes()
    fit(rows, n_components, "k-means++", 3)
    n_bytes = rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes
    return rows.shape[0], n_bytes, machine.peak_bytes() - before
