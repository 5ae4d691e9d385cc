"""EM on real texts: clusters without labels, and classes with few labels, beside well-known peers.

Run ``python benchmarks/em_text.py``; it writes ``benchmarks/results/em_text.md``. The data lie outside the project,
see ``harness/realdata.py``. ``--only bbc_news --seeds 1`` is quick.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.semi_supervised import SelfTrainingClassifier

from harness import machine, tables
from harness.realdata import TEXTS, LabelledRows, counted_words
from sparsemix import BernoulliMixture, MultinomialMixture

LABELS_A_CLASS = (1, 5, 20)
MIXTURES: dict[str, dict[str, float]] = {
    "mixture, weight 1": {},
    "mixture, weight 0.1": {"unlabeled_weight": 0.1},
    "weight 0.1, smoothing 0.1": {"unlabeled_weight": 0.1, "smoothing": 0.1},
}
ALPHAS = (0.01, 0.1, 1.0)  # smoothing of the peers, of which each set and number of labels is given the best
TEST_SHARE = 0.3
CLUSTERINGS: dict[str, Callable[[int, int], object]] = {
    "multinomial, soft": lambda k, seed: MultinomialMixture(k, random_state=seed),
    "multinomial, hard": lambda k, seed: MultinomialMixture(k, algorithm="hard", random_state=seed),
    "Bernoulli, soft": lambda k, seed: BernoulliMixture(k, binarize=0, random_state=seed),
    "Bernoulli, hard": lambda k, seed: BernoulliMixture(k, binarize=0, algorithm="hard", random_state=seed),
}
NOTES = f"""Words of two letters or more that two texts have, counted; ng20 comes as zeros and ones. Without labels
there are as many clusters as classes; NMI and ARI against the classes, mean and standard deviation over seeds. KMeans
runs on tf-idf. Log likelihood a word is of the texts that were set apart, {TEST_SHARE:.0%} of them, in nats,
for the soft multinomial; "seconds" are of its fit, one thread, by the processor. With labels, so many a class
of the other texts keep theirs and the rest are unlabelled. "Naive Bayes" learns from the labelled texts alone,
"self-training" is scikit-learn's around it; both have the smoothing of 0.01, 0.1 and 1 that turned out best on
the texts set apart. The mixture has its defaults, or an `unlabeled_weight` of 0.1, or with that a `smoothing`
of 0.1; "twice the clusters" has two for each class and maps them to classes by the labelled texts. Accuracies
are means over seeds."""


def without_labels(data: LabelledRows, seeds: int) -> list[object]:
    """Return the line of one set."""
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in [*CLUSTERINGS, "KMeans"]}
    seconds, per_word = [], []
    tfidf = TfidfTransformer().fit_transform(data.rows)
    for seed in range(seeds):
        for name, make in CLUSTERINGS.items():
            start = time.process_time()
            labels = make(data.n_classes, seed).fit(data.rows).labels_
            if name == "multinomial, soft":
                seconds.append(time.process_time() - start)
            scores[name].append(agreement(data.labels, labels))
        labels = KMeans(data.n_classes, n_init=1, random_state=seed).fit(tfidf).labels_
        scores["KMeans"].append(agreement(data.labels, labels))
        train, test = split(data, seed)
        model = MultinomialMixture(data.n_classes, random_state=seed).fit(data.rows[train])
        per_word.append(model.score_per_token(data.rows[test]))
    shown = [
        f"{np.mean([s[0] for s in own]):.3f} ± {np.std([s[0] for s in own]):.3f} / {np.mean([s[1] for s in own]):.3f}"
        for own in scores.values()
    ]
    shape = "{:,} x {:,}, {}".format(*data.rows.shape, data.n_classes)
    return [data.name, shape, *shown, f"{np.mean(per_word):.3f}", f"{np.median(seconds):.1f}"]


def agreement(classes: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return NMI and ARI."""
    return normalized_mutual_info_score(classes, labels), adjusted_rand_score(classes, labels)


