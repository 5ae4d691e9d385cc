"""A fit that was interrupted goes on to the same bits, also by way of a file; what is no such run is refused."""

from dataclasses import replace

import numpy as np
import pytest
from gap_cases import draw_counts, hash_of, new_model
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix import DataError, ParameterError, load_model, save_model

COUNTS = draw_counts()
MODELS = {
    "accelerated": {"max_iter": 60},
    "multiplicative": {"algorithm": "multiplicative", "max_iter": 12, "solver": "ml"},
    "starts": {"n_init": 3, "max_iter": 40},
    "sparse": {"shape": 0.3, "max_iter": 30},
    "gibbs": {"solver": "gibbs", "n_sweeps": 12, "burn_in": 4, "thin": 3},
    "chains": {"solver": "gibbs", "n_sweeps": 7, "burn_in": 2, "thin": 2, "n_chains": 3},
}
pytestmark = pytest.mark.filterwarnings("ignore:.*sweeps were not enough")


class StopError(Exception):
    """Ends a fit."""


def stopped(name, after, rows=COUNTS, **changes):
    """A model whose fit was interrupted after so many sweeps, or None if it was over before."""
    model, n = new_model(**MODELS[name], **changes), 0

    def stop(_):
        nonlocal n
        n += 1
        if n == after:
            raise StopError

    try:
        model.fit(rows, on_sweep=stop)
    except StopError:
        return model
    return None


def sweeps_of(name):
    found = []
    new_model(**MODELS[name]).fit(COUNTS, on_sweep=found.append)
    return len(found)


