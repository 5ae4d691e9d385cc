import brute_force
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsemix.foundation.errors import DataError
from sparsemix.metrics import advertiser_entropy


@given(
    groups=st.lists(st.sampled_from(["acme", "zeta", None, 3]), min_size=1, max_size=12),
    seed=st.integers(0, 2**32 - 1),
)
def test_equals_the_definition(groups, seed):
    groups = ["acme", *groups]
    responsibilities = np.random.default_rng(seed).dirichlet(np.ones(3), len(groups))
    expected = brute_force.advertiser_entropy(responsibilities, groups)
    assert advertiser_entropy(responsibilities, groups) == pytest.approx(expected, abs=1e-12)


def test_one_group_everywhere_has_the_entropy_of_the_clusters():
    assert advertiser_entropy([0, 1, 2, 3], np.zeros(4, dtype=np.int64)) == pytest.approx(np.log(4))


def test_wrong_input_is_named():
    with pytest.raises(DataError, match="'responsibilities' and 'groups' must have the same number of rows"):
        advertiser_entropy([0, 1], ["acme"])
    with pytest.raises(DataError, match="all are None"):
        advertiser_entropy([0, 1], [None, None])
