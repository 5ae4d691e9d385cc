"""The published synthetic set over twenty seeds: pair rates and ARI of the learner, EM and k-means.

Run ``python benchmarks/synthetic.py``; it writes ``benchmarks/results/synthetic.md``. ``--seeds 3`` does
fewer.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

import sparsemix
from harness import machine, tables
from harness.em import fit_em
from sparsemix.data.synthetic import make_bernoulli_mixture
from sparsemix.metrics import adjusted_rand, pair_rates

N_COMPONENTS = 10
FIGURES = ("true positive (%)", "false positive (%)", "ARI", "seconds")
PUBLISHED = {
    ("sparsemix, one pass", "true positive (%)"): "99.5",
    ("sparsemix, one pass", "false positive (%)"): "1.66",
    ("EM", "true positive (%)"): "97.4",
    ("EM", "false positive (%)"): "1.67",
    ("k-means", "true positive (%)"): "94.3",
    ("k-means", "false positive (%)"): "2.28",
}
NOTES = """10,000 rows x 100 features, 10 clusters with uniform Bernoulli probabilities, weights a
uniform draw from the simplex; data and model take the same seed. A pair of rows counts as together when
it shares a cluster with a probability above 0.5. The learner runs with its defaults. EM is Bernoulli EM
to convergence, the most likely of ten starts (five near the average profile, five from k-means++
seeds); k-means is scikit-learn's with its defaults. The published figures are for one data set."""


def learner(rows: np.ndarray, seed: int) -> np.ndarray:
    """Responsibilities of the online Bernoulli mixture after one pass."""
    model = sparsemix.OnlineBernoulliMixture(n_components=N_COMPONENTS, random_state=seed).fit(rows)
    return model.predict_proba(rows)


def em(rows: np.ndarray, seed: int) -> np.ndarray:
    """Responsibilities of Bernoulli EM to convergence."""
    sparse = csr_array(rows, dtype=np.float64)
    return fit_em(sparse, N_COMPONENTS, seed=seed, n_init=10, keep_responsibilities=True).responsibilities


def k_means(rows: np.ndarray, seed: int) -> np.ndarray:
    """Labels of k-means."""
    return KMeans(N_COMPONENTS, random_state=seed).fit(rows.astype(np.float64)).labels_


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "sparsemix, one pass": learner,
    "EM": em,
    "k-means": k_means,
}


def measure(fit: Callable[[np.ndarray, int], np.ndarray], seed: int) -> tuple[float, ...]:
    """Return true and false positive rate in percent, ARI and seconds on the set of one seed."""
    rows, truth = make_bernoulli_mixture(random_state=seed)
    start = time.perf_counter()
    result = fit(rows, seed)
    seconds = time.perf_counter() - start
    rates = pair_rates(truth, result)
    labels = result if result.ndim == 1 else result.argmax(axis=1)
    return 100 * rates.true_positive, 100 * rates.false_positive, adjusted_rand(truth, labels), seconds


def main() -> None:
    """Parse the options, run every method on every seed, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="seeds 0, 1, ...")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--page", default="synthetic", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    lines, worst = [], []
    for method in options.methods:
        METHODS[method](make_bernoulli_mixture(500, random_state=0)[0], 0)
        table = np.array([measure(METHODS[method], seed) for seed in range(options.seeds)])
        for column, name in enumerate(FIGURES):
            values = table[:, column]
            figures = [f"{statistic(values):.4g}" for statistic in (np.median, np.mean, np.min, np.max)]
            lines.append([method, name, *figures, PUBLISHED.get((method, name))])
        worst.append(f"- {method}: lowest ARI at seeds {', '.join(map(str, table[:, 2].argsort()[:3]))}.")
    page = tables.write_page(
        options.page,
        f"The published synthetic set, seeds 0 to {options.seeds - 1}",
        machine.describe(),
        [
            tables.markdown(["method", "figure", "median", "mean", "min", "max", "published"], lines),
            "\n".join(worst),
            NOTES,
        ],
    )
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
