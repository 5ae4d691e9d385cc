"""EM for mixtures: what an epoch costs beside two sparse products, its memory, and one dense set beside StepMix.

Run ``python benchmarks/em.py``; it writes ``benchmarks/results/em_speed.md``. ``--only epoch`` or ``--only stepmix``
does one part, ``--quick`` both on smaller tables. StepMix is optional: ``pip install stepmix``.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from harness import jobs, machine, tables
from harness.em_cases import make_answers
from harness.em_epochs import epochs_beside_products, memory_of_fit, store_documents, wall_seconds_of_epochs
from harness.em_peer import CLOSE, MOST_EPOCHS, PEER, Start, in_turn, is_installed

N_COMPONENTS = 100
EPOCH_HEADER = ("epoch", "CPU of an epoch (s)", "CPU of the products (s)", "epoch / products")
THREADS_HEADER = ("epoch", "one thread (s)", "two threads (s)", "two / one")
MEMORY_HEADER = (
    "documents",
    "input (MB)",
    "peak above input (MB)",
    "responsibilities of all rows would be (MB)",
)
PEER_HEADER = (
    "contrast",
    "tolerance",
    "method",
    "clock (s)",
    "CPU (s)",
    "StepMix / this, clock",
    "StepMix / this, CPU",
    "CPU of the fit / epochs (ms)",
    "epochs",
    "log likelihood a row",
    "near the best",
)
EPOCH_NOTES = """An epoch is an E and an M step with all that goes with it, measured between two reports of a
running fit with one thread. The products are SciPy's `rows @ (words, clusters)` and `rows.T @ (documents,
clusters)`; they are multiplied right after each epoch, and each pair is divided; medians over the pairs.
In early epochs every responsibility is positive (random start), in late ones few are (start at the true
clusters). Seconds with two threads are by the clock, the runs in turn."""
MEMORY_NOTES = """The peak is what a fit (k-means++ start, three epochs) in a fresh process held beyond its input.
It holds a few arrays of words x clusters, {table:.0f} MB each here, and blocks of rows; none of documents x
clusters."""
PEER_NOTES = f"""Zeros and ones, half of each, 10 classes; the smaller the contrast, the more the classes overlap.
Both maximise the likelihood from one start a seed, the mixture in leaps (`accelerate=True`), and stop when an epoch
gains less than the tolerance, nats a row (1e-10 is StepMix's default), or after {MOST_EPOCHS:,} epochs. Seconds are
of the whole fit, with one thread where nothing else is said, reading and start included, compilation excluded, the
methods in turn, the ratios beside StepMix with one thread; medians over the seeds, and of the ratios of one seed.
"Near the best" counts starts within {CLOSE} nats a row of the best of all."""


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Return the median and the range."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def epoch_part(n_documents: int, n_words: int, n_pairs: int) -> list[str]:
    """Return the sections on epochs, threads and memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs.in_new_process(store_documents, folder, n_documents, n_words, N_COMPONENTS)
        memory = [jobs.in_new_process(memory_of_fit, folder, N_COMPONENTS, share) for share in (0.5, 1.0)]
        rows, clusters = jobs.load_rows(folder)
    starts = {"early": "random", "late": np.eye(N_COMPONENTS)[clusters]}
    epoch_lines, thread_lines = [], []
    for kind, init in starts.items():
        pairs = epochs_beside_products(rows, N_COMPONENTS, init, n_pairs)
        epochs, products = zip(*pairs, strict=True)
        ratios = [epoch / product for epoch, product in pairs]
        epoch_lines.append([kind, spread(epochs), spread(products), spread(ratios)])
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(3):
            for n_jobs in seconds:
                seconds[n_jobs] += wall_seconds_of_epochs(rows, N_COMPONENTS, init, n_pairs, n_jobs)
        ratio = statistics.median(seconds[2]) / statistics.median(seconds[1])
        thread_lines.append([kind, spread(seconds[1]), spread(seconds[2]), f"{ratio:.2f}"])
        print(epoch_lines[-1], thread_lines[-1], f"load {machine.load():.1f}", flush=True)
    distinct = rows.nnz / rows.shape[0]
    what = f"{n_documents:,} documents x {n_words:,} words, {distinct:.0f} distinct ones a document, K = {N_COMPONENTS}"
    return [
        f"## An epoch\n\n{what}.",
        tables.markdown(EPOCH_HEADER, epoch_lines),
        tables.markdown(THREADS_HEADER, thread_lines),
        f"{EPOCH_NOTES} The load average at the end was {machine.load():.1f}.",
        "## Memory",
        tables.markdown(MEMORY_HEADER, [describe_memory(*one) for one in memory]),
        MEMORY_NOTES.format(table=n_words * N_COMPONENTS * 8 / machine.MEGABYTE),
    ]


def describe_memory(n_rows: int, input_bytes: int, peak: int) -> list[str]:
    """Return a line of the table of memory."""
    all_responsibilities = n_rows * N_COMPONENTS * 8
    return [
        f"{n_rows:,}",
        *(f"{size / machine.MEGABYTE:.0f}" for size in (input_bytes, peak, all_responsibilities)),
    ]


def peer_part(n_rows: int, seeds: int, tolerances: Sequence[float]) -> list[str]:
    """Return the sections on one dense set beside StepMix."""
    title = f"## One dense set, {n_rows:,} x 100, K = 10, beside StepMix"
    if not is_installed():
        return [title, "StepMix is not installed here: this part was left out (`pip install stepmix`)."]
    lines = []
    for contrast in (0.3, 0.6, 1.0):
        rows = make_answers(n_rows, 100, 10, contrast, seed=0)
        for tol in tolerances:
            found = in_turn(rows, 10, tol, seeds)
            lines += describe_starts(contrast, tol, found)
    return [
        title,
        tables.markdown(PEER_HEADER, lines),
        f'{PEER_NOTES} StepMix {version("stepmix")}, measurement "binary"; {seeds} seeds. '
        f"The load average at the end was {machine.load():.1f}.",
    ]


def describe_starts(contrast: float, tol: float, found: dict[str, list[Start]]) -> list[list[object]]:
    """Return a table line for each method."""
    best = max(start.log_likelihood for starts in found.values() for start in starts)
    lines = []
    for name, starts in found.items():
        pairs = list(zip(found[PEER], starts, strict=True))
        by_clock = [peer.clock / own.clock for peer, own in pairs]
        by_cpu = [peer.seconds / own.seconds for peer, own in pairs]
        lines.append(
            [
                f"{contrast:g}",
                f"{tol:g}",
                name if name.startswith(PEER) else f"sparsemix, {name}",
                f"{statistics.median(start.clock for start in starts):.2f}",
                f"{statistics.median(start.seconds for start in starts):.2f}",
                None if name == PEER else spread(by_clock, 1),
                None if name == PEER else spread(by_cpu, 1),
                f"{statistics.median(1e3 * start.seconds / start.n_epochs for start in starts):.1f}",
                f"{statistics.median(start.n_epochs for start in starts):.0f}",
                f"{statistics.median(start.log_likelihood for start in starts):.4f}",
                f"{sum(start.log_likelihood > best - CLOSE for start in starts)} of {len(starts)}",
            ]
        )
    print(tables.markdown(PEER_HEADER, lines), flush=True)
    return lines


def main() -> None:
    """Parse the options, run the parts, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["epoch", "stepmix"], help="one part instead of both")
    parser.add_argument("--pairs", type=int, default=3, help="epochs and products in turn, the median counts")
    parser.add_argument("--seeds", type=int, default=3, help="starts of each method beside StepMix")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, two seeds, two pairs")
    parser.add_argument("--page", default="em_speed", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    scale, pairs, seeds = (10, 2, 2) if options.quick else (1, options.pairs, options.seeds)
    sections = []
    if options.only != "stepmix":
        sections += epoch_part(100_000 // scale, 50_000 // scale, pairs)
    if options.only != "epoch":
        sections += peer_part(10_000 // scale, seeds, (1e-6, 1e-10))
    page = tables.write_page(options.page, "Epochs of EM", machine.describe(), sections)
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
