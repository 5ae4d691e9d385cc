"""Users' factors in files: the same bits, less memory, files that go, and a fit that is interrupted."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from gap_cases import draw_counts, hash_of, new_model
from numpy.testing import assert_array_equal
from scipy import sparse

from sparsemix import ParameterError, load_model, save_model
from sparsemix.models.gamma_poisson import user_tables

COUNTS = draw_counts(n_rows=200)
ALGORITHMS = [("map", "accelerated"), ("ml", "em"), ("ml", "multiplicative"), ("map", "multiplicative")]
pytestmark = pytest.mark.filterwarnings("ignore:.*sweeps were not enough")


@pytest.fixture(params=[10**6, 100], ids=["one block", "many blocks"])
def _blocks(request, monkeypatch):
    monkeypatch.setattr(user_tables, "BLOCK_CELLS", request.param)


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize(("solver", "algorithm"), ALGORITHMS)
@pytest.mark.parametrize("shape", [1.1, 0.3])
def test_the_answer_is_the_same_to_the_bit(solver, algorithm, shape):
    models = [
        new_model(solver, algorithm=algorithm, shape=shape, max_iter=40, n_init=2, users_on_disk=where).fit(
            COUNTS
        )
        for where in (False, True)
    ]
    assert isinstance(models[1].user_factors_, np.memmap)
    assert not isinstance(models[0].user_factors_, np.memmap)
    assert_array_equal(models[1].user_factors_, models[0].user_factors_)
    assert hash_of(models[1].set_params(users_on_disk=False)) == hash_of(models[0])


def test_blocks_move_no_more_than_the_last_digits(monkeypatch):
    whole = new_model(max_iter=30).fit(COUNTS)
    monkeypatch.setattr(user_tables, "BLOCK_CELLS", 100)
    found = new_model(max_iter=30, n_jobs=2).fit(COUNTS)
    np.testing.assert_allclose(found.user_factors_, whole.user_factors_, rtol=1e-6, atol=1e-9)


def test_memory_does_not_hold_the_users(monkeypatch):
    monkeypatch.setattr(user_tables, "BLOCK_CELLS", 1 << 14)
    rng, (n_users, n_components) = np.random.default_rng(0), (40_000, 40)
    places = (np.arange(n_users), rng.integers(30, size=n_users))
    counts = sparse.csr_array((rng.poisson(2.0, n_users) + 1.0, places), shape=(n_users, 30))
    peaks = []
    for where in (False, True):
        model = new_model(n_components=n_components, max_iter=5, users_on_disk=where)
        model.fit(counts[:50])
        tracemalloc.start()
        model.fit(counts)
        peaks.append(tracemalloc.get_traced_memory()[1] / (8.0 * n_users * n_components))
        tracemalloc.stop()
    assert peaks[0] > 3.0  # tables of users
    assert peaks[1] < 0.6


def test_files_have_no_names(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = []
    model = new_model(users_on_disk=True, max_iter=5)
    model.fit(COUNTS, on_sweep=lambda _: seen.extend(Path(tmp_path).iterdir()))
    assert seen == []
    assert np.isfinite(model.user_factors_).all()


def test_new_users_are_on_disk_too():
    models = [new_model(users_on_disk=where).fit(COUNTS).partial_fit(COUNTS[:9]) for where in (False, True)]
    assert isinstance(models[1].user_factors_, np.memmap)
    assert_array_equal(models[1].user_factors_, models[0].user_factors_)


def test_an_interrupted_fit_goes_on_in_files(tmp_path):
    class StopError(Exception):
        pass

    def stop(progress):
        if progress.sweep == 7:
            raise StopError

    whole, model = (new_model(users_on_disk=where, max_iter=30) for where in (False, True))
    with pytest.raises(StopError):
        model.fit(COUNTS, on_sweep=stop)
    save_model(model, tmp_path / "m.smx")
    again = load_model(tmp_path / "m.smx").set_params(warm_start=True).fit(COUNTS)
    assert isinstance(again.user_factors_, np.memmap)
    assert_array_equal(again.user_factors_, whole.fit(COUNTS).user_factors_)


def test_draws_are_never_on_disk():
    with pytest.raises(ParameterError, match="'users_on_disk' of GammaPoissonFactors must be False"):
        new_model("gibbs", users_on_disk=True).fit(COUNTS)
    with pytest.raises(ParameterError, match="users_on_disk"):
        new_model(users_on_disk=1).fit(COUNTS)
