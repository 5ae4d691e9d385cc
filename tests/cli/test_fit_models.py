"""`sparsemix fit --model`: mixtures by EM with counts, labels, and runs that go on."""

import json

import pytest
from counted_texts import TOPICS, texts, write
from model_files import hash_of

import sparsemix as sm
from sparsemix.metrics import adjusted_rand
from sparsemix.persistence import state_hash

CLASSES = {"multinomial": sm.MultinomialMixture, "bernoulli-em": sm.BernoulliMixture}
both = pytest.mark.parametrize("kind", CLASSES)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    return write(tmp_path_factory.mktemp("texts") / "texts.csv", texts(own=0.5))


def made(kind, **parameters):
    more = {} if kind == "multinomial" else {"binarize": 0.0}
    return CLASSES[kind](**{"random_state": 0} | more | parameters)


@both
@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["-k", 3], {"n_components": 3}),
        (["-k", 4, "--seed", 7, "--n-init", 3], {"n_components": 4, "random_state": 7, "n_init": 3}),
        (["-k", 3, "--algorithm", "hard", "--smoothing", 0.3], {"algorithm": "hard", "smoothing": 0.3}),
        (["-k", 3, "--n-jobs", 2], {"n_jobs": 2}),
    ],
)
def test_the_file_holds_the_model_that_the_library_learns(
    sparsemix, documents, tmp_path, kind, options, parameters
):
    path = tmp_path / "m.smx"
    assert sparsemix("fit", documents, "-o", path, "--model", kind, *options, "--quiet") == 0
    expected = made(kind, **{"n_components": 3} | parameters).fit(sm.read_table(documents))
    assert hash_of(path) == state_hash(expected.to_payload())


@both
def test_labels_name_the_first_clusters(sparsemix, documents, tmp_path, kind):
    path, options = tmp_path / "m.smx", ["--model", kind, "-k", 4, "--label", "topic"]
    assert sparsemix("fit", documents, "-o", path, *options, "--json") == 0
    rows = sm.read_table(documents, label="topic")
    names = list(rows.label_names)
    assert sorted(names) == sorted(TOPICS)
    told = ", ".join(f"{k} {name}" for k, name in enumerate(names))
    assert f"Clusters of known rows: {told}." in sparsemix.err.splitlines()
    found = json.loads(sparsemix.out)
    assert found["label_names"] == names
    assert found["converged"] is True
    expected = made(kind, n_components=4).fit(rows, rows.labels)
    assert (found["n_iter"], found["log_likelihood"]) == (expected.n_iter_, expected.log_likelihood_)
    assert hash_of(path) == state_hash(expected.to_payload())


@both
def test_only_labelled_rows_may_count(sparsemix, documents, tmp_path, kind):
    """The answer is that of the labelled rows alone: to every cluster belongs what is known of it."""
    path = tmp_path / "m.smx"
    options = ["--model", kind, "-k", 3, "--label", "topic", "--unlabeled-weight", 0]
    assert sparsemix("fit", documents, "-o", path, *options) == 0
    rows = sm.read_table(documents, label="topic")
    known = rows[rows.labels >= 0]
    learnt, alone = sm.load_model(path), made(kind, n_components=3).fit(known, known.labels)
    assert learnt.weights_ == pytest.approx(alone.weights_)
    assert adjusted_rand(learnt.predict(rows), alone.predict(rows)) > 0.9


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--unlabeled-weight", 0], 2, "Name their column with --label"),
        (["--label", "none", "--unlabeled-weight", 0], 1, "no row has a label, and --unlabeled-weight 0"),
        (
            ["--label", "topic", "-k", 2],
            2,
            "has 3 labels and there are at most 2 clusters. Give -k 3 or more.",
        ),
        (["--clutter"], 2, "--clutter is not for --model multinomial"),
        (["--binarize", 1], 2, "--binarize is not for --model multinomial"),
        (["--priming-rows", 9], 2, "--priming-rows is not for --model multinomial"),
        (["--half-life-rows", 9], 2, "--half-life-rows is not for --model multinomial"),
        (["--smoothing", -1], 2, "--smoothing must be at least 0, but it is -1."),
        (["--n-jobs", 0], 2, "--n-jobs must be"),
        (["--max-iter", 0], 2, "--max-iter must be "),
        (["--algorithm", "medium"], 2, "--algorithm must be "),
        (["-k", 99_999_999], 2, "--n-components must be"),
        (["--batch-rows", 9, "--min-rows-per-feature", 2], 2, "leave --batch-rows out"),
    ],
)
def test_errors(sparsemix, tmp_path, options, code, message):
    path = write(tmp_path / "texts.csv", [(*line, "") for line in texts(40)], "doc,topic,word,n,none")
    columns = ["--row", "doc", "--feature", "word", "--count", "n", "--model", "multinomial", "--quiet"]
    assert sparsemix("fit", path, "-o", tmp_path / "m.smx", *columns, *options) == code
    assert message in sparsemix.err
    assert sparsemix.err.count("\n") == 1
    assert not (tmp_path / "m.smx").exists()


