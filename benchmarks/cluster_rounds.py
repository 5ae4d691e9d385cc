"""What the online learner costs on a cluster: its parts measured, and rounds of a very large table worked out.

Run ``python benchmarks/cluster_rounds.py``; it writes ``benchmarks/results/cluster_rounds.md``. No cluster is needed:
children of a round learn one after the other in this process, as they would on workers, and what they send passes a
slow link as Dask would send it. Seconds are those of the processor, but for the link's. ``--quick`` takes smaller
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
from harness.cluster_check import play
from harness.cluster_costs import BYTES_PER_ENTRY, Costs, Round, changed_entries, most_workers, round_of
from sparsemix import OnlineBernoulliMixture, read_table
from sparsemix.distributed.wire import n_bytes

N_CHILDREN = 4
LINK = 1.25e9  # bytes a second: ten gigabit
SLOW_LINK = 20e6  # of the rounds that are played
CHECKED = (2, 8, 16)  # workers of these
TARGET = {"ads": 1_000_000_000, "keywords": 10_000_000, "clusters": 1_000}
MOST_ROWS = 200_000  # of a child in one round
WORKERS = (1, 10, 30, 100, 1_000)
MEASURED = """A model learns a table of made-up ads, then four children learn a share of new ads each. "Foreseen /
measured" compares the entries that the posterior lets expect in a message with those that are there; it counts every
keyword that is not explicit as equally probable. "As sent" is a message as Dask puts it on the wire. Seconds are those
of the processor."""
CHECK = """The formula of the last table, given what a round of {n_children} cost, against rounds that were played:
bytes pass a socket at {link:.0f} MB/s by the clock, learning takes as long as the slowest child does, and adding is
measured. "Join" is the share of a round in which workers wait for messages to arrive and to be added."""
NOTES = """Computed, not run: {ads:,} ads, {keywords:,} keywords and {clusters:,} clusters, with links of {link:.2f}
GB/s. A worker reads and learns {speed:,.0f} rows a second, and adding an entry takes {nanoseconds:.0f} ns, as in the
last line measured. A child learns {rows:,} rows in a round and changes as many entries a row as there, so that a
message has {megabytes:,.0f} MB; that is an upper bound, since more rows meet the same entries again. The posterior has
twice as many entries. **The join dominates from {workers:.0f} workers on**, where it takes as long as the learning
before it."""


class Case(NamedTuple):
    """A table that is learnt before the first round, and rows that a child learns in rounds."""

    clusters: int
    keywords: int
    ads: int
    shares: tuple[int, ...]


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
    bytes_on_wire: float
    bytes_of_posterior: int
    join_seconds: float


def draw(world: ad_files.AdWorld, n_ads: int, seed: int) -> sparse.csr_array:
    """Ads as a matrix."""
    _, indptr, columns = ad_files.draw_ads(world, n_ads, np.random.default_rng(seed))
    return sparse.csr_array((np.ones(columns.size), columns, indptr), shape=(n_ads, world.cumulative.size))


def learnt(case: Case) -> tuple[ad_files.AdWorld, OnlineBernoulliMixture]:
    """A world of ads and a model that has learnt some of them."""
    world = ad_files.make_world(case.keywords, case.clusters, seed=0)
    model = OnlineBernoulliMixture(case.clusters, random_state=0)
    for seed in range(0, case.ads, ad_files.ADS_PER_PIECE):
        model.partial_fit(draw(world, min(ad_files.ADS_PER_PIECE, case.ads - seed), seed))
    return world, model


def measure(case: Case) -> list[Measured]:
    """Learn a table, then a round with each size of share."""
    world, model = learnt(case)
    return [one_round(model, world, share) for share in case.shares]


def one_round(model: OnlineBernoulliMixture, world: ad_files.AdWorld, share: int) -> Measured:
    """One round of children; what has been learnt stays in the model."""
    played = play(model._learner, shares_of(model, world, share, N_CHILDREN))
    start, messages = played.start, played.messages
    n_rows = sum(message.n_rows for message in messages) / N_CHILDREN
    return Measured(
        clusters=start.posterior.n_components,
        keywords=model.n_features_in_,
        rows=int(n_rows),
        rows_per_second=n_rows * N_CHILDREN / sum(played.seconds),
        explicit=int(start.posterior.size.sum()),
        entries=float(np.mean([message.feature.size for message in messages])),
        expected=changed_entries(start.posterior, model.n_features_in_, int(n_rows)),
        bytes_of_message=float(np.mean([message.n_bytes for message in messages])),
        bytes_on_wire=played.bytes_on_wire / N_CHILDREN,
        bytes_of_posterior=n_bytes(start),
        join_seconds=played.round.adding,
    )


def shares_of(
    model: OnlineBernoulliMixture, world: ad_files.AdWorld, share: int, n_children: int
) -> list[sparse.csr_array]:
    """New rows for children."""
    return [draw(world, share, model.n_rows_seen_ + child) for child in range(n_children)]


def checks(case: Case, share: int) -> list[tuple[int, Round, Round]]:
    """Rounds of several numbers of workers, foreseen from one of four and played over a slow link."""
    world, model = learnt(case)
    one_round(model, world, share)  # whose index sheds what the first rows had made explicit
    one = one_round(model, world, share)
    costs = Costs(one.rows_per_second, one.join_seconds / (N_CHILDREN * one.entries), SLOW_LINK)
    found = []
    for n_workers in CHECKED:
        shares = shares_of(model, world, share, n_workers)
        played = play(model._learner, shares, SLOW_LINK)
        explicit = int(played.start.posterior.size.sum())
        found.append((n_workers, round_of(costs, n_workers, share, one.entries, explicit), played.round))
    return found


def reading_speed(n_ads: int) -> float:
    """Ads a second that `read_table` reads from Parquet."""
    world = ad_files.make_world(20_000, 100, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ads.parquet"
        ad_files.write_file(world, path, 0, n_ads)
        began = time.process_time()
        read_table(path, row="ad", feature="keywords")
        return n_ads / (time.process_time() - began)


def measured_table(found: Sequence[Measured]) -> str:
    """What was measured, a line for each round."""
    header = (
        "clusters", "keywords", "rows of a child", "rows/s learnt", "explicit entries", "entries of a message",
        "foreseen / measured", "message (MB)", "bytes an entry", "as sent (MB)", "posterior (MB)", "join of 4 (s)",
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
            f"{each.bytes_on_wire / machine.MEGABYTE:.1f}",
            f"{each.bytes_of_posterior / machine.MEGABYTE:.1f}",
            f"{each.join_seconds:.2f}",
        )
        for each in found
    ]
    return tables.markdown(header, lines)


def checked_table(found: Sequence[tuple[int, Round, Round]]) -> str:
    """Parts of rounds, foreseen and played."""
    header = ("workers", "", "posterior (s)", "learning (s)", "messages (s)", "adding (s)", "join")
    lines = [
        (n_workers, name, *(f"{part:.2f}" for part in one), f"{one.share_of_join:.0%}")
        for n_workers, foreseen, played in found
        for name, one in (("foreseen", foreseen), ("played", played))
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
    cases = [Case(100, 100_000, 200_000, (10_000, 50_000)), Case(1_000, 1_000_000, 300_000, (10_000, 50_000))]
    small = Case(20, 5_000, 20_000, (1_000, 4_000))
    measure(small)  # compiles
    found = [each for case in ([small] if options.quick else cases) for each in measure(case)]
    checked = checks(small, 1_000) if options.quick else checks(cases[0], 10_000)
    last = found[-1]
    read = reading_speed(5_000 if options.quick else 100_000)
    both = 1.0 / (1.0 / read + 1.0 / last.rows_per_second)
    costs = Costs(both, last.join_seconds / (N_CHILDREN * last.entries), LINK)
    entries = MOST_ROWS * last.entries / last.rows
    reading = f"Reading Parquet: {read:,.0f} ads a second."
    sections = [
        "**Measured.** " + MEASURED, measured_table(found), reading,
        "**Checked.** " + CHECK.format(link=SLOW_LINK / 1e6, n_children=N_CHILDREN), checked_table(checked),
        "**Worked out.** " + notes(costs, entries), foreseen_table(costs, entries),
    ]  # fmt: skip
    tables.write_page(
        options.page, "The online learner on a cluster: what rounds cost", machine.describe(), sections
    )


if __name__ == "__main__":
    main()
