"""Clusters in time: a stream of two million short documents, and what a sweep costs with more and more of them.

Run ``python benchmarks/time_sensitive.py``; it writes ``benchmarks/results/time_sensitive.md``. ``--quick`` takes a
twentieth of the documents.
"""

import argparse
import statistics

from harness import jobs, machine, tables
from harness.time_cases import seconds_of_sweeps, stream_parts

N_THREADS, BATCH = 300, 10_000
STREAM_NOTES = """CPU seconds of one thread by `partial_fit` in batches of 10,000, reading the table included; making
the documents and compiling are left out. Documents have ten words out of 20,000; {n} threads are alive at any time,
each for an hour, a document comes a second, half-life 5 minutes, `negligible` 1e-6. Memory is what the process holds
after the part, with the libraries. NMI is that of the documents of the part with their threads."""
PACES = (1, 10)
ROWS_IN_ALL = 300_000  # that the sweeps of a size read together, before one is enough
SCALING_NOTES = """CPU seconds of one thread of the sweep after the one in which all rows enter, with the defaults but
for half-life and smoothing; documents have ten words out of 20,000 and come one a second, with {n} threads alive at any
time. Small tables are measured several times, up to nine, each in a process of its own, and the median is told. What a
row costs depends on how many clusters begin less than 40
half-lives after it or had their last row less than that before it. With threads of an hour and a half-life of 5 minutes
that is 12,000 rows to each side, more than the smallest table has: there a row looks at half as many clusters as in the
midst of a long table, and so the ratio grows with the edges that a table has not. With threads of 6 minutes and a
half-life of 30 seconds it is 1,200 rows to each side and the same number of clusters in the midst, about 230, and edges
are a small part of every table, so that the ratio tells what the length of a table costs."""


def stream_part(n_rows: int) -> list[str]:
    """Return the section on streams."""
    sections = [f"## Stream of {n_rows:,} documents"]
    ways = {"MAP": {}, "soft": {"assignment": "soft"}, "window of 200": {"window": 200}}
    for name, options in ways.items():
        n_parts, n_here = (10, n_rows) if name == "MAP" else (2, n_rows // 10)
        parts = jobs.in_new_process(stream, n_here, n_parts, options)
        lines = [
            [
                f"{name}, part {number + 1} of {n_here // n_parts:,}",
                f"{part.speed:,.0f}",
                f"{part.n_live:,}",
                f"{part.n_ended:,}",
                f"{part.megabytes:.0f}",
                f"{part.agreement:.3f}",
            ]
            for number, part in enumerate(parts)
        ]
        header = ("documents", "a CPU second", "live clusters", "ended", "memory (MB)", "NMI")
        sections.append(tables.markdown(header, lines))
    return [*sections, STREAM_NOTES.format(n=N_THREADS)]


def stream(n_rows: int, n_parts: int, options: dict[str, object]) -> list:
    """Run a stream, in a process of its own."""
    return stream_parts(n_rows, n_parts, N_THREADS, BATCH, **options)


def scaling_part(sizes: list[int]) -> list[str]:
    """Return the section on sweeps."""
    header = ("rows", "entering, a row (µs)", "sweep (s)", "a row (µs)", "ratio to the first")
    sections = ["## A sweep of `TimeSensitiveMixture`"]
    for pace in PACES:
        told = f"Threads live for {60 / pace:g} minutes, half-life {300 / pace:g} seconds:"
        sections += [told, tables.markdown(header, scaling_lines(sizes, pace))]
    return [*sections, SCALING_NOTES.format(n=N_THREADS // 10)]


def scaling_lines(sizes: list[int], pace: int) -> list[list[str]]:
    """Return a line for each size."""
    lines, least = [], 0.0
    for n_rows in sizes:
        n_runs = max(1, min(9, ROWS_IN_ALL // n_rows))
        runs = [jobs.in_new_process(seconds_of_sweeps, n_rows, N_THREADS // 10, pace) for _ in range(n_runs)]
        entering, sweep = map(statistics.median, zip(*runs, strict=True))
        each = sweep / n_rows * 1e6
        least = least or each
        speed = f"{entering / n_rows * 1e6:.1f}"
        lines.append([f"{n_rows:,}", speed, f"{sweep:.2f}", f"{each:.1f}", f"{each / least:.2f}"])
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Parse the options, run the parts, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the documents")
    parser.add_argument("--only", nargs="+", choices=("stream", "scaling"), default=["stream", "scaling"])
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="rows of the sweeps"
    )
    parser.add_argument("--page", default="time_sensitive", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    sections = []
    if "stream" in options.only:
        sections += stream_part(100_000 if options.quick else 2_000_000)
    if "scaling" in options.only:
        sections += scaling_part([2_000, 20_000] if options.quick else options.sizes)
    sections.append(f"The load average at the end was {machine.load():.1f}.")
    page = tables.write_page(options.page, "Clusters in time", machine.describe(), sections)
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
