"""What the defaults of both mixtures are worth against their alternatives, on real texts without labels.

Run ``python benchmarks/em_defaults.py``; it writes ``benchmarks/results/em_defaults.md``. The data lie outside the
project, see ``harness/realdata.py``. ``--only bbc_news --seeds 1`` is quick.
"""

import argparse
import time
import warnings
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score

from harness import machine, tables
from harness.realdata import TEXTS, LabelledRows, counted_words
from sparsemix import BernoulliMixture, MultinomialMixture
from sparsemix.models.em import families

MIXTURES: dict[str, Any] = {"MultinomialMixture": MultinomialMixture, "BernoulliMixture": BernoulliMixture}
STRENGTH = "REPAIR_STRENGTH"  # no parameter: pseudo-count of a word in the evidence that splits and merges are to raise
SMOOTHINGS = (0.01, 0.1, 0.3, 0.5, 1.0)
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    *({"smoothing": smoothing} for smoothing in SMOOTHINGS),
    {"init": "k-means++"},
    {"init": "random"},
    {"accelerate": True},
    {"accelerate": False},
    {"tol": 1e-3},
    {"tol": 1e-5},
    {"max_iter": 300},
)
OF_MULTINOMIALS: tuple[dict[str, Any], ...] = ({STRENGTH: 0.1}, {STRENGTH: 0.5}, {STRENGTH: 1.0})
SETS = ("SearchSnippets", "R8", "WebKB", "bbc_news")
LEARNT = 0.7
NOTES = f"""As many clusters as classes, {LEARNT:.0%} of the texts. The first line of each mixture has its defaults,
every other line one change. NMI is of the clusters and the classes, a mean over seeds, for each set and over all.
"Nats a word" is the log likelihood of the other texts over their words, against the defaults, mean over sets and
seeds: more is better. Epochs and processor seconds, one thread, are medians; a fit that had not converged used all
of its epochs. `{STRENGTH}` is no parameter, but a pseudo-count inside the start."""


class Fit(NamedTuple):
    """What one fit ended with."""

    nmi: float
    per_word: float
    n_epochs: int
    converged: bool
    seconds: float


def measure(kind: str, change: dict[str, Any], data: LabelledRows, seed: int) -> Fit:
    """Fit a mixture to most of the texts, and score the rest."""
    order = np.random.default_rng(seed).permutation(data.rows.shape[0])
    n_learnt = round(LEARNT * order.size)
    learnt, unseen = np.sort(order[:n_learnt]), np.sort(order[n_learnt:])
    parameters = {name: value for name, value in change.items() if name != STRENGTH}
    if kind == "BernoulliMixture":
        parameters["binarize"] = 0
    model = MIXTURES[kind](data.n_classes, random_state=seed, **parameters)
    strength = change.get(STRENGTH, families.REPAIR_STRENGTH)
    with warnings.catch_warnings(), mock.patch.object(families, STRENGTH, strength):
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.process_time()
        model.fit(data.rows[learnt])
        seconds = time.process_time() - start
    nmi = normalized_mutual_info_score(data.labels[learnt], model.labels_)
    return Fit(nmi, model.score_per_token(data.rows[unseen]), model.n_iter_, model.converged_, seconds)


def is_default(kind: str, change: dict[str, Any]) -> bool:
    """Whether the change changes nothing."""
    own = MIXTURES[kind]().get_params() | {STRENGTH: families.REPAIR_STRENGTH}
    return bool(change) and all(own[name] == value for name, value in change.items())


def describe(change: dict[str, Any], found: list[list[Fit]], usual: list[list[Fit]]) -> list[str]:
    """Return a table line; `found` and `usual` are fits by set and seed."""
    own = [np.mean([fit.nmi for fit in fits]) for fits in found]
    everything = [fit for fits in found for fit in fits]
    gain = np.mean([fit.per_word for fit in everything]) - np.mean(
        [f.per_word for fits in usual for f in fits]
    )
    return [
        ", ".join(f"`{name}={value!r}`" for name, value in change.items()) or "none",
        *(f"{nmi:.3f}" for nmi in [*own, np.mean(own)]),
        f"{gain:+.4f}" if change else "0",
        f"{np.median([fit.n_epochs for fit in everything]):.0f}",
        f"{sum(not fit.converged for fit in everything)} of {len(everything)}",
        f"{np.median([fit.seconds for fit in everything]):.2f}",
    ]


def section(kind: str, sets: list[LabelledRows], seeds: int) -> str:
    """Return the table of one mixture."""
    lines: list[list[str]] = []
    usual: list[list[Fit]] = []
    for change in CHANGES + (OF_MULTINOMIALS if kind == "MultinomialMixture" else ()):
        if is_default(kind, change):
            continue
        found = [[measure(kind, change, data, seed) for seed in range(seeds)] for data in sets]
        usual = usual or found
        lines.append(describe(change, found, usual))
        print(kind, *lines[-1], flush=True)
    names = [f"NMI, {data.name}" for data in sets]
    header = ("change", *names, "NMI, all", "nats a word", "epochs", "not converged", "CPU seconds")
    return f"## {kind}\n\n{tables.markdown(header, lines)}"


def main() -> None:
    """Parse the options, run every set, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=TEXTS, default=list(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--page", default="em_defaults", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    sets = [counted_words(name) for name in options.only]
    sections = [section(kind, sets, options.seeds) for kind in MIXTURES]
    page = tables.write_page(options.page, "Defaults of EM", machine.describe(), [*sections, NOTES])
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
