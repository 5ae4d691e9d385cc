"""`sparsemix fit --model online`: a number of clusters that is found, several passes, and threads."""

import numpy as np
import pytest
from model_files import hash_of

import sparsemix as sm
from sparsemix.persistence import state_hash

AGAIN = "sparsemix.models.online_profiles.engine.learn_again"
INTERRUPT, KILL = 2, 9
FEW = ["-k", "8", "--priming-rows", "400", "--quiet"]


def learnt(table, **changes):
    """What the library learns."""
    ads = sm.read_table(table, row="ad_id", feature="keyword")
    usual = {"n_components": 8, "priming_rows": 400, "binarize": 0.0, "random_state": 0}
    return sm.OnlineBernoulliMixture(**usual | changes).fit(ads)


def hash_without_threads(model):
    return state_hash(model.set_params(n_jobs=None).to_payload())


def test_the_number_of_clusters_is_found(sparsemix, table, tmp_path):
    path = tmp_path / "ads.smx"
    assert sparsemix("fit", table, "-o", path, "-k", "auto", "--quiet", "--json") == 0
    model = sm.load_model(path)
    assert model.n_components == "auto"
    assert 20 <= model.component_ids_.size <= 40  # 25 trades and strays
    word = model.feature_names_in_[0]
    for command in (["clusters", path], ["score", path, table], ["suggest", path, "--keyword", word]):
        assert sparsemix(*command) == 0


def test_labels_with_a_number_that_is_found(sparsemix, tmp_path):
    lines = [f"{row},word {row % 4},{'abcd'[row % 4] if row < 40 else ''}" for row in range(400)]
    table = tmp_path / "rows.csv"
    table.write_text("ad,keyword,trade\n" + "\n".join(lines))
    path = tmp_path / "ads.smx"
    assert sparsemix("fit", table, "-o", path, "-k", "auto", "--label", "trade") == 0
    assert "Clusters of known rows: 0 a, 1 b, 2 c, 3 d." in sparsemix.err


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli-em", "hashed-gibbs", "gamma-poisson"])
def test_other_models_do_not_find_it(sparsemix, table, tmp_path, kind):
    assert sparsemix("fit", table, "-o", tmp_path / "ads.smx", "--model", kind, "-k", "auto") == 2
    assert "auto" in sparsemix.err
    assert "n-components" in sparsemix.err


@pytest.mark.parametrize("number", ["0", "-3", "1.5", "many", ""])
def test_what_is_no_number(sparsemix, table, tmp_path, number):
    assert sparsemix("fit", table, "-o", tmp_path / "ads.smx", "-k", number) == 2
    assert f"{number!r} is neither 'auto' nor an integer from 1 on." in sparsemix.err


def test_passes_are_those_of_the_library(sparsemix, table, tmp_path):
    path = tmp_path / "ads.smx"
    assert sparsemix("fit", table, "-o", path, *FEW, "--n-passes", "3") == 0
    assert sm.load_model(path).n_passes_ == 3
    assert hash_of(path) == state_hash(learnt(table, n_passes=3).to_payload())


def test_passes_in_batches(sparsemix, table, tmp_path):
    path = tmp_path / "ads.smx"
    assert sparsemix("fit", table, "-o", path, *FEW, "--n-passes", "2", "--batch-rows", "350") == 0
    found, whole = sm.load_model(path), learnt(table, n_passes=2)
    assert found.n_passes_ == 2
    assert found.n_rows_seen_ == 1_500
    ads = sm.read_table(table, row="ad_id", feature="keyword")
    assert found.score(ads) == pytest.approx(whole.score(ads), rel=0.02)


@pytest.mark.parametrize("number", [INTERRUPT, pytest.param(KILL, marks=pytest.mark.slow)])
def test_a_pass_that_was_interrupted_is_done_anew(sparsemix, program, table, tmp_path, number):
    path, options = tmp_path / "ads.smx", [*FEW, "--n-passes", "3"]
    run = program("fit", table, "-o", path, *options, target=AGAIN, call=2, number=number)
    if number == INTERRUPT:
        assert run.returncode == 130
        assert run.stderr.startswith(
            f"Stopped after pass 2 of 3; what is learnt is saved in {path}. Go on with:"
        )
    assert sm.load_model(path).n_passes_ == 2
    assert sparsemix("fit", table, "-o", path, *options, "--resume") == 0
    expected = state_hash(learnt(table, n_passes=3).to_payload())
    assert hash_of(path) == expected
    assert sparsemix("fit", table, "-o", path, *options, "--resume") == 0
    assert hash_of(path) == expected


def test_threads_change_nothing(sparsemix, table, tmp_path):
    path = tmp_path / "ads.smx"
    assert sparsemix("fit", table, "-o", path, *FEW, "--n-jobs", "2") == 0
    model = sm.load_model(path)
    assert model.n_jobs == 2
    assert hash_without_threads(model) == hash_without_threads(learnt(table))
    assert sparsemix("fit", table, "-o", path, *FEW, "--n-jobs", "0") == 2
    assert "--n-jobs must be an integer other than 0" in sparsemix.err


def test_another_pass_over_parts(table):
    """The library takes the rows whole or in parts, with labels or without."""
    ads = sm.read_table(table, row="ad_id", feature="keyword")
    model = learnt(table)
    model.learn_again([(ads[:700], None), (ads[700:], np.full(len(ads) - 700, -1))])
    assert model.n_passes_ == 2
    assert model._view.sizes().sum() == pytest.approx(1_500)
