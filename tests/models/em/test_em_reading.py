"""Batches equal the whole table, wherever they are cut; what cannot be read twice is refused."""

import numpy as np
import pandas as pd
import pytest
from mixture_cases import LETTERS, N_ROWS, draw_shares, hash_of, new_model, some_labels, table_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix import DataError, Dataset, ParameterError, iter_batches, read_table
from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.em import reading
from sparsemix.models.em.families import FAMILIES
from sparsemix.models.em.starts import FEWEST_ROWS


def cut(table, labels=None, size=17):
    """The table in batches, with labels where there are some."""
    for first in range(0, table.shape[0], size):
        part = slice(first, first + size)
        yield table[part] if labels is None else (table[part], labels[part])


def assert_same_fit(model, expected, rtol=0.0):
    """The same bits, but for the log likelihood, whose sum depends on where batches end."""
    assert_allclose(model.profiles_, expected.profiles_, rtol=rtol, atol=0.0)
    assert_allclose(model.weights_, expected.weights_, rtol=rtol, atol=0.0)
    assert_allclose(model.trace_, expected.trace_, rtol=1e-12)
    assert model.log_likelihood_ == pytest.approx(expected.log_likelihood_, rel=1e-12)
    assert model.n_rows_seen_ == expected.n_rows_seen_ == N_ROWS


@pytest.mark.parametrize("size", [7, N_ROWS])
@pytest.mark.parametrize("init", ["repaired", "k-means++", "random", "given"])
def test_batches_equal_the_whole_table(name, rows, init, size):
    """Fewer rows than a start is made from: all of them are."""
    assert N_ROWS < FEWEST_ROWS
    rtol = 1e-12 if init == "given" else 0.0  # its statistics are added batch by batch
    init = draw_shares(N_ROWS) if init == "given" else init
    for form in (rows, sparse.csr_array(rows), pd.DataFrame(rows, columns=LETTERS)):
        model = new_model(name, init=init).fit_batches(lambda form=form: cut(form, size=size))
        assert_same_fit(model, new_model(name, init=init).fit(form), rtol)
        assert not hasattr(model, "labels_")
        assert model.n_features_in_ == 9


@pytest.mark.parametrize("algorithm", ["soft", "hard"])
def test_batches_with_labels(name, rows, topics, algorithm):
    labels = some_labels(topics)
    settings = {"algorithm": algorithm, "unlabeled_weight": 0.3, "n_init": 2, "init": "random"}
    expected = new_model(name, **settings).fit(rows, labels)
    assert_same_fit(new_model(name, **settings).fit_batches(lambda: cut(rows, labels)), expected)
    parts = [(rows[:30], labels[:30]), rows[30:]]  # a batch without labels
    labels[30:] = -1
    assert_same_fit(
        new_model(name, **settings).fit_batches(lambda: parts),
        new_model(name, **settings).fit(rows, labels),
    )


def test_batches_of_other_columns_are_put_together(name, rows):
    """New columns may come later, columns may be missing, in any order."""
    whole = pd.DataFrame(rows, columns=LETTERS)
    first, second = whole[:20].assign(h=0, i=0), whole[20:].assign(a=0)
    parts = [first[LETTERS[:7]], second[list("ihgfedcb")]]
    model = new_model(name).fit_batches(lambda: parts)
    assert model.feature_names_in_.tolist() == list("abcdefgih")
    expected = new_model(name).fit(pd.concat([first, second])[list("abcdefgih")])
    assert_same_fit(model, expected)


def test_batches_from_a_file(name, rows, tmp_path):
    row, feature = np.nonzero(rows)
    pairs = pd.DataFrame({"row": row, "feature": np.array(LETTERS)[feature]})
    path = tmp_path / "rows.parquet"
    pairs.to_parquet(path)
    given = {"row": "row", "feature": "feature"}
    model = new_model(name, random_state=1).fit_batches(lambda: iter_batches(path, rows=13, **given))
    table = read_table(path, **given)
    expected = new_model(name, random_state=1).fit(table)
    order = [model.feature_names_in_.tolist().index(word) for word in expected.feature_names_in_]
    assert_allclose(np.sort(model.weights_), np.sort(expected.weights_), rtol=1e-6)
    assert sorted(order) == list(range(9))
    assert_allclose(model.score(table), expected.score(table), rtol=1e-6)


