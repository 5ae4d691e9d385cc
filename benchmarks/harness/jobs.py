"""One measured job in a process of its own: load rows, warm up, fit, and say what it took."""

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import MiniBatchKMeans

import sparsemix
from harness import machine
from harness.bound import seconds_to_score
from harness.em import fit_em


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one job gives back.

    assignments : (n_rows,) cluster of every row
    seconds : the whole job, fitting and assigning
    peak_bytes : most memory that the process held until the job ended
    input_bytes, added_bytes : the rows, and the peak above what was held when they were loaded
    details : whatever else the job measured, in seconds, rows or bytes
    """

    assignments: np.ndarray
    seconds: float
    peak_bytes: int = 0
    input_bytes: int = 0
    added_bytes: int = 0
    details: dict[str, float] = field(default_factory=dict)


Job = Callable[[csr_array, int, int], Outcome]  # rows, n_components, seed


def in_new_process(function, *arguments):
    """Call `function` in a fresh interpreter and return its result."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def save_rows(folder: Path, rows: csr_array, assignments: np.ndarray) -> None:
    """Store rows as plain arrays: loading them needs no memory beyond their own."""
    parts = {"indptr": rows.indptr, "indices": rows.indices, "data": rows.data, "assignments": assignments}
    for name, array in parts.items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "shape.npy", rows.shape)


def load_rows(folder: Path) -> tuple[csr_array, np.ndarray]:
    """Return what `save_rows` stored."""
    parts = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    shape = tuple(int(size) for size in parts["shape"])
    rows = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
    rows.has_canonical_format = True
    return rows, parts["assignments"]


def measure(job: Job, folder: Path, n_components: int, seed: int) -> Outcome:
    """Compile on a few rows, load the stored rows, then run `job` on them.

    The memory of the job is its peak above what the process held once the rows were loaded.
    """
    few = (np.random.default_rng(0).random((400, 50)) < 0.2).astype(np.float32)
    job(csr_array(few), 2, 0)
    rows, _ = load_rows(folder)
    machine.reset_peak()
    before = machine.current_bytes()
    outcome = job(rows, n_components, seed)
    return replace(
        outcome,
        input_bytes=rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes,
        added_bytes=max(0, outcome.peak_bytes - before),
    )


def measure_bound(folder: Path, n_components: int, repeats: int) -> float:
    """Return the best seconds of scoring the stored rows once."""
    rows, assignments = load_rows(folder)
    return seconds_to_score(rows, assignments, n_components, repeats)


def run_learner(rows: csr_array, n_components: int, seed: int) -> Outcome:
    """Fit the online Bernoulli mixture with its defaults: one pass, then every row is assigned."""
    start = time.perf_counter()
    model = sparsemix.OnlineBernoulliMixture(n_components=n_components, random_state=seed).fit(rows)
    seconds = time.perf_counter() - start
    peak = machine.peak_bytes()
    arrays = model.to_payload().arrays
    streamed_rows = rows.shape[0] - model.lineage_[0].row
    model_bytes = sum(array.nbytes for array in arrays.values())
    details = {"streamed_rows": streamed_rows, "model_bytes": model_bytes, **model.timings_}
    return Outcome(model.labels_, seconds, peak_bytes=peak, details=details)


def run_minibatch_kmeans(rows: csr_array, n_components: int, seed: int) -> Outcome:
    """Fit scikit-learn's MiniBatchKMeans with its defaults; fitting includes the assignments."""
    start = time.perf_counter()
    model = MiniBatchKMeans(n_clusters=n_components, random_state=seed).fit(rows)
    seconds = time.perf_counter() - start
    return Outcome(model.labels_, seconds, machine.peak_bytes())


def run_em(rows: csr_array, n_components: int, seed: int) -> Outcome:
    """Fit the Bernoulli mixture by EM to convergence; the last sweep gives the assignments."""
    start = time.perf_counter()
    fit = fit_em(rows, n_components, seed=seed)
    seconds = time.perf_counter() - start
    return Outcome(fit.assignments, seconds, machine.peak_bytes())
