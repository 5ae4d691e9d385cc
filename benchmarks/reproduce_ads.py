"""The paper's experiments on ads: synthetic pairs, made-up ads at full size, and real ads with their advertisers.

Run ``python benchmarks/reproduce_ads.py``; it writes ``benchmarks/results/reproduce_ads.md``. The same tables, and
figures, are made by ``sparsemix reproduce ads``. The real data lie outside the project, see ``harness/realdata.py``;
``--quick`` takes small sizes, ``--no-real`` leaves the real data out.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness import machine, tables
from harness.realdata import folder
from sparsemix.data import Dataset, read_table
from sparsemix.reproduction import Table, Wish, results_of

SHOWN = ("figure_4_rates", "graphs", "table_1", "table_2", "order")
NOTES = """TP and FP are true and false positives over pairs of rows, in per cent; sd is over data sets. Times
are CPU seconds of training on four fifths of the ads; agglomerative clustering got {most:,} of them at most. In
`graphs`, fewest and longest are the cuts: ads of a keyword at least, keywords of an ad at most; parts are
connected components of ads and keywords. In trade: share of all ads that are of the main trade of their
cluster; others: the same outside the largest cluster. NLL is the mean negative log likelihood of test ads,
entropy that of the advertisers over the clusters, nats. Made-up ads: {sets} sets; real ads: {splits} splits and
seeds each, after the first cut. A claim is seen when the difference is above two standard errors; times differ
by seconds, pairs by per cent, the others by shares or nats."""


class RealAds(NamedTuple):
    """A table of ads: file, columns of ads, keywords and advertisers, and how many clusters are wanted."""

    path: str
    row: str
    feature: str
    group: str
    n_clusters: int

    def read(self) -> Dataset:
        """Return the ads."""
        return read_table(folder() / self.path, row=self.row, feature=self.feature, group=self.group)


REAL = {
    "snapchat_ads": RealAds("snapchat_ads_2020/ads_keywords.parquet", "ad_id", "keyword", "advertiser", 20),
    "kddcup12": RealAds("kddcup12_clicks/ads_keywords.parquet", "ad_id", "keyword_id", "advertiser_id", 40),
}


def found(wish: Wish) -> dict[str, Table]:
    """Return the tables that are shown, by name."""
    results = results_of("ads", wish, lambda message: print(message, file=sys.stderr, flush=True))
    return {result.name: result for result in results if isinstance(result, Table) and result.name in SHOWN}


def of_given(name: str, table: Table) -> list[Sequence[object]]:
    """Return the rows about given ads, under the name of the set."""
    rows = [row for row in table.rows if str(row[0]).startswith("given")]
    return [(re.sub("^given( ads)?", name, str(row[0])), *row[1:]) for row in rows]


def markdown(table: Table, more: Iterable[Sequence[object]]) -> str:
    """Return the title and the rows, those of made-up ads first."""
    rows = [
        [f"{cell:,.3g}" if isinstance(cell, float) else cell for cell in row] for row in (*table.rows, *more)
    ]
    return f"**{table.title}** (`{table.name}`)\n\n{tables.markdown(table.columns, rows)}"


def main() -> None:
    """Parse the options, run the experiments, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes of the made-up data")
    parser.add_argument("--real", action=argparse.BooleanOptionalAction, default=True, help="real ads, too")
    parser.add_argument("--splits", type=int, default=10, help="splits of real ads")
    parser.add_argument("--page", default="reproduce_ads", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    made_up = found(Wish(is_quick=options.quick))
    given: dict[str, list[Sequence[object]]] = {name: [] for name in SHOWN}
    for name, real in (REAL if options.real else {}).items():
        wish = Wish(
            is_quick=True, clusters=(real.n_clusters,), n_rows=5_000, n_sets=options.splits, ads=real.read()
        )
        for key, table in found(wish).items():
            given[key] += of_given(name, table)
    sizes = {
        "most": 2_000 if options.quick else 5_000,
        "sets": 2 if options.quick else 3,
        "splits": options.splits,
    }
    sections = [markdown(table, given[key]) for key, table in made_up.items()]
    title = "Online clustering of ads: the paper's experiments"
    page = tables.write_page(options.page, title, machine.describe(), [*sections, NOTES.format(**sizes)])
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
