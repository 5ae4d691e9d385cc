"""Speed of EM: an epoch beside two sparse-dense products, threads, memory, and a fit beside StepMix.

Run ``python benchmarks/em.py``; it writes ``benchmarks/results/em_speed.md``. ``--quick`` takes a tenth of the
documents. StepMix is compared with where it is installed (``pip install stepmix``).
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from scipy.sparse import coo_array, csr_array

import sparsemix
from harness import jobs, machine, tables
from sparsemix.models.em import engine, starts
from sparsemix.models.em.families import FAMILIES
from sparsemix.models.em.state import Parameters, Prior, Rows

N_DOCUMENTS, N_WORDS, N_COMPONENTS = 100_000, 50_000, 100
WORDS_A_DOCUMENT = 80
LATE_EPOCHS = 15
STEPMIX_TOLERANCE = 1e-10  # StepMix's own default
FAMILY, PRIOR = FAMILIES["multinomial"], Prior(0.1, 0.0)
NOTES = f"""Documents: made up, {N_DOCUMENTS:,} x {N_WORDS:,} words, {N_COMPONENTS} topics, Zipf frequencies. An epoch
is an E and an M step of `MultinomialMixture` with {N_COMPONENTS} components; the products are SciPy's `rows @ A`
and `rows.T @ B` with dense A (words, components) and B (documents, components), which is what an epoch costs in SciPy
without its logarithms, exponentials and sums. "Early" is the first epoch after a random start, when every component
has a share of every document; "late" is after {LATE_EPOCHS} epochs. Products and epochs are timed in turn in one
process, in seconds of the processor; the ratio is the median over pairs. Threads are compared by the clock."""


def make_documents(n_documents: int, n_words: int, n_topics: int, seed: int) -> csr_array:
    """Return documents x words with counts; topics reweigh Zipf frequencies."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, n_words + 1)
    topics = rng.integers(n_topics, size=n_documents)
    lengths = rng.poisson(rng.gamma(4.0, WORDS_A_DOCUMENT / 4.0, n_documents)) + 1
    rows, columns = [], []
    for topic in range(n_topics):
        cumulative = np.cumsum(frequency * np.exp(1.5 * rng.standard_normal(n_words)))
        members = np.flatnonzero(topics == topic)
        rows.append(np.repeat(members, lengths[members]))
        draws = np.searchsorted(cumulative, rng.random(rows[-1].size) * cumulative[-1], side="right")
        columns.append(np.minimum(draws, n_words - 1))
    places = (np.concatenate(rows), np.concatenate(columns))
    documents = csr_array(coo_array((np.ones(places[0].size), places), shape=(n_documents, n_words)))
    documents.sum_duplicates()
    return documents


def as_rows(documents: csr_array) -> Rows:
    """Return the documents as the engine reads them."""
    n_rows = documents.shape[0]
    indptr, columns = documents.indptr.astype(np.int64), documents.indices.astype(np.int32)
    return Rows(indptr, columns, documents.data, np.full(n_rows, -1), np.ones(n_rows))


def cpu_seconds(function: Callable[[], object]) -> float:
    """Return the processor's seconds of one call in this thread."""
    start = time.thread_time()
    function()
    return time.thread_time() - start


def clock_seconds(function: Callable[[], object]) -> float:
    """Return the seconds of one call by the clock."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def time_epochs(documents: csr_array, repeats: int) -> list[list[object]]:
    """Return the table's lines: products, then an early and a late epoch."""
    rows = as_rows(documents)
    ground = starts.Ground(rows, documents.shape[1], N_COMPONENTS, FAMILY, PRIOR)
    parameters = FAMILY.maximize(starts.at_random(ground, np.random.default_rng(0)), PRIOR)
    dense = np.random.default_rng(1).random((documents.shape[1], N_COMPONENTS))
    shares = np.full((documents.shape[0], N_COMPONENTS), 1.0 / N_COMPONENTS)
    transposed = documents.T

    def products() -> None:
        _ = documents @ dense
        _ = transposed @ shares

    few = rows.slice(0, 100)
    FAMILY.maximize(engine.summarize([few], parameters, n_threads=2), PRIOR)
    lines = []
    for stage in ("early", "late"):

        def epoch(n_threads: int = 1, parameters: Parameters = parameters) -> object:
            summed = engine.summarize([rows], parameters, n_threads=n_threads)
            return FAMILY.maximize(summed, PRIOR)

        ratios, own, theirs = [], [], []
        for _ in range(repeats):
            before, mine, after = cpu_seconds(products), cpu_seconds(epoch), cpu_seconds(products)
            own.append(mine)
            theirs += [before, after]
            ratios.append(2 * mine / (before + after))
        threads = [clock_seconds(lambda: epoch(1)) / clock_seconds(lambda: epoch(2)) for _ in range(repeats)]
        lines.append(
            [
                stage,
                f"{statistics.median(theirs):.2f}",
                f"{statistics.median(own):.2f}",
                f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
                f"{statistics.median(threads):.2f} ({min(threads):.2f} to {max(threads):.2f})",
            ]
        )
        print(lines[-1], flush=True)
        for _ in range(LATE_EPOCHS):
            parameters = FAMILY.maximize(engine.summarize([rows], parameters), PRIOR)
    return lines


