"""Sampling of very many clusters: what a document costs, and how soon samplers come equally near to the truth.

Run ``python benchmarks/hashed_gibbs.py``; it writes ``benchmarks/results/hashed_gibbs.md``. ``--only`` does one part,
``--quick`` all of them on smaller tables.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.sparse import csr_array

import sparsemix
from harness import jobs, machine, realdata, tables
from harness.gibbs_samplers import Dense, Did, Ours, Run, Sampler, run
from sparsemix.metrics import normalized_mutual_information, variation_of_information
from sparsemix.models.hashed_gibbs.engine import SMALL
from sparsemix.reproduction.fastex_chains import seconds_to
from sparsemix.reproduction.texts import OWN_SHARE, clustered_texts

N_TEXTS, N_WORDS = 100_000, 50_000
CLUSTERS = (100, 1_000, 10_000)
BITS = (8, 16, 32, 64, 128, 256, 512)
SHARE_ASTRAY = 0.2
OVERLAP = ((0.5, N_WORDS), (0.2, N_WORDS), (0.5, 1_000))  # share of own words, different words
OVERLAP_TEXTS, OVERLAP_BITS = 20_000, (128, 512)
EQUALS = ("cached collapsed", "sparsemix, exact", "sparsemix, index")
NEAR = 1.05  # times the VI that each of these came to, and 0.01 nats: "equal"
REAL = {
    "clinc150": realdata.questions,
    "News-T": realdata.news_titles,
    "TS": realdata.news_texts,
    "IMDB": realdata.film_plots,
}
HASH_HEADER = (
    "K",
    "bits",
    "proposal (us)",
    "in all (us)",
    "other clusters proposed",
    "accepted",
    "brought home",
)
COST_HEADER = (
    "K",
    "sampler",
    "a document (us)",
    "cached / this",
    "moves a second",
    "brought home",
    "in the next sweep (us)",
    "cached / this",
)
SHARDS = (1, 2, 8, 64)
SHARD_HEADER = (
    "K",
    "shards",
    "threads",
    "clock of a sweep (s)",
    "one / this",
    "log joint a document, sweep 5",
    "sweep 10",
    "sweep 20",
    "VI, sweep 5",
    "sweep 10",
    "sweep 20",
)
OVERLAP_HEADER = (
    "words",
    "own words",
    "K",
    "sampler",
    "a document (us)",
    "other clusters proposed",
    "accepted",
    "moves a second",
    "brought home",
    "home a second",
)
VI_HEADER = (
    "data",
    "K",
    "sampler",
    "VI at the end",
    "NMI at the end",
    "CPU in all (s)",
    "CPU to equal VI (s)",
    "cached / this",
    "plain / this",
)
LARGE_HEADER = (
    "non-zeros",
    "clock (s)",
    "CPU (s)",
    "a document and sweep (us)",
    "input (MB)",
    "peak above input (MB)",
    "VI",
    "NMI",
)
HASH_NOTES = """From the true clusters, but a fifth of the documents in any cluster; one sweep. "Proposal" draws a
cluster for each document from the signatures and does nothing with it; "in all" has the exact ratio and the moves.
"Accepted" is the share of the proposals of another cluster that were; "brought home" the share of the documents
astray that the sweep put into their true cluster: a proposal that is always rejected is worth nothing."""
COST_NOTES = """CPU microseconds of one sweep, one thread, from the same start. Plain samplers evaluate each cluster
by its formula (collapsed: measured on a part of the documents) or draw weights and profiles (uncollapsed). The
cached one is the strongest dense sampler that we could write: tables of logarithms in single precision, word by
word, sums of contiguous rows. "Exact" looks at every cluster too, by products of what the document's words say in the
clusters that hold them. A fifth of the documents start astray; in the next sweep few are left that move."""
SHARD_NOTES = """Every document in any cluster at the start, proposals from the index. Seconds are by the clock, the
median of the last ten sweeps. Log joints are less that of the truth, in nats; VI to the truth, in nats. One shard is
exact; the others visit rows side by side that do not see each other's moves until 50,000 have been visited."""
VI_NOTES = f"""CPU seconds of one thread until the variation of information to the truth, in nats, is at most
{NEAR:g} times what the cached, exact and index samplers all came to, and 0.01 nats; all start with every document in
any cluster, but for the last line, the default start of the library. Plain collapsed sampling has the same law as
cached sampling, so it ends where that does, and its time is the same number of sweeps at its own pace, measured on a
part of the documents. Start included, compilation excluded. K is the number of labels of real sets; of films (IMDB)
the label is the first of about two genres, which no clustering comes near to: "at the
start" says that a random start is no farther from the truth, so that there is no time to compare."""
OVERLAP_NOTES = """Documents of 100 words out of so many; "own words" is the share of a document's words that its
cluster alone favours, the others are those of any document. From the true clusters, but a fifth of the documents in any
cluster; one sweep, which is rarely enough to bring home what is not looked at. "Moves a second" are accepted proposals
of another cluster by CPU second; "home a second" counts the documents astray that ended in their true cluster."""
LARGE_NOTES = """One fit of `HashedGibbsMixture` with defaults and {n_sweeps} sweeps in a fresh process: texts of 10
words, 20,000 different ones. The peak is what the fit held beyond its input."""


