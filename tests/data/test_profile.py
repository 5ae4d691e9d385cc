"""Profiles and filters against slow and obvious twins."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparsemix.data import Dataset
from sparsemix.data.profile import component_sizes, count_duplicate_rows
from sparsemix.foundation.errors import ParameterError

MATRICES = arrays(
    np.int64, st.tuples(st.integers(0, 8), st.integers(1, 8)), elements=st.sampled_from([0, 0, 0, 1, 2])
)


def naive_components(matrix: np.ndarray) -> list[int]:
    """Sizes of the components in rows: merge rows that share a feature until nothing changes."""
    groups = [({i}, set(np.flatnonzero(row))) for i, row in enumerate(matrix)]
    merged = True
    while merged:
        merged = False
        for a in range(len(groups)):
            for b in range(a + 1, len(groups)):
                if groups[a][1] & groups[b][1]:
                    groups[a] = (groups[a][0] | groups[b][0], groups[a][1] | groups[b][1])
                    del groups[b]
                    merged = True
                    break
            if merged:
                break
    return sorted(len(rows) for rows, _ in groups)


@given(MATRICES)
def test_profile_equals_the_slow_way(matrix):
    profile = Dataset.from_matrix(matrix).profile()
    sizes = naive_components(matrix)
    filled = [tuple(row) for row in matrix if row.any()]
    widths, popularity = (matrix > 0).sum(axis=1), (matrix > 0).sum(axis=0)
    assert (profile.n_rows, profile.n_features) == matrix.shape
    assert profile.n_nonzero == np.count_nonzero(matrix)
    assert profile.n_connected_components == len(sizes)
    assert profile.n_single_row_components == sizes.count(1)
    assert profile.largest_component_share == (max(sizes) / len(matrix) if sizes else 0)
    assert profile.n_duplicate_rows == len(filled) - len(set(filled))
    assert profile.n_empty_rows == np.count_nonzero(widths == 0)
    assert profile.n_empty_features == np.count_nonzero(popularity == 0)
    assert profile.rows_per_feature["0.5"] == np.median(popularity)
    assert profile.features_per_row["1"] == max(widths, default=0)


def test_the_graph_of_the_paper_in_small():
    """One large component, one pair, one row with one keyword, one row without."""
    matrix = np.zeros((8, 7), dtype=int)
    for row, columns in enumerate([[0, 1], [1, 2], [2, 3], [0], [4, 5], [5], [6], []]):
        matrix[row, columns] = 1
    profile = Dataset.from_matrix(matrix).profile()
    assert profile.n_connected_components == 4
    assert profile.largest_component_share == 0.5
    assert profile.n_single_row_components == 2
    assert "4 connected components: 50.0% of the rows in the largest, 2 of a single row" in str(profile)


def test_many_rows_on_one_pair_of_features_are_one_component():
    matrix = Dataset.from_matrix(np.ones((300, 2), dtype=int)).matrix
    assert component_sizes(matrix).tolist() == [300]
    assert count_duplicate_rows(matrix) == 299


def test_counts_tell_rows_apart():
    assert count_duplicate_rows(Dataset.from_matrix(np.array([[1, 2], [2, 1], [1, 2]])).matrix) == 1


def test_a_profile_is_plain_json():
    profile = Dataset.from_matrix(np.eye(3, dtype=int)).profile().to_dict()
    assert json.loads(json.dumps(profile)) == profile
    assert profile["features_per_row"]["0.5"] == 1.0


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_a_profile_of_next_to_nothing(shape):
    profile = Dataset.from_matrix(np.zeros(shape, dtype=int)).profile()
    assert profile.n_connected_components == shape[0]
    assert profile.n_nonzero == 0
    assert str(profile)


@given(MATRICES, st.one_of(st.none(), st.integers(1, 4)), st.one_of(st.none(), st.integers(1, 4)))
def test_filter_equals_the_slow_way(matrix, at_least, at_most):
    names = [f"f{j}" for j in range(matrix.shape[1])]
    dataset = Dataset.from_matrix(matrix, feature_names=names, labels=range(len(matrix)))
    found = dataset.filter(min_rows_per_feature=at_least, max_features_per_row=at_most)

    columns = [j for j in range(matrix.shape[1]) if np.count_nonzero(matrix[:, j]) >= (at_least or 0)]
    cut = matrix[:, columns]
    widths = np.count_nonzero(cut, axis=1)
    rows = [i for i in range(len(matrix)) if 0 < widths[i] <= (at_most or np.inf)]

    assert found.matrix.toarray().tolist() == cut[rows].tolist()
    assert found.feature_names.tolist() == [names[j] for j in columns]
    assert found.row_ids.tolist() == found.labels.tolist() == rows
    removed = found.report.removed
    assert removed.n_features_removed == matrix.shape[1] - len(columns)
    assert removed.n_entries_removed == np.count_nonzero(matrix) - np.count_nonzero(cut)
    assert removed.n_wide_rows_removed == sum(width > (at_most or np.inf) for width in widths)
    assert removed.n_empty_rows_removed == sum(width == 0 for width in widths)


def test_features_are_cut_before_rows():
    """A row that is overlong only by rare features stays."""
    matrix = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]])
    kept = Dataset.from_matrix(matrix).filter(min_rows_per_feature=2, max_features_per_row=2)
    assert kept.matrix.toarray().tolist() == [[1, 1], [1, 1], [1, 0]]


def test_the_cut_is_made_once():
    """The overlong row goes after its features were counted, so one of them ends with a single row."""
    matrix = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 1, 0]])
    kept = Dataset.from_matrix(matrix).filter(min_rows_per_feature=2, max_features_per_row=1)
    assert kept.matrix.toarray().tolist() == [[1, 0], [0, 1], [0, 1]]


def test_the_input_stays_as_it_was():
    dataset = Dataset.from_matrix(np.array([[1, 1], [1, 0]]))
    dataset.filter(min_rows_per_feature=2)
    assert dataset.matrix.toarray().tolist() == [[1, 1], [1, 0]]
    assert dataset.report.removed is None


def test_the_report_of_a_filter_reads_well():
    dataset = Dataset.from_matrix(np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1]]))
    report = dataset.filter(min_rows_per_feature=2, max_features_per_row=2).report
    assert str(report.removed) == (
        "removed 0 features of fewer than 2 rows (0 non-zeros), 1 row of more than 2 features, "
        "0 rows left without a feature"
    )
    assert report.to_dict()["removed"]["n_wide_rows_removed"] == 1
    only_features = str(dataset.filter(min_rows_per_feature=3).report.removed)
    assert "None" not in only_features


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
def test_thresholds_are_checked(bad):
    dataset = Dataset.from_matrix(np.eye(2))
    with pytest.raises(ParameterError, match=r"'min_rows_per_feature' of Dataset\.filter"):
        dataset.filter(min_rows_per_feature=bad)
    with pytest.raises(ParameterError, match=r"'max_features_per_row' of Dataset\.filter"):
        dataset.filter(max_features_per_row=bad)