def fit_documents(n_documents: int) -> tuple[float, float]:
    """Return the most memory that a fit of few epochs adds to its documents, and what (n, K) would take; bytes."""
    model = sparsemix.MultinomialMixture(N_COMPONENTS, init="random", max_iter=3, random_state=0)
    documents = make_documents(n_documents, N_WORDS, N_COMPONENTS, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(documents[:1000])
        machine.reset_peak()
        before = machine.current_bytes()
        model.set_params(init="k-means++").fit(documents)
    return float(machine.peak_bytes() - before), float(n_documents * N_COMPONENTS * 8)


def beside_stepmix(separation: float, seed: int) -> list[list[object]]:
    """Return lines with fits of one dense set: 10,000 x 100, 10 components, the same stopping rule and start."""
    from stepmix.stepmix import StepMix

    rng = np.random.default_rng(seed)
    log_odds = separation * rng.standard_normal((10, 100)) - 0.5 * rng.standard_normal(100)
    rows = (
        rng.random((10_000, 100)) < 1.0 / (1.0 + np.exp(-log_odds))[rng.integers(10, size=10_000)]
    ).astype(float)
    options = {"n_init": 1, "max_iter": 3000, "random_state": seed}
    own = options | {"smoothing": 0.0, "tol": STEPMIX_TOLERANCE, "init": "random"}
    models = {
        "StepMix": StepMix(10, measurement="binary", abs_tol=STEPMIX_TOLERANCE, progress_bar=0, **options),
        "sparsemix": sparsemix.BernoulliMixture(10, **own),
        "sparsemix, leaps": sparsemix.BernoulliMixture(10, accelerate=True, **own),
    }
    for leaps in (False, True):
        sparsemix.BernoulliMixture(2, init="random", accelerate=leaps, random_state=0).fit(rows[:100])
    lines, theirs = [], 0.0
    for name, model in models.items():
        seconds = cpu_seconds(lambda model=model: model.fit(rows))
        theirs = theirs or seconds
        ratio = None if name == "StepMix" else f"{theirs / seconds:.1f}"
        lines.append(
            [separation, seed, name, f"{seconds:.2f}", model.n_iter_, f"{model.score(rows):.7f}", ratio]
        )
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Parse the options, run the parts, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents, one repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--page", default="em_speed", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    n_documents = N_DOCUMENTS // 10 if options.quick else N_DOCUMENTS
    documents = make_documents(n_documents, N_WORDS, N_COMPONENTS, 0)
    lines = time_epochs(documents, 1 if options.quick else options.repeats)
    header = ("epoch", "products (s)", "epoch (s)", "epoch / products", "one thread / two, by the clock")
    added, dense = jobs.in_new_process(fit_documents, n_documents)
    memory = (
        f"Memory: a fit adds {added / machine.MEGABYTE:.0f} MB to its documents, of which parameters and statistics "
        f"take {3 * N_WORDS * N_COMPONENTS * 8 / machine.MEGABYTE:.0f} MB at the least; a single array of (documents, "
        f"components) would take {dense / machine.MEGABYTE:.0f} MB and grow with the documents."
    )
    sections = [
        f"{documents.nnz / n_documents:.0f} different words a document.",
        tables.markdown(header, lines),
    ]
    sections += [memory, NOTES]
    if find_spec("stepmix"):
        peers = [line for apart in (0.3, 0.6) for seed in range(3) for line in beside_stepmix(apart, seed)]
        peer_header = (
            "separation",
            "seed",
            "method",
            "CPU (s)",
            "epochs",
            "log likelihood a row",
            "times faster",
        )
        sections += [
            "Beside StepMix, 10,000 x 100 dense zeros and ones, 10 components, one random start, both until an epoch "
            "raises the mean log likelihood by less than 1e-10, StepMix's default, without smoothing. Separation is "
            "the standard deviation of the log odds between components: at 0.3 they overlap much.",
            tables.markdown(peer_header, peers),
        ]
    else:
        sections.append("StepMix is not installed, so there is no comparison with it.")
    page = tables.write_page(options.page, "EM: time and memory of an epoch", machine.describe(), sections)
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
