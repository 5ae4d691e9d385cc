"""`sparsemix update` says what it has added, and warns of rows that the model had learnt before."""

import json

import pytest

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
