"""scikit-learn's contract, and everything that users hand over: formats, names, parameters, nonsense."""

import copy
import pickle
import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from profile_cases import topic_rows
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.utils.estimator_checks import check_estimator

from sparsemix import OnlineBernoulliMixture
from sparsemix.data.dataset import Dataset
from sparsemix.foundation.errors import DataError, ParameterError
from sparsemix.persistence import state_hash

NAMES = list("abcdefgh")
KNOWN_LABELS = "y holds known component ids, below n_components; the check passes classes"
EXPECTED_FAILURES = dict.fromkeys(
    [
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_fit2d_1feature",
        "check_fit2d_1sample",
        "check_fit2d_predict1d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
    ],
    KNOWN_LABELS,
)


def new_model(**changes):
    return OnlineBernoulliMixture(**{"n_components": 2, "priming_rows": 50, "random_state": 0} | changes)


@pytest.fixture(scope="module")
def rows():
    return topic_rows(120, 2, 8)[0].astype(int)


@pytest.fixture(scope="module")
def fitted(rows):
    return new_model().fit(rows)


@pytest.fixture(scope="module")
def named(rows):
    return new_model().fit(pd.DataFrame(rows, columns=NAMES))


def hash_of(model):
    return state_hash(model.to_payload())


def test_scikit_learns_own_checks():
    model = OnlineBernoulliMixture(n_components=3, binarize=0.0, random_state=0)
    results = check_estimator(model, expected_failed_checks=EXPECTED_FAILURES, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not failed
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(EXPECTED_FAILURES)


def test_parameters_go_in_and_out():
    values = {
        "n_components": 7, "weight_concentration": 0.5, "prior_mean": 0.1, "prior_strength": 3.0,
        "priming_rows": 20, "clutter": True, "binarize": 0.5, "min_responsibility": 0.01,
        "cull_threshold": 0.0, "min_component_share": 0.1, "staleness": 0.2, "random_state": 5, "verbose": 1,
    }  # fmt: skip
    model = OnlineBernoulliMixture(**values)
    assert model.get_params() == values
    assert clone(model).get_params() == values
    assert OnlineBernoulliMixture().set_params(**values).get_params() == values
    assert repr(new_model()) == "OnlineBernoulliMixture(n_components=2, priming_rows=50, random_state=0)"


def test_fitting_leaves_parameters_alone(rows):
    model = new_model(prior_mean="empirical")
    before = model.get_params()
    assert model.fit(rows) is model
    assert model.get_params() == before


def test_copies_go_on_alike(rows):
    model = new_model().partial_fit(rows[:80])
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert hash_of(twin.partial_fit(rows[80:])) == hash_of(copy.deepcopy(model).partial_fit(rows[80:]))


@pytest.mark.parametrize("start", ["new", "no rows yet", "cloned"])
def test_questions_before_the_first_row(rows, fitted, start):
    model = clone(fitted) if start == "cloned" else new_model()
    if start == "no rows yet":
        model.partial_fit(rows[:0])
    questions = [
        lambda: model.predict(rows), lambda: model.predict_proba(rows), lambda: model.score_samples(rows),
        lambda: model.score(rows), model.sample, model.top_features,
        model.credible_interval, lambda: model.suggest([0]), model.to_payload,
        model.prime,
    ]  # fmt: skip
    for question in questions:
        with pytest.raises(NotFittedError):
            question()
    for name in ("weights_", "component_ids_", "log_evidence_", "lineage_", "n_rows_seen_", "labels_"):
        assert not hasattr(model, name), name
    with pytest.raises(AttributeError, match="has not learnt any rows yet: call fit or partial_fit"):
        model.weights_  # noqa: B018


def test_no_rows_at_first(rows):
    """An empty first batch says what the features are; the rest goes on as if it had not been."""
    late = new_model().partial_fit(rows[:0]).partial_fit(rows)
    assert hash_of(late) == hash_of(new_model().partial_fit(rows))
    with pytest.raises(DataError, match="'X' of fit must have at least one row"):
        new_model().fit(rows[:0])


def test_no_rows_later(rows, fitted):
    before = hash_of(fitted)
    fitted.partial_fit(rows[:0])
    assert hash_of(fitted) == before
    assert fitted.predict(rows[:0]).shape == (0,)
    assert fitted.predict_proba(rows[:0]).shape == (0, 2)
    assert fitted.score_samples(rows[:0]).shape == (0,)
    with pytest.raises(DataError, match="'X' of score must have at least one row"):
        fitted.score(rows[:0])


def test_pipelines(rows):
    pipeline = make_pipeline(Binarizer(threshold=0.5), SelectKBest(chi2, k=4), new_model())
    noisy = rows * 0.9 + 0.01
    labels = pipeline.fit(noisy, rows[:, 0]).predict(noisy)
    assert labels.shape == (120,)
    assert pipeline.score(noisy) < 0
    assert pipeline[-1].n_features_in_ == 4


def test_fit_predict(rows):
    model = new_model()
    labels = model.fit_predict(rows)
    assert_array_equal(labels, model.labels_)
    assert_array_equal(labels, model.predict(rows))


def test_fitting_again_starts_anew(rows):
    model = new_model().fit(pd.DataFrame(rows[:, :5], columns=NAMES[:5]))
    model.fit(rows)
    assert hash_of(model) == hash_of(new_model().fit(rows))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 8


def test_partial_fit_goes_on_after_fit(rows):
    assert new_model().fit(rows[:80]).partial_fit(rows[80:]).n_rows_seen_ == 120


def every_format(rows):
    for form, kind in product(["csr", "csc", "coo", "bsr", "dok", "lil"], ["array", "matrix"]):
        yield f"{form}_{kind}", getattr(sparse, f"{form}_{kind}")(rows)
    for indptr, indices in product([np.int32, np.int64], repeat=2):
        matrix = sparse.csr_array(rows)
        matrix.indptr, matrix.indices = matrix.indptr.astype(indptr), matrix.indices.astype(indices)
        yield f"indptr {indptr.__name__}, indices {indices.__name__}", matrix
    for dtype in (bool, np.int8, np.uint32, np.float32, float):
        yield f"dense {dtype.__name__}", rows.astype(dtype)
        yield f"sparse {dtype.__name__}", sparse.csr_array(rows.astype(dtype))
    backwards = sparse.csr_array(rows[:, ::-1])
    backwards.indices = (7 - backwards.indices).astype(np.int32)
    backwards.has_sorted_indices = False
    yield "unsorted", backwards
    double = sparse.coo_array(rows)
    row, column = np.repeat(double.row, 3), np.repeat(double.col, 3)
    yield "duplicates", sparse.coo_array((np.ones(row.size), (row, column)), shape=rows.shape)
    indptr = np.concatenate([[0], np.cumsum(3 * rows.sum(axis=1))])
    yield "duplicates in rows", sparse.csr_array((np.ones(row.size), column, indptr), shape=rows.shape)
    full = sparse.csr_array(np.ones(rows.shape))
    full.data = rows.ravel().astype(float)
    yield "stored zeros", full
    yield "Fortran", np.asfortranarray(rows)
    yield "list", rows.tolist()
    yield "Dataset", Dataset.from_matrix(rows)


def test_every_format_gives_the_same_bits(rows, fitted):
    expected, share = hash_of(new_model().fit(rows)), fitted.predict_proba(rows)
    for name, form in every_format(rows):
        assert hash_of(new_model().fit(form)) == expected, name
        assert_array_equal(fitted.predict_proba(form), share, err_msg=name)


def test_arrays_that_cannot_be_written(rows, tmp_path):
    matrix, dense = sparse.csr_array(rows), rows.copy()
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / name, getattr(matrix, name))
        setattr(matrix, name, np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    dense.flags.writeable = False
    for form in (matrix, dense):
        model = new_model().fit(form)
        assert hash_of(model.partial_fit(form)) == hash_of(new_model().fit(rows).partial_fit(rows))


def test_the_input_is_not_changed_and_not_kept(rows):
    """Rows may be held back for long; whoever reuses the arrays meanwhile must not change them."""
    matrix = sparse.csr_array(rows)
    model = new_model(priming_rows=1000).partial_fit(matrix)
    assert_array_equal(matrix.toarray(), rows)
    expected = hash_of(model)
    matrix.indices[:] = 0
    assert hash_of(model) == expected
    labels = np.zeros(120, np.int64)
    labelled = new_model(priming_rows=1000).partial_fit(rows, labels)
    expected = hash_of(labelled)
    labels[:] = 1
    assert hash_of(labelled) == expected


FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars", "arrow"])
def test_columns_are_matched_by_name(frame, rows, named):
    columns = {name: rows[:, i].tolist() for i, name in enumerate(NAMES)}
    table, backwards = frame(columns), frame({name: columns[name] for name in reversed(NAMES)})
    model = new_model().fit(table)
    assert model.feature_names_in_.tolist() == NAMES
    assert hash_of(model) == hash_of(named)
    assert_array_equal(model.predict_proba(backwards), model.predict_proba(table))
    assert hash_of(model.partial_fit(backwards)) == hash_of(new_model().fit(table).partial_fit(table))


def test_missing_columns_are_off(rows, named):
    table = pd.DataFrame(rows, columns=NAMES)
    without = table.assign(c=0, f=0)
    assert_array_equal(named.score_samples(table[list("hgedba")]), named.score_samples(without))


def test_numbered_columns_go_by_their_place(rows, named, fitted):
    assert_array_equal(named.predict_proba(rows), fitted.predict_proba(rows))
    for odd in (rows[:, :7], np.hstack([rows, rows])):
        for model in (named, fitted):
            words = f"X has {odd.shape[1]} features, but OnlineBernoulliMixture is expecting 8 features"
            with pytest.raises(DataError, match=words):
                model.predict(odd)
            before = hash_of(model)
            with pytest.raises(DataError, match=words):
                model.partial_fit(odd)
            assert hash_of(model) == before


def test_new_columns_grow_the_model(rows):
    wide = pd.DataFrame(rows, columns=NAMES)
    for priming_rows in (20, 70, 500):  # growth in the stream, and in the buffer
        model = new_model(priming_rows=priming_rows).partial_fit(wide[list("abcdef")][:60])
        model.partial_fit(wide[list("hgabcdef")][60:])
        assert model.feature_names_in_.tolist() == list("abcdefhg")
        assert model.n_features_in_ == 8
        assert {s.feature for s in model.suggest(["b"], n=20)} >= {"h"}
        assert np.all(np.isfinite(model.score_samples(wide)))
        model.partial_fit(wide[:0].assign(new=0))
        assert model.n_features_in_ == 9


def test_a_name_that_stands_twice(rows, named):
    twice = pd.DataFrame(rows, columns=list("abcdefga"))
    for call in (new_model().fit, new_model().partial_fit, named.predict, named.partial_fit):
        with pytest.raises(DataError, match="'X' must name each column once, but 'a' stands twice"):
            call(twice)


def test_the_growing_vocabulary_of_a_stream_of_data_sets(rows):
    first = Dataset.from_matrix(rows[:60, :6], feature_names=NAMES[:6])
    second = Dataset.from_matrix(rows[60:], feature_names=NAMES)
    model = new_model(priming_rows=30).partial_fit(first).partial_fit(second)
    assert model.feature_names_in_.tolist() == NAMES


def test_binarize(rows):
    weights = np.random.default_rng(0).random(rows.shape) + 0.5
    model = new_model(binarize=0.25).fit(rows * weights)
    assert_array_equal(model.predict_proba(rows * weights), new_model().fit(rows).predict_proba(rows))
    with pytest.raises(DataError, match="must hold only 0 and 1, but column 1 of row 0 is"):
        new_model().fit(rows * weights)


@pytest.mark.parametrize("value", [3, -1, 0.5, np.nan, np.inf])
def test_values_outside_the_family_are_named(rows, fitted, value):
    odd = rows.astype(float)
    odd[7, 5] = value
    shown = "NaN" if np.isnan(value) else value
    for form in (odd, sparse.csr_array(odd)):
        before = hash_of(fitted)
        for call in (new_model().fit, fitted.predict, fitted.score_samples, fitted.partial_fit):
            with pytest.raises(DataError, match=f"column 5 of row 7 is {shown}"):
                call(form)
        assert hash_of(fitted) == before


BAD_PARAMETERS = [
    ("n_components", 0, "an integer >= 1"), ("n_components", -3, "an integer >= 1"),
    ("n_components", 2.0, "an integer >= 1"), ("n_components", "ten", "an integer >= 1"),
    ("n_components", True, "an integer >= 1"), ("n_components", None, "an integer >= 1"),
    ("weight_concentration", 0.0, "a number > 0"), ("weight_concentration", np.inf, "a number > 0"),
    ("weight_concentration", np.nan, "a number > 0"), ("weight_concentration", "1", "a number > 0"),
    ("prior_mean", 0.0, r"'empirical' or a number in \(0, 1\)"), ("prior_mean", 1.0, r"a number in \(0, 1\)"),
    ("prior_mean", "auto", "'empirical'"), ("prior_mean", None, "'empirical'"),
    ("prior_strength", 0, "'auto' or a number > 0"), ("prior_strength", "empirical", "'auto'"),
    ("priming_rows", 0, "'auto' or an integer >= 1"), ("priming_rows", 10.5, "'auto' or an integer >= 1"),
    ("clutter", 1, "True or False"), ("clutter", "yes", "True or False"),
    ("binarize", -0.1, "None or a number >= 0"), ("binarize", np.nan, "None or a number >= 0"),
    ("binarize", "0", "None or a number >= 0"),
    ("min_responsibility", 1.0, r"a number in \[0, 1\)"), ("min_responsibility", -0.1, r"a number in \[0, 1\)"),
    ("cull_threshold", -1e-9, "a number >= 0"), ("cull_threshold", np.inf, "a number >= 0"),
    ("min_component_share", 1, r"a number in \[0, 1\)"), ("staleness", 1.1, r"a number in \[0, 1\]"),
    ("staleness", -0.1, r"a number in \[0, 1\]"), ("staleness", None, r"a number in \[0, 1\]"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "rule"), BAD_PARAMETERS)
def test_bad_parameters_are_named_with_rule_and_value(name, value, rule, rows):
    model = new_model(**{name: value})
    for learn in (model.fit, model.partial_fit, lambda X: model.partial_fit(X, np.zeros(120, int))):
        with pytest.raises(ParameterError, match=f"'{name}' of OnlineBernoulliMixture must be .*{rule}"):
            learn(rows)
        with pytest.raises(ParameterError, match=f"but it is {value!r}"):
            learn(rows)


def test_parameters_on_their_borders(rows):
    borders = [
        {"staleness": 1.0}, {"staleness": 0}, {"min_responsibility": 0.0}, {"min_component_share": 0.0},
        {"min_responsibility": 0.999}, {"min_component_share": 0.999}, {"cull_threshold": 0},
        {"cull_threshold": 1e9}, {"priming_rows": 1}, {"n_components": np.int64(2)}, {"binarize": 0},
        {"prior_mean": 1e-9}, {"prior_mean": 1 - 1e-9}, {"prior_strength": 1e-6}, {"prior_strength": 1e9},
        {"weight_concentration": 1e-9}, {"weight_concentration": 1e6}, {"clutter": np.True_},
    ]  # fmt: skip
    for border in borders:
        model = new_model(**border).fit(rows)
        assert np.all(np.isfinite(model.score_samples(rows))), border
        assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1.0), border


