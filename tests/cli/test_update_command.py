"""`sparsemix update` says what it has added, and warns of rows that the model had learnt before."""

import json

import numpy as np
import pytest
import scipy.sparse

import sparsemix as sm
from sparsemix.cli.updating import Before
from sparsemix.cli.watching import WatchedBatches
from sparsemix.persistence import read_payload, state_hash

WARNING = "warning: this looks like the table that the model had learnt already"


@pytest.fixture
def copy(model, tmp_path):
    path = tmp_path / "ads.smx"
    path.write_bytes(model.read_bytes())
    return path


def test_the_same_table_again_and_again_is_warned_of(sparsemix, table, copy):
    for before in (1_500, 3_000):
        assert sparsemix("update", copy, table, "--batch-rows", 700) == 0
        assert WARNING in sparsemix.err
        assert (
            f"Rows: {before:,} before, {before + 1_500:,} now. Keywords: 730 before, 730 now."
            in sparsemix.out
        )
    assert sparsemix("update", copy, table, "--json", "--quiet") == 0
    assert sparsemix.err == ""
    assert json.loads(sparsemix.out)["looks_repeated"] is True
    assert sm.load_model(copy).n_rows_seen_ == 6_000


def test_another_table_is_not(sparsemix, ads, table, copy, tmp_path):
    assert (
        sparsemix(
            "update", copy, table, "-o", tmp_path / "o.smx", "--row", "advertiser", "--feature", "keyword"
        )
        == 0
    )
    assert WARNING not in sparsemix.err
    part = tmp_path / "part.csv"
    ads.write_csv(part)
    part.write_text("\n".join(part.read_text().splitlines()[:200]))
    assert sparsemix("update", copy, part, "--json") == 0
    assert WARNING not in sparsemix.err
    assert json.loads(sparsemix.out)["looks_repeated"] is False


@pytest.mark.parametrize(
    ("names", "n_rows", "expected"),
    [
        (["a", "b"], 50, True),
        (["a", "b"], 25, True),
        (["a", "b"], 30, False),
        (["b", "a"], 50, False),
        (["a"], 50, False),
        (None, 50, False),
        (["a", "b"], 0, False),
    ],
)
def test_what_looks_repeated(names, n_rows, expected):
    batches = WatchedBatches([])
    batches.n_rows, batches.names = n_rows, names
    assert Before(n_rows=50, n_features=2, names=["a", "b"]).look_like(batches) is expected
    assert not Before(n_rows=50, n_features=2, names=None).look_like(batches)


def table_of(path, n_known, n_new):
    words = ["mouse", "java", "python"][:n_known] + [f"yak {number}" for number in range(n_new)]
    path.write_text("ad,keyword\n" + "".join(f"{row},{word}\n" for row, word in enumerate(words)))
    return path


HARDLY = "of the table ("


def test_a_table_of_strangers_is_refused_unless_it_is_asked_for(sparsemix, copy, tmp_path):
    strangers, before = table_of(tmp_path / "new.csv", 0, 40), copy.read_bytes()
    assert sparsemix("update", copy, strangers, "--batch-rows", 7) == 1
    [error] = [line for line in sparsemix.err.splitlines() if "error" in line]
    assert "the model knows none of 40 keywords of the table: 'yak 0', 'yak 1', 'yak 2' and 37 more." in error
    assert "Check that --feature is the column" in error
    assert "--unrelated learns them" in error
    assert sparsemix.out == ""
    assert copy.read_bytes() == before
    assert sparsemix("update", copy, strangers, "--unrelated", "--json") == 0
    assert "warning: the model knew 0 of 40 keywords of the table (0.0%)." in sparsemix.err
    found = json.loads(sparsemix.out)
    assert (found["n_features_known"], found["n_features"] - found["n_features_before"]) == (0, 40)
    assert sparsemix("update", copy, strangers, "--json") == 0
    assert HARDLY not in sparsemix.err
    assert json.loads(sparsemix.out)["n_features_known"] == 40


@pytest.mark.parametrize(("n_known", "n_new", "is_told"), [(1, 40, True), (3, 57, False), (2, 0, False)])
def test_a_table_with_hardly_a_known_keyword_is_warned_of(sparsemix, copy, tmp_path, n_known, n_new, is_told):
    path = table_of(tmp_path / "new.csv", n_known, n_new)
    assert sparsemix("update", copy, path) == 0
    warning = f"warning: the model knew 1 of 41 keywords {HARDLY}2.4%)."
    assert (warning in sparsemix.err) == is_told
    assert (HARDLY in sparsemix.err) == is_told
    assert sparsemix("update", copy, table_of(path, 1, 90), "--json", "--quiet") == 0
    assert sparsemix.err == ""
    assert json.loads(sparsemix.out)["n_features_known"] == 1 + n_new


def test_keywords_without_names_are_not_compared(sparsemix, tmp_path):
    rows = scipy.sparse.csr_array(np.repeat(np.eye(3), 30, axis=0))
    scipy.sparse.save_npz(tmp_path / "rows.npz", rows)
    assert sparsemix("fit", tmp_path / "rows.npz", "-o", tmp_path / "m.smx", "-k", 3) == 0
    assert sparsemix("update", tmp_path / "m.smx", tmp_path / "rows.npz", "--json") == 0
    assert json.loads(sparsemix.out)["n_features_known"] is None


def test_an_empty_table_adds_nothing(sparsemix, copy, tmp_path):
    before = state_hash(read_payload(copy))
    (tmp_path / "none.csv").write_text("ad,keyword\n")
    assert sparsemix("update", copy, tmp_path / "none.csv") == 0
    assert sparsemix.out.startswith("Learnt 0 rows and 0 new keywords.\n")
    assert state_hash(read_payload(copy)) == before


def test_models_of_all_rows_at_once_cannot_go_on(sparsemix, table, tmp_path):
    path = tmp_path / "em.smx"
    sm.save_model(sm.BernoulliMixture(3, random_state=0).fit(sm.read_table(table)), path)
    before = path.read_bytes()
    assert sparsemix("update", path, table) == 2
    assert f"'{path}' holds a BernoulliMixture, which learns from all rows at once" in sparsemix.err
    assert path.read_bytes() == before
