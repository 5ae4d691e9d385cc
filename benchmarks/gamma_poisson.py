"""Gamma-Poisson factors: a sweep beside two bare passes and scikit-learn, the way to an objective, and memory.

Run ``python benchmarks/gamma_poisson.py``; it writes ``benchmarks/results/gamma_poisson.md``. ``--quick`` takes a tenth
of the users. hpfrec and poismf are optional; the page says which were there.
"""

import argparse
import statistics
from functools import partial

import numpy as np

from harness import jobs, machine, tables
from harness.factor_cases import (
    bare_passes,
    cpu_of,
    fit_hpfrec,
    fit_poismf,
    is_there,
    log_likelihood_per_event,
    make_counts,
    prior_of,
    scikit_learn_sweep,
    split_events,
    table_of,
    timed_trace,
)
from sparsemix import GammaPoissonFactors
from sparsemix.models.gamma_poisson.learning import some_start

N_FEATURES, N_COMPONENTS, PER_USER = 3_000, 20, 33
GAPS = (0.1, 0.03, 0.01, 0.003, 0.001)
SWEEP_NOTES = """CPU seconds of one thread, medians (and range) of sweeps measured right after a pair of bare passes:
the products of the factors at all non-zeros, and the sums by feature. A sweep of EM splits all counts, sums by user and
by feature, and takes the logarithms of the objective; "multiplicative" needs two splits. Compilation is left out."""
WAY_NOTES = """CPU seconds until the objective is within so many nats an event of the best that any of them reached, all
from one random start; a dash where it was not reached in {n} sweeps. scikit-learn makes the same steps as
"multiplicative", so that its line is those sweeps times the seconds of its own."""
PEER_NOTES = """A fifth of the events was held out. Log likelihoods are in nats an event, without ln x!, at the multiple
of all rates that is best for each method; rates below 1e-12 count as that. hpfrec and poismf maximise other objectives,
so that both columns count. CPU seconds of one thread, reading the table included. poismf runs with its defaults."""


def spread(values: list[float], digits: int = 3) -> str:
    """Return the median and the range."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def sweep_part(counts, n_pairs: int) -> tuple[list[str], float]:
    """Return the section on one sweep, and the seconds of scikit-learn's."""
    table = table_of(counts)
    start = some_start(table, N_COMPONENTS, np.random.default_rng(0))
    bare = bare_passes(table, start)
    bare()
    lines = []
    for solver in ("ml", "map"):
        prior = prior_of(solver, N_COMPONENTS)
        for algorithm in ("em", "accelerated", "multiplicative"):
            timed_trace(table, start, prior, algorithm, 1)
            seconds, passes = [], []
            for _ in range(n_pairs):
                passes.append(cpu_of(bare))
                trace = timed_trace(table, start, prior, algorithm, 4)
                seconds.append((trace[3][0] - trace[0][0]) / 3)
            ratios = [one / other for one, other in zip(seconds, passes, strict=True)]
            lines.append([f"{solver}, {algorithm}", spread(seconds), spread(passes), spread(ratios, 2)])
            print(lines[-1], flush=True)
    peer = scikit_learn_sweep(counts, start, 3)
    own = statistics.median(cpu_of(bare) for _ in range(3))
    lines.append(["scikit-learn, KL-NMF", f"{peer:.3f}", f"{own:.3f}", f"{peer / own:.2f}"])
    header = ("sweep", "CPU of a sweep (s)", "CPU of the bare passes (s)", "sweep / passes")
    return ["## A sweep", tables.markdown(header, lines), SWEEP_NOTES], peer


def way_part(counts, peer_sweep: float, n_sweeps: int) -> list[str]:
    """Return the section on the way to an objective."""
    table = table_of(counts)
    start = some_start(table, N_COMPONENTS, np.random.default_rng(0))
    sections = ["## The way to an objective"]
    for solver in ("ml", "map"):
        prior = prior_of(solver, N_COMPONENTS)
        traces = {
            name: timed_trace(table, start, prior, name, n_sweeps)
            for name in ("accelerated", "em", "multiplicative")
        }
        best = max(objective for trace in traces.values() for _, objective in trace)
        lines = [[name, *reached(trace, best, table.n_events)] for name, trace in traces.items()]
        if solver == "ml":
            peer = [
                (peer_sweep * (i + 1), objective) for i, (_, objective) in enumerate(traces["multiplicative"])
            ]
            lines.append(["scikit-learn, KL-NMF", *reached(peer, best, table.n_events)])
        print(tables.markdown((solver, *GAPS), lines), flush=True)
        sections.append(tables.markdown((solver, *(f"within {gap:g}" for gap in GAPS)), lines))
    return [*sections, WAY_NOTES.format(n=n_sweeps)]


