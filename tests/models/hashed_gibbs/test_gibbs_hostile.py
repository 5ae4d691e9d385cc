"""Parameters, rows and questions of odd types and sizes: bad ones are named and change nothing, good ones are read."""

import re

import numpy as np
import pandas as pd
import pytest
from gibbs_models import FAMILIES, N_ROWS, hash_of, new_model, table_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix import DataError, ParameterError

pytestmark = pytest.mark.slow  # compiles much: pytest -m slow tests/models/hashed_gibbs

families = pytest.mark.parametrize("family", FAMILIES)

WORDS_ONLY = (None, 3, ["exact"], "Exact", "", np.array(["exact", "index"]))
NO_COUNTS = (None, "x", 0, -1, 1.5, np.nan, np.inf, True, [3], np.array([1, 2]), {})
NO_PSEUDO_COUNTS = (None, "x", 0, -1, np.nan, np.inf, True, [3], 1e60, 1e-60, np.array([0.1]))
BAD = {
    "n_components": (*NO_COUNTS, 10**30),
    "n_sweeps": (*NO_COUNTS, 10**30),
    "thin": NO_COUNTS,
    "n_chains": (*NO_COUNTS, 1001),
    "index_budget": NO_COUNTS,
    "n_shards": (*NO_COUNTS, 257, 10**30),
    "burn_in": (None, "x", -1, 1.5, np.nan, True, [3], 12, 10**30),
    "family": WORDS_ONLY,
    "proposal": WORDS_ONLY,
    "process": WORDS_ONLY,
    "weight_concentration": NO_PSEUDO_COUNTS,
    "concentration": NO_PSEUDO_COUNTS,
    "smoothing": NO_PSEUDO_COUNTS,
    "prior_strength": NO_PSEUDO_COUNTS,
    "prior_mean": (*NO_PSEUDO_COUNTS, "Empirical"),
    "discount": (None, "x", -0.1, 1, 1.0, np.nan, True, [0.5]),
    "n_bits": (*NO_COUNTS, 100, 4160, 10**30),
    "raw": (None, "no", 1, np.array([True, False])),
    "miss": ("x", 0, 1, -0.1, np.nan, np.inf, True, [0.5]),
    "tempering": (None, "x", 0, 1.1, -0.1, np.nan, np.inf, True, [0.5]),
    "binarize": ("x", -0.1, np.nan, np.inf, True, [0.5]),
    "random_state": ("abc", -1, 1.5, 2**32, [1, 2], np.random.default_rng(0)),
    "warm_start": (None, "no", 1, np.array([True])),
    "n_jobs": (0, 1.5, True, "all", [1]),
    "verbose": (-1, "yes", None, 0.5, np.array([1, 2])),
}


@pytest.mark.parametrize("parameter", sorted(BAD))
def test_bad_parameters_are_named_with_rule_and_value(parameter):
    rows, _ = table_of()
    fitted = new_model().fit(rows)
    good, before = getattr(fitted, parameter), hash_of(fitted)
    for value in BAD[parameter]:
        for model in (new_model(**{parameter: value}), fitted.set_params(**{parameter: value})):
            with pytest.raises(
                ParameterError, match=f"^'{parameter}' of HashedGibbsMixture must be "
            ) as caught:
                model.fit(rows)
            assert re.search(r"but it is .+\.$", str(caught.value))
    assert hash_of(fitted.set_params(**{parameter: good})) == before


@pytest.mark.parametrize("parameters", [
    {"n_components": 1}, {"n_components": N_ROWS + 20}, {"n_components": np.int64(3)}, {"thin": 10**30},
    {"index_budget": 10**30}, {"index_budget": 1}, {"smoothing": 1e-50}, {"smoothing": 1e50}, {"n_jobs": -1},
    {"n_jobs": 10**30}, {"n_shards": 256}, {"weight_concentration": 1e50}, {"weight_concentration": 1e-50},
    {"process": "dp", "concentration": 1e50}, {"process": "dp", "concentration": 1e-50},
    {"process": "dp", "discount": 1.0 - 1e-15}, {"proposal": "hash", "n_bits": 1}, {"proposal": "hash", "n_bits": 4096},
    {"proposal": "hash", "tempering": 1e-300, "miss": 1e-300}, {"proposal": "hash", "miss": 1.0 - 1e-15, "raw": True},
    {"random_state": np.random.RandomState(0)}, {"random_state": None},
    {"family": "poisson", "prior_mean": 1e24, "prior_strength": 1e25}, {"family": "poisson", "prior_mean": 1e-50},
])  # fmt: skip
def test_parameters_on_their_borders(parameters):
    rows, _ = table_of()
    model = new_model(**parameters).fit(rows)
    assert np.all(np.isfinite(model.log_joint_))
    assert np.all(np.isfinite(model.score_samples(rows)))
    assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)


