"""Clusters in time on real streams: threads of newsgroups and chats, news in their order, beside models without time.

Run ``python benchmarks/real_streams.py``; it writes ``benchmarks/results/real_streams.md``, anew after each set. The
data lie outside the project, see ``harness/streams.py``. ``--only "News-T" --seeds 1`` is quicker.
"""

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness import machine, tables
from harness.stream_methods import SWEEPS, by_subject, gibbs, one_pass, score, told_by_time, ways
from harness.stream_notes import Notes
from harness.stream_settings import MOST_ROWS, MOST_STREAMS, Settings, chosen, foreseen_a_word
from harness.streams import FEWEST_TEXTS, LARGEST_SHARE, MOST_STORIES, MOST_TITLES, STREAMS, Stream

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
CHAT = (30.0, 2 * MINUTE, 8 * MINUTE, 32 * MINUTE)
HALF_LIVES = {
    "newsgroup threads": (6 * HOUR, DAY, 4 * DAY, 16 * DAY),
    "IRC, words and addressees": CHAT,
    "IRC, and senders": CHAT,
    "News-T": (3.0, 10.0, 30.0, 100.0, 300.0),
    "Reuters": (6 * HOUR, DAY, 4 * DAY, 16 * DAY),
}
GIVEN = {"newsgroup threads": DAY}
SCORES = ("set", "method", "NMI", "VI (nats)", "pair F1", "clusters", "gold", "CPU seconds")
CHOSEN = ("set", "kernel", "smoothing", "concentration", "half-life", "log probability a word")
CANDIDATES = ((0.1, 1.0), (0.05, 1.0), (0.1, 10.0), (0.05, 10.0), (0.02, 10.0))
DEFAULTS = ("set", *(f"smoothing {smoothing:g}, concentration {many:g}" for smoothing, many in CANDIDATES))
TOLD = ("set", "streams", "rows", "words a row", "half-life of the gold", "gain by time (nats a row)")


PASSES = ("set", "half-life", "log probability a word", "NMI", "VI (nats)", "pair F1", "clusters")


class Sections(NamedTuple):
    """Lines of the tables."""

    scores: list[list[object]]
    chosen: list[list[object]]
    told: list[list[object]]
    passes: list[list[object]]
    defaults: list[list[object]]


NOTES = f"""Each newsgroup and each log of a chat is clustered by itself; figures are means over them, and those of
methods that draw also means over seeds, with the standard deviation over seeds. Scored are the rows whose gold thread
has two or more. "clusters" and "gold" count all rows. Features are words of two letters or more, counted, that at least
{FEWEST_TEXTS} texts of the stream hold and at most {LARGEST_SHARE:.0%} of them; in chats also the people whom a message
addresses, and in "and senders" who wrote it. Subjects are no features. News-T has no times: its first
{MOST_TITLES:,} lines count as one a second. Reuters is the first {MOST_STORIES:,} stories of one topic, which is
the gold.

Smoothing, concentration and half-life are chosen without the gold, for both kernels alike: the highest log probability
that the one-pass model gives to each text before it learns it, over a grid, one number after another, on the first
{MOST_ROWS:,} rows of {MOST_STREAMS} streams of a set where there are more. "learnt" goes on from there and learns
concentration and half-life by `learn=True`; "a day given" is what one would say
of newsgroups, and near what their gold says, but not what the words chose. Gibbs has {SWEEPS["n_sweeps"]} sweeps, of
which the first {SWEEPS["burn_in"]} leave no draws, and {SWEEPS["split_merge"]} moves a row that cut and join.
"multinomial" is `MultinomialMixture` with the gold number of clusters; "slices of time" knows that number too and no
words. CPU seconds are for all streams of a set, one thread."""

TOLD_NOTES = """What time can tell: the prior probability of the gold threads under the exponential kernel that fits
them best against the step kernel that does, medians over streams. It uses the gold and chooses nothing above."""

PASSES_NOTES = "One pass with other half-lives, all else as chosen for the exponential kernel."

DEFAULTS_NOTES = """Possible defaults, with the half-life that was chosen: log probability a word, as above, and pair F1
of one pass."""


