"""Hide a part of each ad's keywords and rank the rest: the split, the two baselines, and the score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from harness.realdata import binary_rows
from sparsemix.metrics import recall_at

N_SUGGESTIONS = 10
HIDDEN_SHARE = 0.2
BLOCK_ROWS = 500

Ranker = Callable[
    [csr_array, csr_array], Sequence[Sequence[int]]
]  # training rows, shown rows -> ranked columns


@dataclass(frozen=True, eq=False)
class Split:
    """Ads to learn from, and ads of which a part is hidden.

    train, shown : csr_array, (n_rows, n_features)
    hidden : the columns taken out of each shown row, at least one
    """

    train: csr_array
    shown: csr_array
    hidden: list[np.ndarray]

    def recall(self, ranked: Sequence[Sequence[int]]) -> float:
        """Return recall at `N_SUGGESTIONS`."""
        return recall_at([set(columns.tolist()) for columns in self.hidden], ranked, N_SUGGESTIONS)

    def first(self, n_rows: int) -> "Split":
        """Return the same split with the first `n_rows` shown ads alone."""
        return Split(self.train, self.shown[:n_rows], self.hidden[:n_rows])


def usable_rows(rows: csr_array) -> csr_array:
    """Return the ads with two keywords or more: one can be hidden and one shown."""
    return rows[np.diff(rows.indptr) >= 2]


def split_ads(rows: csr_array, rng: np.random.Generator, test_share: float = 0.2) -> Split:
    """Set `test_share` of the ads apart and hide a fifth of each one's keywords, at least one."""
    order = rng.permutation(rows.shape[0])
    n_test = round(test_share * rows.shape[0])
    shown, hidden = [], []
    for row in np.sort(order[:n_test]):
        columns = rng.permutation(rows.indices[rows.indptr[row] : rows.indptr[row + 1]])
        n_hidden = max(1, round(HIDDEN_SHARE * len(columns)))
        hidden.append(columns[:n_hidden])
        shown.append(columns[n_hidden:])
    return Split(rows[np.sort(order[n_test:])], binary_rows(shown, rows.shape[1]), hidden)


def by_popularity(train: csr_array, shown: csr_array) -> list[list[int]]:
    """Rank by the number of training ads that hold a keyword."""
    counts = np.asarray(train.sum(axis=0), dtype=np.float64)
    return top_columns(lambda block: np.tile(counts, (block.shape[0], 1)), shown)


def by_cosine(train: csr_array, shown: csr_array) -> list[list[int]]:
    """Rank by the sum of a keyword's cosine similarities to the shown ones; ties by popularity."""
    counts = np.asarray(train.sum(axis=0), dtype=np.float64)
    unit = train @ diags_array(1.0 / np.sqrt(np.maximum(counts, 1.0)))
    similarity = csr_array(unit.T @ unit)
    tie_break = 1e-9 * counts
    return top_columns(lambda block: (block @ similarity).toarray() + tie_break, shown)


def top_columns(score: Callable[[csr_array], np.ndarray], shown: csr_array) -> list[list[int]]:
    """Return the best columns of each row that are not shown, best first; `score` maps a block to scores."""
    ranked = []
    for start in range(0, shown.shape[0], BLOCK_ROWS):
        block = shown[start : start + BLOCK_ROWS]
        scores = score(block)
        scores[block.nonzero()] = -np.inf
        best = np.argpartition(-scores, N_SUGGESTIONS, axis=1)[:, :N_SUGGESTIONS]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
        ranked += np.take_along_axis(best, order, axis=1).tolist()
    return ranked
