"""NMI and ARI against gold labels on real sets: one pass of the learner beside batch EM.

Run ``python benchmarks/real_sets.py``; it writes ``benchmarks/results/real_sets.md``. The data lie outside
the project, see ``harness/realdata.py``. ``--quick`` gives EM one start instead of ten.
"""

import argparse
import statistics
import time

import numpy as np
from scipy.sparse import csr_array

import sparsemix
from harness import machine, tables
from harness.em import fit_em
from harness.realdata import LABELLED, LabelledRows
from sparsemix.metrics import adjusted_rand, normalized_mutual_information

FARM_ADS_COMPONENTS = 20
HEADER = ("set", "rows x features", "K", "method", "NMI", "ARI", "seconds")
NOTES = f"""Rows are binary: words of two letters or more, once a row, that occur in at least two rows.
K is the number of gold classes; farm_ads has {FARM_ADS_COMPONENTS}, since its label (approval) is no
topic and its NMI only says whether topics tell anything about approval. The learner runs with its
defaults and reads rows once; "shuffled" is a random order, "as filed" the order of the file, which goes
class by class in SearchSnippets and Biomedical and by story in News-T. EM is Bernoulli EM to
convergence, the most likely of the starts (by turns near the average profile and from k-means++ seeds).
Scores are medians over seeds with the range in brackets; seconds are medians of the whole job."""


def learn(rows: csr_array, n_components: int, seed: int) -> np.ndarray:
    """Assign every row after one pass with the defaults."""
    return sparsemix.OnlineBernoulliMixture(n_components=n_components, random_state=seed).fit_predict(rows)


def learn_shuffled(rows: csr_array, n_components: int, seed: int) -> np.ndarray:
    """Do the same with the rows in a random order; assignments come back in the order of `rows`."""
    order = np.random.default_rng(seed).permutation(rows.shape[0])
    assignments = np.empty(rows.shape[0], dtype=np.int64)
    assignments[order] = learn(rows[order], n_components, seed)
    return assignments


def run_em(rows: csr_array, n_components: int, seed: int, n_init: int) -> np.ndarray:
    """Assign every row by batch EM."""
    return fit_em(rows, n_components, seed=seed, n_init=n_init).assignments


def compare(data: LabelledRows, methods: dict, seeds: int) -> list[list[object]]:
    """Return a table line for each method."""
    n_components = FARM_ADS_COMPONENTS if data.name == "farm_ads" else data.n_classes
    lines = []
    for name, (fit, runs) in methods.items():
        scores = []
        for seed in range(min(seeds, runs)):
            start = time.perf_counter()
            assignments = fit(data.rows, n_components, seed)
            seconds = time.perf_counter() - start
            nmi = normalized_mutual_information(data.labels, assignments)
            scores.append((nmi, adjusted_rand(data.labels, assignments), seconds))
        nmi, ari, seconds = zip(*scores, strict=True)
        shape = "{:,} x {:,}".format(*data.rows.shape)
        line = [
            data.name,
            shape,
            n_components,
            name,
            spread(nmi),
            spread(ari),
            f"{statistics.median(seconds):.1f}",
        ]
        print(tables.markdown(HEADER, [line]).splitlines()[-1], flush=True)
        lines.append(line)
    return lines


def spread(values) -> str:
    """Return the median, and the range where there are several values."""
    middle = f"{statistics.median(values):.3f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.3f} to {max(values):.3f})"


def main() -> None:
    """Parse the options, compare the methods on every set, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=LABELLED, default=list(LABELLED))
    parser.add_argument("--methods", nargs="+", default=["shuffled", "filed", "em"])
    parser.add_argument("--seeds", type=int, default=5, help="seeds of the learner (EM: one)")
    parser.add_argument("--quick", action="store_true", help="one start of EM, one seed")
    parser.add_argument("--page", default="real_sets", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    n_init, seeds = (1, 1) if options.quick else (10, options.seeds)
    choices = {
        "shuffled": ("sparsemix, one pass, shuffled", learn_shuffled, seeds),
        "filed": ("sparsemix, one pass, as filed", learn, seeds),
        "em": (f"EM, best of {n_init}", lambda rows, k, seed: run_em(rows, k, seed, n_init), 1),
    }
    methods = {choices[key][0]: choices[key][1:] for key in options.methods}
    if {"shuffled", "filed"} & set(options.methods):
        learn(csr_array(np.eye(50, dtype=np.float32)), 2, 0)
    lines = [line for name in options.only for line in compare(LABELLED[name](), methods, seeds)]
    page = tables.write_page(
        options.page,
        "Real sets with gold labels",
        machine.describe(),
        [tables.markdown(HEADER, lines), NOTES],
    )
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
