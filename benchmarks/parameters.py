"""What each parameter of the online mixture changes: quality, size of the model and time on made-up ads.

Run ``python benchmarks/parameters.py``; it writes ``benchmarks/results/parameters.md``.
"""

import argparse
import statistics
from typing import Any

import numpy as np

import sparsemix
from harness import jobs, machine, tables
from sparsemix.data.synthetic import make_ads
from sparsemix.metrics import adjusted_rand

N_LEARNT, N_UNSEEN, N_KEYWORDS, N_CLUSTERS = 50_000, 10_000, 1_000, 30
PRIMING_ROWS = 10_000  # what "auto" is for so few clusters
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"n_components": 15},
    {"n_components": 60},
    {"priming_rows": 1_000},
    {"priming_rows": 30_000},
    {"clutter": True},
    {"cull_threshold": 0.0},
    {"cull_threshold": 0.01},
    {"cull_threshold": 0.05},
    {"staleness": 0.3},
    {"staleness": 0.01},
    {"staleness": 0.001},
    {"min_responsibility": 0.0},
    {"prior_strength": 2.0},
    {"prior_strength": 1_000.0},
    {"weight_concentration": 100.0},
)
HEADER = (
    "change", "ARI", "nats an unseen ad", "clusters", "keywords with a Beta", "priming (s)", "streaming (s)",
)  # fmt: skip
FORMATS = ("{:.3f}", "{:.2f}", "{:.0f}", "{:,.0f}", "{:.2f}", "{:.2f}")
NOTES = f"""{N_LEARNT:,} made-up ads of {N_KEYWORDS:,} keywords in {N_CLUSTERS} clusters with 5 % clutter (`make_ads`)
are learnt, {N_UNSEEN:,} further ones scored. The first line has `n_components={N_CLUSTERS}` and the defaults, each
other line one change. Figures are medians over tables, the seed of the table being that of the model; the range of
the ARI is in brackets. ARI is over unseen ads that are not clutter; nats are the mean log probability of an unseen
ad; keywords with a Beta of their own are counted over all clusters; seconds are of the processor, one thread."""


def measure(change: dict[str, Any], seed: int) -> tuple[float, ...]:
    """The figures of one table."""
    ads, clusters = make_ads(N_LEARNT + N_UNSEEN, N_KEYWORDS, N_CLUSTERS, random_state=seed)
    n_priming = change.get("priming_rows", PRIMING_ROWS)
    first, rest, unseen = ads[:n_priming], ads[n_priming:N_LEARNT], ads[N_LEARNT:]
    parameters = {"n_components": N_CLUSTERS, "random_state": seed} | change
    model = sparsemix.OnlineBernoulliMixture(**parameters)
    stopwatch = machine.Stopwatch()
    model.partial_fit(first).prime()
    _, priming = stopwatch.read()
    stopwatch = machine.Stopwatch()
    model.partial_fit(rest)
    _, streaming = stopwatch.read()
    known = clusters[N_LEARNT:]
    told = known >= 0
    return (
        adjusted_rand(known[told], model.predict(unseen)[told]),
        model.score(unseen),
        np.count_nonzero(model.component_ids_ >= 0),
        model.credible_interval()[0].nnz,
        priming,
        streaming,
    )


def line(change: dict[str, Any], n_seeds: int) -> list[str]:
    """One line of the table."""
    figures = list(zip(*(measure(change, seed) for seed in range(1, n_seeds + 1)), strict=True))
    cells = [form.format(statistics.median(own)) for form, own in zip(FORMATS, figures, strict=True)]
    if n_seeds > 1:
        cells[0] += f" ({min(figures[0]):.3f} to {max(figures[0]):.3f})"
    return [", ".join(f"`{name}={value}`" for name, value in change.items()) or "none", *cells]


def lines(n_seeds: int) -> list[list[str]]:
    """The table, line by line; each is printed when it is there."""
    measure({}, 1)  # compiles
    table = []
    for change in CHANGES:
        table.append(line(change, n_seeds))
        print(tables.markdown(HEADER, table[-1:]).splitlines()[-1], flush=True)
    return table


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", default="parameters", help="name of the page in benchmarks/results")
    parser.add_argument("--seeds", type=int, default=3, help="tables, the medians count")
    options = parser.parse_args()
    machine.use_one_thread()
    table = jobs.in_new_process(lines, options.seeds)
    sections = [NOTES, tables.markdown(HEADER, table)]
    print(tables.write_page(options.page, "What the parameters change", machine.describe(), sections))


if __name__ == "__main__":
    main()
