"""Gaussian rows of odd types and sizes: bad ones are named and change nothing, good ones are read."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gibbs_models import hash_of, new_model
from numpy.testing import assert_allclose
from scipy import sparse

from sparsemix import DataError, HashedGibbsMixture, ModelFileError, ParameterError, UncollapsedGibbsMixture
from sparsemix.models.hashed_gibbs.real_state import REAL_FAMILIES

pytestmark = pytest.mark.slow  # compiles much: pytest -m slow tests/models/hashed_gibbs

families = pytest.mark.parametrize("family", REAL_FAMILIES)
proposals = pytest.mark.parametrize("proposal", ["exact", "hash"])
ROWS = np.random.default_rng(0).normal(size=(40, 3)) + 5.0 * (np.arange(40) % 2)[:, None]

BAD_ROWS = {
    "none": None, "text": "abc", "missing": np.where(ROWS > 5, np.nan, ROWS), "huge": ROWS * 1e31,
    "infinite": np.where(ROWS > 5, np.inf, ROWS), "ragged": [[1], [1, 2]], "no columns": np.zeros((3, 0)),
    "one dimension": ROWS[0], "three": ROWS[None], "lists": [["a"], ["b"]], "complex": ROWS * 1j,
    "texts": ROWS.astype(str), "sparse, missing": sparse.csr_array(np.where(ROWS > 5, np.nan, ROWS)),
    "beyond all memory": sparse.csr_array((10**6, 10**6)),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_ROWS)
@families
def test_bad_rows_are_named(family, kind):
    fitted = new_model(family).fit(ROWS)
    before = hash_of(fitted)
    for ask in (
        fitted.fit, fitted.partial_fit, fitted.predict, fitted.predict_proba, fitted.score_samples, fitted.unknown_rows,
    ):  # fmt: skip
        with pytest.raises(DataError):
            ask(BAD_ROWS[kind])
    assert hash_of(fitted) == before


def test_what_is_wrong_with_a_value_and_where():
    table = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    table.loc[7, "b"] = np.nan
    with pytest.raises(DataError, match="column 'b' of row 7 is NaN"):
        new_model("gaussian").fit(table)
    with pytest.raises(DataError, match=r"must have features with a variance above .* that of column 1 is"):
        new_model("gaussian").fit(ROWS * [1.0, 1e-40, 1.0])


@families
def test_other_columns(family):
    named = new_model(family).fit(pd.DataFrame(ROWS, columns=["a", "b", "c"]))
    plain, before = new_model(family).fit(ROWS), hash_of(named)
    for columns in (["a", "b"], ["a", "b", "d"], ["a", "b", "c", "d"]):
        other = pd.DataFrame(np.ones((4, len(columns))), columns=columns)
        for ask in (named.predict, named.partial_fit, named.score_samples):
            with pytest.raises(DataError, match=r"must have (just the features|columns)"):
                ask(other)
    for ask in (plain.predict, plain.partial_fit):
        with pytest.raises(DataError, match="features"):
            ask(ROWS[:, :2])
    assert hash_of(named) == before
    assert plain.predict(ROWS[:0]).shape == (0,)
    assert plain.predict_proba(ROWS[:0]).shape == (0, plain.weights_.size)


@families
def test_parameters_that_do_not_fit_the_family(family):
    with pytest.raises(
        ParameterError, match=r"'proposal' of HashedGibbsMixture must be one of 'auto', 'exact', 'hash'"
    ):
        new_model(family, proposal="index").fit(ROWS)
    for value in (1e-11, 1e11):
        with pytest.raises(
            ParameterError, match="'smoothing' of HashedGibbsMixture must be a number from 1e-10"
        ):
            new_model(family, smoothing=value).fit(ROWS)
    with pytest.raises(ParameterError, match="'family' of UncollapsedGibbsMixture must be one of"):
        UncollapsedGibbsMixture(2, family=family).fit(ROWS)
    with pytest.raises(ParameterError, match="'n_components' of HashedGibbsMixture must be at most"):
        new_model(family, n_components=10_000_000).fit(np.ones((2, 60)) * np.arange(60))
    fitted = new_model(family).fit(ROWS)
    with pytest.raises(ParameterError, match="'family' of suggest must be"):
        fitted.suggest([0])
    counts = HashedGibbsMixture(3, n_sweeps=2, burn_in=0).fit([[1, 0], [0, 1]])
    assert not hasattr(counts, "means_")
    assert not hasattr(counts, "covariances_")


@pytest.mark.parametrize("parameters", [
    {"smoothing": 1e-10}, {"smoothing": 1e10}, {"n_components": 1}, {"n_components": 60}, {"n_bits": 1},
    {"n_bits": 4096}, {"weight_concentration": 1e-50}, {"process": "dp", "concentration": 1e50},
    {"raw": True, "n_bits": 33}, {"process": "dp", "discount": 1.0 - 1e-15}, {"tempering": 1e-300, "miss": 1e-300},
    {"miss": 1.0 - 1e-15, "raw": True},
])  # fmt: skip
@proposals
@families
def test_parameters_on_their_borders(family, proposal, parameters):
    model = new_model(family, proposal=proposal, **parameters).fit(ROWS)
    assert np.all(np.isfinite(model.log_joint_))
    assert np.all(np.isfinite(model.score_samples(ROWS)))
    assert_allclose(model.predict_proba(ROWS).sum(axis=1), 1.0)


ODD_ROWS = {
    "one row": ROWS[:1], "one column": ROWS[:, :1], "one value": ROWS[:1, :1], "all the same": np.full((9, 2), 3.0),
    "a constant column": ROWS * [1.0, 0.0, 1.0], "integers": np.arange(30).reshape(10, 3), "truth values": ROWS > 0,
    "far from zero": ROWS + 1e9, "far units": ROWS * [1e-25, 1.0, 1e25], "near the border": ROWS * 1e29,
    "equal columns": ROWS[:, [0, 0, 1]], "more columns than rows": ROWS[:6].repeat(4, axis=1),
    "one row far off": np.vstack([ROWS, [1e20, -1e20, 0.0]]), "twice": ROWS.repeat(3, axis=0),
    "half precision": ROWS.astype(np.float16), "a zero": np.zeros((1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD_ROWS)
@proposals
@families
def test_odd_rows_are_learnt(family, proposal, kind):
    rows = ODD_ROWS[kind]
    process = "dp" if proposal == "exact" else "finite"
    model = new_model(family, proposal=proposal, process=process).fit(rows)
    model.partial_fit(rows[:2], n_sweeps=1)
    assert np.all(np.isfinite(model.log_joint_))
    assert np.all(np.isfinite(model.score_samples(rows)))
    assert np.all(np.isfinite(model.means_))
    assert np.all(np.isfinite(model.covariances_))
    assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
    assert np.all(np.isfinite(model.sample(3, random_state=0)[0]))
    for by in ("evidence", "mean", "lift"):
        for summary in model.top_features(2, by=by):
            assert all(np.isfinite(each[1:]).all() for each in summary.features)


def payload_of(family):
    return new_model(family).fit(ROWS).to_payload()


@families
def test_files_that_hold_no_clusters(family):
    good = payload_of(family)
    for name, array in good.arrays.items():
        wrong = [array[:-1], array.astype(np.float32), array[None]]
        if array.dtype.kind == "f":
            wrong += [np.full_like(array, value) for value in (np.nan, np.inf, 1e300)]
        else:
            wrong += [array * 0, -array, array + 2**62]
        wrong += [array * -1.0] if name == "spread" else []
        for other in wrong:
            with pytest.raises(ModelFileError):
                HashedGibbsMixture.from_payload(replace(good, arrays=good.arrays | {name: other}))
        rest = {key: value for key, value in good.arrays.items() if key != name}
        for arrays in (rest, good.arrays | {"spare": array}):
            with pytest.raises(ModelFileError):
                HashedGibbsMixture.from_payload(replace(good, arrays=arrays))
    others = {"n_features": [0, 2, 2**31], "n_clusters": [0, 1, 10**7], "family": ["multinomial", "gauss", 3],
              "process": ["x"], "a": [0.0, "x", np.nan], "b": [0.0, -1.0], "discount": [1.0]}  # fmt: skip
    for name, values in others.items():
        for value in values:
            with pytest.raises(ModelFileError):
                HashedGibbsMixture.from_payload(replace(good, metadata=good.metadata | {name: value}))


@families
def test_files_with_sums_that_contradict_each_other_still_answer(family):
    """No squares belong to these sums; what follows is finite all the same."""
    good = payload_of(family)
    name = "products" if family == "gaussian_full" else "squares"
    arrays = good.arrays | {name: -np.abs(good.arrays[name])}
    model = HashedGibbsMixture.from_payload(replace(good, arrays=arrays))
    assert_allclose(model.predict_proba(ROWS).sum(axis=1), 1.0)