@pytest.mark.parametrize("option", ["--smoothing", "--n-init", "--max-iter", "--unlabeled-weight"])
def test_options_of_em_are_not_for_the_online_model(sparsemix, documents, tmp_path, option):
    assert sparsemix("fit", documents, "-o", tmp_path / "m.smx", option, 1) == 2
    assert f"{option} is not for --model online. Leave it out." in sparsemix.err


@both
def test_a_run_that_has_not_converged_goes_on(sparsemix, documents, tmp_path, kind):
    whole, path = tmp_path / "whole.smx", tmp_path / "part.smx"
    command = ["fit", documents, "--model", kind, "-k", 3, "-o"]
    assert sparsemix(*command, whole) == 0
    assert sparsemix(*command, path, "--max-iter", 2) == 0
    assert "warning: not converged after 2 epochs. The same with --resume goes on." in sparsemix.err
    assert sparsemix(*command, path, "--resume", "--max-iter", 100, "--json") == 0
    assert f"Going on with the run in {path}." in sparsemix.err
    assert json.loads(sparsemix.out)["converged"] is True
    rows = sm.read_table(documents)
    found, expected = sm.load_model(path), sm.load_model(whole)
    assert found.predict_proba(rows).tolist() == expected.predict_proba(rows).tolist()
    before = path.read_bytes()
    assert sparsemix(*command, path, "--resume", "--n-jobs", 2) == 0
    assert "It has converged; nothing is left to do." in sparsemix.err
    assert sm.load_model(path).n_iter_ == found.n_iter_
    assert len(path.read_bytes()) == len(before)


@both
def test_what_must_be_the_same_when_a_run_goes_on(sparsemix, documents, tmp_path, kind):
    path, other = tmp_path / "m.smx", write(tmp_path / "other.csv", texts(30))
    command = ["--model", kind, "-k", 3, "--max-iter", 2]
    assert sparsemix("fit", documents, "-o", path, *command) == 0
    before = path.read_bytes()
    assert sparsemix("fit", other, "-o", path, *command, "--resume") == 1
    assert (
        "the input has other keywords or rows than the run in the file, which had 180 rows" in sparsemix.err
    )
    for options, message in [
        (["--smoothing", 0.7], "--smoothing must be "),
        (["--seed", 5], "--seed must be 0 as in the interrupted run"),
        (["--model", "online"], f"--model must be {kind} as in the interrupted run"),
    ]:
        changed = [*command, *options] if options[0] != "--model" else ["-k", 3, *options]
        assert sparsemix("fit", documents, "-o", path, *changed, "--resume") == 2
        assert message in sparsemix.err
    assert path.read_bytes() == before


def test_resume_without_a_file_starts(sparsemix, documents, tmp_path):
    command = ["fit", documents, "--model", "multinomial", "-k", 3, "-o"]
    assert sparsemix(*command, tmp_path / "a.smx", "--resume") == 0
    assert "starting at the first row" in sparsemix.err
    assert sparsemix(*command, tmp_path / "b.smx") == 0
    assert hash_of(tmp_path / "a.smx") == hash_of(tmp_path / "b.smx")


@both
def test_streaming_from_disk_gives_the_same_clusters(sparsemix, documents, tmp_path, kind):
    whole, path = tmp_path / "whole.smx", tmp_path / "m.smx"
    command = ["fit", documents, "--model", kind, "-k", 3, "--label", "topic", "--max-iter", 4, "-o"]
    assert sparsemix(*command, whole, "--quiet") == 0
    assert sparsemix(*command, path, "--batch-rows", 70) == 0
    assert sparsemix.err.count("Clusters of known rows") == 1
    rows = sm.read_table(documents)
    found, expected = sm.load_model(path), sm.load_model(whole)
    assert found.predict_proba(rows).tolist() == expected.predict_proba(rows).tolist()


def test_rows_that_no_cluster_can_make_are_warned_of(sparsemix, documents, tmp_path, monkeypatch):
    original = sm.MultinomialMixture.fit

    def fit(model, *args, **options):
        original(model, *args, **options)
        model._fit.n_impossible = 3
        return model

    monkeypatch.setattr(sm.MultinomialMixture, "fit", fit)
    command = ["fit", documents, "--model", "multinomial", "-k", 3, "-o", tmp_path / "m.smx"]
    assert sparsemix(*command) == 0
    assert "warning: no cluster can have made 3 rows. Give --smoothing above 0." in sparsemix.err
    assert sparsemix(*command, "--quiet") == 0
    assert sparsemix.err == ""


def test_a_model_that_the_command_cannot_fit_does_not_go_on(sparsemix, documents, tmp_path, monkeypatch):
    class Other:
        """A model of another kind."""

    path = tmp_path / "m.smx"
    command = ["fit", documents, "--model", "multinomial", "-k", 3, "-o", path]
    assert sparsemix(*command) == 0
    monkeypatch.setattr("sparsemix.cli.starting.load_model", lambda _path: Other())
    assert sparsemix(*command, "--resume") == 2
    assert "holds an Other, which this command cannot go on with" in sparsemix.err
