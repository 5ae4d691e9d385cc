"""Measured jobs, each in a process of its own: load rows, compile, fit, and say what it took."""

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
from harness.bound import Bound
from harness.em import fit_em


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one job gives back.

    assignments : (n_rows,) cluster of every row
    seconds, cpu_seconds : the whole job, fitting and assigning, by the clock and of the processor
    peak_bytes : most memory that the process held until the job ended
    input_bytes, added_bytes : the rows, and the peak above what was held when they were loaded
    details : whatever else the job measured, in seconds, rows or bytes
    """

    assignments: np.ndarray
    seconds: float
    cpu_seconds: float
    peak_bytes: int = 0
    input_bytes: int = 0
    added_bytes: int = 0
    details: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Pair:
    """CPU seconds of streaming `n_rows` rows, and of scoring the same rows right before and right after."""

    n_rows: int
    streaming: float
    bound_before: float
    bound_after: float

    @property
    def bound(self) -> float:
        """CPU seconds of scoring, the mean of both."""
        return (self.bound_before + self.bound_after) / 2

    @property
    def ratio(self) -> float:
        """How many times the bound streaming takes."""
        return self.streaming / self.bound


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
    compile_job(job)
    rows, _ = load_rows(folder)
    machine.reset_peak()
    before = machine.current_bytes()
    outcome = job(rows, n_components, seed)
    return replace(
        outcome,
        input_bytes=rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes,
        added_bytes=max(0, outcome.peak_bytes - before),
    )


def compile_job(job: Job) -> None:
    """Run `job` on a few made-up rows, so that its kernels are compiled."""
    few = (np.random.default_rng(0).random((400, 50)) < 0.2).astype(np.float32)
    job(csr_array(few), 2, 0)


def measure_pairs(folder: Path, n_components: int, seed: int, n_priming: int, n_pairs: int) -> list[Pair]:
    """Stream the stored rows after the first `n_priming`, and score the same rows before and after, in turn.

    `partial_fit` runs the code of `fit`, and gives the same bits; here it divides priming from streaming. What it
    takes to check the rows counts as streaming.
    """
    compile_job(run_learner)
    rows, assignments = load_rows(folder)
    first, rest = rows[:n_priming], rows[n_priming:]
    bound = Bound(rest, assignments[n_priming:], n_components)
    pairs = []
    for _ in range(n_pairs):
        model = sparsemix.OnlineBernoulliMixture(n_components=n_components, random_state=seed)
        model.partial_fit(first).prime()
        before = bound.cpu_seconds()
        start = time.thread_time()
        model.partial_fit(rest)
        streaming = time.thread_time() - start
        pair = Pair(rest.shape[0], streaming, before, bound.cpu_seconds())
        around = f"{before:.2f} and {pair.bound_after:.2f}"
        print(f"CPU: streaming {streaming:.2f} s, bound {around} s, ratio {pair.ratio:.2f}", flush=True)
        pairs.append(pair)
    return pairs


def run_learner(rows: csr_array, n_components: int, seed: int) -> Outcome:
    """Fit the online Bernoulli mixture with its defaults: one pass, then every row is assigned."""
    stopwatch = machine.Stopwatch()
    model = sparsemix.OnlineBernoulliMixture(n_components=n_components, random_state=seed).fit(rows)
    taken = stopwatch.read()
    peak = machine.peak_bytes()
    arrays = model.to_payload().arrays
    streamed_rows = rows.shape[0] - model.lineage_[0].row
    model_bytes = sum(array.nbytes for array in arrays.values())
    details = {"streamed_rows": streamed_rows, "model_bytes": model_bytes, **model.timings_}
    return Outcome(model.labels_, *taken, peak_bytes=peak, details=details)


def run_minibatch_kmeans(rows: csr_array, n_components: int, seed: int) -> Outcome:
    """Fit scikit-learn's MiniBatchKMeans with its defaults; fitting includes the assignments."""
    stopwatch = machine.Stopwatch()
    model = MiniBatchKMeans(n_clusters=n_components, random_state=seed).fit(rows)
    return Outcome(model.labels_, *stopwatch.read(), machine.peak_bytes())


def run_em(rows: csr_array, n_components: int, seed: int) -> Outcome:
    """Fit the Bernoulli mixture by EM to convergence; the last sweep gives the assignments."""
    stopwatch = machine.Stopwatch()
    fit = fit_em(rows, n_components, seed=seed)
    taken = stopwatch.read()
    details = {"n_sweeps": fit.n_iterations}
    return Outcome(fit.assignments, *taken, machine.peak_bytes(), details=details)
