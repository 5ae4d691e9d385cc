"""The online learner in parallel: threads that share a stream, and children whose differences add up.

Run ``python benchmarks/online_threads.py`` on a machine that does nothing else; it writes
``benchmarks/results/online_threads.md``. ``--quick`` does a tenth of the ads once.
"""

import argparse
import statistics
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import sparsemix
from harness import machine, tables
from sparsemix.data.synthetic import make_ads
from sparsemix.models.online_profiles import checks, deltas, scoring_kernels
from sparsemix.numeric.threads import equal_parts, thread_runner
from sparsemix.persistence import state_hash

N_COMPONENTS = 100
HELD_OUT = 0.05
THREADS_HEADER = (
    "threads",
    "streaming (s)",
    "times faster",
    "bare scoring, times faster",
    "ARI",
    "NMI",
    "log density",
)
CHILDREN_HEADER = (
    "children",
    "joins",
    "message (MB), median",
    "damped pseudo-counts",
    "ARI",
    "NMI",
    "log density",
)
NOTES = """Streaming is what follows the priming, by the clock, the checking of the rows included; the best of the
runs, which take turns. "Bare scoring" is the gain of as many threads that score the same rows with one fixed
index and do nothing else, measured between the runs: more is not to be had on this machine at that moment. The
state of the model must be the same to the bit for any number of threads, or the benchmark stops. Children are run
one after the other; each begins with the posterior of the join and learns an equal share of the rows until the
next. ARI and NMI are over the ads that are no clutter; log density is the mean over ads set aside, nats."""


@dataclass(frozen=True)
class Ads:
    """Ads to learn and to set aside, with the trades of all."""

    learnt: csr_array
    trades: np.ndarray
    held_out: csr_array

    @classmethod
    def made(cls, n_ads: int, n_keywords: int, seed: int) -> "Ads":
        """Make ads up and set the last of them aside."""
        rows, trades = make_ads(n_ads, n_keywords, N_COMPONENTS, random_state=seed)
        n_learnt = round(n_ads * (1 - HELD_OUT))
        return cls(rows[:n_learnt], trades[:n_learnt], rows[n_learnt:])

    def quality(self, model: sparsemix.OnlineBernoulliMixture) -> list[str]:
        """Return ARI, NMI and the log density of the ads set aside, as a table has them."""
        kept = self.trades >= 0
        found = model.predict(self.learnt)[kept]
        scores = (
            adjusted_rand_score(self.trades[kept], found),
            normalized_mutual_info_score(self.trades[kept], found),
            model.score(self.held_out),
        )
        return [f"{score:.4f}" for score in scores]


