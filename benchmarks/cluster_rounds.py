"""What the online learner costs on a cluster: its parts measured, and rounds of a very large table worked out.

Run ``python benchmarks/cluster_rounds.py``; it writes ``benchmarks/results/cluster_rounds.md``. No cluster is needed:
children of a round learn one after the other in this process, as they would on workers. ``--quick`` takes smaller
tables.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from harness import ad_files, machine, tables
from harness.cluster_costs import BYTES_PER_ENTRY, Costs, changed_entries, most_workers, round_of
from sparsemix import OnlineBernoulliMixture, read_table
from sparsemix.data.inputs import as_binary_rows
from sparsemix.distributed.wire import n_bytes
from sparsemix.models.online_profiles import deltas

N_CHILDREN = 4
LINK = 1.25e9  # bytes a second: ten gigabit
TARGET = {"ads": 1_000_000_000, "keywords": 10_000_000, "clusters": 1_000}
MOST_ROWS = 200_000  # of a child in one round
WORKERS = (1, 10, 30, 100, 1_000)
NOTES = """Foreseen for {ads:,} ads, {keywords:,} keywords and {clusters:,} clusters, with links of {link:.2f} GB/s:
a worker reads and learns {speed:,.0f} rows a second, and adding an entry takes {nanoseconds:.0f} ns, as in the last
line above. A child learns {rows:,} rows in a round and changes as many entries a row as there, so that a message has
{megabytes:,.0f} MB; that is an upper bound, since more rows meet the same entries again. The posterior has twice as
many entries. A join takes as long as the learning before it with {workers:.0f} workers; "join" is the share of a
round in which workers wait for it. "Foreseen / measured" compares the entries that the posterior lets expect with
those of the messages; the foreseen ones count every keyword that is not explicit as equally probable."""


class Measured(NamedTuple):
    """Of one table and share.

    explicit : entries of the posterior; entries, expected : of a message, measured and foreseen.
    """

    clusters: int
    keywords: int
    rows: int
    rows_per_second: float
    explicit: int
    entries: float
    expected: float
    bytes_of_message: float
    bytes_of_posterior: int
    join_seconds: float


def draw(world: ad_files.AdWorld, n_ads: int, seed: int) -> sparse.csr_array:
    """Ads as a matrix."""
    _, indptr, columns = ad_files.draw_ads(world, n_ads, np.random.default_rng(seed))
    return sparse.csr_array((np.ones(columns.size), columns, indptr), shape=(n_ads, world.cumulative.size))


def measure(n_clusters: int, n_keywords: int, n_learnt: int, shares: Sequence[int]) -> list[Measured]:
    """Learn a table, then a round with each size of share."""
    world = ad_files.make_world(n_keywords, n_clusters, seed=0)
    model = OnlineBernoulliMixture(n_clusters, random_state=0)
    for seed in range(0, n_learnt, ad_files.ADS_PER_PIECE):
        model.partial_fit(draw(world, min(ad_files.ADS_PER_PIECE, n_learnt - seed), seed))
    return [one_round(model, world, share) for share in shares]


def one_round(model: OnlineBernoulliMixture, world: ad_files.AdWorld, share: int) -> Measured:
    """One round of children; what has been learnt stays in the model."""
    learner = model._learner
    start = learner.begin_round(N_CHILDREN)
    rows = [draw(world, share, model.n_rows_seen_ + child) for child in range(N_CHILDREN)]
    messages, seconds = [], []
    for matrix in rows:
        block = as_binary_rows(matrix).block(0, share)
        began = time.perf_counter()
        labels = np.full(share, -1)
        messages.append(deltas.child(start, block, labels, matrix.shape[1], learner.settings))
        seconds.append(time.perf_counter() - began)
    n_rows = sum(message.n_rows for message in messages) / N_CHILDREN
    expected = changed_entries(start.posterior, model.n_features_in_, int(n_rows))
    began = time.perf_counter()
    learner.join(messages)
    return Measured(
        clusters=start.posterior.n_components,
        keywords=model.n_features_in_,
        rows=int(n_rows),
        rows_per_second=n_rows * N_CHILDREN / sum(seconds),
        explicit=int(start.posterior.size.sum()),
        entries=float(np.mean([message.feature.size for message in messages])),
        expected=expected,
        bytes_of_message=float(np.mean([message.n_bytes for message in messages])),
        bytes_of_posterior=n_bytes(start),
        join_seconds=time.perf_counter() - began,
    )


def reading_speed(n_ads: int) -> float:
    """Ads a second that `read_table` reads from Parquet."""
    world = ad_files.make_world(20_000, 100, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ads.parquet"
        ad_files.write_file(world, path, 0, n_ads)
        began = time.perf_counter()
        read_table(path, row="ad", feature="keywords")
        return n_ads / (time.perf_counter() - began)


def measured_table(found: Sequence[Measured]) -> str:
    """What was measured, a line for each round."""
    header = (
        "clusters", "keywords", "rows of a child", "rows/s learnt", "explicit entries", "entries of a message",
        "foreseen / measured", "message (MB)", "bytes an entry", "posterior (MB)", "join of 4 (s)",
    )  # fmt: skip
    lines = [
        (
            each.clusters,
            f"{each.keywords:,}",
            f"{each.rows:,}",
            f"{each.rows_per_second:,.0f}",
            f"{each.explicit:,}",
            f"{each.entries:,.0f}",
            f"{each.expected / each.entries:.2f}",
            f"{each.bytes_of_message / machine.MEGABYTE:.1f}",
            f"{each.bytes_of_message / each.entries:.1f}",
            f"{each.bytes_of_posterior / machine.MEGABYTE:.1f}",
            f"{each.join_seconds:.2f}",
        )
        for each in found
    ]
    return tables.markdown(header, lines)


def foreseen_table(costs: Costs, entries: float) -> str:
    """Rounds of the large table for some numbers of workers, with so many entries in a message."""
    header = (
        "workers",
        "rounds",
        "posterior (s)",
        "learning (s)",
        "messages (s)",
        "adding (s)",
        "join",
        "all (h)",
    )
    lines = []
    for n_workers in WORKERS:
        n_rounds = -(-TARGET["ads"] // (n_workers * MOST_ROWS))
        one = round_of(costs, n_workers, MOST_ROWS, entries, 2.0 * entries)
        parts = [f"{part:.1f}" for part in one]
        hours = n_rounds * one.seconds / 3600
        lines.append((n_workers, n_rounds, *parts, f"{one.share_of_join:.0%}", f"{hours:.1f}"))
    return tables.markdown(header, lines)


def notes(costs: Costs, entries: float) -> str:
    """How to read the second table."""
    return NOTES.format(
        **TARGET,
        link=LINK / 1e9,
        speed=costs.rows_per_second,
        nanoseconds=costs.seconds_per_entry * 1e9,
        rows=MOST_ROWS,
        megabytes=entries * BYTES_PER_ENTRY / machine.MEGABYTE,
        workers=most_workers(costs, MOST_ROWS, entries),
    )


def main() -> None:
    """Parse, measure, write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", default="cluster_rounds")
    options = parser.parse_args()
    machine.use_one_thread()
    cases = [(100, 100_000, 200_000, (10_000, 50_000)), (1_000, 1_000_000, 300_000, (10_000, 50_000))]
    if options.quick:
        cases = [(20, 5_000, 20_000, (1_000, 4_000))]
    found = [each for case in cases for each in measure(*case)]
    last = found[-1]
    read = reading_speed(5_000 if options.quick else 100_000)
    both = 1.0 / (1.0 / read + 1.0 / last.rows_per_second)
    costs = Costs(both, last.join_seconds / (N_CHILDREN * last.entries), LINK)
    entries = MOST_ROWS * last.entries / last.rows
    reading = f"Reading Parquet: {read:,.0f} ads a second."
    sections = [measured_table(found), reading, foreseen_table(costs, entries), notes(costs, entries)]
    tables.write_page(
        options.page, "The online learner on a cluster: what rounds cost", machine.describe(), sections
    )


if __name__ == "__main__":
    main()