BAD_LABELS = [
    (np.zeros(7, int), "'y' must hold one label per row, 120, but its shape is"),
    (np.zeros((120, 1), int), "'y' must hold one label per row"),
    (np.full(120, 2), "'y' must hold labels from -1 .unknown. to 1, but it holds 2 to 2"),
    (np.full(120, -2), "'y' must hold labels from -1"),
    (np.full(120, 0.5), "'y' must hold integers, -1 for unknown, but it holds"),
    (np.full(120, np.nan), "'y' must hold integers"),
    (np.full(120, 1e300), "'y' must hold integers"),
    (np.full(120, "shoes"), "'y' must hold integers"),
    (np.full(120, 2**63, np.uint64), "'y' must hold"),
]


@pytest.mark.parametrize(("labels", "words"), BAD_LABELS)
def test_bad_labels(labels, words, rows, fitted):
    before = hash_of(fitted)
    for learn in (new_model().fit, new_model().partial_fit, fitted.partial_fit):
        with pytest.raises(DataError, match=words):
            learn(rows, labels)
    assert hash_of(fitted) == before


def test_labels_of_any_integer_type(rows):
    labels = np.where(np.arange(120) < 30, topic_rows(120, 2, 8)[1], -1)
    expected = hash_of(new_model().fit(rows, labels))
    for form in (labels.tolist(), labels.astype(np.int8), labels.astype(float), pd.Series(labels)):
        assert hash_of(new_model().fit(rows, form)) == expected