def test_empty_batches_are_nothing(name, rows):
    parts = [rows[:0], rows[:40], rows[:0], rows[40:]]
    assert_same_fit(new_model(name).fit_batches(lambda: parts), new_model(name).fit(rows))


def test_batches_forget_the_labels_of_another_fit(rows, fitted):
    assert fitted.labels_.shape == (N_ROWS,)
    fitted.fit_batches(lambda: cut(rows))
    assert not hasattr(fitted, "labels_")


def test_a_warm_start_in_batches(name, rows):
    model, twin = (new_model(name, warm_start=True).fit(rows) for _ in range(2))
    assert_array_equal(model.fit_batches(lambda: cut(rows)).profiles_, twin.fit(rows).profiles_)


def test_interrupted_batches_keep_the_best_so_far(name, rows, fitted):
    def stop(epoch):
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    model = new_model(name)
    with pytest.raises(KeyboardInterrupt):
        model.fit_batches(lambda: cut(rows), on_epoch=stop)
    assert model.n_iter_ == 2
    assert model.predict(rows).shape == (N_ROWS,)
    assert model.trace_[1] == pytest.approx(fitted.trace_[1])


NOT_BATCHES = {
    "a table": np.eye(9), "None": None, "a list": [np.eye(9)], "an iterator": iter([np.eye(9)]), "text": "ads.csv",
}  # fmt: skip


@pytest.mark.parametrize("kind", NOT_BATCHES)
def test_what_cannot_be_called(name, fitted, kind):
    before = hash_of(fitted)
    for model in (new_model(name), fitted):
        with pytest.raises(
            ParameterError, match=r"'batches' of fit_batches must be callable, .* Give lambda: sparse"
        ):
            model.fit_batches(NOT_BATCHES[kind])
    assert hash_of(fitted) == before


def test_what_is_no_batches_when_called(name, rows, fitted):
    before = hash_of(fitted)
    for model in (new_model(name), fitted):
        for odd in (None, 3):
            with pytest.raises(
                ParameterError, match="'batches' of fit_batches must be a callable that returns"
            ):
                model.fit_batches(lambda odd=odd: odd)
        for none in ([], [rows[:0]]):
            with pytest.raises(DataError, match="'X' of fit must have at least one row"):
                model.fit_batches(lambda none=none: none)
        for odd in ("ads.csv", [rows], -rows - 1):
            with pytest.raises(DataError, match="'X' of "):
                model.fit_batches(lambda odd=odd: [rows, odd])
        with pytest.raises(DataError, match=r"X has 4 features, but .* is expecting 9"):
            model.fit_batches(lambda: [rows, rows[:, :4]])
    assert hash_of(fitted) == before


def test_batches_that_are_not_the_same_again(name, rows, fitted):
    once, before = cut(rows), hash_of(fitted)
    words = "'batches' of fit_batches must give the same rows at each call, but there were 60 rows and then 0"
    with pytest.raises(DataError, match=words):
        fitted.fit_batches(lambda: once)
    fewer = iter([[rows], [rows[:50]]])
    with pytest.raises(DataError, match="there were 60 rows and then 50"):
        fitted.fit_batches(lambda: next(fewer))
    assert hash_of(fitted) == before
    assert set(vars(new_model(name))) == set(new_model(name).get_params())


def test_a_pair_in_a_list_is_a_table(name):
    """Only a tuple of two is rows and labels."""
    pair = [[1, 0, 1], [0, 1, 0]]
    model = new_model(name, n_components=2).fit_batches(lambda: [pair])
    assert model.n_rows_seen_ == 2