@pytest.mark.parametrize("changes", [
    {"family": "poisson", "prior_mean": 1e40, "prior_strength": 1e40},
    {"family": "poisson", "prior_strength": 1e-50, "prior_mean": 0.5},
    {"family": "bernoulli", "prior_mean": 1.0 - 1e-15, "prior_strength": 1e-40},
])  # fmt: skip
def test_means_and_strengths_that_make_impossible_pseudo_counts(changes):
    with pytest.raises(ParameterError, match="'prior_strength' of HashedGibbsMixture must be such that"):
        new_model(**changes).fit(table_of("bernoulli")[0])


def test_tables_that_fit_no_memory():
    rows, _ = table_of()
    with pytest.raises(
        ParameterError, match=r"'n_bits' of HashedGibbsMixture must be at most .* 10000000 clusters"
    ):
        new_model(proposal="hash", n_components=10_000_000).fit(rows)
    with pytest.raises(ParameterError, match="'thin' of HashedGibbsMixture must be so large that"):
        new_model(n_sweeps=10_000_000, burn_in=0, thin=1, n_chains=1000).fit(rows)


ROWS, TOPICS = table_of()
BAD_STARTS = {
    "ragged": [[0], [1, 2]], "fractions": np.zeros(N_ROWS), "truth values": np.zeros(N_ROWS, bool),
    "too large": np.full(N_ROWS, 8), "too small": np.full(N_ROWS, -2), "two dimensions": np.zeros((N_ROWS, 1), int),
    "too few": np.zeros(N_ROWS - 1, int), "text": ["a"] * N_ROWS, "a number": 3, "nothing": None,
    "sparse": sparse.csr_array(np.zeros((1, N_ROWS))), "huge": np.full(N_ROWS, 2**63, np.uint64), "mixed": [0, None],
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_STARTS)
def test_bad_starts(kind):
    fitted = new_model().fit(ROWS)
    before = hash_of(fitted)
    with pytest.raises(
        DataError, match="'init' of HashedGibbsMixture must be 'sequential', 'mixed', 'random' or a cluster"
    ):
        fitted.set_params(init=BAD_STARTS[kind]).fit(ROWS)
    assert hash_of(fitted.set_params(init="sequential")) == before
    with pytest.raises(ParameterError, match="'init' of HashedGibbsMixture must be one of"):
        new_model(init="kmeans").fit(ROWS)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, ">i4", np.int64])
def test_starts_of_any_integer_type(dtype):
    expected = new_model(init=TOPICS).fit(ROWS).draws_
    assert_array_equal(new_model(init=TOPICS.astype(dtype)).fit(ROWS).draws_, expected)
    assert_array_equal(new_model(init=TOPICS.tolist()).fit(ROWS).draws_, expected)


BAD_ROWS = {
    "none": None, "text": "abc", "missing": np.where(ROWS == 2, np.nan, ROWS),
    "infinite": np.where(ROWS == 2, np.inf, ROWS), "negative": ROWS - 1, "fractions": ROWS * 0.5,
    "ragged": [[1], [1, 2]], "no columns": np.zeros((3, 0)), "one dimension": ROWS[0], "three": ROWS[None],
    "huge": ROWS * 1e30, "beyond 32 bits": ROWS * 2**31, "lists": [["a"], ["b"]], "complex": ROWS * 1j,
    "sums beyond 32 bits": np.full((3, 9), 2**30), "text of numbers": ROWS.astype(str), "objects": [[{}], [[]]],
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_ROWS)
@families
def test_bad_rows_are_named(family, kind):
    fitted = new_model(family).fit(table_of(family)[0])
    before = hash_of(fitted)
    asked = [
        fitted.fit,
        fitted.fit_predict,
        fitted.predict,
        fitted.predict_proba,
        fitted.score_samples,
        fitted.score,
    ]
    for ask in (*asked, fitted.unknown_rows):
        with pytest.raises(DataError):
            ask(BAD_ROWS[kind])
    assert hash_of(fitted) == before


