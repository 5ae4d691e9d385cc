"""The summary is plain values that agree with the model."""

import json

import numpy as np
import pytest

import sparsemix as sm
from sparsemix.data.synthetic import make_bernoulli_mixture
from sparsemix.persistence import state_hash
from sparsemix.reporting import SUMMARY_VERSION, Assignments, assign, summarize_model


@pytest.fixture(scope="module")
def rows():
    matrix, _assignments = make_bernoulli_mixture(2_500, 12, 4, sparse=True, random_state=1)
    names = [f"keyword {letter}" for letter in "abcdefghijkl"]
    return sm.Dataset.from_matrix(matrix, feature_names=names)


@pytest.fixture(scope="module", params=[False, True])
def model(request, rows):
    return sm.OnlineBernoulliMixture(4, clutter=request.param, priming_rows=1_000, random_state=0).fit(rows)


def test_values(model, rows):
    found = summarize_model(model, rows, title="Four", row_noun="ads", n_features=5, level=0.9)
    assert found["summary_version"] == SUMMARY_VERSION == 1
    assert (found["title"], found["row_noun"], found["level"]) == ("Four", "ads", 0.9)
    assert (found["n_rows"], found["n_features"], found["library_version"]) == (2_500, 12, sm.__version__)
    assert found["log_evidence"] == model.log_evidence_
    assert found["log_evidence_per_row"] == model.log_evidence_ / 2_500
    assert found["n_clusters"] == (model.component_ids_ >= 0).sum()
    weight = dict(zip(model.component_ids_.tolist(), model.weights_.tolist(), strict=True))
    assert [each["share"] for each in found["clusters"]] == sorted(weight.values(), reverse=True)
    expected = {each.component: each for each in model.top_features(5, level=0.9)}
    for cluster in found["clusters"]:
        assert cluster["share"] == weight[cluster["component"]]
        assert cluster["n_rows"] == expected[cluster["component"]].n_rows
        features = [tuple(each.values()) for each in cluster["features"]]
        assert features == [tuple(each) for each in expected[cluster["component"]].features]


@pytest.mark.parametrize(
    ("kind", "counts"),
    [(sm.MultinomialMixture, True), (sm.BernoulliMixture, False), (sm.OnlineBernoulliMixture, False)],
)
def test_it_says_whether_the_model_counts(rows, kind, counts):
    model = kind(1, binarize=0.0) if "binarize" in kind().get_params() else kind(1)
    assert summarize_model(model.fit(rows))["takes_counts"] is counts


def test_certainty(model, rows):
    found = summarize_model(model, rows)["certainty"]
    probabilities = model.predict_proba(rows)
    best = probabilities.max(axis=1)
    assert found["n_rows"] == 2_500
    assert found["mean_probability"] == pytest.approx(best.mean(), rel=1e-12)
    counts = np.histogram(best, bins=found["histogram"]["edges"])[0]
    assert found["histogram"]["counts"] == counts.tolist()
    assert sum(counts) == 2_500
    ids, sizes = np.unique(model.predict(rows), return_counts=True)
    members = [{"component": int(each), "n_rows": int(size)} for each, size in zip(ids, sizes, strict=True)]
    assert found["members"] == members


def test_certainty_does_not_depend_on_blocks(model, rows, monkeypatch):
    whole = summarize_model(model, rows)["certainty"]
    monkeypatch.setattr("sparsemix.reporting.summary._ROWS_PER_BLOCK", 333)
    blocks = summarize_model(model, rows.matrix)["certainty"]
    assert blocks["histogram"] == whole["histogram"]
    assert blocks["mean_entropy"] == pytest.approx(whole["mean_entropy"], rel=1e-12)
    batches = (rows[first : first + 700] for first in range(0, 2_500, 700))
    streamed = summarize_model(model, batches)["certainty"]
    assert (streamed["n_rows"], streamed["histogram"]) == (2_500, whole["histogram"])
    assert streamed["members"] == whole["members"]


@pytest.mark.parametrize("kind", [sm.BernoulliMixture, sm.MultinomialMixture])
def test_models_that_learn_all_rows_at_once_have_no_evidence(rows, kind):
    found = summarize_model(kind(4, random_state=0).fit(rows), rows)
    assert (found["n_rows"], found["log_evidence"], found["log_evidence_per_row"]) == (2_500, None, None)


def test_json_holds_it_unchanged(model, rows):
    found = summarize_model(model, rows)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert summarize_model(model)["certainty"] is None


def test_summarizing_does_not_change_the_model(model, rows):
    before = state_hash(model.to_payload())
    summarize_model(model, rows)
    assert state_hash(model.to_payload()) == before


@pytest.mark.parametrize(("name", "value"), [("n_features", 0), ("level", 1.5)])
def test_bad_parameters(model, name, value):
    with pytest.raises(sm.ParameterError, match=name.removeprefix("n_")):
        summarize_model(model, **{name: value})


def test_assignments_by_hand():
    class Model:
        component_ids_ = np.array([4, 9, -1])

        def predict_proba(self, rows):
            return np.asarray(rows)

    found = assign(Model(), [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.25, 0.5, 0.25]])
    assert isinstance(found, Assignments)
    assert found.clusters.tolist() == [4, -1, 9]
    assert found.probabilities.tolist() == [0.5, 1.0, 0.5]
    np.testing.assert_allclose(found.entropies, [np.log(2), 0, 1.5 * np.log(2)], rtol=1e-12)
    assert found.entropies[1] == 0


def test_models_of_real_numbers_show_means():
    rows = np.repeat([[0.0, 10.0], [5.0, 10.0]], 30, axis=0) + np.random.default_rng(0).normal(
        0, 0.5, (60, 2)
    )
    model = sm.HashedGibbsMixture(4, family="gaussian", process="dp", random_state=0).fit(rows)
    found = summarize_model(model, rows)
    assert found["takes_real_numbers"]
    assert not found["takes_counts"]
    assert found["certainty"]["n_rows"] == 60
    for each in found["clusters"]:
        means = {entry["feature"]: entry["mean"] for entry in each["features"]}
        assert means == dict(enumerate(model.means_[each["component"]]))
    assert not summarize_model(sm.MultinomialMixture(1).fit(np.eye(2)))["takes_real_numbers"]
