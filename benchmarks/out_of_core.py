"""A table of ads larger than memory, learnt and assigned from files by the command line: seconds and peak memory.

Run ``python benchmarks/out_of_core.py``; it writes ``benchmarks/results/out_of_core.md``. ``--ads 200_000`` makes it
short, ``--folder DIR`` keeps the files for the next run, ``--workers N`` learns on processes as well (Dask). The files
need about 90 bytes an ad, and as much again and more for sorting in the folder that ``TMPDIR`` names.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness import ad_files, commands, machine, tables
from sparsemix import load_model
from sparsemix.persistence import state_hash

HEADER = ("step", "time (s)", "ads/s", "peak memory (MB)")
COLUMNS = ("--row", "ad", "--feature", "keywords")
NOTES = """Each step is a command in a process of its own, so that its time holds reading, sorting by rows on disk
and loading compiled kernels. The peak is of all processes of the command together. "Killed half way" was killed
(SIGKILL) when its first checkpoint was there, and "resumed" is the same command with `--resume`; the models are the
same to the bit: {same}."""


@contextmanager
def folder_for(given: str | None) -> Iterator[Path]:
    """The folder that was given, or one that is removed afterwards."""
    if given is not None:
        yield Path(given)
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def fit(files: str, model: Path, options: argparse.Namespace, *more: object) -> list[object]:
    """The command that learns the files."""
    seed = ("--seed", 1, "--quiet")
    return ["fit", files, "-o", model, "-k", options.clusters, *COLUMNS, *seed, *more]


def measure(folder: Path, options: argparse.Namespace) -> tuple[list[Sequence[object]], bool]:
    """Lines of the table, and whether the resumed model equals the one that was learnt without a break."""
    stopwatch = machine.Stopwatch()
    world = ad_files.make_world(options.keywords, options.clusters, seed=0)
    paths = ad_files.write_files(world, folder / f"ads-{options.ads}", options.ads, options.ads_per_file)
    lines: list[Sequence[object]] = [line("files written", options.ads, stopwatch.read()[0], None)]
    files, whole, broken = str(paths[0].parent / "*.parquet"), folder / "whole.smx", folder / "broken.smx"
    for path in (whole, broken):
        path.unlink(missing_ok=True)
    streamed = ("--batch-rows", options.batch_rows, "--checkpoint-every", options.ads // 2)
    lines.append(step("learnt", options.ads, fit(files, whole, options, *streamed)))
    killed = commands.run(fit(files, broken, options, *streamed), kill_when=broken.exists)
    lines.append(line("killed half way", options.ads // 2, killed.seconds, killed.peak_bytes))
    lines.append(step("resumed", options.ads // 2, fit(files, broken, options, *streamed, "--resume")))
    same = state_hash(load_model(whole).to_payload()) == state_hash(load_model(broken).to_payload())
    assigned = ["assign", whole, files, "-o", folder / "assigned.parquet", "--batch-rows", options.batch_rows]
    lines.append(step("assigned", options.ads, [*assigned, *COLUMNS, "--quiet"]))
    if options.workers:
        spread = fit(files, folder / "spread.smx", options, "--workers", options.workers)
        lines.append(step(f"learnt by {options.workers} workers", options.ads, spread))
    return lines, same


def step(name: str, n_ads: int, arguments: Sequence[object]) -> Sequence[object]:
    """Run a command that must succeed."""
    taken = commands.run(arguments)
    if taken.exit_code:
        raise SystemExit(taken.output)
    return line(name, n_ads, taken.seconds, taken.peak_bytes)


def line(name: str, n_ads: int, seconds: float, peak: int | None) -> Sequence[object]:
    """A line of the table; also printed as it comes, for the whole takes long."""
    found = (
        name,
        f"{seconds:,.0f}",
        f"{n_ads / seconds:,.0f}",
        None if peak is None else f"{peak / machine.MEGABYTE:,.0f}",
    )
    print(*found, flush=True)
    return found


def main() -> None:
    """Parse, measure, write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ads", type=int, default=20_000_000)
    parser.add_argument("--keywords", type=int, default=100_000)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--ads-per-file", type=int, default=250_000)
    parser.add_argument("--batch-rows", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--folder")
    parser.add_argument("--page", default="out_of_core")
    options = parser.parse_args()
    machine.use_one_thread()
    with folder_for(options.folder) as folder:
        lines, same = measure(folder, options)
    title = f"{options.ads:,} ads from files"
    notes = NOTES.format(same="yes" if same else "NO")
    tables.write_page(options.page, title, machine.describe(), [tables.markdown(HEADER, lines), notes])


if __name__ == "__main__":
    main()