def primed(ads: Ads, n_jobs: int | None = None) -> tuple[sparsemix.OnlineBernoulliMixture, csr_array]:
    """Return a model at the begin of its stream, and the rows that follow."""
    model = sparsemix.OnlineBernoulliMixture(N_COMPONENTS, random_state=0, n_jobs=n_jobs)
    n_first = min(checks.resolve(model, 0).priming_rows, ads.learnt.shape[0] // 2)
    return model.partial_fit(ads.learnt[:n_first]).prime(), ads.learnt[n_first:]


def measure_threads(ads: Ads, numbers: list[int], n_turns: int) -> list[list[object]]:
    """Return a line for each number of threads; they take turns."""
    streaming: dict[int, list[float]] = {n: [] for n in numbers}
    bare: dict[int, list[float]] = {n: [] for n in numbers}
    quality: dict[int, list[str]] = {}
    states = set()
    for _ in range(n_turns):
        for n in numbers:
            model, rest = primed(ads, n)
            bare[n].append(score_bare(model, rest, n))
            started = time.perf_counter()
            model.partial_fit(rest)
            streaming[n].append(time.perf_counter() - started)
            print(
                f"{n} threads: streaming {streaming[n][-1]:.2f} s, bare scoring {bare[n][-1]:.2f} s",
                flush=True,
            )
            if n not in quality:
                states.add(state_hash(model.set_params(n_jobs=None).prime().to_payload()))
                quality[n] = ads.quality(model)
    if len(states) != 1:
        raise SystemExit("The number of threads has changed the model.")
    one = numbers[0]
    return [
        [
            n,
            f"{min(streaming[n]):.2f}",
            gain(streaming[one], streaming[n]),
            gain(bare[one], bare[n]),
            *quality[n],
        ]
        for n in numbers
    ]


def gain(one: list[float], several: list[float]) -> str:
    """Return how many times faster the best run of several threads is, as a table has it."""
    return f"{min(one) / min(several):.2f}"


def score_bare(model: sparsemix.OnlineBernoulliMixture, rows: csr_array, n_threads: int) -> float:
    """Return the seconds in which threads score rows with the index as it stands."""
    index = model._learner.stream.index
    work = np.empty((n_threads, index.base.size))
    indptr, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    labels, density = np.full(rows.shape[0], -1), np.empty(rows.shape[0])
    rival, nobody = np.full(rows.shape[0], -np.inf), np.empty(0, np.int64)
    parts = equal_parts(np.diff(indptr) + 1.0, n_threads)
    lists = [(np.empty(8 * rows.shape[0], np.int64), np.empty(8 * rows.shape[0], np.int32)) for _ in parts]
    shares = [np.empty(8 * rows.shape[0]) for _ in parts]

    def score(part: tuple[int, int]) -> None:
        place = parts.index(part)
        scoring_kernels.find_learners(
            indptr, columns, labels[: part[1]], part[0], index, 1e-3, work[place], rival, density,
            *lists[place], shares[place], nobody,
        )  # fmt: skip

    with thread_runner(n_threads) as run:
        started = time.perf_counter()
        run(score, parts)
        return time.perf_counter() - started


def measure_children(ads: Ads, n_children: int) -> list[object]:
    """Return the line of a model that so many children have learnt."""
    model, rest = primed(ads)
    learner = model._learner
    block = learner.blocks(model._rows(rest))
    sizes, n_joins, n_damped = [], 0, 0
    for rows in block:
        left = [(0, rows.n_rows)]
        while left:
            start = learner.begin_round(n_children)
            shares, left = shared(left, deltas.rows_until_join(start), n_children)
            messages = []
            for first, last in shares:
                part, unknown = rows.slice(first, last), np.full(last - first, -1)
                messages.append(deltas.child(start, part, unknown, start.n_features, learner.settings))
            n_damped += learner.join(messages)
            undone = [
                (a + m.n_rows, b) for (a, b), m in zip(shares, messages, strict=True) if a + m.n_rows < b
            ]
            left, n_joins = undone + left, n_joins + 1
            sizes += [message.n_bytes for message in messages]
    model.prime()
    line = [n_children, n_joins, f"{statistics.median(sizes) / machine.MEGABYTE:.2f}", n_damped]
    print(*line, flush=True)
    return [*line, *ads.quality(model)]


def shared(
    left: list[tuple[int, int]], most: int, n_children: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Cut the first `most` rows into a share for each child; return the shares and the rows that are left."""
    (first, last), *others = left
    end = min(last, first + most)
    bounds = np.linspace(first, end, n_children + 1).astype(int).tolist()
    shares = list(pairwise(bounds))
    return shares, ([(end, last)] if end < last else []) + others


def main() -> None:
    """Parse the options, measure, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--threads", nargs="+", type=int, default=[1, 2, 4], help="the first one is the measure"
    )
    parser.add_argument("--children", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the ads, one turn")
    parser.add_argument("--page", default="online_threads", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    share, turns = (10, 1) if options.quick else (1, options.turns)
    wide, narrow = Ads.made(1_300_000 // share, 73_000, 0), Ads.made(207_000 // share, 2_000, 0)
    loads = [machine.load()]
    threads = measure_threads(wide, options.threads, turns)
    children = [measure_children(narrow, n) for n in options.children]
    loads.append(machine.load())
    page = tables.write_page(
        options.page,
        "The online learner in parallel",
        machine.describe(),
        [
            f"Threads: {wide.learnt.shape[0]:,} ads x 73,000 keywords, {N_COMPONENTS} trades.",
            tables.markdown(THREADS_HEADER, threads),
            f"Children of a join: {narrow.learnt.shape[0]:,} ads x 2,000 keywords, {N_COMPONENTS} trades.",
            tables.markdown(CHILDREN_HEADER, children),
            f"The load average was {min(loads):.1f} to {max(loads):.1f}.",
            NOTES,
        ],
    )
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