@pytest.mark.parametrize(
    ("value", "rule"), [(0.5, "whole numbers"), (2.0**31, "whole numbers"), (-1.0, ">= 0")]
)
def test_messages_name_row_and_column(value, rule):
    rows = ROWS.astype(float)
    rows[7, 2] = value
    frame = pd.DataFrame(rows, columns=list("abcdefghi"))
    fitted = new_model().fit(pd.DataFrame(ROWS, columns=list("abcdefghi")))
    for ask in (fitted.fit, fitted.predict, fitted.partial_fit):
        with pytest.raises(DataError, match=f"{rule}.* column 'c' of row 7 is {value}"):
            ask(frame)
    with pytest.raises(DataError, match=f"{rule}.* column 2 of row 7 is {value}"):
        new_model().fit(rows)


def test_messages_name_the_sum_that_is_too_large():
    rows = ROWS.copy()
    rows[3, :3] = 2**30
    with pytest.raises(DataError, match=r"sums of rows up to 2147483647, but that of row 3 is 3\d{9}"):
        new_model().fit(rows)
    rows = ROWS.copy()
    rows[:3, 4] = 2**30
    with pytest.raises(DataError, match=r"sums of columns up to 2147483647, but that of column 4 is 3\d{9}"):
        new_model().fit(rows)


def test_rows_of_another_family_do_not_enter():
    fitted = new_model().fit(ROWS)
    before = hash_of(fitted)
    with pytest.raises(ParameterError, match="'family' of HashedGibbsMixture must be 'multinomial'"):
        fitted.set_params(family="poisson").partial_fit(ROWS)
    assert hash_of(fitted.set_params(family="multinomial")) == before


def test_no_rows_and_other_widths():
    fitted = new_model().fit(ROWS)
    with pytest.raises(DataError, match="'X' of fit must have at least one row"):
        fitted.fit(ROWS[:0])
    with pytest.raises(DataError, match="must have at least one row, but it has none"):
        fitted.score(ROWS[:0])
    assert fitted.predict(ROWS[:0]).shape == fitted.score_samples(ROWS[:0]).shape == (0,)
    assert fitted.predict_proba(ROWS[:0]).shape == (0, fitted.weights_.size)
    for other in (ROWS[:, :3], np.hstack([ROWS, ROWS])):
        for ask in (fitted.predict, fitted.predict_proba, fitted.score_samples, fitted.unknown_rows):
            with pytest.raises(DataError, match="features"):
                ask(other)


def wide(rows):
    matrix = sparse.csr_array(rows)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def twice(rows):
    """The rows with each entry stored in two parts, some of them zero."""
    matrix = sparse.coo_array(rows)
    data, places = matrix.data, (np.tile(matrix.coords[0], 2), np.tile(matrix.coords[1], 2))
    return sparse.coo_array((np.concatenate([data, 0 * data]), places), shape=matrix.shape)


ROW_FORMS = {
    "64-bit indices": wide, "stored twice": twice, "objects": lambda rows: rows.astype(object),
    "half precision": lambda rows: rows.astype(np.float16), "unsigned": lambda rows: rows.astype(np.uint8),
    "other byte order": lambda rows: rows.astype(">f8"), "frame": pd.DataFrame, "lists": lambda rows: rows.tolist(),
    **{name: lambda rows, name=name: sparse.csr_array(rows).asformat(name)
       for name in ("csc", "coo", "bsr", "lil", "dok", "dia")},
}  # fmt: skip


@pytest.mark.parametrize("form", ROW_FORMS)
@families
def test_rows_of_every_form_are_the_same(family, form):
    rows, _ = table_of(family)
    expected = new_model(family).fit(rows)
    given = ROW_FORMS[form](rows)
    model = new_model(family).fit(given)
    assert_array_equal(model.draws_, expected.draws_)
    assert hash_of(model) == hash_of(expected)
    assert_array_equal(model.predict_proba(given), expected.predict_proba(rows))


ODD_ROWS = {
    "one row": ROWS[:1], "one column": ROWS[:, :1], "all empty": ROWS * 0, "truth values": ROWS > 0,
    "an empty row and column": np.pad(ROWS, ((0, 1), (0, 1))), "one row and column": ROWS[:1, :1],
    "a million words": np.vstack([ROWS, [10**6, 0, 5, 0, 0, 1, 0, 0, 0]]),
    "two thousand million words": np.vstack([ROWS[:, :2], [2 * 10**9, 0]]),
}  # fmt: skip


