"""Slow twins of the metrics: every pair and every cell by its definition."""

from itertools import combinations
from math import comb, log


def clusters_of(labels):
    return [{i for i, label in enumerate(labels) if label == name} for name in set(labels)]


def entropy(labels):
    n_rows = len(labels)
    return -sum(len(cluster) / n_rows * log(len(cluster) / n_rows) for cluster in clusters_of(labels))


def mutual_information(first, second):
    n_rows = len(first)
    total = 0.0
    for a in clusters_of(first):
        for b in clusters_of(second):
            shared = len(a & b)
            if shared:
                total += shared / n_rows * log(n_rows * shared / (len(a) * len(b)))
    return total


def variation_of_information(first, second):
    return entropy(first) + entropy(second) - 2 * mutual_information(first, second)


def normalized_mutual_information(first, second):
    mean_entropy = (entropy(first) + entropy(second)) / 2
    return mutual_information(first, second) / mean_entropy if mean_entropy else 1.0


def adjusted_rand(first, second):
    pairs = comb(len(first), 2)
    in_both = sum(comb(len(a & b), 2) for a in clusters_of(first) for b in clusters_of(second))
    in_first = sum(comb(len(a), 2) for a in clusters_of(first))
    in_second = sum(comb(len(b), 2) for b in clusters_of(second))
    expected = in_first * in_second / pairs
    highest = (in_first + in_second) / 2
    return 1.0 if highest == expected else (in_both - expected) / (highest - expected)


def pair_rates(true, responsibilities, threshold):
    together, apart = [], []
    for i, j in combinations(range(len(true)), 2):
        shared = sum(a * b for a, b in zip(responsibilities[i], responsibilities[j], strict=True))
        (together if true[i] == true[j] else apart).append(shared > threshold)
    return tuple(sum(part) / len(part) if part else float("nan") for part in (together, apart))


def advertiser_entropy(responsibilities, groups):
    total, n_rows = 0.0, 0
    for group in set(groups) - {None}:
        rows = [row for row, name in zip(responsibilities, groups, strict=True) if name == group]
        shares = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        total += len(rows) * -sum(share * log(share) for share in shares if share > 0)
        n_rows += len(rows)
    return total / n_rows


def recall_at(hidden, ranked, n):
    shares = []
    for wanted, suggested in zip(hidden, ranked, strict=True):
        if wanted:
            shares.append(sum(feature in suggested[:n] for feature in wanted) / len(wanted))
    return sum(shares) / len(shares) if shares else float("nan")