def compare(name: str, streams: Sequence[Stream], seeds: int, notes: Notes, sections: Sections) -> None:
    """Add the lines of one set."""
    found = {}
    for kernel, half_lives in {"exponential": HALF_LIVES[name], "step": ()}.items():
        numbers = notes.get(f"{name}, chosen, {kernel}", partial(chosen_numbers, streams, half_lives))
        found[kernel] = Settings(*numbers[:3])
        sections.chosen.append(settings_line(name, kernel, found[kernel], numbers[3]))
    sections.told.append(notes.get(f"{name}, told", partial(told_line, name, streams)))
    methods = ways(found["exponential"], found["step"])
    if name in GIVEN:
        given = replace(found["exponential"], half_life=GIVEN[name])
        methods["Gibbs, exponential, a day given"] = (gibbs(given), True)
    if all(stream.subjects is not None for stream in streams):
        methods["subject line"] = (by_subject, False)
    for method, (way, is_random) in methods.items():
        runs = [
            notes.get(f"{name}, {method}, {seed}", partial(score, streams, way, seed))
            for seed in range(seeds if is_random else 1)
        ]
        sections.scores.append([name, method, *scores_line(runs)])
    timed = found["exponential"]
    for half_life in HALF_LIVES[name]:
        line = partial(pass_line, name, streams, replace(timed, half_life=half_life))
        sections.passes.append(notes.get(f"{name}, half-life {half_life}", line))
    sections.defaults.append(notes.get(f"{name}, defaults", partial(defaults_line, name, streams, timed)))


def chosen_numbers(streams: Sequence[Stream], half_lives: Sequence[float]) -> list[object]:
    """Return smoothing, concentration and half-life, and how well they foresee."""
    settings, quality = chosen(streams, half_lives)
    return [*astuple(settings), quality]


def scores_line(runs: Sequence[Sequence[float]]) -> list[str]:
    """Return means, and standard deviations where there are several runs."""
    columns = np.array(runs).T
    sizes = [f"{column.mean():,.0f}" for column in columns[3:5]]
    return [*(spread(column) for column in columns[:3]), *sizes, f"{np.median(columns[5]):.1f}"]


def spread(values: np.ndarray) -> str:
    """Return the mean, and the standard deviation where there are several values."""
    middle = f"{values.mean():.3f}"
    return middle if values.size == 1 else f"{middle} ± {values.std(ddof=1):.3f}"


def settings_line(name: str, kernel: str, settings: Settings, quality: float) -> list[object]:
    """Return a line of the table of settings."""
    half_life = None if settings.half_life is None else duration(settings.half_life)
    return [name, kernel, settings.smoothing, f"{settings.concentration:g}", half_life, f"{quality:.4f}"]


def told_line(name: str, streams: Sequence[Stream]) -> list[object]:
    """Return a line of the table of what time can tell."""
    told = [told_by_time(stream) for stream in streams]
    n_rows = sum(stream.times.size for stream in streams)
    words = sum(stream.rows.sum() for stream in streams) / n_rows
    half_life = duration(float(np.median([one.half_life for one in told])))
    gain = np.median([one.gain for one in told])
    return [name, len(streams), f"{n_rows:,}", f"{words:.1f}", half_life, f"{gain:.2f}"]


def pass_line(name: str, streams: Sequence[Stream], settings: Settings) -> list[object]:
    """Return a line of the table of half-lives."""
    assert settings.half_life is not None
    found = score(streams, one_pass(settings), 0)
    figures = [f"{figure:.3f}" for figure in found[:3]]
    quality = f"{foreseen_a_word(streams, settings):.4f}"
    return [name, duration(settings.half_life), quality, *figures, f"{found.n_clusters:,.0f}"]


def defaults_line(name: str, streams: Sequence[Stream], best: Settings) -> list[object]:
    """Return a line of the table of possible defaults."""
    cells = []
    for smoothing, concentration in CANDIDATES:
        settings = replace(best, smoothing=smoothing, concentration=concentration)
        found = score(streams, one_pass(settings), 0)
        cells.append(f"{foreseen_a_word(streams, settings):.4f} / {found.pair_f1:.3f}")
    return [name, *cells]


def duration(seconds: float) -> str:
    """Return a duration in its largest unit."""
    for unit, length in {"d": DAY, "h": HOUR, "min": MINUTE}.items():
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"


def main() -> None:
    """Parse the options, compare the methods on every set, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--page", default="real_streams", help="name of the page in benchmarks/results")
    parser.add_argument("--notes", type=Path, help="JSON file of what is done, to go on from there")
    options = parser.parse_args()
    machine.use_one_thread()
    warnings.simplefilter("ignore")
    sections, notes = Sections([], [], [], [], []), Notes(options.notes)
    for name in options.only:
        compare(name, STREAMS[name](), options.seeds, notes, sections)
        parts = [
            tables.markdown(SCORES, sections.scores),
            NOTES,
            "Settings:",
            tables.markdown(CHOSEN, sections.chosen),
            TOLD_NOTES,
            tables.markdown(TOLD, sections.told),
            PASSES_NOTES,
            tables.markdown(PASSES, sections.passes),
            DEFAULTS_NOTES,
            tables.markdown(DEFAULTS, sections.defaults),
        ]
        tables.write_page(options.page, "Clusters in time on real streams", machine.describe(), parts)


if __name__ == "__main__":
    main()