def split(data: LabelledRows, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts to learn from and those set apart."""
    order = np.random.default_rng(seed).permutation(data.rows.shape[0])
    n_test = round(TEST_SHARE * order.size)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def some_labels(classes: np.ndarray, n_each: int, rng: np.random.Generator) -> np.ndarray:
    """Return the classes with all but `n_each` of each hidden as -1."""
    known = np.full(classes.size, -1)
    for one in np.unique(classes):
        kept = rng.permutation(np.flatnonzero(classes == one))[:n_each]
        known[kept] = one
    return known


def with_labels(data: LabelledRows, n_each: int, seeds: int) -> list[object]:
    """Return the line of one set and number of labels a class: accuracies."""
    found: dict[tuple[str, float], list[float]] = {}
    for seed in range(seeds):
        train, test = split(data, seed)
        rows, classes = data.rows[train], data.labels[train]
        known = some_labels(classes, n_each, np.random.default_rng(seed))
        answers = {}
        for alpha in ALPHAS:
            few = MultinomialNB(alpha=alpha).fit(rows[known >= 0], known[known >= 0])
            answers["naive Bayes", alpha] = few.predict
            answers["self-training", alpha] = SelfTrainingClassifier(few).fit(rows, known).predict
        for name, options in MIXTURES.items():
            mixture = MultinomialMixture(data.n_classes, random_state=seed, **options)
            answers[name, 0.0] = mixture.fit(rows, known).predict
        twice = MultinomialMixture(2 * data.n_classes, random_state=seed).fit(rows, known)
        answers["twice the clusters", 0.0] = in_classes(twice, rows, known)
        for name, predict in answers.items():
            accuracy = float(np.mean(predict(data.rows[test]) == data.labels[test]))
            found.setdefault(name, []).append(accuracy)
    means = {name: np.mean(own) for name, own in found.items()}
    peers = [max(means[name, alpha] for alpha in ALPHAS) for name in ("naive Bayes", "self-training")]
    mixtures = [means[name] for name in means if name[0] not in {"naive Bayes", "self-training"}]
    best = "yes" if max(mixtures) > max(peers) else "no"
    return [data.name, n_each, *(f"{mean:.3f}" for mean in [*peers, *mixtures]), best]


def in_classes(
    model: MultinomialMixture, rows: csr_array, known: np.ndarray
) -> Callable[[csr_array], np.ndarray]:
    """Map components to classes by naive Bayes on the labelled texts' responsibilities."""
    shares = model.predict_proba(rows[known >= 0])
    table = MultinomialNB(alpha=0.1).fit(shares, known[known >= 0])
    return lambda others: table.predict(model.predict_proba(others))


def main() -> None:
    """Parse the options, run every set, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=TEXTS, default=list(TEXTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--page", default="em_text", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    warnings.simplefilter("ignore")
    clusters, classes = [], []
    for name in options.only:
        data = counted_words(name)
        clusters.append(without_labels(data, options.seeds))
        print(clusters[-1], flush=True)
        for n_each in LABELS_A_CLASS:
            classes.append(with_labels(data, n_each, options.seeds))
            print(classes[-1], flush=True)
    header = ("set", "texts x words, classes", *(f"{name} (NMI / ARI)" for name in [*CLUSTERINGS, "KMeans"]))
    labelled = (
        "set",
        "labels a class",
        "naive Bayes",
        "self-training",
        *MIXTURES,
    )
    sections = [
        "Without labels:",
        tables.markdown((*header, "log likelihood a word", "seconds"), clusters),
        "With few labels, accuracy on texts set apart:",
        tables.markdown((*labelled, "twice the clusters", "a mixture is best"), classes),
        NOTES,
    ]
    page = tables.write_page(options.page, "EM on real texts", machine.describe(), sections)
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