def texts(
    n_texts: int, n_clusters: int, own_share: float = OWN_SHARE, n_words: int = N_WORDS
) -> tuple[csr_array, np.ndarray]:
    """Return made-up texts with 32-bit entries."""
    rows, truth = clustered_texts(n_texts, n_words, n_clusters, length=100, seed=0, own_share=own_share)
    return whole_numbers(rows), truth


def whole_numbers(rows: csr_array) -> csr_array:
    """Return the rows as all samplers here read them."""
    rows.sum_duplicates()
    parts = (rows.data.astype(np.int32), rows.indices.astype(np.int32), rows.indptr.astype(np.int64))
    return csr_array(parts, shape=rows.shape)


def astray(truth: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the truth, but a fifth of the rows in any cluster."""
    rng = np.random.default_rng(1)
    return np.where(rng.random(truth.size) < SHARE_ASTRAY, rng.integers(0, n_clusters, truth.size), truth)


def brought_home(
    sampler: Sampler, start: np.ndarray, truth: np.ndarray, n_rows: int | None = None
) -> tuple[Did, float]:
    """Return what one sweep did, and the share of the rows astray that is home after it, NaN unless it saw all rows."""
    did = sampler.sweep(n_rows)
    if n_rows is not None:
        return did, np.nan
    were = start != truth
    return did, float(np.mean(sampler.assigned[were] == truth[were]))


def compile_all(rows: csr_array, truth: np.ndarray) -> None:
    """Let every sampler compile."""
    few, start = whole_numbers(rows[:200]), truth[:200] % 5
    for make in samplers(few, 5, start).values():
        make().sweep()
    Ours(few, 5, start, kind="hash", n_bits=64).proposal_microseconds()
    Ours(few, 5, None, kind="index", at_random=0.0, leads=True)


def samplers(rows: csr_array, n_clusters: int, start: np.ndarray | None) -> dict[str, Callable[[], Sampler]]:
    """Return what makes each sampler, by name."""
    ours, dense = partial(Ours, rows, n_clusters, start), partial(Dense, rows, n_clusters, start)
    return {
        "plain collapsed": partial(dense, is_cached=False),
        "plain uncollapsed": partial(ours, kind="uncollapsed"),
        "cached collapsed": partial(dense, is_cached=True),
        "sparsemix, exact": partial(ours, kind="exact"),
        "sparsemix, index": partial(ours, kind="index"),
        "sparsemix, hash, 128 bits": partial(ours, kind="hash", n_bits=128),
    }


def hash_part(n_texts: int, clusters: Sequence[int]) -> list[str]:
    """Return the sections on proposals from signatures."""
    lines = []
    for n_clusters in clusters:
        rows, truth = texts(n_texts, n_clusters)
        compile_all(rows, truth)
        start = astray(truth, n_clusters)
        for n_bits in BITS:
            sampler = Ours(rows, n_clusters, start, kind="hash", n_bits=n_bits)
            alone = sampler.proposal_microseconds()
            did, home = brought_home(sampler, start, truth)
            lines.append(
                [
                    f"{n_clusters:,}",
                    n_bits,
                    f"{alone:.0f}",
                    f"{did.microseconds:.0f}",
                    f"{did.n_proposed / did.n_rows:.1%}",
                    f"{did.acceptance:.1%}",
                    f"{home:.1%}",
                ]
            )
            print(lines[-1], flush=True)
    return ["## Proposals from signatures", tables.markdown(HASH_HEADER, lines), HASH_NOTES]


def cost_part(n_texts: int, clusters: Sequence[int]) -> list[str]:
    """Return the sections on what a document costs."""
    lines = []
    for n_clusters in clusters:
        rows, truth = texts(n_texts, n_clusters)
        compile_all(rows, truth)
        start = astray(truth, n_clusters)
        found, later = {}, {}
        for name, make in samplers(rows, n_clusters, start).items():
            n_rows, sampler = (
                min(n_texts, 200_000 // n_clusters) if name == "plain collapsed" else None,
                make(),
            )
            found[name] = brought_home(sampler, start, truth, n_rows)
            later[name] = sampler.sweep(n_rows).microseconds
            print(n_clusters, name, f"{found[name][0].microseconds:.1f} us", flush=True)
        cached = found["cached collapsed"][0].microseconds
        for name, (did, home) in found.items():
            ratio = cached / did.microseconds
            lines.append(
                [
                    f"{n_clusters:,}",
                    name,
                    f"{did.microseconds:.1f}",
                    f"{ratio:.2f}",
                    f"{did.moves_per_second:,.0f}",
                    None if np.isnan(home) else f"{home:.1%}",
                    f"{later[name]:.1f}",
                    f"{later['cached collapsed'] / later[name]:.2f}",
                ]
            )
    return ["## What a document costs", tables.markdown(COST_HEADER, lines), COST_NOTES]


def shards_part(n_texts: int, clusters: Sequence[int]) -> list[str]:
    """Return the sections on shards of one chain."""
    lines = []
    for n_clusters in clusters:
        rows, truth = texts(n_texts, n_clusters)
        compile_all(rows, truth)
        best = Ours(rows, n_clusters, truth, kind="index").chain.log_joint()
        alone = 0.0
        for n_shards in SHARDS:
            n_threads = min(2, n_shards)
            sampler = Ours(rows, n_clusters, None, kind="index", n_shards=n_shards, n_threads=n_threads)
            seconds, joints, distances = [], [], []
            for sweep in range(1, 21):
                began = time.perf_counter()
                sampler.sweep()
                seconds.append(time.perf_counter() - began)
                if sweep in {5, 10, 20}:
                    joints.append(f"{(sampler.chain.log_joint() - best) / n_texts:.3f}")
                    distances.append(f"{variation_of_information(truth, sampler.assigned):.3f}")
            clock = float(np.median(seconds[10:]))
            alone = alone or clock
            line = [f"{n_clusters:,}", n_shards, n_threads, f"{clock:.2f}", f"{alone / clock:.2f}"]
            lines.append([*line, *joints, *distances])
            print(lines[-1], flush=True)
    return ["## One chain in shards", tables.markdown(SHARD_HEADER, lines), SHARD_NOTES]


def overlap_part(n_texts: int, clusters: Sequence[int]) -> list[str]:
    """Return the sections on where signatures fall behind: documents that share most of their words."""
    lines = []
    for own_share, n_words in OVERLAP:
        for n_clusters in clusters:
            rows, truth = texts(n_texts, n_clusters, own_share, n_words)
            compile_all(rows, truth)
            start = astray(truth, n_clusters)
            ours = partial(Ours, rows, n_clusters, start)
            made = {kind: partial(ours, kind=kind) for kind in ("exact", "index")}
            made |= {f"hash, {n} bits": partial(ours, kind="hash", n_bits=n) for n in OVERLAP_BITS}
            for name, make in made.items():
                did, home = brought_home(make(), start, truth)
                n_astray = int((start != truth).sum())
                line = [
                    f"{n_words:,}",
                    f"{own_share:.0%}",
                    f"{n_clusters:,}",
                    name,
                    f"{did.microseconds:.0f}",
                ]
                line += [f"{did.n_proposed / did.n_rows:.1%}", f"{did.acceptance:.1%}"]
                line += [
                    f"{did.moves_per_second:,.0f}",
                    f"{home:.1%}",
                    f"{home * n_astray / did.seconds:,.0f}",
                ]
                lines.append(line)
                print(line, flush=True)
    heading = "## Where signatures fall behind"
    return [heading, tables.markdown(OVERLAP_HEADER, lines), OVERLAP_NOTES]


def vi_part(n_texts: int, clusters: Sequence[int], seconds: float) -> list[str]:
    """Return the sections on the time to equal VI."""
    lines = []
    for n_clusters in clusters:
        lines += race("made-up", *texts(n_texts, n_clusters), n_clusters, seconds)
    for name, read in REAL.items():
        try:
            data = read()
        except FileNotFoundError as error:
            print(f"{name} left out: {error}", flush=True)
            continue
        lines += race(name, whole_numbers(data.rows), data.labels, data.n_classes, seconds)
    return ["## Time to equal VI", tables.markdown(VI_HEADER, lines), VI_NOTES]


def race(
    name: str, rows: csr_array, truth: np.ndarray, n_clusters: int, seconds: float
) -> list[list[object]]:
    """Return a line for each sampler: how near it comes to the truth, and how soon it is where the best three are."""
    compile_all(rows, np.unique(truth, return_inverse=True)[1])
    made = samplers(rows, n_clusters, None)
    made["sparsemix, default start"] = partial(
        Ours,
        rows,
        n_clusters,
        None,
        kind="exact" if n_clusters <= SMALL else "index",
        at_random=0.0,
        leads=True,
    )
    del made["plain collapsed"]
    found: dict[str, Run] = {}
    for one, make in made.items():
        found[one] = run(make, truth, seconds, most_sweeps=60)
        end = found[one].points[-1]
        print(name, n_clusters, one, f"VI {end.vi:.3f}, {end.seconds:.1f} s", flush=True)
    goal = NEAR * max(min(point.vi for point in found[one].points) for one in EQUALS) + 0.01
    cached = found["cached collapsed"]
    n_sweeps = next(n for n, point in enumerate(cached.points) if point.vi <= goal)
    plain = Dense(rows, n_clusters, None, is_cached=False)
    did = plain.sweep(min(rows.shape[0], 200_000 // n_clusters))
    plain_sweep = did.seconds * rows.shape[0] / did.n_rows
    times = (
        seconds_to(goal, cached.points) if n_sweeps else None,
        plain.seconds_to_start + n_sweeps * plain_sweep,
    )
    in_all = plain.seconds_to_start + (len(cached.points) - 1) * plain_sweep
    ends = (cached.points[-1].vi, cached.nmi, in_all)
    lines = [vi_line(name, n_clusters, "plain collapsed", ends, times[1], times)]
    for one, own in found.items():
        ends = (own.points[-1].vi, own.nmi, own.points[-1].seconds)
        lines.append(vi_line(name, n_clusters, one, ends, seconds_to(goal, own.points), times))
    return lines


def vi_line(
    name: str,
    n_clusters: int,
    sampler: str,
    ends: tuple[float, float, float],
    seconds: float | None,
    times: tuple[float | None, float],
) -> list[object]:
    """Return a line of the table: VI, NMI and CPU seconds at the end, those to equal VI, and those of the peers.

    The first of the peers' `times` is None where the start is as near to the truth already.
    """
    vi, nmi, in_all = ends
    ratios = [None if not seconds or not other else f"{other / seconds:.1f}" for other in times]
    if times[0] is None:
        return [
            name,
            f"{n_clusters:,}",
            sampler,
            f"{vi:.3f}",
            f"{nmi:.3f}",
            f"{in_all:.1f}",
            "at the start",
            None,
            None,
        ]
    reached = "not reached" if seconds is None else f"{seconds:.1f}"
    return [name, f"{n_clusters:,}", sampler, f"{vi:.3f}", f"{nmi:.3f}", f"{in_all:.1f}", reached, *ratios]


def large_part(n_texts: int, n_clusters: int, n_sweeps: int) -> list[str]:
    """Return the sections on one large fit."""
    line = jobs.in_new_process(large_fit, n_texts, n_clusters, n_sweeps)
    return [
        f"## {n_texts:,} short texts, K = {n_clusters:,}",
        tables.markdown(LARGE_HEADER, [line]),
        LARGE_NOTES.format(n_sweeps=n_sweeps),
    ]


def large_fit(n_texts: int, n_clusters: int, n_sweeps: int) -> list[str]:
    """Fit the public class with its defaults to short texts; return a table line."""
    rows, truth = clustered_texts(n_texts, 20_000, n_clusters, length=10, seed=0)
    rows = whole_numbers(rows)
    new = partial(
        sparsemix.HashedGibbsMixture, n_sweeps=n_sweeps, burn_in=n_sweeps - 1, thin=1, random_state=0
    )
    new(SMALL + 1).fit(rows[:2_000])
    machine.reset_peak()
    before, watch = machine.current_bytes(), machine.Stopwatch()
    model = new(n_clusters).fit(rows)
    clock, cpu = watch.read()
    peak = machine.peak_bytes() - before
    return [
        f"{rows.nnz:,}",
        f"{clock:.0f}",
        f"{cpu:.0f}",
        f"{1e6 * cpu / n_texts / n_sweeps:.1f}",
        f"{(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes) / machine.MEGABYTE:.0f}",
        f"{peak / machine.MEGABYTE:.0f}",
        f"{variation_of_information(truth, model.labels_):.3f}",
        f"{normalized_mutual_information(truth, model.labels_):.3f}",
    ]


def main() -> None:
    """Parse the options, run the parts, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", choices=["hash", "cost", "shards", "overlap", "vi", "large"], help="one part instead of all"
    )
    parser.add_argument("--clusters", type=int, nargs="+", default=CLUSTERS, help="numbers of clusters")
    parser.add_argument("--seconds", type=float, default=300.0, help="CPU seconds of a chain, at most")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the texts, K = 100 alone")
    parser.add_argument("--page", default="hashed_gibbs", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    scale, clusters = (20, [100]) if options.quick else (1, options.clusters)
    parts = {
        "hash": lambda: hash_part(N_TEXTS // scale, clusters),
        "cost": lambda: cost_part(N_TEXTS // scale, clusters),
        "shards": lambda: shards_part(N_TEXTS // scale, clusters[:2]),
        "overlap": lambda: overlap_part(OVERLAP_TEXTS // scale, clusters[:2]),
        "vi": lambda: vi_part(N_TEXTS // scale, clusters, options.seconds / scale),
        "large": lambda: large_part(1_000_000 // scale, 5_000 // scale, n_sweeps=20),
    }
    sections = []
    for name, part in parts.items():
        if options.only in {None, name}:
            sections += part()
    sections.append(f"The load average at the end was {machine.load():.1f}.")
    page = tables.write_page(options.page, "Sampling of very many clusters", machine.describe(), sections)
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
