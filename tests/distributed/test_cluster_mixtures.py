"""EM on a cluster: the mixture of one process, whatever the cut of the rows and whoever works."""

import numpy as np
import pytest
from cluster_cases import EM, mixture, pieces, state
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix import DataError, ParameterError, load_model
from sparsemix.distributed import fit
from sparsemix.distributed import mixtures as on_workers

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
names = pytest.mark.parametrize("name", EM)


@names
def test_one_batch_gives_the_bits_of_one_process(client, rows, labels, name):
    model = mixture(name)
    fit(model, da.from_array(rows, chunks=rows.shape), da.from_array(labels, chunks=-1), client=client)
    assert state(model) == state(mixture(name).fit(rows, labels))


@names
@pytest.mark.parametrize("size", [200, pytest.param(47, marks=pytest.mark.slow)])
def test_batches_add_up_to_the_whole(client, rows, labels, name, size):
    model = mixture(name)
    run = fit(
        model, da.from_array(rows, chunks=(size, -1)), da.from_array(labels, chunks=size), client=client
    )
    whole = mixture(name).fit(rows, labels)
    assert_allclose(model.profiles_, whole.profiles_, rtol=1e-9)
    assert_allclose(model.trace_, whole.trace_, rtol=1e-12)
    assert [join.n_rows for join in run.joins] == [len(rows)] * model.n_iter_
    assert {join.n_messages for join in run.joins} == {len(pieces(rows, size))}
    assert [join.number for join in run.joins] == list(range(1, model.n_iter_ + 1))


@pytest.mark.parametrize(
    "options", [{"algorithm": "hard"}, {"n_init": 2, "init": "k-means++"}, {"accelerate": True}]
)
def test_starts_and_kinds_of_em_are_those_of_one_process(client, rows, options):
    model = mixture(**options)
    fit(model, da.from_array(rows, chunks=rows.shape), client=client)
    assert state(model) == state(mixture(**options).fit(rows))


def test_a_start_draws_the_rows_that_one_process_draws(client, monkeypatch):
    """With more rows than a start takes, and some labelled; cut or not."""
    from sparsemix.models.em import starts

    monkeypatch.setattr(starts, "FEWEST_ROWS", 100)
    monkeypatch.setattr(starts, "ROWS_PER_COMPONENT", 1)
    rows = np.random.default_rng(0).integers(2, size=(900, 6)).astype(float)
    labels = np.where(np.arange(900) % 7 == 0, 1, -1)
    options = {"max_iter": 1, "tol": 0.0, "init": "k-means++"}
    with pytest.warns(UserWarning, match="not converged"):
        one = mixture(**options).fit(rows, labels)
    model = mixture(**options)
    with pytest.warns(UserWarning, match="not converged"):
        fit(model, da.from_array(rows, chunks=(130, -1)), da.from_array(labels, chunks=130), client=client)
    assert_array_equal(model.profiles_, one.profiles_)


def test_features_are_matched_by_name_over_batches(client):
    import pandas as pd

    frame = pd.DataFrame(np.eye(4)[[0, 1, 2, 3, 0, 1]], columns=list("abcd"))
    parts = [frame.iloc[:3, :3], frame.iloc[3:, ::-1]]
    model = mixture(n_components=2)
    fit(model, [dask.delayed(part) for part in parts], client=client)
    twin = mixture(n_components=2).fit_batches(lambda: parts)
    assert list(model.feature_names_in_) == list("abcd")
    assert_allclose(model.profiles_, twin.profiles_)


def test_sparse_blocks_and_pairs_and_kept_rows(client, rows, labels):
    whole = mixture().fit(rows, labels)
    blocks = da.from_array(rows, chunks=(200, -1)).map_blocks(sparse.csr_array)
    pairs = [dask.delayed(pair) for pair in zip(pieces(rows, 200), pieces(labels, 200), strict=True)]
    for source, y in ((blocks, da.from_array(labels, chunks=200)), (pairs, None)):
        model = mixture()
        fit(model, source, y, client=client, keep_rows=True)
        assert_allclose(model.profiles_, whole.profiles_, rtol=1e-9)


def test_messages_hold_what_is_not_zero(client):
    """Two batches without a feature in common: of each, the message has half of the counts."""
    rows = np.kron(np.eye(2), np.ones((50, 10)))
    model = mixture("multinomial", n_components=2)
    run = fit(model, da.from_array(rows, chunks=(50, -1)), client=client)
    n_entries = 2 * 10 * 2  # counts of both batches at least once, each in one component
    dense = 2 * 20 * 2 * 8
    assert n_entries * 12 <= run.joins[-1].n_bytes < 2 * dense
    assert run.joins[-1].n_bytes_of_model >= 20 * 2 * 8
    assert run.n_bytes == sum(join.n_bytes for join in run.joins)


def test_sums_are_added_in_a_tree_that_depends_on_their_number_alone(monkeypatch):
    monkeypatch.setattr(on_workers, "SUMS_PER_STEP", 2)
    monkeypatch.setattr(on_workers, "call", lambda _, parts: ["+", *parts])
    assert on_workers._tree(list("abcde")) == ["+", ["+", ["+", "a", "b"], ["+", "c", "d"]], "e"]


def test_a_fit_that_was_broken_off_goes_on_to_the_same_bits(client, rows, tmp_path):
    source, file = da.from_array(rows, chunks=(200, -1)), tmp_path / "model.smx"
    whole = mixture(tol=0.0, max_iter=6)

    def stop(join):
        if join.number == 3:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="not converged"):
        fit(whole, source, client=client)
    with pytest.raises(KeyboardInterrupt):
        fit(mixture(tol=0.0, max_iter=6), source, client=client, checkpoint=file, on_join=stop)
    model = mixture(tol=0.0, max_iter=6)
    with pytest.warns(UserWarning, match="not converged"):
        fit(model, source, client=client, checkpoint=file, resume=True)
    assert_array_equal(model.profiles_, whole.profiles_)
    assert_array_equal(model.trace_, whole.trace_)
    assert (model.warm_start, model.max_iter, load_model(file).max_iter) == (False, 6, 6)


@names
def test_what_does_not_fit_is_an_error_of_the_library(client, name):
    with pytest.raises(DataError, match="must have at least one row"):
        fit(mixture(name), da.zeros((0, 3), chunks=(1, 3)), client=client)
    with pytest.raises(DataError, match="'X' of"):
        fit(mixture(name), da.from_array(-np.ones((4, 2)), chunks=(2, 2)), client=client)
    with pytest.raises(ParameterError, match=r"'init' of .* must be a word where rows are elsewhere"):
        fit(mixture(name, init=np.eye(4)), da.zeros((4, 3), chunks=(2, 3)), client=client)
    for odd in ({"n_init": 2}, {"accelerate": True}):
        with pytest.raises(ParameterError, match="'checkpoint' of fit must be None with several starts or"):
            fit(mixture(name, **odd), da.zeros((4, 3), chunks=(2, 3)), client=client, checkpoint="m.smx")