def test_labels_are_checked_by_the_model_that_learns(rows):
    """A parameter that is set meanwhile is for the next fit."""
    model = new_model().partial_fit(rows)
    model.set_params(n_components=9)
    with pytest.raises(DataError, match="to 1, but it holds 5 to 5"):
        model.partial_fit(rows, np.full(120, 5))


def test_predictions_change_nothing(rows, fitted):
    before = hash_of(fitted)
    first = fitted.predict_proba(rows)
    for ask in (fitted.predict, fitted.predict_proba, fitted.score_samples, fitted.score):
        ask(rows)
    fitted.sample(5), fitted.top_features(), fitted.credible_interval(), fitted.suggest([0], [1])
    assert hash_of(fitted) == before
    assert_array_equal(fitted.predict_proba(rows), first)


def test_answers_are_copies(rows, fitted):
    before = fitted.predict_proba(rows)
    for answer in (fitted.weights_, fitted.component_ids_, fitted.predict_proba(rows), fitted.predict(rows)):
        answer[...] = 0
    fitted.lineage_.clear()
    assert_array_equal(fitted.predict_proba(rows), before)
    assert fitted.lineage_


def test_the_same_seed_gives_the_same_bits(rows):
    assert hash_of(new_model().fit(rows)) == hash_of(new_model().fit(rows))
    state = np.random.RandomState(3)
    seeds = {hash_of(new_model(random_state=state).fit(rows)) for _ in range(2)}
    assert len(seeds) == 2  # a generator goes on
    assert hash_of(new_model(random_state=np.random.RandomState(3)).fit(rows)) in seeds


def test_verbose_says_a_line(rows, capsys):
    new_model(verbose=1).fit(rows)
    assert capsys.readouterr().out.startswith("[OnlineBernoulliMixture] primed with 50 rows")
    new_model().fit(rows)
    assert capsys.readouterr().out == ""


def test_no_warnings(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new_model(clutter=True).fit(rows).predict(rows)


def test_memory_is_bounded_by_the_model_not_by_the_rows():
    """Rows that are learnt are gone: the state of twice as many is no larger."""
    rows, _ = topic_rows(4_000, 2, 8)
    model = new_model()
    sizes = []
    for first in (0, 2_000):
        model.partial_fit(rows[first : first + 2_000])
        model.predict(rows[:10])
        sizes.append(sum(array.nbytes for array in model.to_payload().arrays.values()))
    assert sizes[1] <= 1.2 * sizes[0]
