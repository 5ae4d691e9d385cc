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
    """What one job gives back; times in seconds, memory in bytes."""

    assignments: np.ndarray
    fit_seconds: float
    predict_seconds: float = 0.0
    input_bytes: int = 0
    added_bytes: int = 0
    details: dict[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The whole job: fitting, and assigning every row."""
        return self.fit_seconds + self.predict_seconds


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
        added_bytes=max(0, machine.peak_bytes() - before),
    )


def measure_bound(folder: Path, n_components: int, repeats: int) -> float:
    """Return the best seconds of scoring the stored rows once."""
    rows, assignments = load_rows(folder)
    return seconds_to_score(rows, assignments, n_components, repeats)


def run_learner(rows: csr_array, n_components: int, seed: int) -> Outcome:
    """Fit the online Bernoulli mixture with its defaults, one pass, then assign every row."""
    start = time.perf_counter()
    model = sparsemix.OnlineBernoulliMixture(n_components=n_components, random_state=seed).fit(rows)
    fitted = time.perf_counter()
    assignments = model.predict(rows)
    done = time.perf_counter()
    payload = model.to_payload()
    details = dict(model.timings_) | {"model_bytes": sum(array.nbytes for array in payload.arrays.values())}
    return Outcome(assignments, fitted - start, done - fitted, details=details)


def run_minibatch_kmeans(rows: csr_array, n_components: int, seed: int) -> Outcome:
    """Fit scikit-learn's MiniBatchKMeans with its defaults; fitting includes the assignments."""
    start = time.perf_counter()
    model = MiniBatchKMeans(n_clusters=n_components, random_state=seed).fit(rows)
    return Outcome(model.labels_, time.perf_counter() - start, details={"iterations": model.n_iter_})


def run_em(rows: csr_array, n_components: int, seed: int) -> Outcome:
    """Fit the Bernoulli mixture by EM to convergence; the last sweep gives the assignments."""
    start = time.perf_counter()
    fit = fit_em(rows, n_components, seed=seed)
    return Outcome(fit.assignments, time.perf_counter() - start, details={"iterations": fit.n_iterations})
