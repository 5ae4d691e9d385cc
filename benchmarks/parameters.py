"""What each parameter of the online mixture changes: quality, size of the model and time on made-up ads.

Run ``python benchmarks/parameters.py``; it takes about two minutes and writes ``benchmarks/results/parameters.md``,
which the page on choosing parameters shows.
"""

import argparse
from typing import Any

import numpy as np

import sparsemix
from harness import machine, tables
from sparsemix.data.synthetic import make_ads
from sparsemix.metrics import adjusted_rand

N_LEARNT, N_UNSEEN, N_KEYWORDS, N_CLUSTERS = 50_000, 10_000, 1_000, 30
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
NOTES = f"""{N_LEARNT:,} made-up ads of {N_KEYWORDS:,} keywords in {N_CLUSTERS} clusters with 5 % clutter (`make_ads`,
seed 1) are learnt, {N_UNSEEN:,} further ones scored. The first line has `n_components={N_CLUSTERS}` and the defaults,
each other line one change. ARI is over unseen ads that are not clutter; nats are the mean log probability of an unseen
ad; keywords with a Beta of their own are counted over all clusters."""


def measure(change: dict[str, Any]) -> tuple[object, ...]:
    """One line of the table."""
    ads, clusters = make_ads(N_LEARNT + N_UNSEEN, N_KEYWORDS, N_CLUSTERS, random_state=1)
    parameters = {"n_components": N_CLUSTERS, "random_state": 0} | change
    model = sparsemix.OnlineBernoulliMixture(**parameters).fit(ads[:N_LEARNT])
    unseen, known = ads[N_LEARNT:], clusters[N_LEARNT:]
    told = known >= 0
    return (
        ", ".join(f"`{name}={value}`" for name, value in change.items()) or "none",
        f"{adjusted_rand(known[told], model.predict(unseen)[told]):.3f}",
        f"{model.score(unseen):.2f}",
        int(np.count_nonzero(model.component_ids_ >= 0)),
        f"{model.credible_interval()[0].nnz:,}",
        f"{model.timings_['priming']:.1f}",
        f"{model.timings_['streaming']:.2f}",
    )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", default="parameters", help="Name of the page in results/.")
    page = parser.parse_args().page
    machine.use_one_thread()
    measure({})  # compiles
    rows = [measure(change) for change in CHANGES]
    sections = [NOTES, tables.markdown(HEADER, rows)]
    print(tables.write_page(page, "What the parameters change", machine.describe(), sections))


if __name__ == "__main__":
    main()
