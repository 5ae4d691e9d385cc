"""`sparsemix compare` shows what `compare_models` finds, and what to mind about it."""

import json

import pytest
from counted_texts import texts, write

import sparsemix as sm
from sparsemix.reporting import compare_models

SIZE = ["-k", 3]
KINDS = ["online", "multinomial", "bernoulli-em"]
THREE = [
    word for kind in KINDS for word in ("--model", kind)
]  # the fourth compiles much: test_fit_sampling.py


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    return write(tmp_path_factory.mktemp("texts") / "texts.csv", texts())


def words(text):
    return [line.split() for line in text.splitlines()]


def test_json_is_what_the_library_finds(sparsemix, documents):
    options = ["--label", "topic", "-k", 3, "-k", 2, "--held-out", 0.3, "--seed", 7]
    assert sparsemix("compare", documents, *THREE, *options, "--json") == 0
    found = json.loads(sparsemix.out)
    assert found["agreement_with"] == "labels"
    classes = [sm.OnlineBernoulliMixture, sm.MultinomialMixture, sm.BernoulliMixture]
    presence = [{"binarize": 0.0}, {}, {"binarize": 0.0}]
    models = {
        f"{kind}, k={k}": make(k, random_state=7, **more)
        for kind, make, more in zip(KINDS, classes, presence, strict=True)
        for k in (3, 2)
    }
    expected = compare_models(models, sm.read_table(documents, label="topic"), held_out=0.3, seed=7)
    assert [each["name"] for each in found["models"]] == list(models)
    for each, other in zip(found["models"], expected, strict=True):
        for name in ("per_row", "per_token", "n_clusters", "nmi", "ari", "converged"):
            assert each[name] == getattr(other, name)
        assert each["seconds"] > 0
        assert each["megabytes"] > 0


def test_the_table_and_what_to_mind(sparsemix, documents):
    assert sparsemix("compare", documents, *THREE, *SIZE) == 0
    heads, *lines = words(sparsemix.out)
    assert " ".join(heads) == "model nats a row a keyword clusters NMI ARI seconds MB"
    assert [line[0].strip(",") for line in lines] == KINDS
    assert lines[0][5:7] == ["1.000", "1.000"]
    assert sparsemix.err.splitlines()[-2:] == [
        "Without --label, agreement is with the clusters of the first model, online, k=3.",
        "Scores of counts (multinomial) and of presence cannot be compared.",
    ]


def test_scores_of_one_kind_can_be_compared_and_labels_are_no_model(sparsemix, documents):
    assert sparsemix("compare", documents, *SIZE, "-k", 4, "--model", "multinomial", "--label", "topic") == 0
    assert len(words(sparsemix.out)) == 3
    assert "cannot be compared" not in sparsemix.err
    assert "agreement" not in sparsemix.err


def test_what_is_asked_for_twice_is_fitted_once(sparsemix, documents):
    options = ["--model", "bernoulli-em", "--model", "bernoulli-em", *SIZE, *SIZE]
    assert sparsemix("compare", documents, *options, "--quiet", "--json") == 0
    assert [each["name"] for each in json.loads(sparsemix.out)["models"]] == ["bernoulli-em, k=3"]
    assert sparsemix.err == ""


def test_fifty_clusters_by_default(sparsemix, documents):
    assert sparsemix("compare", documents, "--model", "bernoulli-em", "--no-memory", "--quiet") == 0
    assert words(sparsemix.out)[1][1] == "k=50"


def test_memory_that_is_not_asked_for(sparsemix, documents):
    options = ["--model", "multinomial", *SIZE, "--no-memory"]
    assert sparsemix("compare", documents, *options) == 0
    assert words(sparsemix.out)[1][-1] == "-"
    assert sparsemix("compare", documents, *options, "--json") == 0
    assert json.loads(sparsemix.out)["models"][0]["megabytes"] is None