def reached(trace: list[tuple], best: float, n_events: float) -> list[str | None]:
    """Return the seconds at which the trace comes within each gap of the best objective."""
    times = []
    for gap in GAPS:
        found = [seconds for seconds, objective in trace if best - objective <= gap * n_events]
        times.append(f"{found[0]:.1f}" if found else None)
    return times


def peer_part(n_users: int, peer_sweeps: list[int]) -> list[str]:
    """Return the section on other libraries."""
    counts = make_counts(n_users, N_FEATURES, N_COMPONENTS, PER_USER, 0)
    train, test = split_events(counts, 0.2, 0)

    def own(solver: str):
        def fit():
            model = GammaPoissonFactors(N_COMPONENTS, solver=solver, random_state=0).fit(train)
            return model.user_factors_, model.feature_factors_.T

        return fit

    methods = {"sparsemix, ml": own("ml"), "sparsemix, map": own("map")}
    if is_there("hpfrec"):
        for n_sweeps in peer_sweeps:
            methods[f"hpfrec, {n_sweeps} sweeps"] = lambda n=n_sweeps: fit_hpfrec(train, N_COMPONENTS, n)
    if is_there("poismf"):
        methods["poismf"] = lambda: fit_poismf(train, N_COMPONENTS)
    lines = []
    for name, fit in methods.items():
        watch = machine.Stopwatch()
        users, features = fit()
        seconds = watch.read()[1]
        scores = [f"{log_likelihood_per_event(part, users, features):.4f}" for part in (train, test)]
        lines.append([name, f"{seconds:.1f}", *scores])
        print(lines[-1], flush=True)
    missing = [name for name in ("hpfrec", "poismf") if not is_there(name)]
    said = f" Not installed, and so left out: {', '.join(missing)}." if missing else ""
    header = ("method", "CPU (s)", "log likelihood, learnt events", "log likelihood, held-out events")
    return [f"## Other libraries, {n_users:,} users", tables.markdown(header, lines), PEER_NOTES + said]


def memory_of_fit(n_users: int, solver: str, *, on_disk: bool = False) -> tuple[float, float]:
    """Return megabytes of the input, and the peak of a fit of three sweeps above what was held before."""
    few = make_counts(200, 50, 3, 10, 0)
    options = {"max_iter": 4, "n_sweeps": 3, "burn_in": 2, "tol": 0.0, "random_state": 0}
    options["users_on_disk"] = on_disk
    import warnings

    warnings.simplefilter("ignore")
    GammaPoissonFactors(3, solver=solver, **options).fit(few)
    counts = make_counts(n_users, N_FEATURES, N_COMPONENTS, PER_USER, 0)
    machine.reset_peak()
    before = machine.current_bytes()
    GammaPoissonFactors(N_COMPONENTS, solver=solver, **options).fit(counts)
    size = counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes
    return size / machine.MEGABYTE, (machine.peak_bytes() - before) / machine.MEGABYTE


def memory_part(n_users: int) -> list[str]:
    """Return the section on memory."""
    lines = []
    for name in ("map", "map, users on disk", "gibbs"):
        fit = partial(memory_of_fit, on_disk=name.endswith("disk"))
        size, peak = jobs.in_new_process(fit, n_users, name.partition(",")[0])
        lines.append([name, f"{size:.0f}", f"{peak:.0f}", f"{peak / size:.1f}"])
    factors = (n_users + N_FEATURES) * N_COMPONENTS * 8 / machine.MEGABYTE
    header = ("solver", "input (MB)", "peak above input (MB)", "peak / input")
    note = (
        f"Both factors take {factors:.0f} MB. Fits in fresh processes; leaps hold the factors of four places."
    )
    return ["## Memory", tables.markdown(header, lines), note]


def main() -> None:
    """Parse the options, run the parts, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the users")
    parser.add_argument("--pairs", type=int, default=5, help="sweeps and bare passes in turn")
    parser.add_argument("--sweeps", type=int, default=200, help="sweeps on the way to an objective")
    parser.add_argument("--peer-sweeps", type=int, nargs="+", default=[20, 100], help="sweeps of hpfrec")
    parser.add_argument("--page", default="gamma_poisson", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    n_users = 10_000 if options.quick else 100_000
    counts = make_counts(n_users, N_FEATURES, N_COMPONENTS, PER_USER, 0)
    what = f"{n_users:,} users x {N_FEATURES:,} events, {counts.nnz:,} non-zeros, {counts.sum():,.0f} events, K = "
    sections, peer = sweep_part(counts, options.pairs)
    sections = [f"{what}{N_COMPONENTS}.", *sections, *way_part(counts, peer, options.sweeps)]
    sections += [
        *peer_part(10_000, options.peer_sweeps),
        *memory_part(n_users),
        f"The load average at the end was {machine.load():.1f}.",
    ]
    page = tables.write_page(options.page, "Gamma-Poisson factors", machine.describe(), sections)
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