@pytest.mark.parametrize("through_file", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_an_interrupted_fit_goes_on_to_the_same_bits(tmp_path, name, through_file):
    whole = new_model(**MODELS[name]).fit(COUNTS)
    n_sweeps = sweeps_of(name)
    for after in sorted({1, 2, 3, 5, n_sweeps // 2, n_sweeps - 1, n_sweeps}):
        model = stopped(name, after)
        assert not model.is_complete_
        assert model.n_sweeps_done_ == after
        if through_file:
            save_model(model, tmp_path / "m.smx")
            model = load_model(tmp_path / "m.smx")
        told = []
        model.set_params(warm_start=True).fit(COUNTS, on_sweep=told.append)
        assert len(told) == n_sweeps - after
        assert model.is_complete_
        model.set_params(warm_start=False)
        assert hash_of(model) == hash_of(whole), after


def test_a_fit_may_be_interrupted_again_and_again(tmp_path):
    whole, model = new_model(**MODELS["chains"]).fit(COUNTS), stopped("chains", 1)

    def stop(_):
        raise StopError

    for _ in range(3 * 7 - 1):
        save_model(model, tmp_path / "m.smx")
        model = load_model(tmp_path / "m.smx").set_params(warm_start=True)
        with pytest.raises(StopError):
            model.fit(COUNTS, on_sweep=stop)
    model.fit(COUNTS).set_params(warm_start=False)
    assert hash_of(model) == hash_of(whole)


@pytest.mark.parametrize("name", MODELS)
def test_an_interrupted_model_answers(name):
    for after in (1, 3, 9):
        model = stopped(name, after)
        assert np.isfinite(model.score(COUNTS))
        assert np.isfinite(model.rates([0, 1], [2, 3])).all()
        assert np.isfinite(model.trace_).all()
        assert not model.converged_ or model.solver == "gibbs"
        assert model.n_rows_seen_ == len(COUNTS)
        if model.solver == "gibbs":
            assert len(model.user_draws_) >= 1
            assert model.diagnostics_.keys() == {"log_likelihood", "total_rate"}


def test_the_factors_of_an_interrupted_climb_are_those_of_a_shorter_one():
    model, short = stopped("accelerated", 9), new_model(max_iter=9).fit(COUNTS)
    assert_array_equal(model.user_factors_, short.user_factors_)
    assert_array_equal(model.trace_, short.trace_)
    assert_array_equal(model._solution.component_counts, short._solution.component_counts)


def test_the_draws_of_an_interrupted_chain_are_those_so_far():
    model, whole = stopped("gibbs", 9), new_model(**MODELS["gibbs"]).fit(COUNTS)
    assert_array_equal(model.user_draws_, whole.user_draws_[:2])
    assert_allclose(model.trace_, whole.trace_[:, :9], rtol=1e-12)


def test_threads_and_more_sweeps_of_climbing_may_change():
    model = stopped("accelerated", 5).set_params(warm_start=True, n_jobs=2, max_iter=400)
    model.fit(COUNTS).set_params(warm_start=False)
    whole = new_model(n_jobs=2, max_iter=400).fit(COUNTS)
    assert hash_of(model) == hash_of(whole)


def test_without_a_warm_start_a_fit_begins_anew():
    model, whole = stopped("gibbs", 5), new_model(**MODELS["gibbs"]).fit(COUNTS)
    assert hash_of(model.fit(COUNTS)) == hash_of(whole)
    again = (
        whole.set_params(warm_start=True).fit(COUNTS).set_params(warm_start=False)
    )  # nothing is left to do
    assert hash_of(again) == hash_of(model)


def test_without_a_seed_the_run_keeps_its_own():
    generator = np.random.RandomState(5)
    model = stopped("gibbs", 5, random_state=generator)
    model.set_params(warm_start=True).fit(COUNTS)
    whole = new_model(**MODELS["gibbs"], random_state=np.random.RandomState(5)).fit(COUNTS)
    assert_array_equal(model.user_draws_, whole.user_draws_)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": 1.2}, "'shape' is .* as in the fit that was interrupted"),
        ({"n_components": 4}, "'n_components' is 3"),
        ({"tol": 0.1}, "'tol' is"),
        ({"n_init": 2}, "'n_init' is 1"),
        ({"algorithm": "em"}, "'algorithm' is 'accelerated'"),
    ],
)
def test_other_parameters_are_refused(changes, message):
    model = stopped("accelerated", 5).set_params(warm_start=True, **changes)
    with pytest.raises(ParameterError, match=message):
        model.fit(COUNTS)


def test_other_rows_are_refused():
    model = stopped("accelerated", 5).set_params(warm_start=True)
    for rows in (COUNTS[:-2], 2 * COUNTS, np.hstack([COUNTS, COUNTS])):
        with pytest.raises(DataError, match="the 60 rows of the fit that was interrupted"):
            model.fit(rows)
    with pytest.raises(ParameterError, match="warm_start"):
        new_model(warm_start=1).fit(COUNTS)


def test_an_update_ends_the_run():
    model = stopped("accelerated", 5).partial_fit(COUNTS[:3])
    assert model.is_complete_
    assert model.n_rows_seen_ == 63


@pytest.mark.parametrize("name", ["starts", "chains"])
def test_runs_that_cannot_be(refused, name):
    payload = stopped(name, 12 if name == "chains" else sweeps_of(name) - 1).to_payload()
    run = payload.metadata["run"]
    for key in run:
        refused(
            replace(payload, metadata=payload.metadata | {"run": {n: v for n, v in run.items() if n != key}})
        )
        refused(replace(payload, metadata=payload.metadata | {"run": run | {key: -1}}))
    for key, value in (
        ("n_rows", 59),
        ("n_ended", 4),
        ("has_begun", False),
        ("n_sweeps", 0),
        ("n_sweeps", 500),
    ):
        refused(replace(payload, metadata=payload.metadata | {"run": run | {key: value}}))
    for key in (each for each in payload.arrays if each.startswith("run_")):
        arrays = {each: a for each, a in payload.arrays.items() if each != key}
        refused(replace(payload, arrays=arrays))
        refused(replace(payload, arrays=payload.arrays | {key: np.full_like(payload.arrays[key], np.nan)}))
    refused(replace(payload, metadata=payload.metadata | {"run": 1}))
    refused(replace(payload, arrays=payload.arrays | {"run_spare": np.ones(1)}))
    refused(replace(payload, metadata={n: v for n, v in payload.metadata.items() if n != "run"}))
