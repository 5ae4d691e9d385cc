import numpy as np
from chain_cases import draws_of_partitions
from hypothesis import given
from numpy.testing import assert_array_equal

from sparsemix.chains import posterior_of_n_clusters


@given(draws_of_partitions())
def test_equals_counting(draws):
    numbers = [len(set(draw)) for draw in draws.tolist()]
    found = posterior_of_n_clusters(draws)
    assert_array_equal(found.n_clusters, sorted(set(numbers)))
    assert_array_equal(found.probability, [numbers.count(n) / len(numbers) for n in found.n_clusters])


def test_labels_are_only_names():
    widest = np.array([[np.iinfo(np.int64).min, np.iinfo(np.int64).max, -1, -1]])
    assert posterior_of_n_clusters(widest).n_clusters.tolist() == [3]
    assert posterior_of_n_clusters(np.array([[2**64 - 1, 0]], np.uint64)).n_clusters.tolist() == [2]