def test_no_label_among_the_held_out_rows(sparsemix, tmp_path):
    path = write(tmp_path / "bare.csv", [(*line[:1], "", *line[2:]) for line in texts()])
    options = ["--model", "multinomial", *SIZE, "--label", "topic"]
    assert sparsemix("compare", path, *options) == 0
    assert words(sparsemix.out)[1][5:7] == ["-", "-"]
    assert "No held-out row has a label, so there is no agreement." in sparsemix.err
    assert sparsemix("compare", path, *options, "--json") == 0
    assert json.loads(sparsemix.out)["models"][0]["ari"] is None


def test_a_model_that_has_not_converged_is_named(sparsemix, documents, monkeypatch):
    hasty = sm.MultinomialMixture(3, max_iter=1, random_state=0)
    monkeypatch.setattr("sparsemix.cli.comparing.new_model", lambda *_: hasty)
    assert sparsemix("compare", documents, *SIZE, "--model", "multinomial") == 0
    warning = "warning: multinomial, k=3 has not converged; 'sparsemix fit --max-iter' allows more."
    assert sparsemix.err.splitlines()[-1] == warning
    assert sparsemix.err.count("converged") == 1


def test_more_clusters_than_rows(sparsemix, tmp_path):
    path = write(tmp_path / "few.csv", texts(8))
    assert sparsemix("compare", path, "-k", 20, "--no-memory", "--json") == 0
    assert all(each["per_row"] < 0 for each in json.loads(sparsemix.out)["models"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--held-out", 0], "--held-out must be above 0 and below 1, but it is 0.0."),
        (["--held-out", 1], "--held-out must be above 0 and below 1, but it is 1.0."),
        (["--held-out", "nan"], "--held-out must be above 0 and below 1, but it is nan."),
        (["--held-out", "half"], "--held-out must be "),
        (
            ["--model", "kmeans"],
            "--model must be one of 'online', 'multinomial', 'bernoulli-em', 'hashed-gibbs', but it is 'kmeans'",
        ),
        (["-k", 0], "--n-components must be at least 1, but it is 0."),
        (["-k", "many"], "--n-components must be an integer, but it is 'many'."),
        (["-k", 99_999_999, "--model", "multinomial"], "--n-components must be an integer >= 1"),
        (["--seed", -1], "--seed must be "),
        (["--label", "folder"], "--label must be one of the columns"),
        (["--resume"], "No such option: --resume"),
        (["second.csv"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_2(sparsemix, documents, options, message):
    assert sparsemix("compare", documents, *options, "--quiet") == 2
    assert message in sparsemix.err
    assert sparsemix.err.count("\n") == 1
    assert sparsemix.out == ""


@pytest.mark.parametrize(
    ("n_rows", "message"), [(0, "of 0 rows 0 would be"), (1, "of 1 row 1 would be learnt and 0 held out")]
)
def test_too_few_rows_are_1(sparsemix, tmp_path, n_rows, message):
    path = write(tmp_path / "few.csv", texts(n_rows))
    assert sparsemix("compare", path, "--quiet") == 1
    assert message in sparsemix.err
    assert sparsemix.err.count("\n") == 1


def test_a_model_is_no_table(sparsemix, model):
    assert sparsemix("compare", model) == 2
    assert "is a model, not a table" in sparsemix.err


def test_the_share_is_checked_before_the_table_is_read(sparsemix, documents, monkeypatch):
    monkeypatch.setattr("sparsemix.cli.inputs.Source.read", lambda _self: pytest.fail("the table was read"))
    assert sparsemix("compare", documents, "--held-out", 1) == 2


def test_ctrl_c_is_130(sparsemix, documents, monkeypatch):
    def stop(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("sparsemix.models.em.engine.run", stop)
    assert sparsemix("compare", documents, *SIZE, "--model", "multinomial", "--quiet") == 130
    assert sparsemix.err == "sparsemix: error: stopped; no file is left half written.\n"
