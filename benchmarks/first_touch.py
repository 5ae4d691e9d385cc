"""The first touch: importing the package, the help, and the first and second fit of every model.

Run ``python benchmarks/first_touch.py``; it writes ``benchmarks/results/first_touch.md``. ``--only KIND`` takes some of
the models, and ``--notes FILE`` goes on after a break.
"""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

from harness import machine, tables
from harness.first_fits import N_FEATURES, N_ROWS, Taken, run, run_fit
from harness.stream_notes import Notes
from sparsemix.registry import model_kinds

N_TIMES = 5
PROGRAM = "import sys; from sparsemix.cli import main; sys.exit(main({}))"
STARTS = {
    "Python alone": "pass",
    "import sparsemix": "import sparsemix",
    "sparsemix --version": PROGRAM.format(["--version"]),
    "sparsemix --help": PROGRAM.format(["--help"]),
    "sparsemix fit --help": PROGRAM.format(["fit", "--help"]),
}
START_NOTES = f"""Whole processes, the one of {N_TIMES} that took the fewest seconds of the processor, files in the
system's cache."""
FIT_NOTES = f"""A table of {N_ROWS} rows and {N_FEATURES} features, defaults, each fit in a process of its own. Before
the first nothing is compiled; each model has a folder of its own for what is, so that what models share is compiled for
each. The second finds it there. A process includes Python and all imports; a fit is `fit` and `predict` alone. What
takes longest to compile includes all that it calls; another function that calls the same has it from the folder."""


def best_of(command: list[str], cache: Path) -> Taken:
    """The run of several that took the least of the processor."""
    return min((run(command, cache) for _ in range(N_TIMES)), key=lambda taken: taken.cpu_seconds)


def starts(notes: Notes, cache: Path) -> list[str]:
    """Return the section on imports and help."""
    lines = [notes.get(name, partial(started, name, code, cache)) for name, code in STARTS.items()]
    return ["## Start", tables.markdown(("what", "seconds", "CPU seconds"), lines), START_NOTES]


def started(name: str, code: str, cache: Path) -> list[str]:
    """Return the line of one start."""
    taken = best_of([sys.executable, "-c", code], cache)
    return [name, f"{taken.seconds:.2f}", f"{taken.cpu_seconds:.2f}"]


def fits(notes: Notes, kinds: list[str], folder: Path) -> list[str]:
    """Return the section on fits."""
    lines = [notes.get(kind, partial(fitted, kind, folder / kind)) for kind in kinds]
    header = (
        "model", "first process (s)", "CPU (s)", "second process (s)", "CPU (s)", "second fit (s)", "compiled longest",
    )  # fmt: skip
    return ["## First and second fit", tables.markdown(header, lines), FIT_NOTES]


def fitted(kind: str, cache: Path) -> list[str]:
    """Return the line of one model."""
    (first, told), (second, again) = run_fit(kind, cache), run_fit(kind, cache)
    longest = ", ".join(f"`{name}` {seconds:.0f} s" for name, seconds in told["compiled"][:3])
    cells = (first.seconds, first.cpu_seconds, second.seconds, second.cpu_seconds, again["seconds"])
    return [kind, *(f"{cell:.1f}" for cell in cells), longest]


def main() -> None:
    """Parse the options, run the parts, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=model_kinds(), default=list(model_kinds()))
    parser.add_argument("--notes", type=Path, help="file to keep lines in, and to go on from after a break")
    parser.add_argument("--page", default="first_touch", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    notes = Notes(options.notes)
    with tempfile.TemporaryDirectory() as folder:
        sections = [*starts(notes, Path(folder)), *fits(notes, options.only, Path(folder))]
    sections.append(f"Load average at the end: {machine.load():.1f}.")
    print(tables.write_page(options.page, "First touch", machine.describe(), sections))


if __name__ == "__main__":
    main()
