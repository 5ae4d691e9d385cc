"""Held-out keyword recovery on real ads: our suggestions beside popularity and item-to-item cosine.

Run ``python benchmarks/keyword_recovery.py``; it writes ``benchmarks/results/keyword_recovery.md``. The data
lie outside the project, see ``harness/realdata.py``. ``--only groceries --seeds 1`` is quick.
"""

import argparse
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

import sparsemix
from harness import machine, tables
from harness.realdata import KEYWORD_TABLES, keyword_table
from harness.recovery import N_SUGGESTIONS, Split, by_cosine, by_popularity, split_ads, usable_rows

HEADER = (
    "set",
    "ads x keywords",
    "test ads",
    "chosen (times)",
    "sparsemix",
    "cosine",
    "popularity",
    "seeds won",
    "seconds a fit",
    "ms a suggestion",
)
VALIDATION_ADS = 2000
MOST_PARTS = 4
COMPONENTS = (50, 100, 200, 400, 800, 1500)
MOST_COMPONENTS = 0.75  # of the training ads
SUGGEST_OPTIONS = ({"completeness": 0.0}, {"completeness": 0.5}, {"completeness": 0.8})
NOTES = f"""Ads with a single keyword are left out. A fifth of the ads is set apart for the test; a
fifth of each test ad's keywords, at least one, is hidden, and the keywords that are not shown are
ranked. The figures are recall at {N_SUGGESTIONS}, mean and standard deviation over the seeds (each with
its own split); "seeds won" counts the splits on which our suggestions beat both others. The number of
clusters and the options of `suggest` are chosen for each split on a validation part of the training ads
(a fifth, {VALIDATION_ADS} ads at most; the mean of up to {MOST_PARTS} such parts where ads are few),
hidden in the same way; then the model is fitted on all training ads. Popularity ranks by the number of
training ads; cosine by the sum of a keyword's cosine similarities, over training ads, to the shown
keywords, ties by popularity. No more clusters than three quarters of the training ads are tried."""


@dataclass(frozen=True)
class Setting:
    """What the validation part chooses."""

    n_components: int
    suggest_options: tuple[tuple[str, object], ...]

    def __str__(self) -> str:
        options = "".join(f", {name}={value}" for name, value in self.suggest_options)
        return f"K={self.n_components}{options}"


def fit(train: csr_array, n_components: int, seed: int) -> sparsemix.OnlineBernoulliMixture:
    """Fit the learner to the training ads in a random order, one pass."""
    order = np.random.default_rng(seed).permutation(train.shape[0])
    return sparsemix.OnlineBernoulliMixture(n_components=n_components, random_state=seed).fit(train[order])


def suggest(model: sparsemix.OnlineBernoulliMixture, shown: csr_array, setting: Setting) -> list[list[int]]:
    """Return the suggested columns for each shown row, best first."""
    ranked = []
    for start, stop in zip(shown.indptr[:-1], shown.indptr[1:], strict=True):
        accepted = shown.indices[start:stop].tolist()
        suggestions = model.suggest(accepted, n=N_SUGGESTIONS, level=None, **dict(setting.suggest_options))
        ranked.append([suggestion.feature for suggestion in suggestions])
    return ranked


def choose(train: csr_array, seed: int) -> Setting:
    """Return the setting with the best mean recall on validation parts of the training ads."""
    parts = validation_parts(train, seed)
    recalls: dict[Setting, float] = {}
    for n_components in COMPONENTS:
        if recalls and n_components > MOST_COMPONENTS * parts[0].train.shape[0]:
            break
        models = [fit(part.train, n_components, seed) for part in parts]
        for options in SUGGEST_OPTIONS:
            setting = Setting(n_components, tuple(options.items()))
            scores = [
                part.recall(suggest(model, part.shown, setting))
                for part, model in zip(parts, models, strict=True)
            ]
            recalls[setting] = float(np.mean(scores))
            print(f"  validation, {setting}: {recalls[setting]:.4f}", flush=True)
    return max(recalls, key=lambda setting: recalls[setting])


def validation_parts(train: csr_array, seed: int) -> list[Split]:
    """Cut the training ads again, several times where they are few: one small part would choose by chance."""
    n_parts = int(np.clip(VALIDATION_ADS / (0.2 * train.shape[0]), 1, MOST_PARTS))
    parts = [split_ads(train, np.random.default_rng([seed, part])) for part in range(1, n_parts + 1)]
    return [part.first(VALIDATION_ADS) for part in parts]


def run_table(name: str, seeds: int) -> list[object]:
    """Return the table's line of one set."""
    rows = usable_rows(keyword_table(name).rows)
    chosen, recalls, times = [], [], []
    for seed in range(seeds):
        split = split_ads(rows, np.random.default_rng(seed))
        setting = choose(split.train, seed)
        start = time.perf_counter()
        model = fit(split.train, setting.n_components, seed)
        fitted = time.perf_counter()
        ours = suggest(model, split.shown, setting)
        n_test = split.shown.shape[0]
        times.append((fitted - start, 1000 * (time.perf_counter() - fitted) / n_test))
        chosen.append(str(setting))
        rankings = (ours, by_cosine(split.train, split.shown), by_popularity(split.train, split.shown))
        recalls.append([split.recall(ranked) for ranked in rankings])
        print(
            f"{name}, seed {seed}, {setting}: ours, cosine, popularity {np.round(recalls[-1], 4)}", flush=True
        )
    table = np.array(recalls)
    won = int((table[:, 0] > table[:, 1:].max(axis=1)).sum())
    means = [f"{mean:.3f} ± {sd:.3f}" for mean, sd in zip(table.mean(axis=0), table.std(axis=0), strict=True)]
    choices = "; ".join(f"{setting} ({times_})" for setting, times_ in Counter(chosen).most_common())
    seconds, milliseconds = np.median(times, axis=0)
    shape = "{:,} x {:,}".format(*rows.shape)
    return [
        name,
        shape,
        n_test,
        choices,
        *means,
        f"{won} of {seeds}",
        f"{seconds:.1f}",
        f"{milliseconds:.1f}",
    ]


def main() -> None:
    """Parse the options, run every set, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=KEYWORD_TABLES, default=list(KEYWORD_TABLES))
    parser.add_argument("--seeds", type=int, default=5, help="splits, each with its own seed")
    parser.add_argument("--page", default="keyword_recovery", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    lines = [run_table(name, options.seeds) for name in options.only]
    page = tables.write_page(
        options.page,
        "Keywords brought back",
        machine.describe(),
        [tables.markdown(HEADER, lines), NOTES],
    )
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