@pytest.mark.parametrize("proposal", ["exact", "index", "hash"])
@pytest.mark.parametrize("kind", ODD_ROWS)
@families
def test_odd_rows_are_learnt(family, kind, proposal):
    rows = ODD_ROWS[kind]
    process = "dp" if proposal == "index" else "finite"
    model = new_model(family, proposal=proposal, process=process, binarize=0.0).fit(rows)
    assert np.all(np.isfinite(model.log_joint_))
    assert np.all(np.isfinite(model.score_samples(rows)))
    assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
    assert model.suggest([], [0]) == [] or rows.shape[1] > 1
    model.top_features(2)


def test_a_long_row_goes_where_it_belongs():
    long = np.vstack([ROWS, [10**6, 2, 3, 10**6, 1, 0, 10**6, 0, 4]])
    model = new_model(process="dp", n_sweeps=20).fit(long)
    assert_array_equal(model.predict(long[-1:]), model.labels_[-1:])


BAD_QUESTIONS = {
    "suggest": [
        ((None,), {}), (("a",), {}), (([99],), {}), (([-1],), {}), (([0], [0]), {}), (([0.5],), {}), (([[0]],), {}),
        ((3,), {}), (([0], None), {}), (([0], "x"), {}), (([0],), {"n": 0}), (([0],), {"n": 1.5}),
        (([0],), {"level": 0}), (([0],), {"level": 1}), (([0],), {"level": "x"}), (([0],), {"level": np.nan}),
    ],
    "top_features": [((0,), {}), (("x",), {}), ((), {"by": "x"}), ((), {"by": None}), ((), {"level": 2})],
    "sample": [
        ((-1,), {}), ((1.5,), {}), ((None,), {}), ((10**9,), {}), ((10**12,), {}), ((10**30,), {}),
        ((), {"random_state": "x"}), ((), {"random_state": -1}),
    ],
    "fit": [((ROWS,), {"on_sweep": 3}), ((ROWS,), {"on_sweep": "print"})],
}  # fmt: skip


@pytest.mark.parametrize("method", BAD_QUESTIONS)
def test_bad_questions(method):
    fitted = new_model().fit(ROWS)
    before = hash_of(fitted)
    for arguments, named in BAD_QUESTIONS[method]:
        with pytest.raises(ParameterError, match=" must be "):
            getattr(fitted, method)(*arguments, **named)
    assert hash_of(fitted) == before


@pytest.mark.parametrize(
    ("changes", "n_rows", "length"),
    [
        ({"family": "poisson", "prior_mean": 1e9, "prior_strength": 1e6}, 1, "9e.09"),  # by the prior alone
        ({"family": "bernoulli", "prior_mean": 0.5, "prior_strength": 1e6}, 30_000_000, "4.5"),
        ({"family": "multinomial"}, 10**9, ".*"),
        ({"family": "gaussian"}, 20_000_000, "9"),
    ],
)
def test_rows_too_many_or_too_long_to_be_drawn(changes, n_rows, length):
    model = new_model(**changes).fit(np.minimum(ROWS, 1))
    with pytest.raises(
        ParameterError, match=rf"at most 1e\+08 features are drawn, .* have {length} on average"
    ):
        model.sample(n_rows)


def test_more_than_there_is_is_all_of_it():
    fitted = new_model().fit(ROWS)
    assert len(fitted.suggest([0, 4], [8], n=10**12)) == 6
    assert fitted.sample(0)[0].shape == (0, 9)
    assert all(len(each.features) <= 9 for each in fitted.top_features(10**12))


def test_the_family_that_was_learnt_reads_the_rows():
    fitted = new_model().fit(ROWS)
    expected = fitted.predict_proba(ROWS)
    assert_array_equal(fitted.set_params(family="bernoulli").predict_proba(ROWS), expected)


def test_an_error_before_the_first_sweep_keeps_the_model(monkeypatch):
    def stop(*_args, **_options):
        raise KeyboardInterrupt

    fitted = new_model().fit(ROWS)
    before, labels = hash_of(fitted), fitted.labels_
    monkeypatch.setattr("sparsemix.models.hashed_gibbs.engine.Chain.sweep", stop)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(ROWS[::-1])
    assert hash_of(fitted) == before
    assert fitted.labels_ is labels
    assert fitted.is_complete_
