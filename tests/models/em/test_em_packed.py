"""Rows of zeros and ones by the byte give what rows as CSR give, compiled and plain."""

import numpy as np
import pytest
from em_cases import MODES, NAMES, as_mode, draw_mixture, draw_rows, log_joint_of, parameters_of, rows_of
from hypothesis import given
from hypothesis import strategies as st
from mixture_cases import MIXTURES
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix.models.em import engine, equations, packed, packed_kernels
from sparsemix.numeric import lanes

seeds = st.integers(0, 10_000)
modes = pytest.mark.parametrize("mode", MODES)
names = pytest.mark.parametrize("name", NAMES)


def codes_of(dense):
    """Eight features to a byte, by NumPy."""
    return np.packbits(dense > 0, axis=1, bitorder="little")


def dense_rows(n_rows=2_000, n_features=21, seed=0):
    """Rows about half full, enough of them for codes to pay."""
    rng = np.random.default_rng(seed)
    shares = rng.random((3, n_features))[rng.integers(3, size=n_rows)]
    return (rng.random(shares.shape) < shares).astype(float)


@modes
@given(seed=seeds, n_features=st.integers(1, 40))
def test_pack(mode, seed, n_features):
    dense = draw_rows(np.random.default_rng(seed), "bernoulli", n_features=n_features)
    expected, rows = codes_of(dense), rows_of(dense)
    found = np.zeros_like(expected)
    as_mode(packed_kernels.pack, mode)(rows.indptr, rows.columns, found)
    assert_array_equal(found, expected)


@modes
@names
@given(seed=seeds, n_components=st.integers(1, 20), n_features=st.integers(1, 40))
def test_log_joint(mode, name, seed, n_components, n_features):
    rng = np.random.default_rng(seed)
    zeros = 0.0 if name == "bernoulli" else 0.3
    dense = draw_mixture(rng, name, n_components, n_features, zeros=zeros)
    rows, parameters = draw_rows(rng, "bernoulli", n_features=n_features), parameters_of(name, dense)
    tables = lanes.zeros(codes_of(rows).shape[1], n_components)
    as_mode(packed_kernels.fill, mode)(parameters.feature_weights, tables)
    found = np.full((12, n_components), np.nan)
    as_mode(packed_kernels.log_joint, mode)(codes_of(rows), parameters.constants, tables, found)
    assert_allclose(found, log_joint_of(name, dense, rows), rtol=1e-10, atol=1e-10)


@modes
@given(seed=seeds, n_features=st.integers(1, 40), n_parts=st.integers(1, 7))
def test_expected_counts(mode, seed, n_features, n_parts):
    """Of all features, or of some and then the others, to the bit."""
    rng = np.random.default_rng(seed)
    rows, row_weights = draw_rows(rng, "bernoulli", n_features=n_features), rng.integers(3, size=12) * 0.5
    shares = rng.dirichlet(np.full(4, 0.5), 12)
    found = []
    for parts in ([(0, 1)], [(part, n_parts) for part in range(n_parts)]):
        counts = np.ones((n_features, 4))
        for part in parts:
            codes = codes_of(rows)
            tables = lanes.zeros(codes[:, part[0] :: part[1]].shape[1], 4)
            add = as_mode(packed_kernels.add_expected_counts, mode)
            add(codes, shares, row_weights, *part, tables, counts)
        found.append(counts)
    assert_allclose(found[0].T - 1.0, equations.expected_counts(rows, shares, row_weights), atol=1e-12)
    assert_array_equal(*found)


def test_only_many_dense_rows_of_ones_get_codes():
    dense = dense_rows()
    assert_array_equal(packed.with_codes(rows_of(dense), 21, 3).codes, codes_of(dense))
    for rows, n_features, n_components in (
        (rows_of(dense[:20]), 21, 3),
        (rows_of(dense * (np.random.default_rng(0).random(dense.shape) < 0.1)), 21, 3),
        (rows_of(dense + dense), 21, 3),
        (rows_of(dense), 21, 1_000),
    ):
        assert packed.with_codes(rows, n_features, n_components).codes is None


@names
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("is_hard", [True, False])
def test_an_epoch_with_codes_is_an_epoch(name, n_threads, is_hard):
    rng = np.random.default_rng(1)
    dense, labels = dense_rows(), np.where(rng.random(2_000) < 0.1, 2, -1)
    rows = rows_of(dense, labels, rng.random(2_000))
    coded = packed.with_codes(rows, 21, 3)
    assert coded.codes is not None
    parameters = parameters_of(name, draw_mixture(rng, name, n_features=21))
    plain = engine.summarize([rows], parameters, is_hard=is_hard)
    found = engine.summarize([coded], parameters, is_hard=is_hard, n_threads=n_threads)
    once = engine.summarize([coded], parameters, is_hard=is_hard)
    assert_allclose(found.counts, plain.counts)
    assert_allclose(found.sizes, plain.sizes)
    assert found.log_likelihood == pytest.approx(plain.log_likelihood)
    assert_array_equal(found.counts, once.counts)
    assert found.log_likelihood == once.log_likelihood


@names
def test_fits_with_and_without_codes_agree(name, monkeypatch):
    dense = dense_rows(5_000)
    model = MIXTURES[name](3, random_state=0, max_iter=20, tol=0.0, init="k-means++")
    with pytest.warns(match="not converged"):
        coded = model.fit(dense).trace_
    monkeypatch.setattr(packed, "MOST_CELLS", 0)
    with pytest.warns(match="not converged"):
        assert_allclose(model.fit(dense).trace_, coded, rtol=1e-9)
