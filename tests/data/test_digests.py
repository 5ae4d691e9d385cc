"""Digests of rows: the same for equal rows, another for others."""

import numpy as np
from scipy import sparse

from sparsemix.data.digests import digest_of

ROWS = np.array([[2, 0, 1], [0, 3, 0], [0, 0, 0]])


def test_types_of_numbers_do_not_matter():
    narrow = sparse.csr_array(ROWS.astype(np.int32))
    wide = sparse.csr_array(ROWS)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert digest_of(narrow) == digest_of(wide)
    assert digest_of(ROWS * 1.0) == digest_of((ROWS * 1.0).astype(np.float32))


def test_all_that_is_in_the_rows_matters():
    times = np.arange(3.0)
    shifted = np.roll(ROWS, 1, axis=1)
    others = [ROWS[::-1], ROWS * 2, ROWS[:2], shifted]
    found = [digest_of(sparse.csr_array(each)) for each in (ROWS, *others)]
    found += [digest_of(sparse.csr_array(ROWS), each) for each in (times, times[::-1])]
    assert len(set(found)) == len(found)
    assert digest_of(sparse.csr_array(ROWS), times) == digest_of(sparse.csr_array(ROWS), times.copy())