def test_tables_are_read_as_the_family_wants():
    counts = reading.as_rows([[2, 0]], "multinomial", None, "M")
    assert counts.block(0, 1).values.tolist() == [2.0]
    ones = reading.as_rows([[2, 0]], "bernoulli", 0.5, "M")
    assert ones.block(0, 1).columns.tolist() == [0]
    with pytest.raises(DataError, match="'X' of M must hold only 0 and 1"):
        reading.as_rows([[2, 0]], "bernoulli", None, "M")


def test_unknown_columns_are_left_out():
    table = reading.as_rows(
        pd.DataFrame([[1, 2, 0], [0, 3, 0], [0, 0, 0], [0, 0, 4]], columns=["b", "new", "a"]),
        "multinomial",
        None,
        "M",
    )
    features = FeatureNames(2, np.array(["a", "b"], object))
    [(rows, is_unknown)] = reading.read(table, features, np.arange(4), np.arange(4.0), owner="M")
    assert_array_equal(rows.to_csr(2).toarray(), [[0, 1], [0, 0], [0, 0], [4, 0]])
    assert is_unknown.tolist() == [False, True, False, False]
    assert rows.labels.tolist() == rows.row_weights.tolist() == [0, 1, 2, 3]


def test_survey_counts_rows_and_collects_names():
    tables = [
        pd.DataFrame([[1, 0]], columns=list("ba")),
        pd.DataFrame([[1, 0, 1], [0, 0, 0]], columns=list("acb")),
    ]
    parts = []
    for each in tables:
        table = reading.as_rows(each, "bernoulli", None, "M")
        parts.append(reading.part_of(table, None, np.ones(table.n_rows), 2, 0.5))
    features, n_rows = reading.survey(parts, "M")
    assert (features.names.tolist(), n_rows) == (["b", "a", "c"], 3)
    assert parts[1].row_weights.tolist() == [0.5, 0.5]
    later, _ = reading.survey(parts, "M", FeatureNames(1, np.array(["c"], object)))
    assert later.names.tolist() == ["c", "b", "a"]


def test_data_sets_whose_vocabulary_grows(name):
    rows, _ = table_of(name)
    rows[:30, 7:] = 0
    parts = [
        Dataset.from_matrix(rows[:30, :7], feature_names=LETTERS[:7]),
        Dataset.from_matrix(rows[30:], feature_names=LETTERS),
    ]
    model = new_model(name).fit_batches(lambda: parts)
    assert_same_fit(model, new_model(name).fit(pd.DataFrame(rows, columns=LETTERS)))


def test_a_label_may_first_occur_in_the_last_batch(name, rows, topics):
    order = np.argsort(topics, kind="stable")
    rows, labels = rows[order], topics[order]
    labels[:40] = -1
    parts = [(rows[:20], labels[:20]), (rows[20:40], labels[20:40]), (rows[40:], labels[40:])]
    model = new_model(name).fit_batches(lambda: parts)
    assert_same_fit(model, new_model(name).fit(rows, labels))
    assert np.mean(model.predict(rows[40:]) == 2) > 0.85


def test_a_seed_word_may_first_occur_in_the_last_batch(name, rows):
    table = pd.DataFrame(rows, columns=LETTERS).assign(zebra=0)
    table.loc[50:, "zebra"] = 1
    parts = [table[:50].drop(columns="zebra"), table[50:]]
    model = new_model(name, seed_words={2: ["zebra"]}).fit_batches(lambda: parts)
    assert_same_fit(model, new_model(name, seed_words={2: ["zebra"]}).fit(table))
    assert model.profiles_[:, 9].argmax() == 2


def test_each_family_has_a_reader_and_none_is_guessed():
    assert set(reading.READERS) == set(FAMILIES)
    with pytest.raises(KeyError, match="poisson"):
        reading.as_rows(np.eye(3), "poisson", None, "the model")
