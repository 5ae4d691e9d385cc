"""``sparsemix demo``: the whole job on made-up ads."""

from pathlib import Path
from typing import Annotated

import typer

from sparsemix.cli import options

MOST_ADS = 5_000_000  # which all are in memory
EXAMPLES = "sparsemix demo\n\nsparsemix demo --out /tmp/demo --ads 5000"


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write the files.")] = Path(),
    ads: Annotated[
        int, typer.Option("--ads", min=200, max=MOST_ADS, help="How many ads to make up.")
    ] = 20_000,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=options.LARGEST_SEED, help="Seed of the ads and of the start.")
    ] = 0,
    quiet: options.Quiet = False,
) -> None:
    """Make up ads with readable keywords, cluster them, suggest keywords for one, and write a report.

    Needs no network and no data. Writes demo_ads.csv, demo_ads.smx and report.html.
    """
    from sparsemix.cli.demo import steps

    files = steps.prepare(out)
    dataset = steps.write_ads(files, ads, seed, quiet)
    model = steps.fit(files, dataset, seed, quiet)
    steps.suggest(files, model)
    steps.report(files, model, dataset)
    steps.what_next(files)
